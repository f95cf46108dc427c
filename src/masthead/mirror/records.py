"""The records of a copy in the form of the change feed, built from its tables."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from masthead.contract import shapes
from masthead.contract.digest import SHAPES, Digest
from masthead.contract.encoding import encode, wire_of
from masthead.mirror.applying import BATCH_RECORDS
from masthead.mirror.database import Copy
from masthead.mirror.tables import Entity, Row, Table, entity_named

_make_answer = wire_of(shapes.CustomFieldAnswer)
_make_item = wire_of(shapes.OrderItem)
_make_value = wire_of(shapes.AnswerValue)
_SUBSCRIBERS = entity_named("subscribers").tables[0]
_INCONSISTENT = b"null"
"""Stands for a record with inconsistent rows. It differs from every record."""


def digest_of(copy: Copy, entity: Entity, tell: Callable[[int], None]) -> Digest:
    """Return the digest of an entity's records; ``tell`` is called with the number so far."""
    digest = Digest()
    ids = ids_of(copy, entity)
    for start in range(0, len(ids), BATCH_RECORDS):
        for _, record in records_of(copy, entity, ids[start : start + BATCH_RECORDS]):
            digest.add(record)
        tell(digest.count)
    return digest


def ids_of(copy: Copy, entity: Entity) -> Sequence[int]:
    """Return the ids of all records with a row in any table, in ascending order."""
    tables = list(entity.tables)
    if entity.shape is shapes.AnswerRecord:
        # Each subscriber has a record of custom fields, even without answers.
        tables.append(_SUBSCRIBERS)
    merged = merge(*(array("q", copy.owners(table)) for table in tables))
    return array("q", (key for key, _ in groupby(merged)))


def records_of(copy: Copy, entity: Entity, ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """Yield the id and JSON of each of these records that the copy has, in ascending order.

    The JSON is as Masthead writes it, without a subscriber's ``modified_date``.
    """
    make = wire_of(SHAPES[entity.name])
    found = [rows_by_owner(copy, table, ids) for table in entity.tables]
    if entity.shape is shapes.AnswerRecord:
        answers, values = found
        for subscriber_id in sorted(ids):
            of_this = answers.get(subscriber_id, ()), values.get(subscriber_id, ())
            entries = _answers(*of_this)
            record = _INCONSISTENT if entries is None else encode(make(subscriber_id, entries))
            yield subscriber_id, record
    elif entity.shape is shapes.Order:
        orders, items = found
        for order_id in sorted({*orders, *items}):
            of_order = [_make_item(*item[1:]) for item in items.get(order_id, ())]
            order = orders.get(order_id)
            yield order_id, encode(make(*order[0], of_order)) if order else _INCONSISTENT
    else:
        (table,) = entity.tables
        for key, (row,) in found[0].items():
            yield key, encode(make(*shown_of(table, row)))


def rows_by_owner(
    copy: Copy, table: Table, owners: Sequence[int] | None
) -> Mapping[int, Sequence[Row]]:
    """Return the rows of each of these owners that has rows, by ascending key."""
    rows = copy.rows(table, owners, [field.name for field in table.columns[1 : table.key]])
    return {owner: list(of_owner) for owner, of_owner in groupby(rows, itemgetter(0))}


def shown_of(table: Table, row: Row) -> Row:
    """Return the compared values of a row: all but the time of a subscriber's last change."""
    return row[:-1] if table is _SUBSCRIBERS else row


def _answers(answers: Sequence[Row], values: Sequence[Row]) -> list[Any] | None:
    """Return a subscriber's answers in wire form, or None if there are values without an answer."""
    by_field = {field_id: list(rows) for field_id, rows in groupby(values, itemgetter(1))}
    entries = []
    for answer in answers:
        chosen = by_field.pop(answer[1], [])
        if [value[2] for value in chosen] != list(range(len(chosen))):
            return None
        options = [_make_value(*value[3:]) for value in chosen]
        entries.append(_make_answer(*answer[1:-1], options or None, answer[-1]))
    return None if by_field else entries
