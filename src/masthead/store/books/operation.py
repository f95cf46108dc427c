"""One operation of the books: a transaction with one commit of the change feed and its audit entry.

Killed at any point, it happened or it did not (circulation, "What must hold"). The day and the time
are those of the store's clock; no command takes a date for now.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

from masthead.contract.moments import date_in, second_in
from masthead.errors import MastheadError
from masthead.store import accounts, audit, commits, deletions
from masthead.store.books.ids import next_ids
from masthead.store.books.pending_rows import Pending, Record
from masthead.store.database import Connection, Store, Value

__all__ = [
    "Mode",
    "Operation",
    "Reading",
    "check_mode",
    "day_of_opening",
    "mode_of",
    "opened_on",
    "operation",
    "reading",
]

Mode = Literal["here", "elsewhere"]

_WITH_COMMIT = (
    "subscribers",
    "addresses",
    "subscriptions",
    "orders",
    "purchases",
    "list_downloads",
)
"""The tables whose rows have the commit that changed them."""


class _DryRunError(Exception):
    """Rolls back a dry run."""


class Reading:
    """What a query of the books needs: the account, the connection, and what time it is.

    ``today`` (``YYYY-MM-DD``) and ``now`` (``YYYY-MM-DD hh:mm:ss``) are in the account's time zone,
    as are all days and times of the books. What came first is told by numbers, and by no time: of
    two operations within a second, or in the hour that a clock is set back, times say nothing.
    ``direct`` is the connection as it is; an operation writes what it has yet to write before it
    gives its ``connection``.
    """

    def __init__(self, store: Store, connection: Connection, account_id: int) -> None:
        time_zone = str(accounts.settings_of(connection, account_id)["time_zone"])
        moment_us = store.clock()
        self.direct = connection
        self.account_id = account_id
        self.today = date_in(time_zone, moment_us)
        self.now = second_in(time_zone, moment_us)

    @property
    def connection(self) -> Connection:
        """The connection, for any statement."""
        return self.direct


class Operation(Reading):
    """A running operation: also its commit, which changed rows of the feed's entities get.

    Whole rows are handed over (:meth:`add`) and written together, and what has been looked up can
    be kept meanwhile (:meth:`memory`). Whoever uses :attr:`connection` sees all rows that were
    handed over, and can write any: all that was kept is then forgotten. So only what is done for
    each of many orders needs to know about this.
    """

    def __init__(
        self, store: Store, connection: Connection, account_id: int, *, commit_id: int | None = None
    ) -> None:
        """Begin a commit, unless the transaction has one, the ``commit_id``."""
        super().__init__(store, connection, account_id)
        if commit_id is None:
            commit_id = commits.begin_commit(connection, account_id)
        self.commit_id = commit_id
        self.summary: str | None = None
        self.touched = set[int]()
        self._sentences = list[str]()
        self._pending = Pending(connection, account_id)
        self._memory: dict[str, dict[Any, Any]] = {}
        self._next_ids: dict[str, int] = {}

    @property
    def connection(self) -> Connection:
        """The connection, for any statement: everything that was handed over is written."""
        self.write()
        return self.direct

    def write(self) -> None:
        """Write everything that was handed over."""
        self._pending.write()
        self._memory.clear()
        self._next_ids.clear()

    def add(self, table: str, **row: Value) -> Record:
        """Have a row inserted; return it, which may be changed as long as it is in a memory."""
        self._pending.add(table, row)
        return row

    def change_later(self, sql: str, **values: Value) -> None:
        """Have a row changed that is there; ``sql`` may use ``:account_id``."""
        self._pending.change(sql, values)

    def new_id(self, table: str) -> int:
        """Return the id of a new row, which is then handed over; it is asked for once.

        The account is locked, so nobody else takes ids. Statements that give ids to many rows ask
        :func:`store.books.ids.next_ids`.
        """
        found = self._next_ids.get(table)
        if found is None:
            found = next_ids(self.direct, self.account_id, table)
        self._next_ids[table] = found + 1
        return found

    def memory(self, name: str) -> dict[Any, Any]:
        """Return a dictionary of what was looked up, and of rows that were handed over since.

        It is empty again as soon as :attr:`connection` has been used.
        """
        return self._memory.setdefault(name, {})

    def touch(self, subscriptions: Iterable[int]) -> None:
        """Have what is derived of these subscriptions, by their ids, brought up to date.

        ``masthead.books`` does it at the end, once for all operations that ran together.
        """
        self.touched.update(subscriptions)

    def say(self, sentence: str) -> None:
        """Add a sentence to the audit entry: what changed, without personal data but ids.

        An operation that changes nothing says nothing, and gets no entry.
        """
        self._sentences.append(sentence)

    @property
    def said(self) -> str | None:
        """The text of the audit entry, None if nothing changed.

        ``summary`` replaces the sentences, where one says it for many operations.
        """
        return self.summary or "; ".join(self._sentences) or None


@contextmanager
def operation(
    store: Store,
    account_id: int,
    actor: audit.Actor | None,
    *,
    dry_run: bool = False,
    mode: Mode = "here",
) -> Iterator[Operation]:
    """Run the block in one transaction that has locked the account, with a commit of its own.

    At its end the audit entry is written (``Operation.say``), a commit that no row got is dropped,
    and afterwards the commit is stamped. A dry run is rolled back instead and leaves no trace.
    Raises NotFound if there is no such account, MastheadError if the account is not in ``mode``;
    what the block raises undoes all of it.
    """
    with store.writer() as connection:
        with suppress(_DryRunError), connection.transaction():
            connection.lock_account(account_id)
            store.check_schema(connection)
            check_mode(connection, account_id, mode)
            books = Operation(store, connection, account_id)
            yield books
            # Also in a dry run, so that it is refused whatever the database refuses.
            books.write()
            if dry_run:
                raise _DryRunError
            if not _has_rows(books):
                commits.drop_commit(connection, account_id, books.commit_id)
            if books.said is not None:
                audit.record(connection, actor, books.said, account_id=account_id)
        if not dry_run:
            commits.stamp_commits(store, account_id)


@contextmanager
def reading(store: Store, account_id: int) -> Iterator[Reading]:
    """Read within the block, from one snapshot; no writer waits for it.

    Raises NotFound if there is no such account, MastheadError if it is not in mode ``here``.
    """
    with store.reader() as connection:
        connection.set_tenant(account_id)
        with connection.snapshot():
            check_mode(connection, account_id, "here")
            yield Reading(store, connection, account_id)


def _has_rows(books: Operation) -> bool:
    """Return whether any row of the feed got the operation's commit."""
    own = "WHERE account_id = :account_id"
    queries = [f"SELECT 1 FROM {name} {own} AND commit_id = :commit_id" for name in _WITH_COMMIT]
    queries += [f"SELECT 1 FROM subscribers {own} AND custom_fields_commit_id = :commit_id"]
    # Of the deletions, the index has the entities first.
    queries += [
        f"SELECT 1 FROM deletions {own} AND entity = '{entity}' AND commit_id = :commit_id"
        for entity in deletions.REMOVABLE
    ]
    return any(
        books.connection.row(
            f"{query} LIMIT 1", account_id=books.account_id, commit_id=books.commit_id
        )
        for query in queries
    )


