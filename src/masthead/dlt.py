"""A source for dlt: all records, in the same tables as a mirror.

Each run yields the changes and the removed records since the previous run. The first run yields
everything, and so does a run after the service has lost the changes since then (410). dlt's state
holds the time for the next run, and is in the same load package as the rows. dlt finishes a package
before it begins another one, even if a process was killed.

Each table is replaced or merged in its own transaction. Loading a package twice gives the same
rows: all of a record's rows are deleted before its new ones are inserted, each key once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
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

DROPPED = "masthead_dropped"
"""The column that is true in a row that removes its record; at the destination it is always NULL.

Because of the "drop" in its name, dlt takes the statements for a change of tables, and runs them in
one transaction. PostgreSQL does that anyway. In DuckDB, a merge would otherwise be two
transactions, with an empty table between them.
"""

_ROW_ID = "_dlt_id"
"""The id that dlt gives to a row. By default dlt makes it unique, on PostgreSQL with a constraint.
After a process was killed between writing a batch of rows and recording that, each run would then
write the batch again and fail. The keys deduplicate the rows of a batch that was written twice."""

_NO_KEY = -1
"""The other keys of a row that removes its record. Ids of records are never negative."""


@dlt.source(name="masthead", section="masthead")
def masthead(
    base_url: str = dlt.config.value,
    key: str = dlt.secrets.value,
    login: str = dlt.secrets.value,
    *,
    patience_s: float = 60.0,
) -> Sequence[DltResource]:
    """Return the source: one resource, ``changes``, for all tables: they are loaded together.

    ``key`` and ``login`` are the account's credentials, ``patience_s`` is how many seconds a
    request is retried. Arguments that are not given come from dlt's configuration, such as
    ``sources.masthead.key``.

    A run raises ServiceError if a request fails, MastheadError if the service lacks Masthead's
    extensions or a value does not fit, and BadUsage if the pipeline's state belongs to another
    service or account. Then nothing is loaded, and the state does not change.
    """
    return (_changes(base_url, key, login, patience_s),)


def load(pipeline: dlt.Pipeline, source: DltSource) -> LoadInfo:
    """Finish the work of a killed run, run the pipeline, and return what was loaded.

    dlt's own ``run`` does only one of the two, and after a kill at two points each of its runs
    fails. If the package was loaded but not yet archived, this function removes the working folder,
    and dlt restores the state from the destination. If a batch of dlt's own rows was written but
    not recorded, it aborts the package, which resets the state to the one before.

    Raises PipelineStepFailed; its cause says why. A later call continues.
    """
    for file in Path(pipeline.working_dir).glob("load/*/*/new_jobs/*"):
        if "." not in file.name:
            file.unlink()
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
    if increment.is_full:
        for table in TABLES:
            yield _Rows(table, is_full=True).none()
    gone = {name: set(ids) for name, ids in increment.gone.items()}
    lists: set[int] = set()
    for entity, batch in in_batches(increment.changes):
        yield from _written(entity, batch, is_full=increment.is_full)
        gone.get(entity.name, set()).difference_update(batch)
        if ENTRIES in _tables(entity):
            lists.update(batch)
    for name, ids in gone.items():
        for table in _tables(entity_named(name)):
            yield from _Rows(table, is_full=False).removed(ids)
    for mailing_list_id in sorted(lists):
        rows = entries_of(client, mailing_list_id)
        yield from _Rows(ENTRIES, is_full=increment.is_full).of({mailing_list_id}, rows)
    found = rows_of_definitions(client.list_custom_fields())
    for table, definitions in zip((DEFINITIONS, OPTIONS), found, strict=True):
        yield _Rows(table, is_full=True).none()
        yield from _Rows(table, is_full=True).of((), definitions)


def _tables(entity: Entity) -> tuple[Table, ...]:
    return (*entity.tables, ENTRIES) if entity.name == "listdownloads" else entity.tables


def _written(entity: Entity, batch: Mapping[int, Any], *, is_full: bool) -> Iterator[Any]:
    of_tables = zip(*map(rows_of(entity), batch.values()), strict=True)
    for table, of_table in zip(entity.tables, of_tables, strict=True):
        yield from _Rows(table, is_full=is_full).of(
            batch, (row for rows in of_table for row in rows)
        )


class _Rows:
    """Rows of a table for dlt; they replace their owners' rows, or all rows if ``is_full``."""

    def __init__(self, table: Table, *, is_full: bool) -> None:
        self._table = table
        self._is_full = is_full
        self._names = [field.name for field in table.columns]
        self._names += amounts.added_columns(table.columns)
        self._change = [_VALUES.get(type(field.kind)) for field in table.columns]
        self._change += [None] * (len(self._names) - len(table.columns))

    def none(self) -> Any:
        """Return the item that creates the table, and empties it if ``is_full``."""
        return self._hinted(dlt.mark.materialize_table_schema())

    def of(self, owners: Iterable[int], rows: Iterable[Row]) -> Iterator[Any]:
        """Yield the rows of the owners, and the removal of those of owners that have none now."""
        without = set(owners)
        remaining = iter(rows)
        while batch := list(islice(remaining, BATCH_RECORDS)):
            without.difference_update(row[0] for row in batch)
            yield self._hinted([self._named(row) for row in batch])
        if not self._is_full:
            yield from self.removed(without)

    def removed(self, owners: Iterable[int]) -> Iterator[Any]:
        """Yield the removal of the owners' rows."""
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
                "destination_scope": every if self._is_full else own,
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
