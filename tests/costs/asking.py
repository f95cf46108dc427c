"""What is asked of each operation, and what a request costs."""

from __future__ import annotations

import json
import math
from contextlib import closing
from http.client import HTTPConnection
from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.api.callers import ENTITIES, basic
from tests.costs.data import LARGE, MASTER, SMALL
from tests.costs.limits import KEPT_BYTES_MAX

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message
    from pathlib import Path

    import psycopg

    from tests.costs.listening import Listener
    from tests.servers import Server

BEFORE, MEASURED = 7, 5
"""PostgreSQL plans the first five times for the values at hand; and whatever is remembered from one
request to the next is remembered by then. Of the others the middle one counts, and of calls and of
what PostgreSQL reads the least: the server has work of its own every few seconds, and threads that
wait for each other call more."""

_OF_THE_SERVER = (
    *("FROM migrations", "FROM commits WHERE visible_at IS NULL", "FROM accounts_to_stamp("),
    *("FROM histories()", "PRAGMA ", "INTO request_counts"),
)
"""What the statements say that a server makes by itself, every few seconds or once a minute
(``masthead.api.http.lifespan``)."""

AT_MOST = 6
READ = """
    SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
        + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)
    """
_ENTITIES = ",".join(ENTITIES)

REQUESTS = {
    "1 own account": "/2/accounts/",
    "1 all accounts": "/2/accounts/",
    "2": "/2/accounts/{account}/",
    "3 by email": "/2/subscribers/authenticate/?login=reader0150%40example.org&password=secret+150",
    "3 by renewal code": "/2/subscribers/authenticate/?login=R0150&password=00150",
    "3 refused": "/2/subscribers/authenticate/?login=reader0150%40example.org&password=wrong",
    "4 nothing": f"/2/cdc?changed_since={{through}}&entities={_ENTITIES}",
    "4 ten changes": f"/2/cdc?changed_since={{since}}&entities={_ENTITIES}",
    "4 no deletions": f"/deletions?changed_since={{through}}&entities={_ENTITIES}",
    "4 ten deletions": f"/deletions?changed_since={{since}}&entities={_ENTITIES}",
    "5": "/2/customfields/150",
    "6": "/2/customfields/",
    "7 a page": "/2/subscriptions/",
    "7 of a subscriber": "/2/subscriptions/?subscriber_id=150",
    "7 half fit": "/2/subscriptions/?type=Print&min_copies=1",
    "7 the last fits": "/2/subscriptions/?copies=2",
    "7 nothing fits": "/2/subscriptions/?copies=9",
    "8 by email": "/2/subscribers/?email=reader0150%40example.org",
    "8 ten fit": "/2/subscribers/?last_name=last015*",
    "8 half fit each, none both": "/2/subscribers/?first_name=first0&source=fair",
    "9": "/2/orders/150",
    "10": "/2/downloadmailinglist/1/",
    "entitlements": "/entitlements?login=R0150&password=00150",
    "entitlements refused": "/entitlements?login=R0150&password=00151",
}
BY_A_MASTER = {"1 all accounts"}


class Cost(NamedTuple):
    """What a request costs; ``statements`` are named, so that a failure shows which they are.

    Those are what SQLite runs, or the round trips to PostgreSQL. ``visited`` are the steps of
    SQLite's machine, or the rows and the entries of indexes that PostgreSQL reads; ``walked`` the
    rows that SQLite comes to by walking a table. ``calls`` are those of functions.
    """

    statements: list[str]
    visited: int
    walked: int
    calls: int


