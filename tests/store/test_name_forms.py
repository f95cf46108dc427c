"""The forms of a name by which it is found, beside its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.store.name_forms import last_word, plain, plain_of, spellings

NAMES = st.text(st.characters(codec="utf-8"), max_size=20)


@given(NAMES)
def test_any_name_is_found_by_its_own_spelling(name: str) -> None:
    """rules, "Find: names"."""
    as_names, as_plain = spellings(name)
    assert name.casefold() in as_names
    form = plain_of(name)
    assert form is None or form in as_plain


@given(NAMES)
def test_a_plain_form_is_plain(name: str) -> None:
    assert plain(plain(name)) == plain(name)


@given(st.text(st.characters(codec="ascii", categories=["L"])))
def test_a_name_of_one_word_in_ascii_has_no_other_form(name: str) -> None:
    assert (plain_of(name), last_word(name)) == (None, None)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Müller", "muller"),
        ("Mu\u0308ller", "muller"),
        ("Straße", None),
        ("Ærø", "aero"),
        ("김", None),
        ("李", None),
        ("O\N{RIGHT SINGLE QUOTATION MARK}Neil", "o'neil"),
        ("", None),
        (None, None),
    ],
)
def test_a_plain_form_is_kept_only_where_it_differs(name: str | None, form: str | None) -> None:
    assert plain_of(name) == form


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("van Dyck", "dyck"),
        ("Smith-Jones", "jones"),
        ("García  López ", "lopez"),
        ("O\N{RIGHT SINGLE QUOTATION MARK}Neil", "neil"),
        (" Ames", None),
        ("-", None),
        (None, None),
    ],
)
def test_the_last_word_is_one_of_several(name: str | None, word: str | None) -> None:
    assert last_word(name) == word
