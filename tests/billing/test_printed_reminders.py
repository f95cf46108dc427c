"""The record of everything that a reminder prints, and its JSON (billing, "Reminders")."""

import msgspec
import pytest

from masthead.billing.printed import Payer, Seller, from_json, to_json
from masthead.billing.printed_reminders import (
    PrintedReminder,
    RemindedInvoice,
)

_INVOICE = RemindedInvoice(
    number="2026-000007",
    issued_on="2026-10-18",
    due_on="2026-11-01",
    total=10700,
    open=4700,
    level=2,
    days_overdue=24,
)
_REMINDER = PrintedReminder(
    level=2,
    reminded_on="2026-11-25",
    pay_by="2026-12-02",
    seller=Seller(name="Verlag"),
    payer=Payer(subscriber_id=7),
    language="de",
    currency="EUR",
    invoices=(_INVOICE, _INVOICE),
    fee=500,
    fee_invoice="2026-000012",
    earlier_fees=250,
    credit=100,
)


def test_a_reminder_comes_back_from_its_json_as_it_was() -> None:
    assert from_json(to_json(_REMINDER), PrintedReminder) == _REMINDER
    assert "read_until" not in to_json(_REMINDER)


def test_what_is_due_is_what_is_open_with_all_fees_less_what_is_taken_back() -> None:
    assert (_REMINDER.open, _REMINDER.due) == (9400, 10050)


def test_a_text_that_is_no_reminder_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        from_json(
            to_json(_REMINDER).replace('"level":2,"reminded', '"colour":2,"reminded'),
            PrintedReminder,
        )
