"""The common parts of the two lists (operations 7 and 8): limit, order and next page."""

from urllib.parse import urlencode

from starlette.responses import Response

from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import encoded
from masthead.contract.encoding import wire_of
from masthead.contract.operations import LIMIT_MAX

_BEFORE_ALL = -1


def page_of(request: AuthenticatedRequest) -> tuple[dict[str, int | str], int, int]:
    """Return the filters of a list, the id after which it starts, and its maximum length."""
    filters = dict(request.parameters)
    after = int(filters.pop("after", _BEFORE_ALL))
    limit = int(filters.pop("limit", LIMIT_MAX))
    return filters, after, limit


def list_response(request: AuthenticatedRequest, rows: list[tuple[object, ...]]) -> Response:
    """Return the response of a list operation.

    A full page has ``Link: </…?…>; rel="next"``: the path of the request, and a query with the same
    filters (decisions, "Order of lists, and more than 100"; rules, "Order of lists: the address of
    the next page").
    """
    operation = request.operation
    assert operation.response
    assert operation.envelope
    make = wire_of(operation.response)
    body = {operation.envelope: [make(*row) for row in rows]}
    if len(rows) < int(request.parameters.get("limit", LIMIT_MAX)):
        return encoded(body)
    next_page = urlencode({**request.parameters, "after": rows[-1][0]})
    return encoded(body, {"Link": f'<{request.received.raw_path}?{next_page}>; rel="next"'})
