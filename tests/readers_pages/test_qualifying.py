"""A reader of a free title qualifies again in one visit (qualification, "Requalification")."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import issues
from tests.circulation.test_closing import term
from tests.readers_books.household import ADA, BEN, CORA, show_bundle
from tests.readers_pages import free_title
from tests.readers_pages.house import errors_of, said_after, send, text_of

if TYPE_CHECKING:
    from tests.readers_pages.house import House

FORM = {"q1": "11", "q2_21": "1", "q2_other": "Ropes", "q3": "More maps", "agreed": "1"}


@pytest.fixture
def free(house: House) -> str:
    """Cora gets Tide free until May 31; return the path of her subscription."""
    free_title.fill(house.desk)
    return f"subscriptions/{free_title.qualify(house.desk, CORA).subscription_id}"


def test_home_says_until_when_it_is_free_and_asks_to_confirm(house: House, free: str) -> None:
    browser = house.signed_in(CORA)
    shown = text_of(browser.get())
    assert "1 copy, print, free of charge until 31 May 2026." in shown
    assert "It is free of charge until 31 May 2026: confirm that you still want it." in shown
    assert "all is paid" not in shown
    assert f"{free}/qualify" in browser.get().text
    assert "kostenlos bis zum 31. Mai 2026" in text_of(house.signed_in(CORA, "de").get())


def test_one_visit_qualifies_again(house: House, free: str) -> None:
    """decisions, "A reader who answers the questions of a free title"."""
    browser = house.signed_in(CORA)
    page = browser.get(f"{free}/qualify")
    assert 'value="11" selected' in " ".join(page.text.split())
    assert free_title.AGREED in text_of(page)
    said = said_after(browser, send(browser, f"{free}/qualify", FORM))
    assert "You receive Tide free of charge until 14 April 2027." in said
    assert "free of charge until 14 April 2027" in text_of(browser.get())
    assert "confirm that you still want it." not in text_of(browser.get())
    newest = house.desk.table("qualifications")[-1]
    assert (newest["request_type"], newest["qualified_on"], newest["taken_by"]) == (
        "web",
        "2026-04-15",
        "the reader",
    )
    assert json.loads(newest["evidence"]) == {
        "ip_address": "127.0.0.1",
        "agreed_text": free_title.AGREED,
    }
    assert json.loads(newest["answers"])["2"] == {"options": [21], "text": "Ropes"}


def test_the_form_shows_answers_of_another_form(house: House, free: str) -> None:
    """decisions, "A reader who answers the questions of a free title"."""
    house.desk.put(
        "custom_field_answers",
        subscriber_id=CORA,
        field_id=free_title.MORE,
        text_value="More maps",
        answered_on="2026-01-05",
    )
    assert "More maps" in text_of(house.signed_in(CORA).get(f"{free}/qualify"))


def test_a_retired_answer_stays_with_who_gave_it(house: House, free: str) -> None:
    free_title.retire(house.desk, CORA)
    browser, other = house.signed_in(CORA), house.signed_in(BEN)
    shown = browser.get(f"{free}/qualify")
    assert re.search(r'name="q2_21"[^>]* checked', shown.text)
    assert "Tools" in text_of(shown)
    key = free_title.qualify(house.desk, BEN).subscription_id
    assert "Tools" not in text_of(other.get(f"subscriptions/{key}/qualify"))


def test_the_qualification_is_for_the_subscription_of_the_page(house: House, free: str) -> None:
    """A reader may have the title in print and as a file."""
    newer = free_title.qualify(house.desk, CORA, type="Digital").subscription_id
    browser = house.signed_in(CORA)
    send(browser, f"{free}/qualify", FORM)
    of = house.desk.table("qualifications")[-1]["subscription_id"]
    assert f"subscriptions/{of}" == free
    send(browser, f"subscriptions/{newer}/qualify", FORM)
    assert house.desk.table("qualifications")[-1]["subscription_id"] == newer


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({"q1": ""}, "q1", "Answer this question."),
        ({"q1": "21"}, "q1", "Answer this question."),
        ({"q3": "x" * 2_001}, "q3", "This text is too long: 2000 characters are the most."),
        ({"q3": "a\x07"}, "q3", "This text has characters that cannot be printed."),
        ({"agreed": ""}, "agreed", "Confirm that you agree."),
    ],
)
def test_what_is_missing_stands_beside_its_field(
    house: House, free: str, typed: dict[str, str], field: str, said: str
) -> None:
    refused = send(house.signed_in(CORA), f"{free}/qualify", FORM | typed)
    assert refused.status_code == 400
    assert errors_of(refused) == {field: said}
    assert len(house.desk.table("qualifications")) == 1


def test_an_answer_that_disqualifies_ends_what_was_free(house: House, free: str) -> None:
    browser = house.signed_in(CORA)
    said = said_after(browser, send(browser, f"{free}/qualify", FORM | {"q1": "12"}))
    assert "With these answers, Tide is not free for you any more." in said
    shown = text_of(browser.get())
    assert "free of charge" not in shown
    assert "Confirm that you still want it" not in shown
    assert "Answer the questions again" in shown
    said = "With your answers of the last time, it is not free for you."
    asked = text_of(browser.get(f"{free}/qualify"))
    assert said in asked
    assert "It is free for you" not in asked
    house.desk.to("2027-07-01")
    browser = house.signed_in(CORA)
    assert "It was free of charge" not in text_of(browser.get())
    assert said in text_of(browser.get(f"{free}/qualify"))


def test_who_pays_and_is_disqualified_reads_that_it_is_not_free(house: House, free: str) -> None:
    path = f"subscriptions/{house.subscriptions.ben}/qualify"
    free_title.qualify(house.desk, BEN)
    browser = house.signed_in(BEN)
    said = said_after(browser, send(browser, path, FORM | {"q1": "12"}))
    assert "is not free for you any more" in said
    shown = text_of(browser.get())
    assert free
    assert "Confirm that you still want it" not in shown
    assert "With your answers of the last time, it is not free" in text_of(browser.get(path))


def test_a_reader_whose_qualification_has_ended_qualifies_again(house: House, free: str) -> None:
    house.desk.to("2026-07-01")
    browser = house.signed_in(CORA)
    assert "It was free of charge until 31 May 2026." in text_of(browser.get())
    said = said_after(browser, send(browser, f"{free}/qualify", FORM))
    assert "You receive Tide free of charge until 30 June 2027." in said


def test_who_cancels_what_is_free_reads_when_it_ends(house: House, free: str) -> None:
    browser = house.signed_in(CORA)
    said = said_after(browser, send(browser, f"{free}/cancel"))
    assert "1 copy, print, until 1 May 2026. It was cancelled on 15 April 2026" in said
    assert "free of charge until" not in said


def test_who_pays_reads_nothing_of_a_free_title(house: House, free: str) -> None:
    assert free
    free_title.qualify(house.desk, BEN)
    shown = text_of(house.signed_in(BEN).get())
    assert "free of charge" not in shown
    assert "all is paid" in shown
    key = int(free.rpartition("/")[2])
    house.desk.put("terms", **term(99, key, 12, 8, kind="opening"))
    assert "free of charge" not in text_of(house.signed_in(CORA).get())


def test_who_pays_reads_of_the_issues_that_are_paid(house: House, free: str) -> None:
    """decisions, "Who pays and is qualified": the reader renews as without the qualification."""
    assert free
    show_bundle(house.desk)
    own = f"subscriptions/{house.subscriptions.ben}"
    free_title.qualify(house.desk, BEN)
    browser = house.signed_in(BEN)
    assert "1 copy, print. 12 issues left, until 30 April 2027." in text_of(browser.get())
    seen = send(browser, f"{own}/renew?offer=1", {"offer": "1", "payment": "invoice"})
    assert "Order with obligation to pay" in text_of(seen)
    house.desk.connection.change(
        "UPDATE terms SET issues_left = 2 WHERE account_id = 1 AND subscription_id = :key",
        key=house.subscriptions.ben,
    )
    free_title.qualify(house.desk, BEN, on="2026-04-15")
    assert "1 copy, print. 2 issues left. " in text_of(browser.get())


def test_who_has_not_paid_gets_what_is_free(house: House, free: str) -> None:
    """circulation, "Closing": a copy goes out by the qualification where a term is held."""
    assert free
    house.desk.connection.change("UPDATE publications SET credit_issues = 0 WHERE account_id = 1")
    browser = house.signed_in(ADA)
    assert "waits for payment" in text_of(browser.get())
    free_title.qualify(house.desk, ADA)
    shown = text_of(browser.get())
    assert "waits for payment" not in shown
    assert "free of charge until 31 May 2026: confirm that you still want it." in shown
    assert "are to be paid until" in shown
    assert "Next issue Tide 5, 1 May 2026" in shown
    assert issues.close(house.desk.books, 5).held == []


def test_another_readers_questions_are_not_there(house: House, free: str) -> None:
    browser = house.signed_in(BEN)
    assert browser.get(f"{free}/qualify").status_code == 404
    own = f"subscriptions/{house.subscriptions.ben}/qualify"
    assert browser.get(own).status_code == 404
    form = send(house.signed_in(CORA), f"{free}/qualify", FORM | {"agreed": ""})
    assert form.status_code == 400
    house.set(questionnaire="no")
    assert house.signed_in(CORA).get(f"{free}/qualify").status_code == 404
    assert "/qualify" not in house.signed_in(CORA).get().text
