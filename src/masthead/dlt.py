"""A source for dlt: all records, in the tables that a mirror has.

Each run yields what has changed and what was removed since the run before, or everything if there
was none or the service no longer knows what changed since then (410). The time for the next run is
in dlt's state, which travels in the same load package as the rows: a package is loaded to its end
before another one begins, whatever was killed.

Each table is replaced or merged by one transaction of its own. A package that is loaded twice gives
the same rows: all of a record's rows are removed before its new ones are inserted, each key once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any

import dlt
from dlt.common.pipeline import LoadInfo
from dlt.common.storages.exceptions import LoadPackageAlreadyCompleted
from dlt.extract import DltResource, DltSource
from dlt.load.exceptions import LoadClientJobTerminalRetry
from dlt.pipeline.exceptions import PipelineStepFailed

from masthead.client import Client
from masthead.contract import kinds
from masthead.contract.kinds import Kind
from masthead.errors import BadUsage, MastheadError
from masthead.mirror import amounts
from masthead.mirror.applying import BATCH_RECORDS, in_batches
from masthead.mirror.increment import Increment, increment_since
from masthead.mirror.sync_pass import entries_of, opened_account
from masthead.mirror.tables import (
    DEFINITIONS,
    ENTRIES,
    OPTIONS,
    TABLES,
    Entity,
    Row,
    Table,
    entity_named,
    rows_of,
    rows_of_definitions,
)

__all__ = ["load", "masthead"]

DROPPED = "masthead_dropped"
"""The column of a row that removes the rows of its record; at the destination it is always NULL.

