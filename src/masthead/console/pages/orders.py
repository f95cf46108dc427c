"""Orders: taking an order at the telephone, and showing it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from starlette.responses import Response

from masthead.books import (
    Books,
    catalogue,
    finding,
    open_items,
    order_summary,
    orders,
    subscribers,
)
from masthead.books.finding import Side
from masthead.books.order_summary import Summary
from masthead.circulation.amounts import in_currency
from masthead.circulation.ordering import Order, RefusedOrder
from masthead.console import order_form
from masthead.console.forms import Form, sentence
from masthead.console.order_form import PAYER
from masthead.console.page_request import PageRequest, get, post
from masthead.console.pages.order_payments import KINDS
from masthead.console.person_picker import choose, is_finding, look_up_people
from masthead.console.roles import Action, who_may
from masthead.console.templating import day_in_words
from masthead.contract.moments import with_day
from masthead.errors import NotFound
from masthead.web.forms import ChangedError, id_in


class _Checked(NamedTuple):
    """An order as saving would create it, and what it brings.

    ``newest`` is the newest order before it. ``alike`` has, for each new reader, the name, the
    field, and the readers who may be the same person.
    """

    placed: orders.Placed
    summary: Summary
    newest: int
    alike: Sequence[tuple[str, str, Sequence[Side]]]


class _Issues(NamedTuple):
    """The issues of a publication as choices, and the bundles that give it."""

    publication: str
    bundles: Sequence[int]
    choices: list[tuple[object, str]]


class _Choices(NamedTuple):
    """The choices of the form: the catalogue, and each person's addresses and subscriptions."""

    orderable: catalogue.Orderable
    bundles: Sequence[tuple[object, str]]
    products: Sequence[tuple[object, str]]
    issues: Sequence[_Issues]
    addresses: Mapping[str, Sequence[tuple[object, str]]]
    subscriptions: Mapping[str, Sequence[tuple[object, str]]]


def new(request: PageRequest) -> Response:
    """Show the order form; the URL can name who pays, what is extended, and the bundle.

    Without a bundle, it is the last one that was bought for the subscription, or one of its kind.
    """
    form = Form({"bundle": request.query.get("bundle", "")})
    if (key := id_in(request.query.get("subscriber", ""))) is not None:
        choose(form, PAYER, key)
        extended = id_in(request.query.get("subscription", ""))
        for held in orders.held_by(request.books, [key]):
            if held.subscription_id == extended:
                form.values["to_1_subscription"] = str(extended)
                sold = catalogue.orderable(request.books)
                last = sold.renewing(held.publication_id, held.type, held.bundle_id)
                form.values["bundle"] = form["bundle"] or str(last or "")
    form.values.update(request.kept)
    return _form(request, form)


def take(request: PageRequest) -> Response:
    """Preview an order, or save it; sending the form again does not save it twice.

    It is saved only if it brings what was shown.
    """
    form = Form(request.form)
    if form["at_price"]:
        form.values["price"] = form["at_price"]
    if form["is_reader"]:
        order_form.take_known(form)
    if form["add"]:
        order_form.add_row(form)
    if form["drop"]:
        order_form.drop_row(form, form["drop"])
    if form["change"] or form["add"] or form["drop"]:
        return _form(request, form)
    orderable = catalogue.orderable(request.books)
    order = order_form.order_of(form, orderable)
    is_other = order_form.other_price(form, orderable) is not None
    if is_other and not request.may(Action.PRICE):
        who = who_may(Action.PRICE)
        form.refuse("price", f"Another price than the list price is given by {who}.")
        return _form(request, form, status=403)
    if order is None or not form.is_good:
        return _form(request, form, status=200 if is_finding(form) else 400)
    return _placed(request, form, order)


def _placed(request: PageRequest, form: Form, order: Order) -> Response:
    """Place the order, in a dry run unless the operator is sure, and return what follows."""
    newest = form.number("newest", "The newest order")
    is_sure = bool(form["sure"])
    checked = None
    with form.refusing("bundle"):
        try:
            with request.books_for("order").together(dry_run=not is_sure) as inside:
                checked = _checked(inside, form, order, newest if is_sure else None)
                is_as_shown = checked.summary.sentence == form["will"]
                if is_sure and not checked.placed.is_known and not is_as_shown:
                    raise ChangedError
        except RefusedOrder as error:
            order_form.refuse(form, error)
        except ChangedError:
            form.refuse("", "Something has changed meanwhile: look again at what it brings.")
    if checked is None:
        return _form(request, form, status=400)
    if not is_sure:
        return _form(request, form, checked)
    if not form.is_good:
        return _form(request, form, checked, 409)
    placed = checked.placed
    was_there = placed.sentence.replace(f"order {placed.order_id}", "the order")
    said = was_there if placed.is_known else "the order was saved"
    if placed.invoice is not None:
        said += f", with {'receipt' if placed.was_paid else 'invoice'} {placed.invoice}"
    return request.go(f"/orders/{placed.order_id}", sentence(said))


