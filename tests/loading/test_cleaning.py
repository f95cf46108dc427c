"""What programs leave in cells is taken away, and what cannot be read is a problem."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from masthead.loading.cleaning import BadCell, clean, cleaned, key_text, without_decimals
from masthead.loading.number_formats import code_format
from masthead.loading.order_files import read_orders
from masthead.loading.sources import source_batches
from tests.loading.mapped import load_mapped
from tests.loading.workbooks import packed
from tests.long import examples

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher

MEMBERS = """
[[files]]
name = "members*"
dates = "DD.MM.YYYY"
ignore = ["Note"]
[files.tables.subscribers]
subscriber_id = { key = ["Member no"] }
email = "Email"
first_name = "First"
last_name = "Last"
[files.tables.addresses]
address_id = { key = ["Member no"], when = ["Street"] }
subscriber_id = { key = ["Member no"] }
address = "Street"
zip_code = "Zip"
[files.tables.orders]
order_id = { key = ["Member no"], when = ["Since"] }
subscriber_id = { key = ["Member no"] }
order_date = "Since"
"""
HEADER = ("Member no", "Email", "First", "Last", "Street", "Zip", "Since", "Note")

CLEANED = {
    " a@e.org ": "a@e.org",
    "Orr\u00a0": "Orr",
    "\u3000Orr\u2003": "Orr",
    "Anna\u00a0 Maria": "Anna Maria",
    "Anna\tMaria": "Anna Maria",
    "a\u200bb\ufeffc\u00add\u2060": "abcd",
    "\u202a+49 30 1\u202c": "+49 30 1",
    "Jo\u200dhn": "John",
    "M\u0627\u200c\u0628": "M\u0627\u200c\u0628",
    "Mu\u0308ller": "M\u00fcller",
    "  1 Elm\n  Flat 2 ": "1 Elm\n  Flat 2",
    "Orr\n": "Orr",
    "'04530": "04530",
    "'+49": "+49",
    "'t Hooft": "'t Hooft",
    '="04530"': "04530",
    '="a ""b"""': 'a "b"',
    '\'="5"': "5",
    "KÃ¶ln": "Köln",
    "KÃƒÂ¶ln": "Köln",
    "GarcÃ\xada": "García",
    "StraÃ\x9fe": "Straße",
    "SocietÃ\xa0": "Società",
    "M√ºller": "Müller",
    "M├╝ller": "Müller",
    "Oâ€™Brien": "O\u2019Brien",
    "Ð\u02dcÐ²Ð°Ð½": "Иван",
    "Köln KÃ¶ln": "Köln Köln",
    "«CAFÉ»": "«CAFÉ»",
    "東京": "東京",
    "#1 Main Street": "#1 Main Street",
    "#METOO!": "#METOO!",
    "=)": "=)",
    "1E5": "1E5",
}
BAD = {
    "#REF!": "the formula has the error #REF!",
    "#BEZUG!": "the formula has the error #BEZUG!",
    " #N/A": "the formula has the error #N/A",
    "########": "since the column was too narrow",
    "=VLOOKUP(A2,B:C,2)": "holds a formula in place of a value",
    "=A1+B1": "holds a formula in place of a value",
    "1.23E+05": "digits are lost",
    "4,91712E+11": "digits are lost",
}


def test_traces_of_programs_are_taken_away() -> None:
    """rules, "Cells that are cleaned"."""
    assert {cell: cleaned([cell])[0] for cell in CLEANED} == CLEANED


def test_a_cell_that_cannot_be_read_says_what_to_do() -> None:
    """rules, "Cells that are cleaned"."""
    for cell, sentence in BAD.items():
        (found,) = cleaned([cell])
        assert isinstance(found, BadCell)
        assert sentence in found.sentence
        assert cleaned([cell, "x"], {cell.strip()}) == [cell.strip(), "x"]


TRACES = st.sampled_from(["'", '="', '"', "Ã", "\xad", "¶", "\u0308", "u", " ", "\u200b", "5", "="])


@examples(200, 5_000)
@given(text=st.lists(TRACES | st.characters(exclude_categories=["Cs"])).map("".join))
def test_clean_text_stays_as_it_is_whatever_it_was(text: str) -> None:
    """A load of what was exported is no change."""
    assert clean(clean(text)) == clean(text)


@examples(100, 2_000)
@given(cells=st.lists(st.none() | st.text() | st.sampled_from([*CLEANED, *BAD])))
def test_a_column_is_cleaned_as_each_of_its_cells_is(cells: list[str | None]) -> None:
    assert list(cleaned(cells)) == [cleaned([cell])[0] for cell in cells]


def test_a_key_is_one_key_in_all_forms_that_programs_write() -> None:
    """decisions, "Which cells are cleaned": one reader never becomes two."""
    forms = ["417", "000417", "417.0", "0417.00"]
    assert {key_text(form) for form in forms} == {"417"}
    assert key_text("Ann@E.org") == key_text("ann@e.ORG") == "ann@e.org"
    others = ["K-0417", "417.5", "4.10", "4.1", "0.5", "1-0", "@Ann", "000x"]
    assert [key_text(other) for other in others] == others
    assert (key_text("000"), key_text("0"), key_text("100")) == ("0", "0", "100")
    assert without_decimals("04530.0") == "04530"


