"""Payments by keyboard, the account of a payer, and the end of a month."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books.payer_payments import Incoming
from tests.billing.bureau import order, pay
from tests.console.bookkeeping import refused, said, save, send
from tests.console.browser import input_values, text_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser

# Payments by keyboard.


def test_a_batch_says_what_each_line_settles_and_is_booked_at_once(
    bureau: Desk, finance: Browser
) -> None:
    order(bureau, 1)
    order(bureau, 2)
    typed = {
        "for_1": "2026-000001",
        "amount_1": "12.84",
        "reference_1": "4711",
        "for_3": "ben ames",
        "amount_3": "5",
    }
    looked = send(finance, "/payments/new", **typed)
    text = text_of(looked.text)
    assert "2 payments, 17.84 USD in all" in text
    assert "Line 1 Ada Ames invoice 2026-000001 is paid 12.84" in text
    assert "Line 3 Ben Ames 7.84 USD of invoice 2026-000002 stays open 5.00" in text
    assert bureau.table("payments") == []
    begun = len(bureau.connection.rows("SELECT at FROM audit"))
    form = {**input_values(looked.text), "sure": "1"}
    saved = finance.post("/payments/new", form)
    assert saved.headers["location"] == "/money"
    assert "2 payments were booked, 17.84 USD in all." in said(finance, "/money")
    assert [row["reference"] for row in bureau.table("payments")] == ["4711", None]
    assert len(bureau.connection.rows("SELECT at FROM audit")) == begun + 1
    again = finance.post("/payments/new", form)
    assert again.headers["location"] == "/money"
    assert len(bureau.table("payments")) == 2


def test_a_wrong_line_is_named_keeps_the_input_and_nothing_is_booked(
    bureau: Desk, finance: Browser
) -> None:
    order(bureau, 1)
    answer = send(
        finance,
        "/payments/new",
        for_1="2026-000001",
        amount_1="12.84",
        for_2="nobody",
        amount_2="5",
        for_3="2026-000001",
        amount_3="x",
        amount_4="7",
        for_5="2026-000001",
    )
    wrong = refused(answer)
    assert "Line 2: no invoice has the number, and no reader fits “nobody”." in wrong
    assert "Line 3, the amount: 'x' is not an amount" in wrong
    assert "Line 4: say which invoice, or who paid." in wrong
    assert "Line 5: say how much came." in wrong
    assert input_values(answer.text)["for_2"] == "nobody"
    assert bureau.table("payments") == []


def test_what_the_books_refuse_names_the_line_too(bureau: Desk, finance: Browser) -> None:
    order(bureau, 1)
    typed = {"for_2": "2026-000001", "amount_2": "0"}
    assert "Line 2: The amount of a payment is above 0." in refused(
        send(finance, "/payments/new", **typed)
    )
    answer = send(
        finance, "/payments/new", for_1="2026-000001", amount_1="1", value_date="2199-01-01"
    )
    assert "1 January 2199 is still to come" in refused(answer)


def test_where_several_readers_fit_one_is_chosen(bureau: Desk, finance: Browser) -> None:
    order(bureau, 2)
    typed = {"for_1": "ames", "amount_1": "12.84"}
    answer = send(finance, "/payments/new", **typed)
    assert "Line 1: several readers fit “ames”. Choose who paid." in refused(answer)
    looked = finance.post("/payments/new", {**input_values(answer.text), **typed, "who_1": "2"})
    assert "Line 1 Ben Ames invoice 2026-000001 is paid" in text_of(looked.text)
    other = finance.post(
        "/payments/new", {**input_values(answer.text), **typed, "for_1": "cora", "who_1": "2"}
    )
    assert "Line 1 Cora Ames the payer has a credit of 12.84 USD" in text_of(other.text)


def test_a_batch_that_settles_something_else_meanwhile_is_shown_again(
    bureau: Desk, finance: Browser
) -> None:
    key = order(bureau, 1)
    looked = send(finance, "/payments/new", for_1="ada ames", amount_1="12.84")
    pay(bureau, key, Incoming(500))
    answer = finance.post("/payments/new", {**input_values(looked.text), "sure": "1"})
    assert answer.status_code == 409
    assert "Something has changed meanwhile" in answer.text
    assert len(bureau.table("payments")) == 1


def test_there_can_be_more_lines(finance: Browser) -> None:
    form = input_values(finance.get("/payments/new").text)
    answer = finance.post("/payments/new", {**form, "for_10": "x", "more": "1"})
    values = input_values(answer.text)
    assert "for_20" in values
    assert values["for_10"] == "x"
    assert "for_21" not in values


# The account of a payer.


def test_the_account_of_a_payer_adds_up_line_by_line(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(2_000, reference="TR-1"))
    page = said(finance, "/subscribers/1/account")
    assert "7.16 USD credit" in page
    assert "Invoice 2026-000001 15 April 2026 12.84 12.84" in page
    assert "Payment 15 April 2026 TR-1 It came back 20.00 -7.16" in page
    assert "Account of the payer" in said(finance, "/subscribers/1")


def test_a_credit_is_paid_back(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(2_000))
    send(finance, "/subscribers/1/pay-back", amount="7")
    assert "7.00 USD is paid back; a credit of 0.16 USD is left." in said(
        finance, "/subscribers/1/account"
    )
    assert "has a credit of 0.16 USD" in refused(
        send(finance, "/subscribers/1/pay-back", amount="7")
    )


def test_a_payment_that_came_back_opens_its_invoice(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(1_284))
    page = save(finance, "/payments/1/back", fee="4", reason="bounced")
    assert "12.84 USD came back; the bank took a fee of 4.00 USD" in page
    assert "invoice 2026-000001 is open with 12.84 USD" in page
    assert "This payment came back before" in refused(finance.get("/payments/1/back"))


def test_refusals_of_the_forms_name_no_id(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    for form, typed, sentence in (
        ("/invoices/1/credit", {}, "Invoice 2026-000001 is not paid"),
        ("/invoices/1/payment", {"amount": ""}, "Say how much came."),
        ("/invoices/1/payment", {"amount": "0"}, "above 0"),
        ("/invoices/1/payment", {"value_date": "2026-03-01"}, "1 March 2026 is before billing"),
        ("/invoices/1/cancel", {"reason": ""}, "Say why"),
        ("/orders/1/pay", {}, "This order has invoice 2026-000001"),
        ("/subscribers/1/pay-back", {}, "Ada Ames has no credit"),
    ):
        assert sentence in refused(send(finance, form, **typed)), form
    pay(bureau, key, Incoming(1_284, "2026-04-14"))
    for form, typed, sentence in (
        ("/invoices/1/payment", {}, "Nothing of invoice 2026-000001 is open"),
        ("/invoices/1/write-off", {}, "Nothing of invoice 2026-000001 is open"),
        ("/invoices/1/credit", {"amount": "99", "item": "1"}, "more than 0 and at most"),
        ("/payments/1/back", {"value_date": "2026-04-13"}, "The payment came on 14 April 2026"),
    ):
        assert sentence in refused(send(finance, form, **typed)), form


# Month end.


def test_a_month_is_closed_once_it_is_known_how_it_stands(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(500))
    assert "Look at how it stands" not in said(finance, "/month-end")
    bureau.to("2026-05-02")
    finance.sign_in("finance")
    assert "April 2026 to be closed" in said(finance, "/month-end")
    looked = finance.post("/month-end/close", {"month": "2026-04"})
    text = text_of(looked.text)
    assert "April 2026 will be closed: nothing is booked into it any more." in text
    assert "12.84 USD invoices that are not paid in full" in text
    assert "5.00 USD paid of these so far" in text
    saved = finance.post("/month-end/close", input_values(looked.text))
    assert saved.headers["location"] == "/month-end"
    assert "April 2026 closed 2 May 2026" in said(finance, "/month-end")
    assert "30 April 2026 is in a closed month" in refused(
        send(finance, "/invoices/1/payment", value_date="2026-04-30")
    )


def test_a_month_that_has_not_ended_is_not_closed(bureau: Desk, finance: Browser) -> None:
    order(bureau)
    answer = finance.post("/month-end/close", {"month": "2026-04"})
    assert "April 2026 has not ended" in refused(answer)


def test_the_accountant_gets_the_journal(bureau: Desk, finance: Browser) -> None:
    order(bureau)
    answer = finance.get("/month-end/journal", month="2026-04")
    assert answer.headers["content-disposition"] == 'attachment; filename="journal-2026-04.csv"'
    assert "12.84" in answer.text
    assert "DATEV wants the number of the accountant" in refused(
        finance.get("/month-end/journal", month="2026-04", form="datev")
    )
