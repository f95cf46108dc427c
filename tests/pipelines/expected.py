"""What a pipeline must have loaded: the rows of a mirror, and the records of the digest."""

from __future__ import annotations

from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from masthead import Client
from masthead.contract.kinds import DecimalText, Number
from masthead.mirror import amounts, open_copy
from masthead.mirror.records import digest_of
from masthead.mirror.tables import ENTITIES, TABLES, Table, number_as_text
from tests.mirror.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mirror.kept import Row, Source


def columns_of(table: Table) -> str:
    """The columns of a table in the mirror's DuckDB and in what a pipeline loads, for a SELECT."""
    names = [column.name for column in table.columns]
    return ", ".join(f'"{name}"' for name in names + amounts.added_columns(table.columns))


def rows_of_a_mirror(source: Source, folder: Path) -> dict[str, list[Row]]:
    """The rows of a new mirror in DuckDB, which are the service's by its digest."""
    mirror = Kept(f"duckdb:///{folder / 'mirror.duckdb'}")
    mirror.path.unlink(missing_ok=True)
    mirror.update(source)
    assert mirror.differences(source) == []
    queries = [f"SELECT {columns_of(t)} FROM {t.name}" for t in TABLES]
    found = mirror.ask_all(*queries)
    return {t.name: sorted(rows, key=repr) for t, rows in zip(TABLES, found, strict=True)}


def check(source: Source, folder: Path, rows_in: Callable[[Table], list[Row]]) -> None:
    """Fail unless rows are those of a mirror, value for value and type for type."""
    loaded = {table.name: sorted(rows_in(table), key=repr) for table in TABLES}
    expected = rows_of_a_mirror(source, folder)
    for table in TABLES:
        assert loaded[table.name] == expected[table.name], table.name
        assert _types(loaded[table.name]) == _types(expected[table.name]), table.name
    check_digest(source, folder, loaded)


def check_digest(source: Source, folder: Path, loaded: dict[str, list[Row]]) -> None:
    """Fail unless the digest of the rows, as records of the interface, is the service's."""
    copy_file = folder / "loaded.db"
    copy_file.unlink(missing_ok=True)
    with (
        closing(open_copy(f"sqlite:///{copy_file}")) as copy,
        Client(source.url, source.key, source.login) as client,
    ):
        with copy.writing():
            for table in TABLES:
                copy.put(table, None, [_of_wire(table, row) for row in loaded[table.name]])
        theirs = client.digest()
        for entity in ENTITIES:
            own = digest_of(copy, entity, lambda _count: None)
            assert (own.count, own.hex()) == tuple(theirs[entity.name]), entity.name


def _types(rows: list[Row]) -> list[tuple[type, ...]]:
    return [tuple(map(type, row)) for row in rows]


def _of_wire(table: Table, row: Row) -> Row:
    """The row of a mirror in SQLite."""
    places = dict(zip(amounts.added_columns(table.columns), row[len(table.columns) :], strict=True))
    values: list[Any] = []
    for column, value in zip(table.columns, row, strict=False):
        kept = value
        match value:
            case Decimal() if isinstance(column.kind, Number):
                kept = number_as_text(value)
            case Decimal():
                assert isinstance(column.kind, DecimalText)
                kept = f"{value:.{places[f'{column.name}_decimals']}f}"
            case datetime():
                kept = value.isoformat(" ")
            case date():
                kept = value.isoformat()
            case bool():
                kept = int(value)
        values.append(kept)
    return tuple(values)
