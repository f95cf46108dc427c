"""What an operator has set for a database does not change what Masthead does with it.

Limits of time are for others: a load and a migration take as long as they need. The isolation of
transactions is chosen by each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from masthead.loading.load import Options, load
from masthead.store import commits, find_store
from tests.later import knowing
from tests.loading.publisher import SMALL, Publisher
from tests.postgres import name_of
from tests.store.conftest import ON_POSTGRESQL
from tests.store.test_migrations import ADDS_A_COLUMN, ADDS_AN_INDEX, LATER, migrate
from tests.store.test_writers import Beside, waiting_sessions

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.store import Connection

pytestmark = ON_POSTGRESQL

# Far less than what the tests below let somebody wait.
LIMITS = dict.fromkeys(
    ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"), "250ms"
)
CHANGED = {"publications.csv": "publication_id,name\n1,Ebb\n"}
CHANGED_AGAIN = {"publications.csv": "publication_id,name\n1,Flood\n"}


def set_for(url: str, **settings: str) -> None:
    """Set what holds for all sessions of the database that begin from now on."""
    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in settings.items():
            connection.execute(
                sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                    sql.Identifier(name_of(url)), sql.Identifier(name), sql.Literal(value)
                )
            )


def wait_until_it_has_waited_for_long(database: Connection, work: Beside) -> None:
    """Return once a session has waited for a lock for twice the time that the limits allow."""
    while waiting_sessions(database, for_longer_than="500ms") == 0:
        work.assert_that_it_goes_on()


def loading(publisher: Publisher, files: dict[str, str]) -> Beside:
    """Load the files in a thread, by a store that is opened now; it waits for other loads."""
    store, folder = find_store(publisher.url), publisher.write(files)
    waits = Options(waits=True)
    return Beside(lambda: load(store, [folder], account_id=publisher.account_id, options=waits))


def test_a_load_takes_as_long_as_it_needs(publisher: Publisher) -> None:
    """Its statistics wait, and then it waits for the account."""
    set_for(publisher.url, **LIMITS)
    with (
        publisher.store.writer() as onlooker,
        publisher.store.writer() as other,
        publisher.store.writer() as vacuum,
    ):
        with other.transaction():
            other.lock_account(1)
            with vacuum.transaction():
                vacuum.script("LOCK TABLE staged_publications IN SHARE UPDATE EXCLUSIVE MODE")
                loads = loading(publisher, CHANGED)
                wait_until_it_has_waited_for_long(onlooker, loads)
            wait_until_it_has_waited_for_long(onlooker, loads)
        assert loads.result() is None
    assert publisher.table("publications")[0]["name"] == "Ebb"


def test_a_migration_takes_as_long_as_it_needs(publisher: Publisher) -> None:
    """But for the locks that it waits for, which others wait behind."""
    set_for(publisher.url, **LIMITS)
    with knowing(f"SELECT pg_sleep(0.5); {ADDS_A_COLUMN}"):
        assert migrate(publisher.url) == LATER


def test_the_making_of_an_index_takes_as_long_as_it_needs(publisher: Publisher) -> None:
    set_for(publisher.url, **LIMITS)
    with (
        publisher.store.writer() as onlooker,
        publisher.store.writer() as other,
        knowing(ADDS_AN_INDEX),
    ):
        with other.transaction():
            other.change("UPDATE subscribers SET source = 'new'")
            migration = Beside(lambda: migrate(publisher.url))
            wait_until_it_has_waited_for_long(onlooker, migration)
        assert migration.result() is None


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_of_two_loads_of_an_account_that_wait_the_second_one_succeeds_too(
    url: str, tmp_path: Path, isolation: str
) -> None:
    """It sees what the first has written, which it could not in a transaction of that isolation."""
    publisher = Publisher(url, tmp_path)
    publisher.load(SMALL)
    set_for(publisher.url, default_transaction_isolation=isolation)
    with publisher.store.writer() as onlooker, publisher.store.writer() as other:
        with other.transaction():
            other.lock_account(1)
            both = []
            for count, files in enumerate((CHANGED, CHANGED_AGAIN), 1):
                both.append(loading(publisher, files))
                both[-1].wait_until_it_waits(onlooker, count)
        assert [each.result() for each in both] == [None, None]
    assert publisher.table("publications")[0]["name"] in {"Ebb", "Flood"}
    with publisher.store.writer() as database:
        assert commits.position_of(database, 1).is_stamp_awaited is False
    assert publisher.commit_count() == 4
    publisher.store.close()


def test_read_only_transactions_by_default_do_not_prevent_writing(
    publisher: Publisher,
) -> None:
    set_for(publisher.url, default_transaction_read_only="on")
    assert loading(publisher, CHANGED).result() is None
    for sql_ in (ADDS_A_COLUMN, ADDS_AN_INDEX):
        with knowing(sql_):
            assert migrate(publisher.url) == LATER
            with publisher.store.writer() as database:
                database.change("DELETE FROM migrations WHERE number = 2")
    assert publisher.table("publications")[0]["name"] == "Ebb"
