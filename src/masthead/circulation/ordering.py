"""What is ordered, by whom and for whom, as plain values (circulation, "Order").

Amounts are whole cents, days are ``YYYY-MM-DD``.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.errors import BadInput

COPIES_MAX = 1_000_000
"""The most copies of each issue that a subscription can have."""


class RefusedOrder(BadInput):
    """An order that is refused, and why.

    ``field`` is the wrong column of a file of orders. ``item`` is the number of the item in the
    order, from 0; None if the order itself is wrong.
    """

    def __init__(
        self,
        field: str,
        sentence: str,
        item: int | None = None,
        *,
        code: str = "",
        **values: object,
    ) -> None:
        super().__init__(sentence, code=code, **values)
        self.field = field
        self.item = item


class Person(NamedTuple):
    """A reader or payer, by id or renewal code, or by their data; '' means not known.

    A person with the email address and the name of an existing subscriber is that subscriber;
    anybody else is new. The same holds for an organisation, whose name is the company of the
    address (circulation, "Who is who"). ``address`` has fields of an address, or none;
    ``address_id`` names an existing address.
    """

    subscriber_id: int | None = None
    email: str = ""
    first_name: str = ""
    last_name: str = ""
    address_id: int | None = None
    address: Mapping[str, str] = {}
    renewal_code: str = ""

    @property
    def is_named(self) -> bool:
        """Whether the values say who the person is, and not only where."""
        names = (self.renewal_code, self.email, self.first_name, self.last_name)
        return self.subscriber_id is not None or any((*names, self.address.get("company")))

    @property
    def name(self) -> str:
        """The name of the person, or else of the company, or else the email address."""
        names = " ".join(part for part in (self.first_name, self.last_name) if part)
        return names or self.address.get("company") or self.email


NOBODY = Person()
"""The recipient of an item that goes to the payer."""


class Item(NamedTuple):
    """A bundle or a product; the price is net.

    ``copies`` is how many are ordered. ``price`` and ``tax`` are those of one; if they are
    None, the bundle's or product's apply. A ``recipient`` without a name is the payer, at another
    address if it has one. ``is_new`` begins a new subscription even if one exists. ``first_issue``
    is the issue with which it begins, ``subscription_id`` the subscription to extend. If
    ``is_gift`` is None, it follows from who pays. ``of_class`` is the class of copies that cost
    nothing; None is complimentary.
    """

    bundle_id: int | None = None
    product_id: int | None = None
    price: int | None = None
    tax: int | None = None
    recipient: Person = NOBODY
    is_new: bool = False
    first_issue: int | None = None
    subscription_id: int | None = None
    is_gift: bool | None = None
    of_class: str | None = None
    copies: int = 1


class Order(NamedTuple):
    """An order: who pays, for what. ``reference`` is its number elsewhere, unique in an account.

    ``payment_reference`` is that of its payment, such as the number of a transfer.

    ``is_fulfilled`` says that the products were handed over.
    """

    payer: Person
    items: Sequence[Item]
    reference: str | None = None
    is_paid: bool = False
    payment_type: str | None = None
    payment_reference: str | None = None
    is_fulfilled: bool = False
    notes: str | None = None
    import_name: str | None = None
    channel_id: int | None = None


def digest(order: Order) -> str:
    """Return the SHA-256 of what was ordered, which identifies an order that is sent again.

    It does not cover the payment, because an order is sent again when its payment has come.
    """
    content = order._replace(
        reference=None, is_paid=False, payment_type=None, payment_reference=None
    )
    written = json.dumps(_plain(content), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: part for name, part in value.items() if part}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def kind_of(price: int) -> str:
    """Return the kind of a term that an order brings: ``paid`` if it has a price, else ``free``."""
    return "paid" if price > 0 else "free"


def grace_since(regular: Iterable[str], grace: Iterable[tuple[str, int]]) -> list[int]:
    """Return the ids of the grace issues since the last regular issue, the oldest first.

    ``regular`` has the dates of the issues that came out of a term, ``grace`` the date and id of
    each issue that no term has paid for.
    """
    last = max(regular, default="")
    return [issue_id for day, issue_id in sorted(grace) if day > last]


def covered(issues: int, grace: Sequence[int]) -> Sequence[int]:
    """Return the grace issues that come out of a late renewal of ``issues`` issues.

    It takes the oldest first, never more than it has (circulation, "Late renewal"). An unlimited
    renewal takes none, because it is not used up.
    """
    return grace[: max(issues, 0)]
