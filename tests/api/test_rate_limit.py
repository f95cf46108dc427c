"""The limit of requests of an account: ``--rate-limit``, with its fields in each answer."""

from __future__ import annotations

import itertools
import re
import threading
from time import monotonic
from typing import TYPE_CHECKING

import httpx2
import pytest

from masthead.api.http.rate_limit import RateLimit
from tests.long import SHORT_ON_SQLITE
from tests.servers import Server, import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.servers import Store

MS = 1_000_000
SECOND = 1_000 * MS


class Clock:
    """Nanoseconds that go on when they are told to."""

    def __init__(self) -> None:
        self.now = 5 * SECOND

    def __call__(self) -> int:
        return self.now


def taken(limit: RateLimit, account_id: int = 1) -> tuple[bool, int]:
    found = limit.take(account_id)
    return found.is_allowed, found.left


def test_an_account_may_make_so_many_at_once_and_then_one_for_each_share_of_a_second() -> None:
    """rules, "Limit of requests"."""
    clock = Clock()
    limit = RateLimit(4, clock=clock)
    assert [taken(limit) for _ in range(5)] == [
        *((True, left) for left in (3, 2, 1, 0)),
        (False, 0),
    ]
    clock.now += 249 * MS
    assert taken(limit) == (False, 0)
    clock.now += 1 * MS
    assert taken(limit) == (True, 0)
    clock.now += 600 * MS
    assert taken(limit) == (True, 1)
    clock.now += 100 * SECOND
    assert [taken(limit)[1] for _ in range(4)] == [3, 2, 1, 0]


def test_a_request_that_is_refused_costs_nothing() -> None:
    clock = Clock()
    limit = RateLimit(1, clock=clock)
    assert taken(limit) == (True, 0)
    for _ in range(10):
        clock.now += 90 * MS
        assert taken(limit) == (False, 0)
    clock.now += 100 * MS
    assert taken(limit) == (True, 0)


def test_accounts_have_limit_of_their_own_in_whatever_order_workers_meet_them(
    tmp_path: Path,
) -> None:
    clock = Clock()
    workers = [RateLimit(2, str(tmp_path), clock) for _ in range(3)]
    ids = (1, 2, 2**63 - 1, 0, 7)
    for worker, account_id in itertools.product((0, 1), ids):
        assert taken(workers[worker], account_id) == (True, 1 - worker)
    for account_id in reversed(ids):
        assert taken(workers[2], account_id) == (False, 0)
    assert taken(workers[0], 9) == (True, 1)
    assert taken(workers[2], 9) == (True, 0)


def test_threads_and_workers_together_take_at_most_the_available_space(tmp_path: Path) -> None:
    clock = Clock()
    workers = [RateLimit(1_000, str(tmp_path), clock) for _ in range(2)]
    allowed: list[bool] = []

    def take(limit: RateLimit) -> None:
        allowed.extend(limit.take(1).is_allowed for _ in range(300))

    threads = [threading.Thread(target=take, args=(worker,)) for worker in workers * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(allowed) == 1_000


@pytest.fixture(scope="module")
def loaded(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with two accounts."""
    database = store.new_database("limit")
    accounts = [
        {"account_id": n, "api_key": f"key-{n}", "api_login": "login", "api_active": "1"}
        for n in (1, 2)
    ]
    folder = tmp_path_factory.mktemp("limit")
    import_files(*write_ndjson(folder, {"accounts": accounts}), account_id=None, database=database)
    return database


def ask(server: Server, account_id: int = 1, path: str = "/2/orders/7") -> httpx2.Response:
    """Ask on a connection of its own, so that any worker may answer."""
    return httpx2.get(server.url + path, auth=(f"key-{account_id}", "login"))


def statuses(answers: Sequence[httpx2.Response]) -> list[int]:
    return [response.status_code for response in answers]


@SHORT_ON_SQLITE
@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_too_much_is_429_in_all_workers(loaded: str, workers: int) -> None:
    """rules, "Limit of requests": another account notices nothing."""
    with serving(loaded, "--rate-limit=5", f"--workers={workers}") as server:
        start = monotonic()
        answers = [ask(server) for _ in range(60)]
        most = 5 + 5 * (monotonic() - start)
        assert statuses([ask(server, 2) for _ in range(2)]) == [404, 404]
        answers += [ask(server, path="/health") for _ in range(10)]
    assert set(statuses(answers[:60])) <= {404, 429}
    assert 5 <= statuses(answers).count(404) <= most
    assert statuses(answers[60:]) == [200] * 10


@SHORT_ON_SQLITE
def test_each_response_says_what_is_left(loaded: str) -> None:
    """draft-ietf-httpapi-ratelimit-headers-10: RateLimit-Policy and RateLimit."""
    with serving(loaded, "--rate-limit=1") as server:
        first = ask(server)
        refused = next(found for found in (ask(server) for _ in range(1_000)) if is_429(found))
        unknown = httpx2.get(f"{server.url}/2/orders/7", auth=("who", "x"))
    for response in (first, refused):
        assert response.headers["RateLimit-Policy"] == '"account";q=1;w=1'
        assert re.fullmatch(r'"account";r=0;t=1', response.headers["RateLimit"])
    assert refused.headers["Retry-After"] == "1"
    assert refused.json() == {
        "error": "more than this account may ask, which is 1 a second: wait a second"
    }
    assert unknown.status_code == 403
    assert "RateLimit" not in unknown.headers


def is_429(response: httpx2.Response) -> bool:
    return response.status_code == 429


@SHORT_ON_SQLITE
def test_without_the_setting_there_is_no_limit(loaded: str) -> None:
    """rules, "Limit of requests": off unless set."""
    with serving(loaded) as server:
        answers = [ask(server) for _ in range(30)]
    assert statuses(answers) == [404] * 30
    assert not any("RateLimit" in response.headers for response in answers)


def test_the_setting_is_held_within_its_bounds(loaded: str) -> None:
    for value in ("-1", "1000001", "x"):
        done = masthead("serve", f"--rate-limit={value}", database=loaded, exit_status=2)
        assert "--rate-limit" in done.stderr
