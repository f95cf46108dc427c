"""An account that collects by direct debit, and what its bank answers."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from masthead.books import billing_settings, debit_returns, debit_runs, mandates
from masthead.books.mandates import Given
from tests.bank_files.camt_files import IBAN, Booked, Detail, document
from tests.bank_files.debits import Held, check_schema, held_by
from tests.billing import bureau as desks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from masthead.books.debit_returns import Imported
    from masthead.books.debit_runs import Made
    from tests.circulation.desk import Desk

PAYERS = {1: "NL91ABNA0417164300", 2: "DE02120300000000202051", 3: "AT611904300234573201"}
"""An account of each payer."""

DAY = "2026-04-29"
"""Two weeks after the orders are taken: they are due, and were announced."""

LATER = "2026-05-15"


SETTINGS = {"seller_iban": IBAN, "creditor_id": "DE98ZZZ09999999999"}


def fill(desk: Desk, **settings: str) -> None:
    """Write the account of ``tests.billing.bureau`` in euros, with a bank account."""
    desks.fill(desk, **SETTINGS, **settings)
    desks.use_currency(desk, "EUR")


def collect(desk: Desk) -> None:
    """Let the account of ``tests.billing.bureau`` collect by direct debit."""
    billing_settings.set_values(desk.books, SETTINGS)
    desks.use_currency(desk, "EUR")


def sign(desk: Desk, payer: int = 1, scheme: str = "core") -> str:
    """Add a mandate of a payer; return its reference."""
    given = Given(PAYERS[payer], scheme=scheme, signed_on="2026-04-01")
    return mandates.add(desk.books, payer, given).mandate.reference


def run(desk: Desk, day: str = DAY) -> Made:
    """Hand in what can be collected on a day."""
    return debit_runs.run(desk.books, day)


def file_of(desk: Desk, run_id: int = 1) -> bytes:
    """Return the file of a run."""
    with debit_runs.file_of(desk.books, run_id) as made:
        return "".join(made.pieces).encode()


def held(desk: Desk, run_id: int = 1) -> Held:
    """Return what the file of a run holds, which is valid."""
    text = file_of(desk, run_id)
    check_schema(text)
    return held_by(text)


def claims(desk: Desk, *names: str) -> Sequence[tuple[object, ...]]:
    """Return columns of the stored claims."""
    return [tuple(row[name] for name in names) for row in desk.table("claims")]


def came(amount: str, end_to_end_id: str) -> Booked:
    """Return an entry of a claim that was collected."""
    return Booked(
        amount, [Detail(texts=["thanks"], end_to_end_id=end_to_end_id)], bank_reference="c"
    )


def back(amount: str, end_to_end_id: str, reason: str = "AM04", fee: str = "") -> Booked:
    """Return an entry of a claim that came back; ``amount`` is what the bank took, with its fee."""
    own = f"-{float(amount) - float(fee or 0):.2f}"
    detail = Detail(own, texts=["back"], end_to_end_id=end_to_end_id, reason=reason, fee=fee)
    return Booked(f"-{amount}", [detail], bank_reference="r")


def batch(amount: str, batch_id: str) -> Booked:
    """Return the entry of a whole batch, without its claims."""
    return Booked(amount, [], batch_id=batch_id)


def written(folder: Path, *entries: Booked, day: str = DAY) -> Path:
    """Write a statement of the publisher's account."""
    path = folder / "statement.xml"
    dated = [each._replace(booked_on=day, value_date=day) for each in entries]
    path.write_text(document(dated, version=8), encoding="utf-8")
    return path


def read_report(desk: Desk, text: str) -> Imported:
    """Read a report of the bank, pain.002."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "report.xml")
        path.write_text(text, encoding="utf-8")
        return debit_returns.import_report(desk.books, path)
