"""``masthead journal``, ``billing close`` and ``payer statement``: what they print and write."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from masthead.cli import cli
from tests.billing import ledger

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk


@pytest.fixture
def filled(shared: Desk) -> Desk:
    """An account with two months of movements."""
    ledger.fill(shared)
    return shared


def run(desk: Desk, capsys: pytest.CaptureFixture[str], *words: object, status: int = 0) -> str:
    """Run a command in this process; return what it prints, or what it says if it is refused."""
    arguments = [*map(str, words), "--account=1", f"--database={desk.url}"]
    assert int(cli.main(arguments, standalone_mode=False) or 0) == status
    printed = capsys.readouterr()
    return printed.err if status else printed.out


def test_a_month_is_written_as_csv_and_never_over_another_file(
    filled: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "november.csv"
    wanted = ("journal", "export", "--month=2026-11", f"--to={path}")
    assert run(filled, capsys, *wanted) == f"{path}: 18 rows of the journal, 2026-11\n"
    written = path.read_bytes()
    with path.open(newline="", encoding="utf-8") as file:
        head, first, *_, last = csv.reader(file)
    assert head[:6] == ["entry", "date", "account", "name", "debit", "credit"]
    assert first[1:] == [
        *("2026-11-01", "3900", "deferred", "2.00", "", "USD", "earned: Tide", "", "")
    ]
    assert last[3:] == ["bank", "", "0.90", "USD", "paid back", "", "3"]
    said = run(filled, capsys, *wanted, status=1)
    assert said == f"{path} exists already: --replace replaces it\n"
    assert path.read_bytes() == written
    days = ("--from=2026-11-02", "--until=2026-11-02", f"--to={path}", "--replace")
    assert "3 rows of the journal, 2026-11-02 to 2026-11-02" in run(
        filled, capsys, "journal", "export", *days
    )
    assert sorted(each.name for each in tmp_path.iterdir()) == ["november.csv"]


def test_a_month_is_written_for_datev(
    filled: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("journal", "export", "--month=2026-11", "--format=datev")
    said = run(filled, capsys, *wanted, f"--to={tmp_path / 'november.csv'}", status=2)
    assert said.endswith("names begin with EXTF_, such as EXTF_november.csv\n")
    path = tmp_path / "EXTF_november.csv"
    said = run(filled, capsys, *wanted, f"--to={path}", status=1)
    assert said.startswith("datev_consultant is not set: DATEV wants")
    assert list(tmp_path.iterdir()) == []
    filled.put("billing_settings", setting_id=1, name="datev_consultant", value="1001")
    filled.put("billing_settings", setting_id=2, name="datev_client", value="1")
    assert run(filled, capsys, *wanted, f"--to={path}").endswith("rows of the journal, 2026-11\n")
    lines = path.read_bytes().split(b"\r\n")
    assert lines[0].startswith(b'"EXTF";700;21;"Buchungsstapel";13;')
    assert lines[2].startswith(b'2,00;"S";"USD";;;;3900;4200;;0111;"";;;"earned: Tide";')


def test_the_days_of_an_export_are_a_month_or_a_span(
    filled: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for days in ((), ("--from=2026-11-01",), ("--month=2026-11", "--until=2026-11-02")):
        said = run(filled, capsys, "journal", "export", *days, f"--to={tmp_path / 'x'}", status=2)
        assert said == "give --month, or --from and --until\n"


def test_the_check_is_printed_and_fails_where_the_books_disagree(
    filled: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = run(filled, capsys, "journal", "check")
    assert "The journal agrees with the books in 12 sums." in printed
    assert "deferred" in run(filled, capsys, "journal", "balances", "--day=2026-10-31")
    said = run(filled, capsys, "journal", "check", "--day=2190-01-01", status=1)
    assert said.startswith("2190-01-01 is still to come: the books end with ")
    filled.connection.change("UPDATE payments SET fee = 0 WHERE payment_id = 1")
    said = run(filled, capsys, "journal", "check", status=1)
    assert "fees: 0.50 USD is booked, 0.00 USD by the fees of payments" in said


def test_a_month_is_closed_by_a_command(filled: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """The commands have the clock of the machine, on which October 2026 has ended."""
    note, done, end = run(filled, capsys, "billing", "close", "2026-10", "--dry-run").splitlines()
    assert note.startswith("note: 2 issues are not closed yet, such as Tide Oct (2026-10-01): ")
    assert done.startswith("October 2026 is closed: receivables 0.00 USD, deposits 0.00 USD, ")
    assert end == "nothing was changed: this was a dry run"
    assert filled.table("closed_months") == []


def test_a_statement_is_printed_and_written(
    filled: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ada.csv"
    wanted = ("payer", "statement", 1, "--from=2026-11-01", f"--csv={path}")
    lines = run(filled, capsys, *wanted).splitlines()
    assert lines[0] == "Statement of Ada Ames (subscriber 1), all that is booked"
    assert lines[-2:] == [
        "open: 2026-000002 of 2026-11-02, 5.00 USD, due 2026-12-01",
        "credit: 2.00 USD",
    ]
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert [(row[1], row[2], row[-1]) for row in rows[1:]] == [
        ("balance before", "", "-2.90"),
        ("invoice", "2026-000002", "7.80"),
        ("payment", "2", "2.10"),
        ("invoice", "2026-000003", "23.50"),
        ("credit note", "2026-000004", "12.80"),
        ("write-off", "2026-000003", "2.10"),
        ("paid back", "3", "3.00"),
        ("in total", "", "3.00"),
    ]
    said = run(filled, capsys, "payer", "statement", 99, status=1)
    assert said.startswith("account 1 has no subscriber 99; ")
    said = run(filled, capsys, *wanted, "--to=2026-10-31", status=1)
    assert said == "a statement from 2026-11-01 to 2026-10-31 has no day: the first comes first\n"
