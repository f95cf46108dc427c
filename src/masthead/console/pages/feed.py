"""Feed: the position of the change feed, and when partners last polled it."""

from starlette.responses import Response

from masthead.console.page_request import PageRequest, get
from masthead.store import commits
from masthead.store.request_counts import counts_of

_POLLS = ("changes", "deletions", "snapshot", "digest")


def feed(request: PageRequest) -> Response:
    """Show the newest stamp, the start of the current epoch, and the last polls."""
    with request.reading() as connection:
        position = commits.position_of(connection, request.account_id)
    polls = [
        each for each in counts_of(request.store, request.account_id) if each.operation in _POLLS
    ]
    return request.page("feed", position=position, polls=polls)


pages = [get("/feed", feed)]
