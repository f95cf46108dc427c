"""A pass: it writes the changes since the last pass to the copy, together with its time.

After the changes, it removes the records that the service lists as removed since the same time. A
pass is one transaction, with the entries of list downloads and the definitions of custom fields.
If it is killed, the copy stays as the last pass left it. The first pass loads the service's
snapshot, or without a snapshot what the interface has (``without_snapshot.py``).
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from masthead.client import Changes, Client, Deletions
from masthead.client.requests import ALL_ENTITIES
from masthead.contract.operations import DELETIONS, OPERATIONS, SNAPSHOT
from masthead.errors import (
    BadUsage,
    MastheadError,
    ServiceError,
    ServiceUnreachable,
    TooManyRequests,
    TooOld,
    UnexpectedResponse,
)
from masthead.mirror.applying import (
    BATCH_RECORDS,
    Applied,
    apply,
    apply_deletions,
    remove_erased,
    restore_odd,
)
from masthead.mirror.database import Copy, State, Tell
from masthead.mirror.from_export import load_export
from masthead.mirror.records import ids_of
from masthead.mirror.tables import (
    DEFINITIONS,
    ENTRIES,
    OPTIONS,
    UNEARNED,
    Row,
    SetAside,
    entity_named,
    kept,
    rows_of_definitions,
    rows_of_entries,
)
from masthead.mirror.without_snapshot import (
    FEED_REACHES,
    HAS_NO,
    LACKING,
    LACKING_SINCE,
    LISTED_BY,
    OFFERED_BY,
    REFUSES,
    listed,
    offered_of,
    subscriptions_of,
)

EMPTY = "the copy was empty"
TOO_OLD = "the copy was too old for the change feed"
"""The reasons for loading everything."""

_OVERLAP = timedelta(minutes=5)
"""Subtracted from the ``Date`` of a response if Masthead's header for the time is missing."""

_OF_SUBSCRIBERS = {"customfields", "subscriptions"}
"""The entities that a service without a snapshot shows only for a subscriber."""

_CHANGES = OPERATIONS["changes"].path
_ENTRIES_OF = OPERATIONS["download_mailing_list"].path
_SUBSCRIPTIONS = entity_named("subscriptions").tables[0]
_WINDOW = timedelta(days=5)
_CREDENTIALS = {401, 403}
_NOT_THERE = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
_PASSING = (ServiceUnreachable, TooManyRequests)


class Pass(NamedTuple):
    """The result of a pass: how many records it wrote and removed, the lists, the new state.

    ``full_load`` is the reason why it loaded everything, EMPTY or TOO_OLD; None if it did not.
    ``new_aside`` are the records that it set aside, without those that were so before,
    ``set_aside`` is the number of all that are now.
    """

    records: int
    removed: int
    lists: int
    state: State
    full_load: str | None
    new_aside: Sequence[SetAside]
    set_aside: int


class _TooLongAgo(Exception):
    """The service no longer has all changes since the last pass."""


