"""Encodings that the detector does not know are known by the words that they make."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.loading.batches import Said
from masthead.loading.plausible import UndecidableError, most_plausible
from tests.loading.test_formats import table_of, written
from tests.long import examples

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = {
    "cp1252 cp1250 iso8859-1 mac-roman cp437 cp850 cp852": (
        "Jörg Bär Hauptstraße Änne Götz Bäckerstraße Müller Schröder Weiß Jürgen Köhler Größe"
    ),
    "cp1252 iso8859-1 mac-roman cp437 cp850": (
        "Hélène Noël Dupré Benoît Jérôme Rémy André Château Besançon Loïc Geneviève François"
    ),
    "cp1252 iso8859-1 mac-roman cp437 cp850 ": (
        "Muñoz García Rodríguez Martínez Núñez López Pérez González Gómez Jesús Ibáñez León"
    ),
    "cp1250 iso8859-2 cp852": (
        "Łukasz Wiśniewski Dąbrowski Żak Gdańsk Wójcik Zieliński Kozłowski Król Łódź Stępień"
    ),
    "cp1250 iso8859-2 cp852 ": (
        "Novák Dvořák Černý Procházka Kučera Veselý Němec Pospíšil Růžička Kříž Plzeň Jiří"
    ),
    "cp1252 iso8859-1 mac-roman cp850": (
        "Sørensen Jørgensen Møller Kjær Nørgaard Åse Østergaard Håkon Bjørn Lærke Rødovre Ærø"
    ),
    "cp1252 iso8859-1 mac-roman cp437 cp850  ": (
        "Åke Öberg Ängström Sjögren Lindström Löfgren Hägg Mårtensson Göteborg Malmö Växjö Umeå"
    ),
}
"""Names, by the encodings in which files have them."""


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_encodings_of_the_mac_and_of_dos_are_known_by_their_words(tmp_path: Path, end: str) -> None:
    """rules, "What is detected"."""
    for encodings, names in SAMPLES.items():
        for encoding in encodings.split():
            rows = [f'{n};"{name}{end} x";a@e.org' for n, name in enumerate(names.split())]
            text = end.join(["id;name;e-mail", *rows, ""])
            path = written(tmp_path, text.encode(encoding))
            found = [row[1].removesuffix(f"{end} x") for row in table_of(path)[1]]
            assert found == names.split(), (encoding, found)


def test_an_encoding_that_cannot_be_told_is_asked_for(tmp_path: Path) -> None:
    """rules, "What is detected"."""
    path = written(tmp_path, "id;name\r\n1;Björk\r\n2;Lindström\r\n".encode("cp850"))
    with pytest.raises(BadInput, match="say its encoding in a mapping, or save the file") as asked:
        table_of(path)
    assert "It may be MacRoman, which reads 'Bjîrk', or CP850, which reads 'Björk'" in str(
        asked.value
    )
    assert table_of(path, Said(encoding="cp850", separator=";"))[1][0] == ("1", "Björk")


LETTERS = st.sampled_from("aeiABCßäöüéèñøæåÄÖØÅĹ„†‡€§½ÿ  '\u2019\x81\xa0")


@examples(50, 2_000)
@given(words=st.lists(st.text(LETTERS | st.characters(max_codepoint=0x24F)), max_size=6))
def test_any_bytes_are_read_or_asked_for_in_an_encoding_that_there_is(words: list[str]) -> None:
    pieces = [word.encode("cp1252", "ignore") for word in words]
    for found in ("cp1252", "gb18030", "iso8859-8"):
        try:
            assert codecs.lookup(most_plausible(found, pieces))
        except UndecidableError as error:
            one, other = error.readings
            assert one.words != other.words