Its name has a word in it that dlt takes for a change of tables, and it runs such statements in one
transaction, as PostgreSQL does by itself. In DuckDB a merge would otherwise be two transactions,
and a table empty between them.
"""

_ROW_ID = "_dlt_id"
"""The id that dlt gives to a row. It would make it unique, on PostgreSQL by a constraint; a process
that is killed after a batch of rows was written, and before that was noted, would write the batch
again, and fail for ever. The keys make the rows of a batch that is there twice one."""

_NO_KEY = -1
"""The other keys of such a row. No id of a record is negative."""


@dlt.source(name="masthead", section="masthead")
def masthead(
    base_url: str = dlt.config.value,
    key: str = dlt.secrets.value,
    login: str = dlt.secrets.value,
    *,
    patience_s: float = 60.0,
) -> Sequence[DltResource]:
    """Return the source: one resource, ``changes``, for all tables, so that they belong together.

    ``key`` and ``login`` are the credentials of the interface, ``patience_s`` is how long a request
    is retried. What is not given comes from dlt's configuration, as ``sources.masthead.key``.

    A run raises ServiceError if a request fails, MastheadError if the service lacks Masthead's
    extensions or a value does not fit, and BadUsage if the pipeline's state is one of another
    service or account. Nothing is loaded then, and the state stays as it was.
    """
    return (_changes(base_url, key, login, patience_s),)


def load(pipeline: dlt.Pipeline, source: DltSource) -> LoadInfo:
    """Finish what a run that was killed has left, run the pipeline, and return what was loaded.

    dlt's own ``run`` does one of the two, and there are two moments of a kill after which each of
    its runs fails. Where the package was loaded and only not put aside, the working folder is
    removed, and the state comes from the destination. Where a batch of dlt's own rows was written
    and that was not noted, the package is aborted, which resets the state to that before it.

    Raises PipelineStepFailed, whose cause says why; a later call goes on.
    """
    try:
        while pipeline.has_pending_data:
            pipeline.run()
    except PipelineStepFailed as failure:
        if isinstance(failure.__cause__, LoadPackageAlreadyCompleted):
            pipeline = pipeline.drop()
        elif isinstance(failure.__cause__, LoadClientJobTerminalRetry):
            pipeline.abort_packages()
        else:
            raise
    done: LoadInfo = pipeline.run(source)
    return done


@dlt.resource(name="changes")
def _changes(base_url: str, key: str, login: str, patience_s: float) -> Iterator[Any]:
    state = dlt.current.resource_state()
    with Client(base_url, key, login, patience_s=patience_s) as client:
        source = {"base_url": base_url.rstrip("/"), "account_id": opened_account(client, key)}
        if state.setdefault("source", source) != source:
            raise BadUsage(
                f"this pipeline loads account {state['source']['account_id']} of "
                f"{state['source']['base_url']}: take another pipeline and dataset for account "
                f"{source['account_id']} of {source['base_url']}"
            )
        increment = increment_since(client, state.get("through"))
        try:
            yield from _loaded(client, increment)
        finally:
            increment.close()
    state["through"] = increment.through


def _loaded(client: Client, increment: Increment) -> Iterator[Any]:
    if increment.anew:
        for table in TABLES:
            yield _Rows(table, anew=True).none()
    gone = {name: set(ids) for name, ids in increment.gone.items()}
    lists: set[int] = set()
    for entity, batch in in_batches(increment.changes):
        yield from _written(entity, batch, anew=increment.anew)
        gone.get(entity.name, set()).difference_update(batch)
        if ENTRIES in _tables(entity):
            lists.update(batch)
    for name, ids in gone.items():
        for table in _tables(entity_named(name)):
            yield from _Rows(table, anew=False).removed(ids)
    for mailing_list_id in sorted(lists):
        rows = entries_of(client, mailing_list_id)
        yield from _Rows(ENTRIES, anew=increment.anew).of({mailing_list_id}, rows)
    found = rows_of_definitions(client.list_custom_fields())
    for table, definitions in zip((DEFINITIONS, OPTIONS), found, strict=True):
        yield _Rows(table, anew=True).none()
        yield from _Rows(table, anew=True).of((), definitions)


def _tables(entity: Entity) -> tuple[Table, ...]:
    return (*entity.tables, ENTRIES) if entity.name == "listdownloads" else entity.tables


def _written(entity: Entity, batch: Mapping[int, Any], *, anew: bool) -> Iterator[Any]:
    of_tables = zip(*map(rows_of(entity), batch.values()), strict=True)
    for table, of_table in zip(entity.tables, of_tables, strict=True):
        yield from _Rows(table, anew=anew).of(batch, (row for rows in of_table for row in rows))


class _Rows:
    """Rows of a table for dlt, which replace those of their owners, or all if it is ``anew``."""

    def __init__(self, table: Table, *, anew: bool) -> None:
        self._table = table
        self._anew = anew
        self._names = [field.name for field in table.columns]
        self._names += amounts.added_columns(table.columns)
        self._change = [_VALUES.get(type(field.kind)) for field in table.columns]
        self._change += [None] * (len(self._names) - len(table.columns))

    def none(self) -> Any:
        """Return what creates the table, and removes its rows if it is anew."""
        return self._hinted(dlt.mark.materialize_table_schema())

    def of(self, owners: Iterable[int], rows: Iterable[Row]) -> Iterator[Any]:
        """Yield the rows of the owners, and what removes those of an owner who has none."""
        without = set(owners)
        remaining = iter(rows)
        while batch := list(islice(remaining, BATCH_RECORDS)):
            without.difference_update(row[0] for row in batch)
            yield self._hinted([self._named(row) for row in batch])
        if not self._anew:
            yield from self.removed(without)

    def removed(self, owners: Iterable[int]) -> Iterator[Any]:
        """Yield what removes the rows of the owners."""
        no_keys = dict.fromkeys(self._names[1 : self._table.key], _NO_KEY)
        if rows := [
            {self._table.owner: owner, **no_keys, DROPPED: True} for owner in sorted(owners)
        ]:
            yield self._hinted(rows)

    def _named(self, row: Row) -> dict[str, Any]:
        try:
            values = amounts.with_decimals(self._table.columns, row)
        except ValueError:
            key = "/".join(map(str, row[: self._table.key]))
            raise MastheadError(
                f"{self._table.name} {key}: an amount has more than 20 digits or 18 decimal places"
            ) from None
        changed = (
            value if value is None or change is None else change(value)
            for value, change in zip(values, self._change, strict=True)
        )
        return dict(zip(self._names, changed, strict=True))

    def _hinted(self, rows: Any) -> Any:
        table, owner = self._table, self._table.owner
        columns = {
            field.name: {"name": field.name, **_type(field.kind), "nullable": n >= table.key}
            for n, field in enumerate(table.columns)
        }
        for name in amounts.added_columns(table.columns):
            columns[name] = {"name": name, "data_type": "bigint", "nullable": True}
        columns[DROPPED] = {
            "name": DROPPED,
            "data_type": "bool",
            "nullable": True,
            "hard_delete": True,
        }
        columns[_ROW_ID] = {"name": _ROW_ID, "data_type": "text", "nullable": False}
        every, own = "1 = 1", f"{owner} IN (SELECT {owner} FROM {{staging_table}})"
        hints = dlt.mark.make_hints(
            table_name=table.name,
            write_disposition={
                "disposition": "merge",
                "strategy": "delete-insert",
                "destination_scope": every if self._anew else own,
            },
            primary_key=self._names[: table.key],
            columns=columns,
        )
        return dlt.mark.with_hints(rows, hints, create_table_variant=True)


def _type(kind: Kind) -> Mapping[str, Any]:
    for of_kind, data_type in _TYPES.items():
        if isinstance(kind, of_kind):
            return data_type
    return {"data_type": "text"}


_AMOUNT = {"data_type": "decimal", "precision": 38, "scale": 18}
_TYPES: Mapping[type[Kind], Mapping[str, Any]] = {
    kinds.Bool: {"data_type": "bool"},
    kinds.Flag: {"data_type": "bool"},
    kinds.Bit: {"data_type": "bool"},
    kinds.Integer: {"data_type": "bigint"},
    kinds.Number: _AMOUNT,
    kinds.DecimalText: _AMOUNT,
    kinds.Date: {"data_type": "date"},
    kinds.DateTime: {"data_type": "timestamp", "timezone": False},
}

_VALUES: Mapping[type[Kind], Any] = {
    kinds.Bool: bool,
    kinds.Flag: bool,
    kinds.Bit: bool,
    kinds.Number: Decimal,
    kinds.DecimalText: Decimal,
    kinds.Date: date.fromisoformat,
    kinds.DateTime: datetime.fromisoformat,
}
