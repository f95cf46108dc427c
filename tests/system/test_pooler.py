"""Everything works through PgBouncer in transaction mode, and leaves nothing in its sessions.

decisions, "A pooler between Masthead and PostgreSQL". Each transaction runs in whatever session of
the server is free, after one of another account, and there are fewer sessions than Masthead opens.
"""

# Long because all that a pooler may not change is compared in one place.

from __future__ import annotations

import http.client
import itertools
import random
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import psycopg
import pytest

from tests.api.callers import ENTITIES, basic
from tests.api.conftest import DATA, NO_LIMITS, expiring
from tests.postgres import name_of, unique
from tests.postgresql.service import (
    ACCOUNT,
    RETURN_SECONDS_MAX,
    Client,
    outage,
    requests,
    session,
    wait_until,
)
from tests.postgresql.test_loads import CHANGED, load_at
from tests.servers import (
    AS_INSTALLED,
    COMMAND_SECONDS_MAX,
    as_server,
    import_files,
    masthead,
    run,
    serving,
)
from tests.system.pooler import NEWER, SESSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.postgres import Cluster
    from tests.servers import Server
    from tests.system.pooler import Pooler

REQUESTS = 3_000
"""So each of the pairs of a caller and a target is asked for three or four times."""

CLIENTS = 8
NAMES = {
    "golden": "1",
    "neighbour": "2",
    "one": "4",
    "sparse": "5",
    "lists": "6",
    "people": "7",
    "logins": "8",
    "hidden": "9",
}
"""The accounts that have data."""

CALLERS = (*NAMES, "empty", "overseer", "nobody")
"""Whose credentials are used: overseer may see all accounts, nobody has none."""

OF_ITS_MOMENT = {"date", "masthead-changes-through", "x-request-id"}

