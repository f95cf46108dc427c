"""Today: the next issues, open tasks, renewals due, liability, new and lost readers."""

from typing import Literal

from starlette.responses import Response

from masthead.books import issues, reader_requests
from masthead.books.figures import changed_of, figures_of
from masthead.console.page_request import PageRequest, get
from masthead.console.pages.issues import planned
from masthead.console.pages.readers_pages import REQUESTS
from masthead.contract.moments import in_words
from masthead.errors import NotFound

_NEXT = 6
_SHOWN = 500
_ASKED = 20
_MONTH = len("2026-11")
_WHICH: dict[str, Literal["new", "lost"]] = {"new": "new", "lost": "lost"}


def today(request: PageRequest) -> Response:
    """Show the day. Figures over the whole account appear once they are counted."""
    coming = planned(issues.all_of(request.books))
    day = request.account.today
    counted = request.counted(("figures", day), lambda: figures_of(request.books))
    asked = reader_requests.waiting(request.books, limit=_ASKED + 1)
    return request.page(
        "today",
        coming=coming[:_NEXT],
        counted=counted,
        asked=asked[:_ASKED],
        has_more_asked=len(asked) > _ASKED,
        requests=REQUESTS,
    )


def changed(request: PageRequest) -> Response:
    """Show the readers who are new, or were lost, this month."""
    which = _WHICH.get(str(request.ids["kind"]))
    if which is None:
        raise NotFound(f"there is no list {request.ids['kind']}")
    key = ("changed", which, request.account.today[:_MONTH])
    counted = request.counted(key, lambda: changed_of(request.books, which, _SHOWN + 1))
    return request.page(
        "changed",
        which=which,
        counted=counted,
        shown=(counted.value or [])[:_SHOWN],
        has_more=len(counted.value or []) > _SHOWN,
        month=in_words(request.account.today[:_MONTH]),
    )


pages = [get("/", today), get("/this-month/{kind}", changed)]
