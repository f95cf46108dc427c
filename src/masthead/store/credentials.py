"""The pairs of api_key and api_login that open an account: look-up, replacement and last use.

The contract shows both values, so the account's row has the current pair, sealed. Requests are
looked up by keyed hashes of all valid pairs, without unsealing anything (decisions, "Credentials
at rest").
"""

import secrets
from hmac import compare_digest
from typing import NamedTuple

from masthead.errors import BadInput, StoreUnavailable
from masthead.store.database import Connection, Dialect, Store

_KEY_BYTES = 20
_MINUTE_US = 60 * 1_000_000
_NO_HASH = "0" * 64
_KEY = 5
_OF_ACCOUNT = 0
"""What stands for the partner's id where a pair is the account's own."""
_NO_ACCOUNT = (0, 0, 0, 0, "", "", None, "", None, None, None, 0, None)
_FOR_KEYS: dict[Dialect, str] = {
    "sqlite": """
        SELECT a.account_id, a.is_master, a.hide_password_md5, a.renewal_code_login, a.time_zone,
            k.key_hash, coalesce(k.partner_id, 0), '', NULL, NULL, k.login_hash,
            a.active AND a.api_active, k.ends_at
        FROM credentials AS k JOIN accounts AS a ON a.account_id = k.account_id
        WHERE k.key_hash IN (:user, :password)
        """,
    "postgresql": """
        SELECT account_id, is_master, hide_password_md5, renewal_code_login, time_zone,
            key_hash, coalesce(partner_id, 0), coalesce(partner, ''), operations, rate,
            login_hash, is_open, ends_at
        FROM accounts_for_credentials(:user, :password)
        """,
}
_NOTE_USE = """
    INSERT INTO credential_uses (account_id, key_hash, used_at) VALUES (:account_id, :key_hash, :at)
    ON CONFLICT (account_id, key_hash) DO UPDATE SET used_at = excluded.used_at
    WHERE credential_uses.used_at < excluded.used_at
    """


class Caller(NamedTuple):
    """The account of a request, its permissions, and the pair that the request used.

    ``partner`` is the name of the partner whose pair it is, "" for the account's own pair.
    ``operations`` are the names of the operations that the partner may ask for, with spaces between
    them, None for all; ``rate`` is the partner's limit in requests a second, None if there is none.
    A partner's pair never has the rights of a master account. ``credentials`` is the pair in
    clear. The api_key comes first, whatever order was sent.
    """

    account_id: int
    is_master: int
    hide_password_md5: int
    renewal_code_login: int = 1
    time_zone: str = "UTC"
    key_hash: str = ""
    partner_id: int = 0
    partner: str = ""
    operations: str | None = None
    rate: int | None = None
    credentials: tuple[str, str] = ("", "")

    def __repr__(self) -> str:
        """Return a text that does not contain the credentials."""
        return f"<Caller of account {self.account_id}>"


class ValidCredentials(NamedTuple):
    """When valid credentials end (None for the current ones), and when they were last used."""

    ends_at: int | None
    used_at: int | None


def new_credentials() -> tuple[str, str]:
    """Return a random api_key and api_login."""
    return secrets.token_hex(_KEY_BYTES), secrets.token_hex(_KEY_BYTES)


def account_for_credentials(
    connection: Connection, user: str, password: str, *, now: int
) -> Caller | None:
    """Return the account with this api_key and api_login, in either order, or None.

    Also returns None if the account or its API access is not active, or the pair has ended at
    ``now``. Both orders are always looked up and compared, as hashes (rules, "Wrong credentials").

    An earlier version allowed two accounts to have the same pair in opposite orders. Then the
    account whose api_key is ``user`` counts, active or not (rules, "Credentials
    that are crosswise").
    """
    first = connection.secret.fingerprint("api", user)
    second = connection.secret.fingerprint("api", password)
    rows = connection.rows(_FOR_KEYS[connection.dialect], user=first, password=second)
    by_key = {row[_KEY]: row for row in rows}
    found = None
    # The last match counts.
    for key, login, pair in (
        (second, first, (password, user)),
        (first, second, (user, password)),
    ):
        *caller, login_hash, is_open, ends_at = by_key.get(key, _NO_ACCOUNT)
        if compare_digest(login_hash or _NO_HASH, login):
            is_open = is_open and (ends_at is None or now < ends_at)
            found = Caller._make((*caller, pair)) if is_open else None
    if found and found.partner_id and connection.dialect == "sqlite":
        return _with_rights(connection, found)
    return found


def _with_rights(connection: Connection, caller: Caller) -> Caller:
    """Return a partner's caller with the partner's name and rights.

    On SQLite, a query of its own reads them, so that pairs of accounts are found by fewer steps.
    """
    name, operations, rate = connection.rows_as(
        tuple[str, str | None, int | None],
        """
        SELECT name, operations, rate FROM partners
        WHERE account_id = :account_id AND partner_id = :partner_id
        """,
        account_id=caller.account_id,
        partner_id=caller.partner_id,
    )[0]
    return caller._replace(is_master=0, partner=name, operations=operations, rate=rate)


