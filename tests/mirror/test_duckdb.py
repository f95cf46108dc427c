"""A copy in a file of DuckDB: who can read it, and what others see of a pass."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import closing
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from masthead.databases.connection import DatabaseUnavailable
from masthead.databases.duckdb import DuckdbConnection
from masthead.errors import MastheadError, StoreUnavailable
from masthead.mirror import open_copy, opening
from masthead.mirror.tables import entity_named

if TYPE_CHECKING:
    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

pytestmark = pytest.mark.parametrize("new_kept", ["duckdb"], indirect=True)

READS = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True) as copy:
    print(copy.execute("SELECT count(*) FROM subscribers").fetchall(), flush=True)
    sys.stdin.read()
"""


def test_only_its_owner_can_read_it_and_its_log(publisher: Publisher, kept: Kept) -> None:
    """rules, "Who may read the files": whatever the umask."""
    umask = os.umask(0)
    try:
        with closing(open_copy(kept.url)) as copy:
            with copy.writing():
                copy.put(entity_named("subscribers").tables[0], None, [(1, *[None] * 8)])
            paths = [path for path in kept.path.parent.iterdir() if path.name[0] != "."]
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in paths}
    finally:
        os.umask(umask)
    name = kept.path.name
    assert modes == {name: 0o600, f"{name}.wal": 0o600, f"{name}.tmp": 0o700}


def test_who_may_read_it_may_read_the_log_that_stays(publisher: Publisher, kept: Kept) -> None:
    """rules, "Who may read the files": the copy keeps the mode that its owner gave it."""
    kept.update(publisher)
    kept.path.chmod(0o640)
    kept.update(publisher)
    log = kept.path.with_name(f"{kept.path.name}.wal")
    assert not log.exists() or stat.S_IMODE(log.stat().st_mode) == 0o640


@pytest.mark.parametrize("of_other", [b"", b"hello\n", b"SQLite format 3\0" + bytes(4096)])
def test_a_file_of_something_else_stays_alone(kept: Kept, of_other: bytes) -> None:
    """Nothing is made beside it, and no extension comes from the network to read it."""
    kept.path.write_bytes(of_other)
    with pytest.raises(StoreUnavailable, match="it is no file of DuckDB"):
        open_copy(kept.url)
    assert kept.path.read_bytes() == of_other
    assert [path.name for path in kept.path.parent.glob(f"{kept.path.name}*")] == [kept.path.name]


def test_a_commit_that_fails_says_why(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has ended the transaction, so that nothing is left to be rolled back."""
    table = entity_named("subscribers").tables[0]
    with closing(open_copy(kept.url)) as copy:
        connection = copy._connection
        assert isinstance(connection, DuckdbConnection)
        script = connection.script

        def failing(sql: str) -> None:
            if sql == "COMMIT":
                script("ROLLBACK")
                raise DatabaseUnavailable("the database does not answer", "no space is left")
            script(sql)

        monkeypatch.setattr(connection, "script", failing)
        with pytest.raises(StoreUnavailable, match="no space is left"), copy.writing():
            copy.put(table, None, [(1, *[None] * 8)])


def test_a_pass_waits_for_a_reader_and_fails_if_that_takes_too_long(
    publisher: Publisher, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Mirror: DuckDB": the next pass makes up for it."""
    kept.update(publisher)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    with subprocess.Popen(
        [sys.executable, "-c", READS, kept.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as reader:
        assert reader.stdin
        assert reader.stdout
        assert reader.stdout.readline() == b"[(5,)]\n"
        monkeypatch.setattr(opening, "LOCK_TIMEOUT_S", 0.1)
        with pytest.raises(StoreUnavailable, match="another process has it open"):
            kept.update(publisher)
        assert not list(kept.path.parent.glob(f"{kept.path.name}.tmp"))
        reader.stdin.close()
    assert kept.update(publisher).records == 1


@pytest.mark.parametrize("amount", ["1" * 21, "0." + "1" * 19])
def test_an_amount_that_would_be_rounded_is_refused_and_not_shown(kept: Kept, amount: str) -> None:
    """rules, "Mirror: amounts in DuckDB and Parquet"."""
    table = entity_named("purchases").tables[0]
    values = {"purchase_id": 7, "total": amount}
    row = tuple(values.get(field.name) for field in table.columns)
    with (
        closing(open_copy(kept.url)) as copy,
        copy.writing(),
        pytest.raises(
            MastheadError, match="purchases 7: the copy cannot hold the total"
        ) as failure,
    ):
        copy.put(table, None, [row])
    assert "more than 20 digits or 18 decimal places" in str(failure.value)
    assert amount not in str(failure.value)


def test_amounts_of_two_decimals_can_be_multiplied_and_others_make_their_column_wide(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: amounts in DuckDB and Parquet": also in the history, and nothing is lost."""
    types = """
        SELECT table_name, data_type FROM duckdb_columns()
        WHERE column_name = 'total' AND table_name LIKE 'purchases%' ORDER BY table_name
    """
    publisher.load(purchases=[{"purchase_id": 1, "subscriber_id": 1, "total": "10.500"}])
    kept.update(publisher, history=True)
    narrow, wide = "DECIMAL(18,2)", "DECIMAL(38,18)"
    assert [row[1] for row in kept.ask(types)] == [narrow, narrow]
    product = "SELECT total * total, total_decimals FROM purchases WHERE purchase_id = 1"
    assert kept.ask(product) == [(Decimal("110.25"), 3)]
    assert kept.differences(publisher) == []
    for total in ("0.125", "0.0625"):
        publisher.load(purchases=[{"purchase_id": 1, "total": total}])
        kept.update(publisher)
    assert [row[1] for row in kept.ask(types)] == [wide, wide]
    earlier = kept.column("SELECT total FROM purchases_history ORDER BY changed_at")
    assert earlier == [Decimal("10.5"), Decimal("0.125")]
    assert kept.differences(publisher) == []


def test_a_history_that_begins_later_is_as_wide_as_its_table(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: amounts in DuckDB and Parquet": nothing is rounded in the history."""
    publisher.load(purchases=[{"purchase_id": 1, "subscriber_id": 1, "total": "0.125"}])
    kept.update(publisher)
    publisher.load(purchases=[{"purchase_id": 1, "total": "0.25"}])
    kept.update(publisher, history=True)
    assert kept.column("SELECT total FROM purchases_history") == [Decimal("0.125")]


def test_a_damaged_file_is_named(kept: Kept) -> None:
    """errors, "Sentences": DuckDB has no class of its own for a wrong checksum."""
    open_copy(kept.url).close()
    found = bytearray(kept.path.read_bytes())
    found[4096:8192] = bytes(4096)
    kept.path.write_bytes(found)
    with pytest.raises(StoreUnavailable, match="cannot be opened: Corrupt database file"):
        open_copy(kept.url)
