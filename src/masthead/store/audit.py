"""The audit log: an entry for each command that changes data or outputs much personal data.

A change and its entry are written in one transaction, so neither exists without the other. The
entry of a reading command is written before any output. An entry contains no secret, and no
personal data except ids of subscribers (rules, "Who did what").
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from masthead.errors import NotFound
from masthead.store import migrations
from masthead.store.database import Connection, Store

_ALL_ACCOUNTS = 0
_SEARCHED_MAX = 5_000
_FILTERED_MAX = 30
_NAMED = re.compile(r"\b(subscriber|subscription|order)s? ([0-9]{1,18}(?:, [0-9]{1,18})*)")


class Actor(NamedTuple):
    """A command and the operating system's user who runs it."""

    user_name: str
    command: str


class Entry(NamedTuple):
    """An entry: its time (microseconds since 1970), user, command, account and effect."""

    at: int
    user_name: str
    command: str
    account_id: int | None
    summary: str


def record(
    connection: Connection, actor: Actor | None, summary: str, *, account_id: int | None = None
) -> None:
    """Add an entry in the caller's transaction. Does nothing if ``actor`` is None."""
    if actor is None:
        return
    connection.change(
        """
        INSERT INTO audit (at, user_name, command, account_id, summary)
        VALUES (:at, :user_name, :command, :account_id, :summary)
        """,
        at=connection.now(),
        user_name=actor.user_name,
        command=actor.command,
        account_id=account_id or _ALL_ACCOUNTS,
        summary=summary,
    )


def record_reading(
    store: Store, actor: Actor | None, summary: str, *, account_id: int | None = None
) -> None:
    """Add an entry in its own transaction, before the data are read.

    Waits for other writers. Adds no entry if the database has no audit log: a backup does not
    migrate a database of an earlier version. Raises NotFound if the account does not exist,
    StoreUnavailable if the entry cannot be written.
    """
    if actor is None:
        return
    with store.writer() as connection, connection.transaction():
        if account_id is not None and not connection.row(
            "SELECT 1 FROM accounts WHERE account_id = :account_id", account_id=account_id
        ):
            raise NotFound(f"there is no account {account_id}", code="unknown_account")
        if migrations.has_table(connection, "audit"):
            record(connection, actor, summary, account_id=account_id)


def entries(
    connection: Connection, *, account_id: int | None = None, since_us: int = 0
) -> Iterator[Entry]:
    """Yield the entries, newest last: all, or those of an account or since a time.

    Entries about all accounts belong to every account. ``since_us`` is in microseconds since 1970.
    """
    of_account = f" AND account_id IN (:account_id, {_ALL_ACCOUNTS})"
    rows = connection.stream(
        f"""
        SELECT at, user_name, command, account_id, summary FROM audit
        WHERE at >= :since_us{"" if account_id is None else of_account} ORDER BY at, entry_id
        """,
        since_us=since_us,
        **({} if account_id is None else {"account_id": account_id}),
    )
    return (
        Entry(at, user_name, command, about or None, summary)
        for at, user_name, command, about, summary in rows
    )


def has_entries(connection: Connection, account_id: int) -> bool:
    """Return whether an account has entries of its own, which a removed one keeps."""
    return bool(
        connection.row(
            "SELECT 1 FROM audit WHERE account_id = :account_id LIMIT 1", account_id=account_id
        )
    )


def log_page(
    connection: Connection, account_id: int, *, before: int | None, limit: int
) -> list[tuple[int, Entry]]:
    """Return a page of an account's audit log entries with their ids, newest first.

    ``before`` is the id of the last entry of the previous page; None for the first page.
    """
    older = "" if before is None else "AND entry_id < :before"
    values = {} if before is None else {"before": before}
    rows = connection.rows(
        f"""
        SELECT entry_id, at, user_name, command, account_id, summary FROM audit
        WHERE account_id IN (:account_id, {_ALL_ACCOUNTS}) {older}
        ORDER BY entry_id DESC LIMIT :limit
        """,
        account_id=account_id,
        limit=limit,
        **values,
    )
    return [(row[0], Entry(row[1], row[2], row[3], row[4] or None, row[5])) for row in rows]


def changes_of(
    connection: Connection, account_id: int, ids: Mapping[str, Collection[int]], *, limit: int
) -> tuple[list[Entry], int | None]:
    """Return the newest entries that name one of the ``ids``, which are by word, such as ``order``.

    It searches the last 5,000 entries of the account. Also returns the time of the oldest of them,
    or None if the account has no more. For few ids, the database leaves out entries without any of
    their numbers, so that they need not be fetched.
    """
    numbers = {number for each in ids.values() for number in each}
    has = "instr" if connection.dialect == "sqlite" else "strpos"
    filters = [f"{has}(summary, ' {number:d}') > 0" for number in sorted(numbers)]
    where = f"WHERE {' OR '.join(filters)}" if len(filters) <= _FILTERED_MAX else ""
    newest = f"""
        SELECT entry_id, at, user_name, command, account_id, summary FROM audit
        WHERE account_id IN (:account_id, {_ALL_ACCOUNTS})
        ORDER BY entry_id DESC LIMIT {_SEARCHED_MAX}
        """
    found = connection.rows(f"SELECT * FROM ({newest}) AS newest {where}", account_id=account_id)
    changes = [
        Entry(at, user_name, command, about or None, summary)
        for _, at, user_name, command, about, summary in sorted(found, reverse=True)
        if _names(summary, ids)
    ]
    since = connection.value_as(
        int,
        f"""
        SELECT at FROM audit WHERE account_id IN (:account_id, {_ALL_ACCOUNTS})
        ORDER BY entry_id DESC LIMIT 1 OFFSET {_SEARCHED_MAX - 1}
        """,
        account_id=account_id,
    )
    return changes[:limit], since


def _names(summary: str, ids: Mapping[str, Collection[int]]) -> bool:
    return any(
        int(number) in ids.get(word, ())
        for word, numbers in _NAMED.findall(summary)
        for number in numbers.split(", ")
    )


def newest_entry(connection: Connection) -> int:
    """Return the id of the newest entry of any account, or 0.

    Every operation of the books adds an entry, so the books are unchanged while this id is.
    """
    return connection.value_as(int, "SELECT max(entry_id) FROM audit") or 0


def carry_over(connection: Connection, others: Sequence[Entry]) -> int:
    """Add the entries of another database that this one lacks; return how many were added.

    Afterwards, all entries are in the order of their times. Runs in the caller's transaction.
    """
    own = list(entries(connection))
    missing = set(others).difference(own)
    if missing:
        connection.change("DELETE FROM audit")
        added = [each for each in others if each in missing]
        rows = sorted((*own, *added), key=lambda entry: entry.at)
        connection.insert_many(
            "audit",
            Entry._fields,
            [entry._replace(account_id=entry.account_id or _ALL_ACCOUNTS) for entry in rows],
        )
    return len(missing)
