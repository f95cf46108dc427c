"""``masthead demo``: a publisher to try the interface on, and a curl line for each operation."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from masthead.contract import examples
from masthead.contract.operations import ENTITIES
from masthead.store.books.ownership import BOOKS
from tests.cli.running import lines_until, running
from tests.console.browser import input_values
from tests.long import ONLY_LONG
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

OPERATIONS = 10
pytestmark = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
"""It keeps its data in a file: ``test_usage`` tries the URL of a server."""


def exported(folder: Path, database: str) -> dict[str, bytes]:
    masthead("export", folder, "--account", 1, database=database)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def asked(line: str) -> Any:
    """Run a printed line as it was pasted, and return the JSON that came."""
    done = subprocess.run(
        [*shlex.split(line), "--silent", "--show-error", "--fail-with-body"],
        check=True,
        capture_output=True,
    )
    return json.loads(done.stdout)


def ids_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record's own id and those of what it refers to."""
    return {name: value for name, value in record.items() if name.endswith("_id")}


def test_each_printed_line_works_as_pasted_and_a_second_start_keeps_the_data(
    database: str, tmp_path: Path
) -> None:
    """rules, "The demo's credentials"; "Texts and examples of the document"."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    with running("demo", "--port", 0, database=database) as process:
        printed = lines_until(process, "curl ", OPERATIONS)
        lines = [line for line in printed if not line.startswith("timestamp=")]
        assert lines[0] == "making the demo publisher …"
        assert lines[1].startswith("Masthead serves on http://127.0.0.1:")
        assert "api_key: demo-key" in lines[2]
        assert "api_login: demo-login" in lines[2]
        assert f"export MASTHEAD_DATABASE={shlex.quote(database)} MASTHEAD_ACCOUNT=1" in lines
        assert "masthead issue list --open" in lines
        answers = [asked(line) for line in lines if line.startswith("curl ")]
        signed_in_with_each_printed_login(lines)
        (polls,) = (line for line in lines if "/2/cdc?" in line)
        everything = asked(re.sub(r"2/cdc\?changed_since=[^&]+&", "snapshot?", polls))
    accounts, account, login, feed, given, fields, subscriptions, found, order, mailing = answers
    assert accounts["accounts"] == [account["account"]]
    assert login["authenticated"] is True
    assert login["subscribers"]["subscriptions"]
    assert len(feed) == 7
    assert all(feed.values())
    assert any(response["values"] or response["text_value"] for response in given)
    assert {field["type"] for field in fields} == {
        "checkbox",
        "select",
        "radio",
        "text",
        "textarea",
    }
    assert len(subscriptions["subscriptions"]) == len(found["subscribers"]) == 3
    assert order["order_items"]
    assert mailing
    (bank_file,) = (line for line in lines if line.startswith("masthead payment import "))
    said = masthead(*shlex.split(bank_file)[1:], "--account", 1, database=database).stdout
    assert "1 settled (127.33 EUR), 1 proposed (127.33 EUR), 1 unknown (25.00 EUR)" in said
    for entity in ENTITIES:
        example = ids_of(examples.RECORDS[entity.shape])
        assert example in map(ids_of, everything[entity.key])

    before = exported(tmp_path / "before", database)
    assert before["subscribers.csv"].count(b"\n") > 2_000
    with running("demo", "--port", 0, database=database) as process:
        lines = lines_until(process, "curl ", OPERATIONS)
        assert not any("making" in line for line in lines)
        assert asked(lines[-1]) == mailing
    assert exported(tmp_path / "after", database) == before


def signed_in_with_each_printed_login(lines: list[str]) -> None:
    """Sign in to the readers' pages with both logins, as they were printed."""
    (url,) = (line.split()[-1] for line in lines if line.startswith("The readers' pages are on"))
    account = asked(next(each for each in lines if "/2/accounts/1/" in each))
    assert account["account"]["master_checkout"] == url
    (email, password), (code, postal_code) = (
        re.findall(r": (\S+)", line) for line in lines if re.match("email: |or code: ", line)
    )
    for login, proof in ((email, password), (code, postal_code)):
        with httpx2.Client(base_url=url, follow_redirects=True, timeout=60) as browser:
            page = browser.get("sign-in")
            assert page.status_code == 200, page.text
            form = input_values(page.text) | {"login": login, "password": proof}
            answer = browser.post("sign-in", data=form, headers={"Sec-Fetch-Site": "same-origin"})
            assert answer.status_code == 200, answer.text
            assert answer.url.path == "/harbour-lane/"


def rows_of(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[f"{name}.csv"].decode(), newline="")))


def start(database: str) -> None:
    with running("demo", "--port", 0, database=database) as process:
        lines_until(process, "curl ", OPERATIONS)


