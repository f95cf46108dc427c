"""Who has a database open notices that a later version has migrated it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead.errors import StoreUnavailable
from masthead.store import find_store, interface_queries
from tests.later import knowing
from tests.long import ONE_SERVER
from tests.servers import as_server
from tests.store.conftest import opening
from tests.store.test_migrations import ADDS_A_COLUMN, has_note, migrate

if TYPE_CHECKING:
    from masthead.store import Store as OpenStore

pytestmark = ONE_SERVER


def test_who_has_a_database_open_notices_that_its_schema_is_newer(
    opened: OpenStore, url: str
) -> None:
    """rules, "A server of an earlier version": no reader is given from then on."""
    with opening(as_server(url)) as served:
        served.check()
        with served.reader() as database:
            served.check_schema(database)
        with knowing(ADDS_A_COLUMN):
            migrate(url)
        with served.reader() as database:  # before it is noticed
            database.set_tenant(1)
            assert interface_queries.search_subscribers(database, 1, {}, after=0, limit=9) == []
        for _ in range(2):
            with pytest.raises(StoreUnavailable) as refusal:
                served.check()
            assert str(refusal.value) == (
                "the database was migrated from schema 1 to 2 while it was open: start the version "
                "of Masthead that migrated it in place of this one"
            )
            with pytest.raises(StoreUnavailable, match="from schema 1 to 2"), served.reader():
                pass


def test_a_reader_notices_a_newer_schema_by_itself(opened: OpenStore, url: str) -> None:
    """rules, "A server of an earlier version": with the connection that it has."""
    with opening(as_server(url)) as served, served.reader() as database:
        with knowing(ADDS_A_COLUMN):
            migrate(url)
        with pytest.raises(StoreUnavailable, match="from schema 1 to 2"):
            served.check_schema(database)
        with pytest.raises(StoreUnavailable, match="from schema 1 to 2"), served.reader():
            pass


def test_who_has_migrated_has_the_newest_schema(url: str) -> None:
    """rules, "A server of an earlier version": not it."""
    with opening(url), knowing(ADDS_A_COLUMN), closing(find_store(url)) as later:
        later.migrate()
        later.open()
        later.check()
        with later.reader() as database:
            assert has_note(database)
