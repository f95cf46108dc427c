"""Loads: which files were loaded, when, and with which result."""

from starlette.responses import Response

from masthead.console.page_request import PageRequest, get
from masthead.store.loads import loads

_SHOWN = 50


def show(request: PageRequest) -> Response:
    """Show the account's last loads, newest first, with their problems."""
    found = list(loads(request.store, request.account_id))[::-1][:_SHOWN]
    rows = []
    for load in found:
        sums: dict[str, int] = {}
        for counts in load.counts.values():
            for name, count in counts.items():
                sums[name] = sums.get(name, 0) + count
        seconds = None if load.ended_at is None else (load.ended_at - load.started_at) // 1_000_000
        rows.append((load, sums, seconds))
    return request.page("loads", loads=rows)


pages = [get("/loads", show)]
