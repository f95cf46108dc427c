"""A database is made by itself, brought up to date from any earlier version, or refused."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import apsw
import psycopg
import pytest

from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.store import accounts, commits, keys, open_store, reading
from masthead.store import migrations as of_the_store
from masthead.store.migrations import SEALED_SINCE, Migration, migrations
from tests.store.catalogue import tables
from tests.store.conftest import ON_POSTGRESQL, START_US, new_url, opening
from tests.store.test_writers import Beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from masthead.store import Connection
    from masthead.store import Store as OpenStore
    from masthead.store.database import Dialect
    from tests.servers import Store
    from tests.store.conftest import Clock

DIALECTS: tuple[Dialect, ...] = ("sqlite", "postgresql")
EARLIER = [migration.number for migration in migrations("sqlite")][:-1]
each_earlier = pytest.mark.parametrize("number", EARLIER)

# Rows of two accounts in the words of the first version, and of any later one.
OF_AN_EARLIER_VERSION = f"""
    INSERT INTO accounts (account_id, company_name, api_key, api_login) VALUES
        (1, 'Tide & Co', 'Key-1', 'Login-1'), (2, NULL, NULL, NULL);
    INSERT INTO commits (account_id, commit_id, visible_at) VALUES
        (1, 1, {START_US - 9}), (1, 2, NULL), (2, 1, {START_US - 7});
    INSERT INTO publications (account_id, publication_id, name) VALUES (1, 1, 'Tide');
    INSERT INTO issues (account_id, issue_id, publication_id, date) VALUES (1, 1, 1, '2026-03-01');
    INSERT INTO subscribers (account_id, subscriber_id, renewal_code, email, source, first_name,
        first_name_folded, commit_id, custom_fields_commit_id) VALUES
        (1, 1, 'AbC-1', 'Ada@Example.ORG', 'Spring Fair', 'Straße', 'strasse', 1, 1),
        (1, 2, 'ÄbC-2', 'BÉN@EXAMPLE.org', 'WEB', NULL, NULL, 2, 1),
        (1, 3, NULL, NULL, NULL, NULL, NULL, 1, 1),
        (2, 1, 'ABC-1', 'ada@example.org', 'web', NULL, NULL, 1, 1);
    INSERT INTO addresses (account_id, address_id, subscriber_id, zip_code, commit_id) VALUES
        (1, 1, 1, '97301', 1);
    INSERT INTO subscriptions (account_id, subscription_id, subscriber_id, publication_id,
        mailing_address_id, issues, type, commit_id) VALUES (1, 1, 1, 1, 1, -1, 'Print', 1);
    INSERT INTO subscription_issues (account_id, subscription_id, issue_id) VALUES (1, 1, 1);
    INSERT INTO custom_fields (account_id, field_id, type) VALUES (1, 1, 'checkbox');
    INSERT INTO custom_field_options (account_id, option_id, field_id, "order") VALUES (1, 7, 1, 1);
    INSERT INTO custom_field_answers (account_id, subscriber_id, field_id, option_ids) VALUES
        (1, 1, 1, '7');
    INSERT INTO orders (account_id, order_id, subscriber_id, grand_total, commit_id) VALUES
        (1, 1, 1, '10.50', 1);
    INSERT INTO order_items (account_id, order_item_id, order_id, bundle_id) VALUES (1, 1, 1, 7);
    INSERT INTO purchases (account_id, purchase_id, subscriber_id, total, commit_id) VALUES
        (1, 1, 1, '10.50', 1);
    INSERT INTO list_downloads (account_id, mailing_list_id, commit_id) VALUES (1, 1, 1);
    INSERT INTO mailing_list_entries (account_id, mailing_list_id, subscription_id) VALUES
        (1, 1, 1);
    """
EPOCH_US = START_US - 5


Content = dict[str, list[tuple[object, ...]]]


@contextmanager
def knowing(known: Callable[[list[Migration]], list[Migration]]) -> Iterator[None]:
    """Let Masthead know other migrations than it does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_the_store, "migrations", lambda dialect: known(migrations(dialect)))
        yield


def make_earlier(url: str, number: int) -> Content:
    """Make a database as the version did whose last migration had that number, and fill it."""
    with (
        knowing(lambda all_: all_[:number]),
        opening(url) as opened,
        opened.writer() as database,
    ):
        with database.transaction():
            database.script(OF_AN_EARLIER_VERSION)
            if number >= SEALED_SINCE:
                database.script("DELETE FROM secret_key")
                of_the_store._seal_secrets(database)
            if number >= 2:
                database.script(f"UPDATE accounts SET epoch_at = {EPOCH_US} WHERE account_id = 1")
            if number >= 7:
                database.script("INSERT INTO subscription_kinds VALUES (1, 1, NULL, 1, NULL, 0)")
            if number >= 4 and database.dialect == "postgresql":
                database.script("INSERT INTO login_failures VALUES (1, 'a', 'b', 1)")
            if number >= SEALED_SINCE and database.dialect == "postgresql":
                database.script("INSERT INTO key_uses VALUES (1, 'a', 1)")
            if number >= 6:
                database.script(
                    """
                    INSERT INTO erasures (account_id, subscriber_id) VALUES (1, 3);
                    INSERT INTO audit (at, user_name, command, summary) VALUES (1, 'a', 'b', 'c');
                    """
                )
        return content(database)


