"""Payments, refunds and allowances of orders (circulation, "Money").

Masthead books them on the cash basis, net of tax; the money itself moves elsewhere.
``masthead.circulation.refunding`` says what a refund takes from where. All amounts are whole cents.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.amounts import in_currency
from masthead.circulation.booking_day import taken_back
from masthead.circulation.earned_share import earned
from masthead.circulation.refunding import (
    Item,
    TermMoney,
    amount_by_default,
    net_of,
    paid_gross,
    parts,
    taken,
    tax_share,
)
from masthead.contract.printable import counted
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput, NotFound
from masthead.store.books import order_money
from masthead.store.books.earlier_orders import check_bookable
from masthead.store.books.operation import Operation
from masthead.store.books.order_money import BookedItem, BookedOrder, Booking, Term


class Paid(NamedTuple):
    """What a payment brought: net cents received, and how many of them are earned at once."""

    order_id: int
    cents: int
    earned: int
    subscriptions: tuple[int, ...]
    currency: str

    @property
    def sentence(self) -> str:
        """What the operation booked."""
        return (
            f"order {self.order_id} was paid: received {in_currency(self.cents, self.currency)} "
            f"without tax, earned {in_currency(self.earned, self.currency)} of it at once"
        )


def pay(
    books: Books, order_id: int, payment_type: str | None = None, *, dry_run: bool = False
) -> Paid:
    """Book that an order was paid today, in full.

    What was delivered on credit is earned at once. Raises NotFound if there is no such order,
    BadInput if it is history, is already paid, or has nothing left to pay for.
    """
    with books.change(dry_run=dry_run) as change:
        order = _bookable(change, order_id)
        if order.paid_on is not None:
            raise BadInput(
                f"order {order_id} was paid on {order.paid_on} already: nothing was changed"
            )
        due = due_terms(change, order)
        if due is None:
            raise BadInput(
                f"order {order_id} has nothing left to pay for: what it brought was refunded or "
                "cancelled"
            )
        paid = book_payment(change, order_id, due, payment_type)
        change.touch(paid.subscriptions)
        change.say(paid.sentence)
    return paid


def due_terms(change: Operation, order: BookedOrder) -> list[Term] | None:
    """Return the terms that a payment of an order pays for.

    None if all items of the order that cost something have ended unpaid.
    """
    terms = order_money.terms_of(change, [item.order_item_id for item in order.items])
    due = [term for term in terms if term.is_due]
    with_terms = {term.order_item_id for term in terms}
    has_product = any(
        not item.refund_date and item.order_item_id not in with_terms for item in order.items
    )
    has_ended = not due and not has_product and any(term.price > 0 for term in terms)
    return None if has_ended else due


def book_payment(
    change: Operation, order_id: int, due: Sequence[Term], payment_type: str | None
) -> Paid:
    """Book that an order was paid today, which pays for the terms in ``due``."""
    earned_now = receive(change, due)
    order_money.mark_paid(change, order_id, due, payment_type)
    received = sum(term.price for term in due)
    return Paid(order_id, received, earned_now, _subscriptions(due), change.currency)


def receive(change: Operation, due: Iterable[Term]) -> int:
    """Book terms as paid today, and what their deliveries have earned; return the latter."""
    bookings = [
        booking
        for term in due
        for booking in (
            Booking(term.term_id, "received", term.price, change.today),
            Booking(term.term_id, "earned", _earned(change, term), change.today),
        )
    ]
    order_money.add_revenue(change, bookings)
    return sum(each.cents for each in bookings if each.kind == "earned")


def _earned(change: Operation, term: Term) -> int:
    """Return what a term that is paid today has earned, by its deliveries."""
    whole = term.months if term.issues == UNLIMITED else term.issues
    return earned(term.price, whole, order_money.done_of(change, term), term.spread) if whole else 0


class Refunded(NamedTuple):
    """What a refund did, in cents: gross, its tax, and how much of it was already earned.

    ``kept`` was unearned and is earned now. ``issues`` are those that are no longer delivered; -1
    if a term was unlimited.
    """

    order_id: int
    order_item_id: int
    cents: int
    tax: int
    taken_back: int
    kept: int
    issues: int
    subscriptions: tuple[int, ...]
    currency: str

    @property
    def sentence(self) -> str:
        """What was given back, what ends, and what happens to the rest."""
        said = (
            f"item {self.order_item_id} of order {self.order_id}: refund "
            f"{in_currency(self.cents, self.currency)}, of which tax "
            f"{in_currency(self.tax, self.currency)}; "
        )
        if self.issues < 0:
            said += "an unlimited term ends"
        else:
            said += counted(self.issues, "issue ends", "issues end")
        if self.taken_back:
            said += f"; {in_currency(self.taken_back, self.currency)} that was earned is taken back"
        if self.kept:
            said += f"; {in_currency(self.kept, self.currency)} is kept and earned"
        return said


def refund(
    books: Books,
    order_id: int,
    item_id: int | None = None,
    cents: int | None = None,
    *,
    dry_run: bool = False,
) -> Refunded:
    """Refund ``cents``, tax included, for an item of an order. Its remaining issues end.

    By default, ``cents`` is what is unearned and its tax; 0 gives nothing back. ``item_id`` is None
    for the only item of the order. Raises NotFound if there is no such order or item. Raises
    BadInput for more than was paid, if there is nothing to refund, or if the order has several
    items and ``item_id`` is None.
    """
    with books.change(dry_run=dry_run) as change:
        order = _bookable(change, order_id)
        found = _item_of(order, item_id)
        item_id = found.order_item_id
        terms = order_money.terms_of(change, [item_id])
        money = order_money.money_of(change, terms)
        is_paid = order.paid_on is not None and (bool(terms) or not found.is_dropped)
        paid_net = _paid_net(terms) if terms else found.net * is_paid
        item = Item(found.net, found.tax if is_paid else 0, paid_net, found.refunded)
        most = paid_gross(item) if is_paid else 0
        over = _over(found, terms)
        if cents is None:
            cents = amount_by_default(item, money) if terms else most
            if not cents and over:
                raise BadInput(
                    f"item {item_id} {over}, and nothing of it is unearned: say how much to give "
                    f"back of the {in_currency(most, change.currency)} that are left of what was "
                    "paid",
                    code="needs_amount",
                )
        if cents > most:
            why = ""
            if order.paid_on is None:
                why = ", since the order is not paid"
            elif not is_paid:
                why = ", since it ended unpaid"
            raise BadInput(
                f"{in_currency(cents, change.currency)} is more than can be refunded of item "
                f"{item_id}: at most {in_currency(most, change.currency)}{why}"
            )
        if not cents and over:
            raise BadInput(f"item {item_id} {over}: nothing was changed")
        net = net_of(item, cents, money or [TermMoney(paid_net, 0, _net_of_product(item))])
        if terms:
            _book_refund(change, net, terms, money)
        order_money.end_item(change, order_id, item_id, is_dropped=not terms and not order.paid_on)
        order_money.add_refunded(change, item_id, cents)
        for each in _subscriptions(terms):
            had_issues = any(term.issues_left for term in terms if term.subscription_id == each)
            if had_issues or (is_paid and cents == most):
                order_money.leave_campaign(change, each)
        unearned = sum(each.unearned for each in money)
        done = Refunded(
            order_id,
            item_id,
            cents,
            cents - net,
            max(net - unearned, 0),
            max(unearned - net, 0),
            _issues_of(term for term in terms if term.ended_at is None),
            _subscriptions(terms),
            change.currency,
        )
        change.touch(done.subscriptions)
        change.say(done.sentence)
    return done


def _book_refund(
    change: Operation, net: int, terms: Sequence[Term], money: Sequence[TermMoney]
) -> None:
    """Book that ``net`` is given back for terms that end, and the rest of them is earned."""
    bookings = list[Booking]()
    for term, each in zip(terms, taken(net, money), strict=True):
        bookings.append(Booking(term.term_id, "refunded", each.refunded, change.today))
        bookings.append(Booking(term.term_id, "earned", max(each.earned, 0), change.today))
        ahead = order_money.earned_ahead(change, term)
        back = taken_back(max(-each.earned, 0), ahead, change.today)
        bookings += [Booking(term.term_id, "earned", -part, day) for day, part in back]
    order_money.add_revenue(change, bookings)


def _net_of_product(item: Item) -> int:
    """Return the net that was refunded of a product before."""
    return net_of(item._replace(refunded=0), item.refunded, [TermMoney(item.paid_net, 0, 0)])


def _over(found: BookedItem, terms: Sequence[Term]) -> str:
    """Return why a refund of 0 would end nothing of an item.

    The result is empty if there are issues to end, or money that is still due.
    """
    running = [term for term in terms if term.ended_at is None]
    if not running:
        return "was refunded or cancelled before" if terms or found.refund_date else ""
    has_something_left = any(
        term.issues_left or (term.price and term.paid_on is None) for term in running
    )
    return "" if has_something_left else "has no issues left"


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
    currency: str

    @property
    def sentence(self) -> str:
        """What was given back, and what continues."""
        if self.issues < 0:
            over = "an unlimited term goes on"
        else:
            over = counted(self.issues, "issue is kept", "issues are kept")
        return (
            f"item {self.order_item_id} of order {self.order_id}: allowance "
            f"{in_currency(self.cents, self.currency)}, of which tax "
            f"{in_currency(self.tax, self.currency)}; {over}, with "
            f"{in_currency(self.unearned, self.currency)} unearned"
        )


def allow(
    books: Books, order_id: int, item_id: int | None, cents: int, *, dry_run: bool = False
) -> Allowed:
    """Give back ``cents``, tax included, for an item of an order, and keep its issues.

    ``item_id`` is None for the only item of the order. The rest of the unearned revenue is spread
    over the remaining issues; several terms share the allowance in proportion to their unearned
    revenue. Raises NotFound if there is no such order or item. Raises BadInput if the item is not
    paid, for 0, for more than is unearned, or if the order has several items and ``item_id`` is
    None.
    """
    with books.change(dry_run=dry_run) as change:
        order = _bookable(change, order_id)
        found = _item_of(order, item_id)
        item_id = found.order_item_id
        if order.paid_on is None:
            raise BadInput(f"order {order_id} is not paid: there is no money to give back")
        terms = order_money.terms_of(change, [item_id])
        money = order_money.money_of(change, terms)
        item = Item(found.net, found.tax, _paid_net(terms), found.refunded)
        unearned = sum(each.unearned for each in money)
        refunded = sum(each.refunded for each in money)
        most = min(unearned + tax_share(item, unearned, refunded), paid_gross(item)) if terms else 0
        if not 0 < cents <= most:
            raise BadInput(
                f"an allowance for item {item_id} is more than 0 and at most "
                f"{in_currency(most, change.currency)}, its unearned revenue with tax; a "
                "refund gives back more, and ends the issues"
            )
        net = min(net_of(item, cents, money), unearned)
        shares = parts(net, [each.unearned for each in money])
        spread = [each for each in zip(terms, money, shares, strict=True) if each[2]]
        order_money.add_revenue(
            change,
            [Booking(term.term_id, "refunded", cut, change.today) for term, _, cut in spread],
        )
        for each in spread:
            order_money.spread_rest(change, *each)
        order_money.add_refunded(change, item_id, cents)
        allowed = [term for term, _, _ in spread]
        done = Allowed(
            order_id,
            item_id,
            cents,
            cents - net,
            unearned - net,
            _issues_of(allowed),
            _subscriptions(allowed),
            change.currency,
        )
        change.touch(done.subscriptions)
        change.say(done.sentence)
    return done


def _bookable(change: Operation, order_id: int) -> BookedOrder:
    """Return an order that is not history. Raises NotFound if there is none, BadInput if it is."""
    order = order_money.find_order(change, order_id)
    check_bookable(change, order_id)
    return order


def _item_of(order: BookedOrder, item_id: int | None) -> BookedItem:
    """Return an item of an order; if ``item_id`` is None, its only item."""
    items = {item.order_item_id: item for item in order.items}
    if item_id is None:
        if len(items) != 1:
            raise BadInput(
                f"order {order.order_id} has the items {', '.join(map(str, items)) or '(none)'}: "
                "choose one of them",
                code="several_items",
            )
        (item_id,) = items
    if item_id not in items:
        raise NotFound(
            f"order {order.order_id} has no item {item_id}",
            code="unknown_item",
            order=order.order_id,
        )
    return items[item_id]


def _paid_net(terms: Iterable[Term]) -> int:
    return sum(term.price for term in terms if term.paid_on is not None)


def _issues_of(terms: Iterable[Term]) -> int:
    """Return the issues that are left in terms together, -1 if one is unlimited."""
    left = [term.issues_left for term in terms]
    return UNLIMITED if UNLIMITED in left else sum(left)


def _subscriptions(terms: Iterable[Term]) -> tuple[int, ...]:
    return tuple(sorted({term.subscription_id for term in terms}))
