"""What others wrote acts on no terminal, and looks like no other line, whichever command prints."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import sys
from typing import TYPE_CHECKING

from masthead.contract.kinds import Text
from masthead.contract.printable import printable
from masthead.contract.records import TABLES_BY_NAME
from tests.cli.test_ends import ARGUMENTS, ON_CITUS
from tests.loading.publisher import SMALL
from tests.servers import masthead, outcome

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "\x1b]0;x\x07\x9b31m\x7f\u202e\r\nforged: 1\tforged"
NOT_TRIED = ("accounts export", "accounts re", "erase", "remove", "restore")
"""What writes CSV, or ends what the others show."""

RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def evil(name: str, content: str) -> str:
    """Return the rows of a file with all of it in each text that may be so long, as NDJSON."""
    kinds = {column.name: column.kind for column in TABLES_BY_NAME[name].columns}
    rows = []
    for row in csv.DictReader(io.StringIO(content)):
        for column, text in row.items():
            kind = kinds.get(column)
            if type(kind) is Text and text and (kind.max_length or 99) > len(text + EVIL):
                row[column] = text + EVIL
        rows.append(json.dumps(row) + "\n")
    return "".join(rows)


def test_no_command_prints_what_acts_on_a_terminal_or_looks_like_another_line(
    tmp_path: Path,
) -> None:
    """rules, "Control characters": each command that prints, on books full of such names."""
    database = f"sqlite:///{tmp_path}/x.db"
    folder = tmp_path / "in"
    folder.mkdir()
    for name, content in SMALL.items():
        table = name.removesuffix(".csv")
        (folder / f"{table}.ndjson").write_text(evil(table, content))
    (tmp_path / "orders.csv").write_text("external_reference,subscriber_id,bundle_id\nA-1,1,7\n")
    masthead("accounts", "add", 1, "--company-name", f"One{EVIL}", database=database)
    masthead("import", folder, "--account", 1, database=database)
    printed = ""
    for words, arguments in ARGUMENTS.items():
        if words in ON_CITUS or words.startswith(NOT_TRIED):
            continue
        here = {"in": folder, "out": tmp_path / "out", "copy.db": tmp_path / "copy.db"}
        given = [here.get(each, each.replace("./", f"{tmp_path}/")) for each in arguments]
        done = outcome(*words.split(), *given, database=database)
        said = done.stdout + done.stderr
        assert not RAW.search(said), words
        assert not re.search(r"(^|\t)forged", said, re.MULTILINE), (words, said)
        printed += said
    assert printed.count(r"\x1b]0;x\x07\x9b31m\x7f\u202e\r\nforged: 1\tforged") > 20


def test_a_file_whose_name_has_control_characters_is_refused_without_them(tmp_path: Path) -> None:
    """rules, "Control characters": also in the record of loads, and as files of orders."""
    database = f"sqlite:///{tmp_path}/x.db"
    masthead("accounts", "add", 1, database=database)
    folder = tmp_path / "night" / "1"
    folder.mkdir(parents=True)
    path = folder / "a\x1b]0;x\x07\naccount 2: subscribers  9 inserted.csv"
    path.write_text("x\n")
    for words in (
        ("import", tmp_path / "night"),
        ("import", folder, "--account", 1),
        ("import", path, "--guess"),
        ("order", "import", path, "--account", 1),
    ):
        done = masthead(*words, database=database, exit_status=1)
        assert "its name has control characters: rename the file" in done.stderr
        assert r"a\x1b]0;x\x07\naccount 2: subscribers" in done.stderr
        assert not RAW.search(done.stdout + done.stderr)
        assert "\naccount 2" not in done.stderr
    for form in ("text", "json"):
        loads = masthead("loads", "--format", form, database=database).stdout
        assert len(loads.splitlines()) == 2
        assert not RAW.search(loads)


def test_a_terminal_gets_bars_and_colours_of_masthead_and_no_others(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/x.db"
    masthead("accounts", "add", 1, database=database)
    (tmp_path / "subscribers.csv").write_bytes(b"subscriber_id,first_name\n1,Zo\xe9\x1b]0;x\x07\n")
    process, terminal = pty.fork()
    if not process:
        words = ["-m", "masthead", "import", str(tmp_path), "--account=1", "--dry-run", "--show=1"]
        settings = {**os.environ, "MASTHEAD_DATABASE": database, "TERM": "xterm"}
        os.execve(sys.executable, [sys.executable, *words], settings)
    shown = b""
    try:
        while some := os.read(terminal, 65536):
            shown += some
    except OSError:  # the end of a terminal
        pass
    os.waitpid(process, 0)
    assert b"\x1b[?25h" in shown, "the bars"
    assert b"\x1b]" not in shown
    assert rb"Zo\xc3\xa9" not in shown
    assert b"first_name: 'Zo\xc3\xa9\\x1b]0;x\\x07'" in shown


def test_printable_text_stays_as_it_is() -> None:
    for text in ("Zoë Ångström", "नमस्ते", "می‌خواهم", "a\u00a0b", "👩‍👩‍👧", "O'Neil \\x1b"):
        assert printable(text) == text
