"""Files of direct debits: valid by the schemas, and read back to the same values."""

from __future__ import annotations

import re
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban as stdnum_iban

from masthead.bank_files.pain008 import (
    VERSIONS,
    Batch,
    Collection,
    Creditor,
    Debit,
    SumError,
    pieces,
)
from masthead.bank_files.sepa_text import is_reference, sepa_text
from tests.bank_files.debits import Held, check_schema, held_by

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFERENCES = st.text("ABCxyz019-.+'", min_size=1, max_size=35)
_IBANS = st.integers(0, 10**18 - 1).map(
    lambda number: f"DE{stdnum_iban.calc_check_digits(f'DE00{number:018}')}{number:018}"
)
_BICS = st.sampled_from(["", "COBADEFFXXX", "ABNANL2A"])
_DAYS = st.dates().map(lambda day: day.isoformat())
_TEXTS = st.text("abcXYZ 0189/-?:().,'+", min_size=1, max_size=60).map(
    lambda text: " ".join(f"a{text}".split())
)
_DEBITS = st.builds(
    Debit,
    end_to_end_id=_REFERENCES,
    cents=st.integers(1, 99_999_999_999),
    mandate=_REFERENCES,
    signed_on=_DAYS,
    name=_TEXTS,
    iban=_IBANS,
    bic=_BICS,
    text=_TEXTS,
)


@st.composite
def _files(draw: st.DrawFn) -> Held:
    batches = []
    for number in range(draw(st.integers(1, 3))):
        debits = draw(st.lists(_DEBITS, min_size=1, max_size=4))
        batches.append(
            Batch(
                f"B{number}",
                draw(st.sampled_from(["core", "b2b"])),
                draw(st.sampled_from(["FRST", "RCUR", "OOFF", "FNAL"])),
                len(debits),
                sum(each.cents for each in debits),
                debits,
            )
        )
    creditor = Creditor(draw(_TEXTS), draw(_IBANS), draw(_BICS), "DE98ZZZ09999999999")
    return Held(
        Collection(
            draw(st.sampled_from(VERSIONS)),
            draw(_REFERENCES),
            draw(st.datetimes()).isoformat(" ", "seconds"),
            draw(_DAYS),
            creditor,
            sum(each.claims for each in batches),
            sum(each.cents for each in batches),
        ),
        batches,
    )


def _written(held: Held) -> bytes:
    return "".join(pieces(held.collection, held.batches)).encode()


@given(_files())
def test_a_file_is_valid_and_read_back_to_the_same_values(held: Held) -> None:
    text = _written(held)
    check_schema(text)
    assert held_by(text) == held
    assert _written(held) == text


@given(st.text(max_size=200))
def test_every_name_and_text_is_written_in_the_characters_of_banks(text: str) -> None:
    found = sepa_text(text, 70)
    assert re.fullmatch(r"[A-Za-z0-9/\-?:().,'+ ]{0,70}", found)
    assert found == found.strip()
    assert sepa_text(found, 70) == found
    debit = Debit("E1", 100, "M1", "2026-01-02", text, "DE89370400440532013000", "", text)
    held = _of([debit])
    check_schema(_written(held))
    (back,) = held_by(_written(held)).debits
    assert (back.name, back.text) == (found or "NOTPROVIDED", sepa_text(text, 140))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Jörg Müller-Weiß", "Joerg Mueller-Weiss"),
        ("Renée d\u2019Été", "Renee d'Ete"),
        ("Łukasz Øster", "Lukasz Oster"),
        ("Smith & Sons", "Smith + Sons"),
        ("<Æsop>\n GmbH", ".Aesop. GmbH"),
        ("東京", ""),
    ],
)
def test_letters_of_other_alphabets_are_written_as_banks_read_them(text: str, written: str) -> None:
    assert sepa_text(text, 70) == written


@pytest.mark.parametrize("text", ["", "a b", "/a", "a/", "a//b", "ä", "a" * 36])
def test_what_is_no_reference_of_the_sepa(text: str) -> None:
    assert not is_reference(text)


def test_sums_that_are_not_those_of_the_claims_are_refused() -> None:
    debit = Debit("E1", 100, "M1", "2026-01-02", "A", "DE89370400440532013000", "", "T")
    held = _of([debit])
    with pytest.raises(SumError, match=r"batch B has 1 claims of 1\.00, and not 2 of 2\.00"):
        list(pieces(held.collection, [held.batches[0]._replace(claims=2, cents=200)]))
    with pytest.raises(SumError, match=r"the file has 1 claims of 1\.00, and not 1 of 9\.00"):
        list(pieces(held.collection._replace(cents=900), held.batches))


def test_a_large_file_takes_little_memory() -> None:
    count = 20_000

    def debits() -> Iterator[Debit]:
        for n in range(count):
            yield Debit(
                f"E{n}", 1284, f"M{n}", "2026-01-02", "Ada", "DE89370400440532013000", "", "T"
            )

    batch = Batch("B", "core", "RCUR", count, count * 1284, debits())
    collection = _of([]).collection._replace(claims=count, cents=count * 1284)
    tracemalloc.start()
    length = sum(len(each) for each in pieces(collection, [batch]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length > count * 400
    # It takes some KiB. Other threads of the tests take memory meanwhile.
    assert peak < length / 10


def _of(debits: list[Debit]) -> Held:
    cents = sum(each.cents for each in debits)
    return Held(
        Collection(
            "pain.008.001.08",
            "MH1",
            "2026-04-15 12:00:00",
            "2026-04-20",
            Creditor("Tide Press", "DE89370400440532013000", "", "DE98ZZZ09999999999"),
            len(debits),
            cents,
        ),
        [Batch("B", "core", "RCUR", len(debits), cents, debits)],
    )