class Mirror:
    """Keeps a copy of an account's data at a service. ``key`` is the client's api_key.

    ``entities`` are the names of the entities to copy; none: those of the copy, or all of them.
    Raises BadUsage if the subscribers are missing without which a service does not show others.
    """

    def __init__(
        self,
        client: Client,
        base_url: str,
        key: str,
        copy: Copy,
        tell: Tell = lambda _doing, _count: None,
        entities: Iterable[str] = (),
    ) -> None:
        self.client = client
        self.entities = ALL_ENTITIES
        self._chosen = set(entities)
        if self._chosen & _OF_SUBSCRIBERS and "subscribers" not in self._chosen:
            raise BadUsage(
                f"{' and '.join(sorted(_OF_SUBSCRIBERS))} are found by their subscribers: name the "
                "entity subscribers too"
            )
        self.copy = copy
        client.omit_odd_records(copy.aside.note)
        self.tell = tell
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._account_id: int | None = None

    def run(self) -> Pass:
        """Start the copy or bring it up to date; return what was done.

        Raises ServiceError if a request fails, BadUsage if the copy belongs to another service or
        account. The copy is then unchanged.
        """
        self._account_id = opened_account(self.client, self._key)
        try:
            with self.copy.writing():
                before = self._before()
                return self._go_on(before) if before else self._load(None, EMPTY)
        except _TooLongAgo:
            with self.copy.writing():
                return self._load(self._before(), TOO_OLD)

    def start_from_export(self, folder: Path) -> bool:
        """Start the copy with the files of `masthead export`; the next pass continues from them.

        Returns False without reading them if the copy has been started already. Raises what
        :func:`load_export` does.
        """
        self._account_id = opened_account(self.client, self._key)
        with self.copy.writing():
            if self._before():
                return False
            self.copy.clear()
            through = load_export(self.copy, folder, self.tell)
            self.copy.make_indexes()
            entities = ",".join(self.entities)
            state = State(self._base_url, self._account_id, through, None, entities)
            self.copy.keep_state(state)
            return True

    def _before(self) -> State | None:
        """Return the copy's state. Raises BadUsage if its source is not this one."""
        before = self.copy.state()
        if before is None:
            self.entities = tuple(n for n in ALL_ENTITIES if not self._chosen or n in self._chosen)
            return None
        self.entities = tuple(before.entities.split(","))
        if self._chosen and self._chosen != set(self.entities):
            raise BadUsage(
                f"this is a copy of {', '.join(self.entities)}: take another database for other "
                "entities"
            )
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
        """Apply the changes since the last pass, then the deletions since the same time.

        Raises _TooLongAgo if the service no longer has some of them. Masthead responds with 410.
        Other services may have no status for it, or may return the changes that they still have.
        """
        since = datetime.fromisoformat(before.changed_since)
        if before.lacking:
            self.client.send_bodies_if_needed()
        try:
            with self.client.changes(before.changed_since, self.entities) as changes:
                if changes.is_date and datetime.fromisoformat(changes.through) - since >= _WINDOW:
                    raise _TooLongAgo
                applied = self._apply(changes, _CHANGES)
            # A pass requests paths outside the interface only from Masthead.
            deletions = None if changes.is_date else deletions_since(self.client, before)
            if deletions:
                with deletions:
                    tell = partial(self.tell, "removed")
                    apply_deletions(self.copy, deletions, applied, tell=tell)
        except TooOld:
            raise _TooLongAgo from None
        except ServiceError as error:
            may_pass = isinstance(error, _PASSING) or error.status in _CREDENTIALS
            if may_pass or datetime.now(UTC) - since < _WINDOW:
                raise
            raise _TooLongAgo from None
        through = _next_time(changes)
        if deletions:
            # A replica that is behind may have sent one of the two responses.
            through = min(through, _next_time(deletions), key=datetime.fromisoformat)
        return self._finish(through, applied, before=before, lacking=before.lacking)

    def _load(self, before: State | None, reason: str) -> Pass:
        """Load everything."""
        snapshot = _snapshot(self.client, self.entities)
        if not isinstance(snapshot, str):
            with snapshot:
                self.copy.clear()
                applied = self._apply(snapshot, SNAPSHOT.path)
            restore_odd(self.copy)
            return self._finish(_next_time(snapshot), applied, before=before, full_load=reason)
        self.client.send_bodies_if_needed()
        lacking = LACKING.format(snapshot)
        if before:
            since = LACKING_SINCE.format(snapshot, before.changed_since)
            lacking = f"{before.lacking}; {since}" if before.lacking else since
        shown = 0
        if "subscribers" in self.entities:
            shown = self._apply(listed(self.client), LISTED_BY).records
        with self.client.changes(datetime.now(UTC) - FEED_REACHES, self.entities) as changes:
            applied = self._apply(changes, _CHANGES)
        subscribers = entity_named("subscribers")
        known, odd = ids_of(self.copy, subscribers), self.copy.aside.ids(subscribers.tables[0])
        applied.records += shown
        for name in filter(self.entities.__contains__, OFFERED_BY):
            offered = offered_of(self.client, self.copy.aside, chain(known, odd), name)
            found = self._apply(offered, OFFERED_BY[name])
            applied.records += found.records
            applied.subscriber_ids |= found.subscriber_ids
        through = _next_time(changes)
        return self._finish(through, applied, before=before, lacking=lacking, full_load=reason)

    def _finish(
        self,
        through: str,
        applied: Applied,
        *,
        before: State | None,
        lacking: str | None = None,
        full_load: str | None = None,
    ) -> Pass:
        if "customfields" in self.entities:
            self._keep_definitions()
        if self.copy.has(UNEARNED):
            self._keep_unearned(applied.subscriber_ids)
        for number, mailing_list_id in enumerate(sorted(applied.mailing_list_ids), start=1):
            self._keep_entries(mailing_list_id)
            self.tell("mailing lists", number)
        remove_erased(self.copy)
        if full_load:
            self.copy.make_indexes()
        entities = ",".join(self.entities)
        state = State(self._base_url, self._account_id, through, lacking, entities)
        if state != before:
            self.copy.keep_state(state)
        lists = len(applied.mailing_list_ids)
        aside = self.copy.aside
        new, left = aside.new(), len(aside.left())
        return Pass(applied.records, applied.removed, lists, state, full_load, new, left)

    def _apply(self, records: Iterable[Any], request: str) -> Applied:
        return apply(self.copy, records, request, tell=lambda count: self.tell("records", count))

    def _keep_definitions(self) -> None:
        """Write the definitions of custom fields and their options if they have changed.

        The rows of an odd definition stay with its options.
        """
        for table in (DEFINITIONS, OPTIONS):
            self.copy.aside.forget(table)
        request = OPERATIONS["list_custom_fields"].path
        fields, options = rows_of_definitions(self.client.list_custom_fields())
        self.copy.held(DEFINITIONS, fields, request)
        for row, column, _ in self.copy.not_held(OPTIONS, options):
            value = row[OPTIONS.columns.index(column)]
            name = f"value_options.{column.name}"
            self.copy.aside.add(DEFINITIONS, str(row[0]), name, value, request)
        odd = self.copy.aside.ids(DEFINITIONS)
        for table, found in ((DEFINITIONS, fields), (OPTIONS, options)):
            rows = [row for row in found if row[0] not in odd]
            key = [field.name for field in table.columns[1 : table.key]]
            if [row for row in self.copy.rows(table, None, key) if row[0] not in odd] != rows:
                self.copy.remove_all(table)
                self.copy.put(table, None, rows)
            self.copy.restore(table, odd)

    def _keep_unearned(self, subscriber_ids: set[int]) -> None:
        """Write the unearned revenue of these subscribers, or of all if the copy has none yet."""
        if self.copy.is_empty(UNEARNED):
            subscriber_ids = {row[1] for row in self.copy.rows(_SUBSCRIPTIONS, None)}
        keep = kept(UNEARNED)
        remaining = iter(sorted(subscriber_ids))
        while batch := list(islice(remaining, BATCH_RECORDS)):
            rows = {
                found.subscription_id: keep(
                    (found.subscription_id, found.paid_issues_left, found.unearned_revenue)
                )
                for subscriber_id in batch
                for found in subscriptions_of(self.client, subscriber_id) or ()
            }
            held = self.copy.held(UNEARNED, list(rows.values()), OFFERED_BY["subscriptions"])
            keys = [row[0] for row in held]
            self.copy.put(UNEARNED, keys, held)
            self.copy.aside.took(UNEARNED, keys)
            self.tell("unearned revenue", len(rows))

    def _keep_entries(self, mailing_list_id: int) -> None:
        within = (mailing_list_id,)
        self.copy.aside.forget(ENTRIES, f"{mailing_list_id}/")
        self.copy.put(ENTRIES, within, ())
        entries = entries_of(self.client, mailing_list_id)
        while batch := list(islice(entries, BATCH_RECORDS)):
            rows = self.copy.held(ENTRIES, batch, _ENTRIES_OF.format(mailing_list_id=within[0]))
            by_id = {row[1]: row for row in rows}  # the later one counts, as in the feed
            self.copy.put(ENTRIES, list(by_id), by_id.values(), within=within)
        odd = self.copy.aside.ids(ENTRIES, f"{mailing_list_id}/")
        self.copy.restore(ENTRIES, odd, within=within)


