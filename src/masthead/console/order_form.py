"""The form of an order: who pays, what, for whom in how many copies, and how it is paid.

The fields of the payer begin with ``payer``, those of the first recipient with ``to_1``. Who gets a
part of the order and is not named is the payer, at another address if the row has one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.books.catalogue import Orderable
from masthead.circulation.addresses import FIELDS
from masthead.circulation.ordering import COPIES_MAX, Item, Order, Person, RefusedOrder
from masthead.console.forms import Form, sentence
from masthead.console.person_picker import choose, chosen_person, is_finding, key_of
from masthead.contract.printable import single_spaced
from masthead.web.forms import id_in

PAYER = "payer"
ROWS_MAX = 20
NEW = "new"
"""The value of a row's ``subscription`` that begins another one."""

_NAMES = ("email", "first_name", "last_name")
_LABELS = {"email": "The email address", "first_name": "The first name"}
_ADDRESS = tuple(name for name in FIELDS if name not in _NAMES)
_NAME_MAX = 50


def rows_of(form: Form) -> list[str]:
    """Return the beginnings of the names of each recipient's fields."""
    count = id_in(form["rows"]) or 1
    return [f"to_{number}" for number in range(1, min(count, ROWS_MAX) + 1)]


def pickers_of(form: Form) -> list[str]:
    """Return the fields in which a person is chosen."""
    return [PAYER, *rows_of(form)]


def add_row(form: Form) -> None:
    """Add a recipient, with a copy."""
    form.values["rows"] = str(min(len(rows_of(form)) + 1, ROWS_MAX))


def drop_row(form: Form, row: str) -> None:
    """Remove a recipient; those below move up."""
    rows = rows_of(form)
    if row not in rows or len(rows) == 1:
        return
    kept = [each for each in rows if each != row]
    values = {
        name: text
        for name, text in form.values.items()
        if not any(name == each or name.startswith(f"{each}_") for each in rows)
    }
    for new, old in zip(rows, kept, strict=False):
        for name, text in form.values.items():
            if name == old or name.startswith(f"{old}_"):
                values[new + name.removeprefix(old)] = text
    form.values = {**values, "rows": str(len(kept))}


def take_known(form: Form) -> None:
    """Put the existing reader that was chosen in the place of a new one."""
    name, _, key = form["is_reader"].partition(":")
    if name in pickers_of(form) and (found := id_in(key)) is not None:
        for each in _NAMES:
            form.values.pop(f"{name}_{each}", None)
        choose(form, name, found)


class Price(NamedTuple):
    """A price of one copy: net and tax in cents."""

    net: int
    tax: int

    @property
    def gross(self) -> int:
        """The price with tax."""
        return self.net + self.tax


def list_price(form: Form, orderable: Orderable) -> Price | None:
    """Return what one copy of the chosen bundle, or else product, costs; None if none is chosen."""
    for bundle in orderable.bundles:
        if form["bundle"] == str(bundle.bundle_id):
            return Price(bundle.price, bundle.tax)
    for product in orderable.products:
        if form["product"] == str(product.product_id) and not form["bundle"]:
            return Price(product.price, product.tax)
    return None


def other_price(form: Form, orderable: Orderable) -> Price | None:
    """Return the price with tax that was typed, unless it is the one in the catalogue.

    Its tax has the same share as in the catalogue, rounded to the nearest cent.
    """
    listed, gross = list_price(form, orderable), form.amount("price", "The price")
    if gross is None or listed is None or gross == listed.gross:
        return None
    tax = (2 * gross * listed.tax + listed.gross) // (2 * listed.gross) if listed.gross else 0
    return Price(gross - tax, tax)


