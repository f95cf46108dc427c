"""Back up the embedded database while it is in use, and restore its backups.

A backup is one file: a SQLite database without a log. PostgreSQL has its own backup tools.
"""

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from re import compile as pattern
from secrets import token_hex
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar

from masthead.databases.connection import DatabaseUnavailable
from masthead.databases.sqlite import SqliteConnection, copy_file, find_damage
from masthead.errors import BadInput, BadUsage, MastheadError
from masthead.private_files import sync
from masthead.store import access_ended, audit, commits, epochs, erasing, migrations
from masthead.store.books.erasure_settlement import left_of
from masthead.store.books.operation import mode_of
from masthead.store.database import Connection, Store
from masthead.store.sqlite import SqliteStore

_Found = TypeVar("_Found")

Advance = Callable[[int, int], None]
"""A callback that gets the number of pages copied so far and the number of all pages."""

_UNFINISHED = pattern(r"\.unfinished-(backup|restore)-[0-9a-f]{8}$")

_COMPANIONS = ("-wal", "-shm", "-journal")
_SHARED_LOCK = (510, 0x40000002)
"""Length and start of the byte range that every open connection to a WAL database read-locks
(SQLite's file format, "Lock-Byte Page")."""


class Unread(NamedTuple):
    """Why parts of the replaced database could not be read; None for a part that was read.

    ``lists`` is the list of the erased and the audit log, ``admitted`` who has access, ``stamps``
    the times that clients may have.
    """

    lists: str | None = None
    admitted: str | None = None
    stamps: str | None = None


class Restored(NamedTuple):
    """What a restore did.

    ``accounts`` is the number of accounts. ``erased`` has, by account, the ids of subscribers who
    were added to the backup's list of the erased. ``left`` has those of them who again have issues
    or money left in the books. ``audit_entries`` is the number of entries copied from the replaced
    database. ``carried`` is the access copied from it, and ``unread`` what could not be read from
    it. ``replaced`` is False if there was no database. ``removed`` are files that killed backups
    and restores left behind.
    """

    accounts: int
    erased: dict[int, list[int]]
    left: dict[int, list[int]]
    audit_entries: int
    carried: access_ended.Carried
    unread: Unread
    replaced: bool
    removed: list[Path]


class _Kept(NamedTuple):
    """What a restore copies from the replaced database to the restored one."""

    erasures: Sequence[erasing.Erasure] = ()
    audit_entries: Sequence[audit.Entry] = ()
    admitted: access_ended.Admitted | None = None
    stamps: Mapping[int, int] = MappingProxyType({})
    unread: Unread = Unread()


