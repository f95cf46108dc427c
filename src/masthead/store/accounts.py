"""Accounts and their settings. ``masthead.store.credentials`` finds the account of a request."""

from collections.abc import Mapping
from datetime import UTC, datetime

from masthead.contract import shapes
from masthead.contract.moments import second_in
from masthead.contract.records import ACCOUNTS
from masthead.databases.queries import Query, rows_of
from masthead.errors import BadInput, NotFound
from masthead.store import audit, commits, epochs, migrations
from masthead.store.billing.sealed import reseal_ibans
from masthead.store.credentials import new_credentials, replace_credentials
from masthead.store.database import Connection, Row, Store, Value
from masthead.store.entitlement_keys import reseal_keys
from masthead.store.interface_queries import columns_of
from masthead.store.secret import Secret

__all__ = [
    "SETTINGS",
    "Row",
    "accounts",
    "add_account",
    "ask",
    "company_name_of",
    "get_account",
    "hides_password_md5",
    "rekey",
    "rotate_credentials",
    "save_accounts",
    "second_of",
    "set_account",
    "settings_of",
    "zone_and_currency",
]

Values = Mapping[str, Value]
Settings = dict[str, Value]

SETTINGS = tuple(column.name for column in ACCOUNTS.columns)
"""The columns of an account, in display order."""

_COLUMNS = ", ".join(SETTINGS)
_SECRETS = ("api_key", "api_login")
_PLACES = {name: SETTINGS.index(name) for name in _SECRETS}


def hides_password_md5(connection: Connection, account_id: int) -> bool:
    """Return whether the account hides ``password_md5``."""
    hides = connection.value_as(
        int,
        "SELECT hide_password_md5 FROM accounts WHERE account_id = :account_id",
        account_id=account_id,
    )
    return hides == 1


def accounts(connection: Connection) -> list[Row]:
    """Return all accounts by ascending id, shape Account."""
    found = connection.rows(
        f"SELECT {columns_of(shapes.Account)} FROM accounts ORDER BY account_id"
    )
    return [_unsealed(connection, row) for row in found]


def get_account(connection: Connection, account_id: int) -> Row | None:
    """Return one account, shape Account, or None."""
    found = connection.row(
        f"SELECT {columns_of(shapes.Account)} FROM accounts WHERE account_id = :account_id",
        account_id=account_id,
    )
    return found and _unsealed(connection, found)


def settings_of(connection: Connection, account_id: int) -> Settings:
    """Return the settings of an account by name, in the order of :data:`SETTINGS`.

    Raises NotFound if the account does not exist.
    """
    found = _found(connection, account_id)
    if found is None:
        raise NotFound(f"there is no account {account_id}", code="unknown_account")
    return found


def zone_and_currency(connection: Connection, account_id: int) -> tuple[str, str]:
    """Return the time zone and the currency of an account, as each operation of the books needs.

    It reads no credentials. Raises NotFound if the account does not exist.
    """
    found = connection.row_as(
        tuple[str, str],
        "SELECT time_zone, currency FROM accounts WHERE account_id = :account_id",
        account_id=account_id,
    )
    if found is None:
        raise NotFound(f"there is no account {account_id}", code="unknown_account")
    return found


def company_name_of(connection: Connection, account_id: int) -> str:
    """Return the name of the account's publisher, "" if there is none. It reads no credentials."""
    sql, _ = company_name().bound
    return company_name().answer_of(connection.rows(sql, account_id=account_id)) or ""


def company_name() -> Query[str | None]:
    """Return the query of :func:`company_name_of`; None if there is no such account."""
    return rows_of("SELECT company_name FROM accounts WHERE account_id = :account_id").then(
        lambda rows: str(rows[0][0] or "") if rows else None
    )


def second_of(connection: Connection, account_id: int) -> str:
    """Return the database's time in the account's time zone, as ``YYYY-MM-DD hh:mm:ss``.

    The time is in UTC if the account does not exist.
    """
    found = _found(connection, account_id) or {"time_zone": "UTC"}
    return second_in(str(found["time_zone"]), connection.now())


def _found(connection: Connection, account_id: Value) -> Settings | None:
    row = connection.row(
        f"SELECT {_COLUMNS} FROM accounts WHERE account_id = :account_id", account_id=account_id
    )
    return dict(zip(SETTINGS, _unsealed(connection, row), strict=True)) if row else None


