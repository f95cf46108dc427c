"""A load whose database goes away half-way says so, and a second try does all of it."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from masthead.store import loads, open_store, postgresql
from tests.loading.publisher import SMALL
from tests.long import ONLY_LONG
from tests.postgres import wait_until_gone
from tests.postgresql.service import (
    ACCOUNT,
    PASSWORD,
    fill,
    load_files,
    locked,
    new_database,
    outage,
    session,
    wait_until,
)
from tests.servers import COMMAND_SECONDS_MAX, environment, masthead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.postgres import Cluster

# `masthead` that waits at a moment of a load: it prints a line, and goes on when it is given one.
WAITS = """
import sys
from masthead.cli import importing, main
from masthead.store import commits

moment = sys.argv.pop(1)
load, stamp = importing.load, commits.stamp_commits

def reached(now):
    if now == moment:
        print("reached", flush=True)
        sys.stdin.readline()

def waiting_load(*given, tell, advance, **named):
    def told(doing):
        tell(doing)
        reached(doing)

    def advanced(file, done):
        advance(file, done)
        reached(f"reading {file.table.name}")

    return load(*given, tell=told, advance=advanced, **named)

def waiting_stamp(*given):
    reached("before the stamp")
    stamp(*given)

importing.load = waiting_load
commits.stamp_commits = waiting_stamp
main()
"""
CHANGED = {
    **SMALL,
    "subscribers.csv": "subscriber_id,email\n1,new@example.org\n3,cy@example.org\n",
}
OLD, NEW = ["ada@example.org", "ben@example.org"], ["new@example.org", "ben@example.org"]
NEWER = [*NEW, "cy@example.org"]


@pytest.fixture
def database(cluster: Cluster, tmp_path: Path) -> str:
    """A database that holds the small publisher."""
    url = new_database(cluster, "loads")
    fill(url, tmp_path / "small")
    return url


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """Files that change the small publisher."""
    folder = tmp_path / "changed"
    folder.mkdir()
    for name, text in CHANGED.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def emails(database: str) -> list[str]:
    """Return the email of each subscriber."""
    with session(database) as connection:
        found = connection.execute("SELECT email FROM subscribers ORDER BY subscriber_id")
        return [email for (email,) in found]


def expected_subscribers(database: str) -> int:
    """Return how many subscribers the planner thinks the account has."""
    with session(database) as connection:
        found = connection.execute(
            "EXPLAIN (FORMAT JSON) SELECT 1 FROM subscribers WHERE account_id = %s", [ACCOUNT]
        ).fetchone()
        assert found
        return int(found[0][0]["Plan"]["Plan Rows"])


@contextmanager
def load_at(moment: str, database: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run ``masthead import`` up to that moment, from which it goes on when it is given a line."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITS, moment, "import", str(folder), "--account", str(ACCOUNT)],
        env=environment(database),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "reached\n", process.communicate()[1]
        try:
            yield process
        finally:
            process.kill()


@ONLY_LONG
@pytest.mark.parametrize(
    "moment",
    [
        "reading subscribers",
        "waiting for other writers",
        "writing orders",
        "before the stamp",
    ],
)
def test_a_load_whose_database_stops_says_so_and_a_second_try_works(
    cluster: Cluster, database: str, changed: Path, moment: str
) -> None:
    with load_at(moment, database, changed) as process, outage(cluster, "stopped"):
        out, err = process.communicate("\n", timeout=COMMAND_SECONDS_MAX)
    assert process.returncode == 1
    assert re.fullmatch("the database (does not answer|cannot be opened): .+\n", err)
    for secret in ("Traceback", PASSWORD):
        assert secret not in out + err
    assert emails(database) == (NEWER if moment == "before the stamp" else OLD)

    masthead("import", changed, "--account", ACCOUNT, database=database)
    assert emails(database) == NEWER
    with session(database) as connection:
        found = connection.execute("SELECT count(*) FROM commits WHERE visible_at IS NULL")
        assert found.fetchone() == (0,)


def test_a_load_goes_on_when_a_frozen_database_does(
    cluster: Cluster, database: str, changed: Path
) -> None:
    with load_at("writing orders", database, changed) as process:
        with outage(cluster, "frozen"), pytest.raises(subprocess.TimeoutExpired):
            process.communicate("\n", timeout=0.5)
        _, err = process.communicate(timeout=COMMAND_SECONDS_MAX)
    assert (process.returncode, err) == (0, "")
    assert emails(database) == NEWER


def staged(database: str) -> int:
    """Return how many rows of loads are staged."""
    with session(database) as connection:
        found = connection.execute(
            """
            SELECT (SELECT count(*) FROM staged_subscribers)
                + (SELECT count(*) FROM staged_problems) + (SELECT count(*) FROM staged_keys)
            """
        ).fetchone()
        assert found
        return int(found[0])


def test_what_a_killed_load_has_staged_is_in_no_other_and_goes_a_day_later(
    database: str, changed: Path
) -> None:
    """rules, "Staging tables"."""
    with load_at("waiting for other writers", database, changed) as process:
        assert emails(database) == OLD
        process.kill()
    wait_until_gone(database)
    assert staged(database) == len(SMALL["subscribers.csv"].splitlines()) - 1

    (changed / "subscribers.csv").write_text("subscriber_id,email\n3,cy@example.org\n")
    masthead("import", changed, "--account", ACCOUNT, database=database)
    assert emails(database) == [*OLD, "cy@example.org"]
    assert staged(database) > 0
    with session(database) as connection:
        connection.execute("UPDATE staged_subscribers SET load_id = load_id - 86400000001000")
    masthead("import", changed, "--account", ACCOUNT, database=database)
    assert staged(database) == 0


LOADING = "SELECT 1 FROM account_locks WHERE account_id = 1 AND kind = 'load' FOR UPDATE"
LOCKED_OUT = """
    SELECT 1 FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database OR l.database IS NULL
    JOIN pg_stat_activity AS a ON a.pid = l.pid
    WHERE NOT l.granted AND d.datname = current_database() AND a.datname = d.datname
    """


def test_a_killed_load_is_interrupted_once_the_server_has_noticed(
    database: str, changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "The record of loads": that takes it a moment, and the record waits for it."""
    with load_at("waiting for other writers", database, changed) as process:
        process.kill()
    wait_until_gone(database)
    with (
        closing(open_store(database)) as store,
        session(database) as looking,
        ThreadPoolExecutor(1) as threads,
    ):
        with locked(database, LOADING):
            assert [load.outcome for load in loads.loads(store)] == ["good", "running"]
        monkeypatch.setattr(postgresql, "LOOK_LOCK_TIMEOUT", "60s")
        with locked(database, LOADING):
            shown = threads.submit(loads.loads, store)
            wait_until(lambda: bool(shown.done() or looking.execute(LOCKED_OUT).fetchall()))
        assert [load.outcome for load in shown.result()] == ["good", "interrupted"]


