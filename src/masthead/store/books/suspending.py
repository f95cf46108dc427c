"""Suspending a subscription: the issues dated in its span are skipped and kept.

The functions run in an operation (``store.books.operation``) and say what they did.
"""

from masthead.circulation.spans import Ending, Span, day_after, ended, overlapped
from masthead.errors import BadInput
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation
from masthead.store.books.subscription import Held, changeable, end_span, spans, the_one

__all__ = ["resume", "suspend"]

_SUSPENSIONS = "suspensions"


def suspend(
    books: Operation, subscription_id: int, first: str | None = None, last: str | None = None
) -> Span:
    """Suspend from ``first`` to ``last`` (days, both included); return the suspension.

    ``first``: None is today, or the day after the newest closed issue's date if that is later.
    ``last``: None is until it is resumed. Raises NotFound if there is no such subscription,
    BadInput if it was cancelled, the days are in the wrong order, the first one is not later than
    the newest closed issue's date, or another suspension has one of the days.
    """
    found = changeable(books, subscription_id)
    first = first or _earliest(found, books.today)
    if last is not None and last < first:
        raise BadInput(f"the suspension would end on {last}, before it begins on {first}")
    if found.newest_closed is not None and first <= found.newest_closed:
        raise BadInput(
            f"the issue of {found.newest_closed} is closed: a suspension begins after it, on "
            f"{day_after(found.newest_closed)} or later"
        )
    present = spans(books.connection, books.account_id, _SUSPENSIONS, subscription_id)
    if other := overlapped(present, first, last):
        raise BadInput(
            f"subscription {subscription_id} is suspended from {other.first} "
            f"{f'to {other.last}' if other.last else 'on'} already: end that first",
            code="suspended",
            subscription=subscription_id,
        )
    span_id = next_ids(books.connection, books.account_id, _SUSPENSIONS)
    books.connection.change(
        """
        INSERT INTO suspensions (account_id, suspension_id, subscription_id, from_date, to_date)
        VALUES (:account_id, :suspension_id, :subscription_id, :first, :last)
        """,
        account_id=books.account_id,
        suspension_id=span_id,
        subscription_id=subscription_id,
        first=first,
        last=last,
    )
    the_one(books, subscription_id)
    books.say(
        f"subscription {subscription_id} is suspended from {first} "
        f"{f'to {last}' if last else 'until it is resumed'}"
    )
    return Span(span_id, first, last)


def _earliest(found: Held, today: str) -> str:
    if found.newest_closed is None or found.newest_closed < today:
        return today
    return day_after(found.newest_closed)


def resume(books: Operation, subscription_id: int, resumed: str | None = None) -> Ending:
    """End the suspension that lasts today, or else the next one; return how it ends.

    ``resumed`` is the first day on which it is served again; None is today. A suspension that has
    not begun by then is removed. Raises NotFound if there is no such subscription, BadInput if it
    was cancelled or has no such suspension.
    """
    changeable(books, subscription_id)
    present = spans(books.connection, books.account_id, _SUSPENSIONS, subscription_id)
    ending = ended(present, books.today, resumed or books.today)
    if ending is None:
        raise BadInput(
            f"subscription {subscription_id} has no suspension that lasts until "
            f"{resumed or 'today'}",
            code="nothing_to_end",
            subscription=subscription_id,
        )
    end_span(books, _SUSPENSIONS, ending.span.span_id, ending.last)
    the_one(books, subscription_id)
    if ending.last is None:
        books.say(
            f"subscription {subscription_id}: the suspension from {ending.span.first} was removed"
        )
    else:
        books.say(
            f"subscription {subscription_id}: the suspension from {ending.span.first} ends on "
            f"{ending.last}"
        )
    return ending
