"""URLs of databases: ``sqlite:///file.db`` and ``postgresql://user@host/name``."""

from pathlib import Path

__all__ = ["is_postgresql", "sqlite_path"]

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")


def is_postgresql(url: str) -> bool:
    """Return whether the URL is one of PostgreSQL."""
    return url.startswith(_POSTGRESQL)


def sqlite_path(url: str) -> Path | None:
    """Return the path of the file that a SQLite URL names, or None for any other URL.

    ``sqlite:///x.db`` is a file in the current folder, ``sqlite:////var/lib/x.db`` a full path.
    """
    path = url.removeprefix(_SQLITE)
    return None if path in {url, ""} else Path(path)
