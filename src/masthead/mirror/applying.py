"""Writing records of the change feed to the copy, and removing deleted records, in batches."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter

from masthead.client import ChangedRecord, Deletion
from masthead.contract.shapes import ChangedSubscription, ListDownload
from masthead.errors import MastheadError
from masthead.mirror.database import Copy
from masthead.mirror.tables import (
    ENTITIES,
    ENTRIES,
    UNEARNED,
    Entity,
    Row,
    Table,
    entity_named,
    rows_of,
    unkept_field,
)
from masthead.mirror.versions import PERSONAL_ENTITIES

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
    request: str,
    *,
    tell: Callable[[int], None] = lambda _count: None,
) -> Applied:
    """Write the records, which replace those with the same ids; return what was written.

    If a record comes twice, the later one counts. A record that the copy cannot hold is set aside,
    with ``request``, the path or file where it comes from. ``tell`` is called with the number so
    far.
    """
    applied = Applied()
    for entity, batch in in_batches(records):
        rows = held_rows(copy, entity, batch, request)
        for number, table in enumerate(entity.tables):
            of_table = (row for of_record in rows.values() for row in of_record[number])
            copy.put(table, list(rows), of_table)
        copy.aside.took(entity.tables[0], rows)
        if entity.shape is ListDownload:
            applied.mailing_list_ids.update(rows)
        elif entity.shape is ChangedSubscription and copy.has(UNEARNED):
            applied.subscriber_ids.update(
                record.subscriber_id
                for key, record in batch.items()
                if key in rows and isinstance(record, ChangedSubscription)
            )
        applied.records += len(rows)
        tell(applied.records)
    return applied


def held_rows(
    copy: Copy, entity: Entity, batch: Mapping[int, ChangedRecord], request: str
) -> dict[int, Sequence[Sequence[Row]]]:
    """Return the rows of each record for each table of the entity, by the ids of the records.

    A record with a value that the copy cannot hold is set aside as a whole, and left out.
    """
    found: dict[int, Sequence[Sequence[Row]]] = {}
    first = entity.tables[0]
    for key, record in batch.items():
        try:
            found[key] = list(_ROWS[entity.name](record))
        except MastheadError:
            if not (unkept := unkept_field(record)):
                raise
            copy.aside.add(first, str(key), *unkept, request)
    for number, table in enumerate(entity.tables):
        rows = [row for of_record in found.values() for row in of_record[number]]
        for row, field, _ in copy.not_held(table, rows):
            found.pop(row[0], None)
            name = field.name if table is first else f"{table.name}.{field.name}"
            value = row[table.columns.index(field)]
            copy.aside.add(first, str(row[0]), name, value, request)
    return found


def restore_odd(copy: Copy) -> None:
    """Insert again the removed rows of all records that are set aside."""
    for entity in ENTITIES:
        ids = copy.aside.ids(entity.tables[0])
        for table in _tables_of(copy, entity):
            copy.restore(table, ids)


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
    first, *others = _tables_of(copy, entity)
    for table in others:
        copy.remove(table, ids)
        copy.aside.took(table, ids)
    copy.aside.took(first, ids)
    if entity.shape is ListDownload:
        for key in ids:
            copy.aside.forget(ENTRIES, f"{key}/")
    return copy.remove(first, ids)


def remove_erased(copy: Copy) -> None:
    """Remove what records that are set aside still have of erased persons.

    That is the earlier row of such a record, which the blank one could not replace. A record
    without a valid id goes when a person has been erased, since it may be that person's.
    """
    if not copy.aside.left():
        return
    if copy.has_new_erased():
        copy.aside.forget_without_id(entity_named(name).tables[0] for name in PERSONAL_ENTITIES)
    for name in PERSONAL_ENTITIES:
        first, *others = entity_named(name).tables
        if (ids := copy.aside.left_ids(first)) and (erased := copy.erased_owners(first, ids)):
            for table in (first, *others):
                copy.remove(table, erased)


def _tables_of(copy: Copy, entity: Entity) -> list[Table]:
    """Return the tables with rows of an entity's records, its own first."""
    tables = list(entity.tables)
    if entity.shape is ListDownload:
        tables.append(ENTRIES)
    elif entity.shape is ChangedSubscription and copy.has(UNEARNED):
        tables.append(UNEARNED)
    return tables


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