@pytest.mark.parametrize(
    ("written", "number", "shown"),
    [
        ("00000", 4530, "04530"),
        ("00000", 1234567, "1234567"),
        ("0000-000", 4530123, "4530-123"),
        ("000-00-0000", 23456789, "023-45-6789"),
        ("0000\\ 00", 123456, "1234 56"),
        ('"M-"00000', 417, "M-00417"),
        ("[$-409]00000", 12, "00012"),
        ("00000;-00000;;@", 7, "00007"),
        ("[<=9999999]###-####;(###) ###-####", 5551234, "555-1234"),
        ("[<=9999999]###-####;(###) ###-####", 2125551234, "(212) 555-1234"),
        ("[<=99999]00000;00000-0000", 4530, "04530"),
        *((plain, 5, None) for plain in ("0", "General", "0.00", "#,##0", "0%", '0 "€"', "0E+00")),
    ],
)
def test_a_format_of_codes_shows_their_zeros_and_signs(
    written: str, number: int, shown: str | None
) -> None:
    """rules, "Workbooks"."""
    show = code_format(written)
    assert (show and show(number)) == shown


def test_a_reader_is_the_same_in_a_workbook_and_in_text(publisher: Publisher) -> None:
    """rules, "Cells that are cleaned"."""
    book = Workbook()
    assert book.active
    book.active.append(HEADER)
    book.active.append([417, "a@e.org", "Ann", "Orr", "1 Elm", 4530, date(2026, 12, 31), "=A1"])
    book.active["A2"].number_format = "000000"
    book.active["F2"].number_format = "00000"
    text = (
        f"{','.join(HEADER)}\n"
        '000417,"a@e.org ",Ann,Orr\u00a0,1  Elm,\'04530,31.12.2026,\n'
        '="000418",b@e.org,Bo,Kim,2 Elm,"=""04530""",,#REF!\n'
        "417.0,a@e.org,Ann,Orr,1 Elm,04530,31.12.2026,\n"
    )
    load_mapped(publisher, {"members.xlsx": packed(book), "members-2.csv": text}, MEMBERS)
    assert [(row["email"], row["last_name"]) for row in publisher.table("subscribers")] == [
        ("a@e.org", "Orr"),
        ("b@e.org", "Kim"),
    ]
    assert [(row["zip_code"], row["address"]) for row in publisher.table("addresses")] == [
        ("04530", "1 Elm"),
        ("04530", "2 Elm"),
    ]


def test_formulas_without_a_value_and_errors_are_problems_of_mapped_columns(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Workbooks": they are never taken for empty cells."""
    book = Workbook()
    assert book.active
    book.active.append(HEADER)
    since = "=DATE(2026,12,31)"
    book.active.append([1, "a@e.org", "Ann", "Orr", "1 Elm", "04530", since, "=A1"])
    book.active.append([2, "#N/A", "Bo", "Kim", "2 Elm", "04530", None, "#N/A"])
    book.active.append(["=A2+1", "c@e.org", "Cy", "Lee", None, None, None, None])
    book.active.append([4, "d@e.org", "Di", "Moe", None, None, None, None])
    loaded = load_mapped(
        publisher, {"members.xlsx": packed(book)}, MEMBERS, reject=tmp_path / "bad"
    )
    assert [row["email"] for row in publisher.table("subscribers")] == ["a@e.org", "d@e.org"]
    assert loaded.rejected == {"members.xlsx.csv": 3}
    rejected = (tmp_path / "bad" / "members.xlsx.csv").read_text()
    assert "=DATE(2026,12,31)" in rejected
    names = {"members.xlsx": packed(book), "members.xlsx.csv": rejected.encode()}
    for name, content in names.items():
        with pytest.raises(Exception, match="nothing was loaded") as refused:
            load_mapped(publisher, {name: content}, MEMBERS)
        for place in (f"{name}:2: Since (orders", f"{name}:3: Email (", f"{name}:4: Member no"):
            assert place in str(refused.value)


VALUES: st.SearchStrategy[object] = st.one_of(
    st.integers(0, 10**16),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.dates(date(1900, 3, 1), date(2100, 1, 1)),
    st.sampled_from(["=A1", "=", "#REF!", "x", "#", "'"]),
)
NUMBER_FORMATS = st.text('0#?;-_*[]<=9"\\dmyhs. @%E+,/()', max_size=8) | st.just("General")


@examples(20, 500)
@given(cells=st.lists(st.tuples(VALUES, NUMBER_FORMATS), min_size=1, max_size=6))
def test_no_cell_with_a_content_is_taken_for_an_empty_one(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[object, str]]
) -> None:
    """rules, "Workbooks"."""
    book = Workbook()
    assert book.active
    book.active.append(["id", "cell"])
    for line, (value, number_format) in enumerate(cells, 2):
        book.active.append([line, value])
        book.active.cell(line, 2).number_format = number_format
    path = tmp_path_factory.getbasetemp() / "cells.xlsx"
    path.write_bytes(packed(book))
    (batch,) = source_batches(path, path.name)
    assert len(batch.cells[1]) == len(cells)
    assert all(batch.cells[1])


def test_files_of_orders_are_cleaned_too(tmp_path: Path) -> None:
    """rules, "Cells that are cleaned": their readers are found by what they hold."""
    path = tmp_path / "orders.csv"
    path.write_text(
        "external_reference,email,last_name,product_id,price,zip_code\n"
        "1001.0,a@e.org ,Orr\u00a0,07.0,5.00,'04530\n"
        "1002,b@e.org,Kim,#REF!,5.00,1.2E+05\n"
    )
    (found,), problems = read_orders([path])
    person = found.order.payer
    assert found.order.reference == "1001"
    assert (person.email, person.last_name, person.address) == (
        "a@e.org",
        "Orr",
        {"zip_code": "04530"},
    )
    assert found.order.items[0].product_id == 7
    assert [(each.line, each.column) for each in problems] == [(3, "product_id"), (3, "zip_code")]
