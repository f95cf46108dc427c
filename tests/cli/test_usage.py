"""Help, settings, and how a command ends: 0, 1 for bad data, 2 for bad usage; never a traceback."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from masthead.cli import cli
from masthead.cli.summaries import SUMMARIES
from masthead.settings import SETTINGS
from masthead.store import open_store
from tests.cli.books_commands import BOOKS_COMMANDS
from tests.loading.publisher import SMALL
from tests.servers import masthead, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.postgres import Databases


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        yield (*names, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)


COMMANDS = dict(commands(cli))


def test_the_commands_are_those_of_the_interface() -> None:
    assert {" ".join(words) for words in COMMANDS} == {
        "import",
        "export",
        "backup",
        "restore",
        "invoice",
        "payment",
        "generate",
        "serve",
        "demo",
        "emulator",
        "entitlements",
        "entitlements rotate",
        "entitlements keys",
        "entitlements stop",
        "console",
        "readers",
        "operators",
        "operators add",
        "operators list",
        "operators set",
        "operators remove",
        "partners",
        "partners add",
        "partners list",
        "partners set",
        "partners rotate",
        "partners remove",
        "partners requests",
        "manual",
        "openapi",
        "feed",
        "feed new-epoch",
        "accounts",
        "accounts add",
        "accounts list",
        "accounts show",
        "accounts set",
        "accounts pages",
        "accounts shop-key",
        "accounts rekey",
        "accounts remove",
        "accounts rotate-credentials",
        "accounts export",
        "database",
        "database distribute",
        "database migrate",
        "database status",
        "check",
        "mirror",
        "mirror keep",
        "mirror verify",
        "erase",
        "subscriber-data",
        "audit",
        *("documents", "documents check", "documents export"),
        "loads",
        "remove",
        *BOOKS_COMMANDS,
        *(
            "books",
            "catalogue",
            "order",
            "subscription",
            "subscription consent",
            "subscriber",
            "issue",
            "letter",
            "renewals",
            *("complaint", "note", "replacement"),
            *("billing", "billing rates", "billing shipping", "journal", "mail", "payer"),
            *("debit", "mandate", "qualification", "qualification efforts"),
        ),
        *(f"catalogue {thing}" for thing in ("publication", "issue", "bundle", "product")),
        *("catalogue class", "catalogue reason", "renewals efforts", "report"),
        *("reminders", "reminders levels"),
    }


def test_every_command_has_help_that_names_its_settings(subtests: pytest.Subtests) -> None:
    runner = CliRunner()
    for words, command in COMMANDS.items():
        with subtests.test(" ".join(words)):
            done = runner.invoke(cli, [*words, "--help"], prog_name="masthead")
            assert (done.exit_code, done.stderr) == (0, "")
            assert_is_help(done.stdout, words, command)
            assert "\\b" not in done.stdout, "the mark of lines that stay as they are"


def test_the_program_has_help_that_names_its_commands(database: str) -> None:
    done = masthead("--help", database=database)
    assert done.stderr == ""
    assert_is_help(done.stdout, (), cli)


def assert_is_help(printed: str, words: tuple[str, ...], command: click.Command) -> None:
    assert printed.startswith(f"Usage: masthead {' '.join(words)}".rstrip())
    assert command.help
    for parameter in command.params:
        if parameter.name in SETTINGS:
            assert SETTINGS[parameter.name].flag in printed
            assert SETTINGS[parameter.name].variable in printed.replace("\n", "").replace(" ", "")
    for name in getattr(command, "commands", ()):
        assert f"  {name} " in printed


def test_the_list_of_commands_says_of_each_what_its_own_help_begins_with() -> None:
    found = {
        words[0]: command.get_short_help_str(1_000)
        for words, command in COMMANDS.items()
        if len(words) == 1
    }
    assert found == SUMMARIES


def test_version_is_printed(database: str) -> None:
    assert masthead("--version", database=database).stdout.startswith("masthead, version ")


def test_every_setting_is_an_option_with_its_twin_and_is_used() -> None:
    used = set()
    for command in COMMANDS.values():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.name in SETTINGS:
                setting = SETTINGS[parameter.name]
                used.add(setting.name)
                assert parameter.opts == [setting.flag]
                assert parameter.envvar == setting.variable
                named = {"key": "api_key", "login": "api_login"}.get(setting.name, setting.name)
                assert setting.variable == f"MASTHEAD_{named.upper()}"
    # A secret has no flag, which everybody on the machine could read.
    assert used == {name for name, setting in SETTINGS.items() if not setting.is_secret}


def test_settings_of_data_work_from_the_environment_and_the_flag_wins(
    account: str, tmp_path: Path
) -> None:
    """decisions, "Settings"."""
    settings = {"MASTHEAD_SUBSCRIBERS": "7", "MASTHEAD_SEED": "3"}
    run("generate", "env", database=account, settings=settings, cwd=tmp_path)
    run("generate", "flag", "--subscribers=7", "--seed=3", database=account, cwd=tmp_path)
    run("generate", "win", "--subscribers=8", database=account, settings=settings, cwd=tmp_path)
    sizes = {
        name: (tmp_path / name / "subscribers.csv").read_bytes() for name in ("env", "flag", "win")
    }
    assert sizes["env"] == sizes["flag"]
    assert sizes["win"].count(b"\n") == sizes["env"].count(b"\n") + 1

    (tmp_path / "subscribers.csv").write_text("subscriber_id\n1\nx\n")
    settings = {"MASTHEAD_ACCOUNT": "1", "MASTHEAD_REJECT": "bad", "MASTHEAD_MAX_REJECTED": "1"}
    done = run("import", "subscribers.csv", database=account, settings=settings, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "bad" / "subscribers.csv").exists()
    done = run("export", "out", database=account, settings=settings, cwd=tmp_path)
    assert done.returncode == 0
    flag = "--database=sqlite:///other.db"
    done = run("accounts", "add", "2", flag, database=account, cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "other.db").exists()


def test_without_a_setting_the_database_is_a_file_of_the_current_folder(tmp_path: Path) -> None:
    """An empty variable is no setting."""
    done = run("accounts", "add", "1", database="", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "masthead.db").exists()


NOWHERE = "postgresql://127.0.0.1:1/masthead"
"""A port at which nothing listens."""

BAD_USAGE = [
    (("frob",), "No such command 'frob'"),
    (("import",), "Missing argument"),
    (("import", "in", "--account", "x"), "'x' is not a valid integer"),
    (("import", "in", "--account=-1"), "-1 is not in the range"),
    (("import", "in"), "say whose data it is; --account names"),
    (("import", "in", "--account=1", "--reject=in"), "choose another folder"),
    (("import", "in", "--account=1", "--reject=a-file"), "is a file"),
    (("import", "in", "--account=1", "--nonsense"), "No such option"),
    (("export", "out"), "name the account with --account"),
    (("export", "a-file", "--account=1"), "is a file"),
    (("generate", "g", "--subscribers=-1"), "is not in the range"),
    (("generate", "g", "--seed=x"), "is not a valid integer"),
    (("serve", "--port=65536"), "is not in the range"),
    (("serve", "--workers=0"), "is not in the range"),
    (("serve", "--port=0", "--certificate=a-file"), "give both"),
    (
        ("serve", "--port=0", "--certificate=a-file", "--certificate-key=another"),
        "the certificate a-file and its key another cannot be used",
    ),
    (("serve", "--port=0", f"--host={'a' * 70}"), "cannot listen at"),
    (("serve", "--port=0", "--host=no.such.host.invalid"), "cannot listen at"),
    (("accounts", "list", "--database=mysql://x"), "is not a database that Masthead knows"),
    (("accounts", "list", "--database=postgresql:x"), "is not a database that Masthead knows"),
    (("accounts", "list", "--database="), "is not a database that Masthead knows"),
    (("accounts", "list", "--database=postgresql://a..b/x"), "the URL of the database cannot be"),
    (("serve", "--database=nonsense", "--port=0"), "is not a database that Masthead knows"),
    (("demo", "--database=nonsense", "--port=0"), "is not a database that Masthead knows"),
    (("demo", f"--database={NOWHERE}", "--port=0"), "the demo keeps its data in a file"),
    (("accounts", "list", f"--database={NOWHERE}?no=such"), "the URL of the database cannot be"),
    (
        ("serve", "--port=0", f"--read-database={NOWHERE}"),
        "only a PostgreSQL database has a replica to read from",
    ),
    (
        ("serve", "--port=0", f"--database={NOWHERE}", "--read-database=sqlite:///x.db"),
        "a replica of a PostgreSQL database is named as postgresql://host/name",
    ),
]
BAD_DATA = [
    (("import", "nowhere", "--account=1"), "nowhere: there is no such file or folder"),
    (("import", "empty", "--account=1"), "empty: there is no file to load"),
    (("import", "a-file", "--account=1"), "the name ends with none of"),
    (("import", "in", "--account=9"), "there is no account 9"),
    (("import", "in", "--account=1", "--reject=a-file/r"), "a-file/r"),
    (("import", "bad.csv", "--account=1"), "'bad' is nothing to load; the nearest is"),
    (("export", "out", "--account=9"), "there is no account 9"),
    (("export", "a-file/out", "--account=1"), "a-file/out: cannot be written to"),
    (("generate", "a-file/out"), "a-file/out"),
    (("backup", "nowhere/b.db"), "there is no folder nowhere\n"),
    (("loads", "--account=9"), "there is no account 9"),
    (("audit", "--account=9"), "there is no account 9"),
    (("operators", "list", "--account=9"), "there is no account 9"),
    (("entitlements", "keys", "9"), "there is no account 9"),
    (("accounts", "list", "--database=sqlite:///no/such/folder/x.db"), "there is no database "),
    (
        ("accounts", "add", "1", "--database=sqlite:///no/such/folder/x.db"),
        "no/such/folder/x.db cannot be opened: there is no folder ",
    ),
    (
        ("accounts", "list", "--database=sqlite:///empty"),
        "the database empty cannot be opened: it is a folder",
    ),
    (("accounts", "list", f"--database={NOWHERE}"), "the database cannot be opened: "),
    (("serve", "--port=0", f"--database={NOWHERE}"), "the database cannot be opened: "),
    (
        ("accounts", "list", "--database=sqlite:///a-file"),
        "the database a-file cannot be read: the file is not a database of SQLite",
    ),
    (
        ("serve", "--port=0", "--database=sqlite:///a-file"),
        "the file is not a database of SQLite",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few things that can be named by mistake."""
    folder = tmp_path_factory.mktemp("usage")
    (folder / "in").mkdir()
    (folder / "in" / "subscribers.csv").write_text(SMALL["subscribers.csv"])
    (folder / "empty").mkdir()
    (folder / "a-file").write_text("neither a folder nor a database\n" * 50)
    (folder / "bad.csv").write_text("")
    return folder


