"""The catalogues of the readers' pages: each message is translated, with the same values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from babel.messages.mofile import read_mo

from masthead.readers.words import Words
from tests.readers import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from babel.messages.catalog import Catalog, Message

PLACEHOLDER = re.compile(r"%\([a-z_]+\)s|\{[^}]*\}")
LAST = re.compile(r"[.?!:]$")
LANGUAGES = catalogue.languages()
WRITE = "python -m tests.readers.catalogue"


def translations(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Return the translations of each message, one for each of its plural forms."""
    return {_key(each): _texts(each.string) for each in catalog if each.id}


def _key(message: Message) -> str:
    return "\0".join(_texts(message.id))


def _texts(text: str | Iterable[str] | None) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text or ())


def test_german_comes_with_the_pages() -> None:
    assert LANGUAGES == ["de"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_message_is_translated(language: str) -> None:
    """decisions, "Languages of the readers' pages"."""
    wanted = {_key(each) for each in catalogue.source() if each.id}
    found = translations(catalogue.read(language))
    assert not sorted(wanted - found.keys()), WRITE
    assert not sorted(found.keys() - wanted), WRITE
    assert not [message for message, texts in found.items() if not all(texts)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_translation_has_the_values_of_its_message(language: str) -> None:
    found = translations(catalogue.read(language))
    wrong = {
        message: texts
        for message, texts in found.items()
        for text in texts
        if sorted(PLACEHOLDER.findall(text))
        != sorted(PLACEHOLDER.findall(message.rpartition("\0")[2]))
    }
    assert not wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_translation_ends_as_its_message_does(language: str) -> None:
    """A sentence stays a sentence, and a label a label."""
    found = translations(catalogue.read(language))
    assert not [
        (message, text)
        for message, texts in found.items()
        for text in texts
        if LAST.findall(message) != LAST.findall(text) or text != text.strip()
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pages_read_the_catalogue_that_people_read(language: str) -> None:
    with catalogue.path_of(language).with_suffix(".mo").open("rb") as file:
        assert translations(read_mo(file)) == translations(catalogue.read(language)), WRITE


def test_words_are_those_of_the_language() -> None:
    english, german = Words("en"), Words("de")
    assert english.gettext("Sign in") == "Sign in"
    assert german.gettext("Sign in") == "Anmelden"
    assert [
        german.ngettext("%(num)s issue left", "%(num)s issues left", number)
        for number in (1, 2, 1200)
    ] == ["Noch 1 Ausgabe", "Noch 2 Ausgaben", "Noch 1.200 Ausgaben"]


def test_days_and_amounts_are_those_of_the_language() -> None:
    english, german = Words("en"), Words("de")
    assert (english.day("2026-11-02"), german.day("2026-11-02")) == (
        "2 November 2026",
        "2. November 2026",
    )
    assert english.day("2026-11-02 10:00:00") == "2 November 2026"
    assert english.day(None) == ""
    assert english.money(123450, "EUR") == "€1,234.50"
    assert german.money(123450, "EUR") == "1.234,50\xa0€"
    assert german.list_of(["a", "b", "c"]) == "a, b und c"
    assert german.list_of([]) == ""


def test_countries_stand_in_the_order_of_their_names() -> None:
    names = [name for _, name in Words("de").countries()]
    assert names.index("Österreich") < names.index("Pakistan")
    assert ("DE", "Germany") in Words("en").countries()


def test_an_address_has_the_form_of_its_country() -> None:
    fields = {
        "first_name": "Ada",
        "last_name": "Byron",
        "address": "12 St James's Square",
        "city": "London",
        "zip_code": "SW1Y 4JH",
        "country_abbreviation": "GB",
    }
    german = Words("de")
    assert german.address_lines(fields) == [
        "Ada Byron",
        "12 St James's Square",
        "London",
        "SW1Y 4JH",
        "Vereinigtes Königreich",
    ]
    assert german.address_lines(fields, home="GB")[-1] == "SW1Y 4JH"
