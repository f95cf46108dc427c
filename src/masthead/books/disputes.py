"""Orders and payments that the reader or the bank disputes (decisions, "Disputed orders")."""

from typing import NamedTuple

from masthead.books import refunds
from masthead.books.account import Books
from masthead.books.credit_notes import credit_orders, revenue_mark
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import single_spaced
from masthead.errors import BadInput, NotFound
from masthead.store.books import disputes
from masthead.store.books.disputes import InDispute
from masthead.store.books.earlier_orders import check_bookable
from masthead.store.books.names import order_named
from masthead.store.books.operation import Operation

__all__ = ["TEXT_MAX", "Disputed", "InDispute", "Settled", "dispute", "in_dispute", "settle"]

TEXT_MAX = 500
"""The most characters of what a dispute is about."""


class Disputed(NamedTuple):
    """An order that is disputed since a day."""

    order_id: int
    day: str

    @property
    def sentence(self) -> str:
        """What was noted."""
        return f"order {self.order_id} is disputed since {self.day}"


def dispute(
    books: Books, order_id: int, text: str, day: str | None = None, *, dry_run: bool = False
) -> Disputed:
    """Note that an order or its payment is disputed since a day, by default today.

    ``text`` is what the reader or the bank says. Until the dispute is settled, no renewal letter
    goes to the subscriptions of the order; their issues go on. Raises NotFound if there is no such
    order, BadInput if it is history or in dispute. Raises BadInput, with the ``field``, for a text
    that is empty or longer than :data:`TEXT_MAX`, a day to come, and a day before the order.
    """
    text = single_spaced(text)
    if not 0 < len(text) <= TEXT_MAX:
        raise BadInput(
            f"what the dispute is about has 1 to {TEXT_MAX} characters, not {len(text)}",
            field="dispute",
        )
    with books.change(dry_run=dry_run) as change:
        found = _found(change, order_id)
        check_bookable(change, order_id)
        day = day or change.today
        if found.is_open:
            raise BadInput(
                f"{order_named(change, order_id)} is disputed since {found.disputed_on} already: "
                "settle that first"
            )
        if day > change.today:
            raise BadInput(f"{day} is still to come", field="disputed_on")
        ordered = (found.ordered or "")[: len(day)]
        if day < ordered:
            raise BadInput(
                f"the order is of {ordered}: it was not disputed before, on {day}",
                field="disputed_on",
            )
        disputes.begin(change, order_id, text, day)
        done = Disputed(order_id, day)
        change.say(done.sentence)
    return done


class Settled(NamedTuple):
    """A dispute that was settled; ``refunded`` is cents with tax."""

    order_id: int
    is_upheld: bool
    was_paid: bool
    currency: str
    refunded: int = 0

    @property
    def sentence(self) -> str:
        """How the dispute ended."""
        said = f"the dispute of order {self.order_id} is settled"
        if not self.is_upheld:
            return f"{said}: it was rejected, and all is as before"
        if not self.was_paid:
            return f"{said}: it was upheld, and the unpaid order ends"
        refunded = in_currency(self.refunded, self.currency)
        return f"{said}: it was upheld, {refunded} is refunded, and the order ends"


def settle(books: Books, order_id: int, *, is_upheld: bool, dry_run: bool = False) -> Settled:
    """Settle the dispute of an order.

    If it is upheld, all that was paid for the order is refunded with its shipping, and its issues
    end, as ``refunds.refund`` does; an unpaid order ends. If it is rejected, all is as before the
    dispute. Raises NotFound if there is no such order, BadInput if it is not in dispute.
    """
    with books.change(dry_run=dry_run) as change:
        found = _found(change, order_id)
        if not found.is_open:
            raise BadInput(
                f"{order_named(change, order_id)} is not disputed: there is nothing to settle"
            )
        disputes.end(change, order_id, "upheld" if is_upheld else "rejected")
        done = Settled(order_id, is_upheld, found.paid_on is not None, change.currency)
        if is_upheld:
            mark = revenue_mark(change)
            given = refunds.refund_everything(change, order_id)
            notes = credit_orders(change, mark, [order_id], with_shipping=True)
            cents = sum(each.cents for each in given)
            if done.was_paid:
                done = done._replace(refunded=sum(note.total for note in notes) or cents)
        change.say(done.sentence)
    return done


def in_dispute(books: Books) -> list[InDispute]:
    """Return the orders whose dispute is not settled, the oldest dispute first."""
    with books.read() as reading:
        return disputes.in_dispute(reading)


def _found(change: Operation, order_id: int) -> disputes.State:
    found = disputes.state_of(change, order_id)
    if found is None:
        raise NotFound(f"account {change.account_id} has no order {order_id}", code="unknown_order")
    return found
