"""Backups of the embedded database, made while it is in use, and their way back.

A backup is one file, a database of SQLite without a log beside it. A server's database has tools of
its own for this.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from re import compile as pattern
from secrets import token_hex
from typing import Literal, NamedTuple

import apsw

from masthead.errors import BadInput, BadUsage, MastheadError
from masthead.store import audit, commits, erasing, migrations
from masthead.store.database import Connection, Store
from masthead.store.sqlite import SqliteStore

__all__ = ["Restored", "back_up", "restore_backup"]

Advance = Callable[[int, int], None]
"""Is told how many pages are copied, and how many there are."""

_UNFINISHED = pattern(r"\.unfinished-(backup|restore)-[0-9a-f]{8}$")
_PAGES = 2_000
_PERSONAL_DATA_SINCE = 6
"""The migration that made the tables ``erasures`` and ``audit``."""

_COMPANIONS = ("-wal", "-shm", "-journal")
_SHARED_LOCK = (510, 0x40000002)
"""The bytes, as length and start, of which every connection to a database in WAL mode holds a read
lock for as long as it is open (SQLite's file format, "Lock-Byte Page")."""


class Restored(NamedTuple):
    """What a restore did.

    ``accounts`` is how many there are; ``erased`` has the ids of the subscribers, by account, who
    are on the list of the erased and were not on that of the backup; ``records`` is how many
    records of who did what were carried over. ``unread`` says why nothing could be carried over
    from the database that was replaced, and is None where it could, or where there was none
    (``replaced`` is False). ``removed`` are files that killed backups and restores had left.
    """

    accounts: int
    erased: dict[int, list[int]]
    records: int
    unread: str | None
    replaced: bool
    removed: list[Path]


class _Kept(NamedTuple):
    """What a database hands on to the one that takes its place."""

    erasures: Sequence[erasing.Erasure] = ()
    records: Sequence[audit.Entry] = ()
    unread: str | None = None


def back_up(
    store: Store, target: Path, *, advance: Advance, by: audit.Deed | None = None
) -> list[Path]:
    """Write all that the database holds at this moment to the new file ``target``.

    Nobody waits for it. Until all is written, checked and safe on the disk, it has another name
    beside ``target``. Returns the files that killed backups and restores had left in that folder,
    which are removed. Raises BadUsage where ``target`` exists or the database is not a file,
    MastheadError where it cannot be read or written.
    """
    path = _path(store)
    if target.exists():
        raise BadUsage(f"{target} exists already: a backup replaces nothing, choose another name")
    removed = _remove_unfinished(target.parent)
    with _beside(target, "backup") as made:
        audit.record_reading(store, by, "all that the database holds was copied")
        _copy(path, made, advance)
        _check(made, of=path)
        _put(made, target)
    return removed


def restore_backup(
    store: Store,
    source: Path,
    *,
    replace: bool,
    advance: Advance,
    erasures: Sequence[erasing.Erasure] = (),
    even_if_unreadable: bool = False,
    by: audit.Deed | None = None,
) -> Restored:
    """Put a backup in the place of the database, in a new epoch.

    The list of the erased and the record of who did what are carried over from the database that
    is replaced; who is on that list, or among ``erasures``, is blanked again. The copy gets its
    place when it is checked, up to date, in its epoch, and holds no trace of the erased (decisions,
    "Restored backups" and "Restored backups: the erased").

    Raises BadUsage where there is a database and ``replace`` is not set, BadInput where ``source``
    is no backup, MastheadError where something has the database open, or it cannot be read or
    written. A database whose list cannot be read is replaced only with ``erasures``, or where
    ``even_if_unreadable`` is set.
    """
    path = _path(store)
    if not source.is_file():
        raise BadInput(f"{source}: there is no such file")
    is_there = path.exists()
    if is_there and not replace:
        raise BadUsage(f"the database {path} exists: say --replace to lose what it holds")
    with _alone(path):
        pass  # said before the work is begun
    state = _state(path)
    kept = _kept_by(path, store) if is_there else _Kept()
    if kept.unread and not (erasures or even_if_unreadable):
        raise MastheadError(
            f"the list of the erased cannot be read from {path} ({kept.unread}), and without it "
            "those come back who were erased after the backup was made: name the latest list with "
            "--erasures ACCOUNT FILE, or say --even-if-unreadable to do without"
        )
    removed = _remove_unfinished(path.parent)
    with _beside(path, "restore") as made:
        _copy(source, made, advance)
        _check(made, of=source)
        prepared = SqliteStore(made, store.clock, store.secret)
        with prepared.writer() as database:
            if not any(is_applied for _, is_applied in migrations.status(database)):
                raise BadInput(f"{source} is not a backup of Masthead")
        prepared.migrate()
        accounts = commits.start_epoch(prepared, by=by)
        erased, records = _carry_over(prepared, kept, erasures, by)
        with prepared.writer() as database:
            # All of it into the one file, which is what gets the database's place.
            database.rows("PRAGMA journal_mode = DELETE")
        with _alone(path):
            if _state(path) != state:
                raise MastheadError(
                    f"something was written to the database {path} while the backup was prepared: "
                    "see that nothing uses it, and restore again"
                )
            # Before the file is replaced: the old one's log would be taken for the new one's.
            _remove(path, _COMPANIONS)
            _put(made, path)
    return Restored(accounts, erased, records, kept.unread, is_there, removed)


def _kept_by(path: Path, store: Store) -> _Kept:
    """Read what a database hands on, of this schema, an earlier or a later one."""
    replaced = SqliteStore(path, store.clock, store.secret)
    try:
        with closing(replaced), replaced.reader() as database:
            numbers = {number for (number,) in database.rows("SELECT number FROM migrations")}
            if numbers and max(numbers) < _PERSONAL_DATA_SINCE:
                return _Kept()  # in its time nobody could be erased
            for table in ("erasures", "audit"):
                ((found,), *_) = database.rows(f"PRAGMA integrity_check({table})")
                if found != "ok":
                    return _Kept(unread=f"its table {table} is damaged")
            return _Kept(erasing.erasures(database), list(audit.entries(database)))
    except (MastheadError, apsw.Error) as error:
        return _Kept(unread=str(error))


def _carry_over(
    store: Store, kept: _Kept, named: Sequence[erasing.Erasure], by: audit.Deed | None
) -> tuple[dict[int, list[int]], int]:
    """Complete a restored database; return who is on the list now, and how many records came."""
    with store.writer() as database, database.transaction():
        records = audit.carry_over(database, kept.records)
        erased: dict[int, list[int]] = {}
        for erasure in (*kept.erasures, *named):
            if erasing.add(database, erasure):
                erased.setdefault(erasure.account_id, []).append(erasure.subscriber_id)
        for account_id, subscriber_ids in erased.items():
            _blank_again(database, account_id, len(subscriber_ids), by)
        has_erased = bool(erasing.erasures(database))
    for account_id in erased:
        commits.stamp_commits(store, account_id)
    if has_erased:
        store.vacuum_after_erase()
    return erased, records


def _blank_again(database: Connection, account_id: int, count: int, by: audit.Deed | None) -> None:
    if not database.rows("SELECT 1 FROM accounts WHERE account_id = :id", id=account_id):
        return  # the list holds for an account, too, that is made again
    commit_id = commits.begin_commit(database, account_id)
    whose = "SELECT subscriber_id FROM erasures WHERE account_id = :account_id"
    if not erasing.blank(database, account_id, commit_id, whose):
        commits.drop_commit(database, account_id, commit_id)
    subscribers = "subscriber" if count == 1 else "subscribers"
    audit.record(database, by, f"erased {count} {subscribers} again", account_id=account_id)


def _path(store: Store) -> Path:
    if not isinstance(store, SqliteStore):
        raise BadUsage(
            "a PostgreSQL database is backed up and restored with its own tools, pg_dump or an "
            "archive of its log; after a restore say `masthead feed new-epoch`"
        )
    return store.path


@contextmanager
def _beside(target: Path, doing: Literal["backup", "restore"]) -> Iterator[Path]:
    """Lend the name of a file that its owner alone may read; take away what still has it.

    The file is locked for as long as it is being made: the lock of a process that was killed is
    gone, and the next backup or restore removes what it had made.
    """
    while True:
        made = target.with_name(f"{target.name}.unfinished-{doing}-{token_hex(4)}")
        descriptor = os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if made.exists():  # and was not taken for such a file before it was locked
            break
        os.close(descriptor)
    try:
        yield made
    finally:
        _remove(made, (*_COMPANIONS, ""))
        os.close(descriptor)


def _remove_unfinished(folder: Path) -> list[Path]:
    """Remove what killed backups and restores have left in a folder; return the names."""
    removed = []
    for path in sorted(folder.glob("*.unfinished-*")):
        # Not those of a process that is alive, nor those of another user.
        with suppress(OSError):
            if _UNFINISHED.search(path.name) and _is_unlocked(path):
                _remove(path, (*_COMPANIONS, ""))
                removed.append(path)
    return removed


def _is_unlocked(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _state(path: Path) -> list[tuple[int, int, int]]:
    """Return what changes whenever somebody writes to the database."""
    found = [Path(f"{path}{ending}") for ending in ("", "-wal")]
    stats = [each.stat() for each in found if each.exists()]
    return [(one.st_ino, one.st_size, one.st_mtime_ns) for one in stats if one.st_size]


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
