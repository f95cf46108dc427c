"""Reminders: whom they reach, what they cost, and what they end (billing, "Reminders")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.billing.printed import from_json
from masthead.billing.printed_reminders import PrintedReminder
from masthead.billing.reminding import Level
from masthead.books import (
    billing_settings,
    disputes,
    erasure,
    invoices,
    payer_payments,
    payer_statement,
    payment_reversals,
    reminder_levels,
    reminders,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item
from tests.billing.bureau import (
    accounts,
    money,
    number_of,
    order,
    pay,
    refused,
    shown,
    use_currency,
)
from tests.billing.debits import collect

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

# An invoice of April 15 is due on April 29.
FIRST, SECOND, THIRD = "2026-05-09", "2026-05-23", "2026-06-08"
BILLED = {"receivables": 1284, "unpaid": -1200, "tax_not_due": -84}


def levels(desk: Desk, *last: Level) -> None:
    """Set two levels after 10 and 24 days, the second with a fee of 5.00, and a last one."""
    for each in (Level(1, 10, 0, "nothing", None), Level(2, 24, 500, "nothing", None), *last):
        reminder_levels.set_level(desk.books, each)


STOP = Level(3, 40, 0, "stop", None)
WRITE_OFF = Level(3, 40, 0, "write_off", None)


def remind(desk: Desk, *days: str) -> None:
    """Send the reminders that are due on some days."""
    for day in days:
        desk.to(day)
        reminders.send(desk.books)


def sent(desk: Desk) -> list[tuple[int, int, str, int]]:
    """Return payer, level, day and fee of each reminder."""
    return [
        (row["subscriber_id"], row["level"], row["reminded_on"], row["fee"])
        for row in desk.table("reminders")
    ]


def letters(desk: Desk) -> list[PrintedReminder]:
    """Return what all letters print."""
    return [
        from_json(row["printed"], PrintedReminder)
        for row in desk.table("reminders")
        if row["printed"]
    ]


def test_an_overdue_invoice_gets_one_level_after_the_other(bureau: Desk) -> None:
    levels(bureau)
    order(bureau)
    remind(bureau, "2026-05-08", FIRST, FIRST, "2026-05-22", SECOND, SECOND, THIRD)
    assert sent(bureau) == [(1, 1, FIRST, 0), (1, 2, SECOND, 500)]


def test_no_level_is_left_out_and_seven_days_pass_between_two(bureau: Desk) -> None:
    levels(bureau)
    order(bureau)
    remind(bureau, "2026-08-01", "2026-08-07", "2026-08-08")
    assert sent(bureau) == [(1, 1, "2026-08-01", 0), (1, 2, "2026-08-08", 500)]


def test_the_list_says_who_how_much_and_up_to_which_day_payments_are_read(bureau: Desk) -> None:
    levels(bureau)
    order(bureau)
    two = order(bureau, 2)
    bureau.to("2026-04-20")
    pay(bureau, two, Incoming(284, "2026-04-18"))
    bureau.to(FIRST)
    found = reminders.due(bureau.books)
    assert [
        (each.subscriber_id, each.open, each.fee, each.leading.days_overdue)
        for each in found.letters
    ] == [(1, 1284, 0, 10), (2, 1000, 0, 10)]
    assert found.sentence == (
        "2 letters for 22.84 USD; level 1: 2 invoices; payments are read up to 2026-04-18"
    )
    assert bureau.table("reminders") == []

    # A bank's file can have a value date that is still to come.
    bureau.put("bank_files", bank_file_id=1, name="a.sta", digest="a")
    for number, day in enumerate(("2026-05-08", "2026-05-10"), 1):
        bureau.put(
            "bank_entries",
            bank_entry_id=number,
            bank_file_id=1,
            fingerprint=day,
            value_date=day,
            cents=1,
            status="unknown",
        )
    assert reminders.due(bureau.books).read_until == "2026-05-08"


def test_a_payment_between_the_list_and_the_letters_counts(bureau: Desk) -> None:
    """decisions, "What was seen of reminders is what is sent"."""
    levels(bureau)
    one = order(bureau)
    order(bureau, 2)
    bureau.to(FIRST)
    seen = reminders.due(bureau.books).digest
    assert reminders.send(bureau.books, seen=seen, dry_run=True).sentence.startswith("2 letters")
    pay(bureau, one, Incoming(1284))
    assert refused(bureau, reminders.send, seen=seen) == (
        "others are due for a reminder now: look at them once more"
    )
    reminders.send(bureau.books, seen=reminders.due(bureau.books).digest)
    assert sent(bureau) == [(2, 1, FIRST, 0)]


def test_nobody_who_paid_is_within_the_tolerance_or_has_credit_is_reminded(bureau: Desk) -> None:
    bureau.put("billing_settings", setting_id=90, name="tolerance", value="0.50")
    levels(bureau)
    pay(bureau, order(bureau), Incoming(1284))
    two, three = order(bureau, 2), order(bureau, 3)
    pay(bureau, two, Incoming(1200))
    # Cora's credit is from an order that ended: it is used before she is reminded.
    four = order(bureau, 3, is_paid=True)
    invoices.cancel(bureau.books, number_of(bureau, four))
    bureau.to(FIRST)
    assert [each.subscriber_id for each in reminders.due(bureau.books).letters] == [2]
    reminders.send(bureau.books)
    assert sent(bureau) == [(2, 1, FIRST, 0)]
    assert shown(bureau, three).invoice.open_cents == 0


def test_nobody_is_reminded_who_is_with_the_bank_disputes_or_is_deleted(bureau: Desk) -> None:
    levels(bureau)
    one, two = order(bureau), order(bureau, 2)
    order(bureau, 3)
    order(bureau, 3)
    claim(bureau, one, "sent")
    disputes.dispute(bureau.books, two, "never ordered")
    bureau.to(FIRST)
    erasure.erase(bureau.books, 3, "earn", leave_traces=True)
    assert reminders.send(bureau.books).sentence == (
        "nobody is due for a reminder; no payment was read yet"
    )
    disputes.settle(bureau.books, two, is_upheld=False)
    assert [each.subscriber_id for each in reminders.due(bureau.books).letters] == [2]


def test_who_pays_by_debit_is_reminded_once_the_bank_has_returned_it(bureau: Desk) -> None:
    """decisions, "Who is not reminded"."""
    collect(bureau)
    levels(bureau)
    one, two = order(bureau), order(bureau)
    claim(bureau, one, "returned")
    bureau.to(FIRST)
    (letter,) = reminders.due(bureau.books).letters
    assert [each.invoice.order_id for each in letter.due] == [one]
    with bureau.connection.transaction():
        bureau.connection.change("UPDATE mandates SET status = 'ended'")
    (letter,) = reminders.due(bureau.books).letters
    assert [each.invoice.order_id for each in letter.due] == [one, two]


def test_a_receipt_whose_payment_came_back_is_reminded_beside_a_mandate(bureau: Desk) -> None:
    """decisions, "Who is not reminded": no debit run takes a receipt."""
    collect(bureau)
    levels(bureau)
    claim(bureau, order(bureau), "sent")
    receipt = order(bureau, is_paid=True)
    payment_reversals.reverse(bureau.books, 1)
    bureau.to(FIRST)
    (letter,) = reminders.due(bureau.books).letters
    assert [each.invoice.order_id for each in letter.due] == [receipt]


def test_who_has_a_mandate_is_reminded_while_the_account_does_not_collect(bureau: Desk) -> None:
    """decisions, "How a reader with a mandate pays": such an account sends an invoice."""
    levels(bureau)
    one, two = order(bureau), order(bureau)
    claim(bureau, one, "cancelled")
    bureau.to(FIRST)
    (letter,) = reminders.due(bureau.books).letters
    assert [each.invoice.order_id for each in letter.due] == [one, two]
    use_currency(bureau, "EUR")
    assert reminders.due(bureau.books).letters
    collect(bureau)
    assert not reminders.due(bureau.books).letters
    billing_settings.set_values(bureau.books, {"creditor_id": ""})
    assert reminders.due(bureau.books).letters


def claim(desk: Desk, order_id: int, status: str) -> None:
    """Note that the invoice of an order was handed in to the bank, by an active mandate."""
    invoice = shown(desk, order_id).invoice
    desk.put(
        "mandates",
        mandate_id=1,
        subscriber_id=invoice.subscriber_id,
        reference="M-1",
        scheme="core",
        signed_on="2026-04-01",
        iban="NL91ABNA0417164300",
        status="active",
        status_since="2026-04-01",
    )
    desk.put(
        "debit_runs",
        debit_run_id=1,
        collected_on="2026-04-29",
        message_id="RUN-1",
        version="pain.008.001.08",
        claims=1,
        cents=1284,
    )
    desk.put(
        "claims",
        claim_id=1,
        debit_run_id=1,
        invoice_id=invoice.invoice_id,
        mandate_id=1,
        subscriber_id=invoice.subscriber_id,
        cents=1284,
        end_to_end_id="E-1",
        sequence="FRST",
        status=status,
    )


def test_a_payer_gets_one_letter_at_the_highest_level_with_its_fee_once(bureau: Desk) -> None:
    levels(bureau)
    order(bureau)
    bureau.to("2026-04-25")
    order(bureau)
    remind(bureau, FIRST, SECOND)
    # The second invoice was due on May 9, and is at level 1 when the first one is at level 2.
    assert sent(bureau) == [(1, 1, FIRST, 0), (1, 2, SECOND, 500), (1, 1, SECOND, 0)]
    letter = letters(bureau)[-1]
    assert [(each.number, each.level) for each in letter.invoices] == [
        ("2026-000001", 2),
        ("2026-000002", 1),
    ]
    assert (letter.level, letter.fee, letter.due) == (2, 500, 2 * 1284 + 500)
    assert letter.payment_reference == shown(bureau, 1).invoice.payment_reference


def test_a_letter_prints_what_is_asked_for(bureau: Desk) -> None:
    levels(bureau, Level(3, 40, 700, "nothing", "Please pay now."))
    one = order(bureau)
    bureau.to("2026-05-20")
    pay(bureau, one, Incoming(284, "2026-05-19"))
    remind(bureau, SECOND, "2026-05-30", THIRD)
    letter = letters(bureau)[-1]
    assert (letter.level, letter.text, letter.pay_by) == (3, "Please pay now.", "2026-06-15")
    assert (letter.read_until, letter.payer.name) == ("2026-05-19", "Ada Ames")
    assert letter.payer.address_lines == ("1 Oak",)
    (invoice,) = letter.invoices
    assert (invoice.description, invoice.total, invoice.open) == ("Tide for a year", 1284, 1000)
    assert (letter.earlier_fees, letter.fee, letter.fee_invoice) == (500, 700, "2026-000003")
    assert letter.due == 2200


def test_a_fee_is_an_invoice_of_its_own_without_tax_and_never_revenue(bureau: Desk) -> None:
    """decisions, "The fee of a reminder"."""
    levels(bureau)
    one = order(bureau)
    remind(bureau, FIRST, SECOND)
    fee = invoices.show(bureau.books, "2026-000002")
    assert (fee.invoice.order_id, fee.invoice.net, fee.invoice.tax) == (None, 500, 0)
    assert fee.invoice.due_on == "2026-05-30"
    assert [(each.goods, each.category, each.net) for each in fee.lines] == [("fee", "E", 500)]
    assert accounts(bureau) == {**BILLED, "receivables": 1784, "unpaid": -1700}
    # The order is settled first, and the fee last, although both are paid in one.
    payer_payments.add(bureau.books, Incoming(1284), subscriber_id=1)
    assert shown(bureau, one).invoice.open_cents == 0
    assert money(bureau, one) == {"received": 1200}
    payer_payments.add(bureau.books, Incoming(500), subscriber_id=1)
    assert accounts(bureau) == {
        "bank": 1784,
        "deferred": -1200,
        "tax": -84,
        "reminder_fees": -500,
    }


def test_a_statement_says_that_an_invoice_is_the_fee_of_a_reminder(bureau: Desk) -> None:
    levels(bureau)
    order(bureau)
    remind(bureau, FIRST, SECOND)
    lines = payer_statement.statement(bureau.books, 1).movements
    assert [(each.about, each.cents) for each in lines] == [("", 1284), ("reminder fee", 500)]


def test_a_fee_is_not_reminded_of_and_can_be_waived(bureau: Desk) -> None:
    levels(bureau)
    one = order(bureau)
    remind(bureau, FIRST, SECOND)
    pay(bureau, one, Incoming(1284))
    bureau.to("2026-09-01")
    assert reminders.due(bureau.books).letters == []
    payer_payments.add(bureau.books, Incoming(200), invoice="2026-000002")
    done = invoices.write_off(bureau.books, "2026-000002")
    assert done.sentence == "3.00 USD of invoice 2026-000002 is written off"
    assert accounts(bureau) == {
        "bank": 1484,
        "deferred": -1200,
        "tax": -84,
        "reminder_fees": -200,
    }


def test_a_fee_that_was_paid_is_open_again_if_the_payment_comes_back(bureau: Desk) -> None:
    levels(bureau)
    one = order(bureau)
    remind(bureau, FIRST, SECOND)
    done = pay(bureau, one, Incoming(1784))
    payment_reversals.reverse(bureau.books, done.payment_id)
    assert invoices.show(bureau.books, "2026-000002").invoice.open_cents == 500
    assert accounts(bureau) == {**BILLED, "receivables": 1784, "unpaid": -1700}


def test_a_fee_is_not_cancelled_with_a_credit_note(bureau: Desk) -> None:
    levels(bureau)
    order(bureau)
    remind(bureau, FIRST, SECOND)
    why = "invoice 2026-000002 is the fee of a reminder: write off what is open of it"
    assert refused(bureau, invoices.cancel, "2026-000002") == why
    assert refused(bureau, invoices.credit, "2026-000002", 100) == why


def test_the_last_level_stops_what_is_not_paid_with_a_credit_note(bureau: Desk) -> None:
    """decisions, "What a reminder stops"."""
    levels(bureau, STOP)
    one = order(bureau, 1, Item(bundle_id=1), Item(product_id=1))
    remind(bureau, FIRST, SECOND, THIRD)
    (note,) = [row for row in bureau.table("invoices") if row["kind"] == "credit_note"]
    assert (note["total"], note["reason"]) == (1284, f"Not paid after the reminder of {THIRD}")
    # The mug was sent: it stays open, with the fee of level 2.
    assert shown(bureau, one).invoice.open_cents == 963
    (term,) = bureau.table("terms")
    assert term["ended_at"] is not None
    letter = letters(bureau)[-1]
    assert (letter.then_do, letter.credit, letter.credit_notes) == (
        "stop",
        1284,
        (note["number_text"],),
    )
    assert letter.due == 963 + 500


def test_what_stops_leaves_what_was_paid_for_another_term(bureau: Desk) -> None:
    levels(bureau, STOP)
    order(bureau, is_paid=True)
    two = order(bureau)
    pay(bureau, two, Incoming(300))
    remind(bureau, FIRST, SECOND, THIRD)
    assert [row["ended_at"] is None for row in bureau.table("terms")] == [True, False]
    # The deposit is the payer's again.
    assert payer_payments.list_payments(bureau.books, 1)[-1].left_cents == 300


def test_the_last_level_writes_off_without_a_letter(bureau: Desk) -> None:
    levels(bureau, WRITE_OFF)
    order(bureau)
    remind(bureau, FIRST, SECOND)
    bureau.to(THIRD)
    done = reminders.send(bureau.books)
    assert done.sentence == (
        "nobody is due for a reminder; 1 invoice is written off, with 12.84 USD; no payment was "
        "read yet"
    )
    assert sent(bureau)[2:] == [(1, 3, THIRD, 0)]
    assert len(letters(bureau)) == 2
    assert shown(bureau, 1).settled.written_off == 1284
    assert accounts(bureau) == {"receivables": 500, "unpaid": -500}


def test_who_bounced_a_cheque_is_reminded_a_week_later(bureau: Desk) -> None:
    """A receipt has no due day: it was due when it was made."""
    levels(bureau)
    order(bureau, is_paid=True)
    (payment,) = bureau.table("payments")
    bureau.to("2026-05-20")
    payment_reversals.reverse(bureau.books, payment["payment_id"])
    remind(bureau, "2026-05-26", "2026-05-27")
    assert sent(bureau) == [(1, 1, "2026-05-27", 0)]
    assert letters(bureau)[0].invoices[0].due_on == "2026-04-15"


def test_an_erased_payer_leaves_the_reminders_without_their_letters(bureau: Desk) -> None:
    levels(bureau)
    order(bureau)
    remind(bureau, FIRST, SECOND)
    erasure.erase(bureau.books, 1, "earn", leave_traces=True)
    assert sent(bureau) == [(1, 1, FIRST, 0), (1, 2, SECOND, 500)]
    assert letters(bureau) == []


def test_without_levels_nobody_is_reminded(bureau: Desk) -> None:
    order(bureau)
    bureau.to(THIRD)
    assert refused(bureau, reminders.send) == (
        "there is no level of reminders yet: add the first one"
    )


def test_levels_are_set_replaced_and_removed(bureau: Desk) -> None:
    levels(bureau, STOP)
    done = reminder_levels.set_level(bureau.books, Level(2, 20, 250, "nothing", "Pay."))
    assert done.sentence == (
        "level 2: 20 days after the due day, fee 2.50 USD, with a text of its own"
    )
    assert [each.sentence for each in reminder_levels.levels(bureau.books)][::2] == [
        "level 1: 10 days after the due day, no fee",
        "level 3: 40 days after the due day, no fee, then stop the service",
    ]
    assert "a later level needs more days" in refused(
        bureau, reminder_levels.set_level, Level(4, 30, 0, "nothing", None)
    )
    reminder_levels.remove_level(bureau.books, 3)
    assert refused(bureau, reminder_levels.remove_level, 3) == ("there is no level 3 of reminders")
