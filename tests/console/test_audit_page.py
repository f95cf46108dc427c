"""The audit report in the console: which issues have one, its parts, and its files."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from openpyxl import load_workbook

from masthead.books import issues, qualification_forms
from masthead.books.qualification_forms import Asked, FormValues
from tests.circulation.desk import at_desk
from tests.console.browser import serving_console, text_of
from tests.console.test_counting import until
from tests.qualification.press import CHIEF, STEEL, fill, open_form, qualify, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser
    from tests.servers import Store

REPORT = "/reports/audit"
BEFORE, MAY = 4, 5


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """Forge is free; Ada and Ben are on the list of May, whose file is written. Tide is paid."""
    with at_desk(store) as found:
        fill(found)
        open_form(found)
        for reader in (1, 2):
            qualify(found, reader, "2026-03-02", said(CHIEF, STEEL))
        found.put("issues", issue_id=20, publication_id=2, name="June", date="2026-06-01")
        for issue in (MAY, 20):
            issues.close(found.books, issue)
        issues.mark_written(found.books, MAY)
        yield found


@pytest.fixture(scope="module")
def browser(desk: Desk) -> Iterator[Browser]:
    """A browser of somebody who may look and change nothing."""
    with serving_console(desk.store) as console:
        console.add("viewer", "viewer")
        yield console.signed_in("viewer")


def test_each_part_has_a_table_that_adds_up_to_the_issue(browser: Browser) -> None:
    """qualification, "The audit report"; decisions, "When an audit report is frozen"."""
    shown = text_of(until(browser, REPORT, "Counted"))
    assert "Audit report of Forge Forge 5" in shown
    assert "Frozen at 15 April 2026" in shown
    assert "2 copies for 2 subscriptions: 2 qualified, 0 others." in shown
    assert "Audit classes Audit class Request type Age Subscriptions" in shown
    assert "chief web up to 1 year 2 2 2 0 all 2 2 2 0" in shown
    assert "industry steel 2 2 2 0" in shown
    assert "addition newly qualified 2 2 2 0 this issue 2 2 2 0" in shown


def test_issues_and_half_years_of_free_titles_are_chosen(browser: Browser) -> None:
    page = browser.get(f"{REPORT}?issue=1-2026-1").text
    for value, name in (
        ("5", "Forge Forge 5, 1 May 2026"),
        ("4", "Forge Forge 4, 1 April 2026"),
        ("1-2026-1", "Forge, January to June 2026"),
    ):
        assert f'<option value="{value}"' in page
        assert name in text_of(page)
    assert "Tide" not in page
    assert 'type="date"' not in page
    shown = text_of(until(browser, f"{REPORT}?issue=1-2026-1", "Counted"))
    assert "Average of Forge, 2026-1" in shown
    assert "1 copy on average of 3 issues." in shown
    assert "Forge 5: 2 copies, frozen at 15 April 2026" in shown
    assert "Forge 4: 0 copies, not frozen yet: counted now" in shown


@pytest.mark.parametrize(
    ("issue", "sentence"),
    [
        ("x", "An issue is chosen by its number."),
        ("77", "There is no such issue."),
        ("20", "The title has no form, so nobody can qualify for it."),
        ("2-2026-1", "The title has no form, so nobody can qualify for it."),
        ("1-2031-1", "No issue of Forge in 2031-1 is closed with a list"),
        ("1-2026", "is not a half-year: write 2026-1"),
    ],
)
def test_what_has_no_audit_report_is_said(browser: Browser, issue: str, sentence: str) -> None:
    path = f"{REPORT}?issue={issue}"
    assert sentence in text_of(until(browser, path, sentence))
    assert browser.get(path).status_code == 400


def test_its_files_have_the_same_figures(browser: Browser) -> None:
    """circulation, "Reports": each part has its own sheet."""
    table = list(csv.reader(io.StringIO(browser.get(f"{REPORT}/csv?issue={MAY}").text)))
    assert ["audit class", "chief", "web", "up to 1 year", "2", "2", "2", "0"] in table
    book = load_workbook(io.BytesIO(browser.get(f"{REPORT}/xlsx?issue={MAY}").content))
    assert book.sheetnames == [
        *("Issue", "Kinds of copies", "Types", "Audit classes", "Answers", "Countries and states"),
        *("Additions and removals", "About"),
    ]
    rows = [[cell.value for cell in row] for row in book["Audit classes"].iter_rows()]
    assert rows[1:] == [
        ["chief", "web", "up to 1 year", 2, 2, 2, 0],
        ["all", None, None, 2, 2, 2, 0],
    ]


def test_only_issues_of_free_titles_lead_to_it(browser: Browser) -> None:
    link = f'href="{REPORT}?issue={MAY}"'
    assert link in browser.get(f"/issues/{MAY}").text
    assert REPORT not in browser.get("/issues/20").text
    assert f'href="{REPORT}"' in browser.get("/reports").text


def test_without_a_free_title_there_is_no_audit_report(store: Store) -> None:
    with at_desk(store) as desk, serving_console(desk.store) as console:
        fill(desk)
        console.add("bob", "viewer")
        browser = console.signed_in("bob")
        assert REPORT not in browser.get("/reports").text
        empty = "No issue of a free title is closed yet"
        assert empty in text_of(browser.get(REPORT).text)
        issue = f"/issues/{BEFORE}"
        assert REPORT not in browser.get(issue).text
        qualification_forms.set_form(desk.books, 1, FormValues((Asked("job"),)))
        assert f"{REPORT}?issue={BEFORE}" in browser.get(issue).text
