"""Who did what: a record of each command that changes something or gives many personal data out.

The record of a change is written in the change's own transaction, so neither exists without the
other; that of reading before anything is given out. A record holds no secret and nothing personal
but ids of subscribers (decisions, "Who did what").
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from masthead.errors import NotFound
from masthead.store import migrations
from masthead.store.database import Connection, Store

__all__ = ["Deed", "Entry", "carry_over", "entries", "record", "record_reading"]


class Deed(NamedTuple):
    """Who calls a command: the user of the operating system, and the command's words."""

    user_name: str
    command: str


class Entry(NamedTuple):
    """A record: when (microseconds since 1970), who, which command, whose account, what it did."""

    at: int
    user_name: str
    command: str
    account_id: int | None
    summary: str


def record(
    connection: Connection, deed: Deed | None, summary: str, *, account_id: int | None = None
) -> None:
    """Add a record, inside the caller's transaction; nothing where ``deed`` is None."""
    if deed is None:
        return
    connection.change(
        """
        INSERT INTO audit (at, user_name, command, account_id, summary)
        VALUES (:at, :user_name, :command, :account_id, :summary)
        """,
        at=connection.now(),
        user_name=deed.user_name,
        command=deed.command,
        account_id=account_id,
        summary=summary,
    )


def record_reading(
    store: Store, deed: Deed | None, summary: str, *, account_id: int | None = None
) -> None:
    """Add a record in a transaction of its own, before the data are read.

    It waits for whoever is writing. A database of an earlier version, which a backup leaves as it
    is, has no place for records, and gets none. Raises NotFound where there is no such account,
    StoreUnavailable where it cannot be written.
    """
    if deed is None:
        return
    with store.writer() as connection, connection.transaction():
        if account_id is not None and not connection.row(
            "SELECT 1 FROM accounts WHERE account_id = :account_id", account_id=account_id
        ):
            raise NotFound(
                f"there is no account {account_id}: `masthead accounts list` shows them all"
            )
        if migrations.has_table(connection, "audit"):
            record(connection, deed, summary, account_id=account_id)


def entries(
    connection: Connection, *, account_id: int | None = None, since_us: int = 0
) -> Iterator[Entry]:
    """Yield the records, the newest last; of one account, and since a time, where these are given.

    Of an account are those, too, of all accounts at once.
    """
    of_account = " AND (account_id = :account_id OR account_id IS NULL)"
    rows = connection.stream(
        f"""
        SELECT at, user_name, command, account_id, summary FROM audit
        WHERE at >= :since_us{"" if account_id is None else of_account} ORDER BY entry_id
        """,
        since_us=since_us,
        **({} if account_id is None else {"account_id": account_id}),
    )
    return (Entry(*row) for row in rows)


def carry_over(connection: Connection, records: Sequence[Entry]) -> int:
    """Add another database's records that this one does not have; return how many they are.

    All are in the order of their times then. Runs inside the caller's transaction.
    """
    own = list(entries(connection))
    missing = set(records).difference(own)
    if missing:
        connection.change("DELETE FROM audit")
        added = [each for each in records if each in missing]
        rows = sorted((*own, *added), key=lambda entry: entry.at)
        connection.insert_many("audit", Entry._fields, rows)
    return len(missing)
