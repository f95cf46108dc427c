"""Reads made-up import files and judges them by the contract: kinds, keys and references."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from masthead.contract.records import TABLES, TABLES_BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Record = dict[str, str]
Tables = dict[str, list[Record]]


def read_tables(folder: Path) -> Tables:
    """Return the rows of each file of ``folder``, by the name of their table."""
    tables = {}
    for path in sorted(folder.iterdir()):
        with path.open(encoding="utf-8", newline="") as file:
            tables[path.stem] = list(csv.DictReader(file, strict=True))
    return tables


def key_of(table: str, record: Record) -> tuple[str, ...]:
    """Return the key of a record."""
    return tuple(record[name] for name in TABLES_BY_NAME[table].key)


def by_key(table: str, records: Iterable[Record]) -> dict[tuple[str, ...], Record]:
    """Return the records by their key; of several with one key, the last."""
    return {key_of(table, record): record for record in records}


def assert_fits(tables: Tables, before: Tables | None = None) -> Tables:
    """Assert that ``tables`` could be loaded after ``before``, and return how all then stands."""
    stands = {}
    for table in TABLES:
        now = tables.get(table.name, [])
        found = by_key(table.name, now)
        assert len(found) == len(now), f"a key occurs twice in {table.name}"
        earlier = by_key(table.name, (before or {}).get(table.name, []))
        stands[table.name] = list((earlier | found).values())
    for table in TABLES:
        for column in table.columns:
            for record in tables.get(table.name, []):
                if cell := record.get(column.name):
                    column.kind.parse(cell)
        for column_name, referred in table.references.items():
            known = {key for (key,) in by_key(referred, stands[referred])}
            for record in tables.get(table.name, []):
                assert not record.get(column_name) or record[column_name] in known
        for column_name in table.unique:
            values = [r[column_name].lower() for r in stands[table.name] if r.get(column_name)]
            assert len(set(values)) == len(values)
    assert_belongs_together(stands)
    return stands


def assert_belongs_together(tables: Tables) -> None:
    """Assert what references alone do not say: options of their field, one thing an item, sums."""
    field_of = {
        option["option_id"]: option["field_id"] for option in tables["custom_field_options"]
    }
    fields = by_key("custom_fields", tables["custom_fields"])
    for answer in tables["custom_field_answers"]:
        field = fields[answer["field_id"],]
        options = answer["option_ids"].split("|") if answer["option_ids"] else []
        assert all(field_of[option] == answer["field_id"] for option in options)
        assert bool(options) != bool(answer["text_value"])
        assert len(options) <= 1 or field["type"] == "checkbox"
        if answer["text_value"]:
            assert field["type"] in {"text", "textarea"} or field["allow_other"] == "1"
    for item in tables["order_items"]:
        assert bool(item["bundle_id"]) != bool(item["product_id"])
