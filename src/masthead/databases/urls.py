"""URLs of databases: ``sqlite:///file.db``, ``postgresql://user@host/name`` and so on."""

from pathlib import Path

PARQUET_CURRENT = "current"
"""The link to the newest version, in a folder of Parquet files."""

_DUCKDB = "duckdb:///"
_PARQUET = "parquet://"
_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")


def is_postgresql(url: str) -> bool:
    """Return whether the URL names a PostgreSQL database."""
    return url.startswith(_POSTGRESQL)


def sqlite_path(url: str) -> Path | None:
    """Return the path of the file that a SQLite URL names, or None for any other URL.

    ``sqlite:///x.db`` is a file in the current folder, ``sqlite:////var/lib/x.db`` a full path.
    """
    return _path(url, _SQLITE)


def duckdb_path(url: str) -> Path | None:
    """Return the path of the file that a DuckDB URL names, or None for any other URL."""
    return _path(url, _DUCKDB)


def parquet_folder(url: str) -> Path | None:
    """Return the folder of Parquet files that a URL names, or None for any other URL.

    ``parquet://folder/`` is in the current folder, ``parquet:///var/lib/folder/`` a full path.
    """
    return _path(url, _PARQUET)


def _path(url: str, beginning: str) -> Path | None:
    path = url.removeprefix(beginning)
    return None if path in {url, ""} else Path(path)