LATER = {
    *("closed_months", "renewal_consents", "announced_renewals"),
    *("held_addresses", "letters"),
    *("audit_figures", "requalifications_sent"),
}
"""What the end of a month, automatic renewal, letters, mail, and audit reports bring."""


@ONLY_LONG
def test_the_books_of_the_demo_have_something_of_everything(database: str, tmp_path: Path) -> None:
    """rules, "Sample data has a catalogue and no books"."""
    start(database)
    files = exported(tmp_path / "demo", database)
    for name in BOOKS:
        if name not in LATER:
            assert rows_of(files, name), name
    orders, items = rows_of(files, "orders"), rows_of(files, "order_items")
    lists, terms = rows_of(files, "list_downloads"), rows_of(files, "terms")
    assert {"opening", "paid", "extension"} <= {term["kind"] for term in terms}
    assert [term for term in terms if term["kind"] == "paid" and not term["paid_on"]]
    assert [term for term in terms if term["issues"] == "-1"]
    assert [order for order in orders if order["external_reference"] and order["paid_on"]]
    assert [order for order in orders if order["is_gift"] == "1" and order["paid_on"]]
    assert [item for item in items if item["refunded"] != "0"]
    made = {issue["mailing_list_id"] for issue in rows_of(files, "issues")} - {""}
    assert len(made) >= 2
    assert [each for each in lists if each["parent_mailing_list_id"] in made]
    assert all(int(each["count"]) for each in lists if each["mailing_list_id"] in made)
    given = [row for row in rows_of(files, "subscription_issues") if row["is_grace"] == "1"]
    assert {bool(row["term_id"]) for row in given} == {True, False}
    subscriptions = rows_of(files, "subscriptions")
    assert [each for each in subscriptions if each["cancelled_on"]]
    asked = {row["kind"] for row in rows_of(files, "reader_requests") if not row["answered_at"]}
    assert asked == {"missing_copy", "message", "erasure"}
    changed = {row["kind"] for row in rows_of(files, "reader_changes")}
    assert changed == {"pause", "address", "missing_copy"}
    settings = {row["name"]: row["value"] for row in rows_of(files, "billing_settings")}
    assert settings.get("mail_sending", "no") == "no"
    assert "was closed with list" in masthead("audit", "--account", 1, database=database).stdout
    today = max(invoice["issued_on"] for invoice in rows_of(files, "invoices"))
    overdue = {row["invoice_id"] for row in rows_of(files, "invoices") if row["due_on"] < today}
    reminded = {row["invoice_id"] for row in rows_of(files, "reminders")}
    assert len(reminded) == 2
    assert reminded < overdue
    listed = masthead("invoice", "list", "--account", 1, database=database).stdout
    assert "Timothy Martin, due" in listed
    assert "open 10.00 EUR" in listed
    runs = masthead("debit", "list", "--account", 1, database=database).stdout
    assert "1 claim of 30.50 EUR; 1 with the bank (30.50 EUR)" in runs
    mandates = masthead("mandate", "list", "--account", 1, database=database).stdout
    assert mandates.count(" active since ") == 2
    masthead("journal", "check", "--account", 1, database=database)  # It fails if a sum differs.
    due = masthead("renewals", "select", "--preview", "--account", 1, database=database).stdout
    assert "publication 1, effort 2" in due
    for report in ("expiries", "liability", "renewals"):
        assert masthead("report", report, "--account", 1, database=database).stdout.count("\n") > 9


@ONLY_LONG
def test_a_demo_that_was_interrupted_in_its_books_is_made_again(
    database: str, tmp_path: Path
) -> None:
    """rules, "Sample data has a catalogue and no books": without its key it is not complete."""
    start(database)
    before = exported(tmp_path / "before", database)
    masthead("accounts", "set", 1, "--api-key=other", database=database)
    open_issues = [row for row in rows_of(before, "issues") if not row["closed_at"]]
    garden = min(
        (row["date"], row["issue_id"]) for row in open_issues if row["publication_id"] == "3"
    )
    masthead("issue", "close", garden[1], "--account", 1, database=database)
    start(database)
    again = exported(tmp_path / "again", database)
    days = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9:]{8})?|MH[0-9]+-")
    for name in before:
        if name.endswith(".csv") and name != "accounts.csv":
            assert days.sub(b"", again[name]) == days.sub(b"", before[name]), name


def test_another_publishers_database_is_left_alone(account: str) -> None:
    done = masthead("demo", "--port", 0, database=account, exit_status=2)
    assert "account 1 of this database is not the demo's" in done.stderr
    assert "Traceback" not in done.stderr
