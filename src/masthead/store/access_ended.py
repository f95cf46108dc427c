"""Access to all accounts, which a restore copies from the replaced database.

Access that an operator or a publisher ended after the backup must not become valid again: API
credentials, partners and their rights, accounts that were switched off, operators, their roles and
passwords
(rules, "Restored backups: who may come in").
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.store.database import Connection, Row, Store

TABLES = ("accounts", "partners", "credentials", "operators", "secret_key")
"""The tables that a restore reads for this."""

_SETTINGS = {
    "switched on or off": ("active", "api_active"),
    "credentials": ("api_key", "api_login"),
    "the settings of a master, of password_md5 and of renewal codes": (
        *("is_master", "hide_password_md5", "renewal_code_login"),
    ),
}
_COLUMNS = tuple(name for names in _SETTINGS.values() for name in names)
_CREDENTIALS = ("key_hash", "login_hash", "account_id", "ends_at", "partner_id")
_PARTNER = (*("account_id", "partner_id", "name", "name_lower", "operations", "rate", "added_at"),)
_OPERATOR = (
    *("account_id", "operator_id", "name", "name_lower", "role", "password_hash", "sessions_from"),
)


class Admitted(NamedTuple):
    """The settings of each account, all partners, all credentials, and all operators."""

    settings: dict[int, Row]
    partners: list[Row]
    credentials: list[Row]
    operators: list[Row]


class Carried(NamedTuple):
    """What changed in each account, and the accounts that were switched off."""

    changed: dict[int, list[str]]
    closed: list[int]


def admitted_by(connection: Connection) -> Admitted:
    """Return who has access according to a database."""
    accounts = connection.rows(f"SELECT account_id, {', '.join(_COLUMNS)} FROM accounts")
    return Admitted(
        {row[0]: row[1:] for row in accounts},
        connection.rows(
            f"SELECT {', '.join(_PARTNER)} FROM partners ORDER BY account_id, partner_id"
        ),
        connection.rows(f"SELECT {', '.join(_CREDENTIALS)} FROM credentials ORDER BY key_hash"),
        connection.rows(
            f"SELECT {', '.join(_OPERATOR)} FROM operators ORDER BY account_id, operator_id"
        ),
    )


def carry_over(connection: Connection, other: Admitted) -> Carried:
    """Give access to exactly those whom ``other`` admits, in the caller's transaction.

    If ``other`` lacks an account, the account was removed. It is switched off and loses its
    credentials, partners and operators. Both databases must have the same secret key.
    """
    own = admitted_by(connection)
    of_both = own.settings.keys() & other.settings.keys()
    closed = sorted(own.settings.keys() - other.settings.keys())
    changed = {
        account_id: what
        for account_id in sorted(of_both)
        if (what := _changes(own, other, account_id))
    }
    for table in ("credentials", "partners", "operators"):
        connection.change(f"DELETE FROM {table}")
    connection.insert_many("partners", _PARTNER, _of(other.partners, of_both, _PARTNER))
    connection.insert_many(
        "credentials", _CREDENTIALS, _of(other.credentials, of_both, _CREDENTIALS)
    )
    connection.insert_many("operators", _OPERATOR, _of(other.operators, of_both, _OPERATOR))
    sets = ", ".join(f"{name} = :{name}" for name in _COLUMNS)
    for account_id in of_both:
        values = dict(zip(_COLUMNS, other.settings[account_id], strict=True))
        connection.change(
            f"UPDATE accounts SET {sets} WHERE account_id = :account_id",
            **{**values, "account_id": account_id},
        )
    for account_id in closed:
        connection.change(
            """
            UPDATE accounts SET active = 0, api_active = 0, api_key = NULL, api_login = NULL
            WHERE account_id = :account_id
            """,
            account_id=account_id,
        )
    return Carried(changed, closed)


def _changes(own: Admitted, other: Admitted, account_id: int) -> list[str]:
    """Return what differs in an account."""
    one, two = (
        dict(zip(_COLUMNS, each.settings[account_id], strict=True)) for each in (own, other)
    )
    changed = {
        what: any(one[name] != two[name] for name in names) for what, names in _SETTINGS.items()
    }
    changed["credentials"] |= _differ(own.credentials, other.credentials, account_id, _CREDENTIALS)
    changed["partners"] = _differ(own.partners, other.partners, account_id, _PARTNER)
    changed["operators"] = _differ(own.operators, other.operators, account_id, _OPERATOR)
    return [what for what, is_so in changed.items() if is_so]


def _differ(own: list[Row], other: list[Row], account_id: int, columns: tuple[str, ...]) -> bool:
    return _of(own, {account_id}, columns) != _of(other, {account_id}, columns)


def _of(rows: Iterable[Row], account_ids: set[int], columns: tuple[str, ...]) -> list[Row]:
    place = columns.index("account_id")
    return [row for row in rows if row[place] in account_ids]


def end_sessions(store: Store) -> None:
    """End all sessions of the console and of the readers' pages, their links, and their codes."""
    with store.counters() as counters:
        for table in ("operator_sessions", "reader_sessions", "sign_in_links", "entitlement_codes"):
            counters.change(f"DELETE FROM {table}")
