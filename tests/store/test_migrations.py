"""A database is made, brought up to date, or refused.

The first writer makes a file. No schema is changed but by `migrate`, which is what
`masthead database migrate` does, and `masthead serve` with a file; on a server, while others answer
from it. There is one migration so far; what comes later is made up here.
"""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import psycopg
import pytest

from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.store import accounts, find_store, open_store, postgresql
from masthead.store.migrations import Migration, migrations
from tests.later import knowing
from tests.long import ONE_SERVER
from tests.servers import as_server
from tests.store.catalogue import columns, indexes, tables
from tests.store.conftest import ON_POSTGRESQL, ON_SQLITE, opening
from tests.store.test_writers import Beside

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.store import Connection
    from masthead.store import Store as OpenStore
    from masthead.store.database import Dialect
    from tests.servers import Store

pytestmark = ONE_SERVER

DIALECTS: tuple[Dialect, ...] = ("sqlite", "postgresql")
FIRST = ["0001 start"]
LATER = ["0002 later"]

# Migrations of later versions.
ADDS_A_COLUMN = "ALTER TABLE subscribers ADD COLUMN note TEXT;"
LATER_CHECKSUM = Migration(2, "later", ADDS_A_COLUMN).checksum
ADDS_TWO_COLUMNS = f"{ADDS_A_COLUMN} ALTER TABLE purchases ADD COLUMN note TEXT;"
ADDS_A_TABLE_AND_A_COLUMN = f"CREATE TABLE half_done (n BIGINT); {ADDS_A_COLUMN}"
IS_BROKEN = "CREATE TABLE half_done (n BIGINT); Nonsense"
INDEX = "subscribers_by_removed_at"
ADDS_AN_INDEX = f"""-- By it the removed are found.
DROP INDEX CONCURRENTLY IF EXISTS {INDEX};
CREATE INDEX CONCURRENTLY {INDEX} ON subscribers (account_id, removed_at);
"""


def migrate(url: str) -> list[str]:
    """Do what `masthead database migrate` does; return the titles that it shows."""
    store = find_store(url)
    try:
        return [migration.title for migration in store.migrate()]
    finally:
        store.close()


def numbers(database: Connection) -> list[int]:
    """Return the migrations that the database says it has had."""
    return [number for (number,) in database.rows("SELECT number FROM migrations ORDER BY number")]


