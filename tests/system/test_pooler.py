"""Everything works through PgBouncer in transaction mode, and leaves nothing in its sessions.

decisions, "A pooler between Masthead and PostgreSQL". Each transaction runs in whatever session of
the server is free, after one of another account, and there are fewer sessions than Masthead opens.
"""

from __future__ import annotations

import http.client
import itertools
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import psycopg
import pytest

from tests.api.callers import ENTITIES, basic
from tests.api.conftest import DATA, NO_LIMITS, expiring
from tests.cli.running import running
from tests.postgres import Cluster, name_of, unique
from tests.postgresql.service import (
    ACCOUNT,
    RETURN_SECONDS_MAX,
    Client,
    fill,
    outage,
    requests,
    session,
    wait_until,
)
from tests.postgresql.test_loads import CHANGED, load_at
from tests.servers import as_server, import_files, masthead, run, serving
from tests.system.pooler import DEBIANS, NEWER, SESSIONS, Pooler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.servers import Server

REQUESTS = 10_000
CLIENTS = 8
NAMES = {
    **{"golden": "1", "neighbour": "2", "one": "4", "sparse": "5", "lists": "6", "people": "7"},
    **{"logins": "8", "hidden": "9"},
}
"""The accounts that have data."""

CALLERS = (*NAMES, "empty", "overseer", "nobody")
"""Whose credentials are used: overseer may see all accounts, nobody has none."""

OF_ITS_MOMENT = {"date", "masthead-changes-through", "x-request-id"}

LOCKED = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"
SESSIONS_OF = "SELECT pid FROM pg_stat_activity WHERE usename = %s AND datname = %s"
TRACES = """
    SELECT pg_backend_pid(), concat(
        current_setting('masthead.account_id', TRUE), current_setting('masthead.is_master', TRUE),
        (SELECT string_agg(name, ' ') FROM pg_prepared_statements),
        (SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = pg_my_temp_schema()),
        (SELECT string_agg(objid::TEXT, ' ') FROM pg_locks
            WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
        (SELECT string_agg(name, ' ') FROM pg_settings WHERE source = 'session'
            AND name NOT IN ('application_name', 'client_encoding')))
    """
"""The session of the server, and what was left in it but for what poolers carry over."""

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A server of PostgreSQL that tests may stop."""
    with closing(Cluster()) as cluster:
        yield cluster


@pytest.fixture(scope="module", params=["Debian's", "newer"])
def program(request: pytest.FixtureRequest) -> str:
    """A PgBouncer; the newer one can keep prepared statements."""
    found = NEWER if request.param == "newer" else DEBIANS
    if found is None or not NEWER.exists():
        pytest.skip("needs PgBouncer (.ci/system-tools)")
    return str(found)


@pytest.fixture
def new_database(cluster: Cluster) -> Callable[[], str]:
    """Makes databases with tables."""

    def new_database() -> str:
        name = unique("pooled")
        cluster.copy_migrated(name)
        return cluster.url(name)

    return new_database


@pytest.fixture
def new_pooler(program: str, cluster: Cluster) -> Iterator[Callable[[str], Pooler]]:
    """Starts poolers for the users of a database."""
    with ExitStack() as stack:

        def new_pooler(database: str) -> Pooler:
            pooler = Pooler(program, cluster, [database, as_server(database)])
            return stack.enter_context(closing(pooler))

        yield new_pooler


@pytest.fixture
def small(new_database: Callable[[], str], tmp_path: Path) -> str:
    """A database that holds the small publisher."""
    database = new_database()
    fill(database, tmp_path / "small")
    return database


def assert_nothing_is_left(pooler: Pooler, database: str) -> None:
    """Assert that the sessions that the pooler keeps are as they were when it opened them."""
    for url in (database, as_server(database)):
        with session(database) as direct, ExitStack() as stack:
            kept = {
                pid
                for (pid,) in direct.execute(SESSIONS_OF, [psycopg_user(url), name_of(url)])
                if pid != direct.info.backend_pid
            }
            traces = {}
            # Each in a transaction that is still open when the next one begins.
            for _ in range(SESSIONS):
                connection = stack.enter_context(
                    closing(psycopg.connect(pooler.url(url), prepare_threshold=None))
                )
                traces.update(connection.execute(TRACES))
        assert len(traces) == SESSIONS
        assert kept <= traces.keys()
        assert set(traces.values()) == {""}


def psycopg_user(url: str) -> str:
    """Return the user of a URL."""
    return psycopg.conninfo.conninfo_to_dict(url)["user"]


# Requests


class Answer(NamedTuple):
    """What may not differ."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Asked(NamedTuple):
    """A request: whose credentials, and what for."""

    caller: str
    target: str


def load_house(database: str, folder: Path) -> None:
    """Load the accounts and the data of the tests of the interface."""
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    for name, account_id in NAMES.items():
        import_files(DATA / name, account_id=account_id, database=database)
    today = datetime.now(UTC).date().isoformat()
    import_files(*expiring(folder, today), account_id=NAMES["logins"], database=database)
    masthead("accounts", "set", "9", "--hide-password-md5", database=database)