@pytest.fixture(scope="module")
def one_account(folder: Path) -> str:
    """A database with account 1."""
    database = f"sqlite:///{folder / 'one.db'}"
    masthead("accounts", "add", 1, database=database)
    return database


def said(arguments: tuple[str, ...], status: int, folder: Path, database: str) -> str:
    """Run a command that must fail; return its sentence."""
    done = run(*arguments, database=database, cwd=folder)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert done.stderr.endswith("\n")
    return done.stderr


@pytest.mark.parametrize(("arguments", "sentence"), BAD_USAGE)
def test_bad_usage_ends_with_2_and_a_sentence(
    folder: Path, one_account: str, arguments: tuple[str, ...], sentence: str
) -> None:
    """rules, "Exit statuses"."""
    assert sentence in said(arguments, 2, folder, one_account)


@pytest.mark.parametrize(("arguments", "sentence"), BAD_DATA)
def test_bad_data_end_with_1_and_a_sentence(
    folder: Path, one_account: str, arguments: tuple[str, ...], sentence: str
) -> None:
    assert sentence in said(arguments, 1, folder, one_account)


@pytest.mark.parametrize("arguments", [("accounts", "list"), ("serve", "--port=0")], ids=" ".join)
def test_a_database_that_a_newer_version_made_is_left_alone(
    account: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    with open_store(account).writer() as database:
        database.change("INSERT INTO migrations VALUES (99, 'from_the_future', '')")
    assert "use a newer version" in said(arguments, 1, tmp_path, account)


def test_a_database_that_the_server_does_not_have_is_said(
    postgres: Databases, tmp_path: Path
) -> None:
    """Of PostgreSQL alone: a file that is not there is made."""
    missing = postgres.url("no-such-database")
    for arguments in (("accounts", "list"), ("serve", "--port=0"), ("database", "migrate")):
        sentence = said(arguments, 1, tmp_path, missing)
        assert 'database "no-such-database" does not exist' in sentence


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read and write everything")
def test_what_may_not_be_read_or_written_is_said(one_account: str, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    secret = tmp_path / "subscribers.csv"
    secret.write_text(SMALL["subscribers.csv"])
    secret.chmod(0)
    for arguments in (
        ("import", str(secret), "--account=1"),
        ("export", str(closed / "out"), "--account=1"),
        ("generate", str(closed / "out")),
        ("accounts", "list", f"--database=sqlite:///{closed / 'x.db'}"),
    ):
        said(arguments, 1, tmp_path, one_account)
