"""What is ordered, by whom and for whom, as plain values (circulation, "Order").

Amounts are whole cents, days are ``YYYY-MM-DD``.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.errors import BadInput

__all__ = [
    "NOBODY",
    "Item",
    "Order",
    "Person",
    "RefusedOrder",
    "covered",
    "digest",
    "grace_since",
    "kind_of",
]


class RefusedOrder(BadInput):
    """An order that is refused, and why.

    ``field`` is the column of a file of orders that is wrong, ``item`` the number of the item in
    the order, from 0; None where it is the order itself.
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
    """A reader or payer, by id or renewal code, or by what is known of them; '' is not known.

    Somebody with this email address and the same name is that subscriber; anybody else is new, also
    an organisation, whose name is the company of the address (circulation, "Who is who").
    ``address`` has the fields of an address, or none; ``address_id`` names one that is there.
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
        """Whether it says who the person is, and not only where."""
        names = (self.renewal_code, self.email, self.first_name, self.last_name)
        return self.subscriber_id is not None or any((*names, self.address.get("company")))

    @property
    def name(self) -> str:
        """The name of the person, or else of the company, or else the email address."""
        names = " ".join(part for part in (self.first_name, self.last_name) if part)
        return names or self.address.get("company") or self.email


NOBODY = Person()
"""In place of a recipient: the one who pays."""


class Item(NamedTuple):
    """A bundle or else a product; the price is net.

    ``price`` and ``tax`` are those of the bundle or product where they are None. ``recipient``
    without a name is the one who pays, at another address if it has one. ``is_new`` begins a new
    subscription even where there is one, ``first_issue`` says with which issue, and
    ``subscription_id`` which one is extended. ``is_gift`` is None where that follows from who pays.
    ``of_class`` is the class of the copies that cost nothing, complimentary if it is None.
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


class Order(NamedTuple):
    """An order: who pays, for what. ``reference`` is its number elsewhere, once in an account.

    ``is_fulfilled``: the products were handed over.
    """

    payer: Person
    items: Sequence[Item]
    reference: str | None = None
    is_paid: bool = False
    payment_type: str | None = None
    is_fulfilled: bool = False
    notes: str | None = None
    import_name: str | None = None
    channel_id: int | None = None


def digest(order: Order) -> str:
    """Return the SHA-256 of what was ordered, by which an order that comes again is known.

    Whether it is paid is not part of it: an order comes again when its payment has come.
    """
    content = order._replace(reference=None, is_paid=False, payment_type=None)
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
    """Return the issues of grace since the last regular one, the oldest first.

    ``regular`` are the dates of the issues that came out of a term, ``grace`` date and id of those
    that no term has paid for.
    """
    last = max(regular, default="")
    return [issue_id for day, issue_id in sorted(grace) if day > last]


def covered(issues: int, grace: Sequence[int]) -> Sequence[int]:
    """Return the issues of grace that come out of a late renewal of so many issues.

    The oldest first, never more than it has (circulation, "Late renewal"). An unlimited renewal is
    not used up, so it takes over none.
    """
    return grace[: max(issues, 0)]
