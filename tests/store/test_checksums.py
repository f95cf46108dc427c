"""A database that another migration has made is refused (rules, "Checksums of migrations")."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead.errors import MastheadError, StoreUnavailable
from masthead.store import find_store, open_store
from masthead.store.migrations import Migration, status
from tests.long import ONE_SERVER
from tests.servers import as_server
from tests.store.conftest import ON_SQLITE
from tests.store.test_migrations import content, migrate

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.store import Store as OpenStore

pytestmark = ONE_SERVER


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE migrations SET checksum = 'another'",
        "ALTER TABLE migrations DROP COLUMN checksum",
    ],
)
def test_a_database_that_another_migration_made_is_refused(
    opened: OpenStore, url: str, change: str
) -> None:
    """rules, "Checksums of migrations": also one from before there were any."""

    def show_status() -> object:
        with opened.writer() as database:
            return status(database)

    with opened.writer() as database:
        database.script(change)
        before = content(database)
    asked: list[Callable[[], object]] = [
        show_status,
        lambda: open_store(url),
        lambda: open_store(as_server(url)),
        lambda: find_store(url).open_to_serve(),
        lambda: migrate(url),
    ]
    for ask in asked:
        with pytest.raises(MastheadError) as refusal:
            ask()
        assert str(refusal.value) == (
            "the tables of the database were made by another migration 0001 start than that of "
            "this version of Masthead, which cannot use them: export the accounts and their "
            "data with the version that made them, then import the files into a new database with "
            "this one"
        )
    with opened.writer() as database:
        assert content(database) == before


def test_line_ends_do_not_make_another_migration() -> None:
    first, second = (Migration(1, "start", sql) for sql in ("a;\nb;\n", "a;\r\nb;\r\n"))
    assert first.checksum == second.checksum != Migration(1, "start", "a;\nc;\n").checksum


@ON_SQLITE
def test_a_file_of_counters_that_another_version_made_is_refused(
    opened: OpenStore, url: str
) -> None:
    """rules, "Checksums of migrations"."""
    with opened.counters() as counters:
        counters.script("PRAGMA user_version = 0; ALTER TABLE credential_uses DROP COLUMN used_at")
    with closing(find_store(url)) as other:
        for ask in (other.open_to_serve, lambda: other.counters().__enter__()):
            with pytest.raises(StoreUnavailable, match="-logins were made by another version"):
                ask()