def content(database: Connection) -> Content:
    """Return all rows of all tables."""
    return {
        table: sorted(
            database.rows(f"SELECT * FROM {table}"),
            key=lambda row: [str(value) for value in row[:2]],
        )
        for table in tables(database)
    }


def without_pair(account: tuple[object, ...]) -> tuple[object, ...]:
    """Return the row of an account without its api_key and api_login, which are sealed later."""
    return (*account[:6], *account[8:])


def pair_of(database: Connection, account_id: int) -> tuple[object, object]:
    """Return the api_key and api_login of an account, in clear."""
    found = accounts.settings_of(database, account_id)
    return found["api_key"], found["api_login"]


def numbers(database: Connection) -> list[int]:
    """Return the migrations that the database says it has had."""
    return [number for (number,) in database.rows("SELECT number FROM migrations ORDER BY number")]


class Upgraded(NamedTuple):
    """A database of an earlier version, opened by this one: what it held, and what it is now."""

    number: int
    before: Content
    store: OpenStore


@pytest.fixture(scope="module", params=EARLIER)
def upgraded(request: pytest.FixtureRequest, store: Store) -> Iterator[Upgraded]:
    """A database of each earlier version in turn."""
    with new_url(store) as url:
        before = make_earlier(url, request.param)
        with opening(url) as opened:
            yield Upgraded(request.param, before, opened)


def test_a_database_of_an_earlier_version_keeps_its_data(upgraded: Upgraded) -> None:
    """decisions, "Migrations"; a later version's columns stand behind those that there were."""
    with upgraded.store.writer() as database:
        after = content(database)
        assert numbers(database) == list(range(1, len(migrations(database.dialect)) + 1))
        epochs = database.rows("SELECT account_id, epoch_at FROM accounts ORDER BY account_id")
        assert pair_of(database, 1) == ("Key-1", "Login-1")
        assert pair_of(database, 2) == (None, None)
    for content_ in (upgraded.before, after):
        content_["accounts"] = [without_pair(row) for row in content_["accounts"]]
    assert epochs == [(1, EPOCH_US if upgraded.number >= 2 else None), (2, None)]
    for table, rows in upgraded.before.items():
        assert rows, table
        width = len(rows[0])
        assert [row[:width] for row in after[table][: len(rows)]] == rows, table
        assert table == "migrations" or len(after[table]) == len(rows)


def test_a_database_of_an_earlier_version_gets_its_texts_in_lower_case(upgraded: Upgraded) -> None:
    """decisions, "Subscriber search": of ASCII alone."""
    with upgraded.store.writer() as database:
        found = database.rows(
            """
            SELECT renewal_code_lower, email_lower, source_lower FROM subscribers
            WHERE account_id = 1 ORDER BY subscriber_id
            """
        )
    assert found == [
        ("abc-1", "ada@example.org", "spring fair"),
        ("Äbc-2", "bÉn@example.org", "web"),
        (None, None, None),
    ]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"email": "ADA@example.org"}, [1]),
        ({"email": "bÉN@*"}, [2]),
        ({"email": "bén@*"}, []),
        ({"renewal_code": "aBC-1"}, [1]),
        ({"renewal_code": "Äbc*"}, [2]),
        ({"source": "spring FAIR"}, [1]),
        ({"source": "web"}, [2]),
        ({"first_name": "STRASSE"}, [1]),
        ({"email": ""}, [3]),
    ],
)
def test_subscribers_of_an_earlier_version_are_found(
    upgraded: Upgraded, filters: dict[str, str], found: list[int]
) -> None:
    with upgraded.store.reader() as database:
        database.set_tenant(1)
        rows = reading.search_subscribers(database, 1, filters, after=0, limit=100)
    assert [row[0] for row in rows] == found


