"""The source for dlt loads the same rows as a mirror of the same service has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dlt
import pytest

from masthead.dlt import masthead
from masthead.store import epochs
from tests.pipelines.expected import check, columns_of
from tests.postgres import unique

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from masthead.mirror.tables import Table
    from tests.mirror.kept import Row, Source
    from tests.mirror.publisher import Publisher


class Loaded:
    """What a pipeline has loaded."""

    def __init__(self, folder: Path, destination: str, address: str) -> None:
        self.folder = folder
        self.destination = destination
        self.address = address
        self.name = unique("loaded")

    def pipeline(self) -> dlt.Pipeline:
        kind: Any = getattr(dlt.destinations, self.destination)
        return dlt.pipeline(
            self.name,
            pipelines_dir=str(self.folder / "working"),
            destination=kind(self.address),
            dataset_name=self.name,
        )

    def update(self, source: Source) -> None:
        self.pipeline().run(masthead(source.url, source.key, source.login, patience_s=0))

    def rows(self, table: Table) -> list[Row]:
        with self.pipeline().sql_client() as client:
            found = client.execute_sql(f"SELECT {columns_of(table)} FROM {table.name}") or []
        return [tuple(row) for row in found]

    def check(self, source: Source) -> None:
        check(source, self.folder, self.rows)


@pytest.fixture(params=["duckdb", "postgres"])
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> Loaded:
    if request.param == "duckdb":
        return Loaded(tmp_path, "duckdb", str(tmp_path / "loaded.duckdb"))
    # dlt wants a password; the server of the tests asks for none.
    url: str = request.getfixturevalue("database_of_copies")
    scheme, _, rest = url.partition("://")
    user, _, place = rest.partition("@")
    return Loaded(tmp_path, "postgres", f"{scheme}://{user}:none@{place}")


def test_changes_and_deletions_give_the_rows_of_a_mirror(
    publisher: Publisher, loaded: Loaded
) -> None:
    loaded.update(publisher)
    loaded.check(publisher)
    publisher.load(subscribers=[{"subscriber_id": 1, "last_name": "Queen"}])
    loaded.update(publisher)
    loaded.check(publisher)
    publisher.remove(subscriptions=[2], purchases=[1], orders=[1])
    loaded.update(publisher)
    loaded.check(publisher)
    loaded.update(publisher)
    loaded.check(publisher)


def test_a_new_epoch_loads_everything_anew(publisher: Publisher, loaded: Loaded) -> None:
    """The feed answers 410; what was removed meanwhile is gone too."""
    loaded.update(publisher)
    publisher.remove(subscriptions=[2], purchases=[1], orders=[1, 2])
    epochs.start_epochs(publisher.store)
    loaded.update(publisher)
    loaded.check(publisher)


def test_full_records(golden: Publisher, sparse: Publisher, loaded: Loaded) -> None:
    loaded.update(golden)
    loaded.check(golden)