LOCKED = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"
EXPORTED = (1, 2, 3, 5)
TIMES = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*")
RANDOM_KEYS = re.compile(r"\b[0-9A-Za-z_-]{32,}\b")


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
        yield f"/deletions?changed_since={yesterday}&entities={entities}"
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
    chosen = random.Random(7).choices(whole, k=count)
    shares = [chosen[n::CLIENTS] for n in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as threads:
        for share, found in zip(
            shares, threads.map(lambda each: answers(pooled, each), shares), strict=True
        ):
            for asked, answer in zip(share, found, strict=True):
                assert answer == expected[asked], asked
    return expected


@pytest.fixture(scope="module")
def house(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database that holds the accounts and the data of the tests of the interface."""
    name = unique("house")
    cluster.copy_migrated(name)
    load_house(cluster.url(name), tmp_path_factory.mktemp("expiring"))
    return cluster.url(name)


@pytest.fixture
def direct(house: str) -> Iterator[Server]:
    """A server with no pooler before its database."""
    with serving(house, *NO_LIMITS) as server:
        yield server


def test_every_response_is_that_of_a_direct_connection(
    house: str, direct: Server, new_pooler: Callable[[str], Pooler]
) -> None:
    pooler = new_pooler(house)
    with serving(pooler.url(house), *NO_LIMITS) as pooled:
        expected = assert_same_answers(pooled, direct)
    assert {answer.status for answer in expected.values()} == {200, 400, 403, 404}
    pooler.assert_nothing_is_left(house, as_server(house))


def test_so_it_is_with_prepared_statements_that_the_pooler_keeps(
    house: str, direct: Server, new_pooler: Callable[[str], Pooler], program: str
) -> None:
    """Masthead prepares none behind a pooler, but what a newer one promises is so."""
    if program != str(NEWER):
        pytest.skip("this PgBouncer keeps no prepared statements")
    pooler = new_pooler(house)
    pooled_url = pooler.url(house)
    with serving(pooled_url, *NO_LIMITS, module="tests.system.keeping") as pooled:
        assert_same_answers(pooled, direct, count=REQUESTS // 3)
        with closing(psycopg.connect(as_server(pooled_url))) as connection:
            names = connection.execute("SELECT name FROM pg_prepared_statements").fetchall()
    assert len(names) > SESSIONS


# Commands


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of each file in a folder, but for the times of the commands."""
    return {
        path.name: TIMES.sub(b"TIME", path.read_bytes())
        if path.name in {"erasures.csv", "subscribers.csv"}
        else path.read_bytes()
        for path in folder.iterdir()
        if path.name != "changes_through.txt"
    }


def use(database: str, direct: str, folder: Path) -> dict[str, object]:
    """Run commands that write and that read; return what they print, and what they export."""
    wrong = folder / "wrong" / "orders.csv"
    wrong.parent.mkdir(parents=True)
    wrong.write_text("order_id,subscriber_id\n901,1\n902,404404\n", encoding="utf-8")
    masthead("generate", folder / "made-up", "--subscribers", 100, database=database)
    commands: list[tuple[object, ...]] = [
        ("import", DATA / "accounts.csv"),
        *(("import", DATA / name, "--account", account) for name, account in NAMES.items()),
        ("import", folder / "made-up", "--account", 3),
        ("import", DATA / "feed", "--account", 1),
        ("import", wrong, "--account", 1),
        ("import", wrong, "--account", 1, "--reject", folder / "rejects", "--max-rejected=1"),
        ("erase", "--account", 1, "--subscriber", 1, "--yes"),
        ("accounts", "set", 3, "--company-name", "Renamed", "--master"),
        ("accounts", "set", 404, "--company-name", "Nobody"),
        ("accounts", "rotate-credentials", 2),
        ("feed", "new-epoch"),
        ("import", DATA / "golden", "--account", 1),
        ("accounts", "list"),
        ("accounts", "export"),
        ("database", "status"),
        *(("export", folder / f"of-{n}", "--account", n) for n in EXPORTED),
    ]
    done: dict[str, object] = {}
    for command in commands:
        ended = run(*command, database=database)
        printed = (ended.stdout + ended.stderr).replace(str(folder), "FOLDER")
        done[" ".join(map(str, command)).replace(str(folder), "FOLDER")] = (
            ended.returncode,
            without_keys(printed),
        )
    for number in EXPORTED:
        done[f"export of {number}"] = files_of(folder / f"of-{number}")
    done["rejects"] = files_of(folder / "rejects")
    with session(direct) as connection:
        for table in ("commits", "epochs", "erasures", "audit", "account_locks"):
            count = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            done[f"rows of {table}"] = count
        for table in ("staged_orders", "staged_problems", "staged_keys"):
            count = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            assert count == (0,)
    return done


def without_keys(printed: str) -> str:
    """Return the text without new credentials, which are random."""
    return RANDOM_KEYS.sub("KEY", printed)


def test_commands_do_what_they_do_directly(
    new_database: Callable[[], str], new_pooler: Callable[[str], Pooler], tmp_path: Path
) -> None:
    directly, through = new_database(), new_database()
    pooler = new_pooler(through)
    expected = use(directly, directly, tmp_path / "directly")
    found = use(pooler.url(through), through, tmp_path / "through")
    assert found == expected
    pooler.assert_nothing_is_left(through, as_server(through))


def test_two_loads_of_an_account_exclude_each_other(
    small: str, new_pooler: Callable[[str], Pooler], tmp_path: Path
) -> None:
    pooler = new_pooler(small)
    folder, later = tmp_path / "first", tmp_path / "later"
    for place, email in ((folder, "first@example.org"), (later, "later@example.org")):
        place.mkdir()
        text = f"subscriber_id,email\n1,{email}\n"
        (place / "subscribers.csv").write_text(text, encoding="utf-8")
        (place / "orders.csv").write_text(CHANGED["orders.csv"], encoding="utf-8")

    def email_of_1() -> object:
        found = database.execute("SELECT email FROM subscribers WHERE subscriber_id = 1")
        return found.fetchall()

    with session(small) as database, load_at("writing orders", pooler.url(small), folder) as first:
        with ThreadPoolExecutor(1) as threads:
            second = threads.submit(import_later, pooler.url(small), later)
            wait_until(lambda: database.execute(LOCKED, [name_of(small)]).fetchone() == (1,))
            assert email_of_1() == [("ada@example.org",)]
            assert not second.done()
            first.communicate("\n", timeout=COMMAND_SECONDS_MAX)
            assert first.returncode == 0
            second.result()
        assert email_of_1() == [("later@example.org",)]
    pooler.assert_nothing_is_left(small, as_server(small))


def import_later(database: str, folder: Path) -> None:
    """Load the folder into the account, after the other load, however long that takes."""
    masthead("import", folder, "--account", ACCOUNT, "--wait", database=database)


def test_migrate_is_refused_and_changes_nothing(
    cluster: Cluster, new_pooler: Callable[[str], Pooler]
) -> None:
    name = unique("empty")
    cluster.create(name)
    url = cluster.url(name)
    pooler = new_pooler(url)
    done = masthead("database", "migrate", database=pooler.url(url), exit_status=2)
    assert "migrations need a connection of their own" in done.stderr
    assert done.stdout == ""
    with session(url) as direct:
        tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::REGNAMESPACE"
        assert direct.execute(tables).fetchone() == (0,)
        roles = "SELECT count(*) FROM pg_roles WHERE rolname = %s"
        assert direct.execute(roles, [f"{name}_server"]).fetchone() == (0,)
    masthead("database", "migrate", database=url)


def test_a_mirror_keeps_its_copy_through_a_pooler(
    cluster: Cluster, house: str, direct: Server, new_pooler: Callable[[str], Pooler]
) -> None:
    name = unique("copy")
    cluster.create(name)
    pooler = new_pooler(cluster.url(name))
    options = ("--key", "key-golden", "--login", "login-golden")
    for command in ("keep", "verify", "keep", "verify"):
        once = ("--once",) if command == "keep" else ()
        masthead(
            *("mirror", command, direct.url, "--to", pooler.url(cluster.url(name))),
            *(*options, *once),
            database="sqlite:///none.db",
        )
    with session(cluster.url(name)) as copied, session(house) as original:
        for table in ("orders", "subscribers", "addresses"):
            counted = copied.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            wanted = f"SELECT count(*) FROM {table} WHERE account_id = 1"
            assert counted == original.execute(wanted.encode()).fetchone()
    pooler.assert_nothing_is_left(cluster.url(name))


# Outages


@contextmanager
def asking(client: Client, statuses: set[int]) -> Iterator[None]:
    """Ask for everything again and again, and note how it is answered."""
    is_over = threading.Event()

    def ask() -> None:
        for target in itertools.cycle(requests().values()):
            if is_over.is_set():
                return
            statuses.add(client.ask(target).status)

    with ThreadPoolExecutor(2) as threads:
        done = [threads.submit(ask) for _ in range(2)]
        try:
            yield
        finally:
            is_over.set()
        for each in done:
            each.result()


def end_sessions(database: str) -> None:
    """End the sessions that the server of PostgreSQL has with a server of Masthead."""
    with session(database) as direct:
        for _ in range(10):
            direct.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
                [f"{name_of(database)}_server"],
            )
            time.sleep(0.1)


def restart(pooler: Pooler, seconds: float) -> None:
    """Let a pooler be away for that time."""
    pooler.stop()
    time.sleep(seconds)
    pooler.start()


@pytest.mark.parametrize(
    "how", ["restarted", "away", "halted", "ended sessions", "stopped", "frozen"]
)
def test_requests_work_again_soon_after_an_outage(
    cluster: Cluster, small: str, new_pooler: Callable[[str], Pooler], how: str
) -> None:
    pooler = new_pooler(small)
    statuses: set[int] = set()
    with serving(pooler.url(small), module=AS_INSTALLED) as server, Client(server) as client:
        wait_until(client.is_fully_served)
        with asking(client, statuses):
            if how == "restarted":
                restart(pooler, 0)
            elif how == "away":
                restart(pooler, 3)
            elif how == "halted":
                pooler.halt()
                time.sleep(3)
                pooler.go_on()
            elif how == "ended sessions":
                end_sessions(small)
            else:
                with outage(cluster, how):
                    time.sleep(3)
        wait_until(client.is_fully_served, RETURN_SECONDS_MAX)
        assert statuses <= {200, 503}
    pooler.assert_nothing_is_left(small, as_server(small))
