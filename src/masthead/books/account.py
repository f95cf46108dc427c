"""The books of one account, as the operations get them: reading, changing, and several as one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from masthead.store import Store
from masthead.store.audit import Actor
from masthead.store.books.derived_values import add_kinds, refresh_subscriptions
from masthead.store.books.operation import Operation, Reading, operation
from masthead.store.books.reports import counting
from masthead.store.saved_forms import SavedForm


def refresh_touched(change: Operation) -> None:
    """Update the derived values of the subscriptions that the operation has touched so far."""
    refresh_subscriptions(change, change.touched)
    change.touched.clear()
    if change.lacks_kinds:
        add_kinds(change)
        change.lacks_kinds = False


class Outcome(Protocol):
    """What an operation did. A person reads ``sentence``, and the audit entry stores it.

    It has ids, numbers, days and the words of the catalogue, and no personal data.
    """

    @property
    def sentence(self) -> str:
        """What the operation did; for a dry run, what it would do."""
        ...


class Books:
    """The books of an account, and who works in them: the first argument of each operation.

    Each operation is its own transaction, unless you call it with the books that :meth:`together`
    yields.
    """

    def __init__(
        self,
        store: Store,
        account_id: int,
        actor: Actor | None = None,
        *,
        has_time_limit: bool = False,
        form: SavedForm | None = None,
        within: Reading | None = None,
        reader_id: int | None = None,
    ) -> None:
        """The audit entry of a change names ``actor``; reading needs none.

        ``reader_id`` is the subscriber who works here on the readers' pages: the database then
        shows the role of these pages only that reader's rows.
        With ``has_time_limit``, reading stops after the store's time limit for requests. ``form``
        is saved by the one change that these books are for: a second change raises MastheadError.
        ``within`` is the open transaction or snapshot, if there is one.
        """
        self.store = store
        self.account_id = account_id
        self.actor = actor
        self.reader_id = reader_id
        self.language = ""
        """The language of mails that confirm what a reader does; "" is the first of the pages."""
        self._has_time_limit = has_time_limit
        self._form = form
        self._within = within

    @property
    def currency(self) -> str:
        """The code of the account's currency. Raises NotFound if there is no such account."""
        with self.read() as reading:
            return reading.currency

    @contextmanager
    def together(self, *, dry_run: bool = False) -> Iterator["Books"]:
        """Yield books in which several operations are one: all of them happen, or none does.

        An exception in the block undoes everything; a dry run is undone at the end. The change feed
        gets one commit. The audit entry has the sentences of all operations, or the sentence given
        to :meth:`say_for_all`. Raises NotFound if there is no such account, MastheadError if
        Masthead does not keep its books.
        """
        with self.change(dry_run=dry_run) as change:
            yield self._inside(change)

    def say_for_all(self, sentence: str) -> None:
        """Write one sentence into the audit entry for all operations of :meth:`together`."""
        assert isinstance(self._within, Operation)
        self._within.summary = sentence

    @contextmanager
    def snapshot(self) -> Iterator["Books"]:
        """Yield books that read everything from one snapshot; no writer waits for it.

        Works in both modes. Raises NotFound if there is no such account.
        """
        with self.read() as reading:
            yield self._inside(reading)

    @contextmanager
    def change(self, *, dry_run: bool = False, in_any_mode: bool = False) -> Iterator[Operation]:
        """Yield what the statements of one operation need, in a transaction (:meth:`together`).

        At the end, it updates the derived values of the subscriptions that were touched. With
        ``in_any_mode``, the books need not be open: the operation changes nothing of them.
        """
        if self._within is not None:
            assert isinstance(self._within, Operation)
            yield self._within
            return
        with operation(
            self.store,
            self.account_id,
            self.actor,
            dry_run=dry_run,
            mode=None if in_any_mode else "here",
            form=self._form,
            reader_id=self.reader_id,
        ) as change:
            yield change
            refresh_touched(change)

    @contextmanager
    def read(self) -> Iterator[Reading]:
        """Yield what a query needs, within a snapshot.

        Within :meth:`together`, the query sees what the operations have done so far. Raises
        NotFound if there is no such account.
        """
        if self._within is not None:
            if isinstance(self._within, Operation):
                refresh_touched(self._within)
            yield self._within
            return
        with self.store.reader() as connection:
            connection.set_tenant(self.account_id)
            if self.reader_id is not None:
                connection.set_reader(self.reader_id)
            with connection.read_snapshot() if self._has_time_limit else connection.snapshot():
                yield Reading(self.store, connection, self.account_id)

    @contextmanager
    def scan(self) -> Iterator[Reading]:
        """Yield what a query of whole tables needs, within a snapshot without a time limit.

        The database may hash and sort here; in :meth:`read`, statements follow an index. Raises
        NotFound if there is no such account, MastheadError if Masthead does not keep its books.
        """
        if self._within is not None:
            yield self._within
            return
        with counting(self.store, self.account_id, reader_id=self.reader_id) as reading:
            yield reading

    def _inside(self, within: Reading) -> "Books":
        made = Books(
            self.store, self.account_id, self.actor, within=within, reader_id=self.reader_id
        )
        made.language = self.language
        return made
