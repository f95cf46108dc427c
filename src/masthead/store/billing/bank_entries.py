"""The files of banks that were read, their entries, and the invoices that entries can be for.

The functions run in an operation (``store.books.operation``). Look-ups are for many entries at
once. All amounts are whole cents.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.billing.matching import Claim
from masthead.contract.printable import full_name
from masthead.errors import NotFound
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed
from masthead.store.database import Row

TRANSFER = "transfer"
"""How an entry was paid if its file does not say it."""

KEPT_OF_IBAN = 4
"""How many of the last characters of a payer's IBAN are kept."""

_CLAIM = """
    i.invoice_id, i.number_text, i.payment_reference, i.subscriber_id, i.open_cents,
    s.first_name, s.last_name,
    (SELECT a.company FROM orders AS o JOIN addresses AS a
        ON a.account_id = :account_id AND a.address_id = o.billing_address_id
        WHERE o.account_id = :account_id AND o.order_id = i.order_id)
    """
_FROM = """
    FROM invoices AS i JOIN subscribers AS s
        ON s.account_id = :account_id AND s.subscriber_id = i.subscriber_id
    """


_OF_NOBODY = """
    subscriber_id = NULL, invoice_id = NULL, name = NULL, iban = NULL, reference = NULL,
    end_to_end_id = NULL
    """


class BankEntry(NamedTuple):
    """An entry as it is stored; ``subscriber_id`` and ``invoice_id`` can be a proposal."""

    bank_entry_id: int
    bank_file_id: int
    fingerprint: str
    value_date: str
    cents: int
    fee: int
    status: str
    subscriber_id: int | None
    invoice_id: int | None
    payment_id: int | None
    name: str | None
    iban: str | None
    reference: str | None
    end_to_end_id: str | None
    return_reason: str | None
    reason: str | None


def known_fingerprints(books: Operation, fingerprints: Sequence[str]) -> set[str]:
    """Return which of the fingerprints are those of stored entries."""
    marks, values = _bound(fingerprints)
    return set(
        books.direct.column_as(
            str,
            f"""
            SELECT fingerprint FROM bank_entries
            WHERE account_id = :account_id AND fingerprint IN ({marks})
            """,
            account_id=books.account_id,
            **values,
        )
    )


def is_settled(books: Reading, end_to_end_id: str) -> bool:
    """Return whether an entry with an end-to-end id settled something before."""
    return bool(
        books.row(
            """
            SELECT 1 FROM bank_entries
            WHERE account_id = :account_id AND end_to_end_id = :end_to_end_id
                AND status = 'settled' LIMIT 1
            """,
            end_to_end_id=end_to_end_id,
        )
    )


def claims_named(
    books: Operation, numbers: Sequence[str], references: Sequence[str]
) -> list[Claim]:
    """Return the invoices with one of the numbers or payment references, without credit notes."""
    found: dict[int, Claim] = {}
    for column, values_of in (("number_text", numbers), ("payment_reference", references)):
        if not values_of:
            continue
        marks, values = _bound(values_of)
        rows = books.connection.rows(
            f"""
            SELECT {_CLAIM} {_FROM}
            WHERE i.account_id = :account_id AND i.kind <> 'credit_note'
                AND i.{column} IN ({marks})
            """,
            account_id=books.account_id,
            **values,
        )
        found |= {row[0]: _claim(row) for row in rows}
    return [found[key] for key in sorted(found)]


def claims_of_amounts(books: Operation, amounts: Iterable[int]) -> list[Claim]:
    """Return the open invoices of which one of the amounts is open, by id."""
    rows = books.connection.rows(
        f"""
        SELECT {_CLAIM} {_FROM}
        WHERE i.account_id = :account_id AND i.open_cents > 0
            AND i.open_cents IN ({listed(amounts)})
        ORDER BY i.invoice_id
        """,
        account_id=books.account_id,
    )
    return [_claim(row) for row in rows]


def _claim(row: Row) -> Claim:
    person = full_name({"first_name": row[5], "last_name": row[6]})
    names = tuple(name for name in (person, row[7]) if name)
    return Claim(row[0], row[1], row[2], row[3], row[4], names)


