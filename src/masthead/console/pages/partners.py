"""Partners: API access on and off, keys that are shown once, last use, requests and errors."""

from starlette.responses import Response

from masthead.console.roles import Action
from masthead.console.visit import Visit, get, post
from masthead.store import accounts, keys
from masthead.store.request_counts import counts_of

__all__ = ["pages"]

_DAY_US = 24 * 60 * 60 * 1_000_000


def partners(visit: Visit) -> Response:
    """Show whether partners have access, when each pair was last used, and what they asked."""
    return _shown(visit, None)


def _shown(visit: Visit, pair: tuple[str, str] | None) -> Response:
    with visit.reading() as connection:
        settings = accounts.settings_of(connection, visit.account_id)
    return visit.page(
        "partners",
        is_active=bool(settings["api_active"]),
        has_key=bool(settings["api_key"]),
        pairs=keys.pairs_of(visit.store, visit.account_id),
        counts=counts_of(visit.store, visit.account_id),
        pair=pair,
    )


def switch(visit: Visit) -> Response:
    """Let partners in, or not."""
    is_on = visit.form.get("on") == "1"
    accounts.set_account(
        visit.store,
        visit.account_id,
        {"api_active": int(is_on)},
        by=visit.deed("API access on" if is_on else "API access off"),
    )
    return visit.go("/partners", "Partners have access." if is_on else "Partners have no access.")


def rotate(visit: Visit) -> Response:
    """Give the account a new pair, and show it this once; the old one ends now or in a day."""
    if visit.form.get("sure") != "1":
        return visit.page("partners_rotate", keeps=visit.form.get("keeps") == "1")
    accounts.rotate_key(
        visit.store,
        visit.account_id,
        overlap_us=_DAY_US if visit.form.get("keeps") == "1" else 0,
        by=visit.deed("new credentials"),
    )
    with visit.reading() as connection:
        settings = accounts.settings_of(connection, visit.account_id)
    return _shown(visit, (str(settings["api_key"]), str(settings["api_login"])))


pages = [
    get("/partners", partners),
    post("/partners/access", switch, Action.PARTNERS, writes=False),
    post("/partners/rotate", rotate, Action.PARTNERS, writes=False),
]
