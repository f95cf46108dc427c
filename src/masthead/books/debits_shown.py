"""What people look at of direct debit: the latest runs, a run with its claims, a mandate."""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.errors import NotFound
from masthead.store.billing import mandates, shown_claims
from masthead.store.billing.mandates import Mandate
from masthead.store.billing.shown_claims import Collection, ShownClaim, ShownRun
from masthead.store.books.names import reader_named

__all__ = [
    "Collection",
    "Mandate",
    "RunWithClaims",
    "ShownClaim",
    "ShownRun",
    "collection_of",
    "latest_runs",
    "mandate",
    "run",
]


class RunWithClaims(NamedTuple):
    """A run, and its claims: first those that came back, then those with the bank."""

    run: ShownRun
    claims: Sequence[ShownClaim]


def latest_runs(books: Books, most: int) -> list[ShownRun]:
    """Return the newest debit runs, the newest first."""
    with books.read() as reading:
        return shown_claims.latest_runs(reading, most)


def run(books: Books, run_id: int, most: int) -> RunWithClaims:
    """Return a debit run and at most so many of its claims. Raises NotFound if there is none."""
    with books.read() as reading:
        found = shown_claims.run_shown(reading, run_id)
        if found is None:
            raise NotFound("there is no such debit run")
        return RunWithClaims(found, shown_claims.claims_shown(reading, run_id, most))


def mandate(books: Books, mandate_id: int) -> tuple[Mandate, str]:
    """Return a mandate and the name of its payer. Raises NotFound if there is none."""
    with books.read() as reading:
        found = mandates.find_mandate(reading, mandate_id)
        if found is None:
            raise NotFound("there is no such mandate")
        return found, reader_named(reading, found.subscriber_id)


def collection_of(books: Books, invoice_id: int) -> Collection | None:
    """Return the newest collection of an invoice, None if it was never handed in."""
    with books.read() as reading:
        return shown_claims.collection_of(reading, invoice_id)
