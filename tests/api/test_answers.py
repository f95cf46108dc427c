"""Which headers an answer may have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.api.http.responses import head, json


@given(st.text(min_size=1))
def test_no_header_of_an_answer_can_be_more_than_one_line(value: str) -> None:
    """RFC 9110 section 5.5."""
    if value.isascii() and value.isprintable():
        assert f"link: {value}\r\n".encode() in json(b"", {"Link": value}).fields()
        return
    for make in (lambda headers: json(b"", headers), head):
        with pytest.raises(ValueError, match="a header has a character that none may have"):
            make({"Link": value})