def back_up(
    store: Store, target: Path, *, advance: Advance, by: audit.Actor | None = None
) -> list[Path]:
    """Write a snapshot of the database to the new file ``target``, without any locks.

    The file has another name in the same folder until it is written, checked and synced. Removes
    and returns the files that killed backups and restores left in that folder. Raises BadUsage if
    ``target`` exists or the database is not a file, MastheadError if it cannot be read or written.
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
    by: audit.Actor | None = None,
) -> Restored:
    """Replace the database with a backup, in a new epoch.

    The restore copies the list of the erased and the audit entries from the replaced database. It
    blanks the subscribers on that list, or in ``erasures``, again. Access stays as in the replaced
    database; if that is unknown, all sessions end. The epoch begins after the newest stamp of the
    replaced database. The database is replaced only when the new one is checked, migrated, in its
    epoch and without any trace of the erased (rules, "Restored backups",
    "Restored backups: the erased" and "Restored backups: who may come in").

    Raises BadUsage if there is a database and ``replace`` is not set, BadInput if ``source`` is not
    a backup, MastheadError if the database is open elsewhere or cannot be read or written. Also
    raises MastheadError if its list of the erased cannot be read, unless ``erasures`` are given or
    ``even_if_unreadable`` is set.
    """
    path = _path(store)
    if not source.is_file():
        raise BadInput(f"{source}: there is no such file")
    is_there = path.exists()
    if is_there and not replace:
        raise BadUsage(
            f"the database {path} exists, and what it holds would be lost", code="database_exists"
        )
    with _alone(path):
        pass  # fails early, before the long part
    state = _state(path)
    kept = _kept_by(path, store) if is_there else _Kept()
    if kept.unread.lists and not (erasures or even_if_unreadable):
        raise MastheadError(
            f"the list of the erased cannot be read from {path} "
            f"({kept.unread.lists}), and without it, subscribers who were erased "
            "after the backup was made come back: give the latest list, or decide to "
            "do without it",
            code="unreadable_erasures",
        )
    removed = _remove_unfinished(path.parent)
    with _beside(path, "restore") as made:
        _copy(source, made, advance)
        _check(made, of=source)
        prepared = SqliteStore(made, store.clock, store.secret)
        _check_schema(prepared, source)
        prepared.migrate()
        kept = _without_what_is_older(kept, prepared)
        accounts = epochs.start_epochs(prepared, known=kept.stamps, by=by)
        erased, copied = _carry_over(prepared, kept, erasures, by)
        carried = _carry_admission_over(prepared, kept, by)
        left = _left_to(prepared, erased)
        with prepared.writer() as database:
            # This moves everything from the log into the file that replaces the database.
            database.rows("PRAGMA journal_mode = DELETE")
        with _alone(path):
            if _state(path) != state:
                raise MastheadError(
                    f"something was written to the database {path} while the backup was prepared: "
                    "see that nothing uses it, and restore again"
                )
            # Before the replacement: SQLite would apply the old log to the new file.
            _remove(path, _COMPANIONS)
            if kept.admitted is None:
                # The backup's operators may have been removed since.
                access_ended.end_sessions(store)
            _put(made, path)
    return Restored(accounts, erased, left, copied, carried, kept.unread, is_there, removed)


def _check_schema(prepared: Store, source: Path) -> None:
    """Raise BadInput if it is no backup, or its schema cannot be migrated to this version's."""
    with prepared.writer() as database:
        try:
            found = migrations.status(database)
        except MastheadError as error:
            raise BadInput(
                f"{source} cannot be restored: {error}", code=error.code, **error.values
            ) from error
    if not any(is_applied for _, is_applied in found):
        raise BadInput(f"{source} is not a backup of Masthead")


def _kept_by(path: Path, store: Store) -> _Kept:
    """Read what a restore copies from a database; its schema may be of another version."""
    replaced = SqliteStore(path, store.clock, store.secret)
    with closing(replaced):
        lists, no_lists = _read(replaced, ("erasures", "audit"), _lists_of)
        own, no_admitted = _read(replaced, access_ended.TABLES, _admitted_by)
        stamps, no_stamps = _read(replaced, ("commits", "removed_accounts"), epochs.stamps_of)
    erased, entries = lists or ((), ())
    return _Kept(erased, entries, own, stamps or {}, Unread(no_lists, no_admitted, no_stamps))


def _read(
    replaced: SqliteStore, tables: Iterable[str], read: Callable[[Connection], _Found]
) -> tuple[_Found | None, str | None]:
    """Return what ``read`` finds in the tables, or why they cannot be read."""
    try:
        with replaced.reader() as database:
            for table in tables:
                ((found,), *_) = database.rows(f"PRAGMA integrity_check({table})")
                if found != "ok":
                    return None, f"its table {table} is damaged"
            return read(database), None
    except (MastheadError, SqliteConnection.driver_error) as error:
        return None, str(error)


def _lists_of(database: Connection) -> tuple[list[erasing.Erasure], list[audit.Entry]]:
    return erasing.erasures(database), list(audit.entries(database))


def _admitted_by(database: Connection) -> access_ended.Admitted:
    if not migrations.has_own_secret(database):
        raise MastheadError("its secret key is another one")
    return access_ended.admitted_by(database)


def _without_what_is_older(kept: _Kept, prepared: Store) -> _Kept:
    """Keep the backup's access unless the replaced database is a later state of the backup.

    The audit log only grows, even through restores. So a later state has all entries of the backup.
    """
    with prepared.writer() as database:
        lacks = set(audit.entries(database)).difference(kept.audit_entries)
    if kept.admitted is None or not lacks:
        return kept
    reason = kept.unread.lists or "it is no later state of the backup: its audit log lacks entries"
    return kept._replace(admitted=None, unread=kept.unread._replace(admitted=reason))