def replace_credentials(
    connection: Connection,
    account_id: int,
    api_key: str | None,
    api_login: str | None,
    *,
    overlap_us: int = 0,
) -> None:
    """Make this the account's current pair; the former one stays valid for ``overlap_us``.

    Call it in the transaction that seals the pair. ``overlap_us`` is in microseconds. Raises
    BadInput if another account has the api_key, or if a valid pair is this one with key and login
    swapped (rules, "Credentials that are crosswise").
    """
    _forget_ended(connection)
    key_hash = connection.secret.fingerprint("api", api_key) if api_key else None
    login_hash = connection.secret.fingerprint("api", api_login) if api_login else None
    _check_other_way_round(connection, account_id, key_hash, login_hash)
    _end_pairs(connection, account_id, _OF_ACCOUNT, overlap_us)
    if not key_hash:
        return
    connection.change(
        """
        DELETE FROM credentials
        WHERE key_hash = :key_hash AND account_id = :id AND partner_id IS NULL
        """,
        key_hash=key_hash,
        id=account_id,
    )
    if connection.row("SELECT 1 FROM credentials WHERE key_hash = :key_hash", key_hash=key_hash):
        raise BadInput(
            f"account {account_id}: api_key: another account has this key; choose another"
        )
    connection.change(
        """
        INSERT INTO credentials (key_hash, login_hash, account_id)
        VALUES (:key_hash, :login_hash, :account_id)
        """,
        key_hash=key_hash,
        login_hash=login_hash,
        account_id=account_id,
    )


def give_partner_credentials(
    connection: Connection, account_id: int, partner_id: int, *, overlap_us: int = 0
) -> tuple[str, str]:
    """Give a partner a new random pair and return it; the former one works for ``overlap_us``.

    Only hashes of the pair are stored, so nobody can read it again.
    """
    key, login = new_credentials()
    _forget_ended(connection)
    _end_pairs(connection, account_id, partner_id, overlap_us)
    connection.change(
        """
        INSERT INTO credentials (key_hash, login_hash, account_id, partner_id)
        VALUES (:key_hash, :login_hash, :account_id, :partner_id)
        """,
        key_hash=connection.secret.fingerprint("api", key),
        login_hash=connection.secret.fingerprint("api", login),
        account_id=account_id,
        partner_id=partner_id,
    )
    return key, login


def _forget_ended(connection: Connection) -> None:
    connection.change("DELETE FROM credentials WHERE ends_at <= :now", now=connection.now())


def _end_pairs(connection: Connection, account_id: int, partner_id: int, overlap_us: int) -> None:
    """End all pairs of a partner or of the account; with an overlap, the current pair later."""
    if overlap_us:
        connection.change(
            """
            UPDATE credentials SET ends_at = :ends_at
            WHERE account_id = :id AND coalesce(partner_id, 0) = :partner_id AND ends_at IS NULL
            """,
            ends_at=connection.now() + overlap_us,
            id=account_id,
            partner_id=partner_id,
        )
    else:
        connection.change(
            """
            DELETE FROM credentials
            WHERE account_id = :id AND coalesce(partner_id, 0) = :partner_id
            """,
            id=account_id,
            partner_id=partner_id,
        )


def _check_other_way_round(
    connection: Connection, account_id: int, key_hash: str | None, login_hash: str | None
) -> None:
    """Raise BadInput if a valid pair has this key as its login and this login as its key.

    A pair whose key and login are equal is allowed.
    """
    if key_hash == login_hash:
        return
    other = connection.value_as(
        int,
        "SELECT account_id FROM credentials "
        "WHERE key_hash = :login_hash AND login_hash = :key_hash",
        key_hash=key_hash,
        login_hash=login_hash,
    )
    if other is None:
        return
    raise BadInput(
        f"account {account_id}: api_key and api_login: account {other} has this pair the other "
        "way round, and a pair opens its account either way round; choose another key or login"
    )


def credentials_of(store: Store, account_id: int) -> list[ValidCredentials]:
    """Return the account's own pairs: the current pair, then the others, last to end first."""
    return all_credentials_of(store, account_id).get(_OF_ACCOUNT, [])


def all_credentials_of(store: Store, account_id: int) -> dict[int, list[ValidCredentials]]:
    """Return the valid pairs by the partner's id, the current pair first; 0 is the account."""
    with store.writer() as connection:
        found = connection.rows_as(
            tuple[int, str, int | None],
            """
            SELECT coalesce(partner_id, 0), key_hash, ends_at FROM credentials
            WHERE account_id = :account_id AND (ends_at IS NULL OR ends_at > :now)
            ORDER BY ends_at IS NOT NULL, ends_at DESC
            """,
            account_id=account_id,
            now=connection.now(),
        )
    with store.counters() as counters:
        counters.set_tenant(account_id)
        uses = dict(
            counters.rows_as(
                tuple[str, int],
                "SELECT key_hash, used_at FROM credential_uses WHERE account_id = :account_id",
                account_id=account_id,
            )
        )
    pairs: dict[int, list[ValidCredentials]] = {}
    for partner_id, key_hash, ends_at in found:
        pairs.setdefault(partner_id, []).append(ValidCredentials(ends_at, uses.get(key_hash)))
    return pairs


class Uses:
    """When each pair was last used. A server keeps it in memory and writes it from time to time.

    Requests therefore never wait for a write.
    """

    def __init__(self) -> None:
        self._latest: dict[tuple[int, str], int] = {}
        self._written_at = 0

    def note(self, caller: Caller, now: int) -> None:
        """Remember that the caller's pair was used at ``now``."""
        self._latest[caller.account_id, caller.key_hash] = now

    def write(self, store: Store, *, every_us: int = _MINUTE_US) -> None:
        """Write the times to the store, at most once a minute.

        Raises StoreUnavailable if they cannot be written; the next call tries again.
        """
        now = store.clock()
        if not self._latest or abs(now - self._written_at) < every_us:
            return
        self._written_at = now
        latest, self._latest = self._latest, {}
        try:
            with store.counters() as counters:
                for (account_id, key_hash), at in latest.items():
                    counters.set_tenant(account_id)
                    counters.rows(_NOTE_USE, account_id=account_id, key_hash=key_hash, at=at)
        except StoreUnavailable:
            self._latest = latest | self._latest
            raise
