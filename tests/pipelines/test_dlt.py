"""The source for dlt loads the same rows as a mirror of the same service has."""

from __future__ import annotations

import multiprocessing
import os
import signal
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import dlt
import pytest

from masthead.dlt import masthead
from masthead.mirror.tables import ENTITIES
from masthead.store import epochs
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
    # dlt wants a password; the server of the tests asks for none.
    scheme, user, rest = url.replace("@", "://", 1).split("://", 2) if "@" in url else ("", "", "")
    return Loaded(tmp_path, dlt.destinations.postgres(f"{scheme}://{user}:none@{rest}"))


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


def test_a_new_epoch_loads_everything_anew(
    publisher: Publisher,  # noqa: F811
    loaded: Loaded,
    tmp_path: Path,
) -> None:
    """The feed answers 410; what was removed meanwhile is gone too."""
    loaded.update(publisher)
    publisher.remove(subscriptions=[2], purchases=[1], orders=[1, 2])
    epochs.start_epochs(publisher.store)
    loaded.update(publisher)
    same(loaded, publisher, tmp_path)


def until(step: str, loaded: Loaded, source: tuple[str, str, str]) -> None:
    """Run a pipeline that is killed after the step."""
    pipeline = loaded.pipeline()
    pipeline.extract(masthead(*source))
    if step != "extract":
        pipeline.normalize()
    if step == "load":
        pipeline.load()
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("step", ["extract", "normalize", "load"])
def test_a_pipeline_that_is_killed_goes_on_without_loss(
    publisher: Publisher,  # noqa: F811
    loaded: Loaded,
    tmp_path: Path,
    step: str,
) -> None:
    loaded.update(publisher)
    publisher.load(subscribers=[{"subscriber_id": 1, "last_name": "Queen"}])
    publisher.remove(subscriptions=[2], orders=[1])
    source = (publisher.url, publisher.key, publisher.login)
    process = multiprocessing.get_context("spawn").Process(
        target=until, args=(step, loaded, source)
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    loaded.update(publisher)
    loaded.update(publisher)
    same(loaded, publisher, tmp_path)
