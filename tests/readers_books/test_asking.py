"""Readers order, tell of missing copies, answer questions, agree to purposes and ask the desk."""

from __future__ import annotations

import hmac
import json
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from masthead.books import (
    issues,
    mandates,
    payer_payments,
    reader_answers,
    reader_changes,
    reader_copies,
    reader_home,
    reader_orders,
    reader_requests,
    reader_shop,
    replacements,
)
from masthead.books.payer_payments import Incoming
from masthead.books.reader_answers import Given
from masthead.books.reader_orders import Wanted
from masthead.circulation.reader_rules import REFUSALS
from masthead.loading.reader_data import everything
from tests.readers_books.household import (
    ADA,
    BEN,
    CORA,
    DAN,
    kept,
    of,
    reader,
    refused,
    show_bundle,
    undo_newest,
)

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

RENEW = Wanted("renew", 1, "invoice")
FAY = {
    "first_name": "Fay",
    "last_name": "Burns",
    "address": "4 Elm",
    "city": "Cork",
    "country_name": "Ireland",
}
GIFT = Wanted("gift", 1, "invoice", recipient=FAY)


def setting(desk: Desk, **values: str) -> None:
    for number, (name, value) in enumerate(values.items(), 1):
        desk.put("page_settings", setting_id=number, name=name, value=value)


# Orders


def test_a_reader_sees_the_price_and_what_it_extends(household: Desk) -> None:
    assert reader_orders.choices(reader(household, ADA), ADA) == []
    show_bundle(household)
    before = household.everything()
    (tide,) = reader_orders.choices(reader(household, ADA), ADA)
    assert household.everything() == before
    assert (tide.name, tide.cents, tide.tax) == ("Tide for a year", 1284, 84)
    assert (tide.uses, tide.renews) == (("renew", "buy", "gift"), (of(household).ada,))
    assert tide.lines == (("Tide", 12, None, "Print", 1),)


def test_a_renewal_makes_an_invoice_and_is_undone_until_it_is_paid(household: Desk) -> None:
    show_bundle(household)
    wanted = RENEW._replace(subscription_id=of(household).ben)
    before = household.everything()
    said = reader_orders.order(reader(household, BEN), BEN, wanted, dry_run=True)
    assert household.everything() == before
    assert (said.cents, said.tax, said.number) == (1284, 84, None)
    done = reader_orders.order(reader(household, BEN), BEN, wanted)
    assert (done.cents, done.number) == (1284, "2026-000005")
    (tide,) = reader_home.home(reader(household, BEN), BEN).subscriptions
    assert tide.issues_left == 24
    undo_newest(household)
    (tide,) = reader_home.home(reader(household, BEN), BEN).subscriptions
    assert (tide.issues_left, tide.owed) == (12, None)
    done = reader_orders.order(reader(household, BEN), BEN, wanted)
    payer_payments.add(household.books, Incoming(1284), invoice=str(done.number))
    assert "paid since" in str(refused(household, undo_newest, household))


def test_a_gift_goes_to_a_new_reader_and_tells_nothing_of_others(household: Desk) -> None:
    """decisions, "Who gets a gift"."""
    show_bundle(household)
    before = len(household.table("subscribers"))
    dan = {**FAY, "first_name": "Dan"}
    done = reader_orders.order(
        reader(household, ADA), ADA, GIFT._replace(recipient=dan, begins="2026-06-15")
    )
    assert done.recipient == "Dan Burns"
    assert done.first_issue
    assert done.first_issue.name == "Tide 7"
    assert len(household.table("subscribers")) == before + 1
    (tide,) = reader_home.home(reader(household, DAN), DAN).subscriptions
    assert tide.issues_left == 12
    (gift,) = reader_home.home(reader(household, ADA), ADA).gifts
    assert (gift.recipient, gift.owed and gift.owed.cents) == ("Dan Burns", 1284)


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (RENEW, "nothing_chosen"),
        (RENEW._replace(bundle_id=7), "not_for_sale"),
        (RENEW._replace(payment="shop"), "payment_unknown"),
        (RENEW._replace(payment="mandate"), "payment_unknown"),
        (GIFT._replace(recipient={}), "recipient_missing"),
        (GIFT._replace(recipient={"last_name": "Day"}), "address_missing"),
        (GIFT._replace(begins="2026-04-01"), "day_past"),
        (GIFT._replace(begins="2099-01-01"), "day_too_far"),
        (GIFT._replace(begins="soon"), "day_wrong"),
    ],
)
def test_an_order_that_is_none_is_refused(household: Desk, wanted: Wanted, code: str) -> None:
    show_bundle(household)
    error = refused(household, reader_orders.order, reader(household, ADA), ADA, wanted)
    assert error.code == code


