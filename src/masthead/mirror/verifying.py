"""Verifying a copy: comparing it with its source, and listing or repairing the differences.

Masthead has a digest of each entity's records. Records are compared one by one only if the digest
differs. With another service, the copy is compared with all that the interface can return.
"""

from array import array
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Sized
from datetime import UTC, datetime
from typing import NamedTuple, Unpack

from masthead.client import ChangedRecord, Client, SubscriberFilters
from masthead.contract.operations import LIMIT_MAX, OPERATIONS, SNAPSHOT
from masthead.contract.shapes import AnswerRecord, ChangedSubscriber
from masthead.errors import ServiceError
from masthead.mirror.applying import apply, held_rows, in_batches, remove_records
from masthead.mirror.database import State
from masthead.mirror.records import digest_of, rows_by_owner, shown_of
from masthead.mirror.sync_pass import Mirror, deletions_since, entries_of, why_not_shown
from masthead.mirror.tables import (
    DEFINITIONS,
    ENTITIES,
    ENTRIES,
    OPTIONS,
    UNEARNED,
    Entity,
    Row,
    SetAside,
    Table,
    entity_named,
)
from masthead.mirror.without_snapshot import (
    FEED_REACHES,
    LISTED_BY,
    OFFERED_BY,
    listed,
    offered_of,
    subscriptions_of,
    unless_unknown,
)

_LISTS = entity_named("listdownloads").tables[0]
_ORDERS = entity_named("orders").tables[0]
_SUBSCRIBERS = entity_named("subscribers").tables[0]
_SUBSCRIPTIONS = entity_named("subscriptions").tables[0]
_TABLES = [entity.tables[0] for entity in ENTITIES]
_DELETE_DATE = [field.name for field in _SUBSCRIBERS.columns].index("delete_date")

_NOT_SHOWN = (
    "the service {} digest, and does not show addresses, purchases and list downloads that "
    "last changed more than five days ago or are in the copy alone"
)


class Difference(NamedTuple):
    """A record whose ``status`` in the copy is "missing", "extra" or "different".

    ``table`` is the table of its entity. The id of a mailing list's entry has two parts.
    """

    table: str
    status: str
    id: tuple[int, ...]


class Verified(NamedTuple):
    """The number of compared records of each table, and the differences.

    ``not_compared`` says what the service cannot return, and what the copy lacks since its first
    pass; None: everything was compared. ``repaired`` are the differences that have been repaired.
    ``set_aside`` are the records that the copy cannot take, which are no differences.
    """

    counts: Mapping[str, int]
    differences: list[Difference]
    not_compared: str | None
    repaired: list[Difference]
    set_aside: list[SetAside]


def verify(mirror: Mirror, *, repair: bool = False) -> Verified:
    """Bring the copy up to date, compare it with its source, and return the differences.

    With ``repair``, repairs the copy where it differs and compares it again, in one transaction.
    Records that change meanwhile are left out; the change feed has them. Raises what
    :meth:`Mirror.run` does.
    """
    state = mirror.run().state
    aside = mirror.copy.aside
    with mirror.copy.writing() if repair else mirror.copy.reading():
        if repair:
            # A pass looks for definitions, and the comparison for all others.
            aside.forget_without_id([*_TABLES, ENTRIES])
        state = mirror.copy.state() or state
        comparison = _Comparison(mirror, repairs=repair)
        comparison.run(state)
        repaired: set[Difference] = set()
        if repair and comparison.found:
            comparison.remove_extra()
            repaired = comparison.found
            comparison = _Comparison(mirror)
            comparison.run(state)
        set_aside = sorted(aside.left().values())
    not_compared = None
    if comparison.lacks_digests:
        not_compared = _NOT_SHOWN.format(comparison.lacks_digests)
        if state.lacking:
            not_compared += f"; {state.lacking}"
    elif mirror.copy.has(UNEARNED):
        not_compared = "paid_issues_left and unearned_revenue, which no digest contains"
    found = comparison.found
    repaired -= found
    return Verified(comparison.counts, sorted(found), not_compared, sorted(repaired), set_aside)


