"""Rounds in which loads, a server and a copier, all of them processes, are killed at random.

A round ends in quiet: nothing is killed or cut any more, and the copy has to become what the
server's snapshot shows.
"""

from __future__ import annotations

import http.client
import math
import subprocess
import sys
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urlsplit

from masthead.api.http.streaming import WHOLE_BYTES_MAX
from masthead.store import find_store
from tests.feed.copier import ALL, THROUGH, authorization, records_of
from tests.feed.cutting import Cut, CuttingProxy
from tests.feed.loader import BEFORE_THE_COMMIT, BEFORE_THE_STAMP, NEW_IDS
from tests.servers import SERVES, as_server, environment, import_files, masthead

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from tests.feed.copier import Records
    from tests.feed.copies import KeptCopy
    from tests.feed.loader import Base

ROOT = Path(__file__).parents[2]
SNAPSHOT = f"/snapshot?entities={ALL}"
USER, PASSWORD = "key-chaos", "login-chaos"
CREDENTIALS = {
    "COPIER_USER": USER,
    "COPIER_PASSWORD": PASSWORD,
    "MASTHEAD_API_KEY": USER,
    "MASTHEAD_API_LOGIN": PASSWORD,
}
WAIT_SECONDS_MAX = 60
LONG_ANSWER_BYTES = 20_000
"""What the feed answers after a large load is longer, all else shorter."""

TICK_S = 0.02
CHAOS_S = (0.8, 1.8)
LIVES_S = {"server": (0.1, 1.5), "copier": (0.1, 1.0), "loader": (0.1, 0.8)}
LOADERS_MAX = 2
START_CHANCE = 0.1
TOGETHER_CHANCE = 0.3
UNCUT_CHANCE = 0.4
AGAIN_CHANCE = 0.3
COMPLETE_CHANCE = 0.4
LAST_MISSING = 10
EPOCH_CHANCE = 0.1


