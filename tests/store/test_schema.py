"""The schema of both databases is written from one source (``schema/write.py``)."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATABASES = ("sqlite", "postgresql")
COLUMN = re.compile(r'^    "?(\w+)"? (INTEGER|BIGINT|TEXT)\b', re.MULTILINE)
CENTS = {
    *("allowed", "cents", "earned", "price", "refunded", "spread_earned", "tax"),
    *("net", "total", "open_cents", "left_cents", "fee", "shipping", "shipping_tax"),
}
# A total is a text of a purchase, and cents of an invoice.
TEXTS = {"grand_total", "product_total", "sub_total", "tax_total", "total", "unearned_revenue"}


def schema(database: str) -> str:
    """Return the schema of a database."""
    return (ROOT / "src/masthead/store/sql" / database / "0001_start.sql").read_text()


def columns(database: str) -> set[tuple[str, str]]:
    """Return the names of columns and their types, which are said in SQLite's words."""
    found = COLUMN.findall(schema(database))
    return {(name, "INTEGER" if of == "BIGINT" else of) for name, of in found}


@pytest.mark.parametrize("database", DATABASES)
def test_the_schema_is_what_its_source_says(database: str) -> None:
    """decisions, "One source of the schema": `make schema` brings it up to date."""
    written = runpy.run_path(str(ROOT / "schema" / "write.py"))["schema"](database)
    assert schema(database) == written


@pytest.mark.parametrize("database", DATABASES)
def test_days_are_text(database: str) -> None:
    """decisions, "Days as text"."""
    days = {(name, of) for name, of in columns(database) if re.search(r"_on$|_date$|^date", name)}
    assert {"booked_on", "date", "date_expired", "to_date"} <= {name for name, _ in days}
    assert {of for _, of in days} == {"TEXT"}


@pytest.mark.parametrize("database", DATABASES)
def test_money_is_whole_cents_but_where_the_interface_has_a_text(database: str) -> None:
    """decisions, "Money as cents"."""
    money = {(name, of) for name, of in columns(database) if name in CENTS | TEXTS}
    assert money == {(name, "INTEGER") for name in CENTS} | {(name, "TEXT") for name in TEXTS}
