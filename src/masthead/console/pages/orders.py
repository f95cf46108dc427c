"""Orders: taking an order at the telephone, and showing it."""

from typing import NamedTuple

from starlette.responses import Response

from masthead.books import Books, catalogue, orders, subscribers, subscriptions
from masthead.circulation.addresses import FIELDS
from masthead.circulation.ordering import NOBODY, Item, Order, Person, RefusedOrder
from masthead.console.forms import Form, id_in, sentence
from masthead.console.page_request import PageRequest, get, post
from masthead.console.roles import Action
from masthead.errors import NotFound

_NAMES = ("email", "first_name", "last_name")
_ADDRESS = tuple(name for name in FIELDS if name not in _NAMES)
_RECIPIENT = "recipient_"


class _Checked(NamedTuple):
    """An order as saving would create it, and the first issue of each of its terms.

    ``newest`` is the newest order before it.
    """

    order: orders.OrderShown
    placed: orders.Placed
    newest: int
    begins: list[tuple[str, str, str]]


def new(request: PageRequest) -> Response:
    """Show the order form, with the subscriber that the URL names."""
    form = Form({"subscriber": request.query.get("subscriber", "")})
    return _form(request, form)


def take(request: PageRequest) -> Response:
    """Preview an order, or save it; sending the form again does not save it twice."""
    form = Form(request.form)
    if form["change"]:
        return _form(request, form)
    if form["is_reader"]:
        form = _chosen(form)
    order = _order(form)
    newest = form.number("newest", "The newest order")
    checked = None
    if order:
        books = request.books_for("order")
        with form.refusing("bundle"):
            try:
                if form["sure"]:
                    placed = orders.place(books, order, after=newest)
                    return request.go(f"/orders/{placed.order_id}", sentence(placed.sentence))
                with books.together(dry_run=True) as inside:
                    checked = _check(inside, order)
            except RefusedOrder as error:
                form.refuse(_field_of(error), sentence(error))
    return _form(request, form, checked=checked, status=200 if checked else 400)


def _check(books: Books, order: Order) -> _Checked:
    """Place an order in a dry run, and return its result."""
    newest = orders.newest(books)
    placed = orders.place(books, order)
    begins = []
    for key in placed.subscriptions:
        fields = subscriptions.show(books, key).fields
        names = (str(each) for each in (fields["first_name"], fields["last_name"]) if each)
        first = subscriptions.first_issue(books, key)
        begins.append((str(fields["publication"]), " ".join(names), first))
    return _Checked(orders.show(books, placed.order_id), placed, newest, begins)


def _chosen(form: Form) -> Form:
    """Return the form with the chosen reader in place of a new one."""
    prefix, _, key = form["is_reader"].partition(":")
    values = {**form.values, f"{prefix}subscriber": key}
    return Form({n: v for n, v in values.items() if n not in {f"{prefix}{x}" for x in _NAMES}})


def _order(form: Form) -> Order | None:
    """Return the order from the input, or None if the input has errors."""
    bundle = form.number("bundle", "The bundle")
    product = form.number("product", "The product")
    if bundle is None and product is None:
        form.refuse("bundle", "Say what is ordered: a bundle or a product.")
    payer = _person(form, "", "who pays")
    recipient = _person(form, _RECIPIENT, "who gets it") if form["is_gift"] else NOBODY
    if form["is_gift"] and not recipient.is_named:
        form.refuse("recipient_subscriber", "Say who gets the gift.")
    price, tax = form.amount("price", "The price"), form.amount("tax", "The tax")
    first = form.number("first_issue", "The first issue")
    extended = form.number("subscription", "The number of the subscription")
    gives = form.choice("gives", "Whether it is a gift", ("", "yes", "no"))
    is_paid = bool(form["is_paid"])
    items = []
    if bundle is not None:
        items.append(
            Item(
                bundle_id=bundle,
                price=price,
                tax=tax,
                recipient=recipient,
                is_new=bool(form["is_new"]),
                first_issue=first,
                subscription_id=extended,
                is_gift={"yes": True, "no": False}.get(gives),
            )
        )
    if product is not None:
        own = (None, None) if items else (price, tax)
        items.append(Item(product_id=product, price=own[0], tax=own[1]))
    if not form.is_good:
        return None
    return Order(
        payer,
        tuple(items),
        reference=form["reference"] or None,
        is_paid=is_paid,
        payment_type=(form["payment_type"] or None) if is_paid else None,
        notes=form["notes"] or None,
    )


def _person(form: Form, prefix: str, who: str) -> Person:
    key = form.number(f"{prefix}subscriber", "The number of the subscriber")
    address = {name: form.text(f"{prefix}{name}", name) for name in _ADDRESS}
    person = Person(
        subscriber_id=key,
        email=form.text(f"{prefix}email", "The email address", characters_max=50),
        first_name=form.text(f"{prefix}first_name", "The first name", characters_max=50),
        last_name=form.text(f"{prefix}last_name", "The last name", characters_max=50),
        address={name: text for name, text in address.items() if text},
    )
    if not prefix and not person.is_named and not form["subscription"]:
        form.refuse("subscriber", f"Say {who}: a subscriber's number, or a name.")
    return person


def _field_of(error: RefusedOrder) -> str:
    """Return the form field for a column of a file of orders."""
    name = error.field.replace("subscriber_id", "subscriber").replace("bundle_id", "bundle")
    name = name.replace("subscription_id", "subscription")
    return name.replace("product_id", "product").replace("external_reference", "reference")


def _form(
    request: PageRequest, form: Form, *, checked: _Checked | None = None, status: int = 200
) -> Response:
    with request.books.snapshot() as inside:
        orderable = catalogue.orderable(inside)
        subscriber = _subscriber(inside, form["subscriber"])
    return request.page(
        "order_new",
        status,
        form=form,
        checked=checked,
        subscriber=subscriber,
        orderable=orderable,
    )


def _subscriber(books: Books, typed: str) -> subscribers.Person | None:
    key = id_in(typed)
    if key is None:
        return None
    try:
        return subscribers.show(books, key)
    except NotFound:
        return None


def show(request: PageRequest) -> Response:
    """Show an order with its items, their terms and money."""
    key = int(request.ids["id"])
    return request.page("order", order=orders.show(request.books, key), key=key)


pages = [
    get("/orders/new", new, Action.ORDER),
    post("/orders/new", take, Action.ORDER),
    get("/orders/{id:int}", show),
]
