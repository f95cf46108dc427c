"""How the checker asks: its rate, its patience, its bounds, and what it never asks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from masthead.checker import asking, check, title_of
from masthead.checker.asking import Asker
from masthead.checker.checks.logins import (
    a_wrong_postal_code_is_refused,
    right_logins_are_accepted,
)
from masthead.checker.findings import NotTried
from masthead.checker.service import Service
from tests.checker.altering import Reply, altered, unaltered
from tests.checker.edits import GET_LOGIN, LOGIN
from tests.servers import serving
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from tests.checker.altering import Asked, Send
    from tests.mirror.publisher import Publisher


@ON_SQLITE
def test_requests_are_as_far_apart_as_the_rate_says(small: Publisher) -> None:
    """rules, "Checker: how politely it asks". The waits are counted, and not waited for."""
    waits: list[float] = []
    with Asker(small.url, small.key, small.login, 0.01, waits.append) as asker:
        for _ in range(4):
            asker.ask("/2/accounts/")
    # Each is due 100 seconds after the one before, and no time has passed.
    assert [round(wait / 100) for wait in waits] == [1, 2, 3]


@ON_SQLITE
def test_retry_after_is_obeyed(small: Publisher) -> None:
    """rules, "Checker: how politely it asks"."""
    refusals = iter([429, 503])

    def alter(asked: Asked, send: Send) -> Reply:
        status = next(refusals, None)
        if status is None:
            return send(asked)
        return Reply(status, b'{"error": "later"}', {"Retry-After": "17"})

    waits: list[float] = []
    with (
        altered(small.url, alter) as server,
        Asker(server.url, small.key, small.login, 1000, waits.append) as asker,
    ):
        assert asker.ask("/2/accounts/").status == 200
    assert len([wait for wait in waits if 17 <= wait < 18]) == 2


@ON_SQLITE
def test_a_service_that_has_had_enough_is_left_alone(small: Publisher) -> None:
    """rules, "Checker: how politely it asks": what it did not answer is not tried."""

    def alter(asked: Asked, send: Send) -> Reply:
        if asked.path == "/2/customfields/":
            return Reply(429, b'{"error": "tomorrow"}', {"Retry-After": "86400"})
        return send(asked)

    with altered(small.url, alter) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert report.differences == []
    assert "GET /2/customfields/ is answered with 429, after all retries" in set(
        report.not_tried.values()
    )


@ON_SQLITE
@pytest.mark.parametrize("which", ["any", "wrong", "incomplete"])
def test_logins_that_are_locked_are_not_tried(small: Publisher, which: str) -> None:
    """rules, "Checker: how politely it asks"; "Limits of the login check"."""
    locked = Reply(429, b'{"error": "locked"}', {"Retry-After": "900"})

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        is_whole = bool(asked.query.get("login") and asked.query.get("password"))
        is_wrong = b'"authenticated":false' in reply.body
        is_locked = {"any": True, "wrong": is_whole and is_wrong, "incomplete": not is_whole}
        return locked if asked.path == LOGIN and is_locked[which] else reply

    with altered(small.url, alter) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert report.findings == []
    assert f"{GET_LOGIN} is answered with 429, after all retries" in set(report.not_tried.values())


@ON_SQLITE
def test_masthead_that_has_locked_an_account_does_not_differ(small: Publisher) -> None:
    """decisions, "Limits of the login check"; one wrong code of nobody locks all codes."""
    limits = ("--login-failures", "1", "--account-failures", "1")
    with serving(small.database, *limits) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert report.findings == []
    assert title_of(a_wrong_postal_code_is_refused) in report.not_tried


@ON_SQLITE
def test_wrong_postal_codes_are_of_one_reader_after_another(small: Publisher) -> None:
    """rules, "Checker: how politely it asks": no reader is locked by many checks."""
    with (
        altered(small.url, unaltered) as server,
        Asker(server.url, small.key, small.login, 1000) as asker,
    ):
        service = Service(asker, small.key, small.login)
        right_logins_are_accepted(service)
        right = {asked.query.get("login") for asked in server.asked}
        del server.asked[:]
        for _ in range(12):
            a_wrong_postal_code_is_refused(service)
        guessed = {asked.query["login"] for asked in server.asked if asked.path == LOGIN}
    assert len(guessed) > 3
    assert not guessed & right
    assert service.findings == []


@ON_SQLITE
def test_there_is_a_most_of_requests(small: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """rules, "Checker: how politely it asks"."""
    with Asker(small.url, small.key, small.login, 1000) as asker:
        asker.count = asking.REQUESTS_MAX - 1
        asker.ask("/2/accounts/")
        with pytest.raises(NotTried, match="requests were made"):
            asker.ask("/2/accounts/")
    monkeypatch.setattr(asking, "REQUESTS_MAX", 40)
    report = check(small.url, small.key, small.login, 1000)
    assert report.requests == 40
    assert report.findings == []
    assert len(report.not_tried) > 30


@ON_SQLITE
def test_there_is_a_most_of_bytes_of_the_feed(
    publishers: dict[str, Publisher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Checker: how politely it asks": the records that were read are compared."""
    large = publishers["large"]
    monkeypatch.setattr(asking, "RESPONSE_BYTES_MAX", 50_000)
    report = check(large.url, large.key, large.login, 1000)
    assert report.findings == []
    assert "the feed is too long to be read to its end" in report.not_tried.values()

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        if asked.path != "/2/cdc":
            return reply
        body = reply.body.replace(b'"copies":"1"', b'"copies":1')
        return replace(reply, body=body)

    with altered(large.url, alter) as server:
        report = check(server.url, large.key, large.login, 1000)
    assert "subscriptions[].copies" in {finding.field for finding in report.differences}


@ON_SQLITE
def test_a_service_that_locks_who_had_wrong_credentials_is_checked_all_the_same(
    small: Publisher,
) -> None:
    """rules, "Checker: how politely it asks": what may lock comes last."""
    is_locked = False

    def locking(asked: Asked, send: Send) -> Reply:
        nonlocal is_locked
        reply = send(asked)
        is_locked = is_locked or reply.status in {401, 403}
        return Reply(403, b'{"error": "locked"}') if is_locked else reply

    with altered(small.url, locking) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert is_locked
    assert report.differences == []
    assert {note.section for note in report.notes} == {"Authentication"}


@ON_SQLITE
def test_a_service_may_take_the_postal_code_of_the_mailing_address_alone(small: Publisher) -> None:
    """interface, operation 3: "the address" of a login is not said to be any."""

    def with_others(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        if asked.path != "/2/cdc" or "addresses" not in asked.query.get("entities", ""):
            return reply
        found = reply.json()
        others = [
            {**address, "address_id": str(10**9 + n), "zip_code": "99999"}
            for n, address in enumerate(found["addresses"])
        ]
        return reply.saying({**found, "addresses": [*others, *found["addresses"]]})

    with altered(small.url, with_others) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert [each for each in report.findings if each.section == "Operation 3"] == []
    assert "no login was accepted" not in report.not_tried.values()


@ON_SQLITE
def test_it_only_reads(small: Publisher) -> None:
    """rules, "Checker: how politely it asks"."""
    with altered(small.url, unaltered) as server:
        check(server.url, small.key, small.login, 1000)
        assert {asked.method for asked in server.asked} == {"GET", "HEAD", "PROPFIND"}
        # A service may lock a reader of whom many logins fail.
        readers = [asked.query.get("login", "") for asked in server.asked]
        assert len([login for login in readers if login.startswith("nobody-")]) < 10
