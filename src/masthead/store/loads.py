"""The record of loads: when, by whom, of which files, and how each ended.

A load is recorded before it reads its files. Its good end is written in the transaction that
changes the data, a refusal in one of its own. A killed load leaves a record without an end, and its
lock is free. The last :data:`KEPT` loads of an account are kept, the last good one,
and the last one that waited for a marker file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Literal, NamedTuple

import msgspec

from masthead.contract.moments import format_second
from masthead.contract.printable import printable
from masthead.databases.connection import DatabaseLocked
from masthead.errors import BadRows, MastheadError, StoreUnavailable
from masthead.store import accounts, audit
from masthead.store.database import Connection, Dialect, Row, Store
from masthead.store.waiting_writers import Writer

__all__ = ["KEPT", "Load", "Recording", "last_good", "last_marker", "loads", "recorded", "running"]

KEPT = 100
"""The number of loads that are kept of an account."""

Outcome = Literal["good", "refused", "running", "interrupted"]
Counts = dict[str, dict[str, int]]

_REASON_MAX = 500
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_LAST_GOOD: dict[Dialect, str] = {
    "sqlite": """
        SELECT account_id, max(ended_at) FROM loads WHERE outcome = 'good' GROUP BY account_id
        """,
    "postgresql": "SELECT account_id, ended_at FROM last_loads()",
}


class Load(NamedTuple):
    """A load; times are microseconds since 1970, None of a load that has not ended.

    ``files`` are their names in messages. ``counts`` are the numbers of rows by table, and
    ``rejected`` of those set aside, of a good load. ``reason`` is why a load was refused, "" for
    others.
    """

    account_id: int
    load_id: int
    started_at: int
    ended_at: int | None
    user_name: str
    command: str
    files: list[str]
    outcome: Outcome
    counts: Counts
    rejected: int
    reason: str


class Recording:
    """The record of a load that runs."""

    def __init__(self, account_id: int, load_id: int) -> None:
        self._load = {"account_id": account_id, "load_id": load_id}

    def note_good(self, connection: Connection, counts: Counts, rejected: int) -> None:
        """Write the good end in the caller's transaction, which is that of the load's changes."""
        connection.change(
            """
            UPDATE loads SET ended_at = :now, outcome = 'good', counts = :counts,
                rejected = :rejected
            WHERE account_id = :account_id AND load_id = :load_id
            """,
            now=connection.now(),
            counts=_json(counts),
            rejected=rejected,
            **self._load,
        )

    def note_refusal(self, connection: Connection, error: Exception) -> None:
        """Write why the load is refused, unless it has ended well.

        No value of a row is written: it can be personal, and an erasure would not find it here.
        """
        connection.change(
            """
            UPDATE loads SET ended_at = :now, outcome = 'refused', reason = :reason
            WHERE account_id = :account_id AND load_id = :load_id AND ended_at IS NULL
            """,
            now=connection.now(),
            reason=_storable(_reason(error)[:_REASON_MAX]),
            **self._load,
        )


def _reason(error: Exception) -> str:
    """Return the first line of the reason, without what it quotes; of bad rows, the first place."""
    if isinstance(error, BadRows):
        return error.brief
    line = str(error).partition("\n")[0]
    rest = _QUOTED.sub("…", line)
    if "'" in rest or '"' in rest:
        # The name of a file has a quote, so nobody can tell what stands inside of quotes.
        return re.split("['\"]", line, maxsplit=1)[0] + "…"
    return _QUOTED.sub("'…'", line)


def _storable(text: str) -> str:
    """Return a text as a line, without what no database holds, such as half a character."""
    return printable(text.encode("utf-8", "backslashreplace").decode())


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


@contextmanager
def recorded(
    store: Store,
    account_id: int,
    files: Sequence[str],
    by: audit.Actor | None,
    *,
    waits: bool,
    marker_at: int | None = None,
) -> Iterator[Recording]:
    """Exclude other loads of the account during the block, and record this one.

    ``marker_at`` is the time of the marker file for which the load has waited. What the block
    raises is recorded in a transaction of its own, if the database can be used. Raises NotFound if
    there is no such account, MastheadError if another load of it runs, unless this one ``waits``.
    """
    with store.writer() as connection:
        accounts.settings_of(connection, account_id)
    with ExitStack() as stack:
        try:
            stack.enter_context(store.load_lock(account_id, waits=False))
        except DatabaseLocked:
            if not waits:
                raise MastheadError(_other_load(store, account_id), code="other_load") from None
            if store.waiting:
                store.waiting.say(running(store, account_id))
            stack.enter_context(store.load_lock(account_id, waits=True))
        recording = _begin(store, account_id, files, by, marker_at)
        try:
            yield recording
        except (MastheadError, OSError) as error:
            with suppress(StoreUnavailable), store.writer() as connection, connection.transaction():
                recording.note_refusal(connection, error)
            raise


def _other_load(store: Store, account_id: int) -> str:
    found = running(store, account_id)
    since = ""
    if found:
        since = f" since {format_second(found.since_us)} UTC"
        since += f" ({found.command}, by {found.user_name})" if found.user_name else ""
    return (
        f"account {account_id}: another load is running{since}; nothing was loaded: load the files "
        "again later"
    )


def running(store: Store, account_id: int) -> Writer | None:
    """Return who runs the account's load, None if none is recorded."""
    with store.writer() as connection:
        row = connection.row(
            """
            SELECT user_name, 'masthead ' || command, started_at FROM loads
            WHERE account_id = :account_id AND ended_at IS NULL ORDER BY load_id DESC LIMIT 1
            """,
            account_id=account_id,
        )
    return Writer(*row) if row else None


