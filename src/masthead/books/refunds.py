"""Refunds and allowances of orders (circulation, "Money").

``masthead.circulation.refunding`` says what a refund takes from where. The money itself moves
elsewhere. All amounts are whole cents.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from masthead.books import term_payments
from masthead.books.account import Books
from masthead.books.credit_notes import credit_orders, revenue_mark
from masthead.circulation.amounts import in_currency
from masthead.circulation.booking_day import taken_back
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
from masthead.store.books.names import order_named
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_details import show_order
from masthead.store.books.order_money import BookedItem, BookedOrder, Booking, Term


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
    credit_note: str | None = None

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
        return said + _noted(self.credit_note)


class Refundable(NamedTuple):
    """An item of an order and its cents with tax: what can be given back, and what is unearned.

    ``most`` can be refunded, and ``unearned`` can be given back as an allowance.
    """

    order_item_id: int
    name: str
    most: int
    unearned: int


def refundable(books: Books, order_id: int) -> list[Refundable]:
    """Return the items of an order with what can be given back of them, by id.

    Raises NotFound if there is no such order.
    """
    with books.read() as reading:
        order = order_money.find_order(reading, order_id)
        shown = show_order(reading.connection, books.account_id, order_id)
        names = {each.order_item_id: each.name or "" for each in shown.items}
        held = [_held(reading, order, item) for item in order.items]
        return [
            Refundable(
                item.order_item_id, names[item.order_item_id], each.most, each.most_of_allowance
            )
            for item, each in zip(order.items, held, strict=True)
        ]


class _Held(NamedTuple):
    """The terms of an item and their money; ``item`` has the item's own."""

    terms: list[Term]
    money: list[TermMoney]
    item: Item
    is_paid: bool

    @property
    def most(self) -> int:
        """The most cents, tax included, that can be refunded."""
        return paid_gross(self.item) if self.is_paid else 0

    @property
    def unearned(self) -> int:
        return sum(each.unearned for each in self.money)

    @property
    def most_of_allowance(self) -> int:
        """The most cents, tax included, that an allowance can give back."""
        if not self.terms or not self.is_paid:
            return 0
        refunded = sum(each.refunded for each in self.money)
        tax = tax_share(self.item, self.unearned, refunded)
        return min(self.unearned + tax, paid_gross(self.item))


def _held(reading: Reading, order: BookedOrder, found: BookedItem) -> _Held:
    terms = order_money.terms_of(reading, [found.order_item_id])
    is_paid = order.paid_on is not None and (bool(terms) or not found.is_dropped)
    paid_net = _paid_net(terms) if terms else found.net * is_paid
    item = Item(found.net, found.tax if is_paid else 0, paid_net, found.refunded)
    return _Held(terms, order_money.money_of(reading, terms), item, is_paid)


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
        order = term_payments.bookable(change, order_id)
        mark = revenue_mark(change)
        found = _item_of(order, item_id)
        held = _held(change, order, found)
        over = _over(found, held.terms)
        if cents is None:
            cents = amount_by_default(held.item, held.money) if held.terms else held.most
            if not cents and over:
                raise BadInput(
                    f"the item {over}, and nothing of it is unearned: say how "
                    f"much to give back of the {in_currency(held.most, change.currency)} that are "
                    "left of what was paid",
                    code="needs_amount",
                )
        if cents > held.most:
            why = ""
            if order.paid_on is None:
                why = ", since the order is not paid"
            elif not held.is_paid:
                why = ", since it ended unpaid"
            raise BadInput(
                f"{in_currency(cents, change.currency)} is more than can be refunded of the "
                f"item: at most {in_currency(held.most, change.currency)}{why}"
            )
        if not cents and over:
            raise BadInput(f"the item {over}: nothing was changed")
        done = _refund_item(change, order, found, held, cents)
        (note,) = credit_orders(change, mark, [order_id]) or (None,)
        done = done._replace(credit_note=note and note.number_text)
        change.say(done.sentence)
    return done


