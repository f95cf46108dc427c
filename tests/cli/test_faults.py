"""What becomes of commands and servers when the disk or another program fails them.

rules, "Faults of the disk": a sentence or a 503, nothing lost, and service again by itself.
The disk is real but for a layer below SQLite, which fails as a test says (`tests/faulty.py`).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import httpx2
import pytest

from masthead.databases.sqlite import WAL_BYTES_KEPT
from masthead.store import audit, open_store
from tests.cli.running import workers_of
from tests.faulty import POWER_FAILED
from tests.long import ONLY_LONG
from tests.servers import masthead, run, serving, write_ndjson

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

KEY = ("key", "login")
SYNCS_MAX = 60
FAILING = ["write full", "write ioerr", "sync ioerr", "read ioerr", "open readonly"]


class Disk:
    """A database with five subscribers, files that bring more, and what fails now."""

    def __init__(self, folder: Path) -> None:
        """Load the five."""
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.path = folder / "masthead.db"
        self.database = f"sqlite:///{self.path}"
        self.faults = folder / "faults"
        self.faults.touch()
        masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=self.database)
        rows = [{"subscriber_id": number, "email": f"{number}@example.org"} for number in range(5)]
        self.load(write_ndjson(folder / "few", {"subscribers": rows}))
        rows = [{"subscriber_id": n, "last_name": "New" * 16} for n in range(2_000)]
        self.more = write_ndjson(folder / "more", {"subscribers": rows})

    def load(self, files: list[Path]) -> None:
        """Load files over a disk that works."""
        masthead("import", *files, "--account=1", database=self.database)

    def faulty(self, *arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command over the disk that fails as the settings say."""
        return run(
            *arguments,
            database=self.database,
            settings={"DISK_FAULTS": str(self.faults), **settings},
            command=[sys.executable, "-m", "tests.faulty"],
        )

    def count(self) -> int:
        """Return how many subscribers there are, in a file that must not be damaged."""
        with closing(apsw.Connection(str(self.path))) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            ((found,),) = connection.execute("SELECT count(*) FROM subscribers").fetchall()
        assert isinstance(found, int)
        return found


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """A disk that works so far."""
    return Disk(tmp_path)


@pytest.fixture
def served(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Disk, str]]:
    """A server whose database is on such a disk."""
    monkeypatch.setenv("DISK_FAULTS", str(disk.faults))
    with serving(disk.database, module="tests.faulty") as server:
        yield disk, server.url


def ask(url: str, path: str = "/2/subscribers/?limit=5") -> httpx2.Response:
    return httpx2.get(url + path, auth=KEY, timeout=30)


def test_an_import_over_a_failing_disk_says_so_and_changes_nothing(disk: Disk) -> None:
    """rules, "Faults of the disk"."""
    for fault in FAILING:
        disk.faults.write_text(fault)
        failed = disk.faulty("import", *disk.more, "--account=1")
        assert failed.returncode == 1
        assert failed.stdout == ""
        (sentence,) = failed.stderr.splitlines()
        assert sentence.startswith("the database ")
        assert "the disk " in sentence
        assert disk.count() == 5, fault
    disk.load(disk.more)
    assert disk.count() == 2_000


@pytest.mark.parametrize("fault", ["read ioerr", "read full"])
def test_a_server_on_a_failing_disk_answers_503_and_recovers_automatically(
    served: tuple[Disk, str], fault: str
) -> None:
    """rules, "Faults of the disk"."""
    disk, url = served
    whole = ask(url)
    assert whole.status_code == 200
    # What it reads next, no connection has read before.
    disk.load(disk.more)
    disk.faults.write_text(fault)
    failed = ask(url, "/2/subscribers/?limit=100&after=1000")
    assert failed.status_code == 503
    assert list(failed.json()) == ["error"]
    assert int(failed.headers["Retry-After"]) > 0
    disk.faults.write_text("")
    assert len(ask(url, "/2/subscribers/?limit=100&after=1000").json()["subscribers"]) == 100