def _checked(books: Books, form: Form, order: Order, after: int | None) -> _Checked:
    """Place an order in the books, and return its result."""
    newest = orders.newest(books)
    placed = orders.place(books, order, after=after)
    rows = order_form.rows_of(form)
    alike = [
        (
            each.name or "The new reader",
            PAYER if each.item is None else rows[each.item],
            finding.sides(books, {one.subscriber_id: one.why for one in each.resembling}),
        )
        for each in placed.newcomers
    ]
    return _Checked(placed, order_summary.summary(books, placed), newest, alike)


def _form(
    request: PageRequest, form: Form, checked: _Checked | None = None, status: int = 200
) -> Response:
    with request.books.snapshot() as inside:
        look_up_people(inside, form, *order_form.pickers_of(form))
        choices = _choices(inside, form)
    return request.page(
        "order_new",
        status,
        form=form,
        checked=checked,
        choices=choices,
        rows=order_form.rows_of(form),
        rows_max=order_form.ROWS_MAX,
        kinds=KINDS,
        listed=order_form.list_price(form, choices.orderable),
    )


def _choices(books: Books, form: Form) -> _Choices:
    orderable = catalogue.orderable(books)
    currency = books.currency
    known = order_form.known_readers(form)
    addresses, subscriptions = {}, {}
    for name, ids in known.items():
        readers = ids or known[PAYER]
        people = [each for key in readers if (each := _person(books, key)) is not None]
        addresses[name] = [
            (each.address_id, each.line) for person in people for each in person.addresses
        ]
        subscriptions[name] = [
            (each.subscription_id, _running(each)) for each in orders.held_by(books, readers)
        ]
    return _Choices(
        orderable,
        [
            (each.bundle_id, _priced(each, currency, orderable.contents.get(each.bundle_id, "")))
            for each in orderable.bundles
        ],
        [(each.product_id, _priced(each, currency)) for each in orderable.products],
        _by_publication(orderable),
        addresses,
        subscriptions,
    )


def _priced(sold: catalogue.Bundle | catalogue.Product, currency: str, contents: str = "") -> str:
    """Return a bundle or product as a choice: its name, its price, and what it gives."""
    price = in_currency(sold.price + sold.tax, currency)
    return f"{sold.name or 'Without a name'}: {', '.join(filter(None, (price, contents)))}"


def _by_publication(orderable: catalogue.Orderable) -> list[_Issues]:
    """Return the issues with which an order can begin, by publication."""
    found: dict[int, _Issues] = {}
    for each in orderable.issues:
        key = each.publication_id
        if key not in found:
            bundles = [
                bundle_id
                for bundle_id, lines in orderable.lines.items()
                if any(line.publication_id == key for line in lines)
            ]
            found[key] = _Issues(orderable.publications[key], bundles, [])
        said = with_day(each.name or "issue", each.date or "")
        found[key].choices.append((each.issue_id, said))
    return list(found.values())


def _running(held: orders.Held) -> str:
    """Return a subscription as a choice: what it is, until when, and where it goes."""
    if not held.issues:
        until = "has ended"
    else:
        until = f"until {day_in_words(held.last_day)}" if held.last_day else "without an end"
    return ", ".join(filter(None, (held.name, until, held.address)))


def _person(books: Books, key: int) -> subscribers.Person | None:
    try:
        return subscribers.show(books, key)
    except NotFound:
        return None


def show(request: PageRequest) -> Response:
    """Show an order: what, for whom, until when, and what was paid and is owed."""
    key = int(request.ids["id"])
    with request.books.snapshot() as inside:
        order = orders.show(inside, key)
        readers = order_summary.readers(inside, order)
        invoice = open_items.invoice_of_order(inside, key) if request.bills else None
    terms = [term for item in order.items for term in item.terms]
    return request.page(
        "order",
        order=order,
        readers=readers,
        key=key,
        invoice=invoice,
        is_to_come=any(each.received > each.earned + each.refunded for each in terms),
    )


pages = [
    get("/orders/new", new, Action.ORDER),
    post("/orders/new", take, Action.ORDER),
    get("/orders/{id:int}", show),
]
