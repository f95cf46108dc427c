"""Tokens of sessions and of links: random, and stored only as their SHA-256.

The console's and the readers' sessions share them, and when a session ends (decisions, "Sessions
of the console").
"""

import hashlib
import re
import secrets
from typing import NamedTuple

IDLE_US = 30 * 60 * 1_000_000
"""The time after its last request at which a session ends, in microseconds."""

SESSION_US = 12 * 60 * 60 * 1_000_000
"""The time after its beginning at which a session ends, in microseconds."""

AHEAD_US = 5 * 60 * 1_000_000
"""How far clocks of machines may differ, in microseconds. A session further ahead has ended."""

NOTED_EVERY_US = 60 * 1_000_000
"""How often the use of a session is noted, in microseconds."""

_TOKEN_BYTES = 32
_COOKIE = re.compile(r"(0|[1-9][0-9]{0,17})\.([A-Za-z0-9_-]+)", re.ASCII)


class SessionKey(NamedTuple):
    """What finds a session: its account, and the digest of its token."""

    account_id: int
    token_hash: str


def new_token() -> str:
    """Return a random token that nobody can guess."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def digest(token: str) -> str:
    """Return the digest of a token, as it is stored: 64 hexadecimal digits."""
    return hashlib.sha256(token.encode()).hexdigest()


def cookie_of(account_id: int, token: str) -> str:
    """Return the session as the browser has it: ``ACCOUNT.TOKEN``."""
    return f"{account_id}.{token}"


def key_of(cookie: str) -> SessionKey | None:
    """Return what finds the session of a cookie; None if the text is no session's."""
    found = _COOKIE.fullmatch(cookie)
    if found is None:
        return None
    return SessionKey(int(found[1]), digest(found[2]))


def has_ended(begun_at: int, used_at: int, now: int) -> bool:
    """Return whether a session has ended by its times, in microseconds since 1970.

    If a clock was ahead, the session's end is unknown, so it has ended.
    """
    if now - used_at >= IDLE_US or now - begun_at >= SESSION_US:
        return True
    return max(begun_at, used_at) > now + AHEAD_US