def test_another_readers_subscription_and_order_are_unknown(household: Desk) -> None:
    show_bundle(household)
    books = reader(household, ADA)
    for key in (of(household).ben, 987):
        error = refused(
            household, reader_orders.order, books, ADA, RENEW._replace(subscription_id=key)
        )
        assert str(error) == REFUSALS["not_yours"]
    theirs = household.rows(
        "SELECT order_id FROM orders WHERE account_id = :account_id AND subscriber_id = 2"
    )[0][0]
    for key in (theirs, 987):
        error = refused(household, reader_orders.show, books, ADA, key)
        assert str(error) == REFUSALS["not_yours"]


def test_a_mandate_pays_only_for_who_gave_one(household: Desk) -> None:
    show_bundle(household)
    setting(household, pay_by_mandate="yes")
    wanted = RENEW._replace(payment="mandate", subscription_id=of(household).ada)
    error = refused(household, reader_orders.order, reader(household, ADA), ADA, wanted)
    assert error.code == "no_mandate"
    given = mandates.Given("DE89370400440532013000", signed_on="2026-04-01")
    mandates.add(household.books, ADA, given)
    assert reader_orders.payments(reader(household, ADA), ADA) == ("invoice", "mandate")
    assert reader_orders.order(reader(household, ADA), ADA, wanted).number


def test_a_link_to_the_shop_is_signed(household: Desk) -> None:
    show_bundle(household)
    setting(household, shop_url="https://shop.example.org/pay?from=tide")
    wanted = RENEW._replace(payment="shop", subscription_id=of(household).ada)
    done = reader_orders.order(reader(household, ADA), ADA, wanted)
    shown = reader_orders.show(reader(household, ADA), ADA, done.order_id)
    assert (shown.open_cents, shown.number) == (1284, done.number)
    query = urlsplit(str(shown.link)).query.removeprefix("from=tide&")
    signed, _, signature = query.rpartition("&signature=")
    key = bytes.fromhex(reader_shop.key_of(household.store, household.account_id))
    assert signature == hmac.digest(key, signed.encode(), "sha256").hex()
    assert parse_qs(signed) == {
        "order": [str(done.order_id)],
        "number": [str(done.number)],
        "amount": ["12.84"],
        "currency": ["USD"],
    }
    assert reader_shop.key_of(household.store, 2) != key.hex()
    payer_payments.add(household.books, Incoming(1284), invoice=str(done.number))
    assert reader_orders.show(reader(household, ADA), ADA, done.order_id).link is None


# Missing copies


def test_a_missing_copy_is_sent_again_within_the_rules(household: Desk) -> None:
    issues.close(household.books, 5)
    household.to("2026-05-20")
    key, books = of(household).ben, reader(household, BEN)
    done = reader_copies.missing(books, BEN, key, 5)
    assert (done.is_sent, done.issue) == (True, "Tide 5")
    assert [each.subscriber_id for each in replacements.waiting(household.books)] == [BEN]
    error = refused(household, reader_copies.missing, books, BEN, key, 5)
    assert error.code == "asked_already"
    undo_newest(household)
    assert replacements.waiting(household.books) == []


def test_beyond_the_rules_the_desk_decides(household: Desk) -> None:
    setting(household, missing_copies="0")
    issues.close(household.books, 5)
    key, books = of(household).ben, reader(household, BEN)
    done = reader_copies.missing(books, BEN, key, 5, "Our box was empty.")
    assert not done.is_sent
    assert replacements.waiting(household.books) == []
    (request,) = reader_requests.waiting(household.books)
    assert (request.kind, request.issue, request.text) == (
        "missing_copy",
        "Tide 5",
        "Our box was empty.",
    )
    reader_requests.answer(household.books, request.reader_request_id)
    assert reader_requests.waiting(household.books) == []
    error = refused(household, reader_requests.answer, household.books, request.reader_request_id)
    assert str(error) == "ada answered this on 2026-04-15"


def test_only_what_a_subscription_received_can_be_missing(household: Desk) -> None:
    issues.close(household.books, 5)
    books = reader(household, ADA)
    mine, theirs = of(household).ada, of(household).ben
    assert refused(household, reader_copies.missing, books, ADA, mine, 9).code == "issue_unknown"
    error = refused(household, reader_copies.missing, books, ADA, theirs, 5)
    assert str(error) == REFUSALS["not_yours"]


# Requests, purposes and answers


def test_erasure_is_asked_for_once(household: Desk) -> None:
    books = reader(household, ADA)
    first = reader_requests.ask_erasure(books, ADA)
    assert reader_requests.ask_erasure(books, ADA) == first
    reader_requests.message(books, ADA, "Why do I wait?\r\nAda")
    found = reader_requests.of_reader(books, ADA)
    assert [(each.kind, each.text) for each in found] == [
        ("message", "Why do I wait?\nAda"),
        ("erasure", None),
    ]
    assert refused(household, reader_requests.message, books, ADA, " ").code == "text_missing"
    for number in range(18):
        reader_requests.message(books, ADA, str(number))
    error = refused(household, reader_requests.message, books, ADA, "once more")
    assert error.code == "asked_enough"
    assert reader_requests.of_reader(reader(household, BEN), BEN) == []


