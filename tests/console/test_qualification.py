"""Free titles in the console: a reader's qualifications, the telephone, and what lapses when."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import qualifications, requalifications
from masthead.books.qualifications import Given
from masthead.books.requalifications import Effort
from masthead.circulation.qualifying import answer
from masthead.console.pages import qualification
from tests.circulation.desk import at_desk
from tests.circulation.two_readers import fill
from tests.console.browser import input_values, serving_console, text_of
from tests.readers_pages import free_title

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console
    from tests.servers import Store

ADA = "/subscribers/1"
FORM = {"q1": "11", "on": "2026-04-01", "request_type": "telephone", "telephone": "+353 21 123"}


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Desk]:
    """An account for this file."""
    with at_desk(store) as found:
        yield found


@pytest.fixture(scope="module")
def console(shared: Desk) -> Iterator[Console]:
    """Its console, with a clerk, a manager and a viewer."""
    with serving_console(shared.store) as found:
        for role in ("clerk", "manager", "viewer"):
            found.add(role, role)
        yield found


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """Tide is free to engineers, not to students; Ada qualified until 31 May 2026."""
    fill(shared)
    free_title.fill(shared)
    free_title.qualify(shared, 1)
    return shared


@pytest.fixture
def browser(console: Console, desk: Desk) -> Browser:
    """A browser of the clerk, once the desk is filled."""
    assert desk.account_id == 1
    return console.signed_in("clerk")


def _asked(browser: Browser, **typed: str) -> httpx2.Response:
    """Open the questions, and send them for a look."""
    page = browser.get(f"{ADA}/qualify?publication=1")
    hidden = {
        name: value
        for name, value in input_values(page.text).items()
        if name in {"publication", "once"}
    }
    return browser.post(f"{ADA}/qualify", {**hidden, **FORM, **typed})


def test_a_retired_answer_stays_with_who_gave_it(browser: Browser, desk: Desk) -> None:
    free_title.retire(desk, 1)
    assert "Tools" in browser.get(f"{ADA}/qualify?publication=1").text
    asked = _asked(browser, q2_21="1", q1="")
    assert (asked.status_code, "Tools" in asked.text) == (400, True)
    assert "Tools" not in browser.get("/subscribers/2/qualify?publication=1").text


def _sent(browser: Browser, path: str, typed: dict[str, str]) -> httpx2.Response:
    """Fill in the form of a page, save it, and return the page that follows."""
    saved = browser.post(path, {**input_values(browser.get(path).text), **typed})
    return browser.get(saved.headers["location"]) if saved.status_code == 303 else saved


def test_a_readers_qualifications_stand_there_with_their_evidence(
    browser: Browser, console: Console
) -> None:
    page = browser.get(f"{ADA}/qualifications")
    shown = text_of(page.text)
    assert "Tide, 1 June 2025 valid" in shown
    assert "Valid until 31 May 2026 How Request by telephone Class Engineers" in shown
    assert "Your job Engineer Telephone +353 21 123 Taken by Pat" in shown
    assert "Tide: ask the questions" in shown
    theirs = text_of(console.signed_in("viewer").get(f"{ADA}/qualifications").text)
    assert "Taking a qualification: a clerk or a manager." in theirs
    assert "ask the questions" not in theirs
    assert "No qualification yet." in text_of(browser.get("/subscribers/2/qualifications").text)


def test_the_evidence_of_a_deleted_reader_stays_to_be_seen(browser: Browser, desk: Desk) -> None:
    desk.rows(
        "UPDATE subscribers SET delete_date = '2026-04-10 00:00:00' "
        "WHERE subscriber_id = 1 RETURNING subscriber_id"
    )
    page = browser.get(f"{ADA}/qualifications")
    assert page.status_code == 200
    assert "Qualifications of Ada Ames" in text_of(page.text)
    assert "Answers and evidence" in page.text
    assert f"{ADA}/qualify" not in page.text
    assert browser.get(f"{ADA}/qualify?publication=1").status_code == 400
    assert browser.get("/subscribers/77/qualifications").status_code == 404


def test_a_call_is_previewed_and_then_added(browser: Browser, desk: Desk) -> None:
    looked = _asked(browser)
    assert looked.status_code == 200
    assert "Tide: class Engineers, valid until 31 March 2027." in text_of(looked.text)
    assert len(desk.table("qualifications")) == 1
    saved = browser.post(f"{ADA}/qualify", input_values(looked.text))
    assert saved.status_code == 303, text_of(saved.text)
    page = text_of(browser.get(saved.headers["location"]).text)
    assert "Tide, 1 April 2026 valid" in page
    assert "Taken by clerk" in page
    assert "Tide, 1 June 2025 a later one counts" in page


def test_what_follows_from_an_answer_is_said_before(browser: Browser) -> None:
    assert "An answer disqualifies: no copy goes out." in text_of(_asked(browser, q1="12").text)
    assert "A qualification of a later day counts." in text_of(
        _asked(browser, on="2025-05-01").text
    )


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"q1": ""}, "Your job: It has to be answered"),
        ({"on": "2026-13-01"}, "The day is a day"),
        ({"on": "2190-01-01"}, "is still to come"),
        ({"request_type": "smoke"}, "is not a request type"),
        ({"said": "x" * 501}, "501 characters"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_added(
    browser: Browser, desk: Desk, typed: dict[str, str], said: str
) -> None:
    refused = _asked(browser, **typed)
    assert refused.status_code == 400
    assert said in text_of(refused.text)
    assert len(desk.table("qualifications")) == 1


def test_the_free_titles_say_what_lapses_when(browser: Browser, desk: Desk) -> None:
    free_title.qualify(desk, 3, "2025-05-20")
    free_title.qualify(desk, 2, "2025-05-20")
    desk.connection.change(
        "UPDATE subscribers SET delete_date = '2026-04-01' WHERE subscriber_id = 2"
    )
    requalifications.set_effort(desk.books, Effort(1, 1, 60, "letter"))
    desk.now += 120_000_000  # what was counted for another test is outdated
    pages = (text_of(browser.get("/qualification").text) for _ in range(1_000))
    shown = next(page for page in pages if "being counted" not in page)
    assert "Tide May 2026 2" in shown
    assert "A qualification is valid for 12 months" in shown
    assert "disqualified by: Student" in shown
    assert "Engineers Your job: Engineer yes 2" in shown
    assert "Unclassified all others none 0" in shown
    assert "by letter, 60 days before a qualification ends: 1 reader is due today" in shown


def test_the_readers_whose_copies_end_in_a_month_are_listed(
    browser: Browser, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ada pays, so she is not asked; Cora gets the title by her qualification alone."""
    for reader, on in ((2, "2025-07-01"), (3, "2025-05-20")):
        free_title.qualify(desk, reader, on)
    letter = Effort(1, 1, 60, "letter")
    requalifications.set_effort(desk.books, letter)
    requalifications.note_sent(desk.books, requalifications.selected(desk.books, 1, 1))
    path = "/qualification/1/lapses?month=2026-05"
    shown = text_of(browser.get(path).text)
    assert "Cora Ames 19 May 2026 Engineers effort 1 Ada Ames 31 May 2026 Engineers" in shown
    assert "Ben" not in shown
    monkeypatch.setattr(qualification, "_SHOWN", 1)
    first = browser.get(path).text
    assert "Ada" not in text_of(first)
    (after,) = re.findall(r'href="(/qualification/1/lapses[^"]*after[^"]*)"', first)
    second = text_of(browser.get(html.unescape(after)).text)
    assert "Ada Ames 31 May 2026" in second
    assert "Cora" not in second
    assert browser.get("/qualification/1/lapses?month=2026-13").status_code == 400
    assert browser.get("/qualification/2/lapses?month=2026-05").status_code == 404


