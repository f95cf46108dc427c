"""Who is named on a printed copy (circulation, "The mail file")."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest
from openpyxl import load_workbook

from masthead.books import issues
from masthead.loading.mail_files import Wanted, write_mail_file
from tests.circulation.desk import Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

ADDRESSES = (
    {"first_name": "Ada", "last_name": "Ames-Bell", "company": None},
    {"first_name": None, "last_name": "", "company": None},
    {"first_name": None, "last_name": None, "company": "Ames & Daughters"},
    {"first_name": None, "last_name": "Bell", "company": None},
)


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """Ada Ames has a subscription at each of the addresses; an issue is to be closed."""
    with at_desk(store) as found:
        found.put("publications", publication_id=1, name="Tide")
        found.put("issues", issue_id=1, publication_id=1, name="No. 1", date="2026-02-01")
        found.put("subscribers", subscriber_id=1, first_name="Ada", last_name="Ames")
        for number, named in enumerate(ADDRESSES, 1):
            found.put("addresses", address_id=number, subscriber_id=1, address="1 Quay", **named)
            found.put(
                "subscriptions",
                subscription_id=number,
                subscriber_id=1,
                publication_id=1,
                mailing_address_id=number,
                type="Print",
                copies=1,
                begins_on="2026-01-01",
                renew_campaign_active=0,
            )
            found.put(
                "terms",
                term_id=number,
                subscription_id=number,
                issues=3,
                issues_left=3,
                price=0,
                kind="free",
            )
        found.refresh()
        yield found


def test_an_address_without_a_name_gets_the_readers(desk: Desk, tmp_path: Path) -> None:
    """Addresses of the system before often have none, and a label needs one."""
    issues.close(desk.books, 1)
    file = tmp_path / "mail.csv"
    assert write_mail_file(desk.books, Wanted(1), file) == len(ADDRESSES)
    with file.open(encoding="utf-8", newline="") as opened:
        rows = [(r["first_name"], r["last_name"], r["company"]) for r in csv.DictReader(opened)]
    assert rows == [
        ("Ada", "Ames-Bell", ""),
        ("Ada", "Ames", ""),
        ("Ada", "Ames", "Ames & Daughters"),
        ("", "Bell", ""),
    ]


def test_no_file_has_a_formula_unless_a_program_reads_it(desk: Desk, tmp_path: Path) -> None:
    """rules, "Exports for spreadsheets": an apostrophe in CSV, the mark of a text in XLSX."""
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE addresses SET last_name = '=1+1' WHERE address_id = 1")
    issues.close(desk.books, 1)
    names = {}
    for name, is_raw in (("safe.csv", False), ("raw.csv", True)):
        write_mail_file(desk.books, Wanted(1, is_raw=is_raw), tmp_path / name)
        with (tmp_path / name).open(encoding="utf-8", newline="") as opened:
            names[name] = next(csv.DictReader(opened))["last_name"]
    assert names == {"safe.csv": "'=1+1", "raw.csv": "=1+1"}
    write_mail_file(desk.books, Wanted(1), tmp_path / "mail.xlsx")
    sheet = load_workbook(tmp_path / "mail.xlsx").active
    assert sheet is not None
    head, first, *_ = sheet.iter_rows()
    (cell,) = (cell for cell, name in zip(first, head, strict=True) if name.value == "last_name")
    assert (cell.value, cell.data_type, cell.quotePrefix) == ("=1+1", "s", True)
    (city,) = (cell for cell, name in zip(first, head, strict=True) if name.value == "address")
    assert not city.quotePrefix