class _Comparison:
    """A comparison; with ``repairs``, it writes missing and different records, batch by batch."""

    def __init__(self, mirror: Mirror, *, repairs: bool = False) -> None:
        self.counts: dict[str, int] = {}
        self.found: set[Difference] = set()
        self.lacks_digests = ""
        """The reason why the service shows no digests, or "" if it shows them."""
        self._repairs = repairs
        self._client = mirror.client
        self._copy = mirror.copy
        self._tell = mirror.tell
        self._entities = mirror.entities
        tables = (entity_named(name).tables[0] for name in mirror.entities)
        self._shown: dict[Table, set[int]] = {table: set() for table in tables}

    def run(self, state: State) -> None:
        """Compare everything that can be compared, except changes since the copy's state."""
        digests = _digests(self._client, self._entities)
        if isinstance(digests, str):
            self.lacks_digests = digests
            self._compare_shown()
        else:
            for name in self._entities:
                self._prove(entity_named(name), digests[name])
        if "listdownloads" in self._entities:
            self._compare_entries()
        if "customfields" in self._entities:
            self._count_definitions()
        if self.found:
            self._leave_out_what_changed(state)
        odd = self._copy.aside.left()
        self.found = {
            difference
            for difference in self.found
            if (difference.table, "/".join(map(str, difference.id))) not in odd
        }

    def remove_extra(self) -> None:
        """Remove the records that were found only in the copy."""
        extra: dict[str, list[tuple[int, ...]]] = defaultdict(list)
        for table, status, key in self.found:
            if status == "extra":
                extra[table].append(key)
        for list_id, subscription_id in extra.pop(ENTRIES.name, ()):
            self._copy.remove(ENTRIES, [subscription_id], within=(list_id,))
        for entity in ENTITIES:
            remove_records(self._copy, entity, [key for (key,) in extra[entity.tables[0].name]])

    def _prove(self, entity: Entity, digest: tuple[int, str]) -> None:
        """Compare the digests, and if they differ, the records."""
        table = entity.tables[0]
        own = digest_of(self._copy, entity, lambda count: self._tell(table.name, count))
        self.counts[table.name] = own.count
        if (own.count, own.hex()) == digest:
            return
        with self._client.snapshot([entity.name]) as snapshot:
            self._compare(snapshot, SNAPSHOT.path)
        for own_table in entity.tables:
            for key in self._copy.owners(own_table):
                if key not in self._shown[table]:
                    self._find(table, "extra", key)

    def _compare_shown(self) -> None:
        """Compare with all that the interface returns, and find records that do not exist there."""
        deleted: set[int] = set()
        if "subscribers" in self._entities:
            self._compare(listed(self._client), LISTED_BY)
            shown = self._shown[_SUBSCRIBERS]
            others = [row for row in self._copy.rows(_SUBSCRIBERS, None) if row[0] not in shown]
            deleted.update(row[0] for row in others if row[_DELETE_DATE] is not None)
            odd = self._copy.aside.ids(_SUBSCRIBERS)
            known = sorted(shown.union((row[0] for row in others), odd))
            self._compare(self._looked_up(others), LISTED_BY)
            for name in filter(self._entities.__contains__, OFFERED_BY):
                offered = offered_of(self._client, self._copy.aside, known, name)
                self._compare(offered, OFFERED_BY[name], is_shown_alone=True)
        since = datetime.now(UTC) - FEED_REACHES
        with self._client.changes(since, self._entities) as changes:
            self._compare(changes, OPERATIONS["changes"].path)
        if "orders" in self._entities:
            self._compare(self._known_orders(), OPERATIONS["get_order"].path)
        if "subscriptions" in self._entities:
            self._find_denied_subscriptions(deleted)
        for table in self._shown:
            self.counts[table.name] = len(self._shown[table])

    def _looked_up(self, subscribers: Iterable[Row]) -> Iterator[ChangedRecord]:
        """Yield the copy's subscribers that a search finds, and report the others."""
        for row in subscribers:
            key, renewal_code, email = row[:3]
            if not renewal_code and not email:
                continue
            found = (
                self._found(renewal_code=renewal_code) if renewal_code else self._found(email=email)
            )
            this = [subscriber for subscriber in found if subscriber.subscriber_id == key]
            yield from this
            is_shown = this or row[_DELETE_DATE] is not None
            if not is_shown and not self._may_be_cut(_SUBSCRIBERS, found):
                self._find(_SUBSCRIBERS, "extra", key)

    def _found(self, **filters: Unpack[SubscriberFilters]) -> list[ChangedSubscriber]:
        return unless_unknown(lambda: list(listed(self._client, **filters))) or []

    def _known_orders(self) -> Iterator[ChangedRecord]:
        """Yield the orders of the copy that the service has, and report the others."""
        for order_id in array("q", self._copy.owners(_ORDERS)):
            order = unless_unknown(self._copy.aside.unless_odd, self._client.get_order, order_id)
            if order is None:
                self._find(_ORDERS, "extra", order_id)
            else:
                yield order

    def _find_denied_subscriptions(self, deleted: Container[int]) -> None:
        """Find the subscriptions in the copy that their subscriber does not have."""
        unseen = [
            (subscription_id, subscriber_id)
            for subscription_id, subscriber_id, *_ in self._copy.rows(_SUBSCRIPTIONS, None)
            if subscription_id not in self._shown[_SUBSCRIPTIONS] and subscriber_id not in deleted
        ]
        for subscription_id, subscriber_id in unseen:
            shown = subscriptions_of(self._client, subscriber_id)
            if shown is not None and not self._may_be_cut(_SUBSCRIPTIONS, shown):
                self._find(_SUBSCRIPTIONS, "extra", subscription_id)

    def _may_be_cut(self, table: Table, found: Sized) -> bool:
        """Return whether a list may have had a full page; the odd records are not in it.

        A full page proves nothing, since a service may have no further pages.
        """
        odd = sum(name == table.name for name, _ in self._copy.aside.left())
        return len(found) <= LIMIT_MAX <= len(found) + odd

    def _compare_entries(self) -> None:
        """Compare the entries of every list download."""
        self.counts[ENTRIES.name] = 0
        for mailing_list_id in sorted({*self._copy.owners(_LISTS), *self._copy.owners(ENTRIES)}):
            own = {row[: ENTRIES.key]: row for row in self._copy.rows(ENTRIES, [mailing_list_id])}
            right = {}
            self._copy.aside.forget(ENTRIES, f"{mailing_list_id}/")
            request = OPERATIONS["download_mailing_list"].path.format(
                mailing_list_id=mailing_list_id
            )
            shown = list(entries_of(self._client, mailing_list_id))
            held = self._copy.held(ENTRIES, shown, request)
            # The later one counts, as in a pass.
            for row in {row[: ENTRIES.key]: row for row in held}.values():
                self.counts[ENTRIES.name] += 1
                kept = own.pop(row[: ENTRIES.key], None)
                if kept != row:
                    status = "different" if kept else "missing"
                    self._find(ENTRIES, status, *row[: ENTRIES.key])
                    right[row[1]] = row
            if self._repairs and right:
                self._copy.put(ENTRIES, list(right), right.values(), within=(mailing_list_id,))
            for key in own:
                self._find(ENTRIES, "extra", *key)
            self._tell(ENTRIES.name, self.counts[ENTRIES.name])

    def _count_definitions(self) -> None:
        """Count the definitions of custom fields, which each pass compares and corrects."""
        for table in (DEFINITIONS, OPTIONS):
            self.counts[table.name] = sum(1 for _ in self._copy.rows(table, None))

    def _leave_out_what_changed(self, state: State) -> None:
        """Remove differences of records that changed since the pass, or were removed.

        The next pass gets them.
        """
        named = defaultdict(set)
        for difference in self.found:
            named[difference.table, difference.id[0]].add(difference)

        def leave_out(entity: Entity, ids: Iterable[int]) -> None:
            table = entity.tables[0]
            for shown in (table, ENTRIES) if table is _LISTS else (table,):
                for key in ids:
                    self.found -= named[shown.name, key]

        with self._client.changes(state.changed_since, self._entities) as changes:
            for entity, batch in in_batches(changes):
                leave_out(entity, batch)
        if not changes.is_date and (deletions := deletions_since(self._client, state)):
            with deletions:
                for deletion in deletions:
                    leave_out(entity_named(deletion.entity), [deletion.id])

    def _compare(
        self, records: Iterable[ChangedRecord], request: str, *, is_shown_alone: bool = False
    ) -> None:
        """Compare records with the copy's; ``request`` is the path that shows them.

        With ``is_shown_alone``, the records do not come from the feed. Then empty records that the
        copy lacks are ignored: they belong to new subscribers without answers.
        """
        for entity, batch in in_batches(records):
            table = entity.tables[0]
            held = held_rows(self._copy, entity, batch, request)
            own = [rows_by_owner(self._copy, each, sorted(held)) for each in entity.tables]
            right = []
            for key, shown in held.items():
                record = batch[key]
                kept = [rows.get(key, ()) for rows in own]
                if shown[0] and not kept[0]:
                    if not (is_shown_alone and _is_empty(record)):
                        self._find(table, "missing", key)
                        right.append(record)
                elif any(map(_differ, entity.tables, kept, shown)):
                    self._find(table, "different", key)
                    right.append(record)
            if self._repairs:
                apply(self._copy, right, request)
            self._copy.aside.took(table, held)
            self._shown[table].update(held)
            self._tell(table.name, len(self._shown[table]))

    def _find(self, table: Table, status: str, *key: int) -> None:
        self.found.add(Difference(table.name, status, key))


def _differ(table: Table, kept: Sequence[Row], shown: Sequence[Row]) -> bool:
    def compared(rows: Sequence[Row]) -> dict[Row, Row]:
        return {row[: table.key]: shown_of(table, row) for row in rows}

    return compared(kept) != compared(shown)


def _is_empty(record: ChangedRecord) -> bool:
    return isinstance(record, AnswerRecord) and not any(
        answer.values or answer.text_value for answer in record.custom_fields
    )


def _digests(client: Client, entities: Sequence[str]) -> Mapping[str, tuple[int, str]] | str:
    """Return the count and digest of each entity, or the reason why the service shows none."""
    try:
        return client.digest(entities)
    except ServiceError as error:
        return why_not_shown(error)
