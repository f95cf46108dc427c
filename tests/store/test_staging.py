"""What loads stage: on a server in tables that all of them share, so each has to keep to its own.

On SQLite the tables are temporary, and gone with the connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput, StoreUnavailable
from masthead.loading.load import load
from masthead.store import commits, merging
from tests.loading.publisher import SMALL, Publisher
from tests.loading.test_growth import (
    GROWTH_MAX,
    ROWS,
    a_key_in_each_row_that_others_refer_to,
    a_list_whose_parent_is_the_next_one,
    a_renewal_code_that_a_row_of_many_has,
    all_are_erased,
)
from tests.loading.working import counting
from tests.long import ONE_SERVER, ONLY_LONG
from tests.store.catalogue import STAGING_TABLES
from tests.store.conftest import ON_POSTGRESQL
from tests.store.plans import load_in_steps
from tests.store.test_plans_postgresql import plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from masthead.store import Connection

pytestmark = ON_POSTGRESQL

DAY = 86_400 * 1_000_000_000
"""What the ids of loads differ by in a day."""

# Rows that are refused when they are read, when they are compared, and because of another.
ODD = {
    "subscribers.csv": "subscriber_id,email\n1,new@example.org\n7,a\n7,b\n8,c\nx,d\n",
    "addresses.csv": "address_id,subscriber_id\n1,1\n2,99\n3,7\n",
    "list_downloads.csv": "mailing_list_id,parent_mailing_list_id\n5,6\n6,99\n",
}


def staged(publisher: Publisher) -> dict[str, int]:
    """Return how many rows each staging table has, without those that have none."""
    with publisher.store.writer() as database:
        counts = {
            table: int(database.rows(f"SELECT count(*) FROM {table}")[0][0])
            for table in STAGING_TABLES
        }
    return {table: count for table, count in counts.items() if count}


def stage_by_hand(publisher: Publisher, *, account_id: int, load_id: int) -> None:
    """Put a row into each staging table, as another load would."""
    with publisher.store.writer() as database:
        for name, table in TABLES_BY_NAME.items():
            keys = ", ".join(table.key)
            database.change(
                f"""
                INSERT INTO staged_{name} (account_id, load_id, file, line, present, {keys})
                VALUES ({account_id}, {load_id}, 0, 2, 1, {", ".join(["1"] * len(table.key))})
                """
            )
        database.change(
            f"INSERT INTO staged_problems VALUES ({account_id}, {load_id}, 1, 0, 2, 'a', 'b')"
        )
        database.change(
            f"INSERT INTO staged_keys VALUES ({account_id}, {load_id}, 'refused_subscribers', 1)"
        )
        database.change(
            f"INSERT INTO staged_natural_keys VALUES ({account_id}, {load_id}, 'a', 'b', 1, 'c')"
        )


def now_id(publisher: Publisher) -> int:
    """Return the id of a load that would begin now."""
    with publisher.store.writer() as database:
        return database.now() * 1_000


# What is left behind


def test_a_load_leaves_no_staged_rows(publisher: Publisher) -> None:
    assert staged(publisher) == {}
    publisher.load({name: content.replace("Tide", "Ebb") for name, content in SMALL.items()})
    assert staged(publisher) == {}


def test_a_load_that_sets_rows_aside_leaves_no_staged_rows(
    publisher: Publisher, tmp_path: Path
) -> None:
    loaded = publisher.load(ODD, reject=tmp_path / "rejected")
    assert sum(loaded.rejected.values()) == 5
    assert staged(publisher) == {}


@pytest.mark.parametrize(
    "files",
    [
        {"subscribers.csv": "subscriber_id\nx\n"},
        {"subscribers.csv": "subscriber_id\n7\n7\n"},
        {"addresses.csv": "address_id,subscriber_id\n1,99\n"},
        {"subscribers.csv": b"subscriber_id\n7\n\xff\n"},
        ODD,
    ],
)
def test_a_refused_load_leaves_no_staged_rows(
    publisher: Publisher, files: dict[str, str | bytes]
) -> None:
    with pytest.raises(BadInput):
        publisher.load(files)
    assert staged(publisher) == {}


def test_an_interrupted_load_leaves_no_staged_rows(publisher: Publisher) -> None:
    def stop(doing: str) -> None:
        if doing.startswith("writing"):
            assert staged(publisher)
            raise KeyboardInterrupt

    folder = publisher.write(SMALL)
    with pytest.raises(KeyboardInterrupt):
        load(publisher.store, [folder], account_id=1, tell=stop)
    assert staged(publisher) == {}


def test_what_a_killed_load_left_is_deleted_by_the_accounts_next_load_a_day_later(
    publisher: Publisher,
) -> None:
    def kill(doing: str) -> None:
        if doing == "checking":
            with publisher.store.writer() as database:
                database.rows(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

    folder = publisher.write(SMALL)
    with pytest.raises(StoreUnavailable):
        load(publisher.store, [folder], account_id=1, tell=kill)
    left = staged(publisher)
    assert left
    # It could still run.
    publisher.load(SMALL)
    assert staged(publisher) == left
    with publisher.store.writer() as database:
        for table in left:
            database.change(f"UPDATE {table} SET load_id = load_id - {DAY}")
    publisher.load(SMALL)
    assert staged(publisher) == {}


def test_of_what_is_left_in_any_table_a_load_deletes_the_old_rows_of_its_account_alone(
    publisher: Publisher,
) -> None:
    now = now_id(publisher)
    stage_by_hand(publisher, account_id=1, load_id=now - DAY)
    publisher.load({"publications.csv": "publication_id\n1\n"})
    assert staged(publisher) == {}
    stage_by_hand(publisher, account_id=1, load_id=now - DAY // 2)
    stage_by_hand(publisher, account_id=2, load_id=now - DAY)
    publisher.load({"publications.csv": "publication_id\n1\n"})
    assert staged(publisher) == dict.fromkeys(STAGING_TABLES, 2)


# Loads side by side


def test_a_load_sees_nothing_that_another_one_has_staged(publisher: Publisher) -> None:
    """Neither its rows nor its problems, nor the keys that it refused."""
    before = publisher.everything()
    for account_id in (1, 2):
        stage_by_hand(publisher, account_id=account_id, load_id=now_id(publisher))
    assert publisher.load(SMALL).counts["subscribers"] == merging.Counts(0, 0, 2)
    assert publisher.everything() == before
    # A row that refers to one of theirs refers to nothing.
    with publisher.store.writer() as database:
        database.change("UPDATE staged_subscribers SET subscriber_id = 99")
        database.change("UPDATE staged_keys SET key = 99")
    problem = publisher.problem({"addresses.csv": "address_id,subscriber_id\n9,99\n"})
    assert problem == "addresses.csv:2: subscriber_id: there is no subscriber 99"


def test_loads_of_two_accounts_stage_their_rows_at_the_same_time(
    publisher: Publisher, tmp_path: Path
) -> None:
    """Which are written at last is seen by who is asked last."""
    other = Publisher(publisher.url, tmp_path / "other", 2, store=publisher.store)
    changed = {name: text.replace("Tide", "Ebb") for name, text in SMALL.items()}

    def load_the_other(doing: str) -> None:
        if doing == "checking":
            assert other.load(changed).counts["subscribers"] == merging.Counts(2, 0, 0)

    folder = publisher.write({name: text.replace("Tide", "Flood") for name, text in SMALL.items()})
    loaded = load(publisher.store, [folder], account_id=1, tell=load_the_other)
    assert loaded.counts["publications"] == merging.Counts(0, 1, 1)
    assert publisher.table("publications")[0]["name"] == "Flood"
    assert other.table("publications")[0]["name"] == "Ebb"
    assert staged(publisher) == {}
    with publisher.store.writer() as database:
        assert commits.position_of(database, 2).is_stamp_awaited is False


OTHERS = 20_000


@ONLY_LONG
@ONE_SERVER
@pytest.mark.parametrize(("key", "discard"), [("n", False), ("1", True)])
def test_a_small_load_reads_no_rows_of_a_large_one(
    publisher: Publisher, key: str, *, discard: bool
) -> None:
    """PostgreSQL's statistics know the large one alone."""
    with publisher.store.writer() as database:
        stage_many(database, key)
    files = {**SMALL, "erasures.csv": "subscriber_id\n2\n"}
    with load_in_steps(publisher, files, discard=discard) as (database, found):
        looked_at = set()
        for sql, values in found:
            for node in plan(database, sql, values):
                name = node.get("Relation Name", "")
                if name.startswith("staged_") and "Operation" not in node:
                    looked_at.add(name)
                    assert node["Node Type"] in {
                        "Index Scan",
                        "Index Only Scan",
                        "Bitmap Heap Scan",
                    }, (sql, node)
        assert looked_at >= {f"staged_{name.removesuffix('.csv')}" for name in files}
        assert looked_at >= {"staged_problems", "staged_keys"}


