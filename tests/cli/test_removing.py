"""``masthead import --complete``, ``remove`` and ``accounts remove``, as an operator sees them."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.loading.publisher import write_small
from tests.servers import MASTHEAD, environment, import_files, masthead, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The nightly files of the small publisher."""
    return write_small(tmp_path / "night")


@pytest.fixture
def loaded(account: str, files: Path) -> str:
    """A database whose account 1 holds the small publisher."""
    import_files(files, account_id="1", database=account)
    return account


def leave_out(file: Path, row: str) -> None:
    """Take the row that begins so out of a file."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith(row)), encoding="utf-8")


def summaries(database: str) -> list[tuple[str, str]]:
    """Return the commands of the audit log and their effects."""
    printed = masthead("audit", "--format=json", database=database).stdout
    records = [json.loads(line) for line in printed.splitlines()]
    return [(record["command"], record["summary"]) for record in records]


def test_complete_files_remove_what_they_lack(loaded: str, files: Path) -> None:
    """rules, "What complete files are"; and the audit log has the number."""
    leave_out(files / "subscribers.csv", "2,")
    leave_out(files / "orders.csv", "1,")
    leave_out(files / "order_items.csv", "1,")
    options = ("--account=1", "--complete", "--max-removed=100%")
    printed = masthead("import", files, *options, database=loaded).stdout.splitlines()
    assert "subscribers           0 inserted, 0 changed, 1 unchanged, 1 removed" in printed
    assert "orders                0 inserted, 0 changed, 0 unchanged, 1 removed" in printed
    assert "order_items           0 inserted, 0 changed, 0 unchanged, 1 removed" in printed
    assert "addresses             0 inserted, 0 changed, 2 unchanged, 0 removed" in printed
    assert "nothing changed" not in printed
    command, summary = summaries(loaded)[-1]
    assert command == f"import {files} --account 1 --complete --max-removed 100%"
    assert summary.startswith("0 rows inserted, 0 changed, 3 removed, ")
    again = masthead("import", files, "--account=1", "--complete", database=loaded).stdout
    assert again.splitlines()[-1] == "nothing changed"


def test_the_brake_stops_a_load_unless_more_is_allowed(loaded: str, files: Path) -> None:
    """rules, "What complete files are"."""
    leave_out(files / "orders.csv", "1,")
    options = ("--account=1", "--complete", files / "orders.csv")
    refused = masthead("import", *options, database=loaded, exit_status=1)
    assert refused.stderr.splitlines() == [
        "orders: 1 of 1 rows would be removed (100.0%)",
        "order_items: 1 of 1 rows would be removed (100.0%)",
        (
            "nothing was loaded: the limit is 5% of a table; if these rows are to go, allow "
            "100.0%; --max-removed 100.0% allows it"
        ),
    ]
    allowed = {"MASTHEAD_MAX_REMOVED": "1"}
    done = run("import", *options, database=loaded, settings=allowed, cwd=files)
    assert done.returncode == 0
    assert "1 removed" in done.stdout


@pytest.mark.parametrize("share", ["", "many", "-1", "1.5", "101%", "5 %", "%"])
def test_an_invalid_share_is_wrong_usage(loaded: str, files: Path, share: str) -> None:
    options = ("--account=1", "--complete", f"--max-removed={share}")
    refused = masthead("import", files, *options, database=loaded, exit_status=2)
    assert "--max-removed" in refused.stderr


def test_accounts_are_not_complete(database: str, tmp_path: Path) -> None:
    """rules, "What complete files are"."""
    (tmp_path / "accounts.csv").write_text("account_id\n1\n", encoding="utf-8")
    file = tmp_path / "accounts.csv"
    refused = masthead("import", file, "--complete", database=database, exit_status=2)
    assert "`masthead accounts remove`" in refused.stderr


def test_single_records_are_removed_with_their_parts(loaded: str) -> None:
    """rules, "What goes with a record"."""
    printed = masthead("remove", "orders", "1", "--account=1", database=loaded).stdout
    assert printed.splitlines() == ["order_items  1 removed", "orders       1 removed"]
    assert summaries(loaded)[-1][1] == "removed orders 1: 1 of orders, 1 of order_items"
    refused = masthead("remove", "orders", "1", "--account=1", database=loaded, exit_status=1)
    assert refused.stderr == "account 1 has no order 1; nothing was removed\n"
    done = masthead("remove", "mailing_list_entries", "1/1", "--account=1", database=loaded)
    assert done.stdout == "mailing_list_entries  1 removed\n"


def test_a_record_that_is_needed_is_not_removed(loaded: str) -> None:
    options = ("addresses", "1", "2", "--account=1")
    refused = masthead("remove", *options, database=loaded, exit_status=1)
    assert refused.stderr.splitlines() == [
        "address 1 cannot be removed, but subscription 1 refers to it (mailing_address_id)",
        "address 2 cannot be removed, but subscription 2 refers to it (mailing_address_id)",
        "nothing was changed",
    ]


def test_a_subscriber_who_is_removed_gets_a_delete_date(loaded: str) -> None:
    """decisions, "Subscribers who are missing"."""
    command = ("remove", "subscribers", "1", "2", "--account=1")
    assert masthead(*command, database=loaded).stdout == "subscribers  2 got a delete_date\n"
    again = masthead(*command, database=loaded).stdout
    assert again.splitlines() == ["subscribers  0 got a delete_date", "nothing changed"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("orders", "1"), "--account"),
        (("orders", "--account=1"), "ID…"),
        (("order", "1", "--account=1"), "'order' is not one of"),
        (("erasures", "1", "--account=1"), "'erasures' is not one of"),
        (("orders", "1/2", "--account=1"), "'1/2' is no order_id of orders, such as 17"),
        (("orders", "x", "--account=1"), "'x' is no order_id of orders, such as 17"),
        (
            ("mailing_list_entries", "1", "--account=1"),
            "'1' is no mailing_list_id/subscription_id of mailing_list_entries, such as 17/3",
        ),
        (("orders", str(2**63), "--account=1"), "is no order_id of orders"),
    ],
)
def test_wrong_usage_is_said(loaded: str, arguments: tuple[str, ...], words: str) -> None:
    assert words in masthead("remove", *arguments, database=loaded, exit_status=2).stderr


def test_an_account_is_removed_by_a_script_that_says_yes(loaded: str, tmp_path: Path) -> None:
    """rules, "An account is removed"."""
    refused = run("accounts", "remove", 1, database=loaded, cwd=tmp_path)
    assert refused.returncode == 2
    assert "give --yes" in refused.stderr
    printed = masthead("accounts", "remove", 1, "--yes", database=loaded).stdout.splitlines()
    assert "subscribers           2 removed" in printed
    assert printed[-1] == "account 1 was removed"
    assert masthead("accounts", "list", database=loaded).stdout == ""
    assert [command for command, _ in summaries(loaded)][-1] == "accounts remove 1 --yes"
    again = masthead("accounts", "remove", 1, "--yes", database=loaded, exit_status=1)
    assert again.stderr == "there is no account 1; `masthead accounts list` lists all\n"


@pytest.mark.parametrize(
    ("name", "question", "answer", "is_removed"),
    [
        ("Example Press", "Type the name of the account, Example Press: ", "Example Press", True),
        ("Example Press", "Type the name of the account, Example Press: ", "1", False),
        ("Example Press", "Type the name of the account, Example Press: ", "y", False),
        ("", "Type the number of the account, 1: ", "1", True),
        ("", "Type the number of the account, 1: ", "yes", False),
    ],
)
def test_a_terminal_is_asked_for_the_name(
    loaded: str, name: str, question: str, answer: str, *, is_removed: bool
) -> None:
    """rules, "An account is removed"."""
    masthead("accounts", "set", 1, f"--company-name={name}", database=loaded)
    terminal, end = os.openpty()
    with subprocess.Popen(
        [*MASTHEAD, "accounts", "remove", "1"],
        env=environment(loaded),
        stdin=end,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        os.write(terminal, f"{answer}\n".encode())
        output = process.communicate(timeout=60)[0].decode()
    os.close(terminal)
    os.close(end)
    assert question in output
    assert process.returncode == (0 if is_removed else 1), output
    assert ("nothing was removed" in output) == (not is_removed)
    listed = masthead("accounts", "list", database=loaded).stdout
    assert listed.startswith("1\t") == (not is_removed)
