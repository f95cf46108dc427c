"""Operation 3: who guesses is refused after a while, and learns nothing by that."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.api.callers import Caller, error_of
from tests.long import ONLY_LONG
from tests.servers import import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx2

    from tests.servers import Server, Store

PATH = "/2/subscribers/authenticate/"
NO = '{"authenticated":false}'
FOUND = '{"authenticated":true'


@pytest.fixture
def database(store: Store, tmp_path: Path) -> Iterator[str]:
    """A publisher with two subscribers, in a database of the test's own."""
    url = store.new_database("limits")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=url)
    records = write_ndjson(
        tmp_path,
        {
            "subscribers": [
                {
                    "subscriber_id": 1,
                    "renewal_code": "AB3DE",
                    "email": "ada@example.org",
                    "password": "right",
                },
                {"subscriber_id": 2, "email": "ben@example.org", "password": "right"},
            ],
            "addresses": [{"address_id": 1, "subscriber_id": 1, "zip_code": "97301"}],
        },
    )
    import_files(*records, account_id="1", database=url)
    yield url
    store.drop_database(url)


@contextmanager
def calling(database: str, *options: str) -> Iterator[tuple[Caller, Server]]:
    """A caller of a server with those options."""
    with serving(database, *options) as server:
        caller = Caller(server, "key", "login")
        try:
            yield caller, server
        finally:
            caller.close()


def attempt(caller: Caller, login: str, password: str) -> httpx2.Response:
    return caller.ask(PATH, login=login, password=password)


def assert_refused(answer: httpx2.Response, *, at_most_s: int) -> None:
    """Fail where this is not 429 with a time that is not longer than that."""
    assert re.fullmatch(
        r"too many logins have failed: try again in \d+ seconds", error_of(answer, 429)
    )
    assert 1 <= int(answer.headers["Retry-After"]) <= at_most_s


@pytest.mark.parametrize(
    "login",
    [
        "ada@example.org",
        "nobody@example.org",
        *(pytest.param(code, marks=ONLY_LONG) for code in ("AB3DE", "ZZZZZ")),
    ],
)
def test_after_ten_wrong_guesses_a_login_is_refused_whether_it_exists_or_not(
    database: str, login: str
) -> None:
    """decisions, "Limits of the login check"; rules, "The same response for an unknown login"."""
    with calling(database) as (caller, server):
        for number in range(10):
            answer = attempt(caller, login, f"guess {number}")
            assert (answer.status_code, answer.text) == (200, NO)
        for password in ("right", "97301", "guess 0", "guess 11"):
            assert_refused(attempt(caller, login.swapcase(), password), at_most_s=900)
        # Another login of the same person is another login.
        assert attempt(caller, "nobody else", "guess").text == NO
        assert server.stop() == 0
        for told in ("guess", "nobody", "example.org", "AB3DE"):
            assert told not in server.output()
        assert server.output().count("status=429 reason='login limit'") == 4


def test_a_success_counts_nothing_and_ends_no_count(database: str) -> None:
    """decisions, "Limits of the login check": else who guesses would wait for the right one."""
    with calling(database, "--login-failures", "3") as (caller, _):
        for number in range(3):
            for _ in range(5):
                assert attempt(caller, "ada@example.org", "right").text.startswith(FOUND)
            assert attempt(caller, "ada@example.org", f"guess {number}").text == NO
        assert_refused(attempt(caller, "ada@example.org", "right"), at_most_s=900)
        assert attempt(caller, "AB3DE", "97301").text.startswith(FOUND)


def test_a_file_without_hints_is_not_guessed(database: str) -> None:
    with calling(database, "--login-failures", "1", "--account-failures", "1") as (caller, _):
        for parameters in ({}, {"login": "ada@example.org"}, {"login": "ada", "password": ""}):
            assert caller.answer(PATH, **parameters) == NO
        assert attempt(caller, "ada@example.org", "right").text.startswith(FOUND)


def test_renewal_codes_are_refused_after_wrong_guesses_at_many_and_emails_are_not(
    database: str,
) -> None:
    """rules, "A guarded account": a code is short, so none passes that has opened before."""
    with calling(database, "--account-failures", "20") as (caller, _):
        assert attempt(caller, "AB3DE", "97301").text.startswith(FOUND)
        for number in range(20):
            assert attempt(caller, f"login {number}", "97301").text == NO
        assert_refused(attempt(caller, "AB3DE", "97301"), at_most_s=3600)
        for email in ("ada@example.org", "ben@example.org"):
            assert attempt(caller, email, "right").text.startswith(FOUND)
        # What is no login goes on.
        assert caller.ask("/2/subscribers/").status_code == 200


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=ONLY_LONG)])
def test_who_has_logged_in_before_does_so_while_a_stranger_guesses_at_emails(
    database: str, workers: str
) -> None:
    """rules, "A guarded account": everything else gets the same refusal."""
    options = ("--account-failures", "20", "--login-failures", "3", "--workers", workers)
    with calling(database, *options) as (caller, server):
        assert attempt(caller, "Ada@example.org", "right").text.startswith(FOUND)
        for number in range(20):
            assert attempt(caller, f"nobody{number}@example.org", "x").text == NO
        for _ in range(3):
            assert attempt(caller, "ada@example.org", "right").text.startswith(FOUND)
            assert attempt(caller, "AB3DE", "97301").text.startswith(FOUND)
        for email, password in (
            ("nobody@example.org", "x"),
            ("ada@example.org", "wrong"),
            ("ada@example.org", "wrong"),
            ("ben@example.org", "right"),
        ):
            assert_refused(attempt(caller, email, password), at_most_s=3600)
        assert attempt(caller, "ada@example.org", "right").text.startswith(FOUND)
        for number in range(2):
            assert_refused(attempt(caller, "ada@example.org", f"{number}"), at_most_s=3600)
        # That were three guesses at this email: the right one comes too late.
        assert_refused(attempt(caller, "ada@example.org", "right"), at_most_s=3600)
        assert server.stop() == 0
        for told in ("nobody", "ada", "example.org", "right"):
            assert told not in server.output()


def test_workers_and_the_next_server_count_together(database: str) -> None:
    """decisions, "Limits of the login check"."""
    with calling(database, "--workers", "2") as (_, server):
        answers = []
        for number in range(30):
            # A connection each, so that either worker has some.
            caller = Caller(server, "key", "login")
            answers.append(attempt(caller, "ada@example.org", f"guess {number}").status_code)
            caller.close()
        assert answers == [200] * 10 + [429] * 20
    with calling(database) as (caller, _):
        assert_refused(attempt(caller, "ada@example.org", "right"), at_most_s=900)


def test_without_limits_nothing_is_refused(database: str) -> None:
    options = ("--login-failures", "0", "--account-failures", "0")
    with calling(database, *options) as (caller, _):
        for number in range(20):
            assert attempt(caller, "ada@example.org", f"guess {number}").text == NO
        assert attempt(caller, "ada@example.org", "right").text.startswith(FOUND)


def test_an_account_can_do_without_renewal_codes(database: str) -> None:
    """rules, "Renewal codes as logins"; a running server heeds it at once."""
    with calling(database) as (caller, _):
        assert attempt(caller, "AB3DE", "97301").text.startswith(FOUND)
        masthead("accounts", "set", 1, "--renewal-code-login", "off", database=database)
        assert attempt(caller, "AB3DE", "97301").text == NO
        assert attempt(caller, "ada@example.org", "right").text.startswith(FOUND)
        masthead("accounts", "set", 1, "--renewal-code-login", "on", database=database)
        assert attempt(caller, "AB3DE", "97301").text.startswith(FOUND)
