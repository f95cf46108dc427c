"""How much disk and memory a publisher takes.

A made-up publisher is loaded, served and mirrored. Then the books of another one, of as many paid
subscriptions, close issues. The sizes are bytes for each subscriber, so that a publisher of another
size can be worked out from them; the memory of a process is that of its anonymous pages.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.circulation_data import ISSUES, make_books
from benchmarks.databases import (
    STORES,
    Home,
    connected,
    home_of,
    is_postgresql,
    new_database,
    rows,
    settle,
)
from benchmarks.feed import CODINGS, read
from benchmarks.machine import memory_mib, process_tree
from benchmarks.processes import Server, finished, serving
from benchmarks.publisher import ACCOUNT_ID, KEY, LOGIN, add_account, make_files
from benchmarks.report import Scale, table

_CLOSED = 4
_ENTRIES = "SELECT count(*) FROM mailing_list_entries"


def size_of(url: str) -> int:
    """Return the bytes of a database without its log; 0 for a file that is not there yet."""
    if is_postgresql(url):
        return int(rows(url, "SELECT pg_database_size(current_database())")[0][0])
    path = Path(url.removeprefix("sqlite:///"))
    if not path.exists():
        return 0
    with connected(url) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size


def memory_of(server: Server) -> float:
    """Return the MiB that the processes of a server do not share with files."""
    return sum(memory_mib(pid, "RssAnon") for pid in process_tree(server.pid))


def of_files(home: Home, files: Path, subscribers: int) -> Iterator[tuple[str, float]]:
    """Load files, serve them and mirror them; yield titles and sizes."""
    with new_database(home, "sizes") as url, ExitStack() as stack:
        add_account(url)
        empty = size_of(url)
        command = ("import", str(files), "--account", str(ACCOUNT_ID), "--database", url)
        loaded = finished(*command)
        settle(url)
        yield "files", sum(file.stat().st_size for file in files.iterdir()) / subscribers
        yield "an empty database, MiB", empty / 2**20
        yield "database", (size_of(url) - empty) / subscribers
        finished(*command)
        settle(url)
        yield "database, after the same files again", (size_of(url) - empty) / subscribers
        if not is_postgresql(url):
            backup = files.parent / "backup"
            finished("backup", str(backup), "--database", url)
            yield "backup", backup.stat().st_size / subscribers
        server = stack.enter_context(serving(url))
        yield "server when it has started, MiB", memory_of(server)
        for coding in CODINGS:
            yield f"`GET /snapshot`, {coding}", read(server, coding).size / subscribers
        yield "server after three snapshots, MiB", memory_of(server)
        workers = stack.enter_context(serving(url, environment={"MASTHEAD_WORKERS": "4"}))
        yield "server with four workers when it has started, MiB", memory_of(workers)
        copy = files.parent / "copy.db"
        service = f"http://127.0.0.1:{server.port}"
        to = ("--to", f"sqlite:///{copy}", "--key", KEY, "--login", LOGIN)
        mirrored = finished("mirror", "keep", service, *to, "--once")
        yield "copy of `masthead mirror`, SQLite", size_of(f"sqlite:///{copy}") / subscribers
        yield "peak of `masthead import`, MiB", loaded.peak_mib
        yield "peak of `masthead mirror`, MiB", mirrored.peak_mib


def of_books(home: Home, subscribers: int) -> Iterator[tuple[str, float]]:
    """Close issues of books with a subscription for each subscriber; yield titles and sizes."""
    with new_database(home, "books") as url:
        empty = size_of(url)
        make_books(url, subscribers)
        yield "books when they are opened", (size_of(url) - empty) / subscribers
        where = ("--account", str(ACCOUNT_ID), "--database", url)
        # The first one also makes room for the rows that each closing changes.
        finished("issue", "close", str(ISSUES[0]), *where)
        settle(url)
        before, entries_before = size_of(url), rows(url, _ENTRIES)[0][0]
        closed = [finished("issue", "close", str(issue), *where) for issue in ISSUES[1:_CLOSED]]
        settle(url)
        entries = rows(url, _ENTRIES)[0][0] - entries_before
        yield "each entry of a closed issue", (size_of(url) - before) / entries
        yield "peak of `masthead issue close`, MiB", max(each.peak_mib for each in closed)


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        with TemporaryDirectory() as folder, home_of(store) as home:
            files = Path(folder) / "files"
            make_files(files, scale.subscribers)
            found = [*of_files(home, files, scale.subscribers), *of_books(home, scale.subscribers)]
        yield table(
            ["bytes a subscriber, or MiB of memory", STORES[store]],
            [[title, f"{size:,.0f}"] for title, size in found],
        )
