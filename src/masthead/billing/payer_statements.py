"""A payer's statement: each movement with the balance after it (billing, "What must hold").

Amounts are whole cents. A balance above 0 is what the payer owes, one below 0 is the payer's
credit.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from masthead.circulation.amounts import in_currency
from masthead.circulation.tables import Chart, Column, Kind, Report, Row

MovementKind = Literal[
    "invoice", "receipt", "credit_note", "payment", "reversal", "paid_back", "write_off"
]
_WORDS = {"credit_note": "credit note", "paid_back": "paid back", "write_off": "write-off"}


class Movement(NamedTuple):
    """Something that changed what a payer owes by ``cents``: above 0, the payer owes more.

    ``day`` is the day of an invoice, the value date of a payment. ``number`` is that of an invoice,
    or the id of a payment. ``about`` is a reference, a reason, the invoice that it
    concerns, or ``reminder fee``.
    """

    day: str
    kind: MovementKind
    number: str
    about: str
    cents: int


class OpenItem(NamedTuple):
    """An invoice with what is missing until it is settled."""

    number: str
    issued_on: str
    due_on: str | None
    open_cents: int


class Statement(NamedTuple):
    """A payer's movements from ``first`` to ``last``, and how the account stands today.

    ``opening`` is the balance before ``first``. ``first`` and ``last`` are None without a limit.
    ``open_items`` and ``credit`` are those of today.
    """

    subscriber_id: int
    name: str
    first: str | None
    last: str | None
    opening: int
    movements: Sequence[Movement]
    open_items: Sequence[OpenItem]
    credit: int
    currency: str

    @property
    def closing(self) -> int:
        """The balance after the last movement."""
        return self.opening + sum(each.cents for each in self.movements)

    @property
    def balances(self) -> list[int]:
        """The balance after each movement."""
        found, balance = [], self.opening
        for each in self.movements:
            balance += each.cents
            found.append(balance)
        return found


def statement_of(
    movements: Iterable[Movement], first: str | None, last: str | None
) -> tuple[int, list[Movement]]:
    """Return the balance before ``first``, and the movements until ``last``."""
    known = [each for each in movements if last is None or each.day <= last]
    opening = sum(each.cents for each in known if first is not None and each.day < first)
    return opening, [each for each in known if first is None or each.day >= first]


def report(statement: Statement) -> Report:
    """Return the statement as a table, whose last column is the balance."""
    columns = (
        Column("date", Kind.DATE),
        Column("what", Kind.TEXT),
        Column("number", Kind.TEXT),
        Column("about", Kind.TEXT),
        Column("owed", Kind.MONEY),
        Column("paid", Kind.MONEY),
        Column("balance", Kind.MONEY),
    )
    rows: list[Row] = []
    if statement.first is not None:
        rows.append(
            (statement.first, "balance before", "", "", None, None, statement.opening),
        )
    rows += [
        (
            each.day,
            _WORDS.get(each.kind, each.kind),
            each.number,
            each.about,
            each.cents if each.cents > 0 else None,
            -each.cents if each.cents <= 0 else None,
            balance,
        )
        for each, balance in zip(statement.movements, statement.balances, strict=True)
    ]
    owed = sum(each.cents for each in statement.movements if each.cents > 0)
    paid = -sum(each.cents for each in statement.movements if each.cents < 0)
    total: Row = (statement.last or "", "in total", "", "", owed, paid, statement.closing)
    return Report(
        f"Statement of {statement.name} (subscriber {statement.subscriber_id})",
        columns,
        tuple(rows),
        (total,),
        Chart((), (), statement.currency, is_money=True),
        tuple(_summary(statement)),
        _notes(statement),
        statement.last or "",
        statement.currency,
    )


def _summary(statement: Statement) -> list[str]:
    balance = statement.closing
    if not balance:
        return ["Nothing is owed."]
    amount = in_currency(abs(balance), statement.currency)
    return [f"{amount} is owed." if balance > 0 else f"{amount} is the payer's credit."]


def _notes(statement: Statement) -> tuple[str, ...]:
    """Return what stands open today, one line for each invoice, and the credit of today."""
    notes = [
        f"open: {each.number} of {each.issued_on}, {in_currency(each.open_cents, currency)}"
        + (f", due {each.due_on}" if each.due_on else "")
        for currency in [statement.currency]
        for each in statement.open_items
    ]
    if statement.credit:
        notes.append(f"credit: {in_currency(statement.credit, statement.currency)}")
    return tuple(notes)
