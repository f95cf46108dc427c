"""Which path is answered by what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from masthead.api.http.responses import json
from masthead.api.http.routing import PublicRoute, Routes
from masthead.errors import NotFound

if TYPE_CHECKING:
    from starlette.responses import Response

    from masthead.api.http.request import Request


def respond(_request: Request) -> Response:
    return json(b"")


PATHS = ("/2/orders", "/2/orders/{order_id}", "/docs")
ROUTES = Routes(PublicRoute(path, path, respond) for path in PATHS)


def found(path: str) -> tuple[str | None, int]:
    try:
        route, path_id = ROUTES.find(path)
    except HTTPException:
        return None, 0
    return route.path, path_id


@given(st.integers(min_value=0, max_value=10**19 - 1))
def test_an_id_is_digits_without_leading_zeros(number: int) -> None:
    """rules, "Ids in paths"."""
    assert found(f"/2/orders/{number}") == ("/2/orders/{order_id}", number)
    with pytest.raises(NotFound):
        found(f"/2/orders/0{number}")
    assert found(f"/2/orders/{number}/{number}")[0] is None
    assert found(f"/docs/{number}")[0] is None


@given(st.text("0123456789/#{}-+.aorders_2id ", max_size=12))
def test_no_other_path_is_answered(end: str) -> None:
    """A path is that of a route to the letter, but for its id."""
    is_id = end.isdecimal() and (end == "0" or not end.startswith("0"))
    if end and "/" not in end and not is_id:
        with pytest.raises(NotFound, match="there is no such id: an id is a number, digits"):
            found(f"/2/orders/{end}")
    else:
        assert found(f"/2/orders/{end}")[0] == ("/2/orders/{order_id}" if is_id else None)
    assert found(f"/docs{end}")[0] == (None if end else "/docs")
