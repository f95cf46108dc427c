"""A pass: what changed since the last one is written to the copy, together with its time.

All of a pass is one transaction, the entries of list downloads and the definitions of custom fields
included: whoever is killed at any point finds the copy as the pass before left it. A copy begins
with the service's snapshot, or with what the interface offers (``offered.py``).
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from masthead.client import Changes, Client
from masthead.errors import BadUsage, MastheadError, ServiceError, ServiceUnreachable, TooOld
from masthead.mirror.applying import BATCH_RECORDS, Applied, apply
from masthead.mirror.database import Copy, State, Tell
from masthead.mirror.from_export import load_export
from masthead.mirror.records import ids_of
from masthead.mirror.tables import (
    DEFINITIONS,
    ENTRIES,
    OPTIONS,
    Row,
    entity_named,
    rows_of_definitions,
    rows_of_entries,
)
from masthead.mirror.without_snapshot import (
    FEED_REACHES,
    LACKING,
    LACKING_SINCE,
    listed,
    offered_of,
)

__all__ = ["EMPTY", "TOO_OLD", "Mirror", "Pass", "entries_of", "is_not_there"]

EMPTY = "the copy was empty"
TOO_OLD = "the copy was too old for the change feed"
"""Why everything is loaded."""

_OVERLAP = timedelta(minutes=5)
"""So much earlier than the ``Date`` of an answer is asked for, where there is nothing better."""

_WINDOW = timedelta(days=5)
_CREDENTIALS = {401, 403}


class Pass(NamedTuple):
    """What a pass did: how many records and lists it wrote, and where the copy stands now.

    ``anew`` says why everything was loaded, EMPTY or TOO_OLD, and is None where it was not.
    """

    records: int
    lists: int
    state: State
    anew: str | None


class _TooLongAgo(Exception):
    """The service has not all changes since the last pass any more."""


class Mirror:
    """Keeps a copy of what the credentials open at a service; ``key`` is the client's."""

    def __init__(
        self,
        client: Client,
        base_url: str,
        key: str,
        copy: Copy,
        tell: Tell = lambda _doing, _count: None,
    ) -> None:
        self.client = client
        self.copy = copy
        self.tell = tell
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._account_id: int | None = None

    def run(self) -> Pass:
        """Bring the copy up to date, or begin it; return what was done.

        Raises ServiceError where the service does not answer as it should, BadUsage where the copy
        is one of another service or account. The copy is then as it was.
        """
        self._account_id = self._opened_account()
        try:
            with self.copy.writing():
                before = self._before()
                return self._go_on(before) if before else self._load(None, EMPTY)
        except _TooLongAgo:
            with self.copy.writing():
                return self._load(self._before(), TOO_OLD)

    def begin_from_export(self, folder: Path) -> bool:
        """Begin the copy with the files of `masthead export`; the next pass goes on from there.

        Returns False, and does nothing, where the copy has begun already. Raises what
        :func:`load_export` does.
        """
        self._account_id = self._opened_account()
        with self.copy.writing():
            if self._before():
                return False
            self.copy.clear()
            through = load_export(self.copy, folder, self.tell)
            self.copy.make_indexes()
            self.copy.keep_state(State(self._base_url, self._account_id, through, None))
            return True

    def _opened_account(self) -> int | None:
        """Return the account whose data it is, None where the service does not tell.

        A master's credentials show all accounts, of which one has this key.
        """
        accounts = self.client.list_accounts()
        own = [a for a in accounts if self._key in {a.api_key, a.api_login}] or accounts
        return own[0].account_id if len(own) == 1 else None

    def _before(self) -> State | None:
        """Return where the copy stands; raises BadUsage where it is one of something else."""
        before = self.copy.state()
        if before is None:
            return None
        if before.base_url != self._base_url:
            raise BadUsage(
                f"this is a copy of {before.base_url}: take another database for another service, "
                "or set base_url in the table mirror where the same one has moved"
            )
        if before.account_id != self._account_id:
            opened = (
                "several accounts" if self._account_id is None else f"account {self._account_id}"
            )
            raise BadUsage(
                f"this is a copy of account {before.account_id}, and the credentials open "
                f"{opened}: take another database for another account"
            )
        return before

    def _go_on(self, before: State) -> Pass:
        """Apply what changed since the last pass; raises _TooLongAgo where not all of it is there.

        Not every service has a status of its own for that, and one that is no Masthead may answer
        with what it still has.
        """
        since = datetime.fromisoformat(before.changed_since)
        try:
            with self.client.changes(before.changed_since) as answer:
                if answer.is_date and datetime.fromisoformat(answer.through) - since >= _WINDOW:
                    raise _TooLongAgo
                applied = self._apply(answer)
        except TooOld:
            raise _TooLongAgo from None
        except ServiceError as error:
            may_pass = isinstance(error, ServiceUnreachable) or error.status in _CREDENTIALS
            if may_pass or datetime.now(UTC) - since < _WINDOW:
                raise
            raise _TooLongAgo from None
        return self._finish(answer, applied, before=before, lacking=before.lacking)

    def _load(self, before: State | None, reason: str) -> Pass:
        """Load everything."""
        if snapshot := self._snapshot():
            with snapshot:
                self.copy.clear()
                applied = self._apply(snapshot)
            return self._finish(snapshot, applied, before=before, anew=reason)
        lacking = LACKING
        if before:
            since = LACKING_SINCE.format(before.changed_since)
            lacking = f"{before.lacking}; {since}" if before.lacking else since
        shown = self._apply(listed(self.client)).records
        with self.client.changes(datetime.now(UTC) - FEED_REACHES) as answer:
            applied = self._apply(answer)
        known = ids_of(self.copy, entity_named("subscribers"))
        shown += self._apply(offered_of(self.client, known)).records
        applied.records += shown
        return self._finish(answer, applied, before=before, lacking=lacking, anew=reason)

    def _snapshot(self) -> Changes | None:
        """Return the service's snapshot, None where it has none.

        Some services answer every path: without Masthead's header it is no snapshot.
        """
        try:
            snapshot = self.client.snapshot()
        except ServiceError as error:
            if not is_not_there(error):
                raise
            return None
        if not snapshot.is_date:
            return snapshot
        snapshot.close()
        return None

    def _finish(
        self,
        answer: Changes,
        applied: Applied,
        *,
        before: State | None,
        lacking: str | None = None,
        anew: str | None = None,
    ) -> Pass:
        self._keep_definitions()
        for number, mailing_list_id in enumerate(sorted(applied.mailing_list_ids), start=1):
            self._keep_entries(mailing_list_id)
            self.tell("mailing lists", number)
        if anew:
            self.copy.make_indexes()
        state = State(self._base_url, self._account_id, _next_time(answer), lacking)
        if state != before:
            self.copy.keep_state(state)
        return Pass(applied.records, len(applied.mailing_list_ids), state, anew)

    def _apply(self, records: Iterable[Any]) -> Applied:
        return apply(self.copy, records, tell=lambda count: self.tell("records", count))

    def _keep_definitions(self) -> None:
        """Write the definitions of custom fields and their options, where they have changed."""
        found = rows_of_definitions(self.client.list_custom_fields())
        for table, rows in zip((DEFINITIONS, OPTIONS), found, strict=True):
            key = [field.name for field in table.columns[1 : table.key]]
            if list(self.copy.rows(table, None, key)) != rows:
                self.copy.remove_all(table)
                self.copy.put(table, None, rows)

    def _keep_entries(self, mailing_list_id: int) -> None:
        self.copy.put(ENTRIES, [mailing_list_id], ())
        entries = entries_of(self.client, mailing_list_id)
        while batch := list(islice(entries, BATCH_RECORDS)):
            by_id = {row[1]: row for row in batch}  # The later one, as in the feed.
            self.copy.put(ENTRIES, list(by_id), by_id.values(), within=(mailing_list_id,))


def entries_of(client: Client, mailing_list_id: int) -> Iterator[Row]:
    """Yield the rows of the entries of a list download; none where the service has it no more."""
    try:
        yield from rows_of_entries(mailing_list_id, client.download_mailing_list(mailing_list_id))
    except ServiceError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise


def is_not_there(error: ServiceError) -> bool:
    """Whether a service that has just answered these credentials lacks what it was asked for.

    Some say 401 or 403 of every path that they do not know.
    """
    is_passing = isinstance(error, ServiceUnreachable)
    return not is_passing and error.status is not None and error.status < 500


def _next_time(answer: Changes) -> str:
    try:
        through = datetime.fromisoformat(answer.through)
        through -= _OVERLAP if answer.is_date else timedelta()
        if through.utcoffset() is None:
            raise ValueError
    except ValueError:
        raise MastheadError(
            f"how far its answer goes, the service says with {answer.through!r}, which is no time"
        ) from None
    return through.isoformat() if answer.is_date else answer.through
