"""The token of a reader's entitlements: a JWT (RFC 7519), signed with ES256.

The signature is PyJWT's. Only these tokens are signed with these keys, so ``typ`` is ``JWT``, which
all libraries accept (decisions, "The token of entitlements").
"""

import hmac
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from masthead.circulation.entitlements import Entitlement, first_end
from masthead.store.entitlement_keys import TOKEN_S_MAX, SigningKey

NOTHING_S = 3_600
"""The life of a token without entitlements, in seconds: a reader who buys is let in soon."""

_SUBJECT_CHARACTERS = 32


class Token(NamedTuple):
    """A signed token, and how many seconds it is valid."""

    text: str
    expires_in: int

    def __repr__(self) -> str:
        """Return a text that does not contain the token."""
        return f"<Token for {self.expires_in} seconds>"


def audience_of(account_id: int) -> str:
    """Return what tokens have as ``aud``: the account whose credentials asked."""
    return f"account-{account_id}"


def subject_of(key: SigningKey, subscriber_id: int) -> str:
    """Return the id of a subscriber in tokens: 32 hexadecimal digits.

    It is the same in each token of the account, also after a rotation, and different in another
    account. Nobody can compute the subscriber's id from it.
    """
    made = hmac.digest(key.subject_key, str(subscriber_id).encode(), "sha256")
    return made.hex()[:_SUBJECT_CHARACTERS]


def life_s(found: Sequence[Entitlement], now_s: int, time_zone: str) -> int:
    """Return for how many seconds a token is valid.

    That is a day, or less if an entitlement ends earlier; an hour without entitlements. ``now_s``
    are seconds since 1970. An entitlement ends with its last day in the account's time zone.
    """
    if not found:
        return NOTHING_S
    end = first_end(found)
    if end is None or end >= date.max.isoformat():
        return TOKEN_S_MAX
    next_day = date.fromisoformat(end) + timedelta(days=1)
    midnight = datetime.combine(next_day, datetime.min.time(), ZoneInfo(time_zone))
    return max(1, min(TOKEN_S_MAX, int(midnight.timestamp()) - now_s))


def sign(
    key: SigningKey,
    *,
    account_id: int,
    subscriber_id: int,
    claim: Sequence[Any],
    now_s: int,
    expires_in: int,
) -> Token:
    """Return a signed token; ``claim`` is what stands in ``entitlements``, as JSON values."""
    import jwt  # noqa: PLC0415 - takes a twentieth of a second

    claims = {
        "iss": key.issuer,
        "sub": subject_of(key, subscriber_id),
        "aud": audience_of(account_id),
        "iat": now_s,
        "exp": now_s + expires_in,
        "entitlements": claim,
    }
    text = jwt.encode(claims, key.private_key, algorithm="ES256", headers={"kid": key.key_id})
    return Token(text, expires_in)
