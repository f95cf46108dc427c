"""A load in its own process that stops at one of its steps until a test continues or kills it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from masthead.loading.load import load
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.postgres import wait_until_gone
from tests.servers import COMMAND_SECONDS_MAX, ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.loading.publisher import Publisher

STAGED = "waiting for other writers"
"""All is read, and nothing of the account's data is locked."""

WRITING = "writing subscriptions"
"""Some is written, in an open transaction."""


@contextmanager
def stuck(publisher: Publisher, folder: Path, step: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that loads the folder, and stops before the step until the block ends.

    If it is killed, the database has noticed that after the block.
    """
    arguments = [publisher.url, str(folder), str(publisher.account_id), step]
    with subprocess.Popen(
        [sys.executable, "-m", __name__, *arguments],
        env=environment(publisher.url),
        cwd=ROOT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == "stuck\n"
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(COMMAND_SECONDS_MAX)
            if process.returncode < 0:
                wait_until_gone(publisher.url)


def main(url: str, folder: str, account_id: str, step: str) -> None:
    """Load the folder, and stop before the step until standard input ends."""

    def tell(doing: str) -> None:
        if doing == step:
            sys.stdout.write("stuck\n")
            sys.stdout.flush()
            sys.stdin.read()

    by = Actor("alice", f"import {Path(folder).name}")
    load(open_store(url), [Path(folder)], account_id=int(account_id), tell=tell, by=by)


if __name__ == "__main__":
    main(*sys.argv[1:])
