"""A shop of which commands are typed: an account with a reader and something to order."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from tests.circulation.today import TODAY
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

MONTHS = [date(TODAY.year + (TODAY.month + n - 1) // 12, (TODAY.month + n - 1) % 12 + 1, 1)
          for n in range(1, 5)]  # fmt: skip
SUBSCRIBERS = "subscriber_id,first_name,last_name,email\n1,Ada,Ames,ada@example.org\n"
ADDRESSES = (
    "address_id,subscriber_id,address,city,zip_code,country_name\n1,1,12 Elm,Salem,97301,US\n"
)


def stock(url: str, folder: Path) -> None:
    """Add an account with open books, a publication of four planned issues, and three bundles."""
    (folder / "subscribers.csv").write_text(SUBSCRIBERS, encoding="utf-8")
    (folder / "addresses.csv").write_text(ADDRESSES, encoding="utf-8")
    masthead("accounts", "add", "1", database=url)
    run(url, "import", folder)
    run(url, "books", "open")
    run(url, "catalogue", "publication", "add", "Tide")
    for number, day in enumerate(MONTHS, 1):
        planned = ("--publication=1", f"--date={day}", f"--number={number}")
        run(url, "catalogue", "issue", "add", f"No. {number}", *planned)
    run(url, "catalogue", "bundle", "add", "A year", "--line=1:12:Print:35.00", "--tax=2.45")
    run(url, "catalogue", "bundle", "add", "For life", "--line=1:unlimited:Digital:300")
    run(url, "catalogue", "product", "add", "Mug", "--price=9")


def run(database: str, *arguments: Any) -> list[str]:
    """Run a command for the account; return the lines that it prints."""
    return masthead(*arguments, "--account=1", database=database).stdout.splitlines()


def refused(database: str, *arguments: Any, exit_status: int = 1) -> str:
    """Run a command that must be refused; return what it says."""
    return masthead(*arguments, "--account=1", database=database, exit_status=exit_status).stderr


def summaries(database: str) -> list[str]:
    """Return the summaries of the audit log."""
    printed = masthead("audit", "--format=json", database=database).stdout
    return [json.loads(line)["summary"] for line in printed.splitlines()]
