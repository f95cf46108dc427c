"""One operation of the books: a transaction with one commit of the change feed and its audit entry.

If the process is killed at any point, the operation happened or it did not
(circulation, "What must hold"). The day and the time are those of the store's clock; no command
accepts another time.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal

from masthead.contract.moments import date_in, second_in
from masthead.databases.queries import Bound, Query, rows_of
from masthead.errors import MastheadError, StoreBusy
from masthead.store import accounts, audit, commits, deletions, saved_forms
from masthead.store.books.ids import next_ids
from masthead.store.books.pending_rows import Pending, Record
from masthead.store.database import Connection, Queries, Row, Store, Value
from masthead.store.saved_forms import SavedForm

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


class Reading(Queries):
    """What a query of the books needs: the account, the connection, and the current time.

    ``today`` (``YYYY-MM-DD``) and ``now`` (``YYYY-MM-DD hh:mm:ss``) are in the account's time zone,
    as are all days and times of the books. Ids, not times, say what came first: times cannot order
    two operations within a second, or in the hour when clocks go back. ``currency`` is the code of
    the account's currency. ``direct`` is the connection itself; an operation writes its pending
    rows before it returns its ``connection``.
    """

    def __init__(self, store: Store, connection: Connection, account_id: int) -> None:
        time_zone, currency = accounts.zone_and_currency(connection, account_id)
        moment_us = store.clock()
        self.direct = connection
        self.account_id = account_id
        self.time_zone = time_zone
        self.today = date_in(time_zone, moment_us)
        self.now = second_in(time_zone, moment_us)
        self.currency = currency
        self._memory: dict[str, dict[Any, Any]] = {}

    @property
    def connection(self) -> Connection:
        """The connection, for any statement."""
        return self.direct

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Run a statement with the account as ``:account_id``, and return all its rows."""
        return self.connection.rows(sql, account_id=self.account_id, **values)

    def rows_of_each(self, statements: Sequence[Bound], /) -> list[list[Row]]:
        """Run statements that only read, with the account; return the rows of each."""
        account = {"account_id": self.account_id}
        return self.connection.rows_of_each(
            [Bound(sql, {**values, **account}) for sql, values in statements]
        )

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a statement that writes; return how many rows it inserted, updated or deleted."""
        return self.connection.change(sql, account_id=self.account_id, **values)

    def memory(self, name: str) -> dict[Any, Any]:
        """Return a dictionary of looked-up values, which are the same in the whole snapshot."""
        return self._memory.setdefault(name, {})


class Operation(Reading):
    """A running operation, with the commit for changed rows of the change feed's entities.

    Whole rows are queued (:meth:`add`) and written together; looked-up values can be kept meanwhile
    (:meth:`memory`). :attr:`connection` sees all queued rows and can write any row, so using it
    writes the queue and clears the memory. Only code that runs for each of many orders needs to
    know this.
    """

    def __init__(
        self, store: Store, connection: Connection, account_id: int, *, commit_id: int | None = None
    ) -> None:
        """Begin a commit, unless the transaction already has one, ``commit_id``."""
        super().__init__(store, connection, account_id)
        if commit_id is None:
            commit_id = commits.begin_commit(connection, account_id)
        self.commit_id = commit_id
        self.billing_begun_on: str | None = None
        """The day on which the account began billing; None if it does not bill.

        :func:`operation` sets it.
        """
        self.summary: str | None = None
        self.touched = set[int]()
        self.lacks_kinds = False
        """Whether subscriptions were refreshed without their kinds (``derived_values.refresh``)."""
        self._sentences = list[str]()
        self._pending = Pending(connection, account_id)
        self._next_ids: dict[str, int] = {}

    @property
    def connection(self) -> Connection:
        """The connection, for any statement; all queued rows are written first."""
        self.write()
        return self.direct

    def write(self) -> None:
        """Write all queued rows."""
        self._pending.write()
        self._memory.clear()
        self._next_ids.clear()

    def add(self, table: str, **row: Value) -> Record:
        """Queue a row to insert; return it. It may be changed while a memory has it."""
        self._pending.add(table, row)
        return row

    def change_later(self, sql: str, **values: Value) -> None:
        """Queue a change of an existing row; ``sql`` may use ``:account_id``."""
        self._pending.change(sql, values)

    def new_id(self, table: str) -> int:
        """Return a new id for a row that the caller then queues; each call returns another one.

        The account is locked, so no other operation takes ids. Statements that give ids to many
        rows use :func:`store.books.ids.next_ids`.
        """
        found = self._next_ids.get(table)
        if found is None:
            found = next_ids(self.direct, self.account_id, table)
        self._next_ids[table] = found + 1
        return found

    def memory(self, name: str) -> dict[Any, Any]:
        """Return a dictionary of looked-up values, and of the rows queued since.

        Using :attr:`connection` empties it.
        """
        return self._memory.setdefault(name, {})

    def touch(self, subscriptions: Iterable[int]) -> None:
        """Mark subscriptions, by id, so that their derived values are updated.

        ``masthead.books`` updates them at the end, once for all operations that ran together.
        """
        self.touched.update(subscriptions)

    def say(self, sentence: str) -> None:
        """Add a sentence to the audit entry: what changed, with ids and no other personal data.

        An operation that changes nothing adds no sentence, and gets no entry.
        """
        self._sentences.append(sentence)

    @property
    def said(self) -> str | None:
        """The text of the audit entry, None if nothing changed.

        ``summary``, if set, replaces the sentences of many operations.
        """
        return self.summary or "; ".join(self._sentences) or None


@contextmanager
def operation(
    store: Store,
    account_id: int,
    actor: audit.Actor | None,
    *,
    dry_run: bool = False,
    mode: Mode | None = "here",
    form: SavedForm | None = None,
    reader_id: int | None = None,
) -> Iterator[Operation]:
    """Run the block in one transaction that has locked the account, with its own commit.

    At the end, it writes the audit entry (``Operation.say``), drops a commit that no row got, and
    stamps the commit after the transaction. A dry run is rolled back instead and leaves no trace.
    ``form`` is the form that asks for it, and ``reader_id`` the reader who asks on the readers'
    pages. With ``mode`` None, the account is in either. Raises NotFound if there is no such
    account, MastheadError if the account is not in ``mode`` or the form was saved before. An
    exception in the block undoes everything.
    """
    with store.writer() as connection:
        with suppress(_DryRunError), connection.transaction():
            connection.lock_account(account_id)
            if reader_id is not None:
                connection.set_reader(reader_id)
            store.check_schema(connection)
            billing_begun_on = check_mode(connection, account_id, mode)
            if form is not None and not dry_run:
                saved_forms.note(connection, account_id, form, store.clock())
            books = Operation(store, connection, account_id)
            books.billing_begun_on = billing_begun_on
            yield books
            # Also in a dry run, so that the database can refuse the same rows.
            books.write()
            if dry_run:
                raise _DryRunError
            if not _has_rows(books):
                commits.drop_commit(connection, account_id, books.commit_id)
            if books.said is not None:
                audit.record(connection, actor, books.said, account_id=account_id)
        if not dry_run:
            # The operation is done: if another writer is busy, it or the server stamps the commit.
            with suppress(StoreBusy):
                commits.stamp_commits(store, account_id)


def _has_rows(books: Operation) -> bool:
    """Return whether any row of the feed got the operation's commit."""
    own = "WHERE account_id = :account_id"
    queries = [f"SELECT 1 FROM {name} {own} AND commit_id = :commit_id" for name in _WITH_COMMIT]
    queries += [f"SELECT 1 FROM subscribers {own} AND custom_fields_commit_id = :commit_id"]
    # The index of the deletions begins with the entity.
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
    sql, _ = is_here().bound
    return "here" if connection.row(sql, account_id=account_id) else "elsewhere"


