"""Today: the next issues, what needs a hand, renewals due, liability, new and lost readers."""

from starlette.responses import Response

from masthead.console.pages.issues import planned
from masthead.console.visit import Visit, get
from masthead.store.books.issue import issues_of
from masthead.store.books.operation import Reading
from masthead.store.console_figures import figures_of

__all__ = ["pages"]

_NEXT = 6


def today(visit: Visit) -> Response:
    """Show the day. What is counted over the whole account comes as soon as it is counted."""
    with visit.reading() as connection:
        found = issues_of(Reading(visit.store, connection, visit.account_id))
    coming = planned(found)
    first: dict[int, int] = {}
    for issue in coming:
        first.setdefault(issue.publication_id, issue.issue_id)
    day = visit.account.today
    counted = visit.counted(
        ("figures", day), lambda: figures_of(visit.store, visit.account_id, day)
    )
    return visit.page(
        "today",
        coming=coming[:_NEXT],
        first=set(first.values()),
        counted=counted,
    )


pages = [get("/", today)]
