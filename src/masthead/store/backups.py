"""Backups of the embedded database, made while it is in use, and their way back.

A backup is one file, a database of SQLite without a log beside it. A server's database has tools of
its own for this.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex

import apsw

from masthead.errors import BadInput, BadUsage, MastheadError
from masthead.store import audit, commits, migrations
from masthead.store.database import Store
from masthead.store.sqlite import SqliteStore

__all__ = ["back_up", "restore_backup"]

Advance = Callable[[int, int], None]
"""Is told how many pages are copied, and how many there are."""

_PAGES = 2_000
_COMPANIONS = ("-wal", "-shm", "-journal")
_SHARED_LOCK = (510, 0x40000002)
"""The bytes, as length and start, of which every connection to a database in WAL mode holds a read
lock for as long as it is open (SQLite's file format, "Lock-Byte Page")."""


def back_up(store: Store, target: Path, *, advance: Advance, by: audit.Deed | None = None) -> None:
    """Write all that the database holds at this moment to the new file ``target``.

    Nobody waits for it. Until all is written, checked and safe on the disk, it has another name
    beside ``target``. Raises BadUsage where ``target`` exists or the database is not a file,
    MastheadError where it cannot be read or written.
    """
    path = _path(store)
    if target.exists():
        raise BadUsage(f"{target} exists already: a backup replaces nothing, choose another name")
    with _beside(target) as made:
        audit.record_reading(store, by, "all that the database holds was copied")
        _copy(path, made, advance)
        _check(made, of=path)
        _put(made, target)


def restore_backup(
    store: Store,
    source: Path,
    *,
    replace: bool,
    advance: Advance,
    by: audit.Deed | None = None,
) -> int:
    """Put a backup in the place of the database, in a new epoch; return how many accounts it has.

    The copy gets its place when it is checked, up to date and in its epoch. Raises BadUsage where
    there is a database and ``replace`` is not set, BadInput where ``source`` is no backup,
    MastheadError where something has the database open, or it cannot be read or written.
    """
    path = _path(store)
    if not source.is_file():
        raise BadInput(f"{source}: there is no such file")
    if path.exists() and not replace:
        raise BadUsage(f"the database {path} exists: say --replace to lose what it holds")
    with _alone(path):
        pass  # said before the work is begun
    with _beside(path) as made:
        _copy(source, made, advance)
        _check(made, of=source)
        prepared = SqliteStore(made, store.clock, store.secret)
        with prepared.writer() as database:
            if not any(is_applied for _, is_applied in migrations.status(database)):
                raise BadInput(f"{source} is not a backup of Masthead")
        prepared.migrate()
        count = commits.start_epoch(prepared, by=by)
        with prepared.writer() as database:
            # All of it into the one file, which is what gets the database's place.
            database.rows("PRAGMA journal_mode = DELETE")
        with _alone(path):
            # Before the file is replaced: the old one's log would be taken for the new one's.
            _remove(path, _COMPANIONS)
            _put(made, path)
    return count


def _path(store: Store) -> Path:
    if not isinstance(store, SqliteStore):
        raise BadUsage(
            "a PostgreSQL database is backed up and restored with its own tools, pg_dump or an "
            "archive of its log; after a restore say `masthead feed new-epoch`"
        )
    return store.path


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Lend the name of a file that its owner alone may read; take away what still has it."""
    made = target.with_name(f".{target.name}-{token_hex(4)}")
    os.close(os.open(made, os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield made
    finally:
        _remove(made, ("", *_COMPANIONS))


def _remove(path: Path, endings: tuple[str, ...]) -> None:
    for ending in endings:
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _copy(source: Path, made: Path, advance: Advance) -> None:
    try:
        with (
            closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as original,
            closing(apsw.Connection(str(made))) as copy,
        ):
            # One snapshot: else whatever is written meanwhile would make the copy begin anew.
            original.execute("BEGIN; SELECT 1 FROM sqlite_schema").fetchall()
            with copy.backup("main", original, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES)
                    advance(backup.page_count - backup.remaining, backup.page_count)
            copy.execute("PRAGMA journal_mode = DELETE")
    except apsw.Error as error:
        raise MastheadError(f"{source} cannot be copied: {error}") from error


def _check(made: Path, *, of: Path) -> None:
    with closing(apsw.Connection(str(made), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        try:
            found = connection.execute("PRAGMA integrity_check(1)").fetchall()
        except apsw.Error as error:
            found = [(str(error),)]
    if found != [("ok",)]:
        raise MastheadError(f"{of} is damaged: {found[0][0]}")


def _put(made: Path, target: Path) -> None:
    _sync(made)
    made.replace(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep everybody from the database while the block lasts.

    Raises MastheadError where a connection is open. What the file holds does not matter: it may be
    the damage for which a backup is restored.
    """
    if not path.exists():
        yield
        return
    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, *_SHARED_LOCK)
        except BlockingIOError:
            raise MastheadError(
                f"the database {path} is in use: stop its server, and let its loads end"
            ) from None
        yield
