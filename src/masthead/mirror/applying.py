"""Writing records of the change feed to the copy, and removing deleted records, in batches."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter

from masthead.client import ChangedRecord, Deletion
from masthead.contract.shapes import ChangedSubscription, ListDownload
from masthead.mirror.database import Copy
from masthead.mirror.tables import ENTITIES, ENTRIES, UNEARNED, Entity, entity_named, rows_of

BATCH_RECORDS = 1_000

_ENTITIES = {entity.shape: entity for entity in ENTITIES}
_ROWS = {entity.name: rows_of(entity) for entity in ENTITIES}


class Applied:
    """The numbers of records written and removed, and the ids of the list downloads written.

    If the copy has unearned revenue, also the ids of the subscribers of the subscriptions written.
    """

    def __init__(self) -> None:
        self.records = 0
        self.removed = 0
        self.mailing_list_ids: set[int] = set()
        self.subscriber_ids: set[int] = set()


def apply(
    copy: Copy,
    records: Iterable[ChangedRecord],
    *,
    tell: Callable[[int], None] = lambda _count: None,
) -> Applied:
    """Write the records, which replace those with the same ids; return what was written.

    If a record comes twice, the later one counts. ``tell`` is called with the number so far.
    """
    applied = Applied()
    for entity, batch in in_batches(records):
        of_tables = zip(*map(_ROWS[entity.name], batch.values()), strict=True)
        for table, of_table in zip(entity.tables, of_tables, strict=True):
            copy.put(table, list(batch), (row for of_record in of_table for row in of_record))
        if entity.shape is ListDownload:
            applied.mailing_list_ids.update(batch)
        elif entity.shape is ChangedSubscription and copy.has(UNEARNED):
            applied.subscriber_ids.update(
                record.subscriber_id
                for record in batch.values()
                if isinstance(record, ChangedSubscription)
            )
        applied.records += len(batch)
        tell(applied.records)
    return applied


def apply_deletions(
    copy: Copy,
    deletions: Iterable[Deletion],
    applied: Applied,
    *,
    tell: Callable[[int], None] = lambda _count: None,
) -> None:
    """Remove records after :func:`apply`, and count in ``applied`` those that the copy had."""
    for name, of_entity in groupby(deletions, attrgetter("entity")):
        entity = entity_named(name)
        while batch := [deletion.id for deletion in islice(of_entity, BATCH_RECORDS)]:
            applied.removed += remove_records(copy, entity, batch)
            if entity.shape is ListDownload:
                applied.mailing_list_ids.difference_update(batch)
            tell(applied.removed)


def remove_records(copy: Copy, entity: Entity, ids: list[int]) -> int:
    """Remove records with their nested records; return how many of them the copy had."""
    first, *others = entity.tables
    if entity.shape is ListDownload:
        others.append(ENTRIES)
    elif entity.shape is ChangedSubscription and copy.has(UNEARNED):
        others.append(UNEARNED)
    for table in others:
        copy.remove(table, ids)
    return copy.remove(first, ids)


def in_batches(
    records: Iterable[ChangedRecord],
) -> Iterator[tuple[Entity, dict[int, ChangedRecord]]]:
    """Yield up to 1,000 successive records of one entity, by their ids."""
    batch: dict[int, ChangedRecord] = {}
    shape: type | None = None
    for record in records:
        if record.__class__ is not shape or len(batch) == BATCH_RECORDS:
            if shape:
                yield _ENTITIES[shape], batch
            shape, batch = record.__class__, {}
        batch[int(getattr(record, record.__struct_fields__[0]))] = record
    if shape:
        yield _ENTITIES[shape], batch