def is_here() -> Query[bool]:
    """Return whether Masthead keeps the books of the account (:func:`mode_of`)."""
    return rows_of("SELECT 1 FROM books WHERE account_id = :account_id").then(bool)


def day_of_opening(connection: Connection, account_id: int) -> str | None:
    """Return the day on which the account's books were opened; None if they are not open."""
    return connection.value_as(
        str, "SELECT opened_on FROM books WHERE account_id = :account_id", account_id=account_id
    )


def check_mode(connection: Connection, account_id: int, mode: Mode | None) -> str | None:
    """Raise MastheadError unless the account is in ``mode``, NotFound if there is none.

    None is either mode.

    Returns the day on which the account began billing; None if it does not bill.
    """
    accounts.zone_and_currency(connection, account_id)
    row = connection.row(
        """
        SELECT (SELECT begun_on FROM billing WHERE account_id = :account_id) FROM books
        WHERE account_id = :account_id
        """,
        account_id=account_id,
    )
    if mode is None or (mode == "here") == (row is not None):
        return row[0] if row else None
    if mode == "here":
        raise MastheadError(
            f"account {account_id} gets its data from files (mode elsewhere): open its books first",
            code="books_elsewhere",
            account=account_id,
        )
    raise MastheadError(f"account {account_id} keeps its books here already: they are open")
