"""Which operations queue a mail, and to whom (billing, "E-mail")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import billing_settings, erasure, invoices, subscribers
from masthead.store.billing.outbox import About, Words, addresses_of, queue
from tests.billing.bureau import number_of, order
from tests.billing.outboxes import begin_mail, outbox

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


def test_an_invoice_a_receipt_and_a_credit_note_are_mailed_to_who_wants_it(bureau: Desk) -> None:
    begin_mail(bureau, 1)
    number = number_of(bureau, order(bureau, 1))
    order(bureau, 1, is_paid=True)
    order(bureau, 2)
    invoices.cancel(bureau.books, number)
    assert outbox(bureau, "kind", "invoice_id", "subscriber_id", "address", "status") == [
        ("invoice", 1, 1, "ada@example.org", "queued"),
        ("invoice", 2, 1, "ada@example.org", "queued"),
        ("credit_note", 4, 1, "ada@example.org", "queued"),
    ]
    ((queued_at, due_at, tries, text),) = set(
        outbox(bureau, "queued_at", "due_at", "tries", "text")
    )
    assert (queued_at, due_at, tries, text) == (queued_at, queued_at, 0, None)
    assert queued_at.startswith("2026-04-15")


def test_nothing_is_queued_without_an_address_or_on_hold_or_unwanted(bureau: Desk) -> None:
    begin_mail(bureau, 1, 2)
    subscribers.edit(bureau.books, 1, {"email": ""})
    bureau.put("held_addresses", held_address_id=1, address="ben@example.org", held_on="2026-04-01")
    bureau.put("payer_details", subscriber_id=3, by_email=0)
    for payer in (1, 2, 3):
        order(bureau, payer)
    assert outbox(bureau) == []


def test_an_address_on_hold_is_found_whatever_its_capitals(bureau: Desk) -> None:
    begin_mail(bureau, 1)
    subscribers.edit(bureau.books, 1, {"email": "ADA@Example.org"})
    with bureau.books.read() as reading:
        assert addresses_of(reading, [1, 2, 3]) == {1: "ADA@Example.org"}
    bureau.put("held_addresses", held_address_id=1, address="ada@example.org", held_on="2026-04-01")
    with bureau.books.read() as reading:
        assert addresses_of(reading, [1]) == {}


def test_nothing_is_queued_by_an_account_without_an_address_of_its_own(bureau: Desk) -> None:
    begin_mail(bureau, 1)
    billing_settings.set_values(bureau.books, {"mail_from": ""})
    order(bureau, 1)
    assert outbox(bureau) == []


def test_a_dry_run_queues_nothing(bureau: Desk) -> None:
    begin_mail(bureau, 1)
    number = number_of(bureau, order(bureau, 1))
    invoices.cancel(bureau.books, number, dry_run=True)
    assert outbox(bureau, "mail_id") == [(1,)]


def test_a_mail_with_words_of_its_own_keeps_them_until_the_payer_is_erased(bureau: Desk) -> None:
    begin_mail(bureau, 1)
    with bureau.books.change() as change:
        mail_id = queue(
            change, "announcement", 1, About(), Words("Your renewal", "It renews on May 1.\n")
        )
        assert queue(change, "announcement", 2, About(), Words("No", "mail")) is None
    assert mail_id == 1
    assert outbox(bureau, "subject", "text") == [("Your renewal", "It renews on May 1.\n")]
    erasure.erase(bureau.books, 1)
    assert outbox(bureau, "subject", "text", "address", "kind") == [
        (None, None, None, "announcement")
    ]
