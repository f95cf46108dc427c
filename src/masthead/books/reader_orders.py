"""A reader renews, buys, or gives a subscription, by the bundles that the publisher shows.

Amounts are whole cents, with tax and shipping for the reader's country. Operations raise NotFound
for a record that is not the reader's, and BadInput with a code of
``circulation.reader_rules.REFUSALS`` and the ``field`` for what they refuse.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from masthead.books import orders, reader_shop
from masthead.books.account import Books
from masthead.books.reader_acts import Act, acting, not_yours, own_subscription
from masthead.books.reader_addresses import checked_address
from masthead.books.reader_home_records import Next
from masthead.circulation.amounts import stored_cents
from masthead.circulation.ordering import Item, Order, Person, RefusedOrder
from masthead.circulation.reader_rules import check_day, check_text, refused
from masthead.contract.subscription_types import PRINTED
from masthead.databases.queries import Batch
from masthead.errors import NotFound
from masthead.store import page_settings
from masthead.store.billing import settings as billing_settings
from masthead.store.billing.invoices import invoice_of_order
from masthead.store.billing.mandates import collecting_mandate, collects, has_active
from masthead.store.books import reader_changes, reader_home, reader_page
from masthead.store.books.catalogue import Line, lines_by_bundle, publications
from masthead.store.books.operation import Reading, is_here
from masthead.store.books.order_details import show_order
from masthead.store.books.subscription import is_to_end

Use = Literal["renew", "buy", "gift"]
"""What a reader does with a bundle."""

Payment = Literal["invoice", "mandate", "shop"]
"""How a reader pays: by invoice, by the mandate that the reader gave, or at the shop."""

_NAME_MAX = 100
MESSAGE_MAX = 500
"""The most characters of the message on the card of a gift."""


class BundleLine(NamedTuple):
    """What a bundle gives of a publication; ``issues`` is None if it is unlimited for ``months``.

    ``type`` is Print, Digital or Both.
    """

    publication: str
    issues: int | None
    months: int | None
    type: str
    copies: int


class Choice(NamedTuple):
    """A bundle that the reader can order: what it gives, its price and the tax in it, in cents.

    ``renews`` are the reader's subscriptions that it extends.
    """

    bundle_id: int
    name: str
    uses: tuple[Use, ...]
    lines: tuple[BundleLine, ...]
    cents: int
    tax: int
    renews: tuple[int, ...]


class Wanted(NamedTuple):
    """What a reader orders, and how it is paid.

    ``subscription_id`` is the one to renew. Of a gift, ``recipient`` has some of
    ``circulation.addresses.FIELDS`` with a name, and ``begins`` is the day from which its issues
    come; None is the next one. ``message`` stands on its card. ``form`` is what identifies the form
    by which it was ordered, "" for nothing (:func:`of_form`).
    """

    use: Use
    bundle_id: int
    payment: Payment
    subscription_id: int | None = None
    recipient: Mapping[str, str] = {}
    begins: str | None = None
    message: str = ""
    form: str = ""


class Ordered(NamedTuple):
    """An order of a reader, with its total and the tax in it, and the number of its invoice.

    ``number`` is None without an invoice, and in a dry run. ``first_issue`` is the issue with which
    a gift begins, None for the next one. ``goes_on``: it extends a subscription that was to end,
    whose cancelling it takes back.
    """

    order_id: int
    use: Use
    bundle: str
    cents: int
    tax: int
    currency: str
    number: str | None
    recipient: str
    first_issue: Next | None
    goes_on: bool = False

    @property
    def sentence(self) -> str:
        """Which order was taken."""
        return f"order {self.order_id} was taken on the readers' pages"


class OrderShown(NamedTuple):
    """An order of the reader: what is open, and the link by which it is paid at the shop.

    ``payment`` is how it is paid: by a mandate if the invoice is collected, or else as the reader
    chose; None if that is not known, since it was not ordered on the pages. ``link``
    is None if nothing is open, if the publisher has no shop, or if the money is collected by a
    mandate. ``has_ended``: all of it was taken back.
    """

    order_id: int
    ordered_on: str
    items: tuple[str, ...]
    cents: int
    open_cents: int
    number: str | None
    invoice_id: int | None
    currency: str
    payment: Payment | None
    link: str | None
    has_ended: bool


def payments(books: Books, subscriber_id: int) -> tuple[Payment, ...]:
    """Return the ways in which a reader can pay.

    Invoices that are collected are paid in no other way (decisions, "How a reader with a mandate
    pays").
    """
    with books.read() as reading:
        return _payments(reading, subscriber_id)


def choices(books: Books, subscriber_id: int) -> list[Choice]:
    """Return the bundles that a reader can order, with their prices in the reader's country.

    Nothing is written or locked. Raises NotFound if there is no such reader, and BadInput if the
    account's books are kept elsewhere.
    """
    with books.read() as reading:
        batch = Batch(reading)
        reader = batch.add(reader_home.reader(reading.account_id, subscriber_id))
        here = batch.add(is_here())
        subscriptions = batch.add(reader_page.lines(subscriber_id))
        bundles = batch.add(reader_home.bundles())
        batch.send()
        reader()
        if not here():
            raise refused("not_offered")
        lines = lines_by_bundle(reading.connection, reading.account_id)
        names = {each.publication_id: each.name or "" for each in publications(reading)}
        own = [
            each
            for each in subscriptions()
            if each.cancelled_on is None and each.merged_into is None
        ]
        found = []
        for bundle in bundles():
            of_bundle = lines.get(bundle.bundle_id, [])
            try:
                price = orders.price_of(
                    reading,
                    Order(Person(subscriber_id=subscriber_id), (Item(bundle.bundle_id),)),
                )
            except RefusedOrder:
                continue
            uses: list[Use] = [use for use in get_args(Use) if getattr(bundle, use)]
            renews = tuple(
                each.subscription_id
                for each in own
                if any(
                    (x.publication_id, x.type) == (each.publication_id, each.type)
                    for x in of_bundle
                )
            )
            found.append(
                Choice(
                    bundle.bundle_id,
                    bundle.name or "",
                    tuple(uses),
                    tuple(_line(each, names) for each in of_bundle),
                    price.net + price.tax,
                    price.tax,
                    renews if bundle.renew else (),
                )
            )
        return found


def order(books: Books, subscriber_id: int, wanted: Wanted, *, dry_run: bool = False) -> Ordered:
    """Take an order of a reader; a dry run shows what it costs.

    A gift goes to a new reader, so that the order tells nothing of existing ones (decisions, "Who
    gets a gift"). A confirmation goes by mail.
    """
    with acting(books, subscriber_id, wanted.use, dry_run=dry_run) as act:
        change = act.change
        bundle = next(
            (
                each
                for each in reader_home.shown_bundles(change)
                if each.bundle_id == wanted.bundle_id and getattr(each, wanted.use)
            ),
            None,
        )
        if bundle is None:
            raise refused("not_for_sale", field="bundle")
        _check_payment(change, subscriber_id, wanted.payment)
        message = wanted.message.replace("\r\n", "\n").strip()
        check_text(message, "message", MESSAGE_MAX, has_lines=True)
        item, first_issue = _item(act, wanted)
        cancelled = {
            each.subscription_id
            for each in change.ask(reader_page.cancellations(subscriber_id))
            if each.ended_on is None
        }
        placed = orders.place(act.books, Order(Person(subscriber_id=subscriber_id), (item,)))
        shown = show_order(change.connection, change.account_id, placed.order_id)
        invoice = invoice_of_order(change, placed.order_id)
        number = None if dry_run or invoice is None else invoice.number_text
        name = bundle.name or ""
        done = Ordered(
            placed.order_id,
            wanted.use,
            name,
            placed.cents,
            stored_cents(str(shown.fields["tax_total"])),
            placed.currency,
            number,
            item.recipient.name if wanted.use == "gift" else "",
            first_issue,
            not cancelled.isdisjoint(placed.subscriptions),
        )
        after: dict[str, str | int] = {
            "order_id": placed.order_id,
            "use": wanted.use,
            "payment": wanted.payment,
        }
        if wanted.use == "gift":
            # The card says both; they are erased with the reader.
            after |= {"begins": wanted.begins or "", "message": message}
        if wanted.form:
            after["form"] = wanted.form
        act.note("order", wanted.subscription_id, {}, after)
        said = number or str(placed.order_id)
        if wanted.use == "gift":
            act.confirm(
                "gift",
                None,
                bundle=name,
                recipient=done.recipient,
                number=said,
                total=placed.cents,
                begins_on=wanted.begins,
            )
        else:
            act.confirm("order", None, bundle=name, number=said, total=placed.cents)
        return done


def show(books: Books, subscriber_id: int, order_id: int) -> OrderShown:
    """Return an order of the reader, with the link by which it is paid at the shop."""
    with books.snapshot() as inside, inside.read() as reading:
        reader_home.reader_of(reading, subscriber_id)
        try:
            found = show_order(reading.connection, reading.account_id, order_id)
        except NotFound:
            raise not_yours() from None
        if found.fields["subscriber_id"] != subscriber_id:
            raise not_yours()
        invoice = invoice_of_order(reading, order_id)
        open_cents = found.due if invoice is None else invoice.open_cents
        number = None if invoice is None else invoice.number_text
        url = page_settings.settings_of(reading).shop_url
        payment = _payment_of(reading, subscriber_id, order_id)
        is_billed = invoice is not None and invoice.kind == "invoice"
        if open_cents and is_billed and _is_collected(reading, subscriber_id):
            payment = "mandate"
        link = None
        if url and open_cents and payment != "mandate":
            link = reader_shop.link(
                inside, url, order_id, number or str(order_id), open_cents, reading.currency
            )
        return OrderShown(
            order_id,
            str(found.fields["order_date"] or "")[:10],
            tuple(each.name or "" for each in found.items),
            stored_cents(str(found.fields["grand_total"])),
            open_cents,
            number,
            None if invoice is None else invoice.invoice_id,
            reading.currency,
            payment,
            link,
            bool(found.items) and all(each.refund_date for each in found.items),
        )


def of_form(books: Books, subscriber_id: int, form: str) -> int:
    """Return the id of the reader's order that was placed by a form.

    Raises NotFound if none was.
    """
    with books.read() as reading:
        for each in reader_changes.orders_of(reading, subscriber_id):
            if form and (each.after or {}).get("form") == form:
                return int((each.after or {})["order_id"])
    raise not_yours()


def _payments(reading: Reading, subscriber_id: int) -> tuple[Payment, ...]:
    has_mandate = reading.ask(has_active(subscriber_id))
    if has_mandate and collects(reading, billing_settings.settings_of(reading)):
        return ("mandate",)
    settings = page_settings.settings_of(reading)
    found: list[Payment] = []
    if settings.pay_by_invoice:
        found.append("invoice")
    if settings.pay_by_mandate and has_mandate:
        found.append("mandate")
    if settings.shop_url:
        found.append("shop")
    return tuple(found)


def _is_collected(reading: Reading, subscriber_id: int) -> bool:
    settings = billing_settings.settings_of(reading)
    return collecting_mandate(reading, settings, subscriber_id) is not None


def _payment_of(reading: Reading, subscriber_id: int, order_id: int) -> Payment | None:
    """Return how the reader chose to pay an order on the pages."""
    for each in reader_changes.orders_of(reading, subscriber_id):
        after = each.after or {}
        if after.get("order_id") == order_id:
            payment: Payment = after["payment"]
            return payment
    return None


def _check_payment(reading: Reading, subscriber_id: int, payment: str) -> None:
    if payment in _payments(reading, subscriber_id):
        return
    is_known = payment == "mandate" and page_settings.settings_of(reading).pay_by_mandate
    raise refused("no_mandate" if is_known else "payment_unknown", field="payment")


def _item(act: Act, wanted: Wanted) -> tuple[Item, Next | None]:
    """Return what is ordered, and the issue with which a gift begins."""
    if wanted.use == "renew":
        if wanted.subscription_id is None:
            raise refused("nothing_chosen", field="subscription")
        own_subscription(act.change, act.reader.subscriber_id, wanted.subscription_id)
        if is_to_end(act.change, wanted.subscription_id):
            raise refused("cancelled_already")
        return Item(wanted.bundle_id, subscription_id=wanted.subscription_id), None
    lines = lines_by_bundle(act.change.connection, act.change.account_id)[wanted.bundle_id]
    if wanted.use == "buy":
        _check_has_address(act, lines)
        return Item(wanted.bundle_id), None
    first_name, last_name = (
        " ".join(wanted.recipient.get(name, "").split()) for name in ("first_name", "last_name")
    )
    if not first_name and not last_name:
        raise refused("recipient_missing", field="last_name")
    for name, text in (("first_name", first_name), ("last_name", last_name)):
        check_text(text, name, _NAME_MAX)
    address = checked_address(act, wanted.recipient, is_own=False)
    person = Person(first_name=first_name, last_name=last_name, address=address)
    first_issue = _first_issue(act, wanted.begins, lines[0].publication_id)
    return (
        Item(
            wanted.bundle_id,
            recipient=person,
            is_new=True,
            is_gift=True,
            first_issue=first_issue and first_issue.issue_id,
        ),
        first_issue,
    )


def _first_issue(act: Act, begins: str | None, publication_id: int) -> Next | None:
    """Return the first issue of a publication from a day on; None without a day."""
    if not begins:
        return None
    check_day(begins, "begins")
    today = act.change.today
    if begins < today:
        raise refused("day_past", field="begins", day=begins, earliest=today)
    for each in reader_page.coming(act.change, [publication_id]):
        if each.day >= begins:
            return Next(each.issue_id, each.name or "", each.day, is_paused=False)
    raise refused("day_too_far", field="begins")


def _check_has_address(act: Act, lines: list[Line]) -> None:
    has_print = any(each.type in PRINTED for each in lines)
    if has_print and not act.change.ask(reader_home.addresses(act.reader.subscriber_id)):
        raise refused("address_missing", field="address")


def _line(line: Line, names: Mapping[int, str]) -> BundleLine:
    issues = None if line.issues < 0 else line.issues
    publication = names.get(line.publication_id, "")
    return BundleLine(publication, issues, line.months, line.type, line.copies)
