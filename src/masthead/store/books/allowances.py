"""An allowance: money of an order's item is given back, and the item's issues are kept.

It comes out of unearned revenue; the rest is spread over the remaining issues
(circulation, "Money"). The function runs in an operation (``store.books.operation``).
"""

from typing import NamedTuple

from masthead.circulation.amounts import decimal
from masthead.circulation.refunding import Held, net_of, paid_gross, parts, tax_share
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.books.operation import Operation
from masthead.store.books.paying import Term, add_revenue, done_of, terms_of_order
from masthead.store.books.refunding import find_item, held_of


class Allowed(NamedTuple):
    """What an allowance did, in cents: gross, its tax, and what is unearned from now on.

    ``issues`` are those over which the unearned rest is spread; -1 if a term is unlimited.
    """

    order_id: int
    order_item_id: int
    cents: int
    tax: int
    unearned: int
    issues: int
    subscriptions: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """What was given back, and what continues."""
        if self.issues < 0:
            over = "an unlimited term goes on"
        else:
            over = counted(self.issues, "issue is kept", "issues are kept")
        return (
            f"item {self.order_item_id} of order {self.order_id}: allowance {decimal(self.cents)}, "
            f"of which tax {decimal(self.tax)}; {over}, with {decimal(self.unearned)} unearned"
        )


def allow(books: Operation, order_id: int, item_id: int | None, cents: int) -> Allowed:
    """Give back money of an item of an order, as ``books.payments.allow`` says."""
    found = find_item(books, order_id, item_id)
    item_id = found.order_item_id
    if found.paid_on is None:
        raise BadInput(f"order {order_id} is not paid: there is no money to give back")
    terms = [term for term in terms_of_order(books, order_id) if term.order_item_id == item_id]
    held = [held_of(books, term) for term in terms]
    item = found.item(sum(term.price for term in terms if term.paid_on is not None))
    unearned = sum(each.unearned for each in held)
    refunded = sum(each.refunded for each in held)
    most = min(unearned + tax_share(item, unearned, refunded), paid_gross(item)) if terms else 0
    if not 0 < cents <= most:
        raise BadInput(
            f"an allowance for item {item_id} is more than 0 and at most {decimal(most)}, which is "
            "unearned of it with its tax; a refund gives back more, and ends the issues"
        )
    net = min(net_of(item, cents, held), unearned)
    shares = parts(net, [each.unearned for each in held])
    add_revenue(
        books,
        [
            (term.term_id, "refunded", share, books.today)
            for term, share in zip(terms, shares, strict=True)
        ],
    )
    spread = [each for each in zip(terms, held, shares, strict=True) if each[2]]
    for each in spread:
        _spread_rest(books, *each)
    books.connection.change(
        """
        UPDATE order_items SET refunded = refunded + :cents
        WHERE account_id = :account_id AND order_item_id = :item_id
        """,
        cents=cents,
        account_id=books.account_id,
        item_id=item_id,
    )
    left = [term.issues_left for term, _, _ in spread]
    return Allowed(
        order_id,
        item_id,
        cents,
        cents - net,
        unearned - net,
        -1 if any(each < 0 for each in left) else sum(left),
        tuple(sorted({term.subscription_id for term, _, _ in spread})),
    )


def _spread_rest(books: Operation, term: Term, held: Held, cents: int) -> None:
    """Spread the rest of a term's money evenly over its remaining issues or months."""
    books.connection.change(
        """
        UPDATE terms SET allowed = allowed + :cents, spread_after = :done,
            spread_earned = :earned, spread_parts = NULL
        WHERE account_id = :account_id AND term_id = :term_id
        """,
        cents=cents,
        done=done_of(books, term),
        earned=held.earned,
        account_id=books.account_id,
        term_id=term.term_id,
    )
