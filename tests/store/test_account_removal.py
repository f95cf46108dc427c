"""An account is removed with everything of it, and nothing of another one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from time import time_ns
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.moments import format_moment
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import AccountGone, NotFound
from masthead.loading.load import Options, load
from masthead.store import account_removal, accounts, audit, commits, erasing, removing
from masthead.store.books.ownership import BOOKS
from tests.api.callers import ENTITIES, Caller
from tests.loading.publisher import SMALL, Publisher
from tests.long import ONLY_LONG
from tests.servers import COMMAND_SECONDS_MAX, serving
from tests.store.catalogue import columns, tables
from tests.store.conftest import ON_SQLITE, opening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from masthead.store import Connection
    from masthead.store import Store as OpenStore
    from tests.store.conftest import Clock

# What outlives an account: who did what, and that there was one with this number.
KEPT = {"audit", "removed_accounts"}
EVERYTHING = ",".join(ENTITIES)
REMOVALS = 12
HOUR_US = 3_600 * 1_000_000
DAY_US = 86_400 * 1_000_000


@contextmanager
def places(store: OpenStore) -> Iterator[list[Connection]]:
    """Connections to all that a database consists of: a file has its counters in another one."""
    with store.writer() as data:
        if store.dialect == "postgresql":
            yield [data]
        else:
            with store.counters() as counters:
                yield [data, counters]


def of_accounts(database: Connection) -> list[str]:
    """Return the tables with a column for the account, as the database itself has them.

    Those that others refer to come first.
    """
    order = [*TABLES_BY_NAME]
    found = sorted(
        tables(database) - {"sqlite_schema", "sqlite_temp_schema"},
        key=lambda name: (order.index(name) if name in order else -1, name),
    )
    return [
        name
        for name in found
        if "account_id" in {column.name for column in columns(database, name)}
    ]


def rows_of(database: Connection, table: str, account_id: int) -> list[tuple[Any, ...]]:
    sql = f"SELECT * FROM {table} WHERE account_id = :id"
    return sorted(database.rows(sql, id=account_id), key=repr)


ONE_OF: dict[str, dict[str, str | int]] = {
    "revenue": {"kind": "received"},
    "operators": {"role": "viewer"},
    "tax_rates": {"goods": "print"},
    "shipping_prices": {"type": "Print"},
    "invoices": {"kind": "invoice"},
    "invoice_lines": {"goods": "print", "category": "S"},
    "payments": {"kind": "payment"},
    "allocations": {"kind": "payment"},
    "bank_entries": {"status": "unknown"},
    "mandates": {"scheme": "core", "status": "active"},
    "debit_runs": {"version": "pain.008.001.08"},
    "claims": {"sequence": "RCUR", "status": "sent"},
    "reminder_levels": {"then_do": "stop"},
    "renewal_consents": {"bundle_id": 7},
    "announced_renewals": {"bundle_id": 7, "status": "announced"},
    "mails": {"kind": "invoice", "status": "queued"},
    "letters": {"kind": "welcome"},
    "sign_in_links": {"purpose": "sign_in"},
    "reader_changes": {"kind": "pause"},
    "reader_requests": {"kind": "message"},
    "qualification_forms": {"fills": "newest"},
    "requalification_efforts": {"way": "letter"},
}
"""The columns that hold one of a few words, and one of these."""


def fill(database: Connection, table: str, account_id: int) -> None:
    """Give the account a row in a table that nothing above has filled."""
    if rows_of(database, table, account_id):
        return
    needed = {
        column.name: "x" if column.type == "TEXT" else 1
        for column in columns(database, table)
        if column.is_required
    }
    needed["account_id"] = account_id
    needed |= ONE_OF.get(table, {})
    database.change(
        f"""INSERT INTO {table} ({", ".join(f'"{name}"' for name in needed)})
        VALUES ({", ".join(f":{name}" for name in needed)})""",
        **needed,
    )


@pytest.fixture
def pair(url: str, tmp_path: Path) -> Iterator[tuple[Publisher, Publisher]]:
    """Two accounts with a row in each table that has rows of accounts."""
    one = Publisher(url, tmp_path, 1)
    two = Publisher(url, tmp_path, 2, store=one.store)
    for publisher in (one, two):
        account_id = publisher.account_id
        publisher.load(SMALL)
        publisher.load({"purchases.csv": "purchase_id,subscriber_id,name\n9,1,Zebra\n"})
        purchases = TABLES_BY_NAME["purchases"]
        removing.remove_records(publisher.store, account_id, purchases, [(9,)])
        erasing.erase(publisher.store, account_id, 2)
    with places(one.store) as connections:
        for database in connections:
            for table in of_accounts(database):
                for account_id in (1, 2):
                    if table not in KEPT:
                        fill(database, table, account_id)
    yield one, two
    one.store.close()


def test_no_table_of_an_account_is_forgotten(pair: tuple[Publisher, Publisher]) -> None:
    """A new table with a column account_id is one that `remove_account` empties."""
    one, _ = pair
    with places(one.store) as (database, *counters):
        expected = {"accounts", *KEPT, *account_removal.OF_AN_ACCOUNT}
        if database.dialect == "postgresql":
            staged = {f"staged_{name}" for name in account_removal.STAGED}
            expected |= {"account_locks", *staged, *account_removal.COUNTERS}
        assert set(of_accounts(database)) == expected
        for each in counters:
            assert set(of_accounts(each)) == set(account_removal.COUNTERS)


def test_all_of_an_account_goes_and_nothing_of_another(pair: tuple[Publisher, Publisher]) -> None:
    """rules, "An account is removed"."""
    one, _ = pair
    with places(one.store) as connections:
        before = {
            t: rows_of(database, t, 2) for database in connections for t in of_accounts(database)
        }
        for database in connections:
            assert all(rows_of(database, t, 1) for t in of_accounts(database) if t not in KEPT)
    removed = account_removal.remove_account(one.store, 1, by=audit.Actor("ada", "accounts remove"))
    assert removed == {
        **{name.removesuffix(".csv"): len(text.splitlines()) - 1 for name, text in SMALL.items()},
        **dict.fromkeys(BOOKS, 1),
    }
    with places(one.store) as connections:
        for database in connections:
            for table in of_accounts(database):
                assert bool(rows_of(database, table, 1)) == (table in KEPT), table
                assert rows_of(database, table, 2) == before[table], table
    with one.store.writer() as database:
        (entry,) = (e for e in audit.entries(database, account_id=1) if e.account_id == 1)
    assert entry.summary.startswith("removed with 1 of books, 2 of publications, ")
    with pytest.raises(NotFound, match=r"there is no account 1$"):
        account_removal.remove_account(one.store, 1)


@ON_SQLITE
def test_the_file_has_no_trace_of_a_removed_account(publisher: Publisher) -> None:
    """rules, "An account is removed"."""
    path = Path(publisher.url.removeprefix("sqlite:///"))
    files = [path, path.with_name(f"{path.name}-wal")]
    assert any(b"ada@example.org" in file.read_bytes() for file in files)
    account_removal.remove_account(publisher.store, 1)
    for file in files:
        for trace in (b"ada@example.org", b"Farming", b"AAAAA"):
            assert not file.exists() or trace not in file.read_bytes()


def test_its_credentials_open_nothing_at_once_and_its_positions_lead_nowhere(
    pair: tuple[Publisher, Publisher],
) -> None:
    """rules, "An account is removed": a partner never takes other data for its own."""
    one, two = pair
    for number in (1, 2):
        keys = {"api_key": f"key-{number}", "api_login": f"login-{number}"}
        accounts.set_account(one.store, number, keys)
    with (
        serving(one.url) as server,
        closing(Caller(server, "key-1", "login-1")) as former,
        closing(Caller(server, "key-2", "login-2")) as other,
    ):
        answer = former.ask("/snapshot", entities=EVERYTHING)
        position = answer.headers["Masthead-Changes-Through"]
        account_removal.remove_account(one.store, 1)
        for path in ("/2/subscribers/", "/2/accounts/", f"/snapshot?entities={EVERYTHING}"):
            assert former.ask(path).status_code == 403
        assert other.ask("/2/subscribers/").status_code == 200
        accounts.add_account(
            one.store, {"account_id": 1, "api_key": "key-3", "api_login": "login-3"}
        )
        assert former.ask("/2/subscribers/").status_code == 403
        with closing(Caller(server, "key-3", "login-3")) as latter:
            answer = latter.ask("/2/cdc", changed_since=position, entities=EVERYTHING)
            assert answer.status_code == 410
            snapshot = latter.ask("/snapshot", entities=EVERYTHING)
            assert not any(snapshot.json().values())
            position = snapshot.headers["Masthead-Changes-Through"]
            one.load({"subscribers.csv": "subscriber_id\n5\n"})
            answer = latter.ask("/2/cdc", changed_since=position, entities=EVERYTHING)
            (found,) = answer.json()["subscribers"]
            assert found["subscriber_id"] == "5"
    assert [row["subscriber_id"] for row in two.table("subscribers")] == [1, 2]


@ONLY_LONG
def test_requests_that_run_while_their_account_is_removed_get_403(
    opened: OpenStore, url: str
) -> None:
    """rules, "An account is removed": never an error of the server."""
    keys: dict[str, int | str | None] = {
        "account_id": 1,
        "api_key": "key-1",
        "api_login": "login-1",
    }
    since = format_moment(time_ns() // 1_000 - HOUR_US)
    entities = "entities=orders"
    paths = [f"/{path}?changed_since={since}&{entities}" for path in ("2/cdc", "deletions")]
    paths += [f"/{path}?{entities}" for path in ("snapshot", "digest")]
    account_removal.remove_account(opened, 1)
    with serving(url) as server, ThreadPoolExecutor(8) as threads:
        is_over = Event()

        def ask(path: str) -> set[int]:
            with closing(Caller(server, "key-1", "login-1")) as caller:
                found = set()
                while not is_over.is_set():
                    found.add(caller.ask(path).status_code)
                return found

        asking = [threads.submit(ask, path) for path in paths * 2]
        for _ in range(REMOVALS):
            accounts.add_account(opened, keys)
            account_removal.remove_account(opened, 1)
        is_over.set()
        statuses = set().union(*(each.result() for each in asking))
        assert server.stop() == 0
    assert statuses <= {200, 403, 410}
    assert "level='error'" not in server.output()


def test_an_account_that_is_gone_has_no_position_and_is_not_stamped(opened: OpenStore) -> None:
    account_removal.remove_account(opened, 1)
    with opened.writer() as database, pytest.raises(AccountGone, match="account 1: it was removed"):
        commits.position_of(database, 1)
    commits.stamp_commits(opened, 1)


@pytest.mark.parametrize("seconds", [-3_600, 0, 3_600])
def test_the_epoch_of_a_number_used_again_begins_after_its_last_stamp(
    opened: OpenStore, clock: Clock, seconds: int
) -> None:
    """rules, "An account is removed": also if the clock was set back meanwhile."""
    with opened.writer() as database:
        newest = commits.position_of(database, 1).newest_stamp
    account_removal.remove_account(opened, 1)
    clock.now += seconds * 1_000_000
    accounts.add_account(opened, {"account_id": 1})
    with opened.writer() as database:
        position = commits.position_of(database, 1)
    assert position.epoch_at is not None
    assert position.epoch_at > newest
    assert position.epoch_at >= clock.now
    assert position.newest_stamp == position.epoch_at
    assert not position.is_stamp_awaited


def test_a_number_that_was_never_used_begins_no_epoch(opened: OpenStore) -> None:
    accounts.add_account(opened, {"account_id": 3})
    with opened.writer() as database:
        assert commits.position_of(database, 3).epoch_at is None


def test_a_removal_waits_for_the_load_that_runs(publisher: Publisher) -> None:
    folder = publisher.write({"subscribers.csv": "subscriber_id\n7\n"})
    removals: list[Future[dict[str, int]]] = []

    with opening(publisher.url) as store, ThreadPoolExecutor(1) as threads:

        def tell(doing: str) -> None:
            if doing == "waiting for other writers":
                removals.append(threads.submit(account_removal.remove_account, store, 1))

        loaded = load(publisher.store, [folder], account_id=1, tell=tell)
        assert loaded.counts["subscribers"].inserted == 1
        (removal,) = removals
        # With what the load has added: it has not begun before that.
        assert removal.result(COMMAND_SECONDS_MAX)["subscribers"] == 3


def test_a_dry_run_whose_account_is_removed_meanwhile_says_so(publisher: Publisher) -> None:
    folder = publisher.write({"subscribers.csv": "subscriber_id\n7\n"})

    def tell(doing: str) -> None:
        if doing == "waiting for other writers":
            with opening(publisher.url) as store:
                account_removal.remove_account(store, 1)

    with pytest.raises(NotFound, match=r"there is no account 1$"):
        load(publisher.store, [folder], account_id=1, options=Options(is_dry=True), tell=tell)
    with publisher.store.writer() as database:
        assert accounts.accounts(database) == []
