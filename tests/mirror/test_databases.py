"""The database of a copy: what is not one, who else uses it, and when it goes away."""

from __future__ import annotations

import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import duckdb
import psycopg
import pytest

from masthead.errors import BadUsage, StoreUnavailable
from masthead.mirror import open_copy, opening
from masthead.mirror.dialects import DIALECTS
from masthead.store import open_store
from tests.conftest import KINDS
from tests.mirror.conftest import EACH_COPY
from tests.mirror.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.mirror.publisher import Publisher
    from tests.servers import Store

_numbers = itertools.count()


@EACH_COPY
def test_a_copy_of_another_account_is_left_alone(
    golden: Publisher, sparse: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(golden)
    before = kept.everything()
    sentence = f"copy of account {golden.account_id}, .* open account {sparse.account_id}"
    with pytest.raises(BadUsage, match=sentence):
        kept.update(sparse)
    with pytest.raises(BadUsage, match=sentence):
        kept.verify(sparse)
    with pytest.raises(BadUsage, match=sentence):
        kept.start_from_export(sparse, sparse.export())
    assert kept.everything() == before


def test_a_master_has_a_copy_of_its_own_account_alone(
    new_publisher: Callable[[], Publisher], publisher: Publisher, kept: Kept
) -> None:
    """rules, "`/2/accounts/`": a master's credentials list all of them."""
    master = new_publisher()
    master.set(is_master=1)
    done = kept.update(master)
    assert (done.records, done.state.account_id) == (0, master.account_id)
    kept.run(f"UPDATE mirror SET account_id = {publisher.account_id}")
    with pytest.raises(BadUsage, match=f"open account {master.account_id}"):
        kept.update(master)


def test_new_credentials_of_the_same_account_go_on(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(publisher)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    publisher.set(api_key=f"new-{publisher.account_id}")
    renewed = publisher.with_key(f"new-{publisher.account_id}")
    assert kept.update(renewed).records == 1
    # Login and key may be swapped (decisions, "How credentials travel").
    swapped = renewed.with_key(renewed.login, login=renewed.key)
    assert kept.update(swapped).records == 0


def test_a_database_that_holds_something_else_is_refused_and_left_as_it_is(
    golden: Publisher, store: Store
) -> None:
    """rules, "Mirror: a pass": the server's own database, for one."""
    url = store.new_database(f"own-{next(_numbers)}")
    with closing(open_store(url)):
        pass
    before = tables_of(url)
    with pytest.raises(BadUsage, match="that is none of a copy"):
        Kept(url).update(golden)
    assert tables_of(url) == before


def tables_of(url: str) -> list[tuple[str]]:
    """Return the names of a database's tables."""
    kept = Kept(url)
    is_file = kept.kind == "sqlite"
    names = "sqlite_schema" if is_file else "pg_class"
    return sorted(kept.ask(f"SELECT {'' if is_file else 'rel'}name FROM {names}"))


def test_a_copy_of_another_version_is_refused(golden: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(golden)
    kept.run("ALTER TABLE addresses ADD COLUMN county TEXT")
    with pytest.raises(BadUsage, match=r"table addresses .* another version"):
        kept.update(golden)


def test_the_users_own_tables_stay_beside_the_copy(golden: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(golden)
    kept.run("CREATE TABLE notes AS SELECT order_id FROM orders", "DELETE FROM mirror")
    kept.update(golden)
    assert kept.column("SELECT count(*) FROM notes") == [3]


def test_a_folder_that_does_not_exist_is_named(golden: Publisher, tmp_path: Path) -> None:
    """rules, "Mirror: a pass"."""
    with pytest.raises(StoreUnavailable, match=f"there is no folder {tmp_path}/nowhere"):
        Kept(f"sqlite:///{tmp_path}/nowhere/copy.db").update(golden)


def test_what_cannot_be_opened_as_a_file_is_named(golden: Publisher, tmp_path: Path) -> None:
    """rules, "Mirror: a pass"."""
    (tmp_path / "notes.txt").write_text("No database at all, but long enough for a header. " * 40)
    for name in (".", "notes.txt"):
        with pytest.raises(StoreUnavailable, match=r"the copy .*cannot be"):
            Kept(f"sqlite:///{tmp_path / name}").update(golden)


@pytest.mark.parametrize(
    "url",
    [
        *("copy.db", "mysql://host/copy", "sqlite:///", "sqlite://copy.db"),
        *("duckdb:///", "duckdb://copy.duckdb", "parquet://", "parquet:folder"),
    ],
)
def test_a_url_of_no_database_is_refused(url: str) -> None:
    """rules, "Mirror: a pass"."""
    with pytest.raises(BadUsage, match=r"sqlite:///copy\.db or postgresql://"):
        open_copy(url)


def test_no_password_of_the_copy_is_in_a_message() -> None:
    """decisions, "What is logged"."""
    for url in (
        "postgresql://user:secr%et@host/name",
        "postgresql://user:secret@127.0.0.1:1/name",
        "postgresql://user:secret@127.0.0.1:port/name",
    ):
        with pytest.raises((BadUsage, StoreUnavailable)) as failure:
            open_copy(url)
        assert "secr" not in str(failure.value)


def test_any_name_gives_a_valid_file_name(
    golden: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Mirror: a pass": a copy in memory would be gone with the pass."""
    monkeypatch.chdir(tmp_path)
    Kept("sqlite:///:memory:").update(golden)
    assert Path(":memory:").exists()


@contextmanager
def written_to(kept: Kept) -> Iterator[None]:
    """Write to the copy for as long as the block lasts."""
    match kept.kind:
        case "sqlite":
            with closing(apsw.Connection(str(kept.path))) as file:
                file.execute("BEGIN IMMEDIATE")
                yield
        case "postgresql":
            with psycopg.connect(kept.url) as connection:
                connection.execute(DIALECTS["postgresql"].lock.encode())
                yield
        case _:
            with another_writes(kept):
                yield


@contextmanager
def another_writes(kept: Kept) -> Iterator[None]:
    """Hold the copy open as another process that writes to it does."""
    program = (
        "import sys; from masthead.mirror import open_copy\n"
        f"with open_copy({kept.url!r}).writing(): print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        yield
        process.stdin.close()


@EACH_COPY
def test_a_copy_that_another_mirror_writes_to_is_not_waited_for_long(
    golden: Publisher, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Mirror: a pass": those that cron starts meanwhile do not pile up."""
    monkeypatch.setattr(opening, "LOCK_TIMEOUT_S", 0)
    on_a_server = DIALECTS["postgresql"]
    hasty = on_a_server._replace(lock=on_a_server.lock.replace("10s", "10ms"))
    monkeypatch.setitem(DIALECTS, "postgresql", hasty)
    kept.update(golden)
    with written_to(kept), pytest.raises(StoreUnavailable, match="another mirror"):
        kept.update(golden)
    assert kept.update(golden).records == 0


@EACH_COPY
def test_copies_that_two_mirrors_keep_at_once_are_complete(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: a pass"."""
    with ThreadPoolExecutor(4) as pool:
        first = list(pool.map(kept.update, [publisher] * 4))
        publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
        then = list(pool.map(kept.update, [publisher] * 4))
    assert [bool(done.full_load) for done in first].count(True) == 1
    assert sorted(done.records for done in then) == [0, 0, 0, 1]
    assert kept.differences(publisher) == []


@contextmanager
def begun(kept: Kept) -> Iterator[Any]:
    """Begin a transaction that reads, or read one version of a folder."""
    if kept.kind == "parquet":
        # Not with copies of the files, as `connected` does.
        with closing(duckdb.connect()) as connection:
            file = (kept.path / "current").resolve() / "addresses.parquet"
            connection.execute(f"CREATE VIEW addresses AS FROM '{file}'")
            yield connection
        return
    with kept.connected() as connection:
        is_postgresql = kept.kind == "postgresql"
        connection.execute(f"BEGIN{' ISOLATION LEVEL REPEATABLE READ' if is_postgresql else ''}")
        yield connection


@pytest.mark.parametrize("new_kept", [*KINDS, "parquet"], indirect=True)
def test_readers_neither_wait_nor_are_waited_for(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(publisher)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    city = "SELECT city FROM addresses WHERE address_id = 1"
    with begun(kept) as connection:
        assert connection.execute(city).fetchall() == [("Town",)]
        kept.update(publisher)
        assert connection.execute(city).fetchall() == [("Town",)]
    assert kept.column(city) == ["Elsewhere"]


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_several_copies_may_share_a_database_in_schemas_of_their_own(
    golden: Publisher, sparse: Publisher, new_kept: Callable[[], Kept]
) -> None:
    """rules, "Mirror: a pass": a copy stands where ``search_path`` leads."""
    first, second = new_kept(), new_kept()
    first.update(golden)
    second.update(sparse)
    assert first.differences(golden) == []
    assert second.differences(sparse) == []


@pytest.mark.parametrize("password", ["qu@ll", "qu@", "qu/ll", "qu?l@l", "qu%ll"])
def test_a_password_that_is_not_escaped_is_in_no_message(password: str) -> None:
    """decisions, "What is logged": part of it would be taken for a host, a port or a name."""
    with pytest.raises(BadUsage, match="are written as %20 and so on") as failure:
        open_copy(f"postgresql://reader:{password}@127.0.0.1:1/copies")
    assert "qu" not in str(failure.value)
