"""Bringing a database to the schema that this version of Masthead works with.

Migrations are frozen SQL files, ``sql/<dialect>/<number>_<name>.sql``, applied in the order of
their numbers. No library is used: those that exist speak to the databases through other drivers
than ours, and the whole job is a numbered list.
"""

from importlib.resources import files
from typing import NamedTuple, Protocol

from masthead.errors import MastheadError

__all__ = ["Migration", "apply_missing", "migrations", "missing"]

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL
)
"""
_TABLE_EXISTS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    name: str
    sql: str


class _Database(Protocol):
    def rows(self, sql: str, /, **values: int | str | None) -> list[tuple[int]]: ...

    def script(self, sql: str, /) -> None: ...


def migrations(dialect: str) -> list[Migration]:
    """Return all migrations of ``dialect`` (``sqlite``) in their order."""
    found = []
    for file in files("masthead.store").joinpath("sql", dialect).iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        found.append(Migration(int(number), name, file.read_text("utf-8")))
    return sorted(found)


def missing(database: _Database, dialect: str) -> list[Migration]:
    """Return the migrations that ``database`` does not have yet, in their order.

    Raises MastheadError where the database was made by a newer version of Masthead.
    """
    known = migrations(dialect)
    applied = set()
    if database.rows(_TABLE_EXISTS):
        applied = {number for (number,) in database.rows("SELECT number FROM migrations")}
    if newer := applied - {migration.number for migration in known}:
        raise MastheadError(
            f"the database has schema {max(newer)}, this version of Masthead knows schemas up to "
            f"{known[-1].number}: use a newer version, or another database"
        )
    return [migration for migration in known if migration.number not in applied]


def apply_missing(database: _Database, dialect: str) -> None:
    """Apply what is missing, inside the transaction that ``database`` has begun."""
    database.script(_TABLE)
    for migration in missing(database, dialect):
        database.script(migration.sql)
        database.rows(
            "INSERT INTO migrations (number, name) VALUES (:number, :name)",
            number=migration.number,
            name=migration.name,
        )
