"""What renews automatically: when, for how much, and whether it was announced."""

import re

from starlette.responses import Response

from masthead.books import renewing_list
from masthead.console.page_request import PageRequest, get
from masthead.errors import BadInput
from masthead.web.forms import id_in

_SHOWN = 100
_PLACE = re.compile(r"(\d{4}-\d{2}-\d{2})?\.(\d{1,19})")


def renewing(request: PageRequest) -> Response:
    """Show the subscriptions that renew by consent, a hundred on each page."""
    found = renewing_list.listed(request.books, _place(request.query.get("after", "")), _SHOWN)
    more = None if found.after is None else f"{found.after[0]}.{found.after[1]}"
    return request.page("renewing", found=found.found, in_all=found.in_all, more=more)


def _place(text: str) -> tuple[str, int]:
    if not text:
        return renewing_list.FIRST
    found = _PLACE.fullmatch(text)
    key = None if found is None else id_in(found[2])
    if found is None or key is None:
        raise BadInput("there is no such part of the list: begin with its first one")
    return found[1] or "", key


pages = [get("/renewals/automatic", renewing)]
