"""Renew, buy and give: the offers, the order before it is placed, and the order after."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from masthead.books import gift_cards, reader_orders
from masthead.books.reader_home import Home
from masthead.books.reader_orders import Choice, Ordered, Payment, Use, Wanted
from masthead.circulation.page_settings import PageSettings
from masthead.contract.subscription_types import PRINTED
from masthead.errors import NotFound
from masthead.readers import address_page
from masthead.readers.form_page import Field, Pairs, own_subscription
from masthead.readers.forms import Form
from masthead.readers.home_view import TYPES, Link, title_of
from masthead.readers.ids import id_of
from masthead.readers.issue_words import issue_in_words
from masthead.readers.page_request import Page, PageRequest, get, post

_RENEW = "subscriptions/{id:int}/renew"
_GIFT_FIELDS = (
    "first_name",
    "last_name",
    "company",
    "address",
    "city",
    "state",
    "zip_code",
    "country",
    "begins",
    "message",
)
_ONCE = re.compile(r"[A-Za-z0-9_-]{1,64}")


class OfferShown(NamedTuple):
    """An offer in words: its id as text, what it gives, its price and the tax in it."""

    key: str
    title: str
    sentence: str
    total: str
    tax: str


class Shop(NamedTuple):
    """What is ordered on a page: to renew ``subscription_id``, to buy, or to give.

    ``has_offers`` is False for a subscription that cannot be renewed now.
    """

    use: Use
    path: str
    title: str
    subscription_id: int | None = None
    has_offers: bool = True


class Shown(NamedTuple):
    """The form of an order: its fields, or what the order does and costs before it is placed.

    ``facts`` is what cannot be chosen. ``blocked`` says why nothing can be ordered now, "" if it
    can; ``way_out`` is the page that mends it.
    """

    form: Form
    fields: Sequence[Field] = ()
    facts: Pairs = ()
    will: Pairs = ()
    hidden: Pairs = ()
    total: str = ""
    tax: str = ""
    blocked: str = ""
    way_out: Link | None = None


def show_renew(request: PageRequest) -> Response:
    """Show the offers that renew a subscription."""
    return _show(request, _renewing(request))


def renew(request: PageRequest) -> Response:
    """Renew a subscription."""
    return _order(request, _renewing(request))


def show_buy(request: PageRequest) -> Response:
    """Show the offers to buy."""
    return _show(request, Shop("buy", "buy", request.gettext("Subscribe")))


def buy(request: PageRequest) -> Response:
    """Buy a subscription."""
    return _order(request, Shop("buy", "buy", request.gettext("Subscribe")))


def show_gift(request: PageRequest) -> Response:
    """Show the offers to give."""
    return _show(request, Shop("gift", "gift", request.gettext("Give a subscription")))


def gift(request: PageRequest) -> Response:
    """Give a subscription."""
    return _order(request, Shop("gift", "gift", request.gettext("Give a subscription")))


def show_order(request: PageRequest) -> Response:
    """Show an order of the reader, with the link by which it is paid."""
    return _ordered(request, request.ids["id"])


def _ordered(request: PageRequest, order_id: int) -> Response:
    found = reader_orders.show(request.books, request.subscriber_id, order_id)
    words = request.words
    facts = [
        (request.gettext("Ordered"), ", ".join(found.items)),
        (request.gettext("On"), words.day(found.ordered_on)),
        (request.gettext("Number"), found.number or str(found.order_id)),
    ]
    about = []
    if found.has_ended:
        about.append(request.gettext("It was taken back."))
    elif not found.open_cents:
        about.append(request.gettext("It is paid."))
    elif found.payment == "invoice":
        about.append(request.gettext("You get an invoice."))
    elif found.payment == "mandate":
        about.append(request.gettext("We collect the amount from your bank account."))
    has_card = any(x.order_id == found.order_id and not x.has_ended for x in request.home.gifts)
    return request.page(
        "ordered",
        facts=facts,
        total=words.money(found.cents, found.currency),
        about=about,
        shop_link=found.link or "",
        card_path=f"order/{found.order_id}/card.pdf" if has_card else "",
    )


def show_sent(request: PageRequest) -> Response:
    """Show the order that a form placed, which was sent again."""
    once = str(request.ids["once"])
    return _ordered(request, reader_orders.of_form(request.books, request.subscriber_id, once))


def card(request: PageRequest) -> Response:
    """Send the card for a gift."""
    found = gift_cards.prepared(
        request.books, request.subscriber_id, request.ids["id"], request.language
    )
    return request.pdf("gift-card", found)


def _renewing(request: PageRequest) -> Shop:
    _, found = own_subscription(request)
    key = found.subscription_id
    title = request.gettext("Renew %(title)s", title=title_of(found, request.words))
    return Shop("renew", f"subscriptions/{key}/renew", title, key, has_offers=found.may.renew)


def _choices(request: PageRequest, shop: Shop) -> list[Choice]:
    return [
        each
        for each in reader_orders.choices(request.books, request.subscriber_id)
        if shop.use in each.uses
        and (shop.subscription_id is None or shop.subscription_id in each.renews)
    ]


def _show(request: PageRequest, shop: Shop) -> Response:
    home = request.home
    choices = _choices(request, shop) if shop.has_offers else []
    asked = id_of(request.query.get("offer", ""))
    chosen = next((each for each in choices if each.bundle_id == asked), None)
    if chosen is not None:
        form = request.new_form({"offer": str(asked), "country": _country(home)})
        return _form_page(request, shop, home, chosen, form)
    return request.page(
        "offers",
        title=shop.title,
        about=[],
        offers=[_in_words(request, home, each) for each in choices],
    )


def _order(request: PageRequest, shop: Shop) -> Response:
    home = request.home
    form = request.new_form()
    bundle_id = id_of(form["offer"])
    chosen = next((x for x in _choices(request, shop) if x.bundle_id == bundle_id), None)
    if chosen is None:
        raise NotFound("there is no such offer")
    if address_page.is_choosing_country(form) or form["change"]:
        return _form_page(request, shop, home, chosen, form)
    if shop.use == "gift":
        address_page.check(request, form)
    if not form.is_good:
        return _form_page(request, shop, home, chosen, form)
    is_sure = bool(form["sure"])
    with form.refusing():
        # The path of the new order is known once it is placed; a form that is sent again leads to
        # the order by its one-time value, and orders nothing.
        once = request.form.get("once", "")
        once = once if is_sure and _ONCE.fullmatch(once) else ""
        then = request.at(f"order/sent/{once}" if once else "")
        books = request.books_for("order", then if is_sure else "")
        wanted = _wanted(shop, form)._replace(form=once)
        done = reader_orders.order(books, request.subscriber_id, wanted, dry_run=not is_sure)
        if is_sure:
            return request.go(request.at(f"order/{done.order_id}"))
        return _sure_page(request, shop, home, chosen, form, done)
    form.values["sure"] = ""
    return _form_page(request, shop, home, chosen, form)


def _wanted(shop: Shop, form: Form) -> Wanted:
    payments: dict[str, Payment] = {"invoice": "invoice", "mandate": "mandate", "shop": "shop"}
    return Wanted(
        shop.use,
        id_of(form["offer"]),
        payments.get(form["payment"], "invoice"),
        shop.subscription_id,
        address_page.address_of(form) if shop.use == "gift" else {},
        form["begins"] or None,
        form["message"] if shop.use == "gift" else "",
    )


def _form_page(
    request: PageRequest, shop: Shop, home: Home, chosen: Choice, form: Form
) -> Response:
    ways = _payments(request)
    if not ways:
        said = request.gettext("There is no way to pay here at present. Please write to us.")
        return _page(request, shop, home, chosen, Shown(form, blocked=said))
    if shop.use == "buy" and not home.addresses and any(x.type in PRINTED for x in chosen.lines):
        return _page(request, shop, home, chosen, _without_address(request, form))
    if len(ways) == 1:
        ((way, words),) = ways
        facts = [(request.gettext("Payment"), words)]
        return _page(
            request, shop, home, chosen, Shown(form, facts=facts, hidden=[("payment", way)])
        )
    options = [(way, words, "") for way, words in ways]
    fields = [Field("payment", request.gettext("How you pay"), "radios", options=options)]
    return _page(request, shop, home, chosen, Shown(form, fields))


def _without_address(request: PageRequest, form: Form) -> Shown:
    """Return the form of an order that is sent by post, for a reader without any address."""
    if not request.settings.address:
        said = request.gettext("We have no address to send it to. Please write to us.")
        return Shown(form, blocked=said)
    said = request.gettext("We have no address to send it to. Enter your address, then order.")
    return Shown(form, blocked=said, way_out=(request.gettext("Your address"), "address"))


def _sure_page(
    request: PageRequest, shop: Shop, home: Home, chosen: Choice, form: Form, done: Ordered
) -> Response:
    """Show what the order costs, before it is placed."""
    payment = dict(_payments(request)).get(form["payment"], "")
    will = [(request.gettext("What"), done.bundle), (request.gettext("Payment"), payment)]
    if shop.use == "gift":
        lines = request.words.address_lines(address_page.address_of(form))
        will.insert(1, (request.gettext("For"), ", ".join(lines)))
        first = done.first_issue
        begins = request.gettext("the next issue")
        if first is not None:
            begins = issue_in_words(first, request.words)
        will.insert(2, (request.gettext("Begins with"), begins))
        will.append((request.gettext("On the card"), form["message"]))
    if done.goes_on:
        said = request.gettext("is taken back: your subscription goes on")
        will.append((request.gettext("Your cancellation"), said))
    hidden = [(name, form[name]) for name in ("payment", *_GIFT_FIELDS) if form[name]]
    total = request.words.money(done.cents, done.currency)
    tax = _tax(request, done.tax, done.currency)
    shown = Shown(form, will=will, hidden=hidden, total=total, tax=tax)
    return _page(request, shop, home, chosen, shown)


def _page(request: PageRequest, shop: Shop, home: Home, chosen: Choice, shown: Shown) -> Response:
    return request.page(
        "order",
        400 if shown.form.errors else 200,
        title=shop.title,
        back=shop.path,
        back_title=request.gettext("Other offers"),
        offer=_in_words(request, home, chosen),
        is_gift=shop.use == "gift",
        shown=address_page.shown(shown.form, request.words),
        today=home.today,
        terms_url=request.settings.terms_url,
        **shown._asdict(),
    )


def _payments(request: PageRequest) -> list[tuple[str, str]]:
    words = {
        "invoice": request.gettext("by invoice"),
        "mandate": request.gettext("by direct debit, with the mandate that you gave us"),
        "shop": request.gettext("in our shop, right after the order"),
    }
    found = reader_orders.payments(request.books, request.subscriber_id)
    return [(each, words[each]) for each in found]


def _in_words(request: PageRequest, home: Home, each: Choice) -> OfferShown:
    words = request.words
    lines = []
    for line in each.lines:
        kind = TYPES.get(line.type)
        said = words.gettext(kind) if kind else line.type
        if line.issues is None:
            months = words.ngettext("%(num)s month", "%(num)s months", line.months or 0)
            lines.append(f"{line.publication}: {f'{months}, ' if line.months else ''}{said}")
        else:
            issues = words.ngettext("%(num)s issue", "%(num)s issues", line.issues)
            lines.append(f"{line.publication}: {issues}, {said}")
    return OfferShown(
        str(each.bundle_id),
        each.name,
        "; ".join(lines),
        words.money(each.cents, home.currency),
        _tax(request, each.tax, home.currency),
    )


def _tax(request: PageRequest, cents: int, currency: str) -> str:
    if not cents:
        return ""
    return request.gettext("It includes %(tax)s tax.", tax=request.words.money(cents, currency))


def _country(home: Home) -> str:
    """Return the country with which the form of a gift begins: the reader's own."""
    own = home.addresses[0].fields if home.addresses else {}
    return address_page.values_of(own, home.reader)["country"]


def _may_renew(settings: PageSettings) -> bool:
    return settings.renew


def _may_buy(settings: PageSettings) -> bool:
    return settings.buy


def _may_give(settings: PageSettings) -> bool:
    return settings.gift


def _may_order(settings: PageSettings) -> bool:
    return settings.renew or settings.buy or settings.gift


pages: list[Page] = [
    get(_RENEW, show_renew, _may_renew),
    post(_RENEW, renew, _may_renew),
    get("buy", show_buy, _may_buy),
    post("buy", buy, _may_buy),
    get("gift", show_gift, _may_give),
    post("gift", gift, _may_give),
    get("order/{id:int}", show_order, _may_order),
    get("order/sent/{once}", show_sent, _may_order),
    get("order/{id:int}/card.pdf", card, _may_give),
]
