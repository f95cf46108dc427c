"""The page of reminders, and the reminders of a payer (billing, "Reminders")."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from pypdf import PdfReader

from masthead.billing.reminding import Level
from masthead.books import reminder_levels, reminders
from masthead.books.payer_payments import Incoming
from tests.billing.bureau import order, pay
from tests.billing.test_reminders import FIRST, SECOND, letters, levels, remind, sent
from tests.console.bookkeeping import refused, said, send
from tests.console.browser import input_values, text_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser


def test_who_is_due_stands_with_name_amount_level_and_days(bureau: Desk, finance: Browser) -> None:
    levels(bureau)
    order(bureau)
    two = order(bureau, 2)
    bureau.to("2026-05-02")
    pay(bureau, two, Incoming(284))
    bureau.to(FIRST)
    finance.sign_in("finance")
    page = said(finance, "/reminders")
    assert "2 letters due" in page
    assert "22.84 USD open in these" in page
    assert "Payments are read up to 2 May 2026." in page
    assert (
        "2026-000001 Ada Ames 29 April 2026 10 days late 1 12.84 "
        "2026-000002 Ben Ames 29 April 2026 10 days late 1 10.00"
    ) in page
    assert "Reminders" in said(finance, "/money")


def test_reminders_are_sent_after_a_look_and_only_those_that_were_shown(
    bureau: Desk, finance: Browser
) -> None:
    """decisions, "What was seen of reminders is what is sent"."""
    levels(bureau)
    one = order(bureau)
    order(bureau, 2)
    bureau.to(FIRST)
    finance.sign_in("finance")
    looked = finance.post("/reminders/send", input_values(finance.get("/reminders").text))
    assert "2 letters for 25.68 USD; level 1: 2 invoices" in text_of(looked.text)
    assert bureau.table("reminders") == []
    pay(bureau, one, Incoming(1284))
    other = finance.post("/reminders/send", input_values(looked.text))
    assert refused(other).endswith(" Others are due for a reminder now: look at them once more.")
    looked = finance.post("/reminders/send", input_values(finance.get("/reminders").text))
    done = finance.post("/reminders/send", input_values(looked.text))
    assert done.headers["location"] == "/reminders"
    page = said(finance, "/reminders")
    assert "Nobody is due for a reminder." in page
    assert "9 May 2026: 1 letter PDF" in page
    assert sent(bureau) == [(2, 1, FIRST, 0)]


def test_the_letters_of_a_day_come_as_one_pdf(bureau: Desk, finance: Browser) -> None:
    levels(bureau)
    order(bureau)
    order(bureau, 2)
    remind(bureau, FIRST)
    finance.sign_in("finance")
    answer = finance.get("/reminders/letters", day=FIRST, part="1")
    assert answer.headers["content-type"] == "application/pdf"
    assert len(PdfReader(BytesIO(answer.content)).pages) == len(letters(bureau)) == 2
    for query in ({"day": FIRST, "part": "2"}, {"day": "2026-05-08"}, {"day": "x"}):
        assert finance.get("/reminders/letters", **query).status_code == 404


def test_the_account_of_a_payer_has_the_reminders(bureau: Desk, finance: Browser) -> None:
    levels(bureau)
    order(bureau)
    remind(bureau, FIRST, SECOND)
    finance.sign_in("finance")
    page = said(finance, "/subscribers/1/account")
    assert "2026-000001 9 May 2026 1 2026-000001 23 May 2026 2 5.00" in page
    fee = said(finance, "/invoices/2")
    assert "Write off what is open" in fee
    assert "Cancel the invoice" not in fee


def test_levels_are_set_and_removed(bureau: Desk, finance: Browser) -> None:
    page = said(finance, "/reminders")
    assert "No level of reminders is set, so nobody is reminded." in page
    first = send(finance, "/reminders/1/level", days="10", remove="")
    assert first.status_code == 303, text_of(first.text)
    send(finance, "/reminders/2/level", days="24", fee="5.00", then_do="stop", remove="")
    assert [each.level for each in reminder_levels.levels(bureau.books)] == [
        Level(1, 10, 0, "nothing", None),
        Level(2, 24, 500, "stop", None),
    ]
    page = said(finance, "/reminders")
    assert "24 days after the due day, with a fee of 5.00 USD" in page
    assert "a later level needs more days" in refused(
        send(finance, "/reminders/3/level", days="20", remove="")
    )
    shown = input_values(finance.get("/reminders/2/level").text)
    assert [shown[name] for name in ("days", "fee")] == ["24", "5.00"]
    send(finance, "/reminders/2/level", remove="1")
    assert len(reminder_levels.levels(bureau.books)) == 1
    assert finance.get("/reminders/10/level").status_code == 404
    assert reminders.due(bureau.books).letters == []
