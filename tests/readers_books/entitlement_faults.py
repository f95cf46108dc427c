"""Ways in which a site could let in who may not read, each of which can be planted.

``tests.circulation.faults`` says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.store import entitlement_codes, entitlement_keys, entitlement_tokens
from tests.circulation.faults import _call, _sql

if TYPE_CHECKING:
    import pytest

    from tests.circulation.faults import Plant, Times


def _value(where: object, name: str, value: int) -> Plant:
    """Return what gives a constant another value."""

    def plant(patch: pytest.MonkeyPatch) -> Times:
        patch.setattr(where, name, value)
        return lambda: 1

    return plant


FAULTS: dict[str, Plant] = {
    "who cancelled reads on": _sql(r"n\.date_expired, n\.cancelled_on", "n.date_expired, NULL"),
    "who has not paid reads on": _sql(
        r"THEN 1 ELSE 0 END\s+FROM subscribers", "THEN 1 ELSE 1 END FROM subscribers"
    ),
    "a pause is forgotten": _sql(
        r"u\.to_date IS NULL OR u\.to_date >= :today", "u.to_date < :today"
    ),
    "a merged subscription is read": _sql(r"AND n\.merged_into IS NULL\s+LEFT", "LEFT"),
    "the payer of a gift reads it": _sql(
        r"n\.subscriber_id = s\.subscriber_id",
        "(n.subscriber_id = s.subscriber_id OR s.subscriber_id = 3)",
    ),
    "who was deleted gets a token": _sql(r"AND s\.delete_date IS NULL\s+ORDER", "ORDER"),
    "a token outlives what it lets read": _call(
        entitlement_tokens, "life_s", lambda *_: entitlement_keys.TOKEN_S_MAX
    ),
    "a token names the subscriber": _call(
        entitlement_tokens, "subject_of", lambda _right, _key, subscriber_id: str(subscriber_id)
    ),
    "a token is for no account": _call(entitlement_tokens, "audience_of", lambda *_: "account"),
    "a code works for hours": _value(entitlement_codes, "CODE_US", 7_200_000_000),
    "a code works twice": _sql(
        r"DELETE (FROM entitlement_codes WHERE \S+ = \S+ AND code_hash = \S+)\s+RETURNING"
        r" subscriber_id, made_at",
        r"SELECT subscriber_id, made_at \1",
    ),
    "a code is stored as it is": _call(
        entitlement_codes, "_hash", lambda _right, _counters, _account_id, code: code
    ),
    "the key of another account signs": _sql(
        r"(subject_key FROM entitlement_keys\s+WHERE) account_id = :account_id",
        r"\1 account_id <> :account_id",
    ),
    "a retired key signs on": _sql(r"(ELSE 1 END), signs_from DESC", r"\1, signs_from"),
    "a further key signs before sites have it": _value(entitlement_keys, "AHEAD_US", 0),
    "a key is hidden before its last token ends": _value(entitlement_keys, "TOKEN_S_MAX", 0),
    "a stolen key stays": _sql(
        r"DELETE FROM entitlement_keys WHERE account_id = :account_id$",
        "DELETE FROM entitlement_keys WHERE account_id = :account_id AND ends_at < 0",
    ),
}
"""What goes wrong, and how it is planted."""

REFUSED = {"the key of another account signs"}
"""What the store itself refuses: a key opens only for its own account."""