@pytest.mark.parametrize(
    ("today", "badge", "said"),
    [
        ("2026-02-01", "Tide free Gets", "Free until 31 May 2026"),
        ("2026-04-15", "Tide free, ends soon Gets", "Free until 31 May 2026"),
        ("2026-06-01", "Tide lapsed Gets", "Was free until 31 May 2026"),
    ],
)
def test_a_reader_of_a_free_title_has_not_run_out(
    console: Console, desk: Desk, today: str, badge: str, said: str
) -> None:
    free_title.qualify(desk, 3, "2025-06-01")
    desk.to(today)
    shown = text_of(console.signed_in("clerk").get("/subscribers/3").text)
    assert badge in shown
    assert said in shown
    assert "ran out" not in shown
    assert "Ask the questions" in shown


def test_the_answer_that_disqualifies_is_named(browser: Browser, desk: Desk) -> None:
    given = Given(3, "2026-04-01", "web", {free_title.JOB: answer([free_title.STUDENT])})
    qualifications.add(desk.books, 1, given)
    shown = text_of(browser.get("/subscribers/3/qualifications").text)
    assert "Tide, 1 April 2026 disqualified" in shown
    assert "Disqualified by Student" in shown
    of_reader = text_of(browser.get("/subscribers/3").text)
    assert "Gets no copies by the answers of the reader" in of_reader


def test_an_effort_is_set_and_removed_by_its_words(console: Console, desk: Desk) -> None:
    manager, path = console.signed_in("manager"), "/qualification/1/effort"
    assert desk.account_id == 1
    typed = {"effort": "1", "days_before": "60", "way": "letter", "remove": ""}
    assert "Effort 1: a new one" in text_of(manager.get(path).text)
    page = _sent(manager, path, typed)
    assert "Effort 1: by letter, 60 days before a qualification ends." in text_of(page.text)
    assert "Change the efforts of Tide" in page.text
    late = _sent(manager, path, typed | {"effort": "2", "days_before": "90"})
    assert "effort 1, which comes before it, is due earlier" in text_of(late.text)
    assert "Say in which way readers are asked." in text_of(
        _sent(manager, path, typed | {"way": "smoke", "days_before": ""}).text
    )
    removed = _sent(manager, path, typed | {"remove": "1"})
    assert "Effort 1 was removed. " in text_of(removed.text)
    assert "Nobody is asked." in text_of(removed.text)
    assert manager.get("/qualification/2/effort").status_code == 404


def test_the_free_titles_have_a_tab_if_there_is_one(console: Console, desk: Desk) -> None:
    """Where no title has a form, the page says how a title gets one."""
    manager = console.signed_in("manager")
    assert desk.account_id == 1
    pages = [manager.get(path).text for path in ("/", ADA)]
    assert ["Free titles" in pages[0], f"{ADA}/qualifications" in pages[1]] == [True, True]
    fill(desk)
    pages = [manager.get(path).text for path in ("/", ADA)]
    assert ["Free titles" in pages[0], f"{ADA}/qualifications" in pages[1]] == [False, False]
    assert "A title becomes free when it gets a form" in text_of(manager.get("/qualification").text)