class Running:
    """A process; what it prints goes to a file."""

    def __init__(
        self,
        kind: str,
        command: Sequence[object],
        log: Path,
        settings: Mapping[str, str],
        lives_s: float,
    ) -> None:
        self.kind = kind
        self.dies_at = time.monotonic() + lives_s
        self._log = log
        self._address: tuple[str, int] | None = None
        with log.open("wb") as stream:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *map(str, command)],
                cwd=ROOT,
                env=dict(settings),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )

    @property
    def address(self) -> tuple[str, int] | None:
        """Where a server serves, or None as long as it does not."""
        lines = "" if self._address else self.printed().rpartition("\n")[0]
        if found := SERVES.search(lines):
            url = urlsplit(found[1])
            self._address = str(url.hostname), int(url.port or 0)
        return self._address

    def printed(self) -> str:
        """Return what the process has printed, on either stream."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def status(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """Send SIGKILL to the process, by its id."""
        self._process.kill()

    def wait(self) -> int:
        """Wait for the end of the process; return its exit status."""
        return self._process.wait(WAIT_SECONDS_MAX)


class Load(NamedTuple):
    """A load: its number, its files, and whether they are complete."""

    number: int
    files: list[Path]
    is_complete: bool


class Standing(NamedTuple):
    """How far all have come: commits that wait for a stamp, and the times of copy and server."""

    waiting: int
    copied: str | None
    served: str | None

    @property
    def is_level(self) -> bool:
        """Whether the copier has been told of everything."""
        return not self.waiting and self.copied is not None and self.copied == self.served


class Chaos:
    """A database with its loaders, a server, a proxy and a copier, through many rounds.

    ``counts`` is told what has happened.
    """

    def __init__(
        self, database: str, copy: KeptCopy, base: Base, folder: Path, counts: Counter[str]
    ) -> None:
        self._database = database
        self._copy = copy
        self._base = base
        self._folder = folder
        self._counts = counts
        self._rng = Random(1)
        self._numbers = count(1)
        self._killed_loads: list[Load] = []
        self._loaders: dict[Running, Load | None] = {}
        self._server: Running | None = None
        self._copier: Running | None = None
        folder.mkdir()
        keys = ("--api-key", USER, "--api-login", PASSWORD)
        masthead("accounts", "add", 1, *keys, database=database)
        import_files(base.folder, account_id="1", database=database)
        self.proxy = CuttingProxy(self._address, self._choose_cut)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._kill(self._running())
        finally:
            self.proxy.close()
        for log in self._folder.glob("server-*.log"):
            printed = log.read_text(encoding="utf-8", errors="replace")
            self._counts["polls answered"] += printed.count("path='/2/cdc' status=200")
            self._counts["polls answered with 410"] += printed.count("path='/2/cdc' status=410")
        self._counts["answers cut"] += len(self.proxy.cuts)
        self._counts["streamed responses cut"] += sum(c > WHOLE_BYTES_MAX for c in self.proxy.cuts)

    def play(self, seed: str, *, server_stamps: bool) -> None:
        """Play a round; at its end the copy has to be what the server shows.

        The last commit removes records. It is stamped by its load, or else by the server, which
        takes seconds.
        """
        self._rng = Random(seed)
        self._disturb()
        self.settle()
        last = self._new_complete_load(LAST_MISSING)
        self._start_loader(last, BEFORE_THE_STAMP if server_stamps else None)
        self._await_loaders()
        self.wait_until_level()
        self._counts["records gone by the last loads"] += len(
            self._rows(
                """
                SELECT record_id FROM deletions WHERE account_id = 1 AND commit_id = (
                    SELECT max(commit_id) FROM commits WHERE account_id = 1)
                """
            )
        )

    def settle(self) -> None:
        """Kill and cut nothing any more: whatever is there runs, and loads come to their end."""
        self.proxy.cutting = False
        self._revive(1)
        self._await_loaders()

    def load(self, size: int) -> int:
        """Run a load to its end; return its new subscriber."""
        load = self._new_load(size)
        self._start_loader(load, None)
        self._await_loaders()
        return NEW_IDS + load.number

    def load_while_cut(self, size: int) -> None:
        """Run a load while answers to the copier are cut, until one was; then let all go on."""
        if self._copier:
            self._kill([self._copier])
        before, choose = len(self.proxy.cuts), self.proxy.choose
        self.proxy.choose = lambda: Cut(after=LONG_ANSWER_BYTES, with_reset=False)
        self.proxy.cutting = True
        self._revive(1)
        self.load(size)
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while len(self.proxy.cuts) == before:
            self._see_that_all_run()
            assert time.monotonic() < deadline, f"no response was cut in {WAIT_SECONDS_MAX} s"
            time.sleep(TICK_S)
        self.proxy.cutting, self.proxy.choose = False, choose
        self.wait_until_level()

    def wait_until_level(self) -> None:
        """Wait until the copier has come as far as the server, and nothing waits for a stamp."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not (standing := self._standing()).is_level:
            self._see_that_all_run()
            assert time.monotonic() < deadline, f"not level after {WAIT_SECONDS_MAX} s: {standing}"
            time.sleep(TICK_S)

    def copied(self) -> Records:
        """Return what the copier has."""
        return self._copy.records()

    def shown(self) -> Records:
        """Return what the server's snapshot shows, asked without the proxy.

        And what each mailing list has, where the copy has it too.
        """
        shown = records_of(self._ask("GET")[1])
        if self._copy.has_entries:
            for list_id in [key for entity, key in shown if entity == "list_downloads"]:
                _, body = self._ask("GET", f"/2/downloadmailinglist/{list_id}")
                entries = records_of(b'{"":%s}' % body)
                shown |= {
                    ("mailing_list_entries", f"{list_id}/{key}"): entry
                    for (_, key), entry in entries.items()
                }
        return shown

    # Chaos

    def _disturb(self) -> None:
        spared = {"server", "copier"}
        ends_at = time.monotonic() + self._seconds(CHAOS_S)
        self.proxy.cutting = True
        self._revive(1)
        for process in self._running():
            process.dies_at = time.monotonic() + self._seconds(LIVES_S[process.kind])
        for moment in (BEFORE_THE_STAMP, BEFORE_THE_COMMIT):
            self._start_loader(self._any_new_load(), moment, lives_s=math.inf)
        while time.monotonic() < ends_at:
            time.sleep(self._rng.uniform(0, TICK_S))
            self._see_that_all_run()
            self._count_ended_loaders()
            spared -= self._kill(self._doomed())
            self._revive(START_CHANCE)
            if len(self._loaders) < LOADERS_MAX and self._rng.random() < START_CHANCE:
                self._start_any_loader()
        self._kill([process for process in self._running() if process.kind in spared])

    def _doomed(self) -> list[Running]:
        """Those whose time has come; now and then others die at the same moment."""
        running = [process for process in self._running() if process.dies_at < math.inf]
        doomed = [process for process in running if process.dies_at <= time.monotonic()]
        if doomed and self._rng.random() < TOGETHER_CHANCE:
            return [p for p in running if p in doomed or self._rng.random() < TOGETHER_CHANCE]
        return doomed

    def _kill(self, doomed: Sequence[Running]) -> set[str]:
        """Kill the processes at once; return which kinds were hit while they ran."""
        if self._server in doomed:
            self._server = None
        if self._copier in doomed:
            self._copier = None
        for process in doomed:
            process.kill()
        hit = {process.kind for process in doomed if process.wait() == -SIGKILL}
        for kind in hit - {"loader"}:
            self._counts[f"{kind}s killed"] += 1
        return hit

    def _revive(self, chance: float) -> None:
        """Start the server and the copier where they do not run, each with that chance."""
        if not self._server and self._rng.random() < chance:
            self._server = self._start("server", "masthead", "serve", "--port", "0")
        if not self._copier and self._rng.random() < chance:
            command = self._copy.command(self.proxy.url, self._rng.random())
            self._copier = self._start("copier", *command)

    def _start(self, kind: str, *command: object, lives_s: float | None = None) -> Running:
        database = as_server(self._database) if kind == "server" else self._database
        settings = environment(database) | CREDENTIALS
        log = self._folder / f"{kind}-{next(self._numbers)}.log"
        lives_s = self._seconds(LIVES_S[kind]) if lives_s is None else lives_s
        return Running(kind, command, log, settings, lives_s)

    def _running(self) -> list[Running]:
        return [*filter(None, (self._server, self._copier)), *self._loaders]

    def _see_that_all_run(self) -> None:
        for process in (self._server, self._copier):
            if process and process.status() is not None:
                raise AssertionError(f"the {process.kind} ended by itself:\n{process.printed()}")

    def _seconds(self, between: tuple[float, float]) -> float:
        return self._rng.uniform(*between) * self._copy.pace

    def _choose_cut(self) -> Cut | None:
        if self._rng.random() < UNCUT_CHANCE:
            return None
        digits = self._rng.choice((self._rng.uniform(1, 3), self._rng.uniform(4.3, 5.5)))
        return Cut(after=int(10**digits), with_reset=self._rng.random() < 0.5)

    # Loads

    def _size(self) -> int:
        return int(10 ** self._rng.uniform(0, 2.7))

    def _any_new_load(self) -> Load:
        is_complete = self._rng.random() < COMPLETE_CHANCE
        return (self._new_complete_load if is_complete else self._new_load)(self._size())

    def _new_load(self, size: int) -> Load:
        number = next(self._numbers)
        folder = self._folder / f"load-{number}"
        return Load(number, self._base.write_load(folder, number, self._rng, size), False)

    def _new_complete_load(self, missing: int) -> Load:
        number = next(self._numbers)
        folder = self._folder / f"load-{number}"
        files = self._base.write_complete_load(folder, number, self._rng, missing)
        return Load(number, files, True)

    def _start_any_loader(self) -> None:
        chance = self._rng.random()
        if chance < EPOCH_CHANCE:
            epoch = self._start("loader", "masthead", "feed", "new-epoch")
            self._loaders[epoch] = None
            return
        again = self._killed_loads and chance < EPOCH_CHANCE + AGAIN_CHANCE
        load = self._rng.choice(self._killed_loads) if again else self._any_new_load()
        moments = (None, None, None, BEFORE_THE_COMMIT, BEFORE_THE_STAMP)
        lives_s = self._rng.choice((math.inf, None))
        self._start_loader(load, self._rng.choice(moments), lives_s=lives_s)

    def _start_loader(
        self, load: Load, moment: str | None, *, lives_s: float | None = math.inf
    ) -> None:
        program = ("tests.feed.loader", moment) if moment else ("masthead",)
        command = [*program, "import", *load.files, "--account", "1", "--wait"]
        if load.is_complete:
            command += ["--complete", "--max-removed", "100%"]
        self._loaders[self._start("loader", *command, lives_s=lives_s)] = load

    def _await_loaders(self) -> None:
        for loader in self._loaders:
            loader.wait()
        self._count_ended_loaders()

    def _count_ended_loaders(self) -> None:
        for loader, load in list(self._loaders.items()):
            status = loader.status()
            if status is None:
                continue
            del self._loaders[loader]
            if status not in {0, -SIGKILL}:
                raise AssertionError(f"a load ended with {status}:\n{loader.printed()}")
            if load is None:
                self._counts["epochs begun" if status == 0 else "epochs killed"] += 1
                continue
            if load.is_complete:
                self._counts["complete loads " + ("killed" if status else "done")] += 1
            if status == 0:
                self._counts["loads done"] += 1
            else:
                self._killed_loads.append(load)
                self._counts[f"loads killed {self._moment_of(load)}"] += 1

    def _moment_of(self, load: Load) -> str:
        """Tell when a load was killed: by its new order, which only complete loads remove later."""
        found = self._rows(
            """
            SELECT c.visible_at FROM orders AS o
            JOIN commits AS c ON c.account_id = o.account_id AND c.commit_id = o.commit_id
            WHERE o.account_id = 1 AND o.order_id = :order_id
            """,
            order_id=NEW_IDS + load.number,
        )
        if not found:
            return "before the commit"
        return "between commit and stamp" if found == [(None,)] else "after the commit"

    # The check

    def _standing(self) -> Standing:
        """How far the copier and the server are."""
        waiting = self._rows("SELECT commit_id FROM commits WHERE visible_at IS NULL")
        copied = self._copy.through()
        served = self._ask("HEAD")[0] if self._address() else None
        return Standing(len(waiting), copied, served)

    def _rows(self, sql: str, **values: int) -> list[tuple[int | None, ...]]:
        """Ask the database, and leave no connection behind that could keep it alive."""
        with closing(find_store(self._database)) as store, store.reader() as database:
            database.set_tenant(1)
            return database.rows(sql, **values)

    def _address(self) -> tuple[str, int] | None:
        """Where the server serves; the proxy's thread asks too."""
        server = self._server
        return server.address if server else None

    def _ask(self, method: str, path: str = SNAPSHOT) -> tuple[str | None, bytes]:
        """Ask the server itself; return how far the response goes, and its body."""
        address = self._address()
        assert address
        with closing(http.client.HTTPConnection(*address, timeout=WAIT_SECONDS_MAX)) as connection:
            headers = {"Authorization": authorization(USER, PASSWORD)}
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            assert response.status == 200, response.read()
            return response.getheader(THROUGH), response.read()