def refund_everything(change: Operation, order_id: int) -> list[Refunded]:
    """Give back all that was paid for an order, and end its issues.

    Items that have ended and of which nothing is left to give back stay as they are. The caller
    says what happened.
    """
    order = order_money.find_order(change, order_id)
    done = []
    for found in order.items:
        held = _held(change, order, found)
        if held.most or not _over(found, held.terms):
            done.append(_refund_item(change, order, found, held, held.most))
    return done


def end_unpaid(change: Operation, order_id: int) -> bool:
    """End the running terms of an order that is not paid; return whether it has only terms.

    Its products stay as they are, since they were sent. The caller makes the credit note, and says
    what happened.
    """
    order = order_money.find_order(change, order_id)
    assert order.paid_on is None
    held = [(found, _held(change, order, found)) for found in order.items]
    for found, each in held:
        if each.terms and not _over(found, each.terms):
            _refund_item(change, order, found, each, 0)
    return all(each.terms for _, each in held)


def _refund_item(
    change: Operation, order: BookedOrder, found: BookedItem, held: _Held, cents: int
) -> Refunded:
    item_id, terms, money, item = found.order_item_id, *held[:3]
    net = net_of(item, cents, money or [TermMoney(item.paid_net, 0, _net_of_product(item))])
    if terms:
        _book_refund(change, net, terms, money)
    order_money.end_item(
        change, order.order_id, item_id, is_dropped=not terms and not order.paid_on
    )
    order_money.add_refunded(change, item_id, cents)
    for each in term_payments.subscriptions_of(terms):
        had_issues = any(term.issues_left for term in terms if term.subscription_id == each)
        if had_issues or (held.is_paid and cents == held.most):
            order_money.leave_campaign(change, each)
    done = Refunded(
        order.order_id,
        item_id,
        cents,
        cents - net,
        max(net - held.unearned, 0),
        max(held.unearned - net, 0),
        _issues_of(term for term in terms if term.ended_at is None),
        term_payments.subscriptions_of(terms),
        change.currency,
    )
    change.touch(done.subscriptions)
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
    credit_note: str | None = None

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
            f"{in_currency(self.unearned, self.currency)} unearned{_noted(self.credit_note)}"
        )


def _noted(credit_note: str | None) -> str:
    return f"; credit note {credit_note}" if credit_note else ""


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
        mark = revenue_mark(change)
        done = allow_item(change, order_id, item_id, cents)
        (note,) = credit_orders(change, mark, [order_id]) or (None,)
        done = done._replace(credit_note=note and note.number_text)
        change.touch(done.subscriptions)
        change.say(done.sentence)
    return done


def allow_item(change: Operation, order_id: int, item_id: int | None, cents: int) -> Allowed:
    """Give back ``cents`` of an item within a running operation, as :func:`allow` does.

    The caller makes the credit note, touches the subscriptions and writes the audit entry.
    """
    order = term_payments.bookable(change, order_id)
    found = _item_of(order, item_id)
    item_id = found.order_item_id
    if order.paid_on is None:
        raise BadInput(
            f"{order_named(change, order_id)} is not paid: there is no money to give back"
        )
    held = _held(change, order, found)
    terms, money, item, unearned, most = *held[:3], held.unearned, held.most_of_allowance
    if not 0 < cents <= most:
        raise BadInput(
            "an allowance for the item is more than 0 and at most "
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
    return Allowed(
        order_id,
        item_id,
        cents,
        cents - net,
        unearned - net,
        _issues_of(allowed),
        term_payments.subscriptions_of(allowed),
        change.currency,
    )


def _item_of(order: BookedOrder, item_id: int | None) -> BookedItem:
    """Return an item of an order; if ``item_id`` is None, its only item."""
    items = {item.order_item_id: item for item in order.items}
    if item_id is None:
        if len(items) != 1:
            raise BadInput(
                f"the order has {counted(len(items), 'item')}: choose one of them",
                code="several_items",
                items=", ".join(map(str, items)),
            )
        (item_id,) = items
    if item_id not in items:
        raise NotFound(
            "the order has no such item",
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
