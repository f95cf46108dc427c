"""The address of a subscription: for good, from an issue or a day on, or for some days."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from masthead.books import reader_addresses
from masthead.books.reader_addresses import Changed, Wanted
from masthead.books.reader_home import Home, Subscription
from masthead.circulation.page_settings import PageSettings
from masthead.errors import NotFound
from masthead.readers import address_page
from masthead.readers.form_page import Field, FormPage, own_subscription, save, show
from masthead.readers.forms import Form
from masthead.readers.home_view import address_title, span_in_words, title_of
from masthead.readers.issue_words import issue_in_words
from masthead.readers.page_request import PageRequest, get, post

_PATH = "subscriptions/{id:int}/address"
_NOW, _ISSUE, _DAY, _WHILE = "now", "issue", "day", "while"


class Noted(NamedTuple):
    """An address for some days that is noted: its sentence, its lines, and how it is ended."""

    sentence: str
    line: str
    path: str
    first: str


def show_address(request: PageRequest) -> Response:
    """Show the form with the present address."""
    home, found = own_subscription(request)
    return _page(request, home, found, _present(request, home, found))


def change(request: PageRequest) -> Response:
    """Save the address; or show the form of another country."""
    home, found = own_subscription(request)
    form, then = request.new_form(), f"subscriptions/{found.subscription_id}"
    if address_page.is_choosing_country(form):
        return _page(request, home, found, form)
    address_page.check(request, form)
    if not form.is_good:
        return _page(request, home, found, form)

    def make() -> str:
        done = _change(request, found, form, then)
        return _said(request, done, bills=bool(form["bills"]))

    return save(request, form, make, then) or _page(request, home, found, form)


def end_temporary(request: PageRequest) -> Response:
    """End an address that holds for some days."""
    home, found = own_subscription(request)
    first = request.new_form()["first"]
    form, then = _present(request, home, found), f"subscriptions/{found.subscription_id}"

    def make() -> str:
        books = request.books_for("temporary address", request.at(then))
        reader_addresses.end_for_a_while(books, request.subscriber_id, found.subscription_id, first)
        return request.gettext("The temporary address has ended.")

    return save(request, form, make, then) or _page(request, home, found, form)


def _present(request: PageRequest, home: Home, found: Subscription) -> Form:
    """Return the form with the present address of the subscription."""
    present = found.address.fields if found.address else {}
    return request.new_form(address_page.values_of(present, home.reader))


def _change(request: PageRequest, found: Subscription, form: Form, then: str) -> Changed:
    books = request.books_for("address", request.at(then))
    address = address_page.address_of(form)
    if form["when"] == _WHILE:
        return reader_addresses.change_for_a_while(
            books,
            request.subscriber_id,
            found.subscription_id,
            address,
            form["first"],
            form["last"],
        )
    issue = form["issue"] if form["when"] == _ISSUE else ""
    wanted = Wanted(
        address,
        (found.subscription_id,),
        form["first"] if form["when"] == _DAY else None,
        int(issue) if issue.isdecimal() and len(issue) < len(str(2**63)) else None,
        bills=bool(form["bills"]),
    )
    return reader_addresses.change(books, request.subscriber_id, wanted)


def _said(request: PageRequest, done: Changed, *, bills: bool) -> str:
    if done.first is None:
        return request.gettext("The new address is noted.")
    span = span_in_words(done.first, done.last, request.words)
    said = request.gettext("The new address is noted %(span)s.", span=span)
    if bills and done.last is None:
        said += " " + request.gettext("Invoices go there from now on.")
    return said


def _page(request: PageRequest, home: Home, found: Subscription, form: Form) -> Response:
    if not (found.may.address or found.may.temporary_address):
        raise NotFound("the address cannot be changed")
    page = FormPage(
        address_title(found, request.words),
        request.gettext("Save the address"),
        subject=title_of(found, request.words),
        back=f"subscriptions/{found.subscription_id}",
        back_title=title_of(found, request.words),
    )
    return show(
        request,
        page,
        form,
        "address",
        path=request.at(f"subscriptions/{found.subscription_id}/address"),
        shown=address_page.shown(form, request.words),
        times=_times(request, home, found),
        times_title=request.gettext("From when on")
        if found.address
        else request.gettext("Invoices"),
        noted=_noted(request, found),
        others=[],
    )


def _times(request: PageRequest, home: Home, found: Subscription) -> Sequence[Field]:
    """Return the fields that say from when on the address holds.

    The first address of a subscription holds from now on: there is no other one until a later day,
    and none afterwards.
    """
    bills = Field(
        "bills",
        request.gettext("Send invoices to this address, too"),
        "check",
        request.gettext("Invoices go there from now on."),
    )
    if found.address is None and found.may.address:
        return [bills]
    words, times = request.words, []
    coming = [(str(each.issue_id), issue_in_words(each, words), "") for each in found.coming]
    if found.may.address:
        times.append((_NOW, request.gettext("from now on"), ""))
        if coming:
            times.append((_ISSUE, request.gettext("from an issue on"), ""))
        times.append((_DAY, request.gettext("from a day on"), ""))
    if found.may.temporary_address:
        hint = request.gettext("Afterwards the present address holds again.")
        times.append((_WHILE, request.gettext("for some days only"), hint))
    fields = [Field("when", request.gettext("The address holds"), "radios", options=times)]
    if found.may.address and coming:
        hint = request.gettext("If it holds from an issue on.")
        fields.append(Field("issue", request.gettext("Issue"), "choice", hint, options=coming))
    fields.append(
        Field(
            "first",
            request.gettext("First day"),
            "date",
            request.gettext("If it holds from a day on, or for some days."),
            least=home.today,
        )
    )
    if found.may.temporary_address:
        hint = request.gettext("If it holds for some days only.")
        fields.append(Field("last", request.gettext("Last day"), "date", hint, least=home.today))
    if found.may.address:
        fields.append(bills)
    return fields


def _noted(request: PageRequest, found: Subscription) -> list[Noted]:
    if not found.may.temporary_address:
        return []
    path = f"subscriptions/{found.subscription_id}/address/end"
    return [
        Noted(span_in_words(each.first, each.last, request.words), each.line, path, each.first)
        for each in found.temporary
    ]


def _is_offered(settings: PageSettings) -> bool:
    return settings.address or settings.temporary_address


def _has_temporary(settings: PageSettings) -> bool:
    return settings.temporary_address


pages = [
    get(_PATH, show_address, _is_offered),
    post(_PATH, change, _is_offered),
    post(f"{_PATH}/end", end_temporary, _has_temporary),
]
