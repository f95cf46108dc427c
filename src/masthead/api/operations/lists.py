"""What the two lists (operations 7 and 8) have in common: their limit, order and next page."""

from urllib.parse import urlencode

from masthead.api.http.responses import Answer, json
from masthead.api.operation import Call
from masthead.contract.encoding import encode, wire_of
from masthead.contract.operations import LIMIT_MAX, OPERATIONS

__all__ = ["list_answer", "page_of"]

_BEFORE_ALL = -1


def page_of(call: Call) -> tuple[dict[str, int | str], int, int]:
    """Return the filters of a list, the id behind which it starts, and its greatest length."""
    filters = dict(call.values)
    after = int(filters.pop("after", _BEFORE_ALL))
    limit = int(filters.pop("limit", LIMIT_MAX))
    return filters, after, limit


def list_answer(name: str, call: Call, rows: list[tuple[object, ...]]) -> Answer:
    """Return the answer of the list operation ``name``.

    A full page carries ``Link: </…?…>; rel="next"``: the path that was asked, and a query with the
    same filters (decisions, "Order of lists, and more than 100", "Order of lists: the address of
    the next page").
    """
    operation = OPERATIONS[name]
    assert operation.answer
    assert operation.envelope
    make = wire_of(operation.answer)
    body = encode({operation.envelope: [make(*row) for row in rows]})
    if len(rows) < int(call.values.get("limit", LIMIT_MAX)):
        return json(body)
    next_page = urlencode({**call.values, "after": rows[-1][0]})
    return json(body, {"Link": f'<{call.raw_path.decode("ascii")}?{next_page}>; rel="next"'})
