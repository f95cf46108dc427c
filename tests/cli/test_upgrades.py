"""What a later version of Masthead does with a database of this one, and this one with its."""

from __future__ import annotations

import http.client
import os
import signal
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import click
import httpx2
import pytest
from click.testing import CliRunner

from masthead.cli import cli
from masthead.store import find_store
from masthead.store.migrations import newest
from tests.cli.books_commands import books_commands, write_orders
from tests.cli.running import address_of, lines_until, make_certificate, running, workers_of
from tests.cli.test_workers import TURNS_MAX, wait
from tests.later import HIDES_KEYS, VERSION, knowing, later_version, say_version
from tests.long import ONLY_LONG, SHORT_ON_SQLITE
from tests.servers import STOP_SECONDS_MAX, Server, as_server, masthead, run, serving
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

CREDENTIALS = ("key", "login")
WRONG = ("key", "wrong")
CLIENTS = 8
TIMEOUT_S = 30

# What each command with a database is called with; {} is a folder with a file of subscribers.
ARGUMENTS = {
    "accounts add": ["2"],
    "accounts export": [],
    "accounts list": [],
    "accounts pages": ["1"],
    "accounts rekey": ["--lost"],
    "accounts remove": ["1", "--yes"],
    "accounts rotate-credentials": ["1"],
    "accounts set": ["1", "--plan=Basic"],
    "accounts shop-key": ["1"],
    "accounts show": ["1"],
    "audit": [],
    "console": ["--port=0"],
    "readers": ["--port=0"],
    "entitlements keys": ["1"],
    "entitlements rotate": ["1"],
    "entitlements stop": ["1"],
    "erase": ["--account=1", "--subscriber=1", "--yes"],
    "export": ["{}/out", "--account=1"],
    "feed new-epoch": [],
    "import": ["{}/subscribers.csv", "--account=1"],
    "loads": [],
    "operators add": ["ada", "--account=1", "--role=viewer", "--generate"],
    "operators list": [],
    "operators remove": ["ada", "--account=1"],
    "operators set": ["ada", "--account=1", "--role=clerk"],
    "partners add": ["Shop", "--account=1", "--operations=changes"],
    "partners list": ["--account=1"],
    "partners remove": ["Shop", "--account=1"],
    "partners requests": ["--account=1"],
    "partners rotate": ["Shop", "--account=1"],
    "partners set": ["Shop", "--account=1", "--rate=5"],
    "remove": ["subscribers", "1", "--account=1"],
    "subscriber-data": ["--account=1", "--subscriber=1"],
    **{words: [*given] for words, given in books_commands("{}").items()},
}
# What is for a database of any version or of Citus, and what says that it migrates.
OTHERS = {
    "backup",
    "database distribute",
    "database migrate",
    "database status",
    "demo",
    "restore",
    "serve",
}
# What makes a file, and what is not for a file that does not exist.
FOR_NO_FILE = {
    "accounts add",
    "accounts rekey",
    "database distribute",
    "database migrate",
    "demo",
    "import",
    "restore",
    "serve",
}


