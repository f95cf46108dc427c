"""Erasing a reader for whom the books still have issues or money.

The person who erases says whether the unearned money is refunded or earned. This happens first,
because afterwards the books no longer say whose money it was
(decisions, "Readers who are erased or deleted").
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from masthead.books.account import Books
from masthead.books.cancelling import cancel
from masthead.circulation.amounts import in_currency
from masthead.errors import BadInput
from masthead.store import erasing
from masthead.store.books.erasure_settlement import Left, left_of
from masthead.store.books.operation import mode_of

__all__ = ["Erased", "Left", "Money", "erase", "left"]

Money = Literal["refund", "earn"]
"""What happens to unearned revenue: it is refunded with its tax, or earned today."""


class Erased(NamedTuple):
    """What erasing did: the blanked rows by table, the subscriptions that ended, and cents.

    ``refunded`` includes tax. ``credited`` is what became credit of payers, and ``by_hand`` what
    somebody has to send. ``merged`` are the ids of the records that were merged into the reader's,
    and erased with it.
    """

    subscriber_id: int
    blanked: dict[str, int]
    ended: list[Left]
    currency: str = ""
    refunded: int = 0
    earned: int = 0
    credited: int = 0
    by_hand: int = 0
    merged: Sequence[int] = ()

    @property
    def sentence(self) -> str:
        """What was blanked, what ended, and what happened to the money."""
        said = erasing.summary_of(self.subscriber_id, self.merged, self.blanked)
        if not self.ended:
            return said
        were = "subscriptions were" if len(self.ended) > 1 else "subscription was"
        keys = ", ".join(str(each.subscription_id) for each in self.ended)
        said += f"; {were} cancelled: {keys}"
        if all(each.is_free for each in self.ended):
            return said
        return (
            f"{said}; {in_currency(self.refunded, self.currency)} was refunded, "
            f"{in_currency(self.earned, self.currency)} earned"
        )


def left(books: Books, subscriber_id: int) -> list[Left]:
    """Return the subscriptions of a reader that have issues or money left, sorted by id.

    The list is empty if the account gets its data from files.
    """
    with books.read() as reading:
        if mode_of(reading.connection, books.account_id) == "elsewhere":
            return []
        return left_of(reading.connection, books.account_id, subscriber_id)


def erase(
    books: Books, subscriber_id: int, money: Money | None = None, *, leave_traces: bool = False
) -> Erased:
    """Blank a subscriber's personal data in one commit, in both modes of an account.

    The same operation cancels subscriptions that have issues or money left. Unless ``leave_traces``
    is set, it then rewrites the file of an embedded database, so that the file has no trace of the
    data. Subscriptions that go only by a qualification are cancelled too; they have no money
    to refund or keep. Raises NotFound if there is no such account or subscriber. Raises BadInput,
    which lists what is left, if something is left and ``money`` is None.
    """
    with books.read() as reading:
        is_here = mode_of(reading.connection, books.account_id) == "here"
    if not is_here:
        blanked = erasing.erase(
            books.store,
            books.account_id,
            subscriber_id,
            leave_traces=leave_traces,
            by=books.actor,
        )
        return Erased(subscriber_id, blanked, [])
    with books.together() as inside:
        ending = left(inside, subscriber_id)
        if ending and money is None:
            lines = ["the reader has issues or money left:"]
            lines += [each.said for each in ending]
            lines.append(
                "nothing was changed: give back what is unearned with its tax, or keep it; both "
                "end these subscriptions"
            )
            raise BadInput("\n".join(lines), code="not_settled")
        with inside.change() as change:
            erasing.forget_logins(books.store, change.connection, books.account_id, subscriber_id)
        with inside.read() as reading:
            ending = left_of(reading.connection, books.account_id, subscriber_id, with_free=True)
        done = [cancel(inside, each.subscription_id, refund=money == "refund") for each in ending]
        with inside.change() as change:
            merged = erasing.merged_into(change.connection, books.account_id, subscriber_id)
            blanked = erasing.blank_one(
                change.connection, books.account_id, subscriber_id, change.commit_id
            )
        erased = Erased(
            subscriber_id,
            blanked,
            ending,
            change.currency,
            sum(each.refunded + each.tax for each in done),
            sum(each.earned for each in done),
            sum(each.credited for each in done),
            sum(each.by_hand for each in done),
            merged,
        )
        inside.say_for_all(erased.sentence)
    if not leave_traces:
        books.store.vacuum_after_erase()
    return erased