def mode_of(connection: Connection, account_id: int) -> Mode:
    """Return who owns the account's data (circulation, "Two modes of an account")."""
    row = connection.row(
        "SELECT 1 FROM books WHERE account_id = :account_id", account_id=account_id
    )
    return "here" if row else "elsewhere"


def opened_on(store: Store, account_id: int) -> str | None:
    """Return the day on which the account's books were opened; None: they are not open.

    Raises NotFound if there is no such account.
    """
    with store.reader() as connection:
        connection.set_tenant(account_id)
        with connection.snapshot():
            accounts.settings_of(connection, account_id)
            return day_of_opening(connection, account_id)


def day_of_opening(connection: Connection, account_id: int) -> str | None:
    """Return the same by a connection; None also if there is no such account."""
    row = connection.row(
        "SELECT opened_on FROM books WHERE account_id = :account_id", account_id=account_id
    )
    return row[0] if row else None


def check_mode(connection: Connection, account_id: int, mode: Mode) -> None:
    """Raise MastheadError unless the account is in ``mode``, NotFound if there is none."""
    accounts.settings_of(connection, account_id)
    if mode_of(connection, account_id) == mode:
        return
    if mode == "here":
        raise MastheadError(
            f"account {account_id} gets its data from files (mode elsewhere): open its books first",
            code="books_elsewhere",
            account=account_id,
        )
    raise MastheadError(f"account {account_id} keeps its books here already: they are open")
