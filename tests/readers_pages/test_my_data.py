"""The reader's data, agreements, messages and answers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from masthead.books import reader_requests
from tests.readers_books.household import ADA, BEN
from tests.readers_books.test_documents import remind
from tests.readers_pages.house import errors_of, said_after, send, text_of

if TYPE_CHECKING:
    from tests.readers_pages.house import House

REQUESTS = """
    SELECT kind, text FROM reader_requests WHERE account_id = :account_id
    ORDER BY reader_request_id
"""


def test_the_file_has_the_readers_data_and_no_other(house: House) -> None:
    answer = house.signed_in(BEN).get("data/file")
    assert answer.headers["content-disposition"] == 'attachment; filename="my-data.json"'
    json.loads(answer.text)
    assert "ben@example.org" in answer.text
    assert "ada@example.org" not in answer.text


def test_a_reader_agrees_and_takes_it_back(house: House) -> None:
    house.set(purposes="news=News from us")
    browser = house.signed_in(BEN)
    assert "News from us" in text_of(browser.get("data"))
    form = {"purpose_news": "1"}
    assert "Agreed on 15 April 2026" in said_after(browser, browser.post("data/consents", form))
    assert "Agreed" not in said_after(browser, browser.post("data/consents"))


def test_a_message_and_a_wish_for_erasure_come_to_the_desk(house: House) -> None:
    browser = house.signed_in(BEN)
    said = said_after(browser, browser.post("data/message", {"text": "Hello"}))
    assert "We have your message." in said
    asked = said_after(browser, browser.post("data/erasure", {"text": "Please"}))
    assert "You asked us on 15 April 2026" in asked
    browser.post("data/erasure")
    assert house.desk.rows(REQUESTS) == [("message", "Hello"), ("erasure", "Please")]
    house.set(erasure="no")
    assert browser.post("data/erasure").status_code == 404


def test_the_first_page_lists_what_a_reader_asked_and_when_it_was_answered(house: House) -> None:
    browser = house.signed_in(BEN)
    assert "What you asked us" not in text_of(browser.get())
    browser.post("data/message", {"text": "<b>Hello</b>"})
    assert "Your message: <b>Hello</b> 15 April 2026 waits for an answer" in text_of(browser.get())
    (asked,) = reader_requests.waiting(house.desk.books)
    reader_requests.answer(house.desk.books, asked.reader_request_id)
    assert "<b>Hello</b> 15 April 2026 answered on 15 April 2026" in text_of(browser.get())
    assert "Hello" not in house.signed_in(ADA).get().text


def test_the_first_page_has_reminders_beside_invoices(house: House) -> None:
    remind(house.desk)
    browser = house.signed_in(ADA)
    assert "Reminder of invoice 2026-000001 (PDF) 9 May 2026" in text_of(browser.get())
    (path,) = re.findall(r"documents/reminders/\d+\.pdf", browser.get().text)
    letter = browser.get(path)
    assert (letter.headers["content-type"], letter.content[:5]) == ("application/pdf", b"%PDF-")
    assert house.signed_in(BEN).get(path).status_code == 404
    house.set(documents="no")
    assert browser.get(path).status_code == 404
    assert "Reminder" not in text_of(browser.get())


def test_an_empty_message_is_refused_beside_its_field(house: House) -> None:
    refused = house.signed_in(BEN).post("data/message", {"text": ""})
    assert (refused.status_code, list(errors_of(refused))) == (400, ["message"])


def test_a_missing_copy_is_sent_again_or_asked_about(house: House) -> None:
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    path = f"subscriptions/{key}/missing"
    assert "No issue was sent yet." in text_of(browser.get(path))
    refused = browser.post(path, {"issue": "4"})
    assert refused.status_code == 400
    other = house.signed_in(ADA).get(path)
    assert other.status_code == 404


def test_answers_are_saved_with_their_day(house: House) -> None:
    for field_id, kind in ((1, "checkbox"), (2, "select"), (3, "textarea")):
        house.desk.put(
            "custom_fields", field_id=field_id, type=kind, display_as=f"Q{field_id}", allow_other=1
        )
        if field_id < 3:
            for option in (1, 2):
                house.desk.put(
                    "custom_field_options",
                    option_id=10 * field_id + option,
                    field_id=field_id,
                    display_as=f"Answer {option}",
                    active=1,
                )
    browser = house.signed_in(BEN)
    assert "Answer 2" in text_of(browser.get("questionnaire"))
    form = {"q1_11": "1", "q1_12": "1", "q2": "22", "q3": "More maps"}
    said = said_after(browser, send(browser, "questionnaire", form))
    assert "Your answers are saved." in said
    assert "Answered on 15 April 2026." in said
    assert "More maps" in said
    too_long = "x" * 3000
    refused = send(browser, "questionnaire", {"q2_other": too_long})
    assert refused.status_code == 400
    assert "This text is too long" in text_of(refused)
    assert too_long in refused.text


def test_what_is_switched_off_is_not_there(house: House) -> None:
    house.set(my_data="no", questionnaire="no")
    browser = house.signed_in(BEN)
    for path in ("data", "data/file", "questionnaire"):
        assert browser.get(path).status_code == 404
    assert "/data" not in browser.get().text
