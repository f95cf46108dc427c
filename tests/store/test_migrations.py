"""A database is made and brought up to date by itself, and has the columns of the contract."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import ACCOUNTS, TABLES, Table
from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.store import Database, accounts, open_store
from masthead.store.migrations import migrations
from masthead.store.staging import DERIVED

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.store import Store as OpenStore
    from tests.servers import Store

_numbers = itertools.count()
OF_THE_FEED = {
    "subscribers": ["commit_id", "custom_fields_commit_id"],
    **{
        name: ["commit_id"]
        for name in ("addresses", "subscriptions", "orders", "purchases", "list_downloads")
    },
}


@pytest.fixture
def url(store: Store) -> str:
    """A database that does not exist yet."""
    return store.new_database(f"migrations-{next(_numbers)}")


@pytest.fixture
def opened(url: str) -> OpenStore:
    """A fresh database."""
    return open_store(url)


def columns(database: Database, table: str) -> list[tuple[str, str, int]]:
    """Return name, type and place in the key of each column."""
    return [
        (name, type_, place)
        for _, name, type_, _, _, place in database.rows(f'PRAGMA table_info("{table}")')
    ]


@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_a_table_has_the_columns_of_the_contract_under_the_account(
    opened: OpenStore, table: Table
) -> None:
    """design, "The store": every key begins with account_id."""
    expected = [("account_id", "INTEGER"), *((c.name, c.kind.column) for c in table.columns)]
    expected += [(name, "TEXT") for name in DERIVED.get(table.name, {})]
    expected += [(name, "INTEGER") for name in OF_THE_FEED.get(table.name, [])]
    with opened.reader() as database:
        found = columns(database, table.name)
    # A migration adds columns behind the others.
    assert sorted((name, type_) for name, type_, _ in found) == sorted(expected)
    key = [name for name, _, place in sorted(found, key=lambda each: each[2]) if place]
    assert key == ["account_id", *table.key]


def test_accounts_have_the_columns_of_the_contract_a_setting_and_their_epoch(
    opened: OpenStore,
) -> None:
    with opened.reader() as database:
        found = columns(database, "accounts")
    expected = [(column.name, column.kind.column) for column in ACCOUNTS.columns]
    assert [each[:2] for each in found] == [
        *expected,
        ("hide_password_md5", "INTEGER"),
        ("epoch_at", "INTEGER"),
    ]


def test_every_table_is_strict_and_no_other_table_exists(opened: OpenStore) -> None:
    with opened.reader() as database:
        found = {
            name: is_strict
            for schema, name, _, _, _, is_strict in database.rows("PRAGMA table_list")
            if schema == "main" and not name.startswith("sqlite_") and name != "migrations"
        }
    assert set(found) == {"accounts", "commits", *(table.name for table in TABLES)}
    assert all(found.values())


@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_references_are_kept_by_the_database_too_and_inside_the_account(
    opened: OpenStore, table: Table
) -> None:
    with opened.reader() as database:
        keys: dict[int, tuple[str, list[str]]] = {}
        for number, _, target, column, *_ in database.rows(
            f'PRAGMA foreign_key_list("{table.name}")'
        ):
            keys.setdefault(number, (target, []))[1].append(column)
    found = {(target, *columns_) for target, columns_ in keys.values()} - {
        ("accounts", "account_id")
    }
    assert found == {(target, "account_id", column) for column, target in table.references.items()}


def test_every_index_begins_with_the_account(opened: OpenStore) -> None:
    with opened.reader() as database:
        for table in (*(table.name for table in TABLES), "commits"):
            for _, index, *_ in database.rows(f'PRAGMA index_list("{table}")'):
                first_column = database.rows(f'PRAGMA index_info("{index}")')[0][2]
                assert first_column == "account_id", index


def test_a_second_start_applies_nothing_and_keeps_the_data(store: Store, url: str) -> None:
    accounts.add_account(open_store(url), {"account_id": 1})
    with open_store(url).reader() as database:
        assert len(database.rows("SELECT * FROM migrations")) == len(migrations(store.kind))
        assert accounts.get_account(database, 1)


def test_migrations_are_numbered_without_gaps(store: Store) -> None:
    numbers = [migration.number for migration in migrations(store.kind)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_database_of_a_newer_version_is_refused_with_a_sentence(
    url: str, opened: OpenStore
) -> None:
    """decisions, "Migrations"."""
    newest = migrations(opened.dialect)[-1].number
    with opened.writer() as database, database.transaction():
        database.rows("INSERT INTO migrations (number, name) VALUES (99, 'from_the_future')")
    with pytest.raises(MastheadError, match="use a newer version, or another database") as refusal:
        open_store(url)
    assert f"has schema 99, this version of Masthead knows schemas up to {newest}" in str(
        refusal.value
    )


def test_several_processes_may_make_the_database_at_once(url: str) -> None:
    failures: list[BaseException] = []
    barrier = threading.Barrier(6)

    def start(account_id: int) -> None:
        try:
            barrier.wait()
            accounts.add_account(open_store(url), {"account_id": account_id})
        except BaseException as failure:  # noqa: BLE001 - the test's own thread shows it
            failures.append(failure)

    threads = [threading.Thread(target=start, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with open_store(url).reader() as database:
        assert len(accounts.accounts(database)) == 6


@pytest.mark.parametrize("url_", ["", "sqlite", "sqlite:///", "mysql://x", "masthead.db"])
def test_a_url_of_another_kind_is_refused_with_an_example(url_: str) -> None:
    with pytest.raises(BadUsage, match=r"sqlite:///masthead\.db"):
        open_store(url_)


def test_a_database_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}/no/such/folder/x.db")
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}")


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("a shopping list, and no database at all\n" * 100)
    with pytest.raises(StoreUnavailable, match="not a database"):
        open_store(f"sqlite:///{path}")