def order_of(form: Form, orderable: Orderable) -> Order | None:
    """Return the order from the input, or None if it has errors or a person is looked for."""
    bundle = form.number("bundle", "The bundle")
    product = form.number("product", "The product")
    if bundle is None and product is None:
        form.refuse("bundle", "Say what is ordered: a bundle or a product.")
    price = other_price(form, orderable)
    net, tax = (None, None) if price is None else price
    payer = _person(form, PAYER)
    is_gift = {"yes": True, "no": False}.get(form.choice("gives", "A gift", ("", "yes", "no")))
    first = form.number("first_issue", "The first issue")
    items = []
    for row in rows_of(form) if bundle is not None else []:
        extended = form[f"{row}_subscription"]
        items.append(
            Item(
                bundle_id=bundle,
                recipient=_person(form, row),
                copies=_copies(form, f"{row}_copies"),
                is_new=extended == NEW,
                subscription_id=id_in(extended),
                first_issue=first,
                is_gift=is_gift,
                price=net,
                tax=tax,
            )
        )
    _check_places(form, items)
    if product is not None:
        copies = _copies(form, "product_copies")
        net, tax = (None, None) if items else (net, tax)
        items.append(Item(product_id=product, copies=copies, price=net, tax=tax))
    extends = any(item.subscription_id is not None for item in items)
    if not payer.is_named and not extends:
        form.refuse(PAYER, "Say who pays: type a name and choose, or fill in somebody new.")
    if is_finding(form) or not form.is_good:
        return None
    is_paid = form["payment"] == "paid"
    return Order(
        payer,
        tuple(items),
        reference=form["reference"] or None,
        is_paid=is_paid,
        payment_type=form["payment_type"] or None if is_paid else "invoice",
        payment_reference=form["payment_reference"] or None if is_paid else None,
        notes=form["notes"] or None,
    )


def _check_places(form: Form, items: Sequence[Item]) -> None:
    """Refuse parts of an order for one reader of which more than one go to the usual address."""
    readers = [item.recipient._replace(address={}, address_id=None) for item in items]
    usual = list[Person]()
    for row, item, reader in zip(rows_of(form), items, readers, strict=False):
        is_elsewhere = item.recipient.address_id is not None or item.recipient.address
        if is_elsewhere or item.subscription_id is not None:
            continue
        if reader in usual:
            form.refuse(f"{row}_address", "Say where these copies go: fill in an address.")
        usual.append(reader)


def _copies(form: Form, name: str) -> int:
    return form.number(name, "The number of copies", at_least=1, at_most=COPIES_MAX) or 1


def _person(form: Form, name: str) -> Person:
    """Return a payer or recipient: who was chosen, who is new, or neither."""
    names = {
        each: single_spaced(
            form.text(f"{name}_{each}", _LABELS.get(each, "The name"), characters_max=_NAME_MAX)
        )
        for each in _NAMES
    }
    form.check_email(f"{name}_email")
    address = {each: single_spaced(form.text(f"{name}_{each}", "The address")) for each in _ADDRESS}
    address = {each: text for each, text in address.items() if text}
    key = None
    if not any(names.values()) and not address.get("company"):
        key = chosen_person(form, name)
    elif form[f"{name}_id"] and form[name] == form[f"{name}_for"]:
        form.refuse(name, "Choose this reader, or fill in somebody new: not both.")
    address_id = id_in(form[f"{name}_address_id"])
    return Person(subscriber_id=key, address_id=address_id, address=address, **names)


def refuse(form: Form, error: RefusedOrder) -> None:
    """Record why the order is refused, as an error of the field that is wrong."""
    rows = rows_of(form)
    row = rows[error.item] if error.item is not None and error.item < len(rows) else rows[0]
    field, is_reader = error.field, error.field.startswith("recipient_")
    if is_reader:
        field = f"{row}_{field.removeprefix('recipient_')}".removesuffix("_subscriber_id")
    elif field == "copies":
        field = f"{row}_copies" if form["bundle"] else "product_copies"
    elif field == "subscription_id":
        field = f"{row}_subscription"
    elif field == "subscriber_id":
        field = PAYER
    elif field in {*_NAMES, *_ADDRESS}:
        field = f"{PAYER}_{field}"
    names = {"bundle_id": "bundle", "product_id": "product", "external_reference": "reference"}
    form.refuse(names.get(field, "price" if field == "tax" else field), sentence(error))


def known_readers(form: Form) -> dict[str, Sequence[int]]:
    """Return the reader who was chosen in each field, as a list of one; empty without one."""
    found: dict[str, Sequence[int]] = {}
    for name in pickers_of(form):
        key = key_of(form, name)
        found[name] = [] if key is None else [key]
    return found
