"""``masthead backup`` and ``masthead restore``: the drill."""

from __future__ import annotations

import itertools
import os
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import httpx2
import pytest

from tests.cli.running import MASTHEAD, run, spoil
from tests.servers import Store, environment, import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
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
    return httpx2.get(url + path, auth=("key", "login"), trust_env=False)


def feed(url: str, since: str) -> httpx2.Response:
    return ask(url, f"/2/cdc?entities=subscribers&changed_since={since.replace('+', '%2B')}")


def snapshot(url: str) -> tuple[list[str], str]:
    """Return the subscribers of the snapshot, and the time to go on from."""
    answer = ask(url, "/snapshot?entities=subscribers")
    assert answer.status_code == 200, answer.text
    return [row["subscriber_id"] for row in answer.json()["subscribers"]], answer.headers[HEADER]


def test_the_drill(loaded: str, tmp_path: Path) -> None:
    """decisions, "Backups" and "Restored backups": back up, lose, restore, go on."""
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
    assert "say --replace to lose what it holds" in refused.stderr
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
    assert sorted(path.name for path in path_of(loaded).parent.glob(".*")) == []


def test_a_backup_while_a_load_goes_on_is_what_was_before_it_or_after(
    loaded: str, tmp_path: Path
) -> None:
    """decisions, "Backups": one moment, for a reader of the file who has nothing but it."""
    rows = [{"subscriber_id": number} for number in range(4, MANY + 1)]
    files = write_ndjson(tmp_path / "many", {"subscribers": rows})
    with subprocess.Popen(
        [*MASTHEAD, "import", *map(str, files), "--account=1"],
        env=environment(loaded),
        stdout=subprocess.DEVNULL,
    ) as loading:
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
    """decisions, "Backups": it holds the credentials of all accounts."""
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
    """decisions, "Restored backups": the damage is what it is for."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=loaded)
    before = exported(loaded, tmp_path / "before")
    elsewhere = file_store.new_database(f"drill-{next(_numbers)}")
    masthead("restore", backup, database=elsewhere)
    assert exported(elsewhere, tmp_path / "elsewhere") == before
    path_of(elsewhere).with_name(f"{path_of(elsewhere).name}-wal").touch()
    path_of(elsewhere).with_name(f"{path_of(elsewhere).name}-shm").touch()
    spoil(file_store, elsewhere)
    masthead("restore", backup, "--replace", database=elsewhere)
    assert exported(elsewhere, tmp_path / "again") == before


def test_what_is_no_whole_backup_leaves_the_database_as_it_was(loaded: str, tmp_path: Path) -> None:
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
    """decisions, "Restored backups"; each of several workers has the file open."""
    backup = tmp_path / "backup"
    masthead("backup", backup, database=loaded)
    with serving(loaded, "--workers=2") as server:
        assert httpx2.get(f"{server.url}/2/accounts/", trust_env=False).status_code == 401
        refused = masthead("restore", backup, "--replace", database=loaded, exit_status=1)
        assert "is in use" in refused.stderr


def test_a_database_on_a_server_has_tools_of_its_own(postgres: Databases, tmp_path: Path) -> None:
    """decisions, "Backups"."""
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
    assert "No such file or directory" in refused.stderr
    assert list(tmp_path.glob(".*")) == []
