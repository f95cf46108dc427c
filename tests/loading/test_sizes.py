"""Rows without end: refused by file, line and limit, before they fill the memory."""

from __future__ import annotations

import gzip
import json
import sys
from itertools import repeat
from typing import TYPE_CHECKING

import pytest

from masthead.loading import files as reading
from masthead.loading.batches import CELLS_MAX, QUOTED_MAX, ROW_BYTES_MAX
from masthead.loading.files import find_files, read_batches
from masthead.loading.load import load
from masthead.store import accounts
from tests.long import ONLY_LONG
from tests.servers import masthead, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher

MIB = 1024 * 1024
MEMORY_MIB_MAX = 200
TOO_LONG = "longer than 16 MiB, the most that a row may have"

# Runs the command, then tells the most memory that the process has had.
MEASURED = """
import atexit, re, sys
from pathlib import Path
from masthead.cli import main

def tell():
    peak = re.search(r"VmHWM:\\s*([0-9]+) kB", Path("/proc/self/status").read_text())[1]
    print("peak", peak, file=sys.stderr)

atexit.register(tell)
main()
"""


def refusal(path: Path, account: str) -> tuple[str, int]:
    """Import a file that is refused; return why, and the peak of the memory in MiB."""
    command = [sys.executable, "-c", MEASURED]
    done = run("import", path, "--account=1", database=account, command=command)
    assert done.returncode == 1, done.stderr
    *lines, peak = done.stderr.strip().splitlines()
    if ": read " in lines[0]:
        del lines[0]  # what was detected
    return lines[0].strip(), int(peak.removeprefix("peak ")) // 1024


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with account 1. What is refused here has not come as far as to one."""
    url = f"sqlite:///{tmp_path_factory.mktemp('sizes')}/m.db"
    masthead("accounts", "add", 1, database=url)
    return url


@ONLY_LONG
@pytest.mark.parametrize(
    ("name", "start", "line"),
    [
        ("subscribers.csv", b"", 1),
        ("subscribers.csv", b"subscriber_id,source\n1,", 2),
        ("subscribers.csv", b'subscriber_id,source\n1,x\n\n2,"', 4),
        ("subscribers.ndjson", b'{"subscriber_id":1}\n{"source":"', 2),
    ],
    ids=["header", "line", "cell", "object"],
)
def test_a_line_of_300_megabytes_is_refused_in_little_memory(
    account: str, tmp_path: Path, name: str, start: bytes, line: int
) -> None:
    """rules, "Sizes of rows": a file with a hole in it, which takes no room on the disk."""
    path = tmp_path / name
    path.write_bytes(start)
    with path.open("r+b") as file:
        file.truncate(300 * MIB)
    sentence, peak = refusal(path, account)
    assert sentence == f"{name}:{line}: {TOO_LONG}"
    assert peak < MEMORY_MIB_MAX


@ONLY_LONG
@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"subscriber_id", b",reason"),
        (b"subscriber_id\n1", b",a"),
        (b'subscriber_id\n1,"', b"\n"),
        (b'subscriber_id\n1,"', b"\r\n"),
        (b"subscriber_id\n1", b',"\n"'),
    ],
    ids=["header", "cells", "lines of a cell", "other lines of a cell", "cells of two lines"],
)
@pytest.mark.parametrize("packed", [False, pytest.param(True, marks=ONLY_LONG)])
def test_a_row_of_many_cells_or_lines_is_refused_in_little_memory(
    account: str, tmp_path: Path, start: bytes, piece: bytes, *, packed: bool
) -> None:
    """rules, "Sizes of rows"."""
    name = "subscribers.csv.gz" if packed else "subscribers.csv"
    block = piece * (MIB // len(piece))
    with (gzip.open if packed else open)(tmp_path / name, "wb") as file:
        file.write(start)
        for _ in range(60):
            file.write(block)
    sentence, peak = refusal(tmp_path / name, account)
    line = len(start.splitlines())
    assert sentence == f"{name}:{line}: {TOO_LONG}"
    assert peak < MEMORY_MIB_MAX


def test_a_number_of_millions_of_digits_is_refused_in_little_memory(
    account: str, tmp_path: Path
) -> None:
    """rules, "Sizes of rows": it fits into a row."""
    path = tmp_path / "orders.csv"
    path.write_bytes(b"order_id,sub_total\n1," + b"1" * (15 * MIB) + b"\n")
    sentence, peak = refusal(path, account)
    assert sentence == f"orders.csv:2: sub_total: '{'1' * QUOTED_MAX}'… has more than 15 digits"
    assert peak < MEMORY_MIB_MAX


@pytest.mark.parametrize("name", ["subscribers.csv", "subscribers.ndjson"])
def test_a_batch_is_no_larger_than_its_rows_allow(tmp_path: Path, name: str) -> None:
    """rules, "Sizes of rows": many long rows are as little in memory as one."""
    text = "x" * (6 * MIB)
    rows = [json.dumps({"subscriber_id": n, "source": text}) for n in range(7)]
    if name.endswith(".csv"):
        rows = ["subscriber_id,source", *(f"{n},{text}" for n in range(7))]
    (tmp_path / name).write_text("\n".join([*rows, ""]))
    counts = [len(batch.lines) for batch in read_batches(*find_files([tmp_path / name]))]
    assert sum(counts) == 7
    assert max(counts) == 3


def test_a_row_as_long_as_may_be_is_loaded(small: Publisher) -> None:
    """rules, "Sizes of rows": and the next row is counted from its own start."""
    text = "x" * (ROW_BYTES_MAX - 100_000)
    content = f'purchase_id,subscriber_id,notes\n1,1,"{text}"\n2,1,"{text}"\n'
    small.load({"purchases.csv": content})
    assert [row["notes"] == text for row in small.table("purchases")] == [True, True]


def test_a_row_of_more_cells_than_may_be_is_refused(publisher: Publisher, tmp_path: Path) -> None:
    """rules, "Sizes of rows": with --reject too, whose reason would have to hold them."""
    row = ",".join(repeat("1", CELLS_MAX + 1))
    line = publisher.problem({"subscribers.csv": f"subscriber_id\n1\n{row}\n"})
    assert line == "subscribers.csv:3: has 10001 cells, and a row may have 10000"
    loaded = publisher.load(
        {"subscribers.csv": f"subscriber_id\n{row[:-2]}\n"}, reject=tmp_path / "r"
    )
    assert loaded.rejected == {"subscribers.csv": 1}


@pytest.mark.parametrize(
    ("name", "content", "start"),
    [
        ("subscribers.csv", "{name},subscriber_id\n", "subscribers.csv:1: there is no column 'x"),
        (
            "subscribers.ndjson",
            '{{"subscriber_id":1,"{name}":2}}',
            "subscribers.ndjson:1: row: there is no column 'x",
        ),
        (
            "subscribers.ndjson",
            '{{"subscriber_id":1,"{name}":2,"{name}":2}}',
            "subscribers.ndjson:1: row: the key x",
        ),
    ],
)
def test_a_sentence_quotes_only_the_start_of_a_long_name(
    publisher: Publisher, name: str, content: str, start: str
) -> None:
    line = publisher.problem({name: content.format(name="x" * 1_000_000)})
    assert line.startswith(start)
    assert line.count("x" * QUOTED_MAX) == 1
    assert len(line) < 2 * QUOTED_MAX + len(start)


def test_names_of_columns_that_do_not_exist_are_not_remembered(tmp_path: Path) -> None:
    """A line may bring a name of 16 MiB, and a file any number of lines."""
    lines = [f'{{"subscriber_id":1,"x{n}":1}}' for n in range(50)]
    (tmp_path / "subscribers.ndjson").write_text("\n".join(lines))
    before = reading._wrong_set.cache_info().currsize
    (batch,) = (b for b in read_batches(*find_files([tmp_path])) if b.unreadable)
    assert len(batch.unreadable) == 50
    assert reading._wrong_set.cache_info().currsize == before


def test_rows_of_different_columns_keep_what_they_do_not_have(small: Publisher) -> None:
    """Rows of one file, staged together: what a row lacks stays, and is not blanked."""
    before = small.table("subscribers")
    lines = [
        {"subscriber_id": 1, "email": "new@example.org"},
        {"subscriber_id": 2, "first_name": "Bea", "source": None},
        {"subscriber_id": 3, "password": "secret"},
        {"subscriber_id": 4, "password_md5": "5ebe2294ecd0e0f08eab7690d2a6ee69"},
    ]
    small.load({"subscribers.ndjson": "\n".join(map(json.dumps, lines))})
    one, two, three, four = small.table("subscribers")
    assert one == before[0] | {"email": "new@example.org"}
    assert two == before[1] | {"first_name": "Bea"}
    assert three["password_md5"] == four["password_md5"]


def test_a_new_row_that_lacks_a_column_has_its_missing_value(small: Publisher) -> None:
    """Beside rows that have it: the defaults of the contract (rules, "Missing Bool …")."""
    lines = [
        {"order_id": 5, "subscriber_id": 1, "is_gift": True, "grand_total": "2.5"},
        {"order_id": 6, "subscriber_id": 1},
    ]
    small.load({"orders.ndjson": "\n".join(map(json.dumps, lines))})
    *_, five, six = small.table("orders")
    assert (five["is_gift"], five["grand_total"], five["tax_total"]) == (1, "2.5", "0")
    assert (six["is_gift"], six["grand_total"], six["tax_total"]) == (0, "0", "0")


def test_accounts_of_different_columns_keep_what_they_do_not_have(publisher: Publisher) -> None:
    """As rows of data do."""
    number = publisher.account_id
    lines = [
        {"account_id": number, "company_name": "Tide", "plan": "Premium"},
        {"account_id": number + 1_000_000, "website": "https://example.org"},
    ]
    load(publisher.store, [ndjson(publisher, lines)], account_id=None)
    lines = [
        {"account_id": number, "plan": None},
        {"account_id": number + 1_000_000, "company_name": "Harbour"},
    ]
    load(publisher.store, [ndjson(publisher, lines)], account_id=None)
    with publisher.store.writer() as database:
        first = accounts.settings_of(database, number)
        second = accounts.settings_of(database, number + 1_000_000)
    assert (first["company_name"], first["plan"]) == ("Tide", None)
    assert (second["company_name"], second["website"]) == ("Harbour", "https://example.org")


def ndjson(publisher: Publisher, lines: list[dict[str, object]]) -> Path:
    return publisher.write({"accounts.ndjson": "\n".join(map(json.dumps, lines))})


@ONLY_LONG
@pytest.mark.parametrize(
    ("name", "encoding"),
    [("subscribers.csv", "cp1252"), ("subscribers.tsv", "utf-16"), ("subscribers.jsonl", "utf-16")],
)
def test_a_line_of_300_megabytes_in_another_encoding_is_refused_in_little_memory(
    account: str, tmp_path: Path, name: str, encoding: str
) -> None:
    """rules, "Sizes of rows": with what is detected in a file."""
    separator = "\t" if name.endswith("tsv") else ";"
    start = f"subscriber_id{separator}source\n1{separator}Zürich\n2{separator}"
    if name.endswith("jsonl"):
        start = '{"subscriber_id":1}\n\n{"source":"'
    (tmp_path / name).write_bytes(start.encode(encoding))
    with (tmp_path / name).open("ab") as file:
        for _ in range(150):
            file.write(("x" * MIB).encode(encoding))
    sentence, peak = refusal(tmp_path / name, account)
    assert sentence == f"{name}:3: {TOO_LONG}"
    assert peak < MEMORY_MIB_MAX


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_batch_in_another_encoding_is_no_larger_than_its_rows_allow(
    tmp_path: Path, encoding: str
) -> None:
    """rules, "Sizes of rows"."""
    text = "ü" * (3 * MIB)
    rows = "".join(f"{n};{text}\n" for n in range(7))
    (tmp_path / "subscribers.csv").write_text(f"subscriber_id;source\n{rows}", encoding)
    counts = [len(batch.lines) for batch in read_batches(*find_files([tmp_path]))]
    assert sum(counts) == 7
    assert max(counts) <= 6
