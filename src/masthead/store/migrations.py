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
from masthead.store.database import Database, Dialect

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


def status(database: Database) -> list[tuple[Migration, bool]]:
    """Return all migrations in their order, and of each whether ``database`` has it.

    Raises MastheadError where the database was made by a newer version of Masthead.
    """
    known = migrations(database.dialect)
    applied = set()
    if has_table(database, "migrations"):
        applied = {number for (number,) in database.rows("SELECT number FROM migrations")}
    if newer := applied - {migration.number for migration in known}:
        raise MastheadError(
            f"the database has schema {max(newer)}, this version of Masthead knows schemas up to "
            f"{known[-1].number}: use a newer version, or another database"
        )
    return [(migration, migration.number in applied) for migration in known]


def has_table(database: Database, name: str) -> bool:
    """Return whether ``database`` has a table of that name."""
    return bool(database.rows(_TABLE_EXISTS[database.dialect], name=name))


def missing(database: Database) -> list[Migration]:
    """Return the migrations that ``database`` does not have yet, in their order.

    Raises what :func:`status` does.
    """
    return [migration for migration, is_applied in status(database) if not is_applied]


def apply_missing(database: Database) -> None:
    """Apply what is missing, inside the transaction that ``database`` has begun."""
    database.script(_TABLE)
    for migration in missing(database):
        database.script(migration.sql)
        database.rows(
            "INSERT INTO migrations (number, name) VALUES (:number, :name)",
            number=migration.number,
            name=migration.name,
        )
        if step := _STEPS.get(migration.number):
            step(database)


def check_secret(database: Database) -> None:
    """Raise MastheadError where the secret key is missing, or is not that of ``database``."""
    if has_table(database, "secret_key") and not has_own_secret(database):
        raise MastheadError(
            f"the secret key in {database.secret.where} is not the one of this database: give the "
            "one with which its API secrets were sealed"
        )


def has_own_secret(database: Database) -> bool:
    """Return whether the API secrets of ``database`` were sealed with its connection's key.

    Raises MastheadError where there is no such key. It must have the table ``secret_key``.
    """
    own = database.secret.fingerprint("key")
    return bool(database.rows("SELECT 1 FROM secret_key WHERE fingerprint = :own", own=own))


def _seal_secrets(database: Database) -> None:
    """Seal what 0005 found in clear. Frozen, as a published migration is."""
    secret = database.secret
    secret.make()
    database.change(
        "INSERT INTO secret_key (fingerprint) VALUES (:own)", own=secret.fingerprint("key")
    )
    for account_id, *pair in database.rows("SELECT account_id, api_key, api_login FROM accounts"):
        sealed = [
            secret.seal(text, f"accounts {account_id} {column}") if text else None
            for column, text in zip(("api_key", "api_login"), pair, strict=True)
        ]
        database.change(
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
            database.change(
                """
                INSERT INTO api_keys (account_id, key_hash, login_hash)
                VALUES (:account_id, :key_hash, :login_hash)
                """,
                account_id=account_id,
                key_hash=hashes[0],
                login_hash=hashes[1],
            )


_STEPS: dict[int, Callable[[Database], None]] = {SEALED_SINCE: _seal_secrets}
