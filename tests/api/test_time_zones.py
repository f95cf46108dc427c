"""What "today" is at the login check: the account's time zone decides."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.api.app import create_app
from masthead.contract.moments import date_in
from masthead.settings import ServerSettings
from masthead.store import accounts, open_store
from tests.loading.publisher import Publisher
from tests.servers import as_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from masthead.api.app import App
    from tests.servers import Store

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = ("UTC", "Europe/Berlin", "America/Los_Angeles", "Pacific/Auckland", "Asia/Kathmandu")
TWINS = {
    "publications.csv": "publication_id\n1\n",
    "subscribers.csv": (
        "subscriber_id,email,password,first_name\n"
        "1,reader@example.org,Secret,Lapsed\n"
        "2,reader@example.org,Secret,Current\n"
    ),
}


class Clock:
    """Microseconds since 1970, as the test says."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of the publisher's database and of its server."""
    return Clock()


@pytest.fixture
def publisher(store: Store, clock: Clock, tmp_path: Path) -> Iterator[Publisher]:
    """Two subscribers with one login; the first has no subscription."""
    url = store.new_database("zones")
    with closing(open_store(url, clock=clock)) as opened:
        made = Publisher(url, tmp_path, store=opened)
        accounts.set_account(opened, 1, {"api_key": "key", "api_login": "login"})
        made.load(TWINS)
        yield made
    store.drop_database(url)


@pytest.fixture
def app(publisher: Publisher, clock: Clock) -> Iterator[App]:
    """The app of the publisher's database."""
    with closing(open_store(as_server(publisher.url), clock=clock)) as served:
        yield create_app(ServerSettings(), store=served)


async def _who(app: App, clock: Clock, moments: list[int]) -> list[str]:
    """Return the first name of who is let in at each of the moments."""
    found = []
    transport = httpx2.ASGITransport(app)
    async with (
        app._run(app),
        httpx2.AsyncClient(transport=transport, base_url="http://app") as client,
    ):
        for clock.now in moments:
            response = await client.get(
                "/2/subscribers/authenticate/",
                params={"login": "reader@example.org", "password": "Secret"},
                auth=("key", "login"),
            )
            found.append(str(response.json()["subscribers"]["first_name"]))
    return found


def expire(publisher: Publisher, day: str) -> None:
    """Let the second subscriber's subscription expire on that day."""
    publisher.load(
        {
            "subscriptions.csv": (
                "subscription_id,subscriber_id,publication_id,issues,copies,type,date_expired\n"
                f"1,2,1,1,1,Print,{day}\n"
            )
        }
    )


@pytest.mark.parametrize(
    ("time_zone", "day", "ends"),
    [
        (None, "2026-03-28", "2026-03-29T00:00:00"),
        ("Europe/Berlin", "2026-03-28", "2026-03-28T23:00:00"),
        # Summer time begins that night, so the day has 23 hours; and ends, after one of 25.
        ("Europe/Berlin", "2026-03-29", "2026-03-29T22:00:00"),
        ("Europe/Berlin", "2026-10-25", "2026-10-25T23:00:00"),
        ("America/Los_Angeles", "2026-03-07", "2026-03-08T08:00:00"),
        ("America/Los_Angeles", "2026-03-08", "2026-03-09T07:00:00"),
        ("Pacific/Auckland", "2026-04-04", "2026-04-04T11:00:00"),
        ("Pacific/Auckland", "2026-04-05", "2026-04-05T12:00:00"),
    ],
)
def test_a_subscription_expires_at_midnight_where_the_account_is(
    publisher: Publisher, app: App, clock: Clock, time_zone: str | None, day: str, ends: str
) -> None:
    """decisions, "Login check: several subscribers"; rules, "What today is"."""
    if time_zone:
        accounts.set_account(publisher.store, 1, {"time_zone": time_zone})
    expire(publisher, day)
    midnight = (datetime.fromisoformat(f"{ends}+00:00") - EPOCH) // timedelta(microseconds=1)
    who = asyncio.run(_who(app, clock, [midnight - 1, midnight]))
    assert who == ["Current", "Lapsed"]


@given(st.sampled_from(ZONES), st.integers(0, 4_000_000_000_000_000))
def test_the_day_of_a_moment_is_that_of_the_calendar_there(zone: str, moment_us: int) -> None:
    there = (EPOCH + timedelta(microseconds=moment_us)).astimezone(ZoneInfo(zone))
    assert date_in(zone, moment_us) == there.date().isoformat()
