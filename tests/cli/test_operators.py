"""``masthead operators``, and ``masthead console`` as a process of its own."""

from __future__ import annotations

import re

import httpx2
import pytest
from argon2 import PasswordHasher

from masthead.store import find_store
from masthead.store.audit import entries
from masthead.store.operators import sign_in
from tests.cli.running import lines_until, running
from tests.servers import masthead, run

PASSWORD = "correct horse"
ADD = ("operators", "add", "ada", "--account=1", "--role=clerk")


def comes_in(database: str, name: str, password: str, account_id: int = 1) -> bool:
    store = find_store(database)
    store.open()
    try:
        return sign_in(store, account_id, name, password) is not None
    finally:
        store.close()


def generated(printed: str) -> str:
    found = re.search(r"^password: (\S+)$", printed, re.MULTILINE)
    assert found
    return found[1]


def test_a_password_is_read_from_standard_input_where_there_is_no_terminal(account: str) -> None:
    done = run(*ADD, database=account, typed=f"{PASSWORD}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "operator 'ada' of account 1 was added as clerk\n"
    assert comes_in(account, "ada", PASSWORD)


def test_a_password_that_is_made_up_is_printed_once_and_is_nowhere_else(account: str) -> None:
    password = generated(masthead(*ADD, "--generate", database=account).stdout)
    assert len(password) >= 16
    assert comes_in(account, "ada", password)
    others = (("operators", "list"), ("audit",))
    assert not any(password in masthead(*words, database=account).stdout for words in others)


def test_a_password_is_hashed_with_all_the_work_that_the_library_advises(account: str) -> None:
    """The tests themselves hash with less (``tests/conftest.py``); a command never does."""
    run(*ADD, "--generate", database=account)
    store = find_store(account)
    store.open()
    try:
        with store.reader() as connection:
            connection.set_tenant(1)
            hashed = connection.value_as(
                str, "SELECT password_hash FROM operators WHERE account_id = 1"
            )
    finally:
        store.close()
    assert hashed
    assert not PasswordHasher().check_needs_rehash(hashed)


def test_the_list_shows_names_and_roles(account: str) -> None:
    empty = masthead("operators", "list", database=account).stdout
    assert empty == "no operators: `masthead operators add` adds one\n"
    masthead("accounts", "add", 2, database=account)
    for account_id, name, role in (
        (2, "eve", "manager"),
        (1, "Zoe", "viewer"),
        (1, "ada", "clerk"),
    ):
        words = ("operators", "add", name, f"--account={account_id}", f"--role={role}")
        masthead(*words, "--generate", database=account)
    listed = masthead("operators", "list", database=account).stdout
    assert listed == "account 1\tada\tclerk\naccount 1\tZoe\tviewer\naccount 2\teve\tmanager\n"
    of_two = masthead("operators", "list", "--account=2", database=account).stdout
    assert of_two == "account 2\teve\tmanager\n"


def test_a_role_and_a_password_are_changed_and_access_is_taken_away(account: str) -> None:
    old = generated(masthead(*ADD, "--generate", database=account).stdout)
    change = ("operators", "set", "Ada", "--account=1")
    masthead(*change, "--role=finance", database=account)
    assert "ada\tfinance" in masthead("operators", "list", database=account).stdout
    assert comes_in(account, "ada", old)
    given = run(*change, "--new-password", database=account, typed=f"{PASSWORD}\n")
    assert given.returncode == 0
    assert not comes_in(account, "ada", old)
    assert comes_in(account, "ada", PASSWORD)
    masthead("operators", "remove", "ada", "--account=1", database=account)
    assert not comes_in(account, "ada", PASSWORD)


def test_each_change_is_in_the_audit_log_without_a_password(account: str) -> None:
    """The issue: everything is in the audit record."""
    run(*ADD, database=account, typed=f"{PASSWORD}\n")
    masthead("operators", "set", "ada", "--account=1", "--role=viewer", database=account)
    again = ("operators", "set", "ada", "--account=1", "--new-password")
    run(*again, database=account, typed=f"{PASSWORD}!\n")
    masthead("operators", "remove", "ada", "--account=1", database=account)
    store = find_store(account)
    store.open()
    with store.writer() as connection:
        found = [(each.command, each.summary) for each in entries(connection, account_id=1)]
    store.close()
    assert [summary for command, summary in found if command.startswith("operators")] == [
        "operator 'ada' was added as clerk",
        "operator 'ada' got role viewer",
        "operator 'ada' got a new password",
        "operator 'ada' was removed",
    ]
    assert PASSWORD not in str(found)


WRONG: list[tuple[tuple[str, ...], str, int, str]] = [
    (ADD, "short\n", 1, "the password has 5 characters: it needs 10 to 1000"),
    (ADD, "", 1, "the password has 0 characters"),
    ((*ADD[:2], " ada", *ADD[3:]), f"{PASSWORD}\n", 1, "' ada' is no name of an operator"),
    ((*ADD[:2], "a\nb", *ADD[3:]), f"{PASSWORD}\n", 1, "is no name of an operator"),
    ((*ADD[:2], "x" * 51, *ADD[3:]), f"{PASSWORD}\n", 1, "is no name of an operator"),
    ((*ADD[:3], "--account=7", *ADD[4:]), f"{PASSWORD}\n", 1, "there is no account 7"),
    ((*ADD[:4], "--role=owner"), "", 2, "'owner' is not one of"),
    (ADD[:4], "", 2, "Missing option '--role'"),
    (("operators", "set", "bob", "--account=1", "--role=viewer"), "", 1, "no operator 'bob'"),
    (("operators", "set", "bob", "--account=1"), "", 2, "say what to change: --role"),
    (("operators", "remove", "bob", "--account=1"), "", 1, "no operator 'bob'"),
]


def test_what_is_wrong_is_said_in_a_sentence(account: str) -> None:
    for words, typed, status, sentence in WRONG:
        done = run(*words, database=account, typed=typed)
        assert done.returncode == status
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr
    assert masthead("operators", "list", database=account).stdout.startswith("no operators")


def test_a_name_is_there_once_in_an_account(account: str) -> None:
    masthead(*ADD, "--generate", database=account)
    again = run(*ADD[:2], "ADA", *ADD[3:], "--generate", database=account)
    assert again.returncode == 1
    assert "account 1 has an operator 'ADA' already" in again.stderr
    masthead("accounts", "add", 2, database=account)
    other = (*ADD[:3], "--account=2", "--role=viewer", "--generate")
    masthead(*other, database=account)


def test_the_console_is_served_until_sigterm(account: str) -> None:
    password = generated(masthead(*ADD, "--generate", database=account).stdout)
    with running("console", "--port=0", database=account) as process:
        url = lines_until(process, "The console is on ")[-1].rpartition(" ")[2]
        form = {"name": "ada", "password": password}
        sent = {"Sec-Fetch-Site": "same-origin"}
        response = httpx2.post(f"{url}/sign-in", data=form, headers=sent)
        assert response.status_code == 303
        process.terminate()
        printed = process.stdout.read()
        assert process.wait() in {0, -15}
    assert "path='/sign-in' status=303" in printed
    assert password not in printed
    assert "ada" not in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(("more", "warns"), [((), True), (("--behind-proxy",), False)])
def test_the_console_warns_of_other_machines_without_a_proxy(
    account: str, more: tuple[str, ...], *, warns: bool
) -> None:
    with running("console", "--port=0", "--host=0.0.0.0", *more, database=account) as process:
        printed = "\n".join(lines_until(process, "The console is on "))
    assert ("warning: the console sends passwords" in printed) == warns
