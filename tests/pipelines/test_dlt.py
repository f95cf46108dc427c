"""The source for dlt loads the same rows as a mirror of the same service has."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import dlt
import pytest

from masthead.dlt import masthead
from masthead.mirror.tables import ENTITIES
from tests.mirror.conftest import (  # noqa: F401
    database_of_copies,
    new_publisher,
    publisher,
    serve,
)
from tests.mirror.kept import Kept

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mirror.publisher import Publisher


class Loaded:
    """What a pipeline has loaded."""

    def __init__(self, folder: Path, destination: Any) -> None:
        self.folder = folder
        self.destination = destination

    def update(self, publisher: Publisher) -> None:
        self.pipeline().run(masthead(publisher.url, publisher.key, publisher.login))

    def pipeline(self) -> dlt.Pipeline:
        return dlt.pipeline(
            "copy",
            pipelines_dir=str(self.folder / "working"),
            destination=self.destination,
            dataset_name=f"copy_{self.folder.name.replace('-', '_')}"[:60],
        )

    def rows(self, table: Any) -> list[tuple[str, ...]]:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        with self.pipeline().sql_client() as client:
            found = client.execute_sql(f"SELECT {names} FROM {table.name}") or []
        return sorted(tuple(map(comparable, row)) for row in found)


def comparable(value: Any) -> str:
    """The same text for the same value, whichever database it comes from."""
    if value is None:
        return "null"
    if hasattr(value, "isoformat"):
        return str(value)[:19]
    try:
        return str(Decimal(str(int(value) if isinstance(value, bool) else value)).normalize() + 0)
    except ArithmeticError:
        return str(value)


@pytest.fixture(params=["duckdb", "postgres"])
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> Loaded:
    if request.param == "duckdb":
        return Loaded(tmp_path, dlt.destinations.duckdb(str(tmp_path / "copy.duckdb")))
    url = request.getfixturevalue("database_of_copies")
    return Loaded(tmp_path, dlt.destinations.postgres(url))


def same(loaded: Loaded, publisher: Publisher, folder: Path) -> None:
    mirror = Kept(f"sqlite:///{folder / 'mirror.db'}")
    mirror.update(publisher)
    assert mirror.differences(publisher) == []
    for entity in ENTITIES:
        for table in entity.tables:
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            found = mirror.ask(f"SELECT {names} FROM {table.name}")
            expected = sorted(tuple(map(comparable, row)) for row in found)
            assert loaded.rows(table) == expected, table.name


def test_changes_and_deletions_give_the_rows_of_a_mirror(
    publisher: Publisher,  # noqa: F811
    loaded: Loaded,
    tmp_path: Path,
) -> None:
    loaded.update(publisher)
    same(loaded, publisher, tmp_path)
    publisher.load(subscribers=[{"subscriber_id": 1, "last_name": "Queen"}])
    loaded.update(publisher)
    same(loaded, publisher, tmp_path)
    publisher.remove(subscriptions=[2], purchases=[1], orders=[1])
    loaded.update(publisher)
    same(loaded, publisher, tmp_path)
    loaded.update(publisher)
    same(loaded, publisher, tmp_path)
