"""Which headers a response may have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.api.http.responses import head, json


@given(st.text(min_size=1))
def test_no_header_of_a_response_can_be_more_than_one_line(value: str) -> None:
    """RFC 9110 section 5.5."""
    if value.isascii() and value.isprintable():
        assert (b"link", value.encode()) in json(b"", {"Link": value}).raw_headers
        return
    for make in (lambda headers: json(b"", headers), head):
        with pytest.raises(ValueError, match="a header has a character that is not allowed"):
            make({"Link": value})
