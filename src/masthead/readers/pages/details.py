"""The reader's own name and address; the address moves with the subscriptions that are chosen."""

from starlette.responses import Response

from masthead.books import reader_addresses, reader_details
from masthead.books.reader_addresses import Wanted
from masthead.books.reader_home import Home, Subscription
from masthead.circulation.page_settings import PageSettings
from masthead.readers import address_page
from masthead.readers.form_page import Field, FormPage, save, show
from masthead.readers.forms import Form
from masthead.readers.home_view import title_of
from masthead.readers.page_request import PageRequest, get, post
from masthead.readers.pages import email

_PATH = "address"
_NAME_PATH = "address/name"


def show_details(request: PageRequest) -> Response:
    """Show the form with the address to which most subscriptions go."""
    home = request.home
    values = address_page.values_of(_present(home), home.reader)
    chosen = {_name(each): "1" for each in _moving(home)}
    return _page(request, home, request.new_form({**values, **chosen}))


def change(request: PageRequest) -> Response:
    """Save the address for the chosen subscriptions; or show the form of another country."""
    home = request.home
    moving, form = _moving(home), request.new_form()
    if address_page.is_choosing_country(form):
        return _page(request, home, form)
    address_page.check(request, form)
    if not form.is_good:
        return _page(request, home, form)

    def make() -> str:
        wanted = Wanted(
            address_page.address_of(form),
            [each.subscription_id for each in moving if form[_name(each)]],
            form["first"] or None,
            # Without a subscription, there is nothing else to choose.
            bills=bool(form["bills"]) or not moving,
        )
        books = request.books_for("address", request.at(_PATH))
        done = reader_addresses.change(books, request.subscriber_id, wanted)
        said = request.gettext("The new address is noted.")
        if done.first is not None:
            day = request.words.day(done.first)
            said = request.gettext("The new address is noted from %(day)s on.", day=day)
        if wanted.bills and wanted.first:
            said += " " + request.gettext("Invoices go there from now on.")
        return said

    return save(request, form, make, _PATH) or _page(request, home, form)


def show_name(request: PageRequest) -> Response:
    """Show the form with the reader's name."""
    person = request.home.reader
    names = {"first_name": person.first_name or "", "last_name": person.last_name or ""}
    return _name_page(request, request.new_form(names))


def rename(request: PageRequest) -> Response:
    """Save the reader's name."""
    form = request.new_form()

    def make() -> str:
        books = request.books_for("name", request.at(_PATH))
        reader_details.rename(books, request.subscriber_id, form["first_name"], form["last_name"])
        return request.gettext("The new name is noted.")

    return save(request, form, make, _PATH) or _name_page(request, form)


def _name_page(request: PageRequest, form: Form) -> Response:
    first, last = request.gettext("First name"), request.gettext("Last name")
    page = FormPage(
        request.gettext("Your name"),
        request.gettext("Save the name"),
        [
            Field("first_name", first, complete="given-name"),
            Field("last_name", last, complete="family-name"),
        ],
        back=_PATH,
        back_title=request.gettext("Your address"),
        below=[request.gettext("Your addresses with the former name get the new one, too.")],
    )
    return show(request, page, form)


def _page(request: PageRequest, home: Home, form: Form) -> Response:
    moving = _moving(home)
    if "subscriptions" in form.errors and moving:
        form.errors = {
            _name(moving[0]) if name == "subscriptions" else name: said
            for name, said in form.errors.items()
        }
    fields = [
        Field(
            _name(each),
            title_of(each, request.words),
            "check",
            ", ".join(request.words.address_lines(each.address.fields) if each.address else []),
        )
        for each in moving
    ]
    if moving:
        hint = request.gettext("Invoices go there from now on.")
        fields.append(Field("bills", request.gettext("Invoices"), "check", hint))
        fields.append(
            Field(
                "first",
                request.gettext("First day"),
                "date",
                request.gettext("Leave it empty if the address holds from now on."),
                least=home.today,
            )
        )
    page = FormPage(
        request.gettext("Your address"),
        request.gettext("Save the address"),
        subject=f"{home.reader.first_name or ''} {home.reader.last_name or ''}".strip(),
    )
    return show(
        request,
        page,
        form,
        "address",
        shown=address_page.shown(form, request.words),
        times=fields,
        times_title=request.gettext("What goes there"),
        noted=[],
        others=[(request.gettext("Change your name"), _NAME_PATH), *email.links(request)],
    )


def _moving(home: Home) -> list[Subscription]:
    """Return the subscriptions whose address the reader may change."""
    return [each for each in home.subscriptions if each.may.address]


def _present(home: Home) -> dict[str, str]:
    """Return the address to which the first subscription goes, else the reader's first one."""
    found = next((each.address for each in _moving(home) if each.address), None)
    if found is None and home.addresses:
        found = home.addresses[0]
    return dict(found.fields) if found else {}


def _name(each: Subscription) -> str:
    return f"subscription_{each.subscription_id}"


def _is_offered(settings: PageSettings) -> bool:
    return settings.address


pages = [
    get(_PATH, show_details, _is_offered),
    post(_PATH, change, _is_offered),
    get(_NAME_PATH, show_name, _is_offered),
    post(_NAME_PATH, rename, _is_offered),
]