@pytest.mark.parametrize("fault", ["write full", "write ioerr", "sync ioerr"])
def test_a_server_reads_on_while_nothing_can_be_written(
    served: tuple[Disk, str], fault: str
) -> None:
    """decisions, "Limits of the login check": a guess that cannot be counted is refused."""
    disk, url = served
    disk.faults.write_text(fault)
    assert ask(url).status_code == 200
    guess = "/2/subscribers/authenticate/?login=0@example.org&password=wrong"
    refused = ask(url, guess)
    if fault != "sync ioerr":  # The count is not synced with each guess.
        assert refused.status_code == 503
    disk.faults.write_text("")
    assert ask(url, guess).json() == {"authenticated": False}
    disk.load(disk.more)
    assert len(ask(url, "/2/subscribers/?limit=100").json()["subscribers"]) == 100


def test_a_program_that_holds_the_one_writer_delays_no_reader(served: tuple[Disk, str]) -> None:
    """rules, "Faults of the disk"."""
    disk, url = served
    with closing(apsw.Connection(str(disk.path))) as other:
        other.execute("BEGIN IMMEDIATE")
        assert ask(url).status_code == 200
        guess = "/2/subscribers/authenticate/?login=0@example.org&password=wrong"
        assert ask(url, guess).json() == {"authenticated": False}


@ONLY_LONG
def test_a_file_that_others_hold_for_themselves_is_said_to_be_in_use(disk: Disk) -> None:
    """rules, "Faults of the disk": a sentence, and not a wait for ever."""
    with closing(apsw.Connection(str(disk.path))) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT").fetchall()
        refused = run("accounts", "list", database=disk.database, cwd=disk.folder)
        assert refused.returncode == 1
        (sentence,) = refused.stderr.splitlines()
        assert sentence == (f"the database {disk.path} is locked: another program has locked it")
    assert run("accounts", "list", database=disk.database, cwd=disk.folder).returncode == 0


def statuses_until(url: str, wanted: int, path: str = "/2/subscribers/?limit=5") -> list[int]:
    """Ask until the wanted status comes, within a minute; return all that came."""
    ends_at = time.monotonic() + 60
    found = [ask(url, path).status_code]
    while found[-1] != wanted:
        assert time.monotonic() < ends_at, f"{wanted} never came"
        found.append(ask(url, path).status_code)
    return found


def test_a_moved_file_is_not_served_until_it_is_back(disk: Disk) -> None:
    """rules, "A file that is gone": a server would else read it for ever, and write nothing."""
    away = disk.folder / "away"
    with serving(disk.database) as server:
        assert ask(server.url).status_code == 200
        disk.path.rename(away)
        assert set(statuses_until(server.url, 503)[:-1]) <= {200}
        assert ask(server.url, "/health").status_code == 503
        scan = "/2/cdc?entities=subscribers&changed_since=2026-01-01T00:00:00Z"
        assert ask(server.url, scan).status_code == 503
        away.rename(disk.path)
        assert set(statuses_until(server.url, 200)[:-1]) <= {503}
        assert ask(server.url, "/health").status_code == 200
    assert not away.exists()
    sentence = f"the database {disk.path} was removed, or moved, while it was open"
    events = [line for line in server.output().splitlines() if sentence in line]
    assert any("event='database unavailable'" in line for line in events)


def test_a_file_in_the_place_of_another_is_not_mixed_with_it(disk: Disk) -> None:
    """rules, "A file that is gone": the health check reports it at once."""
    other = Disk(disk.folder / "other")
    before = other.path.read_bytes()
    with serving(disk.database, "--metrics-port=0") as server:
        assert ask(server.url).status_code == 200
        other.path.rename(disk.path)
        assert ask(server.url, "/health").status_code == 503
        assert ask(server.url).status_code == 503
        guess = "/2/subscribers/authenticate/?login=0@example.org&password=wrong"
        assert ask(server.url, guess).status_code == 503
        metrics = re.search(r"http://\S+/metrics", server.output())
        assert metrics
        numbers = httpx2.get(metrics[0]).text
        assert "masthead_database_up 0.0" in numbers
    assert disk.path.read_bytes() == before
    assert "restart the server to serve that" in server.output()
    with serving(disk.database) as server:
        assert ask(server.url).status_code == 200


