"""A debit run of an invoice for each reader, its file, what was collected, and returns.

Each reader has a mandate and an order with its invoice. One claim of fifty comes back after it was
collected. 200,000 invoices must work in flat memory (billing, "What must hold").
"""

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.billing_bank import make_orders
from benchmarks.databases import STORES, Home, home_of, new_database, rows, settle
from benchmarks.processes import Finished, finished
from benchmarks.publisher import masthead
from benchmarks.report import Budget, Figures, Scale, add, shown, table
from masthead.books import Books, mandates
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.bank_files.debits import Status, report

RUN, FILE = "`masthead debit run`, s", "`masthead debit file`, s"
COLLECTED, EACH = "`masthead debit collected`, s", "for each claim, ms"
RETURNS, EACH_RETURN = "`masthead debit returns`, s", "for each return, ms"
PEAK = "peak memory, MiB"
PEAK_MIB = Budget(at_most=256)

_IBAN = "DE02120300000000202051"
_RETURNED = 50
"""One claim of so many comes back."""


def _sign(database: str) -> None:
    """Add a mandate for each reader, in one transaction."""
    readers = [row[0] for row in rows(database, "SELECT subscriber_id FROM subscribers")]
    given = mandates.Given(_IBAN)
    with closing(open_store(database)) as store:
        books = Books(store, 1, Actor("ada", "mandate add"))
        with books.together() as together:
            together.say_for_all("mandates of all readers")
            for reader in readers:
                mandates.add(together, reader, given)


def _returns(database: str, folder: Path) -> Path:
    """Write a report of the bank that gives claims back."""
    file = folder / "returns.xml"
    ((message_id,),) = rows(database, "SELECT message_id FROM debit_runs")
    names = rows(
        database,
        f"SELECT end_to_end_id FROM claims WHERE claim_id % {_RETURNED} = 0 ORDER BY claim_id",
    )
    claims = [Status(name, "AM04", fee="3.00") for (name,) in names]
    file.write_text(report(message_id, claims=claims), encoding="utf-8")
    return file


def _one_round(home: Home, count: int) -> dict[str, float]:
    with TemporaryDirectory() as folder, new_database(home, "debit") as database:
        where = Path(folder)
        make_orders(database, where, count)
        masthead(
            *("billing", "settings", "creditor_id=DE98ZZZ09999999999", "--account=1"),
            database=database,
        )
        _sign(database)
        settle(database)
        today = datetime.now(UTC).date()

        def do(*command: str) -> Finished:
            return finished("debit", *command, "--account=1", "--database", database)

        run = do("run", f"--on={today + timedelta(days=14)}")
        file = do("file", "1", str(where / "debits.xml"))
        collected = do("collected", "1", f"--on={today}")
        returns = do("returns", str(_returns(database, where)))
        found = re.search(r"(\d+) claims of", returns.printed)
        if f"{count} payments" not in collected.printed or not found:
            raise SystemExit(f"not all was collected:\n{collected.printed}\n{returns.printed}")
        return {
            RUN: run.seconds,
            FILE: file.seconds,
            COLLECTED: collected.seconds,
            EACH: collected.seconds / count * 1000,
            RETURNS: returns.seconds,
            EACH_RETURN: returns.seconds / int(found[1]) * 1000,
            PEAK: max(each.peak_mib for each in (run, file, collected, returns)),
        }


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    budgets = {PEAK: PEAK_MIB}
    for store in scale.stores:
        found: Figures = {}
        with home_of(store) as home:
            for _ in range(scale.rounds):
                add(found, _one_round(home, scale.subscribers))
        yield table(
            ["", STORES[store]],
            [[title, shown(each, 2, budgets.get(title))] for title, each in found.items()],
        )
