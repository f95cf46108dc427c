"""The record of loads: their time, user, files and outcome.

A load is recorded before it reads its files. The transaction that changes the data also records
success; a refusal is recorded in its own transaction. A killed load leaves a record without an end,
and its lock is free. An account's last :data:`KEPT` loads are kept, plus its last good load and its
last load that waited for a marker file.
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

KEPT = 100
"""The number of loads that are kept for an account."""

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
    """A load; times are microseconds since 1970. ``ended_at`` is None if it has not ended.

    ``files`` are their names in messages. For a good load, ``counts`` are the numbers of rows by
    table, and ``rejected`` is the number of rows that were set aside. ``reason`` is why a load was
    refused, or "".
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
    """The record of a running load."""

    def __init__(self, account_id: int, load_id: int) -> None:
        self._load = {"account_id": account_id, "load_id": load_id}

    def note_good(self, connection: Connection, counts: Counts, rejected: int) -> None:
        """Record success in the caller's transaction, which also writes the load's changes."""
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
        """Record why the load is refused, unless its success is recorded.

        No value of a row is written: values can be personal, and an erasure would not find them.
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
    """Return the first line of the reason without quoted text; for bad rows, the first place."""
    if isinstance(error, BadRows):
        return error.brief
    line = str(error).partition("\n")[0]
    rest = _QUOTED.sub("…", line)
    if "'" in rest or '"' in rest:
        # A file name contains a quote, so quoted text cannot be recognised.
        return re.split("['\"]", line, maxsplit=1)[0] + "…"
    return _QUOTED.sub("'…'", line)


def _storable(text: str) -> str:
    """Return a text as one line, without what databases refuse, such as half a character."""
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

    ``marker_at`` is the time of the marker file for which the load waited. Errors of the block are
    recorded in their own transaction if the database is available. Raises NotFound if the account
    does not exist. Without ``waits``, raises MastheadError if another load of the account runs.
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
    """Return who runs the account's load, or None if none is recorded."""
    with store.writer() as connection:
        return connection.row_as(
            Writer,
            """
            SELECT user_name, 'masthead ' || command, started_at FROM loads
            WHERE account_id = :account_id AND ended_at IS NULL ORDER BY load_id DESC LIMIT 1
            """,
            account_id=account_id,
        )


def _begin(
    store: Store,
    account_id: int,
    files: Sequence[str],
    by: audit.Actor | None,
    marker_at: int | None,
) -> Recording:
    with store.writer() as connection, connection.transaction():
        last = connection.value_as(
            int,
            "SELECT max(load_id) FROM loads WHERE account_id = :account_id",
            account_id=account_id,
        )
        load_id = (last or 0) + 1
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
    """Return the kept loads, newest last: all, or those of an account."""
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


def failed_since_good(store: Store, account_id: int) -> list[str]:
    """Return the reasons why loads of the account since its last good one failed, in order."""
    found: list[str] = []
    for load in loads(store, account_id):
        if load.outcome == "good":
            found = []
        elif load.outcome in {"refused", "interrupted"}:
            found.append(load.reason or load.outcome)
    return found


def _load_of(row: Row) -> Load:
    load = Load._make(row)
    return load._replace(
        files=msgspec.json.decode(row[Load._fields.index("files")], type=list[str]),
        counts=msgspec.json.decode(row[Load._fields.index("counts")] or "{}", type=Counts),
    )


def last_good(store: Store) -> dict[int, int]:
    """Return when the last good load of each account ended, in microseconds since 1970.

    Accounts without a good load are not in the result.
    """
    with store.reader() as connection:
        return dict(connection.rows_as(tuple[int, int], _LAST_GOOD[connection.dialect]))


def last_marker(store: Store, account_id: int) -> int | None:
    """Return the time of the marker file of the account's last ended load that had a marker.

    The time is in microseconds since 1970, or None without such a load. Interrupted loads do not
    count, so they can run again with their marker.
    """
    with store.writer() as connection:
        return connection.value_as(
            int,
            """
            SELECT marker_at FROM loads
            WHERE account_id = :account_id AND ended_at IS NOT NULL AND marker_at IS NOT NULL
            ORDER BY load_id DESC LIMIT 1
            """,
            account_id=account_id,
        )
