"""``GET /entitlements``: what a reader may read now, as a signed token; and the public keys.

A site with a paywall asks when a reader signs in and when the token has ended, not at every page
(decisions, "Entitlements"). The reader's login is checked as in operation 3.
"""

from asyncio import Task, create_task, shield
from functools import partial
from time import monotonic

from msgspec import to_builtins
from starlette.responses import Response

from masthead.api.http.request import AuthenticatedRequest, Request
from masthead.api.http.responses import Responding, encoded
from masthead.api.http.routing import PublicRoute, Route, route_for
from masthead.api.http.service import Service
from masthead.api.http.threads import deadline, in_thread, retrieve
from masthead.api.operations.login_checks import REFUSED, respond_to_login
from masthead.contract.encoding import encode, wire_of
from masthead.contract.moments import date_in
from masthead.contract.operations import ENTITLEMENTS
from masthead.contract.shapes import EntitledReader, Entitlement
from masthead.errors import BadInput, NotFound
from masthead.store.entitlement_codes import use_code
from masthead.store.entitlement_keys import SigningKey, published_jwks, signing_key
from masthead.store.entitlement_tokens import life_s, sign
from masthead.store.entitlements import entitlements_of
from masthead.store.login_candidates import LoginMatch

CACHED_S = 300
"""How long clients may keep the public keys, in seconds."""

READ_EVERY_S = 10
"""How often a process reads the public keys from the database at most, in seconds."""

_make = wire_of(EntitledReader)
_make_entitlement = wire_of(Entitlement)
_US = 1_000_000
_JWKS_HEADERS = {
    "Cache-Control": f"public, max-age={CACHED_S}",
    "Content-Type": "application/jwk-set+json",
    "Access-Control-Allow-Origin": "*",
}


def entitlements(request: AuthenticatedRequest) -> Responding:
    """Return what the reader may read, or that the login or the code is not right.

    Raises NotFound if the account has no key, BadInput for a code beside a login, and for HEAD with
    a code, which would use it up.
    """
    key = signing_key(request.connection, request.account_id)
    if key is None:
        raise NotFound(
            "this account answers no entitlements: its publisher has to switch them on, with a key "
            "that signs them"
        )
    code = request.parameters.get("code")
    if code is None:
        return respond_to_login(request, partial(_of_match, key))
    if {"login", "password"} & request.parameters.keys():
        raise BadInput("code: give a code, or a login with a password, not both")
    if request.received.is_head:
        raise BadInput("code: HEAD would use the code up; use GET")
    subscriber_id = use_code(request.service.store, request.account_id, str(code))
    return encoded(REFUSED) if subscriber_id is None else _of(key, request, subscriber_id)


def _of_match(key: SigningKey, request: AuthenticatedRequest, found: LoginMatch) -> Response:
    return _of(key, request, found.subscriber_id)


def _of(key: SigningKey, request: AuthenticatedRequest, subscriber_id: int) -> Response:
    now_us, time_zone = request.service.store.clock(), request.caller.time_zone
    found = entitlements_of(
        request.connection, request.account_id, subscriber_id, today=date_in(time_zone, now_us)
    )
    if found is None:
        return encoded(REFUSED)
    claim = [_make_entitlement(*each) for each in found]
    token = sign(
        key,
        account_id=request.account_id,
        subscriber_id=subscriber_id,
        claim=to_builtins(claim),
        now_s=now_us // _US,
        expires_in=life_s(found, now_us // _US, time_zone),
    )
    reader = _make(subscriber_id, token.expires_in, token.text, claim)
    return encoded({"authenticated": True, ENTITLEMENTS.envelope: reader})


class PublishedKeys:
    """The public keys of all accounts, read once in :data:`READ_EVERY_S` for all requests."""

    def __init__(self) -> None:
        self._reading: Task[bytes] | None = None
        self._read_at = 0.0

    async def body(self, service: Service) -> bytes:
        """Return the JWK set (RFC 7517). Raises StoreUnavailable if it cannot be read."""
        reading = self._reading
        if reading is None or (
            reading.done() and (_failed(reading) or monotonic() - self._read_at > READ_EVERY_S)
        ):
            self._read_at = monotonic()
            reading = self._reading = create_task(_read(service))
            reading.add_done_callback(retrieve)
        return await shield(reading)


def _failed(reading: "Task[bytes]") -> bool:
    return reading.cancelled() or reading.exception() is not None


async def _read(service: Service) -> bytes:
    return await in_thread(service, service.look_ups, partial(_body, service), ends_at=deadline())


def _body(service: Service) -> bytes:
    with service.store.reader() as connection:
        return encode({"keys": published_jwks(connection)})


def routes() -> list[Route | PublicRoute]:
    """Return the routes of an app, which keeps the public keys that it has read."""
    published = PublishedKeys()

    async def jwks(request: Request) -> Response:
        """Return the public keys; they need no credentials."""
        return Response(await published.body(request.service), 200, _JWKS_HEADERS)

    return [
        route_for(ENTITLEMENTS, entitlements),
        PublicRoute("/.well-known/jwks.json", "jwks", jwks),
    ]