def commands(group: click.Group, *names: str) -> Iterator[str]:
    """Yield the commands that are given a database of Masthead's own."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        elif any(parameter.name == "database" for parameter in command.params):
            yield " ".join((*names, name))


def loaded_cli() -> click.Group:
    """Return the command line, with all of its commands."""
    context = click.Context(cli)
    return click.Group(
        commands={
            name: found
            for name in cli.list_commands(context)
            if (found := cli.get_command(context, name))
        }
    )


def schema(database: str) -> int:
    with closing(find_store(database)) as store, store.writer() as connection:
        return newest(connection)


def arguments(command: str, folder: Path) -> list[str]:
    (folder / "subscribers.csv").write_text("subscriber_id\n1\n")
    write_orders(folder)
    return [*command.split(), *(each.format(folder) for each in ARGUMENTS[command])]


def status_of(url: str, credentials: tuple[str, str]) -> tuple[int, str | None]:
    answer = httpx2.get(f"{url}/2/accounts/", auth=credentials)
    return answer.status_code, answer.headers.get("Retry-After")


# Commands


def test_each_command_says_what_to_do_with_an_older_schema_and_leaves_it(
    account: str, tmp_path: Path
) -> None:
    """rules, "Who changes a schema": not as a side effect; the exit status is 1."""
    with knowing(HIDES_KEYS):
        for command in sorted(ARGUMENTS):
            done = CliRunner().invoke(cli, [*arguments(command, tmp_path), "--database", account])
            assert "`masthead database migrate`" in done.output, command
            assert done.exit_code == 1
            assert schema(account) == 1, command
    assert "note" not in masthead("accounts", "show", 1, database=account).stdout


def test_each_command_with_a_database_is_tried_or_is_for_any_version() -> None:
    """rules, "Who changes a schema"."""
    assert set(commands(loaded_cli())) == ARGUMENTS.keys() | OTHERS


def test_a_command_that_reads_makes_no_file(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """rules, "Who changes a schema"."""
    path = tmp_path / "none.db"
    database = f"sqlite:///{path}"
    for command in sorted((ARGUMENTS.keys() | OTHERS) - FOR_NO_FILE):
        given = (
            arguments(command, tmp_path)
            if command in ARGUMENTS
            else [*command.split(), *([f"{tmp_path}/x"] if command == "backup" else [])]
        )
        with subtests.test(command):
            done = CliRunner().invoke(cli, [*given, "--database", database])
            assert (done.exit_code, done.stdout) == (1, "")
            assert done.stderr.startswith(
                f"the database {path} cannot be opened"
                if command in OTHERS
                else f"there is no database {database} yet: `masthead accounts add` makes it"
            )
            assert not path.exists()


@ON_SQLITE
def test_a_command_that_writes_first_makes_the_file(store: Store, tmp_path: Path) -> None:
    """rules, "Who changes a schema": also an import, of a file of accounts."""
    (tmp_path / "accounts.csv").write_text("account_id\n1\n")
    for given in (["accounts", "add", "1"], ["import", tmp_path / "accounts.csv"]):
        database = store.new_database("first")
        masthead(*given, database=database)
        assert schema(database) == 1


def test_a_later_version_shows_backs_up_and_migrates_what_this_one_made(
    account: str, store: Store, tmp_path: Path
) -> None:
    """rules, "Who changes a schema": as the commands of an installed version."""
    later = later_version(tmp_path / "later")
    refused = run("accounts", "list", database=account, settings=later)
    assert refused.returncode == 1
    assert "this version of Masthead needs schema 2: make a backup" in refused.stderr
    shown = run("database", "status", database=account, settings=later)
    assert shown.stdout == "applied  0001 start\nmissing  0002 later\n1 of 2 missing\n"
    if store.kind == "sqlite":
        done = run("backup", tmp_path / "backup", database=account, settings=later)
        assert done.returncode == 0, done.stderr
    assert schema(account) == 1
    migrated = run("database", "migrate", database=account, settings=later)
    assert migrated.stdout == "applied  0002 later\nmigrated 1 -> 2\nup to date\n"
    listed = run("accounts", "list", database=account, settings=later)
    assert listed.stdout.startswith("1\t")
    newer = masthead("accounts", "list", database=account, exit_status=1)
    assert "has schema 2, this version of Masthead knows schemas up to 1" in newer.stderr
    if store.kind == "sqlite":
        masthead("restore", tmp_path / "backup", "--replace", database=account)
        assert masthead("accounts", "list", database=account).stdout.startswith("1\t")


# Servers


def test_a_later_server_migrates_a_file_and_says_so_and_no_other_database(
    account: str, store: Store, tmp_path: Path
) -> None:
    """rules, "Who changes a schema"."""
    later = later_version(tmp_path)
    serve = ("serve", "--port=0", "--workers=2")
    if store.kind == "postgresql":
        done = run(*serve, database=as_server(account), settings=later)
        assert done.returncode == 1
        assert "migrate it as the user who owns it; run `masthead database migrate`" in done.stderr
        assert schema(account) == 1
        return
    with running(*serve, database=account, settings=later) as process:
        lines = lines_until(process, "Masthead serves on")
        assert sum("event='migrated 1 -> 2'" in line for line in lines) == 1
    assert schema(account) == 2
    with running(*serve[:2], database=account, settings=later) as process:
        assert not [line for line in lines_until(process, "Masthead serves on") if "->" in line]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_beside_a_newer_schema_answers_503(account: str, workers: int) -> None:
    """rules, "A server of an earlier version": it never says 403 to those who have an account.

    The first request after the migration gets 503, if not for all workers know by then.
    """
    with serving(account, "--workers", str(workers)) as server:
        assert status_of(server.url, CREDENTIALS) == (200, None)
        assert status_of(server.url, WRONG) == (403, None)
        with knowing(HIDES_KEYS), closing(find_store(account)) as later:
            later.migrate()
        for _ in range(20):
            assert status_of(server.url, CREDENTIALS) == (503, "2")
            assert status_of(server.url, WRONG) == (503, "2")
        assert httpx2.get(f"{server.url}/health").status_code == 503
        assert_says_so_at_most_once_a_minute(server, workers)
        server.stop()


def assert_says_so_at_most_once_a_minute(server: Server, workers: int) -> None:
    said = [line for line in server.output().splitlines() if "from schema 1 to 2" in line]
    assert said
    assert len(said) <= 3 * workers  # a request, the check of each second, and the stamps
    assert any("start the version of Masthead that migrated it" in line for line in said)


def test_a_server_notices_a_newer_schema_without_being_asked(account: str) -> None:
    """rules, "A server of an earlier version": then all that it is asked is 503."""
    with serving(account) as server:
        with knowing("CREATE TABLE later (n BIGINT)"), closing(find_store(account)) as later:
            later.migrate()
        for _ in range(TURNS_MAX):
            if "from schema 1 to 2" in server.output():
                break
            wait()
        assert status_of(server.url, CREDENTIALS) == (503, "2")
        assert (
            httpx2.get(f"{server.url}/snapshot?entities=orders", auth=CREDENTIALS).status_code
            == 503
        )


# SIGHUP


@SHORT_ON_SQLITE
def test_at_sighup_the_workers_are_replaced_one_after_the_other_and_no_request_fails(
    account: str, tmp_path: Path
) -> None:
    """rules, "SIGHUP": by those of the version that is installed now."""
    installed = later_version(tmp_path, sql=None)
    with running(
        "serve", "--port=0", "--workers=2", database=account, settings=installed
    ) as process:
        host, port = address_of(process)
        before = workers_of(process.pid)
        say_version(tmp_path, "99.2.0")
        os.kill(process.pid, signal.SIGHUP)
        url = f"http://{host}:{port}"
        # The log is read meanwhile: into a full pipe, a worker that ends writes no last line.
        with ThreadPoolExecutor(1) as reader:
            replaced = "event='all workers are replaced' workers=2"
            reading = reader.submit(lines_until, process, replaced)
            for _ in range(TURNS_MAX):
                assert status_of(url, CREDENTIALS) == (200, None)
                found = workers_of(process.pid)
                if len(found) == 2 and not found & before:
                    break
            lines = reading.result()
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0
    assert not workers_of(process.pid) & before
    started = [line for line in lines if "event='server process started'" in line]
    assert sum("version='99.2.0'" in line for line in started) == 2
    assert sum(f"version='{VERSION}'" in line for line in started) <= 2
    assert sum("event='server process ended'" in line for line in lines) == 2


@ONLY_LONG
@SHORT_ON_SQLITE
def test_at_sighup_connections_that_are_kept_lose_no_request(account: str) -> None:
    """rules, "SIGHUP": the next response on each says that the connection is closed."""
    with running("serve", "--port=0", "--workers=2", database=account) as process:
        address = address_of(process)
        clients = [http.client.HTTPConnection(*address, timeout=TIMEOUT_S) for _ in range(CLIENTS)]
        for client in clients:
            assert ask(client) is None
        os.kill(process.pid, signal.SIGHUP)
        # The old ones end when their connections have, so they go on until these have asked again.
        with ThreadPoolExecutor(1) as reader:
            reading = reader.submit(lines_until, process, "event='all workers are replaced'")
            closed: set[http.client.HTTPConnection] = set()
            while not reading.done():
                closed |= {client for client in clients if client not in closed and ask(client)}
            reading.result()
        assert closed == {*clients}
        for client in clients:
            assert ask(client) is None
            client.close()
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0


def ask(client: http.client.HTTPConnection) -> str | None:
    """Return what the response says of the connection, which is opened again if it was closed."""
    client.request("GET", "/health")
    response = client.getresponse()
    assert response.status == 200
    assert response.read()
    return response.headers["Connection"]


@ONLY_LONG
@SHORT_ON_SQLITE
def test_at_sighup_a_version_that_cannot_start_leaves_the_old_workers(
    account: str, tmp_path: Path
) -> None:
    """rules, "SIGHUP": here it is one that needs another schema."""
    installed = later_version(tmp_path, sql=None)
    with running(
        "serve", "--port=0", "--workers=2", database=account, settings=installed
    ) as process:
        host, port = address_of(process)
        before = workers_of(process.pid)
        sql = tmp_path / "masthead" / "store" / "sql"
        for dialect in ("sqlite", "postgresql"):
            (sql / dialect / "0002_later.sql").write_text(HIDES_KEYS)
        os.kill(process.pid, signal.SIGHUP)
        lines = lines_until(process, "event='a new worker could not start: old ones go on'")
        assert any("needs schema 2" in line for line in lines)
        assert "replaced=0 old=2" in lines[-1]
        assert workers_of(process.pid) == before
        assert status_of(f"http://{host}:{port}", CREDENTIALS) == (200, None)
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0
    assert schema(account) == 1


@ONLY_LONG
@ON_SQLITE
def test_at_sighup_a_renewed_certificate_is_used(account: str, tmp_path: Path) -> None:
    """rules, "SIGHUP"."""
    certificate, key = make_certificate(tmp_path)
    with running(
        *("serve", "--port=0", "--workers=2"),
        *(f"--certificate={certificate}", f"--certificate-key={key}"),
        database=account,
    ) as process:
        address = address_of(process)
        first = ssl.get_server_certificate(address)
        assert first == certificate.read_text()
        (tmp_path / "renewed").mkdir()
        for old, new in zip(
            (certificate, key), make_certificate(tmp_path / "renewed"), strict=True
        ):
            new.replace(old)
        assert ssl.get_server_certificate(address) == first
        os.kill(process.pid, signal.SIGHUP)
        lines_until(process, "event='all workers are replaced'")
        assert ssl.get_server_certificate(address) == certificate.read_text() != first


@pytest.fixture
def sighup_ends() -> Iterator[None]:
    """Programs that are started now do not ignore the signal, though nohup runs these tests."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@ON_SQLITE
def test_sighup_ends_a_server_without_workers(account: str, sighup_ends: None) -> None:
    """rules, "SIGHUP": as any program whose terminal has gone."""
    with running("serve", "--port=0", database=account) as process:
        address_of(process)
        os.kill(process.pid, signal.SIGHUP)
        assert process.wait(STOP_SECONDS_MAX) == -signal.SIGHUP
