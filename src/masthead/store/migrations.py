"""Migrations bring a database to the schema of this version of Masthead.

Migrations are frozen SQL files, ``sql/<dialect>/<number>_<name>.sql``, applied in number order.
Each number has a file for each database. Masthead uses no migration library, since existing ones
need other drivers.

On PostgreSQL, servers handle requests while a migration runs. So a migration neither rewrites a
table nor scans one under an exclusive lock. If it does not get a lock quickly, it gives up and
retries. A file with ``CONCURRENTLY`` runs statement by statement, outside a transaction, and must
work when it runs again after an interruption (``DROP INDEX CONCURRENTLY IF EXISTS`` first).

The database keeps the checksum of each applied file. Masthead refuses a database to which other
files were applied: its tables are not those that the queries need (rules, "Checksums of
migrations").
"""

from collections.abc import Sequence
from importlib.resources import files

from masthead.errors import MastheadError
from masthead.store.database import Connection, Dialect, Migration

__all__ = [
    "Migration",
    "check_schema",
    "check_secret",
    "has_own_secret",
    "has_table",
    "migrations",
    "missing",
    "newer_than",
    "newest",
    "read_sql",
    "record",
    "rights",
    "status",
    "steps",
]

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL
)
"""
_TABLE_EXISTS: dict[Dialect, str] = {
    "sqlite": "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :name",
    "postgresql": "SELECT 1 WHERE to_regclass(:name) IS NOT NULL",
}


def read_sql(*path: str) -> str:
    """Return the text of a file in the folder ``sql``."""
    return files("masthead.store").joinpath("sql", *path).read_text("utf-8")


def rights() -> str:
    """Return the SQL that gives the roles of a PostgreSQL database their rights."""
    return read_sql("rights_postgresql.sql") + read_sql("rights_of_readers.sql")


def migrations(dialect: Dialect) -> list[Migration]:
    """Return all migrations of ``dialect`` in order."""
    found = []
    for file in files("masthead.store").joinpath("sql", dialect).iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        found.append(Migration(int(number), name, file.read_text("utf-8")))
    return sorted(found)


def status(connection: Connection) -> list[tuple[Migration, bool]]:
    """Return all migrations in order, and for each whether it has been applied.

    Raises MastheadError if a newer version of Masthead made the database, or a version with
    different migrations.
    """
    known = migrations(connection.dialect)
    applied = _applied(connection)
    if newer := applied.keys() - {migration.number for migration in known}:
        raise MastheadError(
            f"the database has schema {max(newer)}, this version of Masthead knows schemas up to "
            f"{known[-1].number}: use a newer version, or another database"
        )
    for migration in known:
        if applied.get(migration.number, migration.checksum) != migration.checksum:
            raise MastheadError(
                f"the tables of the database were made by another migration {migration.title} than "
                "that of this version of Masthead, which cannot use them: export the accounts and "
                "their data with the version that made them, then import the files into a new "
                "database with this one",
                code="other_migration",
            )
    return [(migration, migration.number in applied) for migration in known]


def _applied(connection: Connection) -> dict[int, str]:
    """Return the checksums of the applied migrations, by number.

    They are "" in a database that is older than checksums.
    """
    if not has_table(connection, "migrations"):
        return {}
    rows = connection.rows("SELECT * FROM migrations")
    return {int(number): str(*checksum) for number, _name, *checksum in rows}


def check_schema(connection: Connection) -> None:
    """Raise MastheadError, which says what to do, unless the schema is this version's."""
    found = status(connection)
    if all(is_applied for _, is_applied in found):
        return
    migrate = "migrate it"
    if connection.dialect == "postgresql":
        migrate += " as the user who owns it"
    if not has_table(connection, "migrations"):
        raise MastheadError(
            f"the database has no tables yet: {migrate} first", code="outdated_schema"
        )
    raise MastheadError(
        f"the database has schema {newest(connection)}, this version of Masthead needs schema "
        f"{found[-1][0].number}: make a backup, then {migrate}",
        code="outdated_schema",
    )


def newest(connection: Connection) -> int:
    """Return the number of the newest applied migration; 0 if there is none."""
    return connection.value_as(int, "SELECT max(number) FROM migrations") or 0


def newer_than(connection: Connection, schema: int) -> str:
    """Return a sentence if the database has a newer schema than ``schema``, else "".

    ``schema`` is 0 if the database was not opened; then nothing is compared.
    """
    found = newest(connection) if schema else 0
    if found <= schema:
        return ""
    return (
        f"the database was migrated from schema {schema} to {found} while it was open: start the "
        "version of Masthead that migrated it in place of this one"
    )


def steps(done: Sequence[Migration]) -> str:
    """Return what the migrations have done, such as ``migrated 4 -> 8``.

    Returns "" if there are no migrations, or if they made a new database.
    """
    before = done[0].number - 1 if done else 0
    return f"migrated {before} -> {done[-1].number}" if before else ""


def has_table(connection: Connection, name: str) -> bool:
    """Return whether the database has a table with this name."""
    return bool(connection.rows(_TABLE_EXISTS[connection.dialect], name=name))


def missing(connection: Connection) -> list[Migration]:
    """Return the migrations that have not been applied, in order.

    Raises what :func:`status` raises.
    """
    return [migration for migration, is_applied in status(connection) if not is_applied]


def record(connection: Connection, migration: Migration) -> None:
    """Note that the migration has been applied, in the caller's transaction.

    The first migration binds the database to the secret key in use. A missing key is created if it
    belongs in a file.
    """
    connection.script(_TABLE)
    connection.rows(
        """
        INSERT INTO migrations (number, name, checksum) VALUES (:number, :name, :checksum)
        """,
        number=migration.number,
        name=migration.name,
        checksum=migration.checksum,
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
            "the one with which its credentials were sealed"
        )


def has_own_secret(connection: Connection) -> bool:
    """Return whether the database's credentials were sealed with the secret key in use.

    Raises MastheadError if there is no key.
    """
    own = connection.secret.fingerprint("key")
    return bool(connection.rows("SELECT 1 FROM secret_key WHERE fingerprint = :own", own=own))
