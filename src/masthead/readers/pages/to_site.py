"""To the publisher's site: a reader who is signed in goes there with a one-time code.

The site sends readers here and gets them back with ``code``, and with its own ``state``, so that it
can tell whether this browser asked (decisions, "One-time codes"). The page opens the site itself
instead of redirecting: a redirect behind the form of the sign-in would lead to another origin, and
browsers refuse that (``form-action`` in the headers of all pages).
"""

from urllib.parse import urlencode, urlsplit, urlunsplit

from starlette.responses import Response

from masthead.circulation.page_settings import PageSettings
from masthead.readers.page_request import PageRequest, get
from masthead.store.entitlement_codes import make_code

STATE_MAX = 200
"""The most characters of ``state`` that are passed on; a longer one is left out."""


def to_site(request: PageRequest) -> Response:
    """Make a code, and open the site with it."""
    given = {"code": make_code(request.store, request.account_id, request.subscriber_id)}
    state = request.query.get("state", "")
    if 0 < len(state) <= STATE_MAX:
        given["state"] = state
    target = _with_query(request.settings.paywall_url, given)
    response = request.page("to_site", target=target)
    response.headers["Refresh"] = f"0; url={target}"
    return response


def _with_query(url: str, more: dict[str, str]) -> str:
    parts = urlsplit(url)
    query = "&".join(filter(None, (parts.query, urlencode(more))))
    return urlunsplit(parts._replace(query=query))


def _has_site(settings: PageSettings) -> bool:
    return bool(settings.paywall_url)


pages = [get("read", to_site, _has_site)]
