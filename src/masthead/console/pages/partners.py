"""Partners: API access on and off, keys (shown once), last use, requests and errors."""

from starlette.responses import Response

from masthead.console.page_request import PageRequest, get, post
from masthead.console.roles import Action
from masthead.store import accounts, credentials
from masthead.store.request_counts import counts_of

_DAY_US = 24 * 60 * 60 * 1_000_000


def partners(request: PageRequest) -> Response:
    """Show whether partners have access, when each pair was last used, and their requests."""
    return _shown(request, None)


def _shown(request: PageRequest, pair: tuple[str, str] | None) -> Response:
    with request.reading() as connection:
        settings = accounts.settings_of(connection, request.account_id)
    return request.page(
        "partners",
        is_active=bool(settings["api_active"]),
        has_key=bool(settings["api_key"]),
        pairs=credentials.credentials_of(request.store, request.account_id),
        counts=counts_of(request.store, request.account_id),
        pair=pair,
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


def rotate(request: PageRequest) -> Response:
    """Create a new pair for the account and show it once; the old one ends now or in a day."""
    if request.form.get("sure") != "1":
        return request.page("partners_rotate", keeps=request.form.get("keeps") == "1")
    accounts.rotate_credentials(
        request.store,
        request.account_id,
        overlap_us=_DAY_US if request.form.get("keeps") == "1" else 0,
        by=request.actor("new credentials"),
    )
    with request.reading() as connection:
        settings = accounts.settings_of(connection, request.account_id)
    return _shown(request, (str(settings["api_key"]), str(settings["api_login"])))


pages = [
    get("/partners", partners),
    post("/partners/access", switch, Action.PARTNERS, writes=False),
    post("/partners/rotate", rotate, Action.PARTNERS, writes=False),
]
