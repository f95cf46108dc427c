"""The clock is one: the feed's window, today, logins, credentials and ``Date`` go by it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import pytest

from masthead.errors import BadInput, TooOld
from tests.emulator.test_records import LEAST, get
from tests.mirror.kept import Kept

if TYPE_CHECKING:
    from pathlib import Path

    from masthead import Client
    from masthead.emulator import MastheadServer

LOGIN = "/2/subscribers/authenticate/"
READER: dict[str, Any] = {"subscriber_id": 1, "email": "a@b.example", "password": "right"}
ENTITIES = "subscribers"
NEAR = timedelta(seconds=60)


def feed(server: MastheadServer, since: datetime) -> int:
    asked = {"changed_since": since.isoformat(), "entities": ENTITIES}
    return get(server, "/2/cdc", **asked).status_code


def test_it_runs_like_the_machines_until_it_is_moved(server: MastheadServer) -> None:
    assert abs(server.clock.now - datetime.now(UTC)) < NEAR
    server.clock.move(days=2, hours=-1)
    assert abs(server.clock.now - datetime.now(UTC) - timedelta(hours=47)) < NEAR
    server.clock.move(days=-4)
    assert abs(server.clock.now - datetime.now(UTC) + timedelta(hours=49)) < NEAR
    server.reset()
    assert abs(server.clock.now - datetime.now(UTC)) < NEAR


def test_the_feeds_window_moves_with_it(server: MastheadServer, client: Client) -> None:
    """interface, "Limits": five days."""
    server.add("subscribers", READER)
    with client.changes(server.clock.now - timedelta(hours=1)) as changes:
        assert list(changes)
    through = changes.through
    server.clock.move(days=4)
    with client.changes(through) as changes:
        assert list(changes) == []
    server.clock.move(days=2)
    with pytest.raises(TooOld):
        client.changes(through).__enter__()
    assert feed(server, server.clock.now - timedelta(days=4)) == 200
    assert feed(server, server.clock.now + timedelta(hours=1)) == 400
    with client.changes(changes.through) as changes:
        assert list(changes) == []


def test_a_client_that_polls_while_it_moves_keeps_its_place(
    server: MastheadServer, client: Client
) -> None:
    """rules, "The clock of the emulator": an idle account gets its hourly stamp at once."""
    server.add("subscribers", READER)
    with client.snapshot() as snapshot:
        assert list(snapshot)
    through = snapshot.through
    for _ in range(4):
        server.clock.move(days=4)
        with client.changes(through) as changes:
            assert list(changes) == []
        through = changes.through


def test_a_change_after_the_clock_went_back_is_not_missed(
    server: MastheadServer, client: Client
) -> None:
    server.add("subscribers", READER)
    with client.snapshot() as snapshot:
        list(snapshot)
    server.clock.move(days=-2)
    server.change("subscribers", {"subscriber_id": 1, "first_name": "Ann"})
    with client.changes(snapshot.through, ["subscribers"]) as changes:
        assert len(list(changes)) == 1


def test_whether_a_subscription_has_expired_depends_on_the_clock(server: MastheadServer) -> None:
    """rules, "Login check": of two who fit, the one whose subscription runs."""
    server.add("publications", LEAST["publications"])
    server.add("subscribers", READER, {**READER, "subscriber_id": 2})
    soon = f"{server.clock.now + timedelta(days=3):%Y-%m-%d}"
    later = f"{server.clock.now + timedelta(days=30):%Y-%m-%d}"
    subscription = {"publication_id": 1, "subscription_id": 1, "subscriber_id": 1}
    server.add("subscriptions", {**subscription, "date_expired": soon})
    server.add(
        "subscriptions",
        {**subscription, "subscription_id": 2, "subscriber_id": 2, "date_expired": later},
    )

    def found() -> str:
        response = get(server, LOGIN, login=READER["email"], password=READER["password"]).json()
        return str(response["subscribers"]["subscriber_id"])

    assert found() == "1"
    server.clock.move(days=6)
    assert found() == "2"


def test_a_login_that_was_guessed_at_is_open_again_after_it_moves(server: MastheadServer) -> None:
    """decisions, "Limits of the login check"."""
    server.add("subscribers", READER)
    guesses = [
        get(server, LOGIN, login=READER["email"], password=f"wrong {n}").status_code
        for n in range(11)
    ]
    assert guesses[-1] == 429
    server.clock.move(minutes=16)
    found = get(server, LOGIN, login=READER["email"], password=READER["password"])
    assert found.json()["authenticated"] is True


@pytest.mark.parametrize("path", ["/2/subscribers/", "/2/orders/7", "/2/cdc", "/snapshot", "/"])
def test_the_date_of_each_response_is_of_it(server: MastheadServer, path: str) -> None:
    """rules, "The clock of the emulator"."""
    server.clock.move(days=40)
    asked = {"changed_since": server.clock.now.isoformat(), "entities": ENTITIES}
    response = get(server, path, **(asked if "cdc" in path else {}))
    found = parsedate_to_datetime(response.headers["Date"])
    assert abs(found - server.clock.now) < NEAR


@pytest.mark.parametrize("move", [{"days": 1e9}, {"days": -40_000}, {"days": 3_000_000}])
def test_it_does_not_leave_the_years_that_can_be_written(
    server: MastheadServer, move: dict[str, float]
) -> None:
    with pytest.raises(BadInput, match="the clock cannot be moved"):
        server.clock.move(**move)
    assert get(server, "/2/subscribers/").status_code == 200


def test_the_mirror_loads_everything_after_more_than_five_days(
    server: MastheadServer, tmp_path: Path
) -> None:
    server.add("subscribers", READER)
    url, (key, login) = server.base_url, server.credentials
    source = type("Source", (), {"url": url, "key": key, "login": login})()
    kept = Kept(f"sqlite:///{tmp_path}/copy.db")
    kept.update(source)
    server.clock.move(days=4)
    assert not kept.update(source).full_load
    server.clock.move(days=6)
    assert kept.update(source).full_load
    assert not kept.differences(source)
