"""What loading costs, beside what the database takes for the same rows without any check.

A publisher's files are made and loaded, in rounds in which the ways take turns, each into a new
database: with ``masthead import``; and plainly (``plainly.py``), by COPY of the files' bytes into
PostgreSQL, into SQLite by INSERT of the rows that Python's CSV reader yields, and by ``.import`` of
SQLite's own program. Then ``masthead import`` loads the same files again, which changes nothing,
and ``masthead export`` writes them.
"""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import databases
from benchmarks.databases import Place, fresh, is_postgresql, place
from benchmarks.plainly import SHELL, dot_import, plain
from benchmarks.processes import Finished, finished
from benchmarks.publisher import ACCOUNT_ID, add_account, make_files
from benchmarks.report import Aim, Figures, Found, Measured, Ratio, Row, Scale, data, table
from masthead.contract.records import TABLES
from masthead.store import find_store

HEAD = "seconds: median (least to most)"
IMPORT = "`masthead import`"
PLAIN = "plain INSERT, COPY"
DOT_IMPORT = "`.import` of SQLite's own program"
AGAIN = "`masthead import` again"
EXPORT = "`masthead export`"
PEAK = "peak memory of `masthead import`, MiB"
ROWS: tuple[Row, ...] = (
    Measured(IMPORT, 2),
    Measured(PLAIN, 2),
    Measured(DOT_IMPORT, 2),
    Measured(AGAIN, 2),
    Measured(EXPORT, 2),
    Ratio("import / plain", IMPORT, PLAIN, {"postgresql": Aim(at_most=3)}),
    Ratio("import / `.import`", IMPORT, DOT_IMPORT, {"sqlite": Aim(at_most=3)}),
    Ratio("again / plain", AGAIN, PLAIN),
    Measured(PEAK),
)


def run(command: str, database: str, files: Path) -> Finished:
    """Run ``masthead import`` or ``masthead export``; it is one process."""
    given = ("--account", str(ACCOUNT_ID), "--database", database)
    return finished(command, str(files), *given)


def counts(database: str) -> list[int]:
    """Return how many rows each table has."""
    with find_store(database).writer() as found:
        rows = (found.row(f"SELECT count(*) FROM {table.name}") or () for table in TABLES)
        return [int(count) for (count,) in rows]


def one_round(home: Place, files: Path) -> tuple[dict[str, float], list[int]]:
    """Return the figures of a round on a store, and how many rows each table has in the end."""
    with fresh(home, "imported") as imported, TemporaryDirectory() as exported:
        add_account(imported)
        first = run("import", imported, files)
        again = run("import", imported, files)
        if "nothing changed" not in again.printed:
            raise SystemExit(f"loading the same files again changed something:\n{again.printed}")
        figures = {
            IMPORT: first.seconds,
            AGAIN: again.seconds,
            EXPORT: run("export", imported, Path(exported) / "files").seconds,
            PEAK: max(first.peak_mib, again.peak_mib),
        }
        loaded = counts(imported)
    ways = {PLAIN: plain}
    if SHELL and not is_postgresql(imported):
        ways[DOT_IMPORT] = dot_import
    for title, way in ways.items():
        with fresh(home, "plain") as database:
            add_account(database)
            figures[title] = way(database, files)
            if counts(database) != loaded:
                raise SystemExit(f"{title} does not load the same rows")
    return figures, loaded


def measure(scale: Scale) -> Found:
    """Return the figures of each store, one for each round."""
    found: dict[str, Figures] = {store: {} for store in scale.stores}
    loaded: list[int] = []
    about: dict[str, str] = {}
    with TemporaryDirectory() as name, ExitStack() as stack:
        files = Path(name) / "files"
        make_files(files, scale.subscribers)
        size = sum(file.stat().st_size for file in files.iterdir())
        homes = {store: stack.enter_context(place(store)) for store in scale.stores}
        for _ in range(scale.rounds):
            for store, home in homes.items():
                figures, loaded = one_round(home, files)
                for title, figure in figures.items():
                    found[store].setdefault(title, []).append(figure)
        for home in homes.values():
            about |= databases.described(home)
    about["loaded"] = f"{sum(loaded):,} rows in {len(loaded)} files, {size / 1e6:,.0f} MB together"
    if SHELL is None:
        about["left out"] = "`.import`: there is no `sqlite3` (a package of Debian, by this name)"
    return Found([table(HEAD, ROWS, found)], data(found, ROWS), about)
