"""What an item of an order is, as in the catalogue, and its price.

The functions run in an operation (``store.books.operation``).
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.billing.tax import TaxPart
from masthead.circulation.amounts import CENTS_MAX, decimal, spread
from masthead.circulation.ordering import COPIES_MAX, Item, RefusedOrder
from masthead.errors import BadInput
from masthead.store.books.catalogue import Line, lines_of
from masthead.store.books.operation import Reading
from masthead.store.books.own_classes import check_class
from masthead.store.database import Row


class PricedItem(NamedTuple):
    """An item with its net price and tax, and its lines with the prices of this order.

    They are those of all copies, and so are the copies of the lines. ``list_price`` is what one
    costs in the catalogue, in cents with tax, if the order has another price. A product has no
    lines. ``parts`` add up to the net price and the tax; only an account that bills has them
    (``store.billing.order_tax``). ``name`` is that of the bundle or product in the catalogue.
    """

    item: Item
    net: int
    tax: int
    list_price: int | None
    lines: Sequence[Line]
    parts: Sequence[TaxPart] = ()
    name: str | None = None


def price_item(books: Reading, number: int, item: Item) -> PricedItem:
    """Return what an item costs and gives. Raises RefusedOrder, such as for a retired bundle."""
    what = "bundle" if item.product_id is None else "product"
    wanted = item.bundle_id if item.product_id is None else item.product_id
    if wanted is None or (item.bundle_id is not None and item.product_id is not None):
        raise RefusedOrder("bundle_id", "an item is either a bundle or a product", number)
    row = _row(books, what, wanted)
    if row is None:
        raise RefusedOrder(
            f"{what}_id",
            f"account {books.account_id} has no {what} {wanted}",
            number,
            code="not_in_catalogue",
            thing=what,
        )
    active, price, tax, name = row
    if not active:
        raise RefusedOrder(
            f"{what}_id",
            f"{name or f'the {what}'} is retired: order one that is for sale",
            number,
            code="retired",
            thing=what,
            key=wanted,
        )
    net, tax, other = _prices(item, number, price, tax)
    if item.product_id is not None:
        of_bundles = (item.first_issue, item.subscription_id, item.of_class)
        if item.is_new or of_bundles != (None, None, None):
            field = "first_issue" if item.subscription_id is None else "subscription_id"
            raise RefusedOrder(field, "a product begins and extends no subscription", number)
        return PricedItem(item, net, tax, other, (), name=name)
    lines = _lines(books, wanted)
    if not lines:
        raise RefusedOrder(
            "bundle_id", f"{name or 'the bundle'} has no lines: it gives nothing", number
        )
    if max(line.copies for line in lines) * item.copies > COPIES_MAX:
        raise RefusedOrder("copies", f"a subscription has at most {COPIES_MAX} copies", number)
    prices = spread(net, [line.price for line in lines])
    return PricedItem(
        _with_class(books, number, item, prices),
        net,
        tax,
        other,
        [
            line._replace(price=part, copies=line.copies * item.copies)
            for line, part in zip(lines, prices, strict=True)
        ],
        name=name,
    )


def _prices(item: Item, number: int, price: int, tax: int) -> tuple[int, int, int | None]:
    """Return net and tax of all copies, and what one costs in the catalogue if that differs."""
    if not 1 <= item.copies <= COPIES_MAX:
        raise RefusedOrder("copies", f"copies is a number from 1 to {COPIES_MAX}", number)
    net = item.copies * (price if item.price is None else item.price)
    all_tax = item.copies * (tax if item.tax is None else item.tax)
    for name, cents in (("price", net), ("tax", all_tax)):
        if not 0 <= cents <= CENTS_MAX:
            raise RefusedOrder(name, f"{name} {decimal(cents)} is below 0 or too great", number)
    is_other = net + all_tax != item.copies * (price + tax)
    return net, all_tax, price + tax if is_other else None


def _with_class(books: Reading, number: int, item: Item, prices: Sequence[int]) -> Item:
    """Return the item with its class as stored; only an item that costs nothing has one."""
    if item.of_class is None:
        return item
    if all(prices):
        raise RefusedOrder(
            "class", "a class is for copies that cost nothing: those with a price are paid", number
        )
    try:
        return item._replace(of_class=check_class(books, item.of_class))
    except BadInput as error:
        raise RefusedOrder("class", str(error), number, code=error.code, **error.values) from error


def _row(books: Reading, what: str, wanted: int) -> Row | None:
    memory = books.memory(f"{what}s")
    if wanted not in memory:
        memory[wanted] = books.direct.row(
            f"""
            SELECT active, price, tax, name FROM {what}s
            WHERE account_id = :account_id AND {what}_id = :wanted
            """,
            account_id=books.account_id,
            wanted=wanted,
        )
    found: Row | None = memory[wanted]
    return found


def _lines(books: Reading, bundle_id: int) -> Sequence[Line]:
    memory = books.memory("bundle_lines")
    if bundle_id not in memory:
        memory[bundle_id] = lines_of(books.direct, books.account_id, bundle_id)
    found: Sequence[Line] = memory[bundle_id]
    return found
