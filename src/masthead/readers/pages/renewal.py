"""Automatic renewal: switched on by the reader's consent, switched off, and what happens when."""

from starlette.responses import Response

from masthead.books import reader_renewing
from masthead.books.reader_home import Home, Subscription
from masthead.books.renewal_consents import Renewal
from masthead.circulation.page_settings import PageSettings
from masthead.readers.form_page import Field, FormPage, own_subscription, save, show
from masthead.readers.forms import Form
from masthead.readers.home_view import title_of
from masthead.readers.page_request import PageRequest, get, post

_PATH = "subscriptions/{id:int}/renewal"


def show_renewal(request: PageRequest) -> Response:
    """Show whether the subscription renews, what happens when, and how that is changed."""
    home, found = own_subscription(request)
    return _page(request, home, found, request.new_form({}))


def switch(request: PageRequest) -> Response:
    """Switch the automatic renewal on or off."""
    home, found = own_subscription(request)
    form, then = request.new_form(), f"subscriptions/{found.subscription_id}"
    key = found.subscription_id

    def change() -> str:
        books = request.books_for("automatic renewal", request.at(then))
        if form["switch"] == "off":
            reader_renewing.switch_off(books, request.subscriber_id, key)
            return request.gettext("The subscription does not renew automatically any more.")
        chosen = _chosen(request, found, form)
        words = _consent(request) if form["agreed"] else ""
        reader_renewing.switch_on(
            books, request.subscriber_id, key, chosen.bundle_id if chosen else 0, words
        )
        return request.gettext("The subscription renews automatically from now on.")

    return save(request, form, change, then) or _page(request, home, found, form)


def _chosen(request: PageRequest, found: Subscription, form: Form) -> Renewal | None:
    bundles = reader_renewing.bundles(request.books, request.subscriber_id, found.subscription_id)
    return next((each for each in bundles if str(each.bundle_id) == form["bundle"]), None)


def _page(request: PageRequest, home: Home, found: Subscription, form: Form) -> Response:
    page = FormPage(
        request.gettext("Automatic renewal"),
        subject=title_of(found, request.words),
        back=f"subscriptions/{found.subscription_id}",
        back_title=title_of(found, request.words),
    )
    if found.renewal:
        return show(request, _off(request, home, found, page), form)
    return show(request, _on(request, home, found, page), form)


def _off(request: PageRequest, home: Home, found: Subscription, page: FormPage) -> FormPage:
    renewal, words = found.renewal, request.words
    assert renewal
    facts = [
        (request.gettext("On since"), words.day(renewal.given_on)),
        (request.gettext("What is ordered"), renewal.bundle),
    ]
    if renewal.renews_on:
        facts.append((request.gettext("Next order"), words.day(renewal.renews_on)))
    if renewal.cents is not None:
        facts.append((request.gettext("Price"), words.money(renewal.cents, home.currency)))
    return page._replace(
        about=[
            request.gettext(
                "Before each order we tell you its day and its price. You can switch the renewal "
                "off at any time; what is ordered already stays."
            )
        ],
        facts=facts,
        will=[(request.gettext("It ends"), words.day(found.until))] if found.until else [],
        hidden=(("switch", "off"),),
        button=request.gettext("Switch off"),
    )


def _on(request: PageRequest, home: Home, found: Subscription, page: FormPage) -> FormPage:
    bundles = reader_renewing.bundles(request.books, request.subscriber_id, found.subscription_id)
    if not bundles or not found.may.renew_on:
        return page._replace(
            about=[request.gettext("This subscription cannot renew automatically.")]
        )
    options = [
        (str(each.bundle_id), each.name, request.words.money(each.cents, home.currency))
        for each in bundles
    ]
    return page._replace(
        about=[
            request.gettext(
                "When the issues are used up, we order for you. Before that we tell you the day "
                "and the price, in time to switch it off."
            )
        ],
        fields=(
            Field("bundle", request.gettext("What is ordered"), "radios", options=options),
            Field("agreed", _consent(request), "check"),
        ),
        hidden=(("switch", "on"),),
        button=request.gettext("Switch on"),
    )


def _consent(request: PageRequest) -> str:
    """Return the words to which a reader agrees; they are kept with the consent."""
    return request.gettext(
        "I agree that the subscription renews automatically until I switch that off or cancel."
    )


def _is_offered(settings: PageSettings) -> bool:
    return settings.automatic_renewal


pages = [
    get(_PATH, show_renewal, _is_offered),
    post(_PATH, switch, _is_offered),
]
