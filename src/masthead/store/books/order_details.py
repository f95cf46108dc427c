"""An order as a person sees it: its items, what they brought, and its money."""

from typing import NamedTuple

from masthead.circulation.amounts import stored_cents
from masthead.circulation.refunding import Item, paid_gross
from masthead.errors import NotFound
from masthead.store.books.earlier_orders import history_until
from masthead.store.books.order_keys import listed
from masthead.store.database import Connection, Row
from masthead.store.search_filters import ascii_lower

_FIELDS = (
    "order_id",
    "external_reference",
    "subscriber_id",
    "order_date",
    "is_gift",
    "sub_total",
    "tax_total",
    "grand_total",
    "paid_on",
    "payment_type",
    "payment_reference",
    "disputed_on",
    "dispute",
    "dispute_ended_on",
    "dispute_result",
    "mailing_address_id",
    "billing_address_id",
    "import_name",
    "channel_id",
)


class TermShown(NamedTuple):
    """A term of an item; ``issues`` and ``issues_left`` are -1 if it is unlimited, money cents."""

    order_item_id: int
    term_id: int
    subscription_id: int
    subscriber_id: int
    publication: str | None
    issues: int
    issues_left: int
    price: int
    paid_on: str | None
    ended_at: str | None
    received: int
    earned: int
    refunded: int


class ItemShown(NamedTuple):
    """An item with its terms; totals are numbers of the interface, ``refunded`` is cents.

    ``list_price`` is what one cost in the catalogue, in cents with tax, if the order has another
    price. ``purchase_total`` and ``payment_type`` are those of its purchase, None without one.
    """

    order_item_id: int
    bundle_id: int | None
    product_id: int | None
    name: str | None
    grand_total: str
    tax_total: str
    purchase_id: int | None
    purchase_total: str | None
    payment_type: str | None
    refund_date: str | None
    fulfilled_date: str | None
    refunded: int
    copies: int
    list_price: int | None
    terms: list[TermShown]

    @property
    def price_of_one(self) -> int:
        """What one copy cost in this order, in cents with tax."""
        return stored_cents(self.grand_total) // self.copies

    @property
    def due(self) -> int:
        """What a payment of the order pays for the item, in cents with tax; 0 if it has ended."""
        gross, tax = stored_cents(self.grand_total), stored_cents(self.tax_total)
        if not self.terms:
            return 0 if self.refund_date else gross
        net = sum(term.price for term in self.terms if term.ended_at is None)
        return paid_gross(Item(gross - tax, tax, net, 0))


class OrderShown(NamedTuple):
    """An order: its fields by name, its items, and whether it is from before the opening.

    ``shipping`` is its shipping with tax, in cents, which its grand total includes.
    """

    fields: dict[str, int | str | None]
    items: list[ItemShown]
    is_history: bool
    shipping: int = 0

    @property
    def due(self) -> int:
        """The cents with tax that are still due; 0 if the order is paid, or is history."""
        if self.fields["paid_on"] or self.is_history:
            return 0
        of_items = sum(item.due for item in self.items)
        return of_items + self.shipping if of_items else 0


def show_order(
    connection: Connection,
    account_id: int,
    order_id: int | None = None,
    *,
    reference: str | None = None,
) -> OrderShown:
    """Return an order by its id or its external reference. Raises NotFound if there is none."""
    value: int | str | None = order_id
    condition = "order_id = :value"
    if reference is not None:
        condition, value = "external_reference_lower = :value", ascii_lower(reference)
    row = connection.row(
        f"""
        SELECT {", ".join(_FIELDS)}, shipping + shipping_tax FROM orders
        WHERE account_id = :account_id AND {condition}
        """,
        account_id=account_id,
        value=value,
    )
    if row is None:
        named = order_id if reference is None else f"with the reference {reference!r}"
        raise NotFound(f"account {account_id} has no order {named}", code="unknown_order")
    *values, shipping = row
    fields = dict(zip(_FIELDS, values, strict=True))
    rows = _items(connection, account_id, row[0])
    terms = _terms(connection, account_id, [item[0] for item in rows])
    items = [
        ItemShown._make((*item, [term for term in terms if term.order_item_id == item[0]]))
        for item in rows
    ]
    is_history = row[0] <= history_until(connection, account_id)
    return OrderShown(fields, items, is_history, shipping)


def _items(connection: Connection, account_id: int, order_id: int) -> list[Row]:
    return connection.rows(
        """
        SELECT i.order_item_id, i.bundle_id, i.product_id, coalesce(b.name, p.name),
            i.grand_total, i.tax_total, i.purchase_id, u.total, u.payment_type, i.refund_date,
            i.fulfilled_date, i.refunded, i.copies, i.list_price
        FROM order_items AS i
        LEFT JOIN purchases AS u ON u.account_id = :account_id AND u.purchase_id = i.purchase_id
        LEFT JOIN bundles AS b ON b.account_id = i.account_id AND b.bundle_id = i.bundle_id
        LEFT JOIN products AS p ON p.account_id = i.account_id AND p.product_id = i.product_id
        WHERE i.account_id = :account_id AND i.order_id = :order_id ORDER BY i.order_item_id
        """,
        account_id=account_id,
        order_id=order_id,
    )


def _terms(connection: Connection, account_id: int, items: list[int]) -> list[TermShown]:
    of_subscription = """FROM subscriptions AS s
        WHERE s.account_id = t.account_id AND s.subscription_id = t.subscription_id"""
    sums = ", ".join(
        f"""coalesce((SELECT CAST(sum(r.cents) AS BIGINT) FROM revenue AS r
            WHERE r.account_id = t.account_id AND r.term_id = t.term_id AND r.kind = '{kind}'), 0)
        """
        for kind in ("received", "earned", "refunded")
    )
    return connection.rows_as(
        TermShown,
        f"""
        SELECT t.order_item_id, t.term_id, t.subscription_id,
            (SELECT s.subscriber_id {of_subscription}),
            (SELECT p.name FROM publications AS p
                WHERE p.account_id = t.account_id
                    AND p.publication_id = (SELECT s.publication_id {of_subscription})),
            t.issues, t.issues_left, t.price, t.paid_on, t.ended_at, {sums}
        FROM terms AS t
        WHERE t.account_id = :account_id AND t.order_item_id IN ({listed(items)})
        ORDER BY t.term_id
        """,
        account_id=account_id,
    )
