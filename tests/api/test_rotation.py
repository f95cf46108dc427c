"""Credentials that are replaced while a server runs, and what shows of their use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.servers import masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Server, Store

Pair = tuple[str, str]
OLD = ("old-key", "old-login")


@pytest.fixture
def database(store: Store) -> Iterator[str]:
    """A database with one account."""
    url = store.new_database("rotation")
    masthead("accounts", "add", 1, "--api-key=old-key", "--api-login=old-login", database=url)
    yield url
    store.drop_database(url)


def shown(database: str) -> dict[str, str]:
    printed = masthead("accounts", "show", 1, database=database).stdout
    pairs = (line.partition(":") for line in printed.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def ask(server: Server, pair: Pair) -> httpx2.Response:
    return httpx2.get(f"{server.url}/2/accounts/1/", auth=pair)


def rotate(database: str, *options: str) -> Pair:
    masthead("accounts", "rotate-credentials", 1, *options, database=database)
    account = shown(database)
    return account["api_key"], account["api_login"]


def on_the_wire(server: Server, pair: Pair) -> set[Pair]:
    """Return the credentials of account 1 that both operations show to the owner of this pair."""
    listed = httpx2.get(f"{server.url}/2/accounts/", auth=pair).json()["accounts"]
    return {
        (account["api_key"], account["api_login"])
        for account in [*listed, ask(server, pair).json()["account"]]
        if account["account_id"] == "1"
    }


def test_both_pairs_work_during_the_overlap_and_each_sees_itself(database: str) -> None:
    """rules, "Rotation of credentials": who holds an old pair does not get the new one."""
    masthead("accounts", "add", 9, "--master", "--api-key=mk", "--api-login=ml", database=database)
    with serving(database) as server:
        new = rotate(database, "--overlap", "24h")
        for pair in (OLD, new):
            assert on_the_wire(server, pair) == on_the_wire(server, pair[::-1]) == {pair}
        assert on_the_wire(server, ("mk", "ml")) == {new}
        assert ask(server, (OLD[0], new[1])).status_code == 403
        newest = rotate(database)
        assert [ask(server, pair).status_code for pair in (OLD, new, newest)] == [403, 403, 200]
        for secret in (*OLD, *new, *newest):
            assert secret not in server.output()


def test_the_last_use_of_each_pair_is_shown(database: str) -> None:
    """rules, "Last use of credentials"; a server writes what it still has when it ends."""
    assert shown(database)["last_used"] == ""
    with serving(database) as server:
        assert ask(server, OLD).status_code == 200
    first = shown(database)["last_used"]
    assert first
    new = rotate(database, "--overlap", "1d")
    with serving(database) as server:
        assert ask(server, new).status_code == 200
    account = shown(database)
    assert account["last_used"] >= first
    assert account["former_credentials_last_used"] == first
    assert account["former_credentials_until"] > account["last_used"]


def test_an_invalid_time_is_refused(database: str) -> None:
    for overlap in ("24", "h", "-1h", "1w", "1.5h", ""):
        done = masthead(
            "accounts",
            "rotate-credentials",
            1,
            f"--overlap={overlap}",
            database=database,
            exit_status=2,
        )
        assert "is not a time such as 60s, 5m, 24h or 7d" in done.stderr
    assert shown(database)["api_key"] == OLD[0]