class Service:
    """A server that counts, and who asks it.

    ``lines`` is the file of its bills; ``since`` the time after which ten subscribers of each
    account changed and ten purchases were removed. On PostgreSQL it is listened to, and
    ``database`` tells how many rows it read.
    """

    def __init__(
        self,
        server: Server,
        lines: Path,
        since: dict[int, str],
        listener: Listener | None,
        database: psycopg.Connection | None,
    ) -> None:
        self._server = server
        self._lines = lines
        self._since = since
        self._listener = listener
        self._database = database
        self._costs: dict[tuple[str, int], Cost] = {}
        # A login that failed before costs more, and the tests come in any order.
        for account_id in (SMALL, LARGE):
            for name, path in REQUESTS.items():
                if name.endswith("refused"):
                    self._ask(account_id, path)

    def cost(self, name: str, account_id: int, calls_max: float = math.inf) -> Cost:
        """Return what the request of that name costs the account, found out once.

        One with more than ``calls_max`` calls is asked again, up to six times in all, and the least
        count: on a busy machine, threads that wait for each other call more for a while.
        """
        if (name, account_id) not in self._costs:
            self._costs[name, account_id] = self._cost(name, account_id)
        found = self._costs[name, account_id]
        for _ in range(AT_MOST - 1):
            if found.calls <= calls_max:
                break
            found = found._replace(calls=min(found.calls, self._cost(name, account_id).calls))
        self._costs[name, account_id] = found
        return found

    def kept(self, name: str, requests: int) -> float:
        """Return how much more memory is in use after each of so many requests.

        That is seen up to six times: what is really kept is kept each time, while a stream's
        buffers are now here, now gone.
        """
        seen: list[float] = []
        while len(seen) < AT_MOST and min(seen, default=KEPT_BYTES_MAX + 1) > KEPT_BYTES_MAX:
            seen.append(self._kept(name, requests))
        return min(seen)

    def _kept(self, name: str, requests: int) -> float:
        """Return how much more memory is in use after each of so many requests.

        There may be less of it at one time, and more at another: the least counts that was in use
        while the first fifth of the requests was made, and the last.
        """
        found = [each["in_use"] for each in self._bills(name, LARGE, BEFORE + requests)]
        part = requests // 5
        more: int = min(found[-part:]) - min(found[BEFORE:][:part])
        return more / (requests - part)

    def _cost(self, name: str, account_id: int) -> Cost:
        seen: list[tuple[list[str], int]] = []

        def look() -> None:
            if self._listener and self._database:
                self._listener.report()
                ((read,),) = self._database.execute(READ).fetchall()
                seen.append(([*self._listener.asked], int(read)))

        found = self._bills(name, account_id, BEFORE + MEASURED, look)[BEFORE:]
        for each in found:
            each["statements"] = [
                one for one in each["statements"] if not _is_of_the_server(one[0])
            ]
        calls = min(each["calls"] for each in found)
        if not seen:
            said = _usual([[sql for sql, *_ in each["statements"]] for each in found])
            visited, walked = (
                median_low(sum(one[place] for one in each["statements"]) for each in found)
                for place in (1, 2)
            )
            return Cost(said, visited, walked, calls)
        steps = [*pairwise(seen)][BEFORE:][:MEASURED]
        asked = [now[len(before) :] for (before, _), (now, _) in steps]
        said = _usual([[sql for sql in each if not _is_of_the_server(sql)] for each in asked])
        visited = min(now - before for (_, before), (_, now) in steps)
        return Cost(said, visited, 0, calls)

    def _bills(
        self, name: str, account_id: int, requests: int, look: Callable[[], None] = lambda: None
    ) -> list[dict[str, Any]]:
        """Make so many requests, and return the bill of each."""
        account_id = MASTER if name in BY_A_MASTER else account_id
        times = {"since": self._since.get(account_id, "")}
        if "{through}" in REQUESTS[name]:
            response = self._ask(account_id, REQUESTS["4 ten changes"].format_map(times))
            times["through"] = response["Masthead-Changes-Through"]
        path = REQUESTS[name].format(account=account_id, **times)
        self._ask(account_id, path)
        closed = len(self._read())
        look()
        for _ in range(requests):
            self._ask(account_id, path)
            look()
        # The bill of a request is closed when the next one comes.
        self._ask(account_id, path)
        return self._read()[closed + 1 :]

    def _ask(self, account_id: int, path: str) -> Message:
        """Make a request on a connection of its own, and return the headers of the response.

        On the same one it could come before the server is through with all that it does behind the
        answer to the one before.
        """
        headers = {"Authorization": basic(f"key-{account_id}", f"login-{account_id}")}
        with closing(HTTPConnection(*self._server.address, timeout=30)) as connection:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            content = response.read()
            assert response.status == 200, content
            return response.headers

    def _read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._lines.read_text().splitlines()]


def _is_of_the_server(sql: str) -> bool:
    return any(words in sql for words in _OF_THE_SERVER)


def _usual(each: list[list[str]]) -> list[str]:
    """Return the statements of the request that has as many as most have."""
    return sorted(each, key=len)[len(each) // 2]
