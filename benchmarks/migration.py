"""The cost of a migration to clients that request lists while it runs, on PostgreSQL.

So far there is one migration, which makes the tables. The measured migrations are made up: they do
what later ones may do to the table of the lists. Meanwhile long responses are downloaded, whose
transactions lock this table. Fails if a list takes longer than a second.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from statistics import median

from benchmarks.databases import STORES
from benchmarks.load import look_up, request
from benchmarks.machine import CLIENT_CORE, SERVER_CORE, on_core
from benchmarks.processes import serving
from benchmarks.publisher import Published, published
from benchmarks.report import Scale, table
from masthead.cli import main
from masthead.store import migrations
from masthead.store.migrations import Migration
from tests.servers import as_server

WORST_MS_MAX = 1_000
LATER = [
    Migration(
        2,
        "a column with a default, and a condition",
        """
        ALTER TABLE subscriptions ADD COLUMN added_1 TEXT NOT NULL DEFAULT 'none',
            ADD CONSTRAINT added_1_is_short CHECK (length(added_1) < 10) NOT VALID;
        ALTER TABLE subscribers ADD COLUMN added_1 BIGINT;
        """,
    ),
    Migration(
        3,
        "the condition holds for all rows",
        "ALTER TABLE subscriptions VALIDATE CONSTRAINT added_1_is_short",
    ),
    Migration(
        4,
        "an index",
        "CREATE INDEX CONCURRENTLY added_1 ON subscriptions (account_id, added_1, subscription_id)",
    ),
]


async def _migrate(database: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.migration", "database", "migrate"),
        stdout=asyncio.subprocess.DEVNULL,
        env=os.environ | {"MASTHEAD_DATABASE": database},
    )
    if await process.wait():
        raise SystemExit("the migration failed")


async def _download(port: int) -> None:
    """Download snapshots, one after the other."""
    head = request("/snapshot?entities=subscriptions,addresses").removesuffix(b"\r\n")
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + b"Connection: close\r\n\r\n")
        while await reader.read(65_536):
            pass
        writer.close()


async def _measure(port: int, data: Published, seconds: float) -> dict[str, list[float]]:
    """Return the times of lists before, during and after the migration, in milliseconds."""
    paths = data.list_paths()
    found = {}
    downloads = asyncio.create_task(_download(port))
    for title in ("before it", "during it", "after it"):
        is_during = title == "during it"
        work = _migrate(data.database) if is_during else asyncio.sleep(seconds)
        ended = asyncio.ensure_future(work)
        found[title] = await look_up(port, paths, ended)
        await ended
    downloads.cancel()
    with suppress(asyncio.CancelledError):
        await downloads
    return found


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store except SQLite, which has no other users while it migrates."""
    worst_ms = 0.0
    for store in scale.stores:
        if store == "sqlite":
            continue
        with on_core(CLIENT_CORE), published(store, scale.subscribers) as data:
            command = ("benchmarks.migration", "serve", "--port", "0")
            role = {"MASTHEAD_DATABASE": as_server(data.database)}
            with serving(data.database, *command, core=SERVER_CORE, environment=role) as server:
                found = asyncio.run(_measure(server.port, data, scale.seconds))
            worst_ms = max(worst_ms, *found["during it"])
        rows = [
            [title, f"{len(times):,}", f"{median(times):,.1f}", f"{max(times):,.1f}"]
            for title, times in found.items()
        ]
        yield table([f"{STORES[store]}, lists", "count", "median, ms", "worst, ms"], rows)
    if worst_ms > WORST_MS_MAX:
        raise SystemExit(f"a list took more than {WORST_MS_MAX} ms")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        # This measures the locks: a server of this version would respond with 503 after the first.
        migrations.newer_than = lambda connection, schema: ""  # noqa: ARG005 - as it is called
    else:
        first = migrations.migrations
        migrations.migrations = lambda dialect: [*first(dialect), *LATER]
    main()