def _unsealed(connection: Connection, row: Row) -> Row:
    """Return an account's row with its pair in clear; it has the first columns of SETTINGS."""
    values = list(row)
    for name, place in _PLACES.items():
        if row[place] is not None:
            values[place] = connection.secret.unseal(row[place], _sealed_for(row[0], name))
    return tuple(values)


def _sealed_for(account_id: int | str | None, name: str) -> str:
    return f"accounts {account_id} {name}"


def add_account(store: Store, values: Values, *, by: audit.Actor | None = None) -> None:
    """Add an account. Columns missing from ``values`` get defaults, missing credentials are random.

    Raises BadInput if the id or the api_key is taken.
    """
    account_id = values["account_id"]
    with store.writer() as connection, connection.transaction():
        connection.lock_accounts()
        if _found(connection, account_id):
            raise BadInput(f"account {account_id} exists already")
        _save(connection, values, None)
        audit.record(connection, by, "account added", account_id=int(account_id or 0))


def set_account(
    store: Store, account_id: int, values: Values, *, by: audit.Actor | None = None
) -> None:
    """Change the settings in ``values``.

    Hiding ``password_md5``, or showing it again, changes every subscriber's record (decisions,
    "Passwords"). Raises NotFound if the account does not exist, BadInput if another account has the
    api_key.
    """
    with store.writer() as connection, connection.transaction():
        if "hide_password_md5" in values:
            # First: this may wait long for a load, and others wait for the lock of accounts.
            connection.lock_account(account_id)
        connection.lock_accounts()
        before = settings_of(connection, account_id)
        _save(connection, {**values, "account_id": account_id}, before)
        changes_subscribers = _show_otherwise(connection, before, values)
        audit.record(connection, by, f"set {', '.join(values)}", account_id=account_id)
    if changes_subscribers:
        commits.stamp_commits(store, account_id)


def _show_otherwise(connection: Connection, before: Settings, values: Values) -> bool:
    """Change every subscriber's record if ``values`` hide ``password_md5`` or show it again."""
    if values.get("hide_password_md5", before["hide_password_md5"]) == before["hide_password_md5"]:
        return False
    account_id = int(before["account_id"] or 0)
    connection.change(
        "UPDATE subscribers SET commit_id = :commit_id WHERE account_id = :account_id",
        commit_id=commits.begin_commit(connection, account_id),
        account_id=account_id,
    )
    return True


def rotate_credentials(
    store: Store, account_id: int, *, overlap_us: int = 0, by: audit.Actor | None = None
) -> None:
    """Give the account a new random api_key and api_login.

    The old pair still works for ``overlap_us`` microseconds. Raises NotFound if the account does
    not exist.
    """
    values = dict(zip(_SECRETS, new_credentials(), strict=True))
    with store.writer() as connection, connection.transaction():
        connection.lock_accounts()
        before = settings_of(connection, account_id)
        _save(connection, {**values, "account_id": account_id}, before, overlap_us=overlap_us)
        until = f"work for {overlap_us // 1_000_000} seconds more" if overlap_us else "end"
        audit.record(
            connection, by, f"new credentials; those before {until}", account_id=account_id
        )


def rekey(store: Store, old: Secret | None, *, by: audit.Actor | None = None) -> int | None:
    """Seal all pairs, the bank accounts of mandates and the keys of entitlements with the new key.

    Returns the number of accounts. ``old`` is the key that sealed them. If it is None, the key is
    lost: each account gets a new random pair, the mandates end, since their bank accounts are
    lost, and the keys of entitlements are deleted. Replaced pairs and those of partners stop
    working, since only their hashes are stored. If the store's key already seals the pairs,
    nothing changes and None is returned (rules, "The secret key is changed a second time"). Raises
    BadInput if the database is of an earlier version, MastheadError if ``old`` did not seal the
    pairs.
    """
    store.secret.make()
    with store.writer() as connection, connection.transaction():
        if migrations.missing(connection):
            raise BadInput(
                "the database is not up to date: migrate it first", code="outdated_schema"
            )
        connection.lock_accounts()
        if migrations.has_own_secret(connection):
            return None
        rows = connection.rows("SELECT account_id, api_key, api_login FROM accounts")
        for account_id, *sealed in rows:
            if old:
                credentials = [
                    text and old.unseal(text, _sealed_for(account_id, name))
                    for name, text in zip(_SECRETS, sealed, strict=True)
                ]
            else:
                credentials = list(new_credentials())
            values = {"account_id": account_id, **dict(zip(_SECRETS, credentials, strict=True))}
            _save(connection, values, dict.fromkeys(SETTINGS))
        connection.change("DELETE FROM credentials WHERE partner_id IS NOT NULL")
        reseal_ibans(connection, old)
        reseal_keys(connection, old)
        connection.change(
            "UPDATE secret_key SET fingerprint = :own", own=store.secret.fingerprint("key")
        )
        what = "credentials sealed with another key" if old else "new credentials"
        audit.record(connection, by, f"{what} (accounts: {len(rows)})")
    return len(rows)


