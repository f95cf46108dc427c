"""The rows of orders and of their items and purchases, and the orders that exist already.

Every look-up uses an index, so an order takes as long in a large account as in a small one. The
functions run in an operation (``store.books.operation``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.billing.tax import TaxPart
from masthead.circulation.amounts import decimal, shortest
from masthead.circulation.ordering import Order
from masthead.store.books.item_pricing import PricedItem
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_people import Resolved
from masthead.store.database import Connection
from masthead.store.search_filters import ascii_lower, id_in

_REFERENCES = "orders by reference"


class EarlierOrder(NamedTuple):
    """An order that exists already.

    ``content_digest`` is None if the content was erased with the subscriber, or came from
    elsewhere.
    """

    order_id: int
    subscriber_id: int
    content_digest: str | None
    paid_on: str | None


def orders_by(books: Operation, references: Iterable[str]) -> Mapping[str, EarlierOrder | None]:
    """Return the order of each reference; references are in lower case."""
    memory = books.memory(_REFERENCES)
    new = [each for each in dict.fromkeys(references) if each not in memory]
    if new:
        memory |= dict.fromkeys(new)
        values = {f"v{number}": each for number, each in enumerate(new)}
        for reference, *row in books.direct.rows(
            f"""
            SELECT external_reference_lower, {", ".join(EarlierOrder._fields)} FROM orders
            WHERE account_id = :account_id
                AND external_reference_lower IN (:{", :".join(values)})
            """,
            account_id=books.account_id,
            **values,
        ):
            memory[reference] = EarlierOrder(*row)
    return memory


def order_since(books: Operation, order_id: int, content: str) -> EarlierOrder | None:
    """Return the first order with this digest of its content after an order, if there is one."""
    return books.row_as(
        EarlierOrder,
        f"""
        SELECT {", ".join(EarlierOrder._fields)} FROM orders
        WHERE account_id = :account_id AND order_id > :order_id AND content_digest = :content
        ORDER BY order_id LIMIT 1
        """,
        order_id=order_id,
        content=content,
    )


class OrderFound(NamedTuple):
    """An order that a search found: its date and time, and the names of who pays."""

    order_id: int
    ordered: str | None
    first_name: str | None
    last_name: str | None


def orders_named(connection: Connection, account_id: int, text: str) -> list[OrderFound]:
    """Return the orders whose id or external reference the text is."""
    return connection.rows_as(
        OrderFound,
        """
        SELECT o.order_id, o.order_date, s.first_name, s.last_name
        FROM (
            SELECT order_id, order_date, subscriber_id FROM orders
            WHERE account_id = :account_id AND order_id = :order_id
            UNION
            SELECT order_id, order_date, subscriber_id FROM orders
            WHERE account_id = :account_id AND external_reference_lower = :reference) AS o
        JOIN subscribers AS s
            ON s.account_id = :account_id AND s.subscriber_id = o.subscriber_id
        ORDER BY o.order_id
        """,
        account_id=account_id,
        order_id=id_in(text),
        reference=ascii_lower(text),
    )


def newest_order(books: Reading) -> int:
    """Return the id of the account's newest order, 0 if it has none."""
    newest = books.value_as(int, "SELECT max(order_id) FROM orders WHERE account_id = :account_id")
    return newest or 0


class OrderedItem(NamedTuple):
    """An item of a new order, the id of its purchase if it is a bundle, and where it goes."""

    order_item_id: int
    purchase_id: int | None
    priced: PricedItem
    mailing_address_id: int | None
    is_gift: bool


def add_order(
    books: Operation,
    order_id: int,
    order: Order,
    content: str,
    payer: Resolved,
    items: Sequence[OrderedItem],
    shipping: Sequence[TaxPart] = (),
) -> None:
    """Add an order with its items, their purchases, and its shipping.

    ``content`` is the order's digest.
    """
    paid_on = books.today if order.is_paid else None
    mailing = (each.mailing_address_id for each in items)
    books.add(
        "orders",
        order_id=order_id,
        subscriber_id=payer.subscriber_id,
        mailing_address_id=next((each for each in mailing if each is not None), payer.address_id),
        billing_address_id=payer.address_id,
        import_name=order.import_name,
        channel_id=order.channel_id,
        order_date=books.now,
        is_gift=int(any(each.is_gift for each in items)),
        **_totals((each.priced for each in items), shipping),
        external_reference=order.reference,
        content_digest=content,
        paid_on=paid_on,
        payment_type=order.payment_type,
        payment_reference=order.payment_reference if order.is_paid else None,
        commit_id=books.commit_id,
    )
    if order.reference is not None:
        added = EarlierOrder(order_id, payer.subscriber_id, content, paid_on)
        books.memory(_REFERENCES)[ascii_lower(order.reference)] = added
    for item_id, purchase_id, priced, address_id, is_gift in items:
        if purchase_id is not None:
            books.add(
                "purchases",
                purchase_id=purchase_id,
                payment_type=order.payment_type,
                notes=order.notes,
                subscriber_id=payer.subscriber_id,
                bundle_id=priced.item.bundle_id,
                shipping_address_id=address_id,
                billing_address_id=payer.address_id,
                name=priced.name,
                invoice_id=str(order_id),
                total=decimal(priced.net + priced.tax),
                product_total=decimal(priced.net),
                is_gift=int(is_gift),
                commit_id=books.commit_id,
            )
        books.add(
            "order_items",
            order_item_id=item_id,
            order_id=order_id,
            bundle_id=priced.item.bundle_id,
            product_id=priced.item.product_id,
            fulfilled_date=books.now if order.is_fulfilled and not priced.lines else None,
            **_totals_of([priced]),
            purchase_id=purchase_id,
            copies=priced.item.copies,
            list_price=priced.list_price,
        )


def _totals(
    priced_items: Iterable[PricedItem], shipping: Sequence[TaxPart]
) -> dict[str, str | int]:
    """Return the totals of an order: the subtotal is without shipping, the others are with it."""
    net, tax = sum(part.net for part in shipping), sum(part.tax for part in shipping)
    return {**_totals_of(priced_items, net, tax), "shipping": net, "shipping_tax": tax}


def _totals_of(
    priced_items: Iterable[PricedItem], shipping: int = 0, shipping_tax: int = 0
) -> dict[str, str]:
    sums = [(priced.net, priced.tax) for priced in priced_items]
    net, tax = (sum(each) for each in zip(*sums, strict=True))
    return {
        "sub_total": shortest(net),
        "tax_total": shortest(tax + shipping_tax),
        "grand_total": shortest(net + tax + shipping + shipping_tax),
    }
