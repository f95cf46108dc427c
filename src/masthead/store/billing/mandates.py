"""The rows of mandates; the IBAN of one is sealed, and only the file of a run has it in clear.

The functions run in an operation (``store.books.operation``) or in a reading of one.
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.billing.mandates import Scheme, Status
from masthead.billing.settings import BillingSettings
from masthead.databases.queries import Query, rows_of
from masthead.errors import NotFound
from masthead.store.billing.sealed import seal_iban
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed


class Mandate(NamedTuple):
    """The permission to collect from an account of a payer; ``iban_end`` is its last four.

    ``account_holder``, ``iban_end`` and ``bic`` are None once the payer is erased. ``used_on`` is
    the day of the last collection that was handed in.
    """

    mandate_id: int
    subscriber_id: int
    reference: str
    scheme: Scheme
    account_holder: str | None
    iban_end: str | None
    bic: str | None
    signed_on: str
    status: Status
    status_since: str
    reason: str | None
    used_on: str | None


_COLUMNS = ", ".join(f"m.{name}" for name in Mandate._fields)


def add_mandate(books: Operation, mandate: Mandate, iban: str) -> None:
    """Write a mandate; its IBAN is sealed."""
    sealed = seal_iban(books.direct, books.account_id, mandate.mandate_id, iban)
    books.add("mandates", **mandate._asdict(), iban=sealed)
    books.write()


def mandate_referred(books: Reading, reference: str) -> Mandate:
    """Return a mandate by its reference. Raises NotFound if there is none."""
    found = books.row_as(
        Mandate,
        f"""
        SELECT {_COLUMNS} FROM mandates AS m
        WHERE m.account_id = :account_id AND m.reference = :reference
        """,
        reference=reference.strip(),
    )
    if found is None:
        raise NotFound(f"there is no mandate {reference}", code="unknown_mandate")
    return found


def find_mandate(books: Reading, mandate_id: int) -> Mandate | None:
    """Return a mandate by its id, None if there is none."""
    return books.row_as(
        Mandate,
        f"""
        SELECT {_COLUMNS} FROM mandates AS m
        WHERE m.account_id = :account_id AND m.mandate_id = :mandate_id
        """,
        mandate_id=mandate_id,
    )


def has_reference(books: Reading, reference: str) -> bool:
    """Return whether a mandate has a reference."""
    return bool(
        books.row(
            "SELECT 1 FROM mandates WHERE account_id = :account_id AND reference = :reference",
            reference=reference,
        )
    )


def mandates_of(books: Reading, subscriber_id: int) -> list[Mandate]:
    """Return the mandates of a payer, the oldest first. Queued rows stay queued."""
    return books.direct.rows_as(
        Mandate,
        f"""
        SELECT {_COLUMNS} FROM mandates AS m
        WHERE m.account_id = :account_id AND m.subscriber_id = :subscriber_id
        ORDER BY m.mandate_id
        """,
        account_id=books.account_id,
        subscriber_id=subscriber_id,
    )


def active_mandate_of(books: Reading, subscriber_id: int) -> Mandate | None:
    """Return the mandate by which a payer's invoices are collected: the newest active one."""
    active = [each for each in mandates_of(books, subscriber_id) if each.status == "active"]
    return active[-1] if active else None


def collecting_mandate(
    books: Reading, settings: BillingSettings, subscriber_id: int
) -> Mandate | None:
    """Return the mandate by which a payer's invoices are collected; None if they are not."""
    return active_mandate_of(books, subscriber_id) if collects(books, settings) else None


def collects(books: Reading, settings: BillingSettings) -> bool:
    """Return whether an account collects invoices by mandates.

    It collects only euros, and only once it has an IBAN and a creditor identifier.
    """
    return bool(settings.creditor_id and settings.seller_iban) and books.currency == "EUR"


def has_active(subscriber_id: int) -> Query[bool]:
    """Return the query of whether a payer has an active mandate, for a batch."""
    return rows_of(
        """
        SELECT 1 FROM mandates AS m WHERE m.account_id = :account_id
            AND m.subscriber_id = :subscriber_id AND m.status = 'active' LIMIT 1
        """,
        subscriber_id=subscriber_id,
    ).then(bool)


def list_mandates(
    books: Reading, *, status: Status | None, after: int, limit: int
) -> list[Mandate]:
    """Return the mandates after an id, by id: all, or those with a status."""
    condition = "" if status is None else "AND m.status = :status"
    values = {} if status is None else {"status": status}
    return books.rows_as(
        Mandate,
        f"""
        SELECT {_COLUMNS} FROM mandates AS m
        WHERE m.account_id = :account_id AND m.mandate_id > :after {condition}
        ORDER BY m.mandate_id LIMIT :most
        """,
        after=after,
        most=limit,
        **values,
    )


def change_status(
    books: Operation, mandates: Iterable[int], status: Status, reason: str | None
) -> None:
    """Give mandates a status from today on."""
    books.change(
        f"""
        UPDATE mandates SET status = :status, status_since = :today, reason = :reason
        WHERE account_id = :account_id AND mandate_id IN ({listed(mandates)})
        """,
        status=status,
        today=books.today,
        reason=reason,
    )


def references_of(books: Reading, mandates: Iterable[int]) -> dict[int, str]:
    """Return the references of mandates by their ids."""
    rows = books.rows_as(
        tuple[int, str],
        f"""
        SELECT m.mandate_id, m.reference FROM mandates AS m
        WHERE m.account_id = :account_id AND m.mandate_id IN ({listed(mandates)})
        """,
    )
    return dict(rows)
