"""Rows that are no records: repeated headers and lines of totals are named, and give no record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.loading.batches import Batch
from masthead.loading.load import Options, load
from masthead.loading.not_records import lone_cells, without_others
from tests.loading.mapped import load_mapped, refusal
from tests.long import examples

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.loading.publisher import Publisher

HEADER = ["Nr", "Name", "Ort", "Anzahl", "Preis"]
MAPPING = """
    [[files]]
    name = "s*"
    [files.tables.subscribers]
    subscriber_id = { key = ["Nr"] }
    last_name = "Name"
    email = "Mail"
    """


def of_rows(rows: Sequence[Sequence[str | None]]) -> Batch:
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(HEADER)
    return Batch(HEADER, list(range(2, len(rows) + 2)), cells, (), 0)


def test_repeated_headers_and_lines_of_totals_are_found() -> None:
    """rules, "Rows that are no records"."""
    for row, may_be_record in {
        ("Nr", "Name", "Ort", "Anzahl", "Preis"): False,
        ("Name", "Nr", "Ort", "", "Preis"): False,
        ("Total", "", "", "38", "1.049,90 €"): False,
        ("GRAND TOTAL:", "", "", "38", "1049.90 EUR"): False,
        ("Summe", "", "", "", ""): False,
        ("Gesamt: 38", "", "", "", ""): False,
        ("Total readers: 38", "", "", "", ""): False,
        ("Subtotal", "Total (12)", "27.11.2026", "", "-"): False,
        ("", "Totaal", "", "38", ""): True,
        (" ", "", "Sous-total", "38", "12 %"): True,
    }.items():
        found = without_others(of_rows([("1", "A", "B", "2", "3"), row]), {"Nr"})
        assert found.lines == [2], row
        assert [(bad.line, bad.may_be_record) for bad in found.unreadable] == [(3, may_be_record)]


@pytest.mark.parametrize(
    "row",
    [
        ("38", "Total", "", "1", ""),
        ("Total Energies", "", "", "38", ""),
        ("Total", "Ada", "", "38", ""),
        ("", "Ada Total", "", "1", ""),
        ("Nr", "", "", "", ""),
        ("Nr", "Ada", "Ort", "1", "2"),
        ("", "", "", "38", "12"),
        ("Summer", "", "", "1", ""),
        (None, None, None, None, None),
    ],
)
def test_a_row_with_more_than_numbers_or_with_a_key_is_a_record(row: tuple[str | None]) -> None:
    batch = of_rows([row])
    assert without_others(batch, {"Nr"}) is batch


CELLS = st.sampled_from([*HEADER, "Total", "Summe: 3", "1", "", " ", "Ada", "2,50 €"]) | st.text(
    max_size=4
)


@examples(100, 2_000)
@given(
    rows=st.lists(st.tuples(*[CELLS | st.none()] * len(HEADER)), max_size=6),
    keys=st.sets(st.sampled_from(HEADER)),
)
def test_each_row_stays_a_record_or_is_named_and_rows_do_not_depend_on_others(
    rows: list[tuple[str | None, ...]], keys: set[str]
) -> None:
    found = without_others(of_rows(rows), keys)
    assert sorted([*found.lines, *(bad.line for bad in found.unreadable)]) == [
        *range(2, len(rows) + 2)
    ]
    kept = list(zip(*found.cells, strict=True)) if found.lines else []
    assert kept == [rows[line - 2] for line in found.lines]
    for line, row in enumerate(rows, 2):
        assert bool(without_others(of_rows([row]), keys).lines) == (line in found.lines)


def test_such_rows_of_a_mapped_file_are_problems_and_make_no_reader(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Rows that are no records": set aside, they are no lost keys."""
    rows = "Nr,Name,Mail\n1,Ada,\nNr,Name,Mail\n2,Ben,\nTotal,,2\n"
    assert refusal(publisher, {"s.csv": rows}, MAPPING) == [
        "s.csv:3: row: repeats the names of the columns: remove the line",
        "s.csv:5: row: looks like a line of totals ('Total'): remove the line",
    ]
    load_mapped(publisher, {"s.csv": rows}, MAPPING, complete=True, reject=tmp_path / "r")
    assert [row["last_name"] for row in publisher.table("subscribers")] == ["Ada", "Ben"]
    lost = rows.replace("Total,,2", ",Total,2")
    with pytest.raises(BadInput, match=r"s\.csv:5: row: .*\n.*keys of these rows cannot be read"):
        load_mapped(publisher, {"s.csv": lost}, MAPPING, complete=True, reject=tmp_path / "r")


def test_such_rows_of_a_plain_file_are_problems_too(small: Publisher) -> None:
    """rules, "Rows that are no records": a number in the column of the key makes no difference."""
    content = "subscriber_id,last_name\n1,Ada\nsubscriber_id,last_name\nTotal,1\n"
    with pytest.raises(BadInput) as refused:
        small.load({"subscribers.csv": content})
    assert str(refused.value).splitlines()[:-1] == [
        "subscribers.csv:3: row: repeats the names of the columns: remove the line",
        "subscribers.csv:4: row: looks like a line of totals ('Total'): remove the line",
    ]


@examples(100, 2_000)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from(["", " ", "x", "y"]) | st.none()] * 5), max_size=6),
    used=st.sets(st.sampled_from(HEADER), min_size=3),
)
def test_a_line_with_one_value_is_found_and_no_other(
    rows: list[tuple[str | None, ...]], used: set[str]
) -> None:
    """rules, "Rows that are no records"."""
    expected = {}
    for line, row in enumerate(rows, 2):
        values = [
            c for name, c in zip(HEADER, row, strict=True) if name in used and (c or "").strip()
        ]
        if len(values) == 1:
            expected[line] = values[0]
    assert lone_cells(of_rows(rows), used) == expected


def test_titles_between_records_and_rows_that_are_left_out_are_told(publisher: Publisher) -> None:
    """rules, "Rows that are no records"; docs/mapping.md, "Conditions"."""
    left_out = MAPPING.replace("[files.t", 'except = { Name = ["Ben"] }\n[files.t')
    mapping = publisher.write({"publisher.toml": left_out}) / "publisher.toml"
    notes: list[str] = []
    load(
        publisher.store,
        [publisher.write({"s.csv": "Nr,Name,Mail\n1,Ada,\nRegion North,,\n2,,\n3,Ben,\n"})],
        account_id=publisher.account_id,
        options=Options(mapping=mapping, is_dry=True),
        note=notes.append,
    )
    first, second = notes
    assert first == "s.csv: rows that `only` and `except` leave out: 1"
    assert second.startswith("warning: s.csv:3: has only one value, 'Region North' (2 such rows)")