@each_earlier
def test_an_account_of_an_earlier_version_goes_on_where_it_was(
    url: str, number: int, clock: Clock
) -> None:
    """Its credentials open it, its waiting commit is stamped, its codes stay unique."""
    make_earlier(url, number)
    with opening(url, clock) as opened:
        commits.stamp_all(opened)
        with opened.reader() as database:
            caller = keys.account_for_credentials(database, "Key-1", "Login-1")
            assert caller
            assert caller[:4] == (1, 0, 0, 1)
            database.set_tenant(1)
            position = commits.position_of(database, 1, START_US)
            assert position == (START_US, EPOCH_US if number >= 2 else None, False, 2)
        with opened.writer() as database, pytest.raises((apsw.ConstraintError, psycopg.Error)):
            database.change(
                "UPDATE subscribers SET renewal_code = 'aBc-1' "
                "WHERE account_id = 1 AND subscriber_id = 3"
            )


@each_earlier
def test_an_upgrade_that_fails_leaves_the_database_as_it_was(url: str, number: int) -> None:
    """decisions, "Migrations": in one transaction."""
    make_earlier(url, number)

    def broken(known: list[Migration]) -> list[Migration]:
        return [*known, Migration(99, "broken", "CREATE TABLE half_done (n BIGINT); Nonsense")]

    with (
        knowing(lambda all_: all_[:number]),
        opening(url) as opened,
        opened.writer() as database,
    ):
        before = content(database)
        with (
            knowing(broken),
            pytest.raises((apsw.SQLError, psycopg.errors.SyntaxError)),
        ):
            open_store(url)
        assert content(database) == before
        assert numbers(database) == list(range(1, number + 1))


def test_a_second_start_applies_nothing_and_keeps_the_data(url: str) -> None:
    with opening(url) as opened:
        accounts.add_account(opened, {"account_id": 1})
    with opening(url) as opened, opened.writer() as database:
        assert len(numbers(database)) == len(migrations(opened.dialect))
        assert accounts.get_account(database, 1)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_migrations_are_numbered_without_gaps(dialect: Dialect) -> None:
    known = [migration.number for migration in migrations(dialect)]
    assert known == list(range(1, len(known) + 1))


def test_a_database_of_a_newer_version_is_refused_with_a_sentence(url: str) -> None:
    """decisions, "Migrations"."""
    with opening(url) as opened, opened.writer() as database:
        database.change("INSERT INTO migrations (number, name) VALUES (99, 'from_the_future')")
        newest = migrations(opened.dialect)[-1].number
        before = content(database)
        with pytest.raises(
            MastheadError, match="use a newer version, or another database"
        ) as refusal:
            open_store(url)
        assert f"has schema 99, this version of Masthead knows schemas up to {newest}" in str(
            refusal.value
        )
        assert content(database) == before


def start_six(work: Callable[[int], None]) -> list[BaseException]:
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


def test_several_processes_may_make_the_database_at_once(url: str) -> None:
    def start(account_id: int) -> None:
        with opening(url) as opened:
            accounts.add_account(opened, {"account_id": account_id})

    assert not start_six(start)
    with opening(url) as opened, opened.writer() as database:
        assert len(accounts.accounts(database)) == 6
        assert numbers(database) == [each.number for each in migrations(opened.dialect)]


@each_earlier
def test_several_processes_may_bring_the_database_up_to_date_at_once(url: str, number: int) -> None:
    make_earlier(url, number)
    assert not start_six(lambda _: open_store(url).close())
    with opening(url) as opened, opened.writer() as database:
        assert numbers(database) == [each.number for each in migrations(opened.dialect)]


@ON_POSTGRESQL
def test_an_upgrade_waits_for_a_load_and_neither_fails(url: str) -> None:
    """decisions, "Migrations": a load has some tables, and then wants more."""
    make_earlier(url, EARLIER[-1])
    with (
        knowing(lambda all_: all_[: EARLIER[-1]]),
        opening(url) as opened,
        opened.writer() as onlooker,
        opened.writer() as load,
    ):
        with load.transaction():
            load.lock_account(1)
            load.change("UPDATE subscribers SET email = 'new' WHERE account_id = 1")
            with knowing(lambda all_: all_):
                upgrade = Beside(lambda: open_store(url).close())
                upgrade.wait_until_it_waits(onlooker)
                load.change("UPDATE purchases SET name = 'new' WHERE account_id = 1")
                load.change("UPDATE orders SET import_name = 'new' WHERE account_id = 1")
                load.change("UPDATE erasures SET erased_at = 'new' WHERE account_id = 1")
        assert upgrade.result() is None
        assert numbers(load) == [each.number for each in migrations("postgresql")]


@pytest.mark.parametrize("url_", ["", "sqlite", "sqlite:///", "mysql://x", "masthead.db"])
def test_a_url_of_another_kind_is_refused_with_examples(url_: str) -> None:
    with pytest.raises(BadUsage, match=r"sqlite:///masthead\.db.*postgresql://user@host/name"):
        open_store(url_)


def test_a_file_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}/no/such/folder/x.db")
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}")


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
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
    """Nobody listens on the port 1."""
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