def opened_account(client: Client, key: str) -> int | None:
    """Return the id of the account that has the key, or None if the service does not show it.

    The credentials of a master account list all accounts, one of which has the key.
    """
    accounts = client.list_accounts()
    own = [a for a in accounts if key in {a.api_key, a.api_login}] or accounts
    return own[0].account_id if len(own) == 1 else None


def entries_of(client: Client, mailing_list_id: int) -> Iterator[Row]:
    """Yield the rows of a list download's entries; none if the service has no such list (404)."""
    try:
        yield from rows_of_entries(mailing_list_id, client.download_mailing_list(mailing_list_id))
    except ServiceError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise


def why_not_shown(error: ServiceError) -> str:
    """Return HAS_NO or REFUSES, the reason why a service does not show a path of Masthead's own.

    Some services respond with 401 or 403 to unknown paths, even though the credentials are right.
    Raises the error if the path may exist, and a later request may succeed.
    """
    is_passing = isinstance(error, (*_PASSING, TooOld))
    if is_passing or error.status is None or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise error
    return REFUSES if error.status in _CREDENTIALS else HAS_NO


def deletions_since(client: Client, state: State) -> Deletions | None:
    """Return the deletions of a copy's entities since its time, or None if none are listed.

    Call it only if the feed has Masthead's header: any response but the list, 404 and 405 is an
    error then, since a removal that is not read now is never read. Raises ServiceError, and TooOld
    if that time is too long ago.
    """
    try:
        deletions = client.deletions(state.changed_since, state.entities.split(","))
    except ServiceError as error:
        if error.status not in _NOT_THERE:
            raise
        return None
    if not _has_header(deletions):
        raise UnexpectedResponse(
            DELETIONS.path, 200, "it has no header Masthead-Changes-Through, which the feed has"
        )
    return deletions


def _snapshot(client: Client, entities: Sequence[str]) -> Changes | str:
    """Return the snapshot, or the reason why there is none (HAS_NO, REFUSES)."""
    try:
        snapshot = client.snapshot(entities)
    except ServiceError as error:
        return why_not_shown(error)
    return snapshot if _has_header(snapshot) else HAS_NO


def _has_header(response: Changes | Deletions) -> bool:
    """Return whether a response has Masthead's header; close it if not.

    Some services return 200 for every path, and so do some proxies while the service is away.
    """
    if response.is_date:
        response.close()
    return not response.is_date


def _next_time(changes: Changes | Deletions) -> str:
    try:
        through = datetime.fromisoformat(changes.through)
        through -= _OVERLAP if changes.is_date else timedelta()
        if through.utcoffset() is None:
            raise ValueError
    except ValueError:
        raise MastheadError(
            f"how far its answer goes, the service says with {changes.through!r}, which is no time"
        ) from None
    return through.isoformat() if changes.is_date else changes.through
