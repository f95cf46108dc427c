"""The books with many subscriptions: closing an issue, an order at the counter, a report.

Closing is compared with the bare `INSERT … SELECT` of the rows that it adds, from plain tables into
the same tables with the same indexes and references, in a copy of the database. It may take three
times as long (circulation, "What must hold"). Both run in their own processes and take turns, with
page caches of the same size. Then another issue is closed while a client looks up orders. Finally,
operations of the counter run one after the other, each in its own transaction. Their times exclude
the start of a command, which takes the interpreter about 0.3 s.

``python -m benchmarks.circulation URL`` runs the bare statements.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median, quantiles
from threading import Event, Thread
from typing import NamedTuple

from benchmarks.circulation_counter import SUBSCRIBERS, Counter
from benchmarks.circulation_data import ISSUES, make_books, newest_list
from benchmarks.databases import (
    STORES,
    Home,
    columns,
    connected,
    home_of,
    is_postgresql,
    new_database,
    rows,
    settle,
)
from benchmarks.machine import CLIENT_CORE, SERVER_CORE, on_core, process_tree
from benchmarks.processes import Server, finished, serving, timed_get
from benchmarks.publisher import ACCOUNT_ID
from benchmarks.report import Budget, Figures, Scale, add, ratio, shown, table
from masthead.store import open_store
from tests.postgres import Cluster

CLOSING, MEMORY_MIB, COUNTER_MS = Budget(at_most=3), Budget(at_most=96), Budget(at_most=50)
"""Of the memory, the page cache takes 32 MiB on SQLite, and sorting at most as much."""

_PAUSE_S = 0.01
_BARE = {
    "subscription_issues": "mailing_list_id = {list}",
    "mailing_list_entries": "mailing_list_id = {list}",
    "revenue": """issue_id = (SELECT max(issue_id) FROM issues
        WHERE mailing_list_id = {list}) AND kind = 'earned'""",
}
"""The rows that closing adds, by table: the condition that selects the rows of a list."""

_KEYS = {
    "subscription_issues": "subscription_id, issue_id",
    "mailing_list_entries": "mailing_list_id, subscription_id",
    "revenue": "revenue_id",
}
_LIKE_A_WRITER = """PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
    PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -32768"""


class Taken(NamedTuple):
    """What a process took: seconds, CPU seconds including PostgreSQL's, and its peak memory."""

    seconds: float
    cpu_s: float
    peak_mib: float


