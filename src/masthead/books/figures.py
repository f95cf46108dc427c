"""The figures of the console's first page, which are counted over a whole account.

Counting takes seconds for a million subscriptions (rules, "What the console counts").
"""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from masthead.books import complaints, issues
from masthead.books.account import Books
from masthead.store import loads
from masthead.store.billing.invoices import invoice_of_order
from masthead.store.books import disputes, figures, renewing
from masthead.store.books.disputes import InDispute
from masthead.store.books.figures import Changed, Unpaid, WithoutAddress
from masthead.store.books.operation import Reading
from masthead.store.books.order_details import show_order

__all__ = [
    "Changed",
    "Figures",
    "InDispute",
    "Unpaid",
    "WithoutAddress",
    "changed_of",
    "figures_of",
]

_SHOWN = 20
_COMPLAINT_DAYS = 60


class Figures(NamedTuple):
    """The figures; money is in cents.

    ``previews`` has what closing the next issue of each publication would give, by issue.
    ``without_address``, ``unpaid`` and ``disputed`` are the first ones of each; the fields
    ``…_in_all`` have their full numbers. ``due`` is what each of these unpaid orders has still to
    pay. ``complaints`` are about the issues of the last 60 days. ``failed_loads`` are the reasons
    why loads since the last good one failed.
    """

    previews: dict[int, issues.Preview]
    without_address: list[WithoutAddress]
    without_address_in_all: int
    unpaid: list[Unpaid]
    unpaid_in_all: int
    due: dict[int, int]
    disputed: list[InDispute]
    disputed_in_all: int
    complaints: list[complaints.Counted]
    failed_loads: list[str]
    letters: int
    liability: int
    new: int
    lost: int


def figures_of(books: Books) -> Figures:
    """Return the figures of the current day, from one snapshot.

    Raises MastheadError if Masthead does not keep the account's books.
    """
    failed = loads.failed_since_good(books.store, books.account_id)
    with books.scan() as reading:
        inside = Books(books.store, books.account_id, within=reading)
        previews = {key: issues.preview(inside, key) for key in _next_issues(inside)}
        without = figures.without_address(reading)
        unpaid = figures.unpaid(reading)
        disputed = disputes.in_dispute(reading)
        new, lost = figures.new_and_lost(reading)
        return Figures(
            previews,
            without[:_SHOWN],
            len(without),
            unpaid[:_SHOWN],
            len(unpaid),
            {each.order_id: _owed(reading, each.order_id) for each in unpaid[:_SHOWN]},
            disputed[:_SHOWN],
            len(disputed),
            complaints.count(inside, _days_before(reading.today)),
            failed,
            sum(each.letters for each in renewing.due(reading, reading.today)),
            figures.liability(reading),
            new,
            lost,
        )


def _owed(reading: Reading, order_id: int) -> int:
    """Return what is still to pay of an order."""
    invoice = invoice_of_order(reading, order_id)
    if invoice is not None:
        return invoice.open_cents
    return show_order(reading.connection, reading.account_id, order_id).due


def _days_before(today: str) -> str:
    return (date.fromisoformat(today) - timedelta(_COMPLAINT_DAYS)).isoformat()


def changed_of(books: Books, which: Literal["new", "lost"], limit: int) -> list[Changed]:
    """Return the subscriptions that are new or were lost this month, the newest first.

    At most ``limit``. Raises MastheadError if Masthead does not keep the account's books.
    """
    with books.scan() as reading:
        return figures.changed(reading, which, limit)


def _next_issues(books: Books) -> list[int]:
    """Return the issue of each publication that closes next: issues close by their dates."""
    found: dict[int, int] = {}
    for each in issues.all_of(books):
        if not each.closed_at and each.date:
            found.setdefault(each.publication_id, each.issue_id)
    return list(found.values())
