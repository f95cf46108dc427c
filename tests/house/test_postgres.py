"""The PostgreSQL of the tests: what is killed can be started again at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from tests.postgres import Cluster, Port
from tests.postgresql.service import session, wait_until

# Which looks for the end of its server only when it waits, and never does.
BUSY = "SELECT sum(n) FROM generate_series(1, 1000000000000) AS n"
BUSY_ONES = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query = %s"


def test_a_killed_server_starts_again_though_one_of_its_processes_was_busy() -> None:
    """It has the memory that they all share, which the next server would not take."""

    def work() -> None:
        with session(cluster.url("postgres")) as busy:
            busy.execute("SET statement_timeout = '30s'")
            with pytest.raises(psycopg.OperationalError):
                busy.execute(BUSY)

    with closing(Cluster()) as cluster, ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        with session(cluster.url("postgres")) as looking:
            wait_until(lambda: bool(looking.execute(BUSY_ONES, [BUSY]).fetchall()))
        cluster.kill()
        cluster.start()
        working.result()
        with session(cluster.url("postgres")) as again:
            assert again.execute(BUSY_ONES, [BUSY]).fetchall() == []


def test_a_port_is_no_other_tests_until_it_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Port()) as free:
        pass
    with closing(Port()) as taken:
        monkeypatch.setattr("tests.postgres.PORTS", [taken.number] * 20 + [free.number])
        with closing(Port()) as other:
            assert other.number == free.number
