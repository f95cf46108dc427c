"""Migrations: they bring a database to the schema of this version of Masthead.

Migrations are frozen SQL files, ``sql/<dialect>/<number>_<name>.sql``, applied in the order of
their numbers. Each number has a file for each database. No library is used, since those that exist
need other drivers.

On PostgreSQL, requests are answered while a migration runs. So a migration neither rewrites a table
nor scans one under an exclusive lock; a lock that it does not get at once, it gives up and tries
again. A file with ``CONCURRENTLY`` is run statement by statement, outside a transaction, and must
work when it is run again after an interruption (``DROP INDEX CONCURRENTLY IF EXISTS`` first).
"""

from importlib.resources import files
from typing import NamedTuple

from masthead.errors import MastheadError
from masthead.store.database import Connection, Dialect

__all__ = [
    "Migration",
    "check_secret",
    "has_own_secret",
    "has_table",
    "migrations",
    "missing",
    "read_sql",
    "record",
    "status",
]

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

    @property
    def title(self) -> str:
        """The number and the name, as they are shown."""
        return f"{self.number:04} {self.name}"


def read_sql(*path: str) -> str:
    """Return the text of a file in the folder ``sql``."""
    return files("masthead.store").joinpath("sql", *path).read_text("utf-8")


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


def record(connection: Connection, migration: Migration) -> None:
    """Note that the migration has been applied, in the caller's transaction.

    After the first one, the database belongs to the secret key in use, which is made if a file may
    hold it and there is none.
    """
    connection.script(_TABLE)
    connection.rows(
        "INSERT INTO migrations (number, name) VALUES (:number, :name)",
        number=migration.number,
        name=migration.name,
    )
    if not connection.row("SELECT 1 FROM secret_key"):
        connection.secret.make()
        connection.change(
            "INSERT INTO secret_key (fingerprint) VALUES (:own)",
            own=connection.secret.fingerprint("key"),
        )


def check_secret(connection: Connection) -> None:
    """Raise MastheadError if the secret key is missing or is not the database's."""
    if not has_own_secret(connection):
        raise MastheadError(
            f"the secret key in {connection.secret.where} is not the one of this database: give "
            "the one with which its API secrets were sealed"
        )


def has_own_secret(connection: Connection) -> bool:
    """Return whether the database's API secrets were sealed with the secret key in use.

    Raises MastheadError if there is no key.
    """
    own = connection.secret.fingerprint("key")
    return bool(connection.rows("SELECT 1 FROM secret_key WHERE fingerprint = :own", own=own))