@ONLY_LONG
@ONE_SERVER
@pytest.mark.parametrize(
    "files",
    [
        a_list_whose_parent_is_the_next_one,
        pytest.param(a_key_in_each_row_that_others_refer_to, marks=ONLY_LONG),
        pytest.param(a_renewal_code_that_a_row_of_many_has, marks=ONLY_LONG),
        pytest.param(all_are_erased, marks=ONLY_LONG),
    ],
)
def test_the_work_of_a_load_depends_on_its_own_rows_only(
    publisher: Publisher, tmp_path: Path, files: Callable[[int], dict[str, str | bytes]]
) -> None:
    """rules, "The time that a load takes": PostgreSQL knows nothing of this load's rows."""
    with publisher.store.writer() as database:
        stage_many(database, "n")
    works = []
    for account_id, rows in ((3, ROWS), (4, 4 * ROWS)):
        other = Publisher(publisher.url, tmp_path / "more", account_id, store=publisher.store)
        other.load(SMALL)
        with counting() as done:
            other.load(files(rows), reject=tmp_path / f"rejected-{rows}")
        works.append(done.steps)
    few, many = works
    assert few, "nothing was counted"
    assert many < GROWTH_MAX * few, f"{few} steps for {ROWS} rows, {many} for {4 * ROWS}"


def stage_many(database: Connection, key: str) -> None:
    """Put many rows of another load into each staging table, and tell the planner."""
    rows = f"FROM generate_series(1, {OTHERS}) AS n"
    for name, table in TABLES_BY_NAME.items():
        keys, values = ", ".join(table.key), ", ".join([key] * len(table.key))
        database.change(
            f"""
            INSERT INTO staged_{name} (account_id, load_id, file, line, present, {keys})
            SELECT 2, 5, 0, n, 1, {values} {rows}
            """
        )
    database.change(f"INSERT INTO staged_problems SELECT 2, 5, 1, 0, n, 'a', 'b' {rows}")
    database.change(f"INSERT INTO staged_keys SELECT 2, 5, 'erased_subscribers', {key} {rows}")
    for table_name in STAGING_TABLES:
        database.analyze(table_name)
