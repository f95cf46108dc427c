"""The readers' pages: their settings, a preview of the look, the bundles, and open requests."""

import base64
from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from masthead.books import (
    Books,
    catalogue,
    page_settings,
    reader_bundles,
    reader_changes,
    reader_requests,
)
from masthead.circulation.page_colours import colours_of
from masthead.circulation.page_settings import SETTINGS, PageSettings
from masthead.circulation.setting_values import logo_from
from masthead.console.forms import Form, sentence
from masthead.console.page_request import Page, PageRequest, get
from masthead.console.record_forms import Field, RecordForm, State, pages_of
from masthead.console.roles import Action
from masthead.errors import BadInput, NotFound
from masthead.web.forms import Change, StaleError, seen_of, take_over

_MEANINGS = {each.name: each.meaning for each in SETTINGS}
_CANCEL = (
    ("at_end", "At the end of what is paid"),
    ("at_once", "At once, or at the end of what is paid"),
    ("no", "Not on the pages"),
)
_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
"""A picture of one pixel, where there is no logo."""

Labels = Mapping[str, str]

GROUPS: Mapping[str, Labels] = {
    "The site": {
        "site": "Short name in the address",
        "name": "Name of the publisher",
        "colour": "Colour",
        "languages": "Languages",
        "contact": "Email address for questions",
        "contact_phone": "Telephone number",
        "imprint_url": "Imprint",
        "privacy_url": "Privacy notice",
        "terms_url": "Terms of sale",
    },
    "Addresses and pauses": {
        "address": "Readers change their addresses",
        "temporary_address": "Readers give an address for some days",
        "pause": "Readers pause",
        "pause_days": "Days of pauses in a year",
        "pause_notice": "Days before a pause begins",
    },
    "Buying and cancelling": {
        "renew": "Readers renew",
        "buy": "Readers buy",
        "gift": "Readers give",
        "pay_by_invoice": "By invoice",
        "pay_by_mandate": "By mandate",
        "shop_url": "Address of your shop",
        "paywall_url": "Address of your site with a paywall",
        "automatic_renewal": "Readers switch automatic renewal",
        "cancel": "Readers cancel",
    },
    "Data and copies": {
        "questionnaire": "Readers answer your questions",
        "my_data": "Readers see their data",
        "erasure": "Readers ask for erasure",
        "purposes": "What readers can consent to",
        "documents": "Readers have their invoices and letters",
        "missing_copy": "Readers say that a copy is missing",
        "missing_copies": "Copies in a year that are sent again at once",
        "missing_copy_days": "Days after an issue for that",
    },
}
"""The settings of the form by group, each with its label; the logo is a file."""

NAMES = tuple(name for labels in GROUPS.values() for name in labels)
_DEFAULTS = PageSettings()
_FIELDS = (*NAMES, "logo")
_CHECKS = {name for name in NAMES if isinstance(getattr(_DEFAULTS, name), bool)}


class _Shown(NamedTuple):
    """A bundle for sale, and what readers can do with it."""

    bundle: catalogue.Bundle
    contents: str
    uses: frozenset[str]


def readers_pages(request: PageRequest) -> Response:
    """Show the settings, a preview, and the bundles that readers see."""
    with request.books.snapshot() as inside:
        found = page_settings.listing(inside)
        settings = page_settings.show(inside)
        orderable, uses = catalogue.orderable(inside), reader_bundles.shown(inside)
    texts = {each.name: each.value for each in found}
    return request.page(
        "readers_pages",
        settings=settings,
        groups={
            title: [(label, _in_words(name, texts[name])) for name, label in labels.items()]
            for title, labels in GROUPS.items()
        },
        bundles=[
            _Shown(each, orderable.contents.get(each.bundle_id, ""), uses.get(each.bundle_id, NONE))
            for each in orderable.bundles
        ],
        uses=USES,
    )


NONE: frozenset[str] = frozenset()
USES = {"renew": "Renew", "buy": "Buy", "gift": "Give"}


def _in_words(name: str, text: str) -> str:
    return dict(_CANCEL)[text] if name == "cancel" else text


def look(request: PageRequest) -> Response:
    """Return the stylesheet of the preview, with the publisher's colour."""
    found = colours_of(page_settings.show(request.books).colour)
    css = (
        f".preview .bar, .preview .go {{ background: {found.brand}; color: {found.ink}; }}\n"
        f".preview .link {{ color: {found.link}; }}\n"
        "@media (prefers-color-scheme: dark) "
        f"{{ .preview .link {{ color: {found.link_dark}; }} }}\n"
    )
    return Response(css, media_type="text/css")


def logo(request: PageRequest) -> Response:
    """Return the logo; a picture of one pixel if there is none."""
    media_type, content = page_settings.show(request.books).logo_picture or ("image/png", _PNG)
    headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
    return Response(content, media_type=media_type, headers=headers)


def _state(books: Books) -> dict[str, object]:
    texts = {each.name: each.value for each in page_settings.listing(books)}
    return {name: (texts[name] == "yes" if name in _CHECKS else texts[name]) for name in NAMES}


def edit(request: PageRequest) -> Response:
    """Show the form with the settings."""
    state = _state(request.books)
    form = Form({name: "1" if value is True else str(value or "") for name, value in state.items()})
    return _form(request, form, state)