def content(database: Connection) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows of all tables."""
    return {
        table: sorted(database.rows(f"SELECT * FROM {table}"), key=repr)
        for table in tables(database)
    }


def has_note(database: Connection, table: str = "subscribers") -> bool:
    return "note" in {column.name for column in columns(database, table)}


# Making one


def test_migrations_make_a_database_once(empty_url: str) -> None:
    """rules, "Migrations"; each is named when it is applied."""
    assert migrate(empty_url) == FIRST
    assert migrate(empty_url) == []
    with opening(empty_url) as opened:
        accounts.add_account(opened, {"account_id": 1})
        with opened.writer() as database:
            assert numbers(database) == [1]


@ON_SQLITE
def test_a_file_is_made_by_opening_it(empty_url: str) -> None:
    with opening(empty_url) as opened, opened.writer() as database:
        assert numbers(database) == [1]
        assert accounts.accounts(database) == []


@ON_POSTGRESQL
@pytest.mark.parametrize("as_whom", [str, as_server])
def test_a_database_on_a_server_is_not_made_by_opening_it(
    store: Store, as_whom: Callable[[str], str]
) -> None:
    """Nor by a server that starts: the sentence says what makes it, and nothing is changed."""
    assert store.postgres is not None
    url = store.empty_database("not-made")
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            name = connection.info.dbname
            connection.execute(f'CREATE ROLE "{name}_server" LOGIN'.encode())
        with pytest.raises(MastheadError) as refusal:
            open_store(as_whom(url))
        assert str(refusal.value) == (
            "the database has no tables yet: migrate it as the user who owns it first"
        )
        with find_store(url).writer() as database:
            assert tables(database) == set()
    finally:
        store.drop_database(url)


def test_a_second_start_applies_nothing_and_keeps_the_data(url: str) -> None:
    with opening(url) as opened:
        accounts.add_account(opened, {"account_id": 1})
    with opening(url) as opened, opened.writer() as database:
        assert numbers(database) == [1]
        assert accounts.get_account(database, 1)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_migrations_are_numbered_without_gaps(dialect: Dialect) -> None:
    known = [migration.number for migration in migrations(dialect)]
    assert known == list(range(1, len(known) + 1))


def start_six(work: Callable[[int], object]) -> list[BaseException]:
    """Let six threads do the work at once; return what any of them raised."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(6)

    def start(number: int) -> None:
        try:
            barrier.wait()
            work(number)
        except BaseException as failure:  # noqa: BLE001 - the test's own thread shows it
            failures.append(failure)

    threads = [threading.Thread(target=start, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_several_processes_may_make_the_database_at_once(empty_url: str) -> None:
    def start(account_id: int) -> None:
        migrate(empty_url)
        with opening(empty_url) as opened:
            accounts.add_account(opened, {"account_id": account_id})

    assert not start_six(start)
    with opening(empty_url) as opened, opened.writer() as database:
        assert len(accounts.accounts(database)) == 6
        assert numbers(database) == [1]


# Bringing one up to date


def test_a_database_of_an_earlier_version_gets_what_it_lacks_and_keeps_its_data(
    opened: OpenStore, url: str
) -> None:
    """rules, "Migrations"."""
    with opened.writer() as database:
        before = content(database)
        with knowing(ADDS_A_COLUMN):
            assert migrate(url) == LATER
            assert migrate(url) == []
            with opening(url) as later, later.reader() as reader:
                assert has_note(reader)
        after = content(database)
        assert numbers(database) == [1, 2]
    assert after.pop("migrations") == [*before.pop("migrations"), (2, "later", LATER_CHECKSUM)]
    assert after == before


def test_a_database_is_not_brought_up_to_date_by_opening_it(opened: OpenStore, url: str) -> None:
    """rules, "Who changes a schema": the sentence says what does."""
    owner = " as the user who owns it" if opened.dialect == "postgresql" else ""
    with knowing(ADDS_A_COLUMN):
        for whose in {url, as_server(url)}:
            with pytest.raises(MastheadError) as refusal:
                open_store(whose)
            assert str(refusal.value) == (
                "the database has schema 1, this version of Masthead needs schema 2: make a "
                f"backup, then migrate it{owner}"
            )
    with opened.writer() as database:
        assert not has_note(database)
        assert numbers(database) == [1]


def test_a_file_is_brought_up_to_date_by_a_server_and_a_database_on_a_server_is_not(
    opened: OpenStore, url: str
) -> None:
    """rules, "Who changes a schema"."""
    with knowing(ADDS_A_COLUMN), closing(find_store(as_server(url))) as served:
        if opened.dialect == "postgresql":
            with pytest.raises(MastheadError, match="migrate it as the user"):
                served.open_to_serve()
        else:
            assert [migration.title for migration in served.open_to_serve()] == LATER
            assert served.open_to_serve() == []
    with opened.writer() as database:
        assert has_note(database) == (opened.dialect == "sqlite")


@ON_SQLITE
def test_an_empty_file_is_not_a_database_yet(empty_url: str) -> None:
    with closing(find_store(empty_url)) as found:
        path = Path(empty_url.removeprefix("sqlite:///"))
        assert not found.exists()
        path.touch()
        assert not found.exists()
        found.open()
        assert found.exists()


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(opened: OpenStore, url: str) -> None:
    """rules, "Migrations": in one transaction."""
    with opened.writer() as database:
        before = content(database)
        with knowing(IS_BROKEN), pytest.raises((apsw.SQLError, psycopg.errors.SyntaxError)):
            migrate(url)
        assert content(database) == before
        assert migrate(url) == []


def test_several_processes_may_bring_the_database_up_to_date_at_once(
    opened: OpenStore, url: str
) -> None:
    applied: list[str] = []
    with knowing(ADDS_A_COLUMN):
        assert not start_six(lambda _: applied.extend(migrate(url)))
    assert applied == LATER
    with opened.writer() as database:
        assert numbers(database) == [1, 2]


@pytest.mark.parametrize("how", [open_store, migrate])
def test_a_database_of_a_newer_version_is_refused_with_a_sentence(
    opened: OpenStore, url: str, how: Callable[[str], object]
) -> None:
    """rules, "Migrations"."""
    with opened.writer() as database:
        database.change("INSERT INTO migrations VALUES (99, 'from_the_future', '')")
        newest = migrations(opened.dialect)[-1].number
        before = content(database)
        with pytest.raises(
            MastheadError, match="use a newer version, or another database"
        ) as refusal:
            how(url)
        assert f"has schema 99, this version of Masthead knows schemas up to {newest}" in str(
            refusal.value
        )
        assert content(database) == before


# Beside others, on a server


@ON_POSTGRESQL
def test_a_migration_gives_up_a_lock_that_it_does_not_get_at_once_and_tries_again(
    opened: OpenStore, url: str
) -> None:
    """Who reads stands behind it, and is answered all the same while somebody has the lock."""
    with (
        opening(as_server(url)) as served,
        opened.writer() as onlooker,
        opened.writer() as load,
        knowing(ADDS_A_COLUMN),
    ):
        with load.transaction():
            load.change("UPDATE subscribers SET email = 'new'")
            migration = Beside(lambda: migrate(url))
            for _ in range(2):
                migration.wait_until_it_waits(onlooker)
                with served.reader() as database:
                    database.set_tenant(1)
                    assert database.rows("SELECT count(*) FROM subscribers") == [(0,)]
            assert not has_note(onlooker)
        assert migration.result() is None
        assert has_note(onlooker)
        assert numbers(onlooker) == [1, 2]


@ON_POSTGRESQL
def test_a_migration_waits_for_a_load_and_neither_fails(opened: OpenStore, url: str) -> None:
    """rules, "Migrations": each has a table that the other wants."""
    with opened.writer() as onlooker, opened.writer() as load, knowing(ADDS_TWO_COLUMNS):
        with load.transaction():
            load.lock_account(1)
            load.change("UPDATE purchases SET name = 'new'")
            migration = Beside(lambda: migrate(url))
            migration.wait_until_it_waits(onlooker)
            load.change("UPDATE subscribers SET email = 'new'")
            load.change("UPDATE orders SET import_name = 'new'")
        assert migration.result() is None
        assert has_note(onlooker, "subscribers")
        assert has_note(onlooker, "purchases")


@ON_POSTGRESQL
def test_a_migration_that_never_gets_its_locks_changes_nothing_and_says_when_to_run_it(
    opened: OpenStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_MIGRATION_LOCK_TIMEOUT", "10ms")
    monkeypatch.setattr(postgresql, "_MIGRATION_LOCKS_S_MAX", 0)
    with opened.writer() as onlooker, opened.writer() as backup, knowing(ADDS_A_TABLE_AND_A_COLUMN):
        before = content(onlooker)
        with backup.transaction():
            backup.script("LOCK TABLE subscribers IN ACCESS SHARE MODE")
            with pytest.raises(MastheadError) as refusal:
                migrate(url)
        assert str(refusal.value) == (
            "migration 0002 later could not lock the tables that it changes for 0 seconds; nothing "
            "was changed: run it again when no load and no backup runs"
        )
        assert content(onlooker) == before
        assert not has_note(onlooker)
        assert migrate(url) == LATER
        assert has_note(onlooker)


@ON_POSTGRESQL
def test_an_index_is_made_outside_a_transaction_while_others_write(
    opened: OpenStore, url: str
) -> None:
    """Within one, PostgreSQL refuses to make it that way."""
    with opened.writer() as onlooker, opened.writer() as load, knowing(ADDS_AN_INDEX):
        with load.transaction():
            load.lock_account(1)
            load.change("UPDATE subscribers SET email = 'new'")
            migration = Beside(lambda: migrate(url))
            migration.wait_until_it_waits(onlooker)
            with opened.writer(waits=False) as other, other.transaction():
                other.lock_account(2)
                other.change("UPDATE subscribers SET email = 'new'")
        assert migration.result() is None
        assert is_valid(onlooker)
        assert numbers(onlooker) == [1, 2]


def is_valid(database: Connection) -> bool | None:
    """Return whether the index is complete, None if there is none."""
    found = database.rows(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)", name=INDEX
    )
    return bool(found[0][0]) if found else None


@ON_POSTGRESQL
def test_an_index_whose_making_was_interrupted_is_made_by_the_next_migration(
    opened: OpenStore, url: str
) -> None:
    """rules, "Migrations": what is run outside a transaction may be run again."""
    with opened.writer() as onlooker, opened.writer() as load, knowing(ADDS_AN_INDEX):
        with load.transaction():
            load.change("UPDATE subscribers SET email = 'new'")
            migration = Beside(lambda: migrate(url))
            migration.wait_until_it_waits(onlooker)
            ended = onlooker.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%'"
            )
            assert ended == [(True,)]
            assert isinstance(migration.result(), StoreUnavailable)
        assert is_valid(onlooker) is False
        assert numbers(onlooker) == [1]
        with pytest.raises(MastheadError, match="then migrate it"):
            open_store(url)
        assert migrate(url) == LATER
        assert is_valid(onlooker)
        assert indexes(onlooker, "subscribers")[INDEX].columns == ("account_id", "removed_at")


@ON_POSTGRESQL
def test_an_index_is_made_by_one_of_several_that_migrate_at_once(
    opened: OpenStore, url: str
) -> None:
    """It would wait for the others, did they wait for it in a statement."""
    applied: list[str] = []
    with knowing(ADDS_AN_INDEX):
        assert not start_six(lambda _: applied.extend(migrate(url)))
    assert applied == LATER
    with opened.writer() as database:
        assert is_valid(database)


# What cannot be opened


@pytest.mark.parametrize("url_", ["", "sqlite", "sqlite:///", "mysql://x", "masthead.db"])
def test_a_url_of_another_kind_is_refused_with_examples(url_: str) -> None:
    with pytest.raises(BadUsage, match=r"sqlite:///masthead\.db.*postgresql://user@host/name"):
        open_store(url_)


def test_a_file_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}/no/such/folder/x.db")
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}")


