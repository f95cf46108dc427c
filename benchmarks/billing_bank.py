"""Reading a bank's statement with an entry for each open invoice, and the same file again.

Each reader has an order with its invoice. The statement is camt.053, and each entry has the
reference of one invoice. 50,000 entries may take a minute (billing, "What must hold").
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.databases import STORES, Home, home_of, new_database, rows, settle
from benchmarks.processes import Finished, finished
from benchmarks.publisher import masthead
from benchmarks.report import Budget, Figures, Scale, add, shown, table
from tests.bank_files.camt_files import IBAN, Booked, Detail, document

FIRST, EACH = "`masthead payment import`, s", "for each entry, ms"
AGAIN, PEAK = "again, all known, s", "peak memory, MiB"
EACH_MS, PEAK_MIB = Budget(at_most=60_000 / 50_000), Budget(at_most=256)

_SETTINGS = (
    *("seller_name=Tide Press", "seller_street=Hauptstr. 1", "seller_city=Berlin"),
    *("seller_country=DE", "seller_vat_id=DE136695976", f"seller_iban={IBAN}"),
)
_SET_UP = (
    ("accounts", "add", "1", "--company-name=Tide Press", "--currency=EUR"),
    ("books", "open", "--account=1"),
    ("billing", "settings", *_SETTINGS, "--account=1"),
    ("billing", "begin", "--account=1"),
    ("catalogue", "publication", "add", "Tide", "--account=1"),
    *(
        (
            *("catalogue", "issue", "add", f"Tide {year}", "--publication=1"),
            *(f"--date={year}-01-01", "--account=1"),
        )
        for year in (2190, 2191)
    ),
    (
        *("catalogue", "bundle", "add", "Tide for a year", "--line=1:12:Print:100.00"),
        *("--tax=7.00", "--account=1"),
    ),
)


def make_orders(database: str, folder: Path, count: int, *, orders_of_each: int = 1) -> None:
    """Make an account that bills, with orders of ``count`` readers and their invoices."""
    file = folder / "orders.csv"
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(("external_reference", "bundle_id", "first_name", "last_name", "email"))
        for turn in range(orders_of_each):
            for n in range(count):
                writer.writerow((f"S-{n}-{turn}", 1, f"Ada{n}", f"Ames{n}", f"ada{n}@example.org"))
    for command in _SET_UP:
        masthead(*command, database=database)
    masthead("order", "import", str(file), "--account=1", database=database)
    settle(database)


def import_statement(database: str, folder: Path, count: int) -> Finished:
    """Read a statement that pays the first invoices; return how long that took."""
    file = _statement(database, folder, count)
    return finished("payment", "import", str(file), "--account=1", "--database", database)


def _statement(database: str, folder: Path, count: int) -> Path:
    """Write the statement of the first ``count`` invoices."""
    file = folder / "statement.xml"
    found = rows(
        database,
        "SELECT payment_reference, total, issued_on FROM invoices "
        f"ORDER BY invoice_id LIMIT {count:d}",
    )
    entries = (
        Booked(f"{total / 100:.2f}", [Detail(texts=[f"{reference} thanks"])], "BOOK", day, day)
        for reference, total, day in found
    )
    file.write_text(document(entries, version=8), encoding="utf-8")
    return file


def _one_round(home: Home, count: int) -> dict[str, float]:
    with TemporaryDirectory() as folder, new_database(home, "bank") as database:
        make_orders(database, Path(folder), count)
        file = _statement(database, Path(folder), count)
        command = ("payment", "import", str(file), "--account=1", "--database", database)
        first, again = finished(*command), finished(*command)
        if f"{count} settled" not in first.printed or f"{count} known" not in again.printed:
            raise SystemExit(f"not all is settled and known:\n{first.printed}\n{again.printed}")
        return {
            FIRST: first.seconds,
            EACH: first.seconds / count * 1000,
            AGAIN: again.seconds,
            PEAK: max(first.peak_mib, again.peak_mib),
        }


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    budgets = {EACH: EACH_MS, PEAK: PEAK_MIB}
    for store in scale.stores:
        found: Figures = {}
        with home_of(store) as home:
            for _ in range(scale.rounds):
                add(found, _one_round(home, scale.subscribers))
        yield table(
            ["", STORES[store]],
            [[title, shown(each, 2, budgets.get(title))] for title, each in found.items()],
        )
