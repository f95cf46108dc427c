"""``masthead import``, ``export``, ``generate`` and ``openapi``: output, status, progress."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES
from tests.loading.publisher import SMALL
from tests.servers import MASTHEAD, environment, import_files, masthead, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_import_says_for_each_kind_what_was_inserted_changed_and_unchanged(
    account: str, tmp_path: Path
) -> None:
    files = {name: SMALL[name] for name in ("subscribers.csv", "publications.csv")}
    folder = write(tmp_path / "in", files)
    assert import_files(folder, account_id="1", database=account).splitlines() == [
        "publications  2 inserted, 0 changed, 0 unchanged",
        "subscribers   2 inserted, 0 changed, 0 unchanged",
    ]
    write(folder, {"publications.csv": SMALL["publications.csv"].replace("Tide", "Ebb")})
    assert import_files(folder, account_id="1", database=account).splitlines() == [
        "publications  0 inserted, 1 changed, 1 unchanged",
        "subscribers   0 inserted, 0 changed, 2 unchanged",
    ]


def test_the_same_files_again_change_nothing_and_it_says_so(account: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", SMALL)
    assert "nothing changed" not in import_files(folder, account_id="1", database=account)
    printed = import_files(folder, account_id="1", database=account).splitlines()
    assert printed[-1] == "nothing changed"
    assert len(printed) == len(SMALL) + 1


def test_a_mapping_is_guessed_printed_and_then_used_by_a_flag_or_a_variable(
    account: str, tmp_path: Path
) -> None:
    """rules, "Mapping files"."""
    content = "Kundennummer;E-Mail;Straße\nK-1;ada@example.org;\nK-2;ben@example.org;Weg 1\n"
    folder = write(tmp_path / "in", {"Kunden 2025.csv": content})
    mapping = tmp_path / "publisher.toml"
    guessed = masthead("import", "--guess", folder, database="sqlite:////nowhere/at/all.db").stdout
    mapping.write_text(guessed, encoding="utf-8")
    loaded = masthead("import", folder, "--account", 1, "--map", mapping, database=account).stdout
    assert loaded.splitlines()[-2:] == [
        "subscribers  2 inserted, 0 changed, 0 unchanged",
        "addresses    1 inserted, 0 changed, 0 unchanged",
    ]
    settings = {"MASTHEAD_MAP": str(mapping)}
    again = run("import", folder, "--account", 1, database=account, settings=settings)
    assert "nothing changed" in again.stdout


def test_bad_rows_are_listed_on_standard_error_and_the_status_is_1(
    account: str, tmp_path: Path
) -> None:
    email = f"{'e' * 45}@e.org"
    rows = "".join(f"{n},{email}\n" for n in range(150))
    path = write(tmp_path, {"subscribers.csv": f"subscriber_id,email\n{rows}"}) / "subscribers.csv"
    done = masthead("import", path, "--account", 1, database=account, exit_status=1)
    lines = done.stderr.splitlines()
    assert lines[15] == f"subscribers.csv:17: email: '{email}' is longer than 50 characters"
    assert lines[100:] == [
        "and 50 more problems",
        "nothing was loaded; correct the rows, or set them aside; --reject DIR does so",
    ]
    assert done.stdout == ""


def test_what_only_the_whole_shows_is_listed_too(account: str, tmp_path: Path) -> None:
    folder = write(tmp_path, {"addresses.csv": "address_id,subscriber_id\n1,5\n"})
    done = masthead(
        "import", folder / "addresses.csv", "--account", 1, database=account, exit_status=1
    )
    assert done.stderr.startswith(
        "addresses.csv:2: subscriber_id: there is no subscriber 5\nnothing was loaded"
    )


def test_with_reject_the_summary_counts_them_and_the_status_is_0(
    account: str, tmp_path: Path
) -> None:
    files = {
        "subscribers.csv": "subscriber_id\n1\nx\n",
        "publications.csv": "publication_id\nx\ny\n",
    }
    folder, reject = write(tmp_path / "in", files), tmp_path / "bad"
    done = masthead(
        *("import", folder, "--account", 1, "--reject", reject, "--max-rejected=2"),
        database=account,
    )
    assert done.stdout.splitlines() == [
        "publications  0 inserted, 0 changed, 0 unchanged",
        "subscribers   1 inserted, 0 changed, 0 unchanged",
        f"2 bad rows set aside in {reject / 'publications.csv'}",
        f"1 bad row set aside in {reject / 'subscribers.csv'}",
    ]


def test_without_an_account_it_says_whose_data_it_must_know(database: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", SMALL)
    done = masthead("import", folder, database=database, exit_status=2)
    assert "say whose data it is; --account names" in done.stderr
    done = masthead("import", folder, "--account", 7, database=database, exit_status=1)
    assert "there is no account 7" in done.stderr


def test_progress_is_shown_on_a_terminal_and_nowhere_else(account: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", SMALL)
    command = [*MASTHEAD, "import", str(folder), "--account", "1"]
    terminal, end = os.openpty()
    with subprocess.Popen(
        command, env={**environment(account), "TERM": "xterm"}, stdout=end, stderr=end
    ):
        os.close(end)
        shown = b""
        while piece := _read(terminal):
            shown += piece
    os.close(terminal)
    assert "subscribers.csv" in shown.decode()
    assert "100%" in shown.decode()
    quiet = masthead("import", folder, "--account", 1, database=account)
    assert quiet.stderr == ""
    assert "%" not in quiet.stdout


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # what Linux says when the other side is closed
        return b""


def test_export_says_how_many_rows_each_file_has(account: str, tmp_path: Path) -> None:
    import_files(write(tmp_path / "in", SMALL), account_id="1", database=account)
    out = tmp_path / "deep" / "out"
    printed = masthead("export", out, "--account", 1, database=account).stdout
    assert ["subscribers", "2", "rows"] in [line.split() for line in printed.splitlines()]
    assert printed.count("\n") == len(list(out.glob("*.csv"))) == len(TABLES) + 1


def test_import_of_an_export_exported_again_is_the_same_bytes(account: str, tmp_path: Path) -> None:
    import_files(write(tmp_path / "in", SMALL), account_id="1", database=account)
    masthead("accounts", "add", 2, database=account)
    masthead("export", tmp_path / "a", "--account", 1, database=account)
    import_files(tmp_path / "a", account_id="2", database=account)
    masthead("export", tmp_path / "b", "--account", 2, database=account)
    first = {path.name: path.read_bytes() for path in (tmp_path / "a").glob("*.csv")}
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "b").glob("*.csv")}


def test_generate_writes_files_that_load(account: str, tmp_path: Path) -> None:
    done = masthead("generate", tmp_path / "g", "--subscribers", 50, database=account)
    assert done.stdout == f"50 subscribers written to {tmp_path / 'g'}\n"
    printed = import_files(tmp_path / "g", account_id="1", database=account)
    assert "50 inserted" in printed
    assert " 0 inserted" not in printed


def test_generate_needs_no_database(tmp_path: Path) -> None:
    run("generate", "g", "--subscribers=5", database="sqlite:///made-up.db", cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["g"]


def test_openapi_prints_a_document_and_needs_no_database(tmp_path: Path) -> None:
    done = run("openapi", database="nonsense", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["openapi"].startswith("3.1")
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_stops_early_is_not_a_fault(database: str) -> None:
    with subprocess.Popen(
        [*MASTHEAD, "openapi"],
        env=environment(database),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.parametrize("format_", ["csv", "ndjson"])
def test_a_file_may_come_packed(account: str, tmp_path: Path, format_: str) -> None:
    content = {"csv": "subscriber_id\n1\n", "ndjson": '{"subscriber_id":1}\n'}[format_]
    path = write(tmp_path, {f"subscribers.{format_}": content}) / f"subscribers.{format_}"
    subprocess.run(["gzip", str(path)], check=True)
    assert "1 inserted" in import_files(
        path.with_name(f"{path.name}.gz"), account_id="1", database=account
    )


def test_an_export_may_be_for_spreadsheets(account: str, tmp_path: Path) -> None:
    """rules, "Exports for spreadsheets"."""
    content = "subscriber_id,first_name\n1,=1+1\n"
    folder = write(tmp_path / "in", {"subscribers.csv": content})
    import_files(folder, account_id="1", database=account)
    for name, wanted, options in (("a", ",=1+1,", ()), ("b", ",'=1+1,", ("--for-spreadsheets",))):
        masthead("export", tmp_path / name, "--account", 1, *options, database=account)
        assert wanted in (tmp_path / name / "subscribers.csv").read_text()
