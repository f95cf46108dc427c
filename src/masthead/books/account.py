"""The books of one account, as the operations get them: reading, changing, and several as one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from masthead.store import Store
from masthead.store.audit import Actor
from masthead.store.books.operation import Operation, Reading, check_mode, operation
from masthead.store.books.ordering import refresh_subscriptions

__all__ = ["Books", "Outcome", "refresh_touched"]


def refresh_touched(change: Operation) -> None:
    """Bring up to date what is derived of the subscriptions that were touched until now."""
    refresh_subscriptions(change, change.touched)
    change.touched.clear()


class Outcome(Protocol):
    """What an operation did. ``sentence`` is what a person reads, and the audit entry.

    It has ids, numbers, days and the words of the catalogue, and no personal data.
    """

    @property
    def sentence(self) -> str:
        """What was done; of a dry run, what would be done."""
        ...


class Books:
    """The books of an account, and who works in them: the first argument of each operation.

    Each operation is a transaction of its own, unless it is called with the books that
    :meth:`together` yields.
    """

    def __init__(
        self,
        store: Store,
        account_id: int,
        actor: Actor | None = None,
        *,
        has_time_limit: bool = False,
        within: Reading | None = None,
    ) -> None:
        """``actor`` stands in the audit entry of a change; what only reads needs none.

        ``has_time_limit``: reading ends after the time that the store has for requests. ``within``
        is the open transaction or snapshot, where there is one.
        """
        self.store = store
        self.account_id = account_id
        self.actor = actor
        self._has_time_limit = has_time_limit
        self._within = within

    @contextmanager
    def together(self, *, dry_run: bool = False) -> Iterator["Books"]:
        """Yield books in which several operations are one: all of them happen, or none does.

        What the block raises undoes all of it; a dry run is undone at the end. There is one commit
        of the change feed, and the audit entry has the sentences of all, or the one that
        :meth:`say_for_all` was given. Raises NotFound if there is no such account, MastheadError if
        its books are not kept here.
        """
        with self.change(dry_run=dry_run) as change:
            yield self._inside(change)

    def say_for_all(self, sentence: str) -> None:
        """Let one sentence stand in the audit entry for all operations of :meth:`together`."""
        assert isinstance(self._within, Operation)
        self._within.summary = sentence

    @contextmanager
    def snapshot(self) -> Iterator["Books"]:
        """Yield books in which everything is read from one snapshot; no writer waits for it.

        Raises NotFound if there is no such account. The account may get its data from files.
        """
        with self.read() as reading:
            yield self._inside(reading)

    @contextmanager
    def change(self, *, dry_run: bool = False) -> Iterator[Operation]:
        """Yield what the statements of one operation need, in a transaction (:meth:`together`).

        At its end, what is derived for the subscriptions that were touched is brought up to date.
        """
        if self._within is not None:
            assert isinstance(self._within, Operation)
            yield self._within
            return
        with operation(self.store, self.account_id, self.actor, dry_run=dry_run) as change:
            yield change
            refresh_touched(change)

    @contextmanager
    def read(self, *, if_kept_here: bool = False) -> Iterator[Reading]:
        """Yield what a query needs, within a snapshot.

        Within :meth:`together` it sees what the operations have done until then.
        Raises NotFound if there is no such account and, with ``if_kept_here``, MastheadError if
        the account gets its data from files.
        """
        if self._within is not None:
            if isinstance(self._within, Operation):
                refresh_touched(self._within)
            yield self._within
            return
        with self.store.reader() as connection:
            connection.set_tenant(self.account_id)
            with connection.read_snapshot() if self._has_time_limit else connection.snapshot():
                if if_kept_here:
                    check_mode(connection, self.account_id, "here")
                yield Reading(self.store, connection, self.account_id)

    @contextmanager
    def scan(self) -> Iterator[Reading]:
        """Yield what a query of whole tables needs, within a snapshot without a limit of time.

        Unlike in :meth:`read`, where statements follow an index, the database may hash and sort.
        Raises NotFound if there is no such account, MastheadError if its books are not kept here.
        """
        if self._within is not None:
            yield self._within
            return
        with self.store.writer() as connection:
            connection.set_tenant(self.account_id)
            with connection.read_snapshot():
                check_mode(connection, self.account_id, "here")
                yield Reading(self.store, connection, self.account_id)

    def _inside(self, within: Reading) -> "Books":
        return Books(self.store, self.account_id, self.actor, within=within)