def test_a_consent_has_its_date_and_ends(household: Desk) -> None:
    books = reader(household, ADA)
    before = kept(household)
    reader_requests.choose(books, ADA, ["news"])
    assert [(each.name, each.given_at) for each in reader_requests.purposes(books, ADA)] == [
        ("news", "2026-04-15 12:00:00"),
        ("partners", None),
    ]
    undo_newest(household)
    assert [each["ended_at"] is None for each in household.table("reader_consents")] == [False]
    assert {**kept(household), "reader_consents": []} == before
    done = reader_requests.choose(books, ADA, ["news", "partners"])
    assert done.given == ("news", "partners")
    assert reader_requests.choose(books, ADA, ["partners"]).ended == ("news",)
    assert refused(household, reader_requests.choose, books, ADA, ["spam"]).code == (
        "purpose_unknown"
    )


def ask(desk: Desk) -> None:
    """Ask two questions: one with options or other words, one in words."""
    for key, kind, other in ((1, "checkbox", 1), (2, "text", 0), (3, "radio", 0)):
        desk.put(
            "custom_fields",
            field_id=key,
            name=f"q{key}",
            display_as=f"Question {key}?",
            type=kind,
            allow_other=other,
        )
    for key, field, active in ((11, 1, 1), (12, 1, 1), (13, 1, 0), (31, 3, 1), (32, 3, 1)):
        desk.put(
            "custom_field_options",
            option_id=key,
            field_id=field,
            value=str(key),
            display_as=f"Option {key}",
            active=active,
        )


def test_answers_have_their_day_and_are_undone(household: Desk) -> None:
    ask(household)
    household.put("custom_field_answers", subscriber_id=ADA, field_id=2, text_value="old")
    before, books = kept(household), reader(household, ADA)
    done = reader_answers.answer(
        books, ADA, {1: Given([12, 11], "boats"), 2: Given(), 3: Given([31])}
    )
    assert done.fields == (1, 2, 3)
    first, second, third = reader_answers.questions(books, ADA)
    assert (first.chosen, first.text, first.answered_on) == ((11, 12), "boats", "2026-04-15")
    assert [each.words for each in first.options] == ["Option 11", "Option 12"]
    assert (second.text, third.chosen) == ("", (31,))
    assert reader_answers.answer(books, ADA, {3: Given([31])}).fields == ()
    undo_newest(household)
    assert kept(household)["custom_field_answers"] == before["custom_field_answers"]


def test_an_answer_that_is_taken_back_keeps_its_day(household: Desk) -> None:
    """decisions, "The newest qualification": a file of before does not bring it back."""
    ask(household)
    books = reader(household, ADA)
    for given, changed in ((Given([31]), (3,)), (Given(), (3,)), (Given(), ())):
        assert reader_answers.answer(books, ADA, {3: given}).fields == changed
    (empty,) = household.table("custom_field_answers")
    assert (empty["option_ids"], empty["text_value"]) == (None, None)
    assert empty["answered_on"] == "2026-04-15"
    assert reader_answers.questions(books, ADA)[2].answered_on is None
    undo_newest(household)
    assert reader_answers.questions(books, ADA)[2].chosen == (31,)


@pytest.mark.parametrize(
    ("field_id", "given", "code"),
    [
        (9, Given([11]), "answer_wrong"),
        (1, Given([31]), "answer_wrong"),
        (1, Given([13]), "answer_wrong"),
        (3, Given([31, 32]), "answer_wrong"),
        (3, Given([], "other"), "answer_wrong"),
        (2, Given([], "x" * 2_001), "text_too_long"),
        (2, Given([], "a\x07"), "text_wrong"),
    ],
)
def test_an_answer_that_is_none_is_refused(
    household: Desk, field_id: int, given: Given, code: str
) -> None:
    ask(household)
    error = refused(
        household, reader_answers.answer, reader(household, ADA), ADA, {field_id: given}
    )
    assert (error.code, error.values["question"]) == (code, field_id)


def test_a_readers_file_has_only_the_readers_data(household: Desk) -> None:
    found = json.loads(everything(reader(household, CORA), CORA))
    assert found["subscriber"]["first_name"] == "Cora"
    assert "dan@example.org" not in json.dumps(found)
    setting(household, my_data="no")
    assert refused(household, everything, reader(household, CORA), CORA).code == "not_offered"


def test_each_change_says_in_words_what_it_was(household: Desk) -> None:
    reader_requests.choose(reader(household, ADA), ADA, ["news"])
    (change,) = reader_changes.of_reader(household.books, ADA)
    assert (change.said, change.why_not) == ("changed what the reader agrees to", "")
