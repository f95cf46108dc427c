"""The cluster of the tests does what the tests of Masthead on Citus rely on."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.citus.cluster import CitusCluster
from tests.postgres import unique

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.citus.cluster import CitusNode

ACCOUNTS = range(1, 41)


@pytest.fixture
def database(citus: CitusCluster) -> Iterator[str]:
    """The name of a database with a distributed table that has a row for each account."""
    name = unique("citus")
    fill(citus.create(name))
    yield name
    citus.drop(name)


def fill(url: str) -> None:
    """Make a distributed table that has a row for each account."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE held (account_id BIGINT NOT NULL PRIMARY KEY, held TEXT)")
        connection.execute("SELECT create_distributed_table('held', 'account_id')")
        connection.execute(
            "INSERT INTO held SELECT n, 'row ' || n FROM unnest(%s::BIGINT[]) AS n", [[*ACCOUNTS]]
        )


def held(citus: CitusCluster, name: str, account_id: int, node: CitusNode | None = None) -> str:
    """Return the account's row, asked for through that node."""
    with psycopg.connect(citus.url(name, node)) as connection:
        query = "SELECT held FROM held WHERE account_id = %s"
        ((found,),) = connection.execute(query, [account_id]).fetchall()
    return str(found)


def test_accounts_are_divided_and_each_node_is_asked_about_all(
    citus: CitusCluster, database: str
) -> None:
    """All workers have rows, the coordinator none."""
    places = {account_id: citus.node_of(database, "held", account_id) for account_id in ACCOUNTS}
    assert {*places.values()} == {*citus.workers}
    for node in citus.nodes:
        for account_id in ACCOUNTS:
            assert held(citus, database, account_id, node) == f"row {account_id}"


def test_a_killed_worker_takes_only_its_accounts_away_and_brings_them_back(
    citus: CitusCluster, database: str
) -> None:
    """The other worker's accounts are served by every node that runs."""
    killed, other = citus.workers[:2]
    places = {account_id: citus.node_of(database, "held", account_id) for account_id in ACCOUNTS}
    mine = next(account_id for account_id in ACCOUNTS if places[account_id] is killed)
    others = next(account_id for account_id in ACCOUNTS if places[account_id] is other)
    killed.kill()
    try:
        for node in (citus.coordinator, other):
            assert held(citus, database, others, node) == f"row {others}"
            with pytest.raises(psycopg.OperationalError, match="connection to the remote node"):
                held(citus, database, mine, node)
    finally:
        killed.start()
    for node in citus.nodes:
        assert held(citus, database, mine, node) == f"row {mine}"


def test_a_worker_that_is_added_is_asked_about_all_too(citus: CitusCluster) -> None:
    """It has no shard until some are moved to it. The cluster of the other tests stays as it is."""
    name = "grown"
    with closing(CitusCluster()) as grown:
        fill(grown.create(name))
        added = grown.add_worker()
        for account_id in ACCOUNTS:
            assert held(grown, name, account_id, added) == f"row {account_id}"
            assert grown.node_of(name, "held", account_id) is not added