def test_the_log_of_a_large_load_is_cut_while_a_server_runs(disk: Disk) -> None:
    """rules, "The length of the log"."""
    log = disk.path.with_name(f"{disk.path.name}-wal")
    with serving(disk.database) as server:
        assert ask(server.url).status_code == 200
        with closing(open_store(disk.database)) as opened:
            with opened.writer() as database, database.transaction():
                for number in range(WAL_BYTES_KEPT // 2**20 + 8):
                    actor = audit.Actor("nobody", str(number))
                    audit.record(database, actor, "x" * 2**20)
            assert log.stat().st_size > WAL_BYTES_KEPT
            assert ask(server.url).status_code == 200
            disk.load(disk.more)
            assert log.stat().st_size <= WAL_BYTES_KEPT
            assert ask(server.url).status_code == 200


def test_a_read_only_file_is_not_served_and_stays_as_it_is(disk: Disk) -> None:
    """rules, "Faults of the disk"."""
    before = disk.path.read_bytes()
    disk.faults.write_text("open readonly")
    refused = disk.faulty("serve", "--port=0")
    assert refused.returncode == 1
    (sentence,) = refused.stderr.splitlines()
    assert sentence == f"the database {disk.path} cannot be opened: the disk is read-only"
    assert disk.path.read_bytes() == before


@pytest.mark.parametrize("is_served", [False, True], ids=["alone", "beside a reader"])
def test_an_import_is_whole_or_was_not_wherever_the_power_fails(
    disk: Disk, is_served: bool
) -> None:
    """rules, "Faults of the disk": and one that has said what it loaded is never lost."""
    kept = disk.folder / "kept"
    kept.mkdir()
    for path in disk.folder.glob("masthead.db*"):
        shutil.copy(path, kept)
    counts: list[int] = []
    status, printed = None, ""
    for number in range(1, SYNCS_MAX):
        for path in disk.folder.glob("masthead.db*"):
            path.unlink()
        for path in kept.iterdir():
            shutil.copy(path, disk.folder)
        with closing(apsw.Connection(str(disk.path))) as reader:
            if is_served:  # Then nothing of the log is written back when the import ends.
                reader.execute("SELECT 1 FROM accounts").fetchall()
            loaded = disk.faulty(
                "import", *disk.more, "--account=1", DISK_POWER=str(number), DISK_SEED=str(number)
            )
        status, printed = loaded.returncode, loaded.stdout
        counts.append(disk.count())
        assert counts[-1] in {5, 2_000}
        if status == 0:
            break
        assert status == POWER_FAILED, loaded.stderr
        disk.load(disk.more)
        assert disk.count() == 2_000
    # The power failed before the commit and behind it, and in the end not before all was said.
    assert status == 0
    assert "1995 inserted" in printed
    assert counts[0] == 5
    assert counts[-2:] == [2_000, 2_000]


def test_a_worker_that_is_killed_is_replaced_and_the_others_serve(disk: Disk) -> None:
    """rules, "Faults of the disk": nor does a process that is gone stop the others."""
    with serving(disk.database, "--workers", "2") as server:
        assert ask(server.url).status_code == 200
        parent = server.process_id
        killed = min(workers_of(parent))
        os.kill(killed, signal.SIGKILL)
        # Requests go on: at most the one that the killed worker had in its hands is lost.
        for _ in range(20):
            assert ask(server.url).status_code == 200
        while len(now := workers_of(parent)) < 2 or killed in now:
            assert ask(server.url).status_code == 200
