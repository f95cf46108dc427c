"""Authentication: HTTP Basic with api_key and api_login, for every operation.

``masthead.store.credentials`` finds the account of the credentials.
"""

from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Mapping

from starlette.exceptions import HTTPException

from masthead.store import Connection, Store
from masthead.store.credentials import Caller, account_for_credentials

Credentials = tuple[str, str]
"""The user name and the password of a request."""

OPENS_NOTHING = "these credentials open no account"
"""The sentence of every 403, whatever its reason."""

_NO_RIGHT = "these credentials may not ask for this operation: the publisher can allow it"

_CHALLENGE = {"WWW-Authenticate": 'Basic realm="masthead"'}


def credentials_in(headers: Mapping[bytes, bytes]) -> Credentials:
    """Return the user name and password from the headers of a request, by lower-case name.

    Raises HTTPException 401 if they are missing or malformed (decisions, "Callers and tenants").
    """
    scheme, _, encoded = headers.get(b"authorization", b"").partition(b" ")
    try:
        if scheme.lower() != b"basic":
            raise ValueError
        decoded = a2b_base64(encoded.strip(), strict_mode=True).decode()
        user, colon, password = decoded.partition(":")
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


def caller_of(credentials: Credentials, connection: Connection, store: Store, now: int) -> Caller:
    """Return the account of the credentials at the time ``now``, in microseconds.

    Raises HTTPException 403 if they are not valid, for whatever reason (decisions, "Callers and
    tenants"). Clients do not retry after that. So it raises StoreUnavailable instead if the
    database has a newer schema, in which this version may not find them (rules, "A server of
    an earlier version").
    """
    caller = account_for_credentials(connection, *credentials, now=now)
    if caller is None:
        store.check_schema(connection)
        raise HTTPException(403, OPENS_NOTHING)
    return caller


class NoRight(HTTPException):
    """403: the credentials are those of a partner who may not ask for the operation.

    The sentence names neither the account nor what the partner may do.
    """

    def __init__(self) -> None:
        super().__init__(403, _NO_RIGHT)


def check_right(caller: Caller, operation: str) -> None:
    """Raise NoRight unless the caller may ask for it (decisions, "Partners of an account")."""
    if caller.operations is not None and operation not in caller.operations.split():
        raise NoRight