def test_a_load_that_is_refused_leaves_nothing_staged(database: str, changed: Path) -> None:
    """rules, "Staging tables"."""
    (changed / "subscribers.csv").write_text("subscriber_id,email\n3,cy@example.org\nx,\n")
    masthead("import", changed, "--account", ACCOUNT, database=database, exit_status=1)
    assert emails(database) == OLD
    assert staged(database) == 0


def test_only_a_load_waits_for_a_row_of_its_account(database: str, changed: Path) -> None:
    """rules, "Locks of accounts"."""
    masthead("accounts", "add", 2, database=database)
    masthead("import", changed.parent / "small", "--account", 2, database=database)
    row = "SELECT 1 FROM account_locks WHERE account_id = 1 AND kind = 'data' FOR UPDATE"
    with load_at("waiting for other writers", database, changed) as process:
        with locked(database, row):
            with pytest.raises(subprocess.TimeoutExpired):
                process.communicate("\n", timeout=0.5)
            masthead("import", changed, "--account", 2, database=database)
            masthead("accounts", "set", 1, "--plan=Gold", database=database)
            masthead("accounts", "rotate-credentials", 1, database=database)
        _, err = process.communicate(timeout=COMMAND_SECONDS_MAX)
    assert process.returncode == 0
    # It says so after two seconds, which the others may have taken.
    assert err in {"", "waiting for another program that writes to the database\n"}
    assert emails(database) == [email for email in NEWER for _ in (1, 2)]


def test_a_large_load_updates_the_statistics(database: str, tmp_path: Path) -> None:
    """The next load is planned by them, however small the account was before."""
    with session(database) as connection:
        connection.execute("ALTER TABLE subscribers SET (autovacuum_enabled = off)")

    def add(first: int, count: int) -> None:
        lines = ["subscriber_id", *map(str, range(first, first + count)), ""]
        load_files(database, tmp_path / f"{first}", {"subscribers.csv": "\n".join(lines)})

    add(1000, 500)
    assert expected_subscribers(database) == 502
    add(2000, 100)
    assert expected_subscribers(database) == 602