def save_accounts(
    store: Store, rows: list[Values], *, by: audit.Actor | None = None
) -> tuple[int, int, int]:
    """Add or change accounts in one transaction; return the numbers of new, changed, unchanged.

    Raises BadInput if two accounts would share an api_key.
    """
    inserted = changed = 0
    shown: list[int] = []
    with store.writer() as connection, connection.transaction():
        for values in rows:
            if "hide_password_md5" in values and _found(connection, values["account_id"]):
                connection.lock_account(int(values["account_id"] or 0))  # first, as in set_account
        connection.lock_accounts()
        for values in rows:
            before = _found(connection, values["account_id"])
            if before is None:
                inserted += 1
            elif any(before[name] != value for name, value in values.items()):
                changed += 1
            else:
                continue
            _save(connection, values, before)
            if before and _show_otherwise(connection, before, values):
                shown.append(int(values["account_id"] or 0))
        audit.record(connection, by, f"accounts: {inserted} inserted, {changed} changed")
    for account_id in shown:
        commits.stamp_commits(store, account_id)
    return inserted, changed, len(rows) - inserted - changed


def _save(
    connection: Connection, values: Values, before: Settings | None, *, overlap_us: int = 0
) -> None:
    account_id = int(values["account_id"] or 0)
    if before is None:
        created = datetime.fromtimestamp(connection.now() // 1_000_000, UTC)
        defaults = {
            **dict(zip(_SECRETS, new_credentials(), strict=True)),
            "created": f"{created:%Y-%m-%d %H:%M:%S}",
        }
        given = {name: value for name, value in values.items() if value is not None}
        values = {**defaults, **given}
    # Setting the same pair again must not end the replaced pairs that still work.
    credentials = {
        name: values[name]
        for name in _SECRETS
        if name in values and not (before and before[name] == values[name])
    }
    values = {
        name: value for name, value in values.items() if name in credentials or name not in _SECRETS
    }
    sealed = {
        name: value and connection.secret.seal(str(value), _sealed_for(account_id, name))
        for name, value in credentials.items()
    }
    changes = ", ".join(f"{name} = excluded.{name}" for name in values if name != "account_id")
    connection.change(
        f"""
        INSERT INTO accounts ({", ".join(values)}) VALUES (:{", :".join(values)})
        ON CONFLICT (account_id) DO {f"UPDATE SET {changes}" if changes else "NOTHING"}
        """,
        **{**values, **sealed},
    )
    if credentials:
        api_key, api_login = ({**(before or {}), **credentials}[name] for name in _SECRETS)
        replace_credentials(
            connection,
            account_id,
            str(api_key) if api_key else None,
            str(api_login) if api_login else None,
            overlap_us=overlap_us,
        )
    if before is None:
        connection.add_locks(account_id)
        epochs.note_history(connection, account_id)
        _begin_feed(connection, account_id)


def _begin_feed(connection: Connection, account_id: int) -> None:
    """Add the first commit of a new account.

    If a removed account had this number, an epoch begins after the newest stamp of that account.
    """
    removed = connection.value_as(
        int,
        "SELECT newest_stamp FROM removed_accounts WHERE account_id = :account_id",
        account_id=account_id,
    )
    stamped_at = max(connection.now(), 0 if removed is None else removed + 1)
    commit_id = commits.begin_commit(connection, account_id)
    commits.stamp(connection, account_id, commit_id, stamped_at)
    if removed is not None:
        epochs.start_epoch(connection, account_id)


def ask(store: Store) -> None:
    """Run the smallest query; raise StoreUnavailable if the database does not respond."""
    store.check()
    with store.reader() as connection:
        connection.rows("SELECT 1 FROM secret_key")
