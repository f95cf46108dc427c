"""Any publisher: valid records of every table that refer to one another, as files of any format."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from masthead.contract.file_kinds import IdentifierList
from masthead.contract.kinds import Identifier, Missing
from masthead.contract.records import TABLES, Table
from masthead.loading.cleaning import BadCell, clean, cleaned
from masthead.store.books.ownership import BOOKS
from tests.contract.values import texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.contract.shapes import Field

Record = dict[str, str]
Tables = dict[str, list[Record]]

_ROWS_MAX = 3
_BOOKS = {"books_id": "1", "opened_on": "2026-01-01"}


@st.composite
def publishers(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    *,
    is_clean: bool = False,
    has_books: bool = False,
) -> dict[str, str]:
    """Return files of a publisher, which together load into an empty account.

    If ``is_clean``, a mapped load reads their texts as they are. Only if it ``has_books``, the
    tables of open books have rows.
    """
    tables: Tables = {}
    for table in TABLES:
        if table.name in BOOKS and not has_books:
            tables[table.name] = []
            continue
        records = draw(_records(table, tables))
        if table.name in {"books", "billing"}:
            records = [{**record, table.key[0]: "1"} for record in records[:1]]
        if table.name == "books" and not records:
            records = [{**dict.fromkeys((c.name for c in table.columns), ""), **_BOOKS}]
        if is_clean:
            records = [{name: _kept(cell) for name, cell in each.items()} for each in records]
        tables[table.name] = records
    _add_up(tables)
    files = {}
    for name, records in tables.items():
        if draw(st.booleans()):
            files[f"{name}.ndjson"] = "".join(json.dumps(record) + "\n" for record in records)
        else:
            files[f"{name}.csv"] = _csv(name, records)
    return files


def _kept(cell: str) -> str:
    """Return a text that a mapped load reads as it is: no formula and no error, such as ``=``."""
    text = clean(cell)
    (read,) = cleaned([text])
    return f"x{text[1:]}" if isinstance(read, BadCell) else text


def _add_up(tables: Tables) -> None:
    """Let each bundle with lines cost what these cost together."""
    for bundle in tables["bundles"]:
        own = [each for each in tables["bundle_lines"] if each["bundle_id"] == bundle["bundle_id"]]
        for line in own:
            line["price"] = line["price"] and str(int(line["price"]) // _ROWS_MAX)
        if own:
            bundle["price"] = str(sum(int(line["price"] or 0) for line in own))


def _csv(name: str, records: list[Record]) -> str:
    out = io.StringIO(newline="")
    columns = next([c.name for c in table.columns] for table in TABLES if table.name == name)
    writer = csv.DictWriter(out, columns)
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


@st.composite
def _records(
    draw: Callable[[st.SearchStrategy[Any]], Any], table: Table, tables: Tables
) -> list[Record]:
    records: list[Record] = []
    keys = set()
    for _ in range(draw(st.integers(0, _ROWS_MAX))):
        record = _record(draw, table, tables)
        if record is None:
            break
        key = tuple(record[name] for name in table.key)
        if key in keys or any(_is_taken(name, record, records) for name in table.unique):
            continue
        together = [tuple(each[name] for name in table.together) for each in (record, *records)]
        if table.together and together[0] in together[1:]:
            continue
        keys.add(key)
        records.append(record)
    return records


def _is_taken(name: str, record: Record, records: list[Record]) -> bool:
    return record[name] != "" and any(
        record[name].lower() == other[name].lower() for other in records
    )


def _record(
    draw: Callable[[st.SearchStrategy[Any]], Any], table: Table, tables: Tables
) -> Record | None:
    """Return a record, or None where there is nothing that it could refer to."""
    record: Record = {}
    for column in table.columns:
        values = _values(table, column, tables, record)
        required = column.missing is Missing.NEVER and column.kind.when_missing is None
        if required and values is None:
            return None
        options = [values] if values is not None else []
        if not required:
            options.append(st.just(""))
        record[column.name] = draw(st.one_of(options))
    if record.get("password_hash"):
        record["password_md5"] = ""
    if table.name == "order_items":
        record["bundle_id" if record["product_id"] else "product_id"] = ""
        if not record["bundle_id"] and not record["product_id"]:
            record["bundle_id"] = "1"
    return record


def _values(
    table: Table, column: Field, tables: Tables, record: Record
) -> st.SearchStrategy[str] | None:
    target = table.references.get(column.name)
    if target and target != table.name:
        (key,) = next(each.key for each in TABLES if each.name == target)
        known = [each[key] for each in tables[target]]
        return st.sampled_from(known) if known else None
    if target:
        return st.just(record[table.key[0]])
    if isinstance(column.kind, IdentifierList):
        options = [
            each["option_id"]
            for each in tables["custom_field_options"]
            if each["field_id"] == record["field_id"]
        ]
        if not options:
            return None
        return st.lists(st.sampled_from(options), min_size=1).map("|".join)
    if isinstance(column.kind, Identifier):
        return st.integers(0, 2**63 - 1).map(str) | st.integers(1, 5).map(str)
    return texts(column.kind)
