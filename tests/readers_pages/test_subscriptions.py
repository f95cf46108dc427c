"""What readers do with their subscriptions: look, pause, cancel, and change the address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import held_addresses, issues
from tests.billing.outboxes import begin_mail
from tests.console.browser import input_values
from tests.readers_books.household import ADA, BEN, CORA, DAN, EVE, show_bundle
from tests.readers_pages.house import errors_of, name_by_day, said_after, send, text_of

if TYPE_CHECKING:
    from tests.readers_pages.house import House

PAGE_BYTES_MAX = 50 * 1000
"""What a page has at most with all that it loads (decisions, "Looks of the readers' pages")."""


def test_home_says_what_a_reader_has(house: House) -> None:
    shown = text_of(house.signed_in(BEN).get())
    assert "Tide" in shown
    assert "1 copy, print" in shown
    assert "all is paid" in shown
    assert "Next issue" in shown


def test_home_says_what_is_to_be_paid(house: House) -> None:
    assert "$12.84" in text_of(house.signed_in(ADA).get())
    assert "12,84\xa0$" in house.signed_in(ADA, "de").get().text


def test_not_all_is_paid_beside_an_open_invoice(house: House) -> None:
    """Not even if the issues of its order have come, so that the subscription does not name it."""
    house.desk.connection.change(
        "UPDATE terms SET issues_left = 0 WHERE account_id = 1 AND subscription_id = :key",
        key=house.subscriptions.ada,
    )
    shown = text_of(house.signed_in(ADA).get(f"subscriptions/{house.subscriptions.ada}"))
    assert "12 issues left" in shown
    assert "all is paid" not in shown


def test_a_donor_sees_the_gift_and_the_recipient_sees_no_price(house: House) -> None:
    donor, recipient = house.signed_in(CORA), house.signed_in(DAN)
    assert "Gifts from you" in text_of(donor.get())
    assert "Dan" in text_of(donor.get())
    shown = text_of(recipient.get())
    assert "gift to you" in shown
    assert "12.84" not in shown
    assert "Cora" not in shown


def test_a_subscription_shows_its_address_and_its_issues(house: House) -> None:
    found = house.subscriptions.ben
    shown = text_of(house.signed_in(BEN).get(f"subscriptions/{found}"))
    assert "2 Oak Cork T12 Ireland" in shown
    assert "Tide 5" in shown


def test_pause_shows_what_happens_and_then_pauses(house: House) -> None:
    browser, path = house.signed_in(BEN), f"subscriptions/{house.subscriptions.ben}/pause"
    days = {"first": "2026-06-01", "last": "2026-06-30"}
    seen = send(browser, path, days)
    assert seen.status_code == 200
    assert "Last day then" in text_of(seen)
    assert not house.desk.rows("SELECT 1 FROM suspensions WHERE account_id = :account_id")
    sent = input_values(seen.text)
    said = said_after(browser, browser.post(path, sent, token=""))
    assert "paused from 1 June 2026 to 30 June 2026" in said
    again = browser.post(path, sent, token="")
    assert "saved already" in said_after(browser, again)
    assert len(house.desk.rows("SELECT 1 FROM suspensions WHERE account_id = :account_id")) == 1


def test_german_pages_tell_the_pause_from_pausing(house: House) -> None:
    browser, key = house.signed_in(BEN, "de"), house.subscriptions.ben
    path = f"subscriptions/{key}/pause"
    assert "Pausieren" in text_of(browser.get(path))
    seen = send(browser, path, {"first": "2026-06-01", "last": "2026-06-30"})
    said = said_after(browser, browser.post(path, input_values(seen.text), token=""))
    assert "Pause vom 1. Juni 2026 bis 30. Juni 2026" in said


def test_a_pause_that_is_too_long_is_refused_beside_its_field(house: House) -> None:
    path = f"subscriptions/{house.subscriptions.ben}/pause"
    refused = send(house.signed_in(BEN, "de"), path, {"first": "2026-06-01", "last": "2026-12-30"})
    assert refused.status_code == 400
    assert list(errors_of(refused)) == ["last"]
    assert "im Jahr 2026: 213. Für Pausen übrig: 60 von" in errors_of(refused)["last"]
    assert 'value="2026-12-30"' in refused.text


def test_a_pause_ends(house: House) -> None:
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    seen = send(
        browser, f"subscriptions/{key}/pause", {"first": "2026-06-01", "last": "2026-06-30"}
    )
    browser.post(f"subscriptions/{key}/pause", input_values(seen.text), token="")
    assert "End the pause" in text_of(browser.get())
    said = said_after(browser, send(browser, f"subscriptions/{key}/resume"))
    assert "The pause has ended." in said
    assert "End the pause" not in said


def test_cancelling_takes_two_clicks_from_home_and_is_taken_back(house: House) -> None:
    """readers, "What a reader can do": without a telephone number."""
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    path = f"subscriptions/{key}/cancel"
    assert f'href="/tide/{path}"' in browser.get().text
    seen = browser.get(path)
    assert "It ends" in text_of(seen)
    assert seen.text.count("<button") == 2 + seen.text.count('class="plain">Sign out') - 1
    said = said_after(browser, send(browser, path))
    assert "The subscription is cancelled" in said
    assert "Take the cancellation back" in said
    back = said_after(browser, send(browser, f"subscriptions/{key}/uncancel"))
    assert "goes on" in back


def test_a_confirmation_is_promised_only_where_a_mail_goes(house: House) -> None:
    browser, path = house.signed_in(BEN), f"subscriptions/{house.subscriptions.ben}/cancel"
    promised = "You get a confirmation by email at once."
    assert promised not in text_of(browser.get(path))
    begin_mail(house.desk)
    assert promised in text_of(browser.get(path))
    held_addresses.hold(house.desk.books, "ben@example.org", "it came back")
    assert promised not in text_of(browser.get(path))


def test_switching_renewal_off_shows_how_it_is_and_what_happens_then(house: House) -> None:
    show_bundle(house.desk)
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    path = f"subscriptions/{key}/renewal"
    said_after(browser, send(browser, path, {"bundle": "1", "agreed": "1"}))
    present, then = text_of(browser.get(path)).split("What happens then")
    assert "What is ordered Tide for a year" in present
    assert "It ends 30 April 2027" in then
    assert "Tide for a year" not in then


def test_a_gift_is_not_cancelled_by_who_gets_it(house: House) -> None:
    key = house.subscriptions.dan
    browser = house.signed_in(DAN)
    assert "/cancel" not in browser.get().text
    seen = browser.get(f"subscriptions/{key}/cancel")
    assert seen.status_code == 400
    assert "write to us" in text_of(seen)
    assert "Cancel the subscription" not in seen.text


def test_an_address_is_changed_from_an_issue_on(house: House) -> None:
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    path = f"subscriptions/{key}/address"
    shown = browser.get(path).text
    assert "Eircode" in shown
    address = {
        "first_name": "Ben",
        "last_name": "Ames",
        "address": "7 Elm",
        "city": "Berlin",
        "zip_code": "10115",
        "country": "DE",
        "when": "issue",
        "issue": "6",
    }
    said = said_after(browser, send(browser, path, address))
    assert "from 1 June 2026" in said
    assert "7 Elm" in said


def test_a_temporary_address_has_its_days_and_is_ended(house: House) -> None:
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    path = f"subscriptions/{key}/address"
    address = {
        "last_name": "Ames",
        "address": "1 Beach",
        "city": "Nice",
        "zip_code": "06000",
        "country": "FR",
        "when": "while",
        "first": "2026-07-01",
        "last": "2026-07-31",
    }
    said = said_after(browser, send(browser, path, address))
    assert "from 1 July 2026 to 31 July 2026" in said
    page = browser.get(path).text
    assert "End the temporary address" in page
    ended = browser.post(f"{path}/end", {"first": "2026-07-01"})
    assert "The temporary address has ended." in said_after(browser, ended)
    again = browser.post(f"{path}/end", {"first": "2026-07-01"})
    assert again.status_code == 400
    assert "This has changed meanwhile." in text_of(again)
    assert f'action="/tide/{path}"' in again.text
    assert 'value="2 Oak"' in again.text


def test_the_form_of_another_country_is_shown_with_the_input(house: House) -> None:
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    path = f"subscriptions/{key}/address"
    shown = send(browser, path, {"address": "1 Main St", "country": "US", "show": "country"})
    assert shown.status_code == 200
    assert "ZIP code" in shown.text
    assert 'name="state"' in shown.text
    assert 'value="1 Main St"' in shown.text


def test_the_first_address_of_a_subscription_holds_from_now_on(house: House) -> None:
    """There is no other one until a later day, and none after some days."""
    key = house.subscriptions.ben
    house.desk.connection.change(
        "UPDATE subscriptions SET mailing_address_id = NULL "
        "WHERE account_id = 1 AND subscription_id = :key",
        key=key,
    )
    browser, path = house.signed_in(BEN), f"subscriptions/{key}"
    assert "Enter the address" in text_of(browser.get(path))
    shown = text_of(browser.get(f"{path}/address"))
    assert "for some days only" not in shown
    assert "from a day on" not in shown
    assert "Send invoices to this address, too" in shown
    form = {"address": "9 Elm", "city": "Berlin", "zip_code": "10115", "country": "DE"}
    said = said_after(browser, send(browser, f"{path}/address", {**form, "last_name": "Ames"}))
    assert "The new address is noted." in said
    assert "Ames 9 Elm 10115 Berlin Germany" in said


def test_an_unlimited_subscription_that_is_cancelled_says_its_end(house: House) -> None:
    key = house.subscriptions.ben
    house.desk.connection.change(
        "UPDATE terms SET issues = -1, issues_left = -1, months = 3, starts_on = '2026-04-10' "
        "WHERE account_id = 1 AND subscription_id = :key",
        key=key,
    )
    house.desk.connection.change(
        "UPDATE subscriptions SET issues = -1 WHERE account_id = 1 AND subscription_id = :key",
        key=key,
    )
    browser, path = house.signed_in(BEN), f"subscriptions/{key}"
    assert "1 copy, print, without an end." in text_of(browser.get(path))
    name_by_day(house, 7)
    said = said_after(browser, send(browser, f"{path}/cancel"))
    assert "without an end" not in said
    assert "1 copy, print, until 1 July 2026." in said
    assert "ends after the issue of 1 July 2026." in said


def test_a_missing_copy_is_named_by_its_day_in_the_language_of_the_reader(house: House) -> None:
    for number in (5, 6):
        name_by_day(house, number)
        issues.close(house.desk.books, number)
    house.set(missing_copies="1")
    house.desk.to("2026-06-02")
    browser, path = house.signed_in(BEN, "de"), f"subscriptions/{house.subscriptions.ben}/missing"
    said = said_after(browser, send(browser, path, {"issue": "5"}))
    assert "Wir schicken Ihnen die Ausgabe noch einmal: 1. Mai 2026." in said
    said = said_after(browser, send(browser, path, {"issue": "6"}))
    assert "schreiben Ihnen: 1. Juni 2026." in said
    assert "2026-06-01" not in text_of(browser.get())


def test_a_part_of_an_address_is_refused_beside_its_fields(house: House) -> None:
    path = f"subscriptions/{house.subscriptions.ben}/address"
    refused = send(house.signed_in(BEN), path, {"country": "US", "address": "1 Main St"})
    assert refused.status_code == 400
    assert set(errors_of(refused)) == {"city", "state", "zip_code", "last_name"}
    assert 'value="1 Main St"' in refused.text


@pytest.mark.parametrize(
    ("setting", "value", "page"),
    [
        ("pause", "no", "pause"),
        ("cancel", "no", "cancel"),
        ("automatic_renewal", "no", "renewal"),
    ],
)
def test_what_is_switched_off_is_not_there(
    house: House, setting: str, value: str, page: str
) -> None:
    path = f"subscriptions/{house.subscriptions.ben}/{page}"
    browser = house.signed_in(BEN)
    assert browser.get(path).status_code == 200
    house.set(**{setting: value})
    assert browser.get(path).status_code == 404
    assert browser.post(path).status_code == 404
    assert f"/{page}" not in browser.get().text


def test_renewing_is_linked_where_a_bundle_renews(house: House) -> None:
    browser, path = house.signed_in(BEN), f"subscriptions/{house.subscriptions.ben}/renew"
    linked = re.compile(rf'{path}(?:al)?"')
    assert not linked.findall(browser.get().text)
    show_bundle(house.desk)
    assert {f'{path}"', f'{path}al"'} == {*linked.findall(browser.get().text)}
    assert "Automatic renewal" in text_of(browser.get())


def test_buying_and_giving_are_linked_where_a_bundle_is_shown_for_it(house: House) -> None:
    browser = house.signed_in(BEN)
    assert "Read more, or give" not in text_of(browser.get())
    show_bundle(house.desk)
    assert "Subscribe Give a subscription" in text_of(browser.get())


PAGES = (
    "",
    "/pause",
    "/resume",
    "/cancel",
    "/uncancel",
    "/address",
    "/renewal",
    "/missing",
    "/renew",
)


@pytest.mark.parametrize("page", PAGES)
def test_another_readers_subscription_is_not_there(house: House, page: str) -> None:
    """Two at one address, too: the answer is that of an id that does not exist."""
    browser = house.signed_in(ADA)
    before = house.desk.everything()
    for key in (house.subscriptions.ben, house.subscriptions.dan, 10**15):
        path = f"subscriptions/{key}{page}"
        answers = [browser.get(path)]
        if page:
            answers.append(browser.post(path, {"first": "2026-06-01", "last": "2026-06-02"}))
        for answer in answers:
            assert answer.status_code == 404
            assert text_of(answer) == text_of(browser.get(f"subscriptions/{10**14}{page}"))
    assert house.desk.everything() == before


def test_what_readers_stored_is_shown_as_text(house: House) -> None:
    script = "<script>alert(1)</script>"
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    address = {
        "last_name": script,
        "company": '"><img src=x>',
        "address": script,
        "city": script,
        "zip_code": "1",
        "country": "DE",
        "when": "now",
    }
    send(browser, f"subscriptions/{key}/address", address)
    for path in ("", f"subscriptions/{key}", f"subscriptions/{key}/address"):
        page = browser.get(path).text
        assert "<script" not in page
        assert "<img" not in page
    assert "alert(1)" in browser.get(f"subscriptions/{key}").text


def test_a_document_is_a_pdf_for_its_reader_alone(house: House) -> None:
    ((invoice,),) = house.desk.rows(
        "SELECT invoice_id FROM invoices WHERE account_id = :account_id AND subscriber_id = 1"
    )
    path = f"documents/{invoice}.pdf"
    found = house.signed_in(ADA).get(path)
    assert (found.headers["content-type"], found.content[:5]) == ("application/pdf", b"%PDF-")
    assert house.signed_in(BEN).get(path).status_code == 404


def test_each_page_is_small_with_all_that_it_loads(house: House) -> None:
    browser, key = house.signed_in(BEN), house.subscriptions.ben
    show_bundle(house.desk)
    others = ("sign-in", "address", "questionnaire", "data", "buy", "gift", "gift?offer=1")
    paths = ["", *others, *(f"subscriptions/{key}{page}" for page in PAGES)]
    loaded = {}
    for path in paths:
        page = browser.get(path)
        links = re.findall(r'(?:rel="(?:stylesheet|icon)" href|<img src)="([^"]+)"', page.text)
        assert len(links) >= 3 or page.status_code != 200
        loaded[path] = len(page.content) + sum(
            len(browser.client.get(link).content) for link in links
        )
        assert "<script" not in page.text
    assert max(loaded.values()) <= PAGE_BYTES_MAX, loaded


def test_a_page_speaks_the_language_of_the_reader(house: House) -> None:
    browser = house.signed_in(EVE, "de-AT,de;q=0.9")
    page = browser.get()
    assert '<html lang="de">' in page.text
    assert "Ihre Abonnements" in page.text
    assert "gekündigt" in page.text
