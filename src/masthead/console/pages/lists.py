"""Lists: the account's list downloads and their entries."""

from starlette.responses import Response

from masthead.books import issues
from masthead.console.page_request import PageRequest, get
from masthead.web.forms import id_in

_SHOWN = 100


def lists(request: PageRequest) -> Response:
    """Show the lists, newest first, a hundred on each page."""
    before = id_in(request.query.get("before", ""))
    found = issues.lists(request.books, before=before, limit=_SHOWN + 1)
    more = found[_SHOWN - 1].mailing_list_id if len(found) > _SHOWN else None
    return request.page("lists", lists=found[:_SHOWN], more=more)


def entries(request: PageRequest) -> Response:
    """Show a list with its entries by subscription, a hundred on each page."""
    after = id_in(request.query.get("after", ""))
    found, issue_id, rows = issues.list_with_entries(
        request.books,
        int(request.ids["id"]),
        after=-1 if after is None else after,
        limit=_SHOWN + 1,
    )
    more = rows[_SHOWN - 1].subscription_id if len(rows) > _SHOWN else None
    return request.page("list", list=found, issue_id=issue_id, entries=rows[:_SHOWN], more=more)


pages = [get("/lists", lists), get("/lists/{id:int}", entries)]
