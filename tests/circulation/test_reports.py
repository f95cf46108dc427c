"""``masthead report``: figures worked out by hand, of a small publisher, on both databases."""

from __future__ import annotations

import csv
from datetime import date, datetime
from typing import TYPE_CHECKING

import pytest
from openpyxl import load_workbook

from masthead.circulation.expiry_report import Expiring, Schedule, expiries
from masthead.circulation.tables import Series
from tests.circulation.small_books import BOOKS
from tests.long import SHORT_ON_SQLITE
from tests.servers import import_files, masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import Store

PNG = b"\x89PNG\r\n\x1a\n"
NO_LIST = (
    "had no mailing list on 2025-11-30: close the issue first; `masthead issue close {}` makes the "
    "list; with --preview, it says what it would be\n"
)
REPORTS = (
    ("press-run", 11),
    ("circulation", 11),
    ("liability",),
    ("expiries",),
    ("renewals",),
)


@pytest.fixture(scope="session")
def books(store: Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with the small publisher's books, which no test changes."""
    database = store.new_database("reports")
    masthead("accounts", "add", 1, database=database)
    folder = tmp_path_factory.mktemp("books")
    for name, text in BOOKS.items():
        (folder / name).write_text(text)
    import_files(folder, account_id="1", database=database)
    return database


def table(books: str, *report: object, folder: Path) -> list[list[str]]:
    """Return the rows of a report, without the header, of the CSV file that it writes."""
    path = folder / "report.csv"
    masthead("report", *report, "--account", 1, "--csv", path, database=books)
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def test_the_press_run_counts_copies_by_type_and_country(books: str) -> None:
    """circulation, "Reports": main list and gap list; paid + grace + other = copies."""
    done = masthead("report", "press-run", 11, "--account=1", "--day=2025-11-30", database=books)
    assert done.stdout == (
        "Press run of Tide November 2025, 2025-11-30\n"
        "\n"
        "7 copies for 4 subscriptions: 7 to print (Print and Both), 0 digital.\n"
        "5 paid and 2 free or not paid.\n"
        "No copy is grace.\n"
        "\n"
        "type   country        subscriptions  copies  paid  grace  other  complimentary\n"
        "-----  -------------  -------------  ------  ----  -----  -----  -------------\n"
        "Print  DE                         1       1     1      0      0              0\n"
        "Print  United States              2       3     1      0      2              2\n"
        "Both   Canada                     1       3     3      0      0              0\n"
        "-----  -------------  -------------  ------  ----  -----  -----  -------------\n"
        "all                               4       7     5      0      2              2\n"
        "\n"
        "main list 2: 3 entries\n"
        "gap list 3: 1 entry\n"
    )


def test_the_press_run_tells_grace_from_paid(books: str, tmp_path: Path) -> None:
    rows = table(books, "press-run", 10, folder=tmp_path)
    assert rows == [
        ["Print", "United States", "1", "1", "1", "0", "0"],
        ["Both", "Canada", "1", "2", "2", "0", "0"],
        ["Digital", "(none)", "1", "1", "0", "1", "0"],
        ["all", "", "3", "4", "3", "1", "0"],
    ]


def test_a_report_of_a_past_day_leaves_out_the_gap_list_that_came_later(
    books: str, tmp_path: Path
) -> None:
    rows = table(books, "press-run", 11, "--day=2025-11-04", folder=tmp_path)
    assert rows[-1] == ["all", "", "3", "5", "5", "0", "0"]


def test_the_circulation_comes_from_that_of_the_issue_before(books: str, tmp_path: Path) -> None:
    """circulation, "Reports": the issue before + additions - removals = this one."""
    empty = [""] * 5
    rows = table(books, "circulation", 11, folder=tmp_path)
    assert rows == [
        ["the issue before", "Tide October 2025", "3", "4", *empty],
        ["additions", "", "2", "4", *empty],
        ["removals", "", "-1", "-1", *empty],
        ["this issue", "Tide November 2025", "4", "7", "5", "2", "4", "3", "0"],
        ["type", "Print", "3", "4", "2", "2", "4", "0", "0"],
        ["type", "Both", "1", "3", "3", "0", "0", "3", "0"],
        ["class", "complimentary", "1", "2", "0", "2", "2", "0", "0"],
        ["class", "paid", "3", "5", "5", "0", "2", "3", "0"],
        ["classification", "(none)", "1", "2", "0", "2", "2", "0", "0"],
        ["classification", "A1", "2", "4", "4", "0", "1", "3", "0"],
        ["classification", "B", "1", "1", "1", "0", "1", "0", "0"],
        ["request type", "(none)", "1", "2", "0", "2", "2", "0", "0"],
        ["request type", "I", "1", "3", "3", "0", "0", "3", "0"],
        ["request type", "W", "2", "2", "2", "0", "2", "0", "0"],
        ["state", "Canada ON", "1", "3", "3", "0", "0", "3", "0"],
        ["state", "DE", "1", "1", "1", "0", "1", "0", "0"],
        ["state", "United States NY", "2", "3", "1", "2", "3", "0", "0"],
    ]


def test_the_first_issue_with_a_list_has_no_issue_before_it(books: str) -> None:
    """rules, "The issue before": what was closed before the books were opened has no list."""
    done = masthead("report", "circulation", 10, "--account=1", database=books)
    assert "Tide September 2025 has no mailing list here: it counts as nothing" in done.stdout
    assert "additions" in done.stdout


def test_the_liability_adds_up_by_publication_and_month(books: str, tmp_path: Path) -> None:
    """circulation, "Reports": opening + received - earned - refunded = closing.

    rules, "Revenue of months to come": without a day, all that is booked.
    """
    assert table(books, "liability", folder=tmp_path) == [
        ["Tide", "2025-09", "0.00", "20.00", "0.00", "0.00", "20.00"],
        ["Tide", "2025-10", "20.00", "60.00", "4.99", "24.00", "51.01"],
        ["Tide", "2025-11", "51.01", "0.00", "8.00", "0.00", "43.01"],
        ["Tide", "2025-12", "43.01", "0.00", "0.00", "0.00", "43.01"],
        ["Weekly", "2025-10", "0.00", "12.00", "0.00", "0.00", "12.00"],
        ["Weekly", "2025-11", "12.00", "0.00", "0.00", "0.00", "12.00"],
        ["Weekly", "2025-12", "12.00", "0.00", "1.00", "0.00", "11.00"],
        ["all publications", "2025-09", "0.00", "20.00", "0.00", "0.00", "20.00"],
        ["all publications", "2025-10", "20.00", "72.00", "4.99", "24.00", "63.01"],
        ["all publications", "2025-11", "63.01", "0.00", "8.00", "0.00", "55.01"],
        ["all publications", "2025-12", "55.01", "0.00", "1.00", "0.00", "54.01"],
    ]


def test_the_liability_of_a_past_day_is_what_was_booked_until_then(
    books: str, tmp_path: Path
) -> None:
    rows = table(
        *(books, "liability", "--day=2025-10-29", "--publication=1", "--since=2025-10"),
        folder=tmp_path,
    )
    assert rows == [
        ["Tide", "2025-10", "20.00", "60.00", "4.99", "0.00", "75.01"],
        ["all publications", "2025-10", "20.00", "60.00", "4.99", "0.00", "75.01"],
    ]


def test_a_report_is_summed_up_in_sentences_that_say_what_was_zero(books: str) -> None:
    """circulation, "Reports"."""
    said = {
        ("circulation", 11): (
            "7 copies, 3 more than Tide October 2025.\nSince then: 4 copies added and 1 copy "
            "removed.\n"
        ),
        ("liability", "--day=2025-10-29"): (
            "87.01 USD is owed to readers, for issues that were paid and are still to come.\n"
            "In October 2025, 72.00 USD was received and 4.99 USD was earned.\n"
            "Nothing was refunded in October 2025.\n\npublication       month    opening USD"
        ),
        ("expiries", "--day=2025-11-30"): (
            "4 subscriptions expire with an issue that has a date; in October 2026 1, which no "
            "month exceeds.\n1 has expired with earlier issues.\n1 is unlimited.\nIn 6 of the "
            "months from January 2026 to October 2026, none expires.\n"
        ),
        ("renewals", "--day=2025-11-30"): "No letter was sent for effort 3 of Tide.\n",
    }
    for report, sentences in said.items():
        assert sentences in masthead("report", *report, "--account=1", database=books).stdout


def test_an_expiring_subscription_is_listed_with_its_last_issue(books: str, tmp_path: Path) -> None:
    """circulation, "Reports": the expected expiries that the subscriptions have."""
    assert table(books, "expiries", folder=tmp_path) == [
        ["Tide", "earlier issues", "", "1", "1", "1"],
        ["Tide", "(not planned)", "2026-01-01", "1", "2", "0"],
        ["Tide", "(not planned)", "2026-03-01", "1", "1", "1"],
        ["Tide", "(not planned)", "2026-06-01", "1", "3", "1"],
        ["Tide", "(not planned)", "2026-10-01", "1", "1", "1"],
        ["Weekly", "never (unlimited)", "", "1", "1", "0"],
        ["all", "", "", "6", "9", "4"],
    ]


def test_the_expiries_of_one_publication_are_those_of_all(books: str, tmp_path: Path) -> None:
    whole = table(books, "expiries", folder=tmp_path)
    only = table(books, "expiries", "--publication=1", folder=tmp_path)
    assert only == [*(row for row in whole if row[0] == "Tide"), ["all", "", "", "5", "8", "4"]]
    done = masthead("report", "expiries", "--account=1", "--publication=2", database=books)
    assert done.stdout.startswith("Expiries of Weekly, ")


def test_expiries_are_drawn_by_month_and_publication() -> None:
    names = {date(2026, 1, day): f"No. {day}" for day in (1, 8, 15)}
    schedules = {1: Schedule("Weekly", names, 52), 2: Schedule("Tide", {date(2026, 2, 1): "F"}, 12)}
    of_days = (
        (1, "2026-01-07", 2),
        (1, "2026-01-14", 3),
        (2, "2026-02-28", 5),
        (2, "2026-03-31", 7),
    )
    expiring = [Expiring(n, date.fromisoformat(day), 1, copies, 1) for n, day, copies in of_days]
    chart = expiries("Expiries", expiring, schedules).chart
    assert chart.labels == ("2026-01", "2026-02", "2026-03")
    assert chart.series == (Series("Weekly", (5, 0, 0)), Series("Tide", (0, 5, 7)))


def test_the_expiries_of_a_past_day_come_from_what_was_there(books: str, tmp_path: Path) -> None:
    """rules, "The expiries of a past day".

    On 31 October the second reader has not renewed (one issue left: December), and the fourth has
    three left, the first of which is November, by the gap list.
    """
    assert table(books, "expiries", "--day=2025-10-31", folder=tmp_path) == [
        ["Tide", "earlier issues", "", "1", "1", "1"],
        ["Tide", "December 2025", "2025-12-01", "1", "3", "1"],
        ["Tide", "(not planned)", "2026-01-01", "1", "2", "0"],
        ["Tide", "(not planned)", "2026-03-01", "1", "1", "1"],
        ["Tide", "(not planned)", "2026-10-01", "1", "1", "1"],
        ["Weekly", "never (unlimited)", "", "1", "1", "0"],
        ["all", "", "", "6", "9", "4"],
    ]


def test_reckoned_from_terms_and_deliveries_expiry_is_that_of_the_subscriptions(
    books: str, tmp_path: Path
) -> None:
    """rules, "The expiries of a past day"."""
    then = table(books, "expiries", "--day=2025-11-30", folder=tmp_path)
    assert then == table(books, "expiries", folder=tmp_path)


@pytest.mark.parametrize(
    ("day", "first"),
    [
        ("2025-10-24", ["Tide", "1", "3", "1", "0", "0", "1", "0.0"]),
        ("2025-11-11", ["Tide", "1", "3", "2", "0", "1", "1", "0.0"]),
        ("2025-11-30", ["Tide", "1", "3", "2", "1", "1", "0", "50.0"]),
    ],
)
def test_renewals_say_what_became_of_the_letters(
    books: str, tmp_path: Path, day: str, first: list[str]
) -> None:
    """circulation, "Reports": sent = renewed + went on + waiting."""
    rows = table(books, "renewals", "--day", day, folder=tmp_path)
    assert rows[0] == first
    assert rows[2] == ["Tide", "3", "-1", "0", "0", "0", "0", ""]
    assert [row[1] for row in rows] == ["1", "2", "3", ""]


@SHORT_ON_SQLITE
def test_a_workbook_has_the_same_figures_as_numbers_and_months(books: str, tmp_path: Path) -> None:
    path = tmp_path / "liability.xlsx"
    path.write_text("an older file")
    masthead("report", "liability", "--account=1", "--xlsx", path, database=books)
    assert path.stat().st_mode & 0o077 == 0
    rows = [[cell.value for cell in row] for row in load_workbook(path)["Liability"].iter_rows()]
    assert rows[0][:3] == ["publication", "month", "opening USD"]
    name, month, *amounts = rows[2]
    assert isinstance(month, datetime)
    assert (name, f"{month:%Y-%m-%d}") == ("Tide", "2025-10-01")
    assert amounts == [20, 60, 4.99, 24, 51.01]
    assert len(rows) == len(table(books, "liability", folder=tmp_path)) + 1


@pytest.mark.parametrize("ending", ["svg", "PNG"])
@SHORT_ON_SQLITE
def test_a_report_is_drawn_too(books: str, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    done = masthead("report", "circulation", 11, "--account=1", "--plot", path, database=books)
    assert done.stderr == ""
    drawn = path.read_bytes()
    assert drawn.startswith(PNG if ending == "PNG" else b"<svg")
    assert path.stat().st_mode & 0o077 == 0
    if ending == "svg":
        assert done.stdout.splitlines()[0] in drawn.decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("liability", "--day=2025-13-01"), "'2025-13-01' is not a day such as "),
        (("liability", "--since=2025"), "--since: '2025' is not a month such as 2026-01"),
        (("expiries", "--plot=a.pdf"), "--plot: the name of a.pdf must end in .svg or .png"),
        (("expiries", "--xlsx=a.csv"), "--xlsx: the name of a.csv must end in .xlsx"),
    ],
)
def test_bad_usage_is_one_sentence(books: str, arguments: tuple[str, ...], said: str) -> None:
    done = masthead("report", *arguments, "--account=1", database=books, exit_status=2)
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_day_that_is_still_to_come_has_no_report(books: str) -> None:
    for report in REPORTS:
        day = "--day=2999-01-01"
        done = masthead("report", *report, day, "--account=1", database=books, exit_status=1)
        assert done.stderr.startswith("2999-01-01 is still to come; today is ")
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("press-run", 99), "account 1 has no issue 99; `masthead issue list` lists all\n"),
        (
            ("expiries", "--publication=99"),
            "account 1 has no publication 99; `masthead catalogue publication list` lists them\n",
        ),
        (
            ("expiries", "--day=2025-09-09"),
            (
                "the books were opened on 2025-09-10: how many issues were left on 2025-09-09 is "
                "not known\n"
            ),
        ),
        (
            ("liability", "--publication=99"),
            "account 1 has no publication 99; `masthead catalogue publication list` lists them\n",
        ),
        (
            ("circulation", 12),
            f"Tide December 2025 {NO_LIST.format(12)}",
        ),
        (
            ("press-run", 9),
            f"Tide September 2025 {NO_LIST.format(9)}",
        ),
    ],
)
def test_what_has_no_report_is_said(books: str, arguments: tuple[object, ...], said: str) -> None:
    done = masthead(
        "report",
        arguments[0],
        "--day=2025-11-30",
        *arguments[1:],
        "--account=1",
        database=books,
        exit_status=1,
    )
    assert done.stderr == said


