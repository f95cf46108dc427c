"""``masthead backup`` and ``masthead restore``: the drill."""

from __future__ import annotations

import itertools
import json
import os
import signal
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import httpx2
import pytest

from masthead.errors import MastheadError
from masthead.store import audit, find_store, open_store
from masthead.store.backups import restore_backup
from tests.cli.running import begun, spoil
from tests.servers import (
    Store,
    import_files,
    masthead,
    run,
    serving,
    write_ndjson,
)

if TYPE_CHECKING:
    import subprocess

    from tests.postgres import Databases

HEADER = "Masthead-Changes-Through"
MANY = 40_000

_numbers = itertools.count()


@pytest.fixture
def file_store(tmp_path: Path) -> Store:
    """The embedded database alone: one on a server is refused, which a test of its own sees."""
    return Store("sqlite", tmp_path)


@pytest.fixture
def loaded(file_store: Store, tmp_path: Path) -> str:
    """A database whose account 1 has three subscribers."""
    database = file_store.new_database(f"drill-{next(_numbers)}")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
    load(database, tmp_path / "start", 1, 3)
    return database


def load(database: str, folder: Path, first: int, last: int) -> None:
    rows = [{"subscriber_id": number} for number in range(first, last + 1)]
    import_files(*write_ndjson(folder, {"subscribers": rows}), account_id="1", database=database)


def path_of(database: str) -> Path:
    return Path(database.removeprefix("sqlite:///"))


def exported(database: str, folder: Path) -> dict[str, bytes]:
    """Return all files of data that `masthead export` writes."""
    masthead("export", folder, "--account=1", database=database)
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def ask(url: str, path: str) -> httpx2.Response:
    return httpx2.get(url + path, auth=("key", "login"))


def feed(url: str, since: str) -> httpx2.Response:
    return ask(url, f"/2/cdc?entities=subscribers&changed_since={since.replace('+', '%2B')}")


def snapshot(url: str) -> tuple[list[str], str]:
    """Return the subscribers of the snapshot, and the time to go on from."""
    answer = ask(url, "/snapshot?entities=subscribers")
    assert answer.status_code == 200, answer.text
    return [row["subscriber_id"] for row in answer.json()["subscribers"]], answer.headers[HEADER]


def test_the_drill(loaded: str, tmp_path: Path) -> None:
    """rules, "Backups" and "Restored backups": back up, lose, restore, go on."""
    backup = tmp_path / "night.backup"
    with serving(loaded) as server:
        held, through = snapshot(server.url)
        said = masthead("backup", backup, database=loaded).stdout
        assert said.startswith(f"{backup}: ")
        assert "checked" in said
        assert "not the secret key" in said
        before = exported(loaded, tmp_path / "before")
        load(loaded, tmp_path / "lost", 4, 9)
        lost = feed(server.url, through)
        assert len(lost.json()["subscribers"]) == 6
        refused = masthead("restore", backup, "--replace", database=loaded, exit_status=1)
        assert "is in use: stop its server" in refused.stderr
        assert len(snapshot(server.url)[0]) == 9

    refused = masthead("restore", backup, database=loaded, exit_status=2)
    assert "what it holds would be lost; --replace replaces it" in refused.stderr
    said = masthead("restore", backup, "--replace", database=loaded).stdout
    assert "a new epoch began in 1 account\n" in said

    assert exported(loaded, tmp_path / "after") == before
    with serving(loaded) as server:
        assert feed(server.url, through).status_code == 410
        assert feed(server.url, lost.headers[HEADER]).status_code == 410
        again, through = snapshot(server.url)
        assert again == held
        load(loaded, tmp_path / "new", 4, 4)
        assert [
            row["subscriber_id"] for row in feed(server.url, through).json()["subscribers"]
        ] == ["4"]
    assert list(path_of(loaded).parent.glob("*.unfinished-*")) == []