def targets() -> Iterator[str]:
    """Yield targets of each operation: what some of the accounts have, and what none has."""
    for path, ids in {
        "/2/accounts/{}/": (1, 2, 11, 404),
        "/2/orders/{}": (1, 71, 72, 77, 404, 2**63 - 1, 2**63, "x"),
        "/2/customfields/{}": (1, 2, 3, 77, 404, 2**63 - 1),
        "/2/downloadmailinglist/{}/": (1, 77, 81, 82, 404),
        "/2/downloadmailinglist/{}/?download=true": (77, 81),
    }.items():
        yield from (path.format(each) for each in ids)
    yield from ("/2/accounts/", "/2/customfields/", "/health", "/2/nothing")
    for path, queries in {
        "/2/subscriptions/": (
            *("", "limit=5", "limit=100&after=100", "after=200", "min_copies=2&max_copies=4"),
            *("type=Print&campaign_active=true", "issues_left=-1", "publication_id=2&limit=7"),
            *("subscriber_id=3", "subscriber_id=404", "min_issues_left=1&type=Both", "copies=x"),
        ),
        "/2/subscribers/": (
            *("", "limit=3", "limit=100&after=30", "after=404404", "email=ann@example.org"),
            *("email=reader*", "first_name=ADA", "last_name=a*&limit=2", "renewal_code=L00*"),
            *(f"last_name={quote('weiß')}", "source=web", "source=mail_1", "email=a%00"),
        ),
        "/2/subscribers/authenticate/": (
            *("login=Ann@Example.org&password=Secret", "login=ann@example.org&password=wrong"),
            *("login=zip9@example.org&password=x", "login=AbC12&password=97301", "login=L0001"),
            *(f"login={quote('é@EXAMPLE.ORG')}&password=p25", "login=nobody&password=x"),
        ),
    }.items():
        yield from (f"{path}?{query}" for query in queries)
    yesterday = quote((datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds"))
    for entities in (*ENTITIES, ",".join(ENTITIES)):
        yield f"/2/cdc?changed_since={yesterday}&entities={entities}"
    yield f"/snapshot?entities={','.join(ENTITIES)}"
    yield f"/digest?entities={','.join(ENTITIES)}"


def answers(server: Server, asked: Sequence[Asked]) -> list[Answer]:
    """Ask one request after the other on one connection."""
    found = []
    with closing(http.client.HTTPConnection(*server.address, timeout=60)) as connection:
        for caller, target in asked:
            credentials = basic(f"key-{caller}", f"login-{caller}")
            connection.request("GET", target, headers={"Authorization": credentials})
            response = connection.getresponse()
            headers = [
                (name.lower(), value)
                for name, value in response.getheaders()
                if name.lower() not in OF_ITS_MOMENT
            ]
            found.append(Answer(response.status, headers, response.read()))
    return found


def assert_same_answers(
    pooled: Server, direct: Server, *, count: int = REQUESTS
) -> dict[Asked, Answer]:
    """Assert that a server says what another one does, to clients of all accounts at once."""
    whole = [Asked(*each) for each in itertools.product(CALLERS, targets())]
    expected = dict(zip(whole, answers(direct, whole), strict=True))
    chosen = random.Random(7).choices(whole, k=count)  # noqa: S311
    shares = [chosen[n::CLIENTS] for n in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as threads:
        for share, found in zip(
            shares, threads.map(lambda each: answers(pooled, each), shares), strict=True
        ):
            for asked, answer in zip(share, found, strict=True):
                assert answer == expected[asked], asked
    return expected


def test_every_response_is_that_of_a_direct_connection(
    new_database: Callable[[], str], new_pooler: Callable[[str], Pooler], tmp_path: Path
) -> None:
    database = new_database()
    load_house(database, tmp_path)
    pooler = new_pooler(database)
    with (
        serving(database, *NO_LIMITS) as direct,
        serving(pooler.url(database), *NO_LIMITS) as pooled,
    ):
        expected = assert_same_answers(pooled, direct)
    statuses = {answer.status for answer in expected.values()}
    assert statuses == {200, 400, 401, 404}
    assert_nothing_is_left(pooler, database)


def test_so_it_is_with_prepared_statements_that_the_pooler_keeps(
    new_database: Callable[[], str],
    new_pooler: Callable[[str], Pooler],
    program: str,
    tmp_path: Path,
) -> None:
    """Masthead prepares none behind a pooler; what a newer one promises is right all the same."""
    if program != str(NEWER):
        pytest.skip("this PgBouncer keeps no prepared statements")
    database = new_database()
    load_house(database, tmp_path)
    pooler = new_pooler(database)
    with (
        serving(database, *NO_LIMITS) as direct,
        serving(pooler.url(database), *NO_LIMITS, module="tests.system.keeping") as pooled,
    ):
        assert_same_answers(pooled, direct)
