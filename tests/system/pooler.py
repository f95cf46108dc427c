"""A PgBouncer of the tests' own before a PostgreSQL of theirs, in transaction mode.

It refuses to run as root, so where the tests do, it runs as nobody.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import psutil  # type: ignore[import-untyped]
import psycopg

from tests.postgres import Port, name_of
from tests.postgresql.service import session, wait_until
from tests.servers import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.postgres import Cluster

DEBIANS = shutil.which("pgbouncer")
NEWER = ROOT / ".venv" / "pgbouncer" / "pgbouncer"
"""The one that ``.ci/pgbouncer`` unpacks."""

SESSIONS = 4
"""Sessions of the server for each user and database, of which Masthead would open more."""

SECONDS_MAX = 90
SETTINGS = """
[databases]
* = host=127.0.0.1 port={server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
server_login_retry = 1
"""

SESSIONS_OF = "SELECT pid, client_port FROM pg_stat_activity WHERE usename = %s AND datname = %s"
TRACES = """
    SELECT pg_backend_pid(), concat(
        current_setting('masthead.account_id', TRUE), current_setting('masthead.is_master', TRUE),
        (SELECT string_agg(name, ' ') FROM pg_prepared_statements),
        (SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = pg_my_temp_schema()),
        (SELECT string_agg(objid::TEXT, ' ') FROM pg_locks
            WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
        (SELECT string_agg(name, ' ') FROM pg_settings WHERE source = 'session'
            AND name NOT IN ('application_name', 'client_encoding')))
    """
"""The session of the server, and what was left in it but for what poolers carry over."""


# Reads until pytest closes its end, which the kernel does for it if it is killed.
GUARD = 'cat; kill -KILL "$1"; rm -rf -- "$2"'


class Pooler:
    """A PgBouncer, running from when it is made until ``close``."""

    def __init__(self, program: str | Path, cluster: Cluster, urls: Iterable[str]) -> None:
        """Start it before the cluster, for the users of these URLs."""
        self.folder = Path(tempfile.mkdtemp(prefix="masthead-pgbouncer-"))
        self._port = Port()
        self.port = self._port.number
        self._cluster = cluster
        self._program = program
        self._settings = self.folder / "pgbouncer.ini"
        self._log = self.folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self._guard: subprocess.Popen[bytes] | None = None
        self.folder.chmod(0o755)
        users = self.folder / "users"
        names = sorted({unquote(urlsplit(url).username or "") for url in urls})
        users.write_text("".join(f'"{name}" ""\n' for name in names), encoding="utf-8")
        self._settings.write_text(
            SETTINGS.format(server=cluster.port, port=self.port, users=users, sessions=SESSIONS),
            encoding="utf-8",
        )
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def url(self, direct: str) -> str:
        """Return the URL that leads to the same database through the pooler."""
        parts = urlsplit(direct)
        user = parts.netloc.rpartition("@")[0]
        return parts._replace(netloc=f"{user}@127.0.0.1:{self.port}").geturl()

    def start(self) -> None:
        """Start it, on the same port as ever, and wait until it listens."""
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, *user, self._settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._guard = subprocess.Popen(
            ["sh", "-c", GUARD, "guard", str(self._process.pid), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._starts += 1
        wait_until(self._is_up, SECONDS_MAX)

    def stop(self) -> None:
        """End it at once, as in a crash, with all its connections."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(SECONDS_MAX)
            self._process = None
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
            self._guard = None

    def halt(self) -> None:
        """Let it stand still: its connections stay open, and nothing comes through."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on after ``halt``."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Stop it, and remove its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        self._port.close()

    def log(self) -> str:
        """Return all that it has logged."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def assert_nothing_is_left(self, *urls: str) -> None:
        """Assert that its sessions, of each user and database, are as when it opened them."""
        for url in urls:
            kept = self._sessions(url)
            traces: dict[int, str] = {}
            with ExitStack() as stack:
                # Each in a transaction that is still open when the next one begins.
                for _ in range(SESSIONS):
                    connection = psycopg.connect(self.url(url), prepare_threshold=None)
                    stack.enter_context(closing(connection))
                    traces.update(connection.execute(TRACES).fetchall())
            assert len(traces) == SESSIONS
            assert kept <= traces.keys()
            assert set(traces.values()) == {""}

    def _sessions(self, url: str) -> set[int]:
        """Return the processes of the server that it has for the user and database of a URL."""
        assert self._process is not None
        connections = psutil.Process(self._process.pid).net_connections("tcp")
        ports = {each.laddr.port for each in connections if each.status == "ESTABLISHED"}
        user = unquote(urlsplit(url).username or "")
        with session(self._cluster.url(name_of(url))) as direct:
            found = direct.execute(SESSIONS_OF, [user, name_of(url)]).fetchall()
        return {pid for pid, port in found if port in ports}

    def _is_up(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log()
        return self.log().count("process up") == self._starts