def test_a_backup_while_a_load_goes_on_is_what_was_before_it_or_after(
    loaded: str, tmp_path: Path
) -> None:
    """rules, "Backups": one moment, for a reader of the file who has nothing but it."""
    rows = [{"subscriber_id": number} for number in range(4, MANY + 1)]
    files = write_ndjson(tmp_path / "many", {"subscribers": rows})
    with begun("import", *files, "--account=1", database=loaded) as loading:
        backups: list[Path] = []
        while loading.poll() is None:
            backups.append(tmp_path / f"backup-{len(backups)}")
            masthead("backup", backups[-1], database=loaded)
    assert loading.returncode == 0
    assert backups
    for backup in backups:
        with closing(apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            ((count,),) = connection.execute("SELECT count(*) FROM subscribers")
        assert count in {3, MANY}
    assert sorted(path.name for path in tmp_path.glob("*backup-*")) == sorted(
        backup.name for backup in backups
    )


def test_a_backup_is_its_owners_alone_and_replaces_nothing(loaded: str, tmp_path: Path) -> None:
    """rules, "Backups": it holds the credentials of all accounts."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=loaded)
    assert backup.stat().st_mode & 0o777 == 0o600
    content = backup.read_bytes()
    refused = masthead("backup", backup, database=loaded, exit_status=2)
    assert "exists already" in refused.stderr
    assert backup.read_bytes() == content


def test_a_backup_is_restored_where_there_is_no_database_and_where_there_is_a_damaged_one(
    loaded: str, file_store: Store, tmp_path: Path
) -> None:
    """rules, "Restored backups": the damage is what it is for."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=loaded)
    before = exported(loaded, tmp_path / "before")
    elsewhere = file_store.new_database(f"drill-{next(_numbers)}")
    masthead("restore", backup, database=elsewhere)
    assert exported(elsewhere, tmp_path / "elsewhere") == before
    path_of(elsewhere).with_name(f"{path_of(elsewhere).name}-wal").touch()
    path_of(elsewhere).with_name(f"{path_of(elsewhere).name}-shm").touch()
    spoil(file_store, elsewhere)
    refused = masthead("restore", backup, "--replace", database=elsewhere, exit_status=1)
    assert f"the list of the erased cannot be read from {path_of(elsewhere)} (" in refused.stderr
    assert "--erasures ACCOUNT FILE" in refused.stderr
    options = ("--replace", "--even-if-unreadable")
    said = masthead("restore", backup, *options, database=elsewhere).stderr
    assert "could be carried over from the replaced database" in said
    assert exported(elsewhere, tmp_path / "again") == before


# Who is erased, and who did what.


def held(database: str, subscriber_id: int) -> str:
    """Return all that is held of a subscriber of account 1."""
    whom = ("--account=1", f"--subscriber={subscriber_id}")
    return masthead("subscriber-data", *whom, database=database).stdout


def commands(database: str) -> list[str]:
    """Return the commands in the record of who did what, without their options."""
    printed = masthead("audit", "--format=json", database=database).stdout
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    return [line["command"].split()[0] for line in lines]


@pytest.fixture
def named(loaded: str, tmp_path: Path) -> str:
    """The database, whose subscribers 1 to 3 have an address that names them."""
    people = [{"subscriber_id": n, "email": f"{n}@quill.example"} for n in (1, 2, 3)]
    files = write_ndjson(tmp_path / "named", {"subscribers": people})
    import_files(*files, account_id="1", database=loaded)
    return loaded


def test_who_was_erased_after_the_backup_stays_so(named: str, tmp_path: Path) -> None:
    """rules, "Restored backups: the erased": also whom only the next load brings back."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=named)
    load(named, tmp_path / "later", 4, 4)
    for subscriber_id in (2, 4):
        whom = ("--account=1", f"--subscriber={subscriber_id}", "--yes")
        masthead("erase", *whom, database=named)
    list_before = exported(named, tmp_path / "before")["erasures.csv"]
    said = masthead("restore", backup, "--replace", database=named).stdout.splitlines()
    assert said == [
        "restored; a new epoch began in 1 account",
        "account 1: erased again: subscribers 2, 4",
        "4 records of the audit log carried over",
    ]
    assert exported(named, tmp_path / "after")["erasures.csv"] == list_before
    assert b"2@quill.example" not in path_of(named).read_bytes()
    assert b"3@quill.example" in path_of(named).read_bytes()
    with serving(named) as server:
        everyone = ask(server.url, "/snapshot?entities=subscribers")
        through = everyone.headers[HEADER]
        emails = [row["email"] for row in everyone.json()["subscribers"]]
        # The blank one last: a commit of its own, in the new epoch, has changed it.
        assert emails == ["1@quill.example", "3@quill.example", ""]
        assert everyone.json()["subscribers"][-1]["delete_date"]
        assert feed(server.url, through).json()["subscribers"] == []
    people = [{"subscriber_id": n, "email": f"{n}@quill.example"} for n in (2, 4)]
    files = write_ndjson(tmp_path / "again", {"subscribers": people})
    said_of_load = import_files(*files, account_id="1", database=named)
    assert "2 rows of erased subscribers kept blank" in said_of_load
    assert "quill" not in held(named, 2) + held(named, 4)


def test_the_record_of_who_did_what_goes_on_through_restores(named: str, tmp_path: Path) -> None:
    """rules, "Who did what": nothing of it is lost, or there twice."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=named)
    masthead("accounts", "rotate-credentials", 1, database=named)
    before = ["accounts", "import", "import", "backup", "accounts"]
    assert commands(named) == before
    masthead("restore", backup, "--replace", database=named)
    # Of the epoch, and of the account whose pair came from the replaced database.
    assert commands(named) == [*before, "restore", "restore"]
    masthead("restore", backup, "--replace", database=named)
    assert commands(named) == [*before, *["restore"] * 4]


def test_a_named_list_erases_where_the_database_is_lost_or_damaged(
    named: str, file_store: Store, tmp_path: Path
) -> None:
    """rules, "Restored backups: the erased"; several lists, one an account."""
    backup = tmp_path / "backup"
    masthead("accounts", "add", 2, database=named)
    masthead("backup", backup, database=named)
    masthead("erase", "--account=1", "--subscriber=3", "--yes", database=named)
    exported(named, tmp_path / "copy")
    (tmp_path / "erasures.csv").write_text("subscriber_id\n7\n", encoding="utf-8")
    of_one = ("--erasures", 1, tmp_path / "copy" / "erasures.csv")
    of_two = ("--erasures", 2, tmp_path / "erasures.csv")
    elsewhere = file_store.new_database(f"drill-{next(_numbers)}")
    said = masthead("restore", backup, database=elsewhere)
    assert "No list of the erased was carried over: there was no database." in said.stderr
    assert "3@quill" in held(elsewhere, 3)
    spoil(file_store, elsewhere)
    said = masthead("restore", backup, "--replace", *of_one, *of_two, database=elsewhere)
    assert "could be carried over from the replaced database" in said.stderr
    assert "account 1: erased again: subscriber 3\n" in said.stdout
    assert "account 2: erased again: subscriber 7\n" in said.stdout
    assert "quill" not in held(elsewhere, 3)
    printed = masthead("audit", database=elsewhere).stdout
    assert f"--erasures 1 {tmp_path / 'copy' / 'erasures.csv'} --erasures 2 " in printed


def test_a_list_that_cannot_be_read_restores_nothing(named: str, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    masthead("backup", backup, database=named)
    masthead("erase", "--account=1", "--subscriber=3", "--yes", database=named)
    bad = tmp_path / "erasures.csv"
    bad.write_text("subscriber_id\nx\n", encoding="utf-8")
    options = ("restore", backup, "--replace", "--erasures", 1)
    refused = masthead(*options, bad, database=named, exit_status=1)
    assert f"{bad}:2: subscriber_id: " in refused.stderr
    refused = masthead(*options, tmp_path / "none.csv", database=named, exit_status=1)
    assert "there is no such file" in refused.stderr
    (tmp_path / "orders.csv").touch()
    refused = masthead(*options, tmp_path / "orders.csv", database=named, exit_status=2)
    assert "a list of the erased is named erasures.csv" in refused.stderr
    assert "quill" not in held(named, 3)


def test_a_database_of_a_newer_version_hands_its_list_on(named: str, tmp_path: Path) -> None:
    """rules, "Restored backups: the erased"."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=named)
    masthead("erase", "--account=1", "--subscriber=2", "--yes", database=named)
    with closing(apsw.Connection(os.fspath(path_of(named)))) as connection:
        connection.execute("INSERT INTO migrations VALUES (99, 'newer', '')")
    said = masthead("restore", backup, "--replace", database=named).stdout
    assert "account 1: erased again: subscriber 2\n" in said


def test_what_is_written_while_a_backup_is_restored_is_not_lost_silently(
    named: str, tmp_path: Path
) -> None:
    """rules, "Restored backups: the erased": an erasure, above all."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=named)
    store = find_store(named)

    def erase_meanwhile(_done: int, _total: int) -> None:
        masthead("erase", "--account=1", "--subscriber=1", "--yes", database=named)

    with pytest.raises(MastheadError, match="something was written to the database"):
        restore_backup(store, backup, replace=True, advance=erase_meanwhile)
    assert "quill" not in held(named, 1)
    assert not list(tmp_path.rglob("*.unfinished-*"))


# What a killed command leaves.


@pytest.fixture
def big(named: str) -> str:
    """The database, so large that to copy it takes a while."""
    with (
        closing(open_store(named)) as opened,
        opened.writer() as database,
        database.transaction(),
    ):
        for number in range(64):
            audit.record(database, audit.Actor("nobody", str(number)), "x" * 2**20)
    return named


def unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.unfinished-*") if path.stat().st_size > 2**20]


def wait_for_unfinished(process: subprocess.Popen[bytes], folder: Path) -> None:
    while not unfinished(folder):
        assert process.poll() is None, "it has ended already"


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_what_a_killed_command_leaves_is_removed_by_the_next(
    big: str, tmp_path: Path, command: str
) -> None:
    """rules, "Backups": a full copy of the database."""
    kept = tmp_path / "kept"
    masthead("backup", kept, database=big)
    folder = tmp_path if command == "backup" else path_of(big).parent
    options = [tmp_path / "killed"] if command == "backup" else [kept, "--replace"]
    with begun(command, *options, database=big) as process:
        wait_for_unfinished(process, folder)
        process.kill()
    (left,) = unfinished(folder)
    Path(f"{left}-wal").touch()
    name = "killed" if command == "backup" else path_of(big).name
    assert left.name.startswith(f"{name}.unfinished-{command}-")
    assert left.stat().st_mode & 0o777 == 0o600
    mine = folder / "notes.unfinished-business"
    mine.touch()
    said = masthead("backup", folder / "next", database=big).stdout
    assert said.startswith(f"removed {left}, which a command that was killed had left\n")
    assert list(folder.glob("*.unfinished-*")) == [mine]


def test_links_and_pipes_beside_a_backup_are_neither_followed_nor_read(
    named: str, tmp_path: Path
) -> None:
    """rules, "Backups": a folder for all backups may be open to other users."""
    pipe, link = (tmp_path / f"x.unfinished-backup-{digit * 8}" for digit in "01")
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    masthead("backup", tmp_path / "night", database=named)
    assert link.is_symlink()


def test_what_a_running_backup_makes_is_left_alone(big: str, tmp_path: Path) -> None:
    """rules, "Backups"."""
    with begun("backup", tmp_path / "slow", database=big) as process:
        wait_for_unfinished(process, tmp_path)
        process.send_signal(signal.SIGSTOP)
        try:
            said = masthead("backup", tmp_path / "quick", database=big).stdout
            assert len(unfinished(tmp_path)) == 1
        finally:
            process.send_signal(signal.SIGCONT)
    assert "removed" not in said
    assert process.returncode == 0
    assert (tmp_path / "slow").exists()
    assert not list(tmp_path.glob("*.unfinished-*"))


def test_an_incomplete_backup_leaves_the_database_unchanged(loaded: str, tmp_path: Path) -> None:
    before = exported(loaded, tmp_path / "before")
    backup = tmp_path / "backup"
    masthead("backup", backup, database=loaded)
    content = bytearray(backup.read_bytes())
    page = int.from_bytes(content[16:18]) or 65_536
    (tmp_path / "cut").write_bytes(content[: len(content) // 2])
    content[page : 12 * page] = bytes(11 * page)
    (tmp_path / "holes").write_bytes(content)
    (tmp_path / "text").write_text("no database at all\n" * 100)
    with closing(apsw.Connection(str(tmp_path / "other"))) as connection:
        connection.execute("CREATE TABLE t (x)")
    for name, sentence in (
        ("cut", "damaged|cannot be copied"),
        ("holes", "damaged|cannot be copied"),
        ("text", "cannot be copied"),
        ("other", "is not a backup of Masthead"),
        ("nowhere", "there is no such file"),
    ):
        refused = run("restore", name, "--replace", database=loaded, cwd=tmp_path)
        assert refused.returncode == 1, name
        assert any(words in refused.stderr for words in sentence.split("|")), refused.stderr
        assert "Traceback" not in refused.stderr
    assert exported(loaded, tmp_path / "after") == before


def test_a_server_that_only_waits_is_known(loaded: str, tmp_path: Path) -> None:
    """rules, "Restored backups"; each of several workers has the file open."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=loaded)
    with serving(loaded, "--workers=2") as server:
        assert httpx2.get(f"{server.url}/2/accounts/").status_code == 401
        refused = masthead("restore", backup, "--replace", database=loaded, exit_status=1)
        assert "is in use" in refused.stderr


def test_a_database_on_a_server_has_tools_of_its_own(postgres: Databases, tmp_path: Path) -> None:
    """rules, "Backups"."""
    database = Store("postgresql", tmp_path, postgres).new_database(f"drill-{next(_numbers)}")
    (tmp_path / "x").touch()
    for command in ("backup", "restore"):
        refused = masthead(command, tmp_path / "x", database=database, exit_status=2)
        assert "pg_dump" in refused.stderr
        assert "masthead feed new-epoch" in refused.stderr


def test_what_cannot_be_read_or_written_is_said(loaded: str, tmp_path: Path) -> None:
    nowhere = "sqlite:///" + os.fspath(tmp_path / "none.db")
    refused = masthead("backup", tmp_path / "b", database=nowhere, exit_status=1)
    assert "cannot be opened" in refused.stderr
    assert not (tmp_path / "none.db").exists()
    refused = masthead("backup", tmp_path / "no" / "b", database=loaded, exit_status=1)
    assert refused.stderr == f"there is no folder {tmp_path / 'no'}\n"
    assert list(tmp_path.glob("*.unfinished-*")) == []
