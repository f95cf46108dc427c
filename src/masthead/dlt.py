"""A source for dlt: the records of the change feed, in the tables that a mirror has.

Each run yields what has changed since the run before and what was removed, or everything if there
was no run before or the service no longer knows the changes since it (410). dlt writes the rows,
and keeps the time of the next run with them: its state becomes valid with the load package that
the rows are in, and a package that was not loaded to its end is loaded again. Every row is merged
by the record that it belongs to, so that a package that is loaded twice does no harm.

Neither definitions of custom fields nor entries of mailing lists are here; the mirror has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import dlt
from dlt.extract import DltResource

from masthead.client import Client
from masthead.contract import kinds
from masthead.contract.kinds import Kind, Missing
from masthead.errors import TooOld
from masthead.mirror.applying import in_batches
from masthead.mirror.tables import ENTITIES, Entity, Table, rows_of

__all__ = ["masthead"]

GONE = "masthead_gone"
"""The column of a row that removes all rows of its record; no row at the destination has it set."""


@dlt.source(name="masthead")
def masthead(base_url: str, key: str, login: str) -> Sequence[DltResource]:
    """Return the source: one resource for all tables, so that they are of one moment.

    ``key`` and ``login`` are the credentials of the interface. A run raises the errors of
    :class:`masthead.Client`, and then nothing of it is loaded.
    """
    return (_changes(base_url, key, login),)


@dlt.resource(name="changes")
def _changes(base_url: str, key: str, login: str) -> Iterator[Any]:
    state = dlt.current.resource_state()
    with Client(base_url, key, login) as client:
        since = state.get("through")
        try:
            changes = client.changes(since) if since else client.snapshot()
            deletions = client.deletions(since) if since else None
        except TooOld:
            changes, deletions = client.snapshot(), None
        anew = deletions is None
        for entity in ENTITIES:
            for table in entity.tables:
                yield _hinted(dlt.mark.materialize_table_schema(), table, anew=anew)
        for entity, batch in in_batches(changes):
            yield from _written(entity, batch, anew=anew)
        through = changes.through
        if deletions is not None:
            for name, key_of in deletions:
                entity = next(entity for entity in ENTITIES if entity.name == name)
                for table in entity.tables:
                    yield _hinted([{table.owner: key_of, GONE: True}], table, anew=False)
            through = min(through, deletions.through)
        state["through"] = str(through)


def _written(entity: Entity, batch: Mapping[int, Any], *, anew: bool) -> Iterator[Any]:
    of_tables = zip(*map(rows_of(entity), batch.values()), strict=True)
    for table, of_table in zip(entity.tables, of_tables, strict=True):
        names = [column.name for column in table.columns]
        change = [_VALUES.get(type(column.kind)) for column in table.columns]
        rows: list[dict[str, Any]] = []
        if not anew and len(entity.tables) > 1:
            rows.extend({table.owner: owner, GONE: True} for owner in batch)
        for of_record in of_table:
            for row in of_record:
                values = (
                    value if value is None or make is None else make(value)
                    for value, make in zip(row, change, strict=True)
                )
                rows.append(dict(zip(names, values, strict=True)))
        if rows:
            yield _hinted(rows, table, anew=anew)


def _hinted(rows: Any, table: Table, *, anew: bool) -> Any:
    columns: dict[str, Any] = {
        field.name: {"name": field.name, **_type(field.kind), "nullable": n > 0}
        for n, field in enumerate(table.columns)
    }
    columns[GONE] = {"name": GONE, "data_type": "bool", "nullable": True, "hard_delete": True}
    hints = dlt.mark.make_hints(
        table_name=table.name,
        write_disposition="replace" if anew else "merge",
        merge_key=table.owner,
        columns=columns,
    )
    return dlt.mark.with_hints(rows, hints, create_table_variant=True)


def _type(kind: Kind) -> Mapping[str, Any]:
    for of_kind, data_type in _TYPES.items():
        if isinstance(kind, of_kind):
            return data_type
    return {"data_type": "text"}


_TYPES: Mapping[type[Kind], Mapping[str, Any]] = {
    kinds.Integer: {"data_type": "bigint"},
    kinds.Bool: {"data_type": "bigint"},
    kinds.Flag: {"data_type": "bigint"},
    kinds.Bit: {"data_type": "bigint"},
    kinds.Number: {"data_type": "decimal", "precision": 38, "scale": 9},
    kinds.DecimalText: {"data_type": "decimal", "precision": 38, "scale": 9},
    kinds.Date: {"data_type": "date"},
    kinds.DateTime: {"data_type": "timestamp", "timezone": False},
}


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


_VALUES: Mapping[type[Kind], Any] = {
    kinds.Bool: int,
    kinds.Flag: int,
    kinds.Bit: int,
    kinds.Number: Decimal,
    kinds.DecimalText: Decimal,
    kinds.Date: date.fromisoformat,
    kinds.DateTime: _time,
}
