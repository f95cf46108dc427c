"""Publishers to check: each an account of one server on each kind of database."""

from __future__ import annotations

import csv
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead.sample_data.generate import generate
from masthead.store import open_store
from tests.api.conftest import DATA, NO_LIMITS
from tests.mirror.publisher import Publisher
from tests.servers import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store

NAMES = ("small", "large", "empty", "hidden", "golden", "sparse", "aged")
"""The publishers: small ones whose lists show all records, a large one, awkward ones.

Of ``aged`` the subscribers have changed one after the other, in the last six days and at any minute
of an hour.
"""


@pytest.fixture(scope="session")
def publishers(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Publisher]]:
    """The publishers by name."""
    database = store.new_database("checked")
    folder = tmp_path_factory.mktemp("publishers")
    made = {"small": 60, "large": 300}
    for name, count in made.items():
        generate(folder / name, subscribers=count, seed=7)
    sources = {name: folder / name for name in made}
    sources |= dict.fromkeys(("hidden", "aged"), folder / "small")
    sources |= {"golden": DATA / "golden", "sparse": DATA / "sparse"}
    with closing(open_store(database)) as opened, serving(database, *NO_LIMITS) as server:
        found = {}
        for number, name in enumerate(NAMES, 1):
            keys = (f"key-{name}-5ad1", f"login-{name}-9c3e")
            publisher = Publisher(opened, database, server.url, number, folder, *keys)
            publisher.add()
            if name == "hidden":
                publisher.set(hide_password_md5=1)
            if name in sources:
                publisher.load_folder(sources[name])
            found[name] = publisher
        _age(found["aged"])
        yield found


def _age(publisher: Publisher) -> None:
    """Change a subscriber in each load, and let 187 minutes have passed between two loads."""
    with (publisher.folder / "small" / "subscribers.csv").open(newline="") as file:
        subscribers = list(csv.DictReader(file))
    for number, one in enumerate(subscribers[:48], 1):
        publisher.load(subscribers=[{**one, "source": f"source {number}"}])
    with publisher.store.writer() as connection:
        connection.rows(
            """
            UPDATE commits SET visible_at = visible_at - :interval * (
                SELECT max(commit_id) - commits.commit_id FROM commits AS c
                WHERE c.account_id = :account_id
            ) WHERE account_id = :account_id
            """,
            account_id=publisher.account_id,
            interval=187 * 60 * 1_000_000,
        )


@pytest.fixture
def small(publishers: dict[str, Publisher]) -> Publisher:
    """A publisher whose lists show all of its records."""
    return publishers["small"]