class Place:
    """A database server, or a folder of files, whose processes' CPU time can be measured."""

    def __init__(self, home: Home) -> None:
        self._home = home

    @contextmanager
    def copy_of(self, url: str, name: str) -> Iterator[str]:
        """Copy a database that is not in use."""
        if isinstance(self._home, Path):
            path = self._home / f"{name}.db"
            with connected(url) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            shutil.copy(url.removeprefix("sqlite:///"), path)
            yield f"sqlite:///{path}"
        else:
            self._home.copy(url.rpartition("/")[2], name)
            yield self._home.url(name)
            self._home.drop(name)

    def cpu_s(self) -> float:
        """Return the CPU seconds of this process's ended children and of the server."""
        used = getrusage(RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime + self._server_s()

    def _server_s(self) -> float:
        if not isinstance(self._home, Cluster):
            return 0.0
        written = self._home.folder / "data" / "postmaster.pid"
        postmaster = int(written.read_text().split()[0])
        ticks = 0
        # The postmaster comes last; its time includes that of its ended children.
        for pid in reversed(process_tree(postmaster)):
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, fields[11 : 15 if pid == postmaster else 13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def took(self, *arguments: str) -> Taken:
        """Run a command of Masthead and measure it."""
        before_s = self.cpu_s()
        done = finished(*arguments)
        return Taken(done.seconds, self.cpu_s() - before_s, done.peak_mib)

    def took_bare(self, url: str) -> Taken:
        """Run the bare statements for the rows of the side tables, and measure them."""
        before_s, start = self.cpu_s(), time.perf_counter()
        subprocess.run([sys.executable, "-m", "benchmarks.circulation", url], check=True)
        return Taken(time.perf_counter() - start, self.cpu_s() - before_s, 0)


def bring(source: str, target: str, list_id: int) -> None:
    """Copy a list to the other database, and the list's rows to plain tables there."""
    for name, condition in _BARE.items():
        names = ", ".join(f'"{each}"' for each in columns(source, name))
        which = condition.format(list=list_id)
        query = f"SELECT {names} FROM {name} WHERE {which} ORDER BY {_KEYS[name]}"
        _copy(source, target, f"plain_{name}", name, names, query)
    names = ", ".join(columns(source, "list_downloads"))
    its = f"SELECT {names} FROM list_downloads WHERE mailing_list_id = {list_id}"
    _copy(source, target, "list_downloads", None, names, its)
    settle(target)


def _copy(source: str, target: str, into: str, like: str | None, names: str, query: str) -> None:
    """Copy the rows of a query; ``like``: into a new table with the columns of that table."""
    made = f"CREATE TABLE {into} AS SELECT {names} FROM {like} WHERE FALSE"
    with connected(target) as there:
        if like is not None:
            there.execute(f"DROP TABLE IF EXISTS {into}; {made}")
        if not is_postgresql(source):
            there.execute("ATTACH ? AS source", (source.removeprefix("sqlite:///"),))
            there.execute(f"INSERT INTO {into} ({names}) {query.replace('FROM ', 'FROM source.')}")
            return
        with (
            connected(source) as here,
            here.cursor() as reading,
            there.cursor() as writing,
            reading.copy(f"COPY ({query}) TO STDOUT (FORMAT binary)") as rows_out,
            writing.copy(f"COPY {into} ({names}) FROM STDIN (FORMAT binary)") as rows_in,
        ):
            for data in rows_out:
                rows_in.write(data)


def insert_bare(url: str) -> None:
    """Insert the rows of the side tables in one transaction, as Masthead's writer does."""
    statements = []
    for name, key in _KEYS.items():
        names = ", ".join(f'"{each}"' for each in columns(url, name))
        statements.append(
            f"INSERT INTO {name} ({names}) SELECT {names} FROM plain_{name} ORDER BY {key}"
        )
    with connected(url) as connection:
        if not is_postgresql(url):
            connection.execute(_LIKE_A_WRITER)
        connection.execute("BEGIN")
        for statement in statements:
            connection.execute(statement)
        connection.execute("COMMIT")


def _close(place: Place, url: str, issue: int) -> Taken:
    account = ("--account", str(ACCOUNT_ID), "--database", url)
    return place.took("issue", "close", str(issue), *account)


def rounds_of(place: Place, url: str, rounds: int) -> tuple[Figures, int]:
    """Close issues in turns with the bare statements; return the figures and number of entries.

    The first issue warms up; the copy is made after it.
    """
    figures: Figures = {}
    entries = 0
    _close(place, url, ISSUES[0])
    settle(url)
    with place.copy_of(url, "bare") as bare:
        for issue in ISSUES[1 : rounds + 1]:
            closing = _close(place, url, issue)
            list_id, entries = newest_list(url)
            bring(url, bare, list_id)
            settle(url)
            inserting = place.took_bare(bare)
            add(figures, {f"closing {name}": each for name, each in closing._asdict().items()})
            add(figures, {f"bare {name}": each for name, each in inserting._asdict().items()})
    return figures, entries


@contextmanager
def _looking_up(server: Server, paths: list[str]) -> Iterator[list[float]]:
    """Look up orders over one connection within the block; yield a list that gets the times."""
    over = Event()
    times_ms: list[float] = []

    def look_up() -> None:
        connection = server.connect()
        while not over.wait(_PAUSE_S):
            times_ms.append(1e3 * timed_get(connection, paths[len(times_ms) % len(paths)])[0])
        connection.close()

    thread = Thread(target=look_up)
    thread.start()
    try:
        yield times_ms
    finally:
        over.set()
        thread.join()


def _percentiles(times_ms: list[float]) -> tuple[str, str, str]:
    worst = quantiles(times_ms, n=100, method="inclusive")[98]
    return f"{median(times_ms):.1f}", f"{worst:.1f}", f"{max(times_ms):.1f}"


def _readers(place: Place, url: str, issue: int, alone_s: float) -> Iterator[list[str]]:
    """Yield rows with the times of order requests, alone and during a closing."""
    paths = [f"/2/orders/{number}" for number in range(1, 500)]
    with serving(url, core=SERVER_CORE) as server:
        with _looking_up(server, paths) as times_ms:
            time.sleep(alone_s)
        yield ["an order of the interface, alone", f"{len(times_ms):,}", *_percentiles(times_ms)]
        with _looking_up(server, paths) as times_ms:
            _close(place, url, issue)
        yield ["the same beside closing", f"{len(times_ms):,}", *_percentiles(times_ms)]


def _counter(url: str, count: int) -> Iterator[list[str]]:
    """Yield the times of each operation of the counter."""
    store = open_store(url)
    try:
        for title, work in Counter(store, count).operations.items():
            times_ms = []
            for number in range(SUBSCRIBERS):
                start = time.perf_counter()
                work(number)
                times_ms.append(1e3 * (time.perf_counter() - start))
            middle, worst, _ = _percentiles(times_ms)
            budget = COUNTER_MS.check(median(times_ms)) if "order add" in title else ""
            yield [title, middle + budget, worst]
    finally:
        store.close()


def shown_closings(place: Place, url: str, figures: Figures, entries: int) -> str:
    """Return the table of closing."""
    start = place.took("issue", "list", "--account", str(ACCOUNT_ID), "--database", url)
    growth = [peak - start.peak_mib for peak in figures["closing peak_mib"]]
    lines = []
    for title, name, budget in (
        ("seconds", "seconds", CLOSING),
        ("CPU seconds, with those of the server", "cpu_s", None),
    ):
        both = figures[f"closing {name}"], figures[f"bare {name}"]
        lines.append([title, *(shown(each, 1) for each in both), ratio(*both, budget=budget)])
    lines.append(["growth of the process's memory, MiB", shown(growth, 1, MEMORY_MIB), "", ""])
    what = f"an issue with {entries:,} entries"
    return table([what, "`issue close`", "bare `INSERT … SELECT`", "ratio"], lines)


def measure(scale: Scale) -> Iterator[str]:
    """Yield the tables of each store but Citus: the copy is made on one server."""
    for store in scale.stores:
        if store == "citus":
            continue
        with (
            on_core(CLIENT_CORE),
            home_of(store, core=CLIENT_CORE) as home,
            new_database(home, "books") as url,
        ):
            place = Place(home)
            make_books(url, scale.subscribers)
            yield f"{STORES[store]}\n"
            figures, entries = rounds_of(place, url, scale.rounds)
            yield shown_closings(place, url, figures, entries)
            settle(url)
            last = ISSUES[scale.rounds + 1]
            head = ["ms", "count", "median", "99 %", "worst"]
            yield table(head, [*_readers(place, url, last, scale.seconds)])
            settle(url)
            yield table(["ms", "median", "99 %"], [*_counter(url, scale.subscribers)])
            account = ("--account", str(ACCOUNT_ID), "--database", url)
            report = place.took("report", "liability", *account)
            ((booked,),) = rows(url, "SELECT count(*) FROM revenue")
            yield table(
                ["liability report", "terms", "rows of revenue", "seconds", "peak, MiB"],
                [
                    [
                        "`report liability`",
                        f"{scale.subscribers:,}",
                        f"{booked:,}",
                        f"{report.seconds:.1f}",
                        f"{report.peak_mib:.0f}",
                    ]
                ],
            )


if __name__ == "__main__":
    insert_bare(sys.argv[1])
