"""The emulator answers entitlements, so that a partner tests a paywall without a publisher."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx2
import jwt
import pytest

from masthead.errors import BadInput

if TYPE_CHECKING:
    from masthead import Client
    from masthead.emulator import MastheadServer

READER: dict[str, Any] = {"subscriber_id": 1, "email": "a@b.example", "password": "right"}
SUBSCRIPTION: dict[str, Any] = {"subscription_id": 1, "subscriber_id": 1, "publication_id": 2}


@pytest.fixture
def reader(server: MastheadServer) -> MastheadServer:
    """An emulator with a reader whose digital subscription ends in three days."""
    server.add("publications", {"publication_id": 2, "name": "The Weekly"})
    server.add("subscribers", READER)
    last = server.clock.now + timedelta(days=3)
    server.add("subscriptions", SUBSCRIPTION | {"type": "Digital", "date_expired": last.date()})
    return server


def test_a_token_has_the_emulators_signature(reader: MastheadServer, client: Client) -> None:
    found = client.entitlements(login="a@b.example", password="right")
    assert found
    keys = jwt.PyJWKClient(f"{reader.base_url}/.well-known/jwks.json")
    claims = jwt.decode(
        found.token,
        keys.get_signing_key_from_jwt(found.token),
        algorithms=["ES256"],
        audience="account-1",
        issuer="masthead",
    )
    assert [each["publication"] for each in claims["entitlements"]] == ["The Weekly"]
    assert [each.publication for each in found.entitlements] == ["The Weekly"]
    assert client.entitlements(login="a@b.example", password="wrong") is None


def test_a_subscription_ends_with_the_clock(reader: MastheadServer, client: Client) -> None:
    for days, may_read in ((0, True), (3, True), (1, False)):
        reader.clock.move(days=days)
        found = client.entitlements(login="a@b.example", password="right")
        assert found
        assert bool(found.entitlements) is may_read


def test_a_code_is_made_for_a_reader_and_works_once(reader: MastheadServer, client: Client) -> None:
    code = reader.entitlement_code(1)
    found = client.entitlements(code=code)
    assert found
    assert found.subscriber_id == 1
    assert client.entitlements(code=code) is None
    with pytest.raises(BadInput, match="subscribers 9 is not there: add it first"):
        reader.entitlement_code(9)


def test_a_code_ends_with_the_clock(reader: MastheadServer, client: Client) -> None:
    code = reader.entitlement_code(1)
    reader.clock.move(minutes=2)
    assert client.entitlements(code=code) is None


def test_after_a_reset_the_keys_are_the_same(reader: MastheadServer) -> None:
    address = f"{reader.base_url}/.well-known/jwks.json"
    before = httpx2.get(address).json()
    reader.reset()
    assert httpx2.get(address).json() == before


def test_the_log_of_requests_hides_what_a_reader_sends(
    reader: MastheadServer, client: Client
) -> None:
    client.entitlements(login="a@b.example", password="right")
    client.entitlements(code=reader.entitlement_code(1))
    one, other = (made.parameters for made in reader.requests[-2:])
    assert "right" not in str(one)
    assert other.keys() == {"code"}
    assert len(other["code"]) < 32, "the code itself is not there"
