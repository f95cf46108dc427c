"""Asking readers of a free title to qualify again, by letter, email and telephone."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import pytest

from masthead.billing.letter_mails import words_of_letter
from masthead.books import billing_settings, efforts, requalifications, subscribers, subscriptions
from masthead.books.requalifications import Due, Effort
from masthead.errors import BadInput, NotFound
from masthead.loading.requalification_files import write
from masthead.store import accounts
from tests.billing.bureau import TODAY, order
from tests.documents.shown import lines_of, pages_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.circulation.desk import Desk

LETTER = Effort(1, 1, 60, "letter")
MAIL = Effort(1, 1, 60, "email")
CALL = Effort(1, 1, 60, "telephone")
ENDS = ("2026-05-20", "2026-06-10", "2026-12-31")
"""When the qualifications of Ada, Ben and Cora end: the first two within 60 days of today."""


@pytest.fixture
def free(bureau: Desk) -> Desk:
    """Tide goes free to its three readers, who say what their job is."""
    bureau.put("custom_fields", field_id=1, name="job", display_as="Your job", type="select")
    for number, value in enumerate(("Buyer", "Engineer"), 1):
        bureau.put(
            "custom_field_options",
            option_id=number,
            field_id=1,
            value=value,
            display_as=value,
            active=1,
            order=number,
        )
    bureau.put(
        "qualification_forms", publication_id=1, agreed_text="I want it.", type="Print", months=36
    )
    bureau.put("qualification_questions", publication_id=1, field_id=1, position=1, required=1)
    bureau.put("audit_classes", audit_class_id=1, publication_id=1, position=1, code="A", name="A")
    for number, end in enumerate(ENDS, 1):
        _qualified(bureau, number, end)
    return bureau


def _qualified(desk: Desk, reader: int, end: str, number: int = 0, **values: Any) -> None:
    if not number:
        desk.put(
            "subscriptions",
            subscription_id=reader,
            subscriber_id=reader,
            publication_id=1,
            mailing_address_id=reader,
            type="Print",
            copies=1,
            issues=-1,
            renew_campaign_active=1,
        )
    own = {"subscription_id": reader, "publication_id": 1, "qualification_id": number or reader}
    days = {"qualified_on": "2023-06-01", "valid_until": end}
    desk.put(
        "qualifications",
        subscriber_id=reader,
        request_type="telephone",
        audit_class_id=1,
        answers='{"1": {"options": [2], "text": "=1+1"}}',
        evidence='{"telephone": "+353 21 123"}',
        recorded_at="2023-06-01 10:00:00",
        **own,
        **days,
    )
    desk.put("qualified_subscriptions", audit_class_id=1, **own, **days, **values)


def _sent(desk: Desk) -> list[tuple[int, int, str]]:
    rows = desk.table("requalifications_sent")
    return sorted((each["qualification_id"], each["effort"], each["sent_on"]) for each in rows)


def _due(desk: Desk) -> list[tuple[int, int]]:
    return [(each.readers, each.reached) for each in requalifications.due(desk.books)]


def test_letters_ask_those_whose_qualification_ends_soon_once(free: Desk, tmp_path: Path) -> None:
    requalifications.set_effort(free.books, LETTER)
    assert requalifications.due(free.books, 1) == [Due(LETTER, 2, 2)]
    sent = write(free.books, tmp_path / "one.pdf", 1, 1)
    assert sent.sentence == "2 letters of effort 1 of publication 1 to qualify again"
    ada, ben = pages_of((tmp_path / "one.pdf").read_bytes())
    assert {"Do you still want Tide?", "Dear Ada Ames,", "1. Your job", "I want it."} <= set(ada)
    assert "because you qualify for it. What you told us is valid until 20 May" in " ".join(ada)
    assert any("Buyer" in line and "Engineer" in line for line in ada)
    assert "Your code CODE2" in " ".join(ben)
    assert _sent(free) == [(1, 1, TODAY), (2, 1, TODAY)]
    newest = "SELECT summary FROM audit WHERE account_id = :account_id ORDER BY entry_id DESC"
    assert free.rows(newest)[0] == (sent.sentence,)
    assert write(free.books, tmp_path / "two.pdf", 1, 1).readers == 0
    assert not (tmp_path / "two.pdf").exists()
    assert write(free.books, tmp_path / "again.pdf", 1, 1, sent_on=TODAY).readers == 2
    assert lines_of((tmp_path / "again.pdf").read_bytes()) == [*ada, *ben]
    with pytest.raises(BadInput, match="2026-04-16"):
        write(free.books, tmp_path / "later.pdf", 1, 1, sent_on="2026-04-16")


def test_a_late_reader_gets_the_last_effort_that_is_due(free: Desk, tmp_path: Path) -> None:
    requalifications.set_effort(free.books, LETTER)
    requalifications.set_effort(free.books, Effort(1, 2, 40, "telephone"))
    assert _due(free) == [(1, 1), (1, 1)]
    write(free.books, tmp_path / "calls.csv", 1, 2)
    assert _sent(free) == [(1, 2, TODAY)]
    free.to("2026-05-10")
    assert _due(free) == [(0, 0), (1, 1)]
    free.to("2026-05-21")
    assert requalifications.selected(free.books, 1, 2).asked[0].subscription_id == 2


def test_who_pays_or_is_not_in_the_campaign_is_not_asked(free: Desk) -> None:
    """decisions, "Who is asked to qualify again"."""
    requalifications.set_effort(free.books, Effort(1, 1, 730, "telephone"))
    assert _due(free) == [(3, 3)]
    order(free, 1, is_paid=True)
    assert _due(free) == [(2, 2)]
    subscriptions.set_values(free.books, 2, subscriptions.Values(campaign=False))
    assert _due(free) == [(1, 1)]


def test_calls_are_listed_with_the_answers_of_the_last_time(free: Desk, tmp_path: Path) -> None:
    requalifications.set_effort(free.books, CALL)
    write(free.books, tmp_path / "calls.csv", 1, 1)
    with (tmp_path / "calls.csv").open(encoding="utf-8", newline="") as file:
        ada, _ben = csv.DictReader(file)
    assert ada["first_name"] == "Ada"
    assert ada["telephone"] == "'+353 21 123"
    assert (ada["valid_until"], ada["audit_classification"]) == ("2026-05-20", "A")
    assert ada["job"] == "Engineer, =1+1"
    with pytest.raises(BadInput, match="exists already"):
        write(free.books, tmp_path / "calls.csv", 1, 1)
    with pytest.raises(BadInput, match=r"ends in \.csv"):
        write(free.books, tmp_path / "calls.pdf", 1, 1)


def test_questions_with_one_name_have_columns_of_their_own_in_a_list_of_calls(free: Desk) -> None:
    requalifications.set_effort(free.books, CALL)
    free.put("custom_fields", field_id=7, name="job", type="radio")
    free.put("qualification_questions", publication_id=1, field_id=7, position=2)
    written = requalifications.selected(free.books, 1, 1)
    assert requalifications.call_columns(written)[-2:] == ("job (field 1)", "job (field 7)")


def test_mails_go_to_addresses_that_are_not_on_hold(free: Desk, tmp_path: Path) -> None:
    requalifications.set_effort(free.books, MAIL)
    with pytest.raises(BadInput, match="set mail_from first"):
        requalifications.send_mails(free.books, 1, 1)
    billing_settings.set_values(free.books, {"mail_from": "desk@tide.example"})
    subscribers.edit(free.books, 2, {"email": ""})
    assert _due(free) == [(2, 1)]
    assert requalifications.send_mails(free.books, 1, 1, dry_run=True).readers == 1
    assert _sent(free) == []
    assert requalifications.send_mails(free.books, 1, 1).readers == 1
    (mail,) = free.table("mails")
    assert (mail["kind"], mail["address"], mail["subscription_id"]) == (
        "requalification",
        "ada@example.org",
        1,
    )
    assert mail["subject"] == "Do you still want Tide?"
    assert "is valid until 20 May 2026." in mail["text"]
    assert _sent(free) == [(1, 1, TODAY)]
    with pytest.raises(BadInput, match="by email: it has no file"):
        write(free.books, tmp_path / "mails.csv", 1, 1)


@pytest.fixture
def with_page(free: Desk) -> Iterator[Desk]:
    """Its account has a page for readers."""
    accounts.set_account(free.store, 1, {"master_checkout": "https://tide.example/"})
    yield free
    accounts.set_account(free.store, 1, {"master_checkout": "", "renewal_code_login": 1})


def test_a_code_that_lets_nobody_in_is_not_said_to_sign_in(with_page: Desk, tmp_path: Path) -> None:
    """reference, "Renewal codes as logins"."""
    requalifications.set_effort(with_page.books, LETTER)
    shown = []
    for code in (1, 0):
        accounts.set_account(with_page.store, 1, {"renewal_code_login": code})
        day = None if code else TODAY
        found = requalifications.selected(with_page.books, 1, 1, sent_on=day)
        ben = words_of_letter([*requalifications.letters(found)][1]).text
        assert "https://tide.example/" in ben
        assert ("Sign in with your code CODE2" in ben) is bool(code)
        write(with_page.books, tmp_path / f"{code}.pdf", 1, 1, sent_on=day)
        _, ben_page = pages_of((tmp_path / f"{code}.pdf").read_bytes())
        shown.append(sum("CODE2" in line for line in ben_page))
    assert shown == [3, 2]


def test_nothing_is_noted_if_others_are_due_by_then(free: Desk) -> None:
    requalifications.set_effort(free.books, LETTER)
    found = requalifications.selected(free.books, 1, 1)
    order(free, 1, is_paid=True)
    with pytest.raises(BadInput, match="changed while the file was written"):
        requalifications.note_sent(free.books, found)
    assert _sent(free) == []


def test_efforts_are_set_and_removed(free: Desk) -> None:
    free.put("publications", publication_id=2, name="Wave", issues_per_year=12)
    with pytest.raises(NotFound, match="has no form"):
        requalifications.set_effort(free.books, Effort(2, 1, 60, "letter"))
    requalifications.set_effort(free.books, LETTER)
    requalifications.set_effort(free.books, LETTER._replace(days_before=50))
    with pytest.raises(BadInput, match="effort 2 is due 50 days before the end"):
        requalifications.set_effort(free.books, Effort(1, 2, 50, "email"))
    assert requalifications.efforts(free.books, 1) == [LETTER._replace(days_before=50)]
    efforts.remove(free.books, efforts.REQUALIFICATION, 1, 1)
    with pytest.raises(BadInput, match="the publication has no effort 1"):
        efforts.remove(free.books, efforts.REQUALIFICATION, 1, 1)