def save(request: PageRequest) -> Response:
    """Save the settings that were changed."""
    form, state = Form(request.form), _state(request.books)
    changes: list[Change] = []
    try:
        take_over(form, state, NAMES)
        typed = {name: _typed(form, name) for name in NAMES}
        was = {name: _typed(Form({name: str(state[name] or "")}), name) for name in NAMES}
        changed = {name: text for name, text in typed.items() if text != was[name]}
        changed |= _logo(request, form)
        books = request.books_for("settings of the readers' pages", "/readers-pages")
        done = page_settings.set_values(books, changed)
    except StaleError as error:
        labels = {name: label for each in GROUPS.values() for name, label in each.items()}
        changes = [each._replace(field=labels[each.field]) for each in error.changes]
        return _form(request, form, state, 409, changes)
    except BadInput as error:
        name, _, why = str(error).partition(": ")
        is_one = name in _FIELDS
        form.refuse(name if is_one else "", sentence(why if is_one else error))
        return _form(request, form, state, 400)
    said = "The settings were saved." if done.names else "Nothing was changed."
    return request.go("/readers-pages", said)


def _logo(request: PageRequest, form: Form) -> dict[str, str]:
    """Return the logo that the form sent, or "" where it is to go, by the setting's name."""
    if sent := request.files.get("logo"):
        try:
            return {"logo": logo_from(sent.name, sent.data)}
        except BadInput as error:
            raise BadInput(f"logo: {error}") from None
    return {"logo": ""} if form["no_logo"] else {}


def _typed(form: Form, name: str) -> str:
    if name in _CHECKS:
        return "yes" if form[name] else "no"
    return form[name].strip()


def _form(
    request: PageRequest,
    form: Form,
    state: State,
    status: int = 200,
    changes: list[Change] | None = None,
) -> Response:
    return request.page(
        "readers_pages_form",
        status,
        form=form,
        groups=GROUPS,
        checks=_CHECKS,
        meanings=_MEANINGS,
        cancel=_CANCEL,
        has_logo=bool(page_settings.show(request.books).logo),
        seen=seen_of(state),
        changes=changes or [],
    )


def _bundle(books: Books, key: int) -> State:
    """Return what readers can do with a bundle. Raises NotFound if it is not for sale."""
    orderable = catalogue.orderable(books)
    found = next((each for each in orderable.bundles if each.bundle_id == key), None)
    if found is None:
        raise NotFound("there is no such bundle for sale")
    uses = reader_bundles.shown(books).get(key, NONE)
    return {"name": found.name or "", **{use: use in uses for use in USES}}


def _set_uses(books: Books, key: int, form: Form) -> str:
    uses = tuple(use for use in reader_bundles.USES if form[use])
    reader_bundles.set_uses(books, key, uses)
    return "the bundle was saved" if uses else "readers do not see the bundle"


def _asked(books: Books, key: int) -> State:
    """Return a request of a reader. Raises NotFound if there is none."""
    found = reader_requests.find(books, key)
    return {
        "who": " ".join(filter(None, (found.first_name, found.last_name))),
        "what": REQUESTS[found.kind],
        "about": found.issue or "",
        "said": found.text or "",
        "answered": found.answered_at or "",
    }


def _answer(books: Books, key: int, _form: Form) -> str:
    reader_requests.answer(books, key)
    return "the request was answered"


def _changed(books: Books, key: int) -> State:
    """Return what a reader changed. Raises NotFound if there is no such change."""
    found = reader_changes.find(books, key)
    return {
        "said": found.said,
        "made_at": found.made.made_at,
        "subscriber": found.made.subscriber_id,
        "undone": found.made.undone_at or "",
    }


def _undo(books: Books, key: int, _form: Form) -> str:
    reader_changes.undo(books, key)
    return "it was undone"


REQUESTS = {
    "missing_copy": "misses a copy",
    "erasure": "asks for erasure",
    "message": "writes",
}
"""What the pages call the requests of readers."""


def _named(_key: int, state: State) -> str:
    return ", ".join(str(state[name]) for name in ("what", "about", "said") if state.get(name))


pages = [
    get("/readers-pages", readers_pages),
    get("/readers-pages/look.css", look),
    get("/readers-pages/logo", logo),
    get("/readers-pages/settings", edit, Action.PAGES),
    Page("POST", "/readers-pages/settings", save, Action.PAGES, writes=False, has_files=True),
    *pages_of(
        RecordForm(
            "/readers-pages/bundles/{id:int}",
            "What readers can do with",
            "Save",
            Action.PAGES,
            tuple(Field(use, label, "check") for use, label in USES.items()),
            _bundle,
            _set_uses,
            lambda _key, _state: "/readers-pages",
            lambda _key, state: str(state["name"]),
            "Without a tick, readers do not see the bundle.",
            starts_empty=False,
        ),
        RecordForm(
            "/reader-requests/{id:int}/answer",
            "Answered",
            "It is answered",
            Action.SERVE,
            (),
            _asked,
            _answer,
            lambda _key, _state: "/",
            lambda _key, state: f"{state['who']} {_named(_key, state)}",
            "Answer the reader first, by telephone or by mail. The request then leaves this list.",
        ),
        RecordForm(
            "/reader-changes/{id:int}/undo",
            "Undo what the reader did",
            "Undo it",
            Action.SERVE,
            (),
            _changed,
            _undo,
            lambda _key, state: f"/subscribers/{state['subscriber']}",
            lambda _key, state: f"{state['said']}, {str(state['made_at'])[:10]}",
            "All is as it was before. The reader is not told: write to the reader.",
        ),
    ),
]
