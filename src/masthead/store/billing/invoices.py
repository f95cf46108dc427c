"""The rows of invoices, receipts and credit notes, their lines, and their numbers.

The functions run in an operation (``store.books.operation``) or in a reading of one. All amounts
are whole cents.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from masthead.errors import NotFound
from masthead.store.books.ids import of_all
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed

Kind = Literal["invoice", "receipt", "credit_note"]

_NUMBERS = "numbers of invoices"
_OPEN, _PAYERS = "open_invoices", "payers_of_invoices"
"""Memories: the open invoices of payers, by id, and whose they are (:func:`keep_open`)."""


class Invoice(NamedTuple):
    """An invoice, a receipt or a credit note; ``open_cents`` is what is not settled yet.

    ``of_invoice_id`` is the invoice that a credit note takes back. A credit note is never open.
    """

    invoice_id: int
    kind: Kind
    series: str
    number: int
    number_text: str
    subscriber_id: int
    order_id: int | None
    of_invoice_id: int | None
    issued_on: str
    due_on: str | None
    net: int
    tax: int
    total: int
    open_cents: int
    payment_reference: str | None
    reason: str | None

    @property
    def name(self) -> str:
        """What the document is called in a sentence, such as ``invoice 2026-000123``."""
        return f"{self.kind.replace('_', ' ')} {self.number_text}"

    @property
    def is_fee(self) -> bool:
        """Whether it is the fee of a reminder: no order has it (billing, "Reminders")."""
        return self.order_id is None


class InvoiceLine(NamedTuple):
    """A line of an invoice; ``percent`` is hundredths of a percent.

    ``category`` is that of EN 16931: S (a rate), Z (zero), E (exempt), AE (reverse charge).
    """

    invoice_id: int
    line_number: int
    order_item_id: int | None
    goods: str
    description: str
    copies: int
    net: int
    tax: int
    percent: int
    category: str


_COLUMNS = ", ".join(f"i.{name}" for name in Invoice._fields)


_GREATEST = """
    SELECT coalesce(max(number), 0) FROM invoices
    WHERE account_id = :account_id AND series = :series
    """
_GREATEST_OF_ALL = of_all("greatest_number(l.account_id, :series)")
"""For a reader, whose connection does not see the invoices of others."""


def last_number(books: Operation, series: str) -> int:
    """Return the last number of a series, 0 if it has none."""
    return (
        books.direct.value_as(
            int,
            _GREATEST if books.direct.reader_id is None else _GREATEST_OF_ALL,
            account_id=books.account_id,
            series=series,
        )
        or 0
    )


def number_texts(books: Reading) -> list[str]:
    """Return the numbers of all invoices, receipts and credit notes, as they are printed."""
    return books.column_as(str, "SELECT number_text FROM invoices WHERE account_id = :account_id")


def next_number(books: Operation, series: str) -> int:
    """Return the next number of a series: one more than its last one.

    The account is locked, and the invoice is added in the same transaction. So numbers have no gaps
    and never return, under any number of writers.
    """
    memory = books.memory(_NUMBERS)
    if series not in memory:
        memory[series] = last_number(books, series)
    memory[series] += 1
    number: int = memory[series]
    return number


def add_invoice(books: Operation, invoice: Invoice, printed: str | None) -> None:
    """Queue an invoice; ``printed`` is what its document shows, as JSON."""
    books.add("invoices", **invoice._asdict(), printed=printed)
    books.memory(_OPEN).pop(invoice.subscriber_id, None)


def name_on_purchases(books: Operation, invoice: Invoice) -> None:
    """Write the number of an invoice into the purchases of its order, as the interface shows."""
    books.change(
        """
        UPDATE purchases SET invoice_id = :number, commit_id = :commit_id
        WHERE account_id = :account_id AND purchase_id IN (
            SELECT i.purchase_id FROM order_items AS i
            WHERE i.account_id = :account_id AND i.order_id = :order_id)
        """,
        number=invoice.number_text,
        commit_id=books.commit_id,
        order_id=invoice.order_id,
    )


def add_lines(books: Operation, lines: Iterable[InvoiceLine]) -> None:
    """Queue the lines of an invoice."""
    for line in lines:
        books.add("invoice_lines", **line._asdict())


def invoice_numbered(books: Reading, number: str) -> Invoice:
    """Return an invoice by its number, such as ``2026-000123``; letter case does not count.

    Raises NotFound if there is none.
    """
    found = books.row_as(
        Invoice,
        f"""
        SELECT {_COLUMNS} FROM invoices AS i
        WHERE i.account_id = :account_id AND i.number_text IN (:number, :upper)
        """,
        number=number.strip(),
        upper=number.strip().upper(),
    )
    if found is None:
        raise NotFound(f"there is no invoice or credit note {number}", code="unknown_invoice")
    return found


def invoices_by_id(books: Reading, ids: Iterable[int]) -> list[Invoice]:
    """Return invoices by their ids, in their order."""
    return books.rows_as(
        Invoice,
        f"""
        SELECT {_COLUMNS} FROM invoices AS i
        WHERE i.account_id = :account_id AND i.invoice_id IN ({listed(ids)})
        ORDER BY i.invoice_id
        """,
    )


def invoice_of_order(books: Reading, order_id: int) -> Invoice | None:
    """Return the invoice or receipt of an order, None if it has none."""
    return books.row_as(
        Invoice,
        f"""
        SELECT {_COLUMNS} FROM invoices AS i
        WHERE i.account_id = :account_id AND i.order_id = :order_id AND i.kind <> 'credit_note'
        """,
        order_id=order_id,
    )


def open_invoices(books: Reading, subscriber_id: int) -> list[Invoice]:
    """Return the open invoices of a payer, the oldest first, and fees of reminders last."""
    known = books.memory(_OPEN).get(subscriber_id)
    if known is not None:
        return [each for each in known.values() if each.open_cents > 0]
    return open_of_payers(books, [subscriber_id])[subscriber_id]


def open_of_payers(books: Reading, payers: Collection[int]) -> dict[int, list[Invoice]]:
    """Return the open invoices of each of the payers, as :func:`open_invoices` does of one."""
    found: dict[int, list[Invoice]] = {payer: [] for payer in payers}
    rows = books.rows_as(
        Invoice,
        f"""
        SELECT {_COLUMNS} FROM invoices AS i
        WHERE i.account_id = :account_id AND i.subscriber_id IN ({listed(payers)})
            AND i.open_cents > 0
        ORDER BY CASE WHEN i.order_id IS NULL THEN 1 ELSE 0 END, i.issued_on, i.invoice_id
        """,
    )
    for each in rows:
        found[each.subscriber_id].append(each)
    return found


def keep_open(books: Operation, found: Mapping[int, Iterable[Invoice]]) -> None:
    """Remember the open invoices of payers until the queued rows are written."""
    for payer, own in found.items():
        books.memory(_OPEN)[payer] = {each.invoice_id: each for each in own}
        books.memory(_PAYERS).update((each.invoice_id, payer) for each in own)


def has_looked_ahead(books: Operation, subscriber_id: int) -> bool:
    """Return whether the open invoices of a payer are remembered (:func:`keep_open`)."""
    return subscriber_id in books.memory(_OPEN)


def lines_of(books: Reading, invoice_id: int) -> list[InvoiceLine]:
    """Return the lines of an invoice, in their order."""
    return lines_of_invoices(books, [invoice_id])


def lines_of_invoices(books: Reading, invoices: Iterable[int]) -> list[InvoiceLine]:
    """Return the lines of invoices, by the invoice and in their order."""
    return books.rows_as(
        InvoiceLine,
        f"""
        SELECT {", ".join(InvoiceLine._fields)} FROM invoice_lines
        WHERE account_id = :account_id AND invoice_id IN ({listed(invoices)})
        ORDER BY invoice_id, line_number
        """,
    )


def credited_lines(books: Reading, invoice_id: int) -> list[InvoiceLine]:
    """Return the lines of all credit notes that take back parts of an invoice."""
    return [line for _, line in credited_lines_of_invoices(books, [invoice_id])]


def credited_lines_of_invoices(
    books: Reading, invoices: Iterable[int]
) -> list[tuple[int, InvoiceLine]]:
    """Return the lines of all credit notes that take back parts of invoices.

    Each has the id of the invoice that it takes back.
    """
    rows = books.rows(
        f"""
        SELECT i.of_invoice_id, {", ".join(f"l.{name}" for name in InvoiceLine._fields)}
        FROM invoices AS i JOIN invoice_lines AS l
            ON l.account_id = :account_id AND l.invoice_id = i.invoice_id
        WHERE i.account_id = :account_id AND i.of_invoice_id IN ({listed(invoices)})
        ORDER BY l.invoice_id, l.line_number
        """,
    )
    return [(row[0], InvoiceLine._make(row[1:])) for row in rows]


def change_open(books: Operation, invoice_id: int, open_cents: int) -> None:
    """Queue what is open of an invoice."""
    known = books.memory(_OPEN).get(books.memory(_PAYERS).get(invoice_id), {})
    if invoice_id in known:
        known[invoice_id] = known[invoice_id]._replace(open_cents=open_cents)
    else:
        books.memory(_OPEN).clear()
    books.change_later(
        """
        UPDATE invoices SET open_cents = :open_cents
        WHERE account_id = :account_id AND invoice_id = :invoice_id
        """,
        invoice_id=invoice_id,
        open_cents=open_cents,
    )


class Listed(NamedTuple):
    """An invoice in a list, with the names of its payer."""

    invoice: Invoice
    first_name: str | None
    last_name: str | None
    company: str | None


def list_invoices(
    books: Reading,
    *,
    subscriber_id: int | None = None,
    is_open: bool = False,
    due_by: str | None = None,
    after: int = 0,
    limit: int = 100,
) -> list[Listed]:
    """Return invoices after an id, by id: those of a payer, those that are open, those due."""
    conditions = ["i.account_id = :account_id", "i.invoice_id > :after"]
    values: dict[str, int | str] = {"after": after, "most": limit}
    if subscriber_id is not None:
        conditions.append("i.subscriber_id = :subscriber_id")
        values["subscriber_id"] = subscriber_id
    if is_open or due_by is not None:
        conditions.append("i.open_cents > 0")
    if due_by is not None:
        conditions.append("i.due_on <= :due_by")
        values["due_by"] = due_by
    rows: Sequence[tuple[object, ...]] = books.rows(
        f"""
        SELECT {_COLUMNS}, s.first_name, s.last_name,
            (SELECT a.company FROM orders AS o JOIN addresses AS a
                ON a.account_id = :account_id AND a.address_id = o.billing_address_id
                WHERE o.account_id = :account_id AND o.order_id = i.order_id)
        FROM invoices AS i JOIN subscribers AS s
            ON s.account_id = :account_id AND s.subscriber_id = i.subscriber_id
        WHERE {" AND ".join(conditions)}
        ORDER BY i.invoice_id LIMIT :most
        """,
        **values,
    )
    return [Listed(Invoice._make(row[:-3]), *map(_text, row[-3:])) for row in rows]


def _text(value: object) -> str | None:
    return None if value is None else str(value)