def _bound(texts: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return the marks of texts for ``IN (…)``, and their values."""
    values = {f"v{number}": text for number, text in enumerate(texts)}
    return ", ".join(f":{name}" for name in values) or "NULL", values


def payments_of_invoices(books: Operation, invoices: Iterable[int]) -> Mapping[int, int]:
    """Return the latest payment of each invoice that has one, by the ids of the invoices."""
    rows = books.connection.rows_as(
        tuple[int, int],
        f"""
        SELECT invoice_id, max(payment_id) FROM allocations
        WHERE account_id = :account_id AND invoice_id IN ({listed(invoices)})
            AND payment_id IS NOT NULL
        GROUP BY invoice_id
        """,
        account_id=books.account_id,
    )
    return dict(rows)


def add_file(books: Operation, name: str, digest: str, iban: str, payment_type: str) -> int:
    """Queue a file; return its id."""
    key = books.new_id("bank_files")
    books.add(
        "bank_files",
        bank_file_id=key,
        name=name,
        digest=digest,
        iban=iban or None,
        payment_type=payment_type,
        imported_at=books.now,
    )
    return key


def add_entry(books: Operation, entry: BankEntry) -> None:
    """Queue an entry."""
    books.add("bank_entries", **entry._asdict())


def find_entry(books: Reading, entry_id: int) -> BankEntry:
    """Return an entry. Raises NotFound if there is none."""
    found = books.row_as(
        BankEntry,
        f"""
        SELECT {", ".join(BankEntry._fields)} FROM bank_entries
        WHERE account_id = :account_id AND bank_entry_id = :entry_id
        """,
        entry_id=entry_id,
    )
    if found is None:
        raise NotFound(f"there is no entry {entry_id} of a bank's file", code="unknown_bank_entry")
    return found


def payment_type_of(books: Reading, bank_file_id: int) -> str:
    """Return how the entries of a file were paid: as the file says, or else by transfer."""
    found = books.value_as(
        str,
        """
        SELECT payment_type FROM bank_files
        WHERE account_id = :account_id AND bank_file_id = :bank_file_id
        """,
        bank_file_id=bank_file_id,
    )
    return found or TRANSFER


def entries_to_decide(books: Reading, *, after: int, limit: int) -> list[BankEntry]:
    """Return the entries that are proposed or unknown after an id, by id."""
    return books.rows_as(
        BankEntry,
        f"""
        SELECT {", ".join(BankEntry._fields)} FROM bank_entries
        WHERE account_id = :account_id AND status IN ('proposed', 'unknown')
            AND bank_entry_id > :after
        ORDER BY bank_entry_id LIMIT :most
        """,
        after=after,
        most=limit,
    )


def take_entry(
    books: Operation, entry_id: int, subscriber_id: int, invoice_id: int | None, payment_id: int
) -> None:
    """Mark an entry as taken by a person, with the payment that it became."""
    books.change(
        """
        UPDATE bank_entries SET status = 'taken', subscriber_id = :subscriber_id,
            invoice_id = :invoice_id, payment_id = :payment_id
        WHERE account_id = :account_id AND bank_entry_id = :entry_id
        """,
        entry_id=entry_id,
        subscriber_id=subscriber_id,
        invoice_id=invoice_id,
        payment_id=payment_id,
    )


def take_entry_of_payers(books: Operation, entry_id: int, payment_id: int) -> None:
    """Mark an entry as taken for several payers; what names the other side goes.

    ``payment_id`` is the first of its payments.
    """
    books.change(
        f"""
        UPDATE bank_entries SET status = 'taken', payment_id = :payment_id, {_OF_NOBODY}
        WHERE account_id = :account_id AND bank_entry_id = :entry_id
        """,
        entry_id=entry_id,
        payment_id=payment_id,
    )


def ignore_entry(books: Operation, entry_id: int, reason: str | None) -> None:
    """Mark an entry as none of a payer; what names the other side goes."""
    books.change(
        f"""
        UPDATE bank_entries SET status = 'ignored', reason = :reason, {_OF_NOBODY}
        WHERE account_id = :account_id AND bank_entry_id = :entry_id
        """,
        entry_id=entry_id,
        reason=reason,
    )
