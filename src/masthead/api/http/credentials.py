"""Who calls: HTTP Basic with api_key and api_login, on every operation.

Which account they open is asked of ``masthead.store.keys``.
"""

from base64 import b64decode
from binascii import Error as Base64Error

from starlette.exceptions import HTTPException

from masthead.store import Connection, Later
from masthead.store.keys import Caller, account_for_credentials

__all__ = ["Callers", "Credentials", "caller_of", "credentials_in"]

Credentials = tuple[str, str]
"""The user name and the password of a request."""

_CHALLENGE = {"WWW-Authenticate": 'Basic realm="masthead"'}


def credentials_in(authorization: bytes | None) -> Credentials:
    """Return user name and password from the value of an ``Authorization`` header.

    Raises HTTPException 401 where they are missing or malformed (decisions, "Callers and tenants").
    """
    scheme, _, encoded = (authorization or b"").partition(b" ")
    try:
        if scheme.lower() != b"basic":
            raise ValueError
        user, colon, password = b64decode(encoded.strip(), validate=True).decode().partition(":")
        if not colon or "\x00" in user + password:
            raise ValueError
    except (Base64Error, ValueError):
        raise HTTPException(
            401,
            "this needs credentials: HTTP Basic with the account's api_key as user name and its "
            "api_login as password",
            _CHALLENGE,
        ) from None
    return user, password


def caller_of(credentials: Credentials, connection: Connection, now: int) -> Caller:
    """Return the account that the credentials open at that time.

    Raises HTTPException 403 where they open nothing, for whatever reason (decisions, "Callers and
    tenants").
    """
    caller = account_for_credentials(connection, *credentials, now=now)
    if caller is None:
        raise HTTPException(403, "these credentials open no account")
    return caller


class Callers:
    """Who calls, for an event loop, which asks that once in a turn for the same credentials.

    All that is asked in a turn is answered from one state of the database, so the second answer
    would be the first one. ``at_end_of_turn`` has a function called when the turn is over.
    """

    def __init__(self, at_end_of_turn: Later) -> None:
        self._at_end_of_turn = at_end_of_turn
        self._known: dict[bytes | None, Caller] = {}

    def caller_of(self, authorization: bytes | None, connection: Connection, now: int) -> Caller:
        """Return the account that the value of an ``Authorization`` header opens at that time.

        Raises what :func:`credentials_in` and :func:`caller_of` do.
        """
        caller = self._known.get(authorization)
        if caller is None:
            caller = caller_of(credentials_in(authorization), connection, now)
            is_first = not self._known
            self._known[authorization] = caller
            if is_first:
                self._at_end_of_turn(self._known.clear)
        return caller
