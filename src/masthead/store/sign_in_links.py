"""Links by email that sign a reader in: once, for 30 minutes, in the browser that asked.

The link and the browser have random tokens; only their SHA-256 are stored, in the counters
(decisions, "Links by email").
"""

from typing import Literal, NamedTuple

from masthead.store import logins
from masthead.store.database import Connection, Store
from masthead.store.search_filters import ascii_lower
from masthead.store.session_tokens import digest, new_token

Purpose = Literal["sign_in", "password"]

LINK_US = 30 * 60 * 1_000_000
"""How long a link works, in microseconds, and how long a password can be set with it."""

OF_EMAIL = logins.Limits(per_login=3, per_account=0)
"""The requests for links for one email in 15 minutes."""

OF_ADDRESS = logins.Limits(per_login=20, per_account=0)
"""The requests for links from one client address in 15 minutes."""

OF_ACCOUNT = logins.Limits(per_login=0, per_account=2_000)
"""The mails with links of an account in an hour. Requests for unknown emails do not count, so
nobody locks readers out with them."""

READERS_MAX = 10
"""The most subscribers with one email who get links: each gets one of their own."""

_KEPT_US = 24 * 60 * 60 * 1_000_000


class UsedLink(NamedTuple):
    """A link that was used: who is signed in, and what for."""

    subscriber_id: int
    purpose: Purpose


def new_browser() -> str:
    """Return the token that binds the links of a browser to it."""
    return new_token()


def wait_us(store: Store, account_id: int, client: str) -> int:
    """Return the microseconds until a client address may request a link, and count the request.

    It does not depend on the email, so it tells nothing about it.
    """
    attempt = logins.request_of(store.secret, account_id, "link client", client)
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        return _counted(counters, OF_ADDRESS, attempt, store.clock())


def may_request(store: Store, account_id: int, email: str) -> bool:
    """Return whether links for the email may be requested now, and count the request."""
    attempt = logins.request_of(store.secret, account_id, "link", email)
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        return not _counted(counters, OF_EMAIL, attempt, store.clock())


def may_send(store: Store, account_id: int) -> bool:
    """Return whether the account may send another mail with links now, and count the mail."""
    attempt = logins.request_of(store.secret, account_id, "link mail", "")
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        return not _counted(counters, OF_ACCOUNT, attempt, store.clock())


def readers_of(connection: Connection, account_id: int, email: str) -> list[int]:
    """Return the ids of the subscribers who have the email and were not deleted, in order."""
    return connection.column_as(
        int,
        f"""
        SELECT subscriber_id FROM subscribers
        WHERE account_id = :account_id AND email_lower = :email AND delete_date IS NULL
        ORDER BY subscriber_id LIMIT {READERS_MAX}
        """,
        account_id=account_id,
        email=ascii_lower(email),
    )


def make(store: Store, account_id: int, subscriber_id: int, purpose: Purpose, browser: str) -> str:
    """Return the token of a new link for a browser. Links of the day before are deleted."""
    token, now = new_token(), store.clock()
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        counters.rows(
            "DELETE FROM sign_in_links WHERE account_id = :account_id AND made_at < :before",
            account_id=account_id,
            before=now - _KEPT_US,
        )
        counters.rows(
            """
            INSERT INTO sign_in_links (
                account_id, token_hash, browser_hash, subscriber_id, purpose, made_at, used_at)
            VALUES (
                :account_id, :token_hash, :browser_hash, :subscriber_id, :purpose, :now, NULL)
            """,
            account_id=account_id,
            token_hash=digest(token),
            browser_hash=digest(browser),
            subscriber_id=subscriber_id,
            purpose=purpose,
            now=now,
        )
    return token


def use(store: Store, account_id: int, token: str, browser: str) -> UsedLink | None:
    """Use a link; return whom it signs in, or None if it does not work.

    One that was used before, is too old, or was requested by another browser does not work.
    """
    now = store.clock()
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        return counters.row_as(
            UsedLink,
            """
            UPDATE sign_in_links SET used_at = :now
            WHERE account_id = :account_id AND token_hash = :token_hash
                AND browser_hash = :browser_hash AND used_at IS NULL AND made_at > :since
            RETURNING subscriber_id, purpose
            """,
            account_id=account_id,
            token_hash=digest(token),
            browser_hash=digest(browser),
            now=now,
            since=now - LINK_US,
        )


def was_used_by(store: Store, account_id: int, subscriber_id: int, browser: str) -> bool:
    """Return whether the subscriber used a link in this browser during the last 30 minutes."""
    if not browser:
        return False
    now = store.clock()
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        return bool(
            counters.rows(
                """
                SELECT 1 FROM sign_in_links
                WHERE account_id = :account_id AND subscriber_id = :subscriber_id
                    AND browser_hash = :browser_hash AND used_at > :since LIMIT 1
                """,
                account_id=account_id,
                subscriber_id=subscriber_id,
                browser_hash=digest(browser),
                since=now - LINK_US,
            )
        )


def forget(store: Store, account_id: int, subscriber_id: int) -> None:
    """Delete all links of a subscriber, so that none works any more."""
    with store.counters() as counters:
        counters.set_tenant(account_id)
        counters.set_reader(None)
        counters.rows(
            """
            DELETE FROM sign_in_links
            WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            """,
            account_id=account_id,
            subscriber_id=subscriber_id,
        )


def _counted(counters: Connection, limits: logins.Limits, attempt: logins.Attempt, now: int) -> int:
    wait = logins.standing_of(counters, limits, attempt, now).wait_us
    if not wait:
        logins.count_failure(counters, limits, attempt, now)
    return wait