def _carry_admission_over(
    store: Store, kept: _Kept, by: audit.Actor | None
) -> access_ended.Carried:
    """Give access as the replaced database did; if that is unknown, end all sessions."""
    with store.writer() as database, database.transaction():
        if kept.admitted is None:
            database.change("UPDATE operators SET sessions_from = :now", now=database.now())
            return access_ended.Carried({}, [])
        carried = access_ended.carry_over(database, kept.admitted)
        for account_id, what in carried.changed.items():
            summary = f"carried over from the replaced database: {', '.join(what)}"
            audit.record(database, by, summary, account_id=account_id)
        for account_id in carried.closed:
            summary = "switched off: the account was removed after the backup"
            audit.record(database, by, summary, account_id=account_id)
    return carried


def _carry_over(
    store: Store, kept: _Kept, named: Sequence[erasing.Erasure], by: audit.Actor | None
) -> tuple[dict[int, list[int]], int]:
    """Add what is kept; return the newly erased and the number of copied audit entries."""
    with store.writer() as database, database.transaction():
        copied = audit.carry_over(database, kept.audit_entries)
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
    return erased, copied


def _left_to(store: Store, erased: Mapping[int, list[int]]) -> dict[int, list[int]]:
    """Return which of the erased have issues or money left in the books."""
    found = {}
    with store.writer() as database:  # a reader would stay open
        for account_id, subscriber_ids in erased.items():
            if mode_of(database, account_id) == "here":
                found[account_id] = [
                    subscriber_id
                    for subscriber_id in subscriber_ids
                    if left_of(database, account_id, subscriber_id)
                ]
    return {
        account_id: subscriber_ids for account_id, subscriber_ids in found.items() if subscriber_ids
    }


def _blank_again(database: Connection, account_id: int, count: int, by: audit.Actor | None) -> None:
    if not database.rows("SELECT 1 FROM accounts WHERE account_id = :id", id=account_id):
        return  # the list also applies to an account that is added again later
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
            "archive of its log; after a restore, begin a new epoch",
            code="postgresql_backup",
        )
    return store.path


@contextmanager
def _beside(target: Path, doing: Literal["backup", "restore"]) -> Iterator[Path]:
    """Yield the path of a new file that only its owner can read; finally remove it if it exists.

    The file stays locked until then. A killed process has no locks, so the next backup or restore
    recognises its files and removes them.
    """
    while True:
        made = target.with_name(f"{target.name}.unfinished-{doing}-{token_hex(4)}")
        descriptor = os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if made.exists():  # another process may remove it before it is locked
            break
        os.close(descriptor)
    try:
        yield made
    finally:
        _remove(made, (*_COMPANIONS, ""))
        os.close(descriptor)


def _remove_unfinished(folder: Path) -> list[Path]:
    """Remove the files of killed backups and restores from a folder; return their paths."""
    removed = []
    for path in sorted(folder.glob("*.unfinished-*")):
        # Files of a running process or of another user are left alone.
        with suppress(OSError):
            if _UNFINISHED.search(path.name) and _is_unlocked(path):
                _remove(path, (*_COMPANIONS, ""))
                removed.append(path)
    return removed


def _is_unlocked(path: Path) -> bool:
    # Others may write to the folder, so this follows no link and waits for no pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _state(path: Path) -> list[tuple[int, int, int]]:
    """Return the inode, size and time of the files; every write changes them."""
    found = [Path(f"{path}{ending}") for ending in ("", "-wal")]
    stats = [each.stat() for each in found if each.exists()]
    return [(one.st_ino, one.st_size, one.st_mtime_ns) for one in stats if one.st_size]


def _remove(path: Path, endings: tuple[str, ...]) -> None:
    for ending in endings:
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _copy(source: Path, made: Path, advance: Advance) -> None:
    try:
        copy_file(source, made, advance)
    except DatabaseUnavailable as error:
        raise MastheadError(f"{source} cannot be copied: {error.reason}") from error


def _check(made: Path, *, of: Path) -> None:
    if damage := find_damage(made):
        raise MastheadError(f"{of} is damaged: {damage}")


def _put(made: Path, target: Path) -> None:
    sync(made)
    made.replace(target)
    sync(target.parent)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Lock all others out of the database during the block.

    Raises MastheadError if a connection is open. Works even if the file is damaged.
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
