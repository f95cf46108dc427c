"""Accounts: their credentials, their settings, and who may see which."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Any, NamedTuple

from masthead.contract import shapes
from masthead.contract.records import ACCOUNTS
from masthead.errors import BadInput, NotFound
from masthead.store import commits
from masthead.store.database import Database, Dialect, Store
from masthead.store.reading import columns_of

__all__ = [
    "SETTINGS",
    "Caller",
    "account_for_credentials",
    "accounts",
    "add_account",
    "get_account",
    "hides_password_md5",
    "new_credentials",
    "rotate_key",
    "save_accounts",
    "set_account",
    "settings_of",
]

Row = tuple[Any, ...]
Values = Mapping[str, int | str | None]

SETTINGS = (
    *(column.name for column in ACCOUNTS.columns),
    "hide_password_md5",
    "renewal_code_login",
)
"""The columns of an account, in the order in which they are shown."""

_COLUMNS = ", ".join(SETTINGS)
_KEY_BYTES = 20
_NO_ACCOUNT = (None, 0, 0, 0, 0, 0)
_FOR_KEYS: dict[Dialect, str] = {
    "sqlite": """
        SELECT api_key, api_login, active AND api_active, account_id, is_master, hide_password_md5,
            renewal_code_login
        FROM accounts WHERE api_key IN (:user, :password)
        """,
    "postgresql": """
        SELECT api_key, api_login, is_open, account_id, is_master, hide_password_md5,
            renewal_code_login
        FROM accounts_for_keys(:user, :password)
        """,
}


class Caller(NamedTuple):
    """The account that a request speaks for, and what it is allowed."""

    account_id: int
    is_master: int
    hide_password_md5: int
    renewal_code_login: int = 1


def new_credentials() -> tuple[str, str]:
    """Return a random api_key and api_login."""
    return secrets.token_hex(_KEY_BYTES), secrets.token_hex(_KEY_BYTES)


def account_for_credentials(database: Database, user: str, password: str) -> Caller | None:
    """Return the account whose api_key and api_login these are, in either order, or None.

    None too where the account or its API access is not active. Both orders are always asked for and
    both comparisons made, so that no cause of a refusal is told from another by its time
    (decisions, "Wrong credentials").
    """
    if "\x00" in user + password:
        # No key has one, and PostgreSQL cannot even be asked for it.
        return None
    rows = database.rows(_FOR_KEYS[database.dialect], user=user, password=password)
    by_key = {api_key: row for api_key, *row in rows}
    found = None
    for key, login in ((user, password), (password, user)):
        api_login, is_open, *caller = by_key.get(key, _NO_ACCOUNT)
        matches = compare_digest((api_login or "").encode(), login.encode())
        if matches and is_open and login:
            found = Caller(*caller)
    return found


def hides_password_md5(database: Database, account_id: int) -> bool:
    """Return whether the account hides ``password_md5``, in what ``database`` sees."""
    row = database.row(
        "SELECT hide_password_md5 FROM accounts WHERE account_id = :account_id",
        account_id=account_id,
    )
    return row == (1,)


def accounts(database: Database) -> list[Row]:
    """Return all accounts by ascending id, shape Account."""
    return database.rows(f"SELECT {columns_of(shapes.Account)} FROM accounts ORDER BY account_id")


def get_account(database: Database, account_id: int) -> Row | None:
    """Return one account, shape Account, or None."""
    return database.row(
        f"SELECT {columns_of(shapes.Account)} FROM accounts WHERE account_id = :account_id",
        account_id=account_id,
    )


def settings_of(database: Database, account_id: int) -> dict[str, int | str | None]:
    """Return all settings of an account by name, as :data:`SETTINGS` orders them.

    Raises NotFound where there is no such account.
    """
    row = database.row(
        f"SELECT {_COLUMNS} FROM accounts WHERE account_id = :account_id", account_id=account_id
    )
    if row is None:
        raise NotFound(f"there is no account {account_id}: `masthead accounts list` shows them all")
    return dict(zip(SETTINGS, row, strict=True))


def add_account(store: Store, values: Values) -> None:
    """Add an account; what ``values`` do not name takes its default, credentials are random.

    Raises BadInput where the id or the api_key is taken.
    """
    account_id = values["account_id"]
    with store.writer() as database, database.transaction():
        database.lock_accounts()
        if database.row("SELECT 1 FROM accounts WHERE account_id = :id", id=account_id):
            raise BadInput(f"account {account_id} exists already")
        _save(database, values)


def set_account(store: Store, account_id: int, values: Values) -> None:
    """Change what ``values`` name.

    Hiding ``password_md5``, or showing it again, changes every subscriber's record (decisions,
    "Passwords"). Raises NotFound, and BadInput where the api_key is another account's.
    """
    with store.writer() as database, database.transaction():
        database.lock_accounts()
        before = settings_of(database, account_id)
        _save(database, {**values, "account_id": account_id})
        hides = values.get("hide_password_md5", before["hide_password_md5"])
        changes_subscribers = hides != before["hide_password_md5"]
        if changes_subscribers:
            database.lock_account(account_id)
            database.change(
                "UPDATE subscribers SET commit_id = :commit_id WHERE account_id = :account_id",
                commit_id=commits.begin_commit(database, account_id),
                account_id=account_id,
            )
    if changes_subscribers:
        commits.stamp_commits(store, account_id)


def rotate_key(store: Store, account_id: int) -> None:
    """Give the account a new random api_key and api_login; the old ones open nothing any more."""
    api_key, api_login = new_credentials()
    set_account(store, account_id, {"api_key": api_key, "api_login": api_login})


def save_accounts(store: Store, rows: list[Values]) -> tuple[int, int, int]:
    """Add or change accounts, all or nothing; return how many were inserted, changed, unchanged.

    Raises BadInput where two accounts would share an api_key.
    """
    inserted = changed = 0
    with store.writer() as database, database.transaction():
        database.lock_accounts()
        for values in rows:
            account_id = values["account_id"]
            columns = ", ".join(values)
            before = database.row(
                f"SELECT {columns} FROM accounts WHERE account_id = :id", id=account_id
            )
            if before is None:
                inserted += 1
            elif before != tuple(values.values()):
                changed += 1
            else:
                continue
            _save(database, values)
    return inserted, changed, len(rows) - inserted - changed


def _save(database: Database, values: Values) -> None:
    account_id = values["account_id"]
    if api_key := values.get("api_key"):
        owner = database.row(
            "SELECT account_id FROM accounts WHERE api_key = :api_key AND account_id <> :id",
            api_key=api_key,
            id=account_id,
        )
        if owner:
            raise BadInput(
                f"account {account_id}: api_key: another account has this key; choose another"
            )
    is_new = not database.row("SELECT 1 FROM accounts WHERE account_id = :id", id=account_id)
    if is_new:
        api_key, api_login = new_credentials()
        created = datetime.fromtimestamp(database.now() // 1_000_000, UTC)
        defaults = {
            "api_key": api_key,
            "api_login": api_login,
            "created": f"{created:%Y-%m-%d %H:%M:%S}",
        }
        given = {name: value for name, value in values.items() if value is not None}
        values = {**defaults, **given}
    database.change(
        f"""
        INSERT INTO accounts ({", ".join(values)}) VALUES (:{", :".join(values)})
        ON CONFLICT (account_id) DO UPDATE SET
            {", ".join(f"{name} = excluded.{name}" for name in values if name != "account_id")}
        """,
        **values,
    )
    if is_new:
        commit_id = commits.begin_commit(database, int(account_id or 0))
        database.change(
            """
            UPDATE commits SET visible_at = :now
            WHERE account_id = :account_id AND commit_id = :commit_id
            """,
            now=database.now(),
            account_id=account_id,
            commit_id=commit_id,
        )
