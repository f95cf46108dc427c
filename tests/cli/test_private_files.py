"""Files with data are their owner's alone, also where the umask would let everybody read them."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from tests.api.callers import Caller
from tests.loading.publisher import SMALL
from tests.servers import SECRET_KEY, masthead, run, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODES = {"file": 0o600, "folder": 0o700}


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    """Let new files be open to everybody, unless their makers do not; commands inherit it."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Import files of the small publisher, one of which has a bad row; two of a table."""
    for folder in ("files", "more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "purchases.csv").write_text("purchase_id\nbad\n")
    for name, content in SMALL.items():
        if name != "purchases.csv":
            (tmp_path / "files" / name).write_text(content)
    return tmp_path


def mode(path: Path) -> int:
    """Return who may do what."""
    return stat.S_IMODE(path.stat().st_mode)


def rejects(folder: Path) -> tuple[object, ...]:
    """Return the options to set rows aside, however many are bad."""
    return ("--reject", folder, "--max-rejected=100%")


def assert_private(folder: Path) -> list[str]:
    """Assert that the folder and all in it are their owner's alone; return the files' names."""
    for path in (folder, *folder.rglob("*")):
        assert mode(path) == MODES["folder" if path.is_dir() else "file"], (path, oct(mode(path)))
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_exports_and_rejected_rows_are_their_owners_alone(account: str, files: Path) -> None:
    """rules, "Who may read the files": folders that are made on the way there included."""
    made = files / "made"
    masthead(
        *("import", files / "files", files / "more", "--account=1", *rejects(made / "bad")),
        database=account,
    )
    masthead("export", made / "deep" / "copy", "--account=1", database=account)
    found = assert_private(made)
    assert found.count("purchases.csv") == 3
    assert "changes_through.txt" in found


def test_what_is_replaced_is_private_and_a_folder_that_exists_stays_as_it_is(
    account: str, files: Path
) -> None:
    """rules, "Who may read the files"."""
    folder = files / "shared"
    folder.mkdir()
    folder.chmod(0o750)
    for name in ("purchases.csv", "subscribers.csv", "changes_through.txt"):
        (folder / name).write_text("old")
        (folder / name).chmod(0o644)
    masthead("import", files / "files", "--account=1", *rejects(folder), database=account)
    assert mode(folder / "purchases.csv") == 0o600
    masthead("export", folder, "--account=1", database=account)
    assert mode(folder) == 0o750
    assert {mode(path) for path in folder.iterdir()} == {0o600}


def test_a_database_is_its_owners_alone_while_it_is_made_loaded_and_served(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Who may read the files": the logs and the key beside it as well."""
    monkeypatch.delenv(SECRET_KEY)
    folder = files / "database"
    folder.mkdir(0o700)
    database = f"sqlite:///{folder}/m.db"
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
    with serving(database) as server, closing(Caller(server, "key", "login")) as caller:
        loaded = ("import", files / "files", "--account=1", *rejects(files / "bad"))
        masthead(*loaded, database=database)
        caller.ask("/2/subscribers/authenticate/?login=ada@example.org&password=wrong")
        masthead("backup", folder / "backup.db", database=database)
        beside = {
            f"m.db{end}"
            for end in ("", "-key", "-load-1", "-logins", "-logins-wal", "-shm", "-wal")
        }
        assert beside <= {*assert_private(folder)}
        assert_private(folder)
    restored = f"sqlite:///{folder}/restored.db"
    monkeypatch.setenv(SECRET_KEY, (folder / "m.db-key").read_text().strip())
    masthead("restore", folder / "backup.db", database=restored)
    assert "restored.db" in assert_private(folder)


def test_a_database_that_others_may_read_stays_so(files: Path) -> None:
    """rules, "Who may read the files": the operator may want that; the log goes with it."""
    path = files / "m.db"
    path.touch()
    path.chmod(0o640)
    database = f"sqlite:///{path}"
    masthead("accounts", "add", 1, database=database)
    masthead("import", files / "files", "--account=1", *rejects(files / "bad"), database=database)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("BEGIN IMMEDIATE; ROLLBACK")
        assert {mode(found) for found in files.glob("m.db-[sw]*")} == {0o640}
    assert mode(path) == 0o640


def test_a_mirrors_copy_is_its_owners_alone(account: str, files: Path) -> None:
    """rules, "Who may read the files"."""
    loaded = ("import", files / "files", "--account=1", *rejects(files / "bad"))
    masthead(*loaded, database=account)
    folder = files / "copy"
    folder.mkdir(0o700)
    keys = {"MASTHEAD_API_KEY": "key", "MASTHEAD_API_LOGIN": "login"}
    with serving(account) as server:
        done = run(
            *("mirror", server.url, "--to", f"sqlite:///{folder}/copy.db", "--once"),
            database="sqlite:///nobody-needs-one.db",
            settings=keys,
            cwd=files,
        )
    assert done.returncode == 0, done.stderr
    with closing(apsw.Connection(f"{folder}/copy.db")) as connection:
        connection.execute("BEGIN IMMEDIATE; ROLLBACK")
        assert assert_private(folder) == ["copy.db", "copy.db-shm", "copy.db-wal"]


def test_a_copy_of_parquet_files_is_its_owners_alone_until_its_folder_is_opened(
    account: str, files: Path
) -> None:
    """rules, "Who may read the files": also a read-only file that is kept."""
    loaded = ("import", files / "files", "--account=1", *rejects(files / "bad"))
    masthead(*loaded, database=account)
    folder = files / "copy"
    with serving(account) as server:
        words = ("mirror", server.url, "--to", f"parquet://{folder}/", "--once")
        settings = {"MASTHEAD_API_KEY": "key", "MASTHEAD_API_LOGIN": "login"}
        done = run(*words, database="sqlite:///none.db", settings=settings, cwd=files)
        assert done.returncode == 0, done.stderr
        assert "orders.parquet" in assert_private(folder)
        before = (folder / "current").resolve()
        folder.chmod(0o770)
        (files / "orders.csv").write_text("order_id,import_name\n1,Newly\n")
        masthead("import", files / "orders.csv", "--account=1", database=account)
        done = run(*words, database="sqlite:///none.db", settings=settings, cwd=files)
        assert done.returncode == 0, done.stderr
    version = (folder / "current").resolve()
    assert version != before
    assert {mode(path) for path in (version, version.parent)} == {0o750}
    assert {mode(path) for path in version.iterdir()} == {0o640}
