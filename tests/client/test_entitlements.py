"""What the client sends for entitlements, and what it takes."""

from __future__ import annotations

from typing import Any

import pytest

from masthead.client import requests
from masthead.contract.shapes import EntitledReader
from masthead.errors import BadInput

REFUSED = {"authenticated": False}
READER = {
    "subscriber_id": "1",
    "expires_in": "60",
    "token": "a.b.c",
    "entitlements": [
        {"publication_id": "2", "publication": "Weekly", "format": "print", "until": None}
    ],
}


@pytest.mark.parametrize(
    "given",
    [
        (None, None, None),
        ("ann", None, None),
        (None, "secret", None),
        ("ann", "secret", "code"),
        (None, "secret", "code"),
    ],
)
def test_a_login_with_a_password_or_a_code_alone(given: tuple[str | None, ...]) -> None:
    with pytest.raises(BadInput, match="give login and password, or code alone"):
        requests.entitlements(*given)


def test_what_a_reader_sends_is_in_the_body_and_in_no_repr() -> None:
    """decisions, "Entitlements"."""
    for given in (("ann", "secret", None), (None, None, "secret")):
        request = requests.entitlements(*given)
        assert request.in_body
        assert "secret" in request.secrets
        assert "secret" not in repr(request)


def test_the_token_is_in_no_repr() -> None:
    found = requests.entitlements(None, None, "code").read(
        {"authenticated": True, "reader": READER}
    )
    assert isinstance(found, EntitledReader)
    assert found.token == "a.b.c"
    assert "a.b.c" not in repr(found)
    assert found.entitlements[0].until is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"authenticated": True},
        {"authenticated": True, "reader": {}},
        {"authenticated": True, "reader": READER | {"expires_in": "soon"}},
        {"authenticated": "perhaps", "reader": READER},
        {"reader": READER},
        [],
    ],
)
def test_nothing_else_lets_a_reader_in(body: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        requests.entitlements(None, None, "code").read(body)


def test_a_refusal_is_none() -> None:
    assert requests.entitlements(None, None, "code").read(REFUSED) is None
