"""A publisher on a PostgreSQL of the tests' own, and a client of the server before it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, Self

import httpx2
import psycopg

from masthead.loading.load import load
from masthead.store import accounts, open_store
from tests.api.callers import ENTITIES, error_of
from tests.loading.publisher import SMALL
from tests.postgres import unique
from tests.servers import KEPT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import LiteralString

    from tests.postgres import Cluster
    from tests.servers import Server

ACCOUNT = 1
API_KEY, API_LOGIN = "key-1", "login-1"
PASSWORD = "canary-7c1f"
ALL = ",".join(ENTITIES)

ANSWER_SECONDS_MAX = 9
"""The limit for a response with any behaviour of the database: 2 s, more on a busy machine.
A request that waits for a silent connection waits longer."""

RETURN_SECONDS_MAX = 90
"""In which a service is whole again, once its database is, also on a busy machine."""

DEADLINE_SECONDS = 180
POLL_SECONDS = 0.02


def new_database(cluster: Cluster, name: str) -> str:
    """Return the URL of a new database without accounts; the password in it is not needed."""
    database = unique(name)
    cluster.copy_migrated(database)
    return url_on(cluster, database)


def empty_database(cluster: Cluster, name: str) -> str:
    """Return the URL of a new database without tables, with that password."""
    database = unique(name)
    cluster.create(database)
    return url_on(cluster, database)


def url_on(cluster: Cluster, database: str) -> str:
    """Return the URL of a database on that server, with a password."""
    return cluster.url(database).replace("postgres@", f"postgres:{PASSWORD}@")


def load_files(database: str, folder: Path, files: Mapping[str, str]) -> None:
    """Load the files, each a name and its text, into the account."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    with closing(open_store(database)) as store:
        load(store, [folder / name for name in files], account_id=ACCOUNT)


def fill(database: str, folder: Path) -> None:
    """Make the account, and load the small publisher, whose ids are known, into it."""
    with closing(open_store(database)) as store:
        keys = {"api_key": API_KEY, "api_login": API_LOGIN}
        accounts.add_account(
            store, {"account_id": ACCOUNT, "created": "2026-01-01 00:00:00", **keys}
        )
    load_files(database, folder, SMALL)


def moment(**from_now: float) -> str:
    """Return a time in the interface's form, that far from now."""
    return (datetime.now(UTC) + timedelta(**from_now)).strftime("%Y-%m-%dT%H:%M:%SZ")


def feed_since(since: str, entities: str = ALL) -> str:
    """Return the target of a poll."""
    return f"/2/cdc?changed_since={since.replace('+', '%2B')}&entities={entities}"


def requests() -> dict[str, str]:
    """Return a target of each kind that asks the database, by name; each can be answered."""
    return {
        "look-up": "/2/orders/1",
        "list": "/2/subscriptions/",
        "login check": "/2/subscribers/authenticate/?login=AAAAA&password=97301",
        "empty poll": feed_since(moment(minutes=2)),
        "poll": feed_since(moment(hours=-1)),
        "snapshot": f"/snapshot?entities={ALL}",
        "download": "/2/downloadmailinglist/1/",
        "health": "/health",
    }


class Answer(NamedTuple):
    """A response, and how long it took."""

    response: httpx2.Response
    seconds: float

    @property
    def status(self) -> int:
        """The status."""
        return self.response.status_code

    def assert_unavailable(self) -> None:
        """Assert that it is 503 in time, with the rest of what such a response has to be."""
        sentence = error_of(self.response, 503)
        assert self.seconds < ANSWER_SECONDS_MAX
        assert int(self.response.headers["Retry-After"]) > 0
        for secret in ("Traceback", "psycopg", "127.0.0.1", PASSWORD):
            assert secret not in sentence


class Client:
    """A client with the account's credentials."""

    def __init__(self, server: Server) -> None:
        """Keep connections between requests; a response may take much longer than is right."""
        self._client = httpx2.Client(
            base_url=server.url,
            auth=(API_KEY, API_LOGIN),
            timeout=DEADLINE_SECONDS,
            limits=KEPT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, target: str) -> Answer:
        """Ask for a target."""
        begun = time.monotonic()
        response = self._client.get(target)
        return Answer(response, time.monotonic() - begun)

    def ask_at_once(self, targets: Iterable[str]) -> list[Answer]:
        """Ask for all targets at the same time."""
        asked = list(targets)
        with ThreadPoolExecutor(len(asked)) as threads:
            return list(threads.map(self.ask, asked))

    def is_fully_served(self) -> bool:
        """Whether requests of all kinds, asked at once, are answered."""
        return {answer.status for answer in self.ask_at_once(requests().values())} == {200}

    @contextmanager
    def stream(self, target: str) -> Iterator[httpx2.Response]:
        """Ask for a target, and read the response while it comes."""
        with self._client.stream("GET", target) as response:
            assert response.status_code == 200
            yield response


@contextmanager
def outage(cluster: Cluster, kind: str) -> Iterator[None]:
    """Let a server of PostgreSQL be ``stopped`` or ``frozen`` for as long as the block lasts."""
    begin, end = {
        "stopped": (cluster.stop, cluster.start),
        "frozen": (cluster.freeze, cluster.thaw),
    }[kind]
    begin()
    try:
        yield
    finally:
        end()


def wait_until(done: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> None:
    """Return once it is done; fail where that takes longer."""
    begun = time.monotonic()
    while not done():
        took = time.monotonic() - begun
        assert took < seconds, f"still not so after {took:.1f} seconds"
        time.sleep(POLL_SECONDS)


@contextmanager
def session(database: str) -> Iterator[psycopg.Connection]:
    """Yield a session of the tests' own, each statement a transaction."""
    with closing(psycopg.connect(database, autocommit=True)) as connection:
        yield connection


@contextmanager
def locked(database: str, statement: LiteralString) -> Iterator[None]:
    """Hold what the statement locks, for as long as the block lasts."""
    with session(database) as connection, connection.transaction():
        connection.execute(statement)
        yield