def _begin(
    store: Store,
    account_id: int,
    files: Sequence[str],
    by: audit.Actor | None,
    marker_at: int | None,
) -> Recording:
    with store.writer() as connection, connection.transaction():
        ((last,),) = connection.rows(
            "SELECT coalesce(max(load_id), 0) FROM loads WHERE account_id = :account_id",
            account_id=account_id,
        )
        load_id = int(last) + 1
        connection.change(
            """
            INSERT INTO loads
                (account_id, load_id, started_at, user_name, command, files, marker_at)
            VALUES
                (:account_id, :load_id, :started_at, :user_name, :command, :files, :marker_at)
            """,
            account_id=account_id,
            load_id=load_id,
            started_at=connection.now(),
            user_name=by.user_name if by else "",
            command=by.command if by else "",
            files=_json(list(map(_storable, files))),
            marker_at=marker_at,
        )
        connection.change(
            """
            DELETE FROM loads
            WHERE account_id = :account_id AND load_id <= :too_old AND load_id <> coalesce((
                SELECT max(load_id) FROM loads
                WHERE account_id = :account_id AND outcome = 'good'), 0) AND load_id <> coalesce((
                SELECT max(load_id) FROM loads
                WHERE account_id = :account_id AND ended_at IS NOT NULL
                    AND marker_at IS NOT NULL), 0)
            """,
            account_id=account_id,
            too_old=load_id - KEPT,
        )
    return Recording(account_id, load_id)


def loads(store: Store, account_id: int | None = None) -> list[Load]:
    """Return the loads that are kept, the newest last: all, or those of an account."""
    of_account: Mapping[str, int] = {} if account_id is None else {"account_id": account_id}
    with store.writer() as connection:
        rows = connection.rows(
            f"""
            SELECT {", ".join(Load._fields)} FROM loads
            WHERE {"account_id = :account_id" if of_account else "TRUE"}
            ORDER BY started_at, account_id, load_id
            """,
            **of_account,
        )
    newest = {row[0]: row[1] for row in sorted(rows)}

    def outcome_of(load: Load) -> Outcome:
        if load.outcome:
            return load.outcome
        is_newest = load.load_id == newest[load.account_id]
        return "running" if is_newest and store.is_loading(load.account_id) else "interrupted"

    return [load._replace(outcome=outcome_of(load)) for load in map(_load_of, rows)]


def _load_of(row: Row) -> Load:
    load = Load._make(row)
    return load._replace(
        files=msgspec.json.decode(row[Load._fields.index("files")], type=list[str]),
        counts=msgspec.json.decode(row[Load._fields.index("counts")] or "{}", type=Counts),
    )


def last_good(store: Store) -> dict[int, int]:
    """Return when the last good load of each account ended, in microseconds since 1970.

    An account that has had none is not in it.
    """
    with store.reader() as connection:
        return dict(connection.rows(_LAST_GOOD[connection.dialect]))


def last_marker(store: Store, account_id: int) -> int | None:
    """Return the time of the marker file of the account's last load that had one and has ended.

    It is in microseconds since 1970, and None if there was none. An interrupted load can be run
    again with its marker.
    """
    with store.writer() as connection:
        row = connection.row(
            """
            SELECT marker_at FROM loads
            WHERE account_id = :account_id AND ended_at IS NOT NULL AND marker_at IS NOT NULL
            ORDER BY load_id DESC LIMIT 1
            """,
            account_id=account_id,
        )
    return row[0] if row else None
