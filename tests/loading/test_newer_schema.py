"""A load or a removal that waits while a later version migrates the database is refused."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import StoreUnavailable
from masthead.loading.load import load
from masthead.store import find_store, loads
from masthead.store.account_removal import remove_account
from masthead.store.removing import remove_records
from tests.later import knowing
from tests.loading.publisher import SMALL, Publisher

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store


MORE = "CREATE TABLE later (n BIGINT)"


@pytest.fixture
def old(store: Store, tmp_path: Path) -> Iterator[Publisher]:
    """The small publisher in a database of its own, which this version has open."""
    publisher = Publisher(store.new_database("newer"), tmp_path)
    with closing(publisher.store):
        publisher.load(SMALL)
        yield publisher


def migrate(publisher: Publisher) -> None:
    with knowing(MORE), closing(find_store(publisher.url)) as later:
        later.migrate()


def open_as_later(publisher: Publisher) -> None:
    """Open the migrated database as the version that has migrated it."""
    with knowing(MORE):
        publisher.store.open()
        publisher.store.check()


def test_a_load_that_began_before_a_migration_changes_nothing_after_it(old: Publisher) -> None:
    """rules, "Who changes a schema"."""
    folder = old.write({"publications.csv": "publication_id,name\n3,Spring\n"})
    before = old.everything()
    with pytest.raises(StoreUnavailable, match="from schema 1 to 2 while it was open"):
        load(
            old.store,
            [folder],
            account_id=old.account_id,
            advance=lambda _file, _done: migrate(old),
        )
    open_as_later(old)
    assert old.everything() == before
    *_, last = loads.loads(old.store, old.account_id)
    assert "from schema 1 to 2" in str(last.reason)


def test_a_removal_that_began_before_a_migration_changes_nothing_after_it(old: Publisher) -> None:
    """rules, "Who changes a schema": a removal waits for the loads of its account."""
    before = old.everything()
    migrate(old)
    with pytest.raises(StoreUnavailable, match="from schema 1 to 2"):
        remove_records(old.store, old.account_id, TABLES_BY_NAME["purchases"], [(1,)])
    with pytest.raises(StoreUnavailable, match="from schema 1 to 2"):
        remove_account(old.store, old.account_id)
    open_as_later(old)
    assert old.everything() == before
