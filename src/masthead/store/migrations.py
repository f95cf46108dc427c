"""Bringing a database to the schema that this version of Masthead works with.

Migrations are frozen SQL files, ``sql/<dialect>/<number>_<name>.sql``, applied in the order of
their numbers; each number has a side for every database. No library is used: those that exist speak
to the databases through other drivers than ours, and the whole job is a numbered list.
"""

from importlib.resources import files
from typing import NamedTuple

from masthead.errors import MastheadError
from masthead.store.database import Database, Dialect

__all__ = ["Migration", "apply_missing", "migrations", "missing", "status"]

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL
)
"""
_TABLE_EXISTS: dict[Dialect, str] = {
    "sqlite": "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'",
    "postgresql": "SELECT 1 WHERE to_regclass('migrations') IS NOT NULL",
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
    if database.rows(_TABLE_EXISTS[database.dialect]):
        applied = {number for (number,) in database.rows("SELECT number FROM migrations")}
    if newer := applied - {migration.number for migration in known}:
        raise MastheadError(
            f"the database has schema {max(newer)}, this version of Masthead knows schemas up to "
            f"{known[-1].number}: use a newer version, or another database"
        )
    return [(migration, migration.number in applied) for migration in known]


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
