"""Bringing a database to the schema that this version of Masthead works with.

Migrations are frozen SQL files, ``sql/<dialect>/<number>_<name>.sql``, applied in the order of
their numbers; each number has a side for every database. No library is used: those that exist speak
to the databases through other drivers than ours, and the whole job is a numbered list. What SQL
cannot do, a step of Python does right after the file of the same number, in the same transaction.
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
    """One step of the schema."""

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
    """Return all migrations in their order, and of each whether ``connection`` has it.

    Raises MastheadError where the database was made by a newer version of Masthead.
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
    """Return whether ``connection`` has a table of that name."""
    return bool(connection.rows(_TABLE_EXISTS[connection.dialect], name=name))


def missing(connection: Connection) -> list[Migration]:
    """Return the migrations that ``connection`` does not have yet, in their order.

    Raises what :func:`status` does.
    """
    return [migration for migration, is_applied in status(connection) if not is_applied]


def apply_missing(connection: Connection) -> None:
    """Apply what is missing, inside the transaction that ``connection`` has begun."""
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
    """Raise MastheadError where the secret key is missing, or is not that of ``connection``."""
    if has_table(connection, "secret_key") and not has_own_secret(connection):
        raise MastheadError(
            f"the secret key in {connection.secret.where} is not the one of this database: give "
            "the one with which its API secrets were sealed"
        )


def has_own_secret(connection: Connection) -> bool:
    """Return whether the API secrets of ``connection`` were sealed with its connection's key.

    Raises MastheadError where there is no such key. It must have the table ``secret_key``.
    """
    own = connection.secret.fingerprint("key")
    return bool(connection.rows("SELECT 1 FROM secret_key WHERE fingerprint = :own", own=own))


def _seal_secrets(connection: Connection) -> None:
    """Seal what 0005 found in clear. Frozen, as a published migration is."""
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
