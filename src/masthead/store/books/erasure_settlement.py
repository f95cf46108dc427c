"""Erasing a reader for whom the books still have issues or money.

What is left is given back or earned first, as whoever erases says; nobody can do it afterwards,
since nobody can tell any more whose it was (decisions, "Readers who are erased or deleted").
"""

from typing import Literal, NamedTuple

from masthead.circulation.amounts import decimal, stored_cents
from masthead.errors import BadInput
from masthead.store import audit, erasing
from masthead.store.books.cancelling import end_now, note_cancelling
from masthead.store.books.operation import Operation, mode_of, operation
from masthead.store.books.subscription import the_one
from masthead.store.books.uncancelling import withdraw
from masthead.store.database import Connection, Store

__all__ = ["Erased", "Left", "Money", "erase", "left_of"]

Money = Literal["refund", "earn"]
"""What becomes of what is unearned: it is given back with its tax, or earned today."""


class Left(NamedTuple):
    """A subscription that goes on: issues left (-1 unlimited), and what is unearned, in cents."""

    subscription_id: int
    publication: str | None
    issues: int
    unearned: int

    @property
    def said(self) -> str:
        """A line about it for a person."""
        issues = "unlimited" if self.issues < 0 else f"{self.issues} issues left"
        named = f" of {self.publication}" if self.publication else ""
        return (
            f"subscription {self.subscription_id}{named}: {issues}, {decimal(self.unearned)} "
            "unearned"
        )


class Erased(NamedTuple):
    """What erasing did: the blanked rows by table, the subscriptions that ended, and cents.

    ``refunded`` is with tax; the money itself has to be sent.
    """

    blanked: dict[str, int]
    ended: list[Left]
    refunded: int
    earned: int


def left_of(connection: Connection, account_id: int, subscriber_id: int) -> list[Left]:
    """Return the subscriptions of a reader that have issues or money left, by their ids."""
    rows = connection.rows(
        """
        SELECT s.subscription_id, p.name, coalesce(s.issues, 0), coalesce(s.unearned_revenue, '0')
        FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = s.account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
            AND s.cancelled_on IS NULL
        ORDER BY s.subscription_id
        """,
        account_id=account_id,
        subscriber_id=subscriber_id,
    )
    found = [Left(key, name, issues, stored_cents(text)) for key, name, issues, text in rows]
    return [each for each in found if each.issues or each.unearned]


def erase(
    store: Store,
    account_id: int,
    subscriber_id: int,
    money: Money | None = None,
    *,
    leave_traces: bool = False,
    by: audit.Actor | None = None,
) -> Erased:
    """Blank a subscriber's personal data in one commit; see ``store.erasing.erase``.

    In an account that keeps its books, the subscriptions that have issues or money left are
    cancelled in the same operation. Raises BadInput, which lists them, if ``money`` is None then;
    and what ``store.erasing.erase`` does.
    """
    with store.reader() as connection:
        connection.set_tenant(account_id)
        is_here = mode_of(connection, account_id) == "here"
    if not is_here:
        blanked = erasing.erase(store, account_id, subscriber_id, leave_traces=leave_traces, by=by)
        return Erased(blanked, [], 0, 0)
    with operation(store, account_id, by) as books:
        left = left_of(books.connection, account_id, subscriber_id)
        if left and money is None:
            lines = [f"subscriber {subscriber_id} has issues or money left:"]
            lines += [each.said for each in left]
            lines.append(
                "nothing was changed: give back what is unearned with its tax, or keep it; both "
                "end these subscriptions"
            )
            raise BadInput("\n".join(lines), code="not_settled")
        erasing.forget_logins(store, books.connection, account_id, subscriber_id)
        done = [_end(books, each.subscription_id, refund=money == "refund") for each in left]
        blanked = erasing.blank_one(books.connection, account_id, subscriber_id, books.commit_id)
        refunded = sum(net + tax for net, tax, _ in done)
        earned = sum(cents for _, _, cents in done)
        said = erasing.summary_of(subscriber_id, blanked)
        if left:
            said += (
                f"; subscriptions {', '.join(str(each.subscription_id) for each in left)} were "
                f"cancelled: {decimal(refunded)} was refunded, {decimal(earned)} earned"
            )
        books.say(said)
    if not leave_traces:
        store.vacuum_after_erase()
    return Erased(blanked, left, refunded, earned)


def _end(books: Operation, subscription_id: int, *, refund: bool) -> tuple[int, int, int]:
    """Cancel a subscription today; return the cents that are refunded, their tax, and earned."""
    withdraw(books, subscription_id)
    note_cancelling(books, subscription_id, None, refund=refund, after_issue=None, at_end=False)
    done = end_now(books, subscription_id)
    the_one(books, subscription_id)
    return done
