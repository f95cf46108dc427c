"""Today: the next issues, open tasks, renewals due, liability, new and lost readers."""

from starlette.responses import Response

from masthead.books import issues
from masthead.books.figures import figures_of
from masthead.console.page_request import PageRequest, get
from masthead.console.pages.issues import planned

_NEXT = 6


def today(request: PageRequest) -> Response:
    """Show the day. Figures over the whole account appear once they are counted."""
    coming = planned(issues.all_of(request.books))
    day = request.account.today
    counted = request.counted(("figures", day), lambda: figures_of(request.books))
    return request.page("today", coming=coming[:_NEXT], counted=counted)


pages = [get("/", today)]