def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("a shopping list, and no database at all\n" * 100)
    with pytest.raises(StoreUnavailable, match="not a database"):
        open_store(f"sqlite:///{path}")


@ON_POSTGRESQL
def test_a_server_that_does_not_have_the_database_says_so(store: Store) -> None:
    assert store.postgres is not None
    with pytest.raises(StoreUnavailable, match=r"cannot be opened: .*no-such.* does not exist"):
        open_store(store.postgres.url("masthead-no-such"))


def test_a_server_that_does_not_answer_is_named() -> None:
    """No server listens on port 1."""
    with pytest.raises(StoreUnavailable, match=r"cannot be opened: .*127\.0\.0\.1.*port 1"):
        open_store("postgresql://masthead@127.0.0.1:1/masthead")


def test_only_a_database_on_a_server_has_a_replica(tmp_path: Path) -> None:
    """The replica is on a server too."""
    file = f"sqlite:///{tmp_path}/x.db"
    with pytest.raises(BadUsage, match="only a PostgreSQL database has a replica"):
        open_store(file, read_url="postgresql://masthead@127.0.0.1:1/masthead")
    with pytest.raises(BadUsage, match="named as postgresql://host/name"):
        open_store("postgresql://masthead@127.0.0.1:1/masthead", read_url=file)
    assert not list(tmp_path.iterdir())
