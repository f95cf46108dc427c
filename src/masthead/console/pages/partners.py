"""Partners: access on and off, their pairs (shown once), rights, last use, requests and errors."""

from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from masthead.console.forms import Form
from masthead.console.page_request import PageRequest, get, post
from masthead.console.roles import Action
from masthead.store import accounts, credentials
from masthead.store import partners as store_partners
from masthead.store.partners import NAMES_OF_OPERATIONS, RATE_MAX, Partner
from masthead.store.request_counts import counts_of, totals_of

_DAY_US = 24 * 60 * 60 * 1_000_000


class _NewPair(NamedTuple):
    """A pair that is shown this once, and whose it is; ``name`` is "" for the account's own."""

    name: str
    pair: tuple[str, str]


def partners(request: PageRequest) -> Response:
    """Show who has access, what each partner may ask for, and how much each asked."""
    return _shown(request, None)


def _shown(request: PageRequest, new: _NewPair | None) -> Response:
    with request.reading() as connection:
        settings = accounts.settings_of(connection, request.account_id)
    return request.page(
        "partners",
        is_active=bool(settings["api_active"]),
        has_key=bool(settings["api_key"]),
        partners=store_partners.partners_of(request.store, request.account_id),
        pairs=credentials.credentials_of(request.store, request.account_id),
        totals=totals_of(request.store, request.account_id),
        counts=counts_of(request.store, request.account_id),
        new=new,
    )


def switch(request: PageRequest) -> Response:
    """Switch the partners' access on or off."""
    is_on = request.form.get("on") == "1"
    accounts.set_account(
        request.store,
        request.account_id,
        {"api_active": int(is_on)},
        by=request.actor("API access on" if is_on else "API access off"),
    )
    return request.go("/partners", "Partners have access." if is_on else "Partners have no access.")


def add_form(request: PageRequest) -> Response:
    """Show the form of a new partner, who may ask for everything."""
    return _form(request, Form(dict.fromkeys(NAMES_OF_OPERATIONS, "1")), None)


def add(request: PageRequest) -> Response:
    """Add a partner, and show the new pair once."""
    form = Form(request.form)
    operations, rate = _rights(form)
    name = form["name"].strip()
    pair = None
    if form.is_good:
        with form.refusing("name"):
            pair = store_partners.add_partner(
                request.store,
                request.account_id,
                name,
                operations=operations,
                rate=rate,
                by=request.actor("a partner was added"),
            )
    if pair is None:
        return _form(request, form, None, 400)
    return _shown(request, _NewPair(name, pair))


def rights_form(request: PageRequest) -> Response:
    """Show what a partner may ask for. Raises NotFound without such a partner."""
    partner = _partner(request, request.query)
    allowed = NAMES_OF_OPERATIONS
    if partner.operations is not None:
        allowed = tuple(partner.operations.split())
    values = {**dict.fromkeys(allowed, "1"), "rate": str(partner.rate or "")}
    return _form(request, Form(values), partner)


def save_rights(request: PageRequest) -> Response:
    """Save what a partner may ask for. Raises NotFound without such a partner."""
    partner, form = _partner(request, request.form), Form(request.form)
    operations, rate = _rights(form)
    if not form.is_good:
        return _form(request, form, partner, 400)
    store_partners.set_partner(
        request.store,
        request.account_id,
        partner.name,
        operations=operations,
        rate=rate,
        by=request.actor("rights of a partner"),
    )
    return request.go("/partners", f"What {partner.name} may do was saved.")


def rotate(request: PageRequest) -> Response:
    """Create a new pair and show it once; the old one ends now or in a day.

    It is that of a partner if the form names one. Raises NotFound without such a partner.
    """
    name = _partner(request, request.form).name if request.form.get("partner") else ""
    keeps = request.form.get("keeps") == "1"
    if request.form.get("sure") != "1":
        return request.page("partners_rotate", keeps=keeps, name=name)
    overlap_us = _DAY_US if keeps else 0
    by = request.actor("new credentials")
    if name:
        pair = store_partners.rotate_partner(
            request.store, request.account_id, name, overlap_us=overlap_us, by=by
        )
        return _shown(request, _NewPair(name, pair))
    accounts.rotate_credentials(request.store, request.account_id, overlap_us=overlap_us, by=by)
    with request.reading() as connection:
        settings = accounts.settings_of(connection, request.account_id)
    return _shown(request, _NewPair("", (str(settings["api_key"]), str(settings["api_login"]))))


def remove(request: PageRequest) -> Response:
    """Remove a partner, after a question. Raises NotFound without such a partner."""
    name = _partner(request, request.form).name
    if request.form.get("sure") != "1":
        return request.page("partners_remove", name=name)
    by = request.actor("a partner was removed")
    store_partners.remove_partner(request.store, request.account_id, name, by=by)
    return request.go("/partners", f"{name} has no access any more.")


def _partner(request: PageRequest, values: Mapping[str, str]) -> Partner:
    with request.reading() as connection:
        return store_partners.get_partner(connection, request.account_id, values.get("partner", ""))


def _rights(form: Form) -> tuple[list[str] | None, int | None]:
    """Return the operations in a form, None for all, and the rate; note what is wrong."""
    allowed = [name for name in NAMES_OF_OPERATIONS if form[name]]
    if not allowed:
        form.refuse(NAMES_OF_OPERATIONS[0], "Tick what the partner may ask for.")
    rate = form.number("rate", "The limit", at_least=1, at_most=RATE_MAX)
    return None if len(allowed) == len(NAMES_OF_OPERATIONS) else allowed, rate


def _form(request: PageRequest, form: Form, partner: Partner | None, status: int = 200) -> Response:
    return request.page(
        "partner", status, form=form, partner=partner, operations=NAMES_OF_OPERATIONS
    )


pages = [
    get("/partners", partners),
    get("/partners/new", add_form, Action.PARTNERS),
    post("/partners/new", add, Action.PARTNERS, writes=False),
    get("/partners/rights", rights_form, Action.PARTNERS),
    post("/partners/rights", save_rights, Action.PARTNERS, writes=False),
    post("/partners/access", switch, Action.PARTNERS, writes=False),
    post("/partners/rotate", rotate, Action.PARTNERS, writes=False),
    post("/partners/remove", remove, Action.PARTNERS, writes=False),
]
