"""Migrations: they bring a database to the schema of this version of Masthead.

Migrations are frozen SQL files, ``sql/<dialect>/<number>_<name>.sql``, applied in the order of
their numbers. Each number has a file for each database. What SQL cannot do is a Python function,
called after the file of the same number, in the same transaction. No library is used, since those
that exist need other drivers.
"""

from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

from masthead.errors import MastheadError
from masthead.store.database import Connection, Dialect

__all__ = [
    "SEALED_SINCE",
    "Migration",
    "apply_missing",
    "check_secret",
    "has_own_secret",
    "has_table",
    "migrations",
    "missing",
    "status",
]

SEALED_SINCE = 5
"""The migration before which API secrets were in clear."""

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL
)
"""
_TABLE_EXISTS: dict[Dialect, str] = {
    "sqlite": "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name",
    "postgresql": "SELECT 1 WHERE to_regclass(:name) IS NOT NULL",
}


class Migration(NamedTuple):
    """A migration: its number, name and SQL."""

    number: int
    name: str
    sql: str


def migrations(dialect: Dialect) -> list[Migration]:
    """Return all migrations of ``dialect`` in their order."""
    found = []
    for file in files("masthead.store").joinpath("sql", dialect).iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        found.append(Migration(int(number), name, file.read_text("utf-8")))
    return sorted(found)


def status(connection: Connection) -> list[tuple[Migration, bool]]:
    """Return all migrations in their order, and for each whether it has been applied.

    Raises MastheadError if a newer version of Masthead made the database.
    """
    known = migrations(connection.dialect)
    applied = set()
    if has_table(connection, "migrations"):
        applied = {number for (number,) in connection.rows("SELECT number FROM migrations")}
    if newer := applied - {migration.number for migration in known}:
        raise MastheadError(
            f"the database has schema {max(newer)}, this version of Masthead knows schemas up to "
            f"{known[-1].number}: use a newer version, or another database"
        )
    return [(migration, migration.number in applied) for migration in known]


def has_table(connection: Connection, name: str) -> bool:
    """Return whether the database has a table of that name."""
    return bool(connection.rows(_TABLE_EXISTS[connection.dialect], name=name))


def missing(connection: Connection) -> list[Migration]:
    """Return the migrations that have not been applied, in their order.

    Raises what :func:`status` does.
    """
    return [migration for migration, is_applied in status(connection) if not is_applied]


def apply_missing(connection: Connection) -> None:
    """Apply the missing migrations, in the caller's transaction."""
    connection.script(_TABLE)
    for migration in missing(connection):
        connection.script(migration.sql)
        connection.rows(
            "INSERT INTO migrations (number, name) VALUES (:number, :name)",
            number=migration.number,
            name=migration.name,
        )
        if step := _STEPS.get(migration.number):
            step(connection)


def check_secret(connection: Connection) -> None:
    """Raise MastheadError if the secret key is missing or is not the database's."""
    if has_table(connection, "secret_key") and not has_own_secret(connection):
        raise MastheadError(
            f"the secret key in {connection.secret.where} is not the one of this database: give "
            "the one with which its API secrets were sealed"
        )


def has_own_secret(connection: Connection) -> bool:
    """Return whether the database's API secrets were sealed with the secret key in use.

    The table ``secret_key`` must exist. Raises MastheadError if there is no key.
    """
    own = connection.secret.fingerprint("key")
    return bool(connection.rows("SELECT 1 FROM secret_key WHERE fingerprint = :own", own=own))


def _seal_secrets(connection: Connection) -> None:
    """Seal the API secrets that were in clear before 0005. Frozen, like its SQL."""
    secret = connection.secret
    secret.make()
    connection.change(
        "INSERT INTO secret_key (fingerprint) VALUES (:own)", own=secret.fingerprint("key")
    )
    for account_id, *pair in connection.rows("SELECT account_id, api_key, api_login FROM accounts"):
        sealed = [
            secret.seal(text, f"accounts {account_id} {column}") if text else None
            for column, text in zip(("api_key", "api_login"), pair, strict=True)
        ]
        connection.change(
            """
            UPDATE accounts SET api_key = :api_key, api_login = :api_login
            WHERE account_id = :account_id
            """,
            account_id=account_id,
            api_key=sealed[0],
            api_login=sealed[1],
        )
        hashes = [secret.fingerprint("api", text) if text else None for text in pair]
        if hashes[0]:
            connection.change(
                """
                INSERT INTO api_keys (account_id, key_hash, login_hash)
                VALUES (:account_id, :key_hash, :login_hash)
                """,
                account_id=account_id,
                key_hash=hashes[0],
                login_hash=hashes[1],
            )


_STEPS: dict[int, Callable[[Connection], None]] = {SEALED_SINCE: _seal_secrets}