def test_an_account_without_books_has_no_reports(books: str, store: Store) -> None:
    """circulation, "Two modes of an account"."""
    database = store.copy_database(books, "no-books")
    masthead("accounts", "add", 2, database=database)
    for report in REPORTS:
        done = masthead("report", *report, "--account=2", database=database, exit_status=1)
        assert done.stderr.startswith("account 2 gets its data from files (mode elsewhere): ")
        assert done.stderr.count("\n") == 1


def test_the_books_of_another_account_are_not_counted(
    books: str, store: Store, tmp_path: Path
) -> None:
    database = store.copy_database(books, "two-books")
    masthead("accounts", "add", 2, database=database)
    masthead("export", tmp_path / "out", "--account", 1, database=database)
    import_files(tmp_path / "out", account_id="2", database=database)
    for report in REPORTS:
        assert table(database, *report, folder=tmp_path) == table(books, *report, folder=tmp_path)


def test_a_report_s_file_has_no_formulas(store: Store, tmp_path: Path) -> None:
    """rules, "Exports for spreadsheets"."""
    database = store.new_database("formulas")
    masthead("accounts", "add", 1, database=database)
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in BOOKS.items():
        (folder / name).write_text(text.replace("Canada", "=1+1"))
    import_files(folder, account_id="1", database=database)
    assert table(database, "press-run", 10, folder=tmp_path)[1][1] == "'=1+1"
