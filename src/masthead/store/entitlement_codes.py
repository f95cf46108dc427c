"""One-time codes: how a reader who is signed in at the readers' pages comes to a partner's site.

The readers' pages make a code and send the reader's browser to the site with ``?code=…``. The
site's server exchanges it by ``GET /entitlements``. A code is random, is stored only as a keyed
hash, works once, and for two minutes: it stands in the address of a page, which browsers and
proxies keep (decisions, "One-time codes").

Codes are stored in the counters, which loads do not lock.
"""

import secrets

from masthead.store.database import Connection, Store

CODE_US = 2 * 60 * 1_000_000
"""How long a code works, in microseconds."""

LIVE_MAX = 10
"""The maximum number of codes of a subscriber that work at the same time."""

_BYTES = 24


def make_code(store: Store, account_id: int, subscriber_id: int) -> str:
    """Return a new code of a subscriber: 32 characters that need no escape in a URL.

    Deletes codes of the subscriber that have ended, and the oldest ones beyond :data:`LIVE_MAX`.
    Raises StoreUnavailable if the counters are unavailable.
    """
    code = secrets.token_urlsafe(_BYTES)
    now = store.clock()
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(subscriber_id)
        counters.rows(
            """
            DELETE FROM entitlement_codes WHERE account_id = :account_id
                AND subscriber_id = :subscriber_id AND made_at <= :before
            """,
            account_id=account_id,
            subscriber_id=subscriber_id,
            before=now - CODE_US,
        )
        counters.rows(
            f"""
            DELETE FROM entitlement_codes WHERE account_id = :account_id AND code_hash IN (
                SELECT c.code_hash FROM entitlement_codes AS c
                WHERE c.account_id = :account_id AND c.subscriber_id = :subscriber_id
                ORDER BY c.made_at DESC, c.code_hash LIMIT {LIVE_MAX} OFFSET {LIVE_MAX - 1})
            """,
            account_id=account_id,
            subscriber_id=subscriber_id,
        )
        counters.rows(
            """
            INSERT INTO entitlement_codes (account_id, code_hash, subscriber_id, made_at)
            VALUES (:account_id, :code_hash, :subscriber_id, :now)
            """,
            account_id=account_id,
            code_hash=_hash(counters, account_id, code),
            subscriber_id=subscriber_id,
            now=now,
        )
    return code


def use_code(store: Store, account_id: int, code: str) -> int | None:
    """Return the subscriber of a code, and delete the code; None if there is none that works.

    Of several requests with one code, one gets the subscriber. Deletes all codes of the account
    that have ended. Raises StoreUnavailable if the
    counters are unavailable.
    """
    now = store.clock()
    with store.counters() as counters:
        counters.set_tenant(account_id)
        found = counters.rows_as(
            tuple[int, int],
            """
            DELETE FROM entitlement_codes WHERE account_id = :account_id AND code_hash = :code_hash
            RETURNING subscriber_id, made_at
            """,
            account_id=account_id,
            code_hash=_hash(counters, account_id, code),
        )
        counters.rows(
            "DELETE FROM entitlement_codes WHERE account_id = :account_id AND made_at <= :before",
            account_id=account_id,
            before=now - CODE_US,
        )
    for subscriber_id, made_at in found:
        if made_at > now - CODE_US:
            return subscriber_id
    return None


def _hash(counters: Connection, account_id: int, code: str) -> str:
    return counters.secret.fingerprint("entitlement code", account_id, code)
