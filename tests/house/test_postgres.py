"""The PostgreSQL of the tests: what is killed can be started again at once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from tests.postgres import Cluster, Databases, Port, migrate, unique
from tests.postgresql.service import session, wait_until

# All rights in a database, and all policies of its tables, with the role at the end of each line.
RIGHTS = """
    SELECT 'column', attrelid::REGCLASS || '.' || attname, r.privilege_type, r.grantee
    FROM pg_attribute, aclexplode(attacl) AS r
    UNION ALL SELECT 'table', oid::REGCLASS::TEXT, r.privilege_type, r.grantee
    FROM pg_class, aclexplode(relacl) AS r
    UNION ALL SELECT 'schema', nspname, r.privilege_type, r.grantee
    FROM pg_namespace, aclexplode(nspacl) AS r
    UNION ALL SELECT 'function', oid::REGPROCEDURE::TEXT, r.privilege_type, r.grantee
    FROM pg_proc, aclexplode(proacl) AS r
    UNION ALL SELECT 'policy', polname, polrelid::REGCLASS::TEXT, unnest(polroles) FROM pg_policy
    UNION ALL SELECT 'kept', '', '', refobjid FROM pg_shdepend
    WHERE refclassid = 'pg_authid'::REGCLASS
    AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
"""

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


def rights(postgres: Databases, name: str) -> Counter[tuple[str, ...]]:
    """Return how often a role has each right in a database; its own roles without their prefix."""
    statement = (
        "SELECT kind, thing, right_to, coalesce(rolname, 'everybody') "
        f"FROM ({RIGHTS}) AS f (kind, thing, right_to, role) LEFT JOIN pg_roles ON oid = role"
    )
    with session(postgres.url(name)) as database:
        rows = database.execute(statement.encode()).fetchall()
    return Counter((*row[:3], row[3].removeprefix(f"{name}_")) for row in rows)


def test_a_copy_has_roles_of_its_own_with_the_rights_that_migrate_gives(
    postgres: Databases,
) -> None:
    """The roles of the database that was copied have none there, and can be dropped."""
    migrated, copy, later = unique("migrated"), unique("copy"), unique("later")
    postgres.create(migrated)
    migrate(postgres.url(migrated))
    given = rights(postgres, migrated)
    assert {role for *_, role in given} >= {"server", "readers", "everybody"}
    postgres.copy_migrated(copy)
    assert rights(postgres, copy) == given
    postgres.copy(copy, later)
    postgres.drop(copy)
    assert rights(postgres, later) == given


def test_a_port_is_no_other_tests_until_it_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Port()) as free:
        pass
    with closing(Port()) as taken:
        monkeypatch.setattr("tests.postgres.PORTS", [taken.number] * 20 + [free.number])
        with closing(Port()) as other:
            assert other.number == free.number
