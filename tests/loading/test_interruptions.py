"""A load that is killed at any moment leaves what was there before; its memory stays flat."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from masthead.store import commits
from tests.loading.publisher import SMALL, Publisher
from tests.long import ONLY_LONG, SHORT_ON_SQLITE
from tests.postgres import wait_until_gone
from tests.servers import environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DIES_WHEN = """
import os, signal, sys
from pathlib import Path
from masthead.loading.load import load
from masthead.store import commits, open_store

moment, url, account_id, folder = sys.argv[1:]

def reached(now):
    if now == moment:
        os.kill(os.getpid(), signal.SIGKILL)

if moment == "before the stamp":
    commits.stamp_commits = lambda *_: reached(moment)
load(
    open_store(url),
    [Path(folder)],
    account_id=int(account_id),
    advance=lambda file, _: reached(f"reading {file.table.name}"),
    tell=reached,
)
"""
CHANGED = {name: content for name, content in SMALL.items() if name != "subscribers.csv"} | {
    "subscribers.csv": "subscriber_id,email\n1,new@example.org\n3,cy@example.org\n",
    "subscriptions.csv": "subscription_id,copies\n1,7\n",
}


def killed(publisher: Publisher, moment: str) -> None:
    """Load into the account, in a process that kills itself at that moment."""
    folder = publisher.write(CHANGED)
    done = subprocess.run(
        [
            *(sys.executable, "-c", DIES_WHEN, moment, publisher.url, str(publisher.account_id)),
            str(folder),
        ],
        env=environment(publisher.url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, f"never came to {moment!r}: {done.stderr}"
    wait_until_gone(publisher.url)


@SHORT_ON_SQLITE
@pytest.mark.parametrize(
    "moment",
    [
        "reading custom_fields",
        "reading subscriptions",
        "waiting for other writers",
        "checking",
        "writing subscribers",
        "writing subscriptions",
        "writing mailing_list_entries",
    ],
)
def test_a_killed_load_leaves_what_was_there_before(small: Publisher, moment: str) -> None:
    before, count = small.everything(), small.commit_count()
    killed(small, moment)
    assert small.everything() == before
    assert small.commit_count() == count
    small.load(CHANGED)
    assert small.table("subscribers")[0]["email"] == "new@example.org"


def test_a_load_killed_before_its_stamp_is_whole_and_gets_its_stamp_later(
    small: Publisher,
) -> None:
    """design, "The change feed": until then the feed shows its rows in every poll."""
    killed(small, "before the stamp")
    assert small.table("subscribers")[0]["email"] == "new@example.org"
    with small.store.writer() as database:
        waiting = commits.position_of(database, small.account_id, 2**62).first_commit
    assert waiting is not None
    commits.stamp_all(small.store)
    with small.store.writer() as database:
        assert commits.position_of(database, small.account_id, 2**62).first_commit is None


MEASURES = """
import sys
from pathlib import Path
from masthead.loading.export import export
from masthead.loading.load import load
from masthead.store import open_store

url, account_id, folder, out = sys.argv[1:]
peak_kib = 0

def look(*_):
    global peak_kib
    status = Path("/proc/self/status").read_text()
    (anonymous,) = (line for line in status.splitlines() if line.startswith("RssAnon"))
    peak_kib = max(peak_kib, int(anonymous.split()[1]))

store = open_store(url)
load(store, [Path(folder)], account_id=int(account_id), advance=look, tell=look)
look()
export(store, Path(out), account_id=int(account_id), advance=look)
print(peak_kib)
"""
"""Pages of the database that are mapped into memory are the system's, and do not count."""


def subscribers(count: int) -> str:
    lines = (f"{n},{n:05x},reader{n}@example.org,First,Last,web\n" for n in range(count))
    return "subscriber_id,renewal_code,email,first_name,last_name,source\n" + "".join(lines)


@SHORT_ON_SQLITE
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize("format_", ["csv", pytest.param("ndjson", marks=ONLY_LONG)])
def test_memory_grows_neither_with_the_file_nor_with_the_table(
    new_publisher: Callable[[], Publisher], tmp_path: Path, format_: str
) -> None:
    """Eighty thousand rows more, some 4 MB of them, cost nothing but the caches' filling."""
    peaks = []
    for count in (20_000, 100_000):
        publisher = new_publisher()
        content = subscribers(count)
        if format_ == "ndjson":
            records = csv.DictReader(content.splitlines())
            content = "".join(json.dumps(record) + "\n" for record in records)
        folder = publisher.write({f"subscribers.{format_}": content})
        done = subprocess.run(
            [
                *(sys.executable, "-c", MEASURES, publisher.url, str(publisher.account_id)),
                *(str(folder), str(tmp_path / "out")),
            ],
            env=environment(publisher.url),
            stdout=subprocess.PIPE,
            check=True,
        )
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 6 * 1_024, peaks
