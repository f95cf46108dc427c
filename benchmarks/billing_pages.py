"""The invoices of a publisher: how long making them takes, the console's pages, and the journal.

Each payer has two invoices, and every tenth payer has paid the first one. A page is asked for
another payer each time, without other load. The pages of the console may take 50 ms.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import httpx2

from benchmarks.billing_bank import import_statement, make_orders
from benchmarks.console import served, sign_in
from benchmarks.databases import STORES, home_of, new_database, settle
from benchmarks.processes import finished
from benchmarks.publisher import ACCOUNT_ID
from benchmarks.report import Budget, Scale, shown, table
from masthead.store import open_store
from masthead.store.operators import add_operator

INVOICES_OF_EACH, PAID_OF_TEN = 2, 10
PAGE_MS = Budget(at_most=50)
_PAGES = {
    "money, with the open items": "/money",
    "an invoice": "/invoices/{key}",
    "the account of a payer": "/subscribers/{key}/account",
    "bank": "/bank",
    "month end": "/month-end",
}
_COMMANDS = {
    "`masthead journal check`, s": ("journal", "check"),
    "`masthead journal export`, s": ("journal", "export", "--from=2000-01-01"),
    "`masthead invoice list --open`, s": ("invoice", "list", "--open"),
    "`masthead payer statement`, s": ("payer", "statement", "1"),
}
_NAME, _PASSWORD = "benchmark", "a long secret"


@contextmanager
def _billed(store: str, payers: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield a database with the invoices, and how long they took."""
    with (
        home_of(store) as home,
        TemporaryDirectory() as folder,
        new_database(home, "pages") as url,
    ):
        begun = perf_counter()
        make_orders(url, Path(folder), payers, orders_of_each=INVOICES_OF_EACH)
        took = perf_counter() - begun
        invoices = payers * INVOICES_OF_EACH
        paid = max(payers // PAID_OF_TEN, 1)
        done = import_statement(url, Path(folder), paid)
        settle(url)
        yield (
            url,
            {
                f"orders and their {invoices:,} invoices, s": took,
                "for each of them, ms": took / invoices * 1_000,
                f"a bank file that pays {paid:,}, s": done.seconds,
            },
        )


def _pages(url: str, scale: Scale) -> Iterator[tuple[str, list[float]]]:
    """Yield the times of each page in milliseconds."""
    opened = open_store(url)
    add_operator(opened, ACCOUNT_ID, _NAME, "manager", _PASSWORD)
    opened.close()
    with served(url) as console, httpx2.Client(base_url=console, timeout=120) as client:
        sign_in(client, _NAME, _PASSWORD)
        for title, path in _PAGES.items():
            times = []
            for number in range(scale.rounds + 1):
                asked = path.format(key=1 + number * (scale.subscribers // (scale.rounds + 2)))
                begun = perf_counter()
                response = client.get(asked)
                times.append(1_000 * (perf_counter() - begun))
                if response.status_code != httpx2.codes.OK:
                    raise SystemExit(f"{asked}: {response.status_code}")
            yield f"{title}, ms", times[1:]


def _commands(url: str) -> Iterator[tuple[str, float]]:
    """Yield the seconds of each command."""
    with TemporaryDirectory() as folder:
        for title, command in _COMMANDS.items():
            more = (
                ("--until=2100-01-01", f"--to={folder}/journal.csv") if "export" in command else ()
            )
            done = finished(*command, *more, f"--account={ACCOUNT_ID}", "--database", url)
            yield title, done.seconds


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        with _billed(store, scale.subscribers) as (url, made):
            found = [[title, shown([seconds], 2)] for title, seconds in made.items()]
            found += [[title, shown(times, 1, PAGE_MS)] for title, times in _pages(url, scale)]
            found += [[title, shown([seconds], 2)] for title, seconds in _commands(url)]
        yield table(["", STORES[store]], found)
