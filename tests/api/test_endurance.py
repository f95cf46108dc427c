"""A server that is asked, loaded, polled and restarted for long does not grow.

A short run belongs to the tests; ``make prove-endurance MINUTES=60`` is the long one.
"""

from __future__ import annotations

import re
import socket
import tempfile
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.api.callers import ENTITIES, Caller, basic
from tests.long import ONLY_LONG
from tests.servers import Server, import_files, masthead, write_ndjson

if TYPE_CHECKING:
    import pytest

    from tests.servers import Store

SUBSCRIBERS = 300
REQUESTS_EACH_ROUND = 20
ROUNDS_OF_A_SHORT_RUN = 8
ROUNDS_BETWEEN_RESTARTS = 200
GROWTH_MAX = 4 * 1024 * 1024
FILES_MORE_MAX = 4
"""Idle connections to a database and a temporary file may be open at one moment and not another."""


class Size(NamedTuple):
    """What a server's process holds."""

    memory_bytes: int
    open_files: int


def size_of(process: int) -> Size:
    """Return the memory that is a process's own, and how many files it has open."""
    status = Path(f"/proc/{process}/status").read_text()
    (kib,) = re.findall(r"RssAnon:\s+(\d+) kB", status)
    return Size(int(kib) * 1024, len(list(Path(f"/proc/{process}/fd").iterdir())))


class World:
    """A publisher whose data change, and those who ask for them."""

    def __init__(self, database: str, folder: Path) -> None:
        """Make the publisher."""
        self.database = database
        self._folder = folder
        self._numbers = count()
        self._through = ""
        masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
        self.load()

    def load(self) -> None:
        """Load each record again, with other values."""
        number = next(self._numbers)
        ids = range(1, SUBSCRIBERS + 1)
        files: dict[str, list[dict[str, object]]] = {
            "publications": [{"publication_id": 1, "name": "Tide"}],
            "subscribers": [
                {"subscriber_id": i, "email": f"{i}@example.org", "last_name": f"N{number}"}
                for i in ids
            ],
            "addresses": [
                {"address_id": i, "subscriber_id": i, "city": f"City {number}"} for i in ids
            ],
            "subscriptions": [
                {
                    "subscription_id": i,
                    "subscriber_id": i,
                    "publication_id": 1,
                    "issues": number % 7,
                    "copies": 1,
                    "type": "Print",
                }
                for i in ids
            ],
            "orders": [
                {
                    "order_id": i,
                    "subscriber_id": i,
                    "order_date": "2026-03-01 10:00:00",
                    "import_name": f"file {number}",
                }
                for i in ids
            ],
            "list_downloads": [{"mailing_list_id": 1, "name": f"List {number}"}],
            "mailing_list_entries": [{"mailing_list_id": 1, "subscription_id": i} for i in ids],
        }
        paths = write_ndjson(self._folder / f"load-{number % 2}", files)
        import_files(*paths, account_id="1", database=self.database)

    def ask(self, server: Server) -> None:
        """Ask for something of each kind: what there is, what there is not, and what is wrong."""
        with closing(Caller(server, "key", "login")) as caller:
            for number in range(REQUESTS_EACH_ROUND):
                for path, status in (
                    ("/2/accounts/", 200),
                    ("/2/accounts/2/", 404),
                    (f"/2/orders/{number + 1}", 200),
                    (f"/2/customfields/{number + 1}", 200),
                    ("/2/customfields/", 200),
                    (f"/2/subscriptions/?min_issues_left={number}", 200),
                    ("/2/subscriptions/?copies=many", 400),
                    ("/2/subscribers/?last_name=n*", 200),
                    (f"/2/subscribers/authenticate/?login={number}&password=x", 200),
                    ("/2/downloadmailinglist/1/", 200),
                    ("/2/nothing", 404),
                    ("/health", 200),
                ):
                    assert caller.ask(path).status_code == status, path
            assert caller.ask("/snapshot", entities=",".join(ENTITIES)).status_code == 200
            if self._through:
                answer = caller.ask(
                    "/2/cdc", changed_since=self._through, entities=",".join(ENTITIES)
                )
                assert answer.status_code == 200
            answer = caller.ask("/snapshot", entities="orders")
            self._through = answer.headers["Masthead-Changes-Through"]
        with closing(Caller(server, "key", "wrong")) as stranger:
            assert stranger.ask("/2/accounts/").status_code == 403
        self.leave(server)

    def leave(self, server: Server) -> None:
        """Go away in the middle of a request, and of an answer."""
        head = (
            f"GET /snapshot?entities=orders HTTP/1.1\r\nAuthorization: {basic('key', 'login')}\r\n"
        )
        for request in (head, f"{head}Host: x\r\n\r\n"):
            with socket.create_connection(server.address) as connection:
                connection.sendall(request.encode())


@ONLY_LONG
def test_a_server_in_use_does_not_grow(
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
) -> None:
    """rules, "Endurance"."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    world = World(store.new_database("endurance"), tmp_path)
    ends_at = time.monotonic() + 60 * pytestconfig.getoption("minutes")
    lives = 0
    while lives < 2 or time.monotonic() < ends_at:
        rounds = ROUNDS_OF_A_SHORT_RUN if time.monotonic() > ends_at else ROUNDS_BETWEEN_RESTARTS
        with closing(Life(world)) as life:
            sizes = life.run(rounds)
        lives += 1
        warm, *_ = sizes[len(sizes) // 2 :]
        assert sizes[-1].memory_bytes - warm.memory_bytes < GROWTH_MAX, sizes
        assert sizes[-1].open_files - warm.open_files <= FILES_MORE_MAX, sizes
        assert list(temporary.iterdir()) == []


class Life:
    """A server from its start to its end."""

    def __init__(self, world: World) -> None:
        """Start it."""
        self._world = world
        limits = ("--login-failures=0", "--account-failures=0")
        self._server = Server(world.database, *limits)

    def run(self, rounds: int) -> list[Size]:
        """Return its size after each of the rounds."""
        sizes = []
        for _ in range(rounds):
            self._world.ask(self._server)
            self._world.load()
            sizes.append(size_of(self._server.process_id))
        return sizes

    def close(self) -> None:
        """End it."""
        assert self._server.stop() == 0
