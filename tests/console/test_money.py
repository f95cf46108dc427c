"""The pages of an account that bills: money, invoices, and their orders and readers."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import disputes, orders, payer_payments, payment_reversals, subscriptions
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item, Order, Person
from tests.billing.bureau import TODAY, money, number_of, order, pay
from tests.console.bookkeeping import refused, said, save, send
from tests.console.browser import input_values, text_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office
    from tests.console.browser import Browser

# Money.


def test_open_invoices_come_by_their_due_days_with_what_is_open(
    bureau: Desk, finance: Browser
) -> None:
    bureau.to("2026-04-15")
    ada, ben = order(bureau, 1), order(bureau, 2)
    pay(bureau, ben, Incoming(500))
    bureau.to("2026-05-01")
    order(bureau, 3)
    finance.sign_in("finance")
    page = said(finance, "/money")
    assert "3 invoices are open, 2 of them late." in page
    assert "33.52 USD open" in page
    assert "20.68 USD late" in page
    listed = page.partition("Invoice Payer Due Open Of")[2]
    assert (
        f"{number_of(bureau, ada)} Ada Ames 29 April 2026 2 days late 12.84 12.84 "
        f"{number_of(bureau, ben)} Ben Ames 29 April 2026 2 days late 7.84 12.84 "
        "2026-000003 Cora Ames 15 May 2026 12.84 12.84"
    ) in listed


def test_what_came_this_month_and_what_payers_have_to_their_credit(
    bureau: Desk, finance: Browser
) -> None:
    key = order(bureau, 1)
    bureau.to("2026-05-02")
    pay(bureau, key, Incoming(2_000, "2026-05-01", "transfer", "TR-7"))
    finance.sign_in("finance")
    page = said(finance, "/money")
    assert "20.00 USD came this month" in page
    assert "Ada Ames 1 May 2026 TR-7 20.00" in page
    assert "Payer Credit Ada Ames 7.16" in page


def test_a_credit_that_was_paid_back_and_came_back_is_listed_as_owed(
    bureau: Desk, finance: Browser
) -> None:
    paid = pay(bureau, order(bureau, 1), Incoming(2_000))
    pay(bureau, order(bureau, 2), Incoming(1_294))
    payer_payments.pay_back(bureau.books, 1)
    payment_reversals.reverse(bureau.books, paid.payment_id)
    page = said(finance, "/money")
    assert "-7.06 USD credits of payers" in page
    assert "Below 0 is owed: the credit was paid back, and then its payment came back." in page
    assert "Payer Credit Ben Ames 0.10 Ada Ames -7.16" in page


def test_a_payer_without_a_name_is_called_by_the_company(bureau: Desk, finance: Browser) -> None:
    bureau.put("subscribers", subscriber_id=4)
    for key, company in ((4, "Alder Ltd"), (5, "Birch Ltd"), (6, None)):
        bureau.put("addresses", address_id=key, subscriber_id=4, company=company, city="Cork")
    bureau.to("2026-05-02")
    pay(bureau, order(bureau, 4), Incoming(2_000))
    finance.sign_in("finance")
    page = said(finance, "/money")
    assert "Birch Ltd 2 May 2026 20.00" in page
    assert "Payer Credit Birch Ltd 7.16" in page
    assert "Account Birch Ltd" in said(finance, "/subscribers/4/account")
    assert "Invoice 2026-000001 Birch Ltd paid" in said(finance, "/invoices/1")
    assert "<h1>Birch Ltd" in finance.get("/subscribers/4").text


def test_without_anything_each_part_says_so(finance: Browser) -> None:
    page = said(finance, "/money")
    for sentence in (
        "No invoice is open.",
        "No payment of this month is booked yet.",
        "No payer has a credit.",
    ):
        assert sentence in page


@pytest.mark.parametrize("text", ["2026-000001", "invoice 2026-000001", "RF852026000001"])
def test_a_number_opens_the_invoice(bureau: Desk, finance: Browser, text: str) -> None:
    order(bureau)
    if text.startswith("RF"):
        ((text,),) = bureau.rows("SELECT payment_reference FROM invoices WHERE invoice_id = 1")
    assert finance.get("/find", q=text).headers["location"] == "/invoices/1"
    assert finance.get("/money", number=text).headers["location"] == "/invoices/1"
    suggested = finance.get("/find/suggestions", q=text).text
    assert 'data-href="/invoices/1"' in suggested
    assert "Invoice 2026-000001" in text_of(suggested)


def test_the_number_of_a_credit_note_keeps_its_letters(bureau: Desk, finance: Browser) -> None:
    order(bureau)
    save(finance, "/invoices/1/cancel", reason="a mistake")
    found = text_of(finance.get("/find/suggestions", q="c2026-000001").text)
    assert "Credit note C2026-000001" in found


def test_a_number_that_no_invoice_has_is_named(finance: Browser) -> None:
    assert "There is no invoice 2026-9." in text_of(finance.get("/money", number="2026-9").text)


def test_an_account_that_does_not_bill_has_none_of_it(bureau: Desk, finance: Browser) -> None:
    bureau.empty()
    bureau.put("subscribers", subscriber_id=1, first_name="Ada", last_name="Ames")
    bureau.put("orders", order_id=1, subscriber_id=1, order_date="2026-04-01 10:00:00")
    for path in ("/money", "/invoices/1", "/payments/new", "/subscribers/1/account"):
        assert "This account makes no invoices." in refused(finance.get(path))
    for path in ("/", "/subscribers/1", "/orders/1"):
        assert not re.search(r'href="/(money|invoices|payments)', finance.get(path).text)
        assert "/account" not in finance.get(path).text


def test_a_clerk_and_a_viewer_look_and_read_who_books(bureau: Desk, office: Office) -> None:
    order(bureau)
    for role in ("clerk", "viewer"):
        browser = office.console.signed_in(role)
        for path in ("/money", "/invoices/1", "/subscribers/1/account", "/orders/1"):
            page = browser.get(path).text
            assert "finance or a manager." in page
            assert not re.search(r'href="/(payments/new|invoices/1/payment|orders/1/pay)"', page)


# An invoice.


def test_an_invoice_says_what_it_is_for(bureau: Desk, finance: Browser) -> None:
    order(bureau, 2, Item(bundle_id=1), Item(product_id=1))
    page = said(finance, "/invoices/1")
    assert "Invoice 2026-000001 Ben Ames open" in page
    assert "Due 29 April 2026 Total 22.47 USD including 1.47 tax Open 22.47 USD" in page
    assert "Tide for a year 1 12.00 7.00 % 0.84 12.84" in page
    assert "In all 21.00 1.47 22.47" in page
    assert "What settled it Nothing yet." in page


def test_a_payment_fills_in_what_is_open_and_settles_it(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    assert input_values(finance.get("/invoices/1/payment").text)["amount"] == "12.84"
    answer = send(finance, "/invoices/1/payment", type="check", reference="4711")
    assert answer.headers["location"] == "/invoices/1"
    page = said(finance, "/invoices/1")
    assert "12.84 USD came; invoice 2026-000001 is paid." in page
    assert "Payment 15 April 2026 check, 4711 12.84" in page
    assert money(bureau, key)["received"] == 1200


def test_a_part_leaves_the_rest_open_and_more_is_a_credit(bureau: Desk, finance: Browser) -> None:
    order(bureau)
    send(finance, "/invoices/1/payment", amount="5", value_date="2026-04-14")
    assert "5.00 USD came; 7.84 USD of invoice 2026-000001 stays open." in said(
        finance, "/invoices/1"
    )
    send(finance, "/invoices/1/payment", amount="10")
    assert "is paid; the payer has a credit of 2.16 USD" in said(finance, "/invoices/1")


def test_a_payment_that_is_booked_meanwhile_is_asked_about(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    form = input_values(finance.get("/invoices/1/payment").text)
    pay(bureau, key, Incoming(500))
    answer = finance.post("/invoices/1/payment", form)
    assert answer.status_code == 409
    assert "Somebody else changed this since you opened it" in answer.text


def test_cancelling_an_invoice_says_what_will_happen(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(1_284))
    page = save(finance, "/invoices/1/cancel", reason="ordered by mistake")
    assert "A credit note takes back 12.84 USD of invoice 2026-000001; its order ends" in page
    assert "the payer has a credit of 12.84 USD" in page
    assert "C2026-000001 15 April 2026 ordered by mistake" in page
    note = said(finance, "/invoices/2")
    assert "Credit note C2026-000001" in note
    assert "Takes back 2026-000001" in note


def test_a_part_of_a_paid_invoice_is_credited(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(1_284))
    item = re.search(r'<option value="(\d+)"', finance.get("/invoices/1/credit").text)
    assert item
    page = save(finance, "/invoices/1/credit", item=item[1], amount="3", reason="came late")
    assert "takes back 3.00 USD of invoice 2026-000001; the subscriptions go on" in page
    assert "has a credit of 3.00 USD" in page


@pytest.mark.parametrize(("then", "word"), [("end", "ends"), ("go on", "goes on")])
def test_writing_off_says_what_becomes_of_the_order(
    bureau: Desk, finance: Browser, then: str, word: str
) -> None:
    order(bureau)
    page = save(finance, "/invoices/1/write-off", then=then)
    assert f"12.84 USD of invoice 2026-000001 is written off; what was ordered {word}." in page
    assert "Written off 15 April 2026 12.84" in page
    assert subscriptions.show(bureau.books, 1).fields["issues"] == (0 if then == "end" else 12)


def test_the_document_is_a_pdf(bureau: Desk, finance: Browser) -> None:
    pytest.importorskip("typst")
    order(bureau)
    answer = finance.get("/invoices/1/pdf")
    assert answer.headers["content-disposition"] == 'attachment; filename="2026-000001.pdf"'
    assert answer.content.startswith(b"%PDF-")


# Orders and readers.


def test_an_order_shows_its_invoice_and_leads_to_its_payment(
    bureau: Desk, finance: Browser
) -> None:
    key = order(bureau)
    page = finance.get(f"/orders/{key}").text
    assert "Invoice 2026-000001 , 12.84 USD open, due 29 April 2026" in text_of(page)
    assert 'href="/invoices/1/payment"' in page
    assert f'href="/orders/{key}/pay"' not in page


def test_a_reader_owes_what_is_open_of_the_invoice(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(500))
    page = said(finance, "/subscribers/1")
    assert "Owes 7.84 USD for invoice 2026-000001 , due 29 April 2026." in page
    assert "12.84 USD for the order" not in page


def test_who_cancels_a_paid_subscription_says_that_the_payer_has_a_credit(
    bureau: Desk, office: Office
) -> None:
    orders.place(bureau.books, Order(Person(subscriber_id=1), [Item(bundle_id=1)], is_paid=True))
    office.console.add("boss", "manager")
    browser = office.console.signed_in("boss")
    path = "/subscriptions/1/cancel"
    shown = browser.get(path).text
    assert "It is the payer's credit." in html.unescape(shown)
    looked = browser.post(path, {**input_values(shown), "when": "now", "reason": "", "refund": "1"})
    text = html.unescape(text_of(looked.text))
    assert "12.84 USD, of which tax 0.84 USD, is the payer's credit, by a credit note" in text
    assert "send the money yourself" not in text


def test_cancelling_says_what_is_a_credit_and_what_is_sent_by_hand(
    bureau: Desk, office: Office
) -> None:
    bureau.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING account_id")
    for payer in (1, 2):
        order(bureau, payer, is_paid=True)
    bureau.put("billing", billing_id=1, begun_on=TODAY)
    order(bureau, 1, is_paid=True)
    order(bureau, 3, is_paid=True)
    browser = office.console.signed_in("manager")
    credit = "is the payer's credit, by a credit note: the next invoice uses it, or finance pays it"
    wanted = {
        1: (
            "What was billed is the payer's credit; you send the rest yourself.",
            f"12.84 USD {credit} back; 12.84 USD is given back, you send it yourself.",
        ),
        2: (
            "You send the money yourself.",
            "12.84 USD is given back, of which tax 0.84 USD; you send the money yourself.",
        ),
        3: (
            "It is the payer's credit.",
            f"12.84 USD, of which tax 0.84 USD, {credit} back.",
        ),
    }
    typed = {"reason": "", "refund": "1"}
    for key, (before, then) in wanted.items():
        path = f"/subscriptions/{key}/cancel"
        assert f"The next page says the sum. {before}" in said(browser, path)
        later = text_of(send(browser, path, when="issue:6", **typed).text)
        assert f"what is not delivered then is given back. {before}" in later
        assert then in save(browser, path, when="now", **typed)


def test_cancelling_says_that_a_deposit_is_a_credit(bureau: Desk, office: Office) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(500))
    page = save(office.console.signed_in("manager"), "/subscriptions/1/cancel", when="now")
    assert "5.00 USD is the payer's credit, by a credit note" in page


def test_erasing_says_what_is_a_credit_and_what_is_sent_by_hand(
    bureau: Desk, office: Office
) -> None:
    bureau.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING account_id")
    order(bureau, is_paid=True)
    bureau.put("billing", billing_id=1, begun_on=TODAY)
    order(bureau, 1, Item(bundle_id=1, copies=2), is_paid=True)
    browser = office.console.signed_in("manager")
    path = "/subscribers/1/erase"
    answer = send(browser, path, name="Ada Ames", money="refund")
    page = said(browser, answer.headers["location"])
    assert "25.68 USD is the payer's credit: pay it back." in page
    assert "12.84 USD is refunded: send it yourself." in page


def test_a_refund_and_an_upheld_dispute_say_that_the_payer_has_a_credit(
    bureau: Desk, finance: Browser
) -> None:
    credit = "What is given back is the payer's credit: the next invoice uses it, or you pay it"
    refunded, disputed = (order(bureau, payer, is_paid=True) for payer in (1, 2))
    disputes.dispute(bureau.books, disputed, "never ordered")
    assert credit in save(finance, f"/orders/{refunded}/refund", item=str(refunded))
    assert credit in save(finance, f"/orders/{disputed}/settle", result="upheld")


def test_what_is_given_back_is_a_credit_only_where_an_invoice_was_paid(
    bureau: Desk, finance: Browser
) -> None:
    bureau.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING account_id")
    earlier = order(bureau, 1, is_paid=True)
    bureau.put("billing", billing_id=1, begun_on=TODAY)
    disputed, refunded = order(bureau, 2), order(bureau, 3)
    disputes.dispute(bureau.books, disputed, "never ordered")
    said_of_it = save(finance, f"/orders/{earlier}/refund", item=str(earlier))
    assert "You send the money yourself." in said_of_it
    others = [
        save(finance, f"/orders/{disputed}/settle", result="upheld"),
        save(finance, f"/orders/{refunded}/refund", item=str(refunded), amount="0"),
    ]
    for each in (said_of_it, *others):
        assert "credit: the next invoice" not in each
    assert not any("send the money" in each for each in others)


def test_a_deposit_on_a_disputed_order_is_the_credit_of_its_payer(
    bureau: Desk, finance: Browser
) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(500))
    disputes.dispute(bureau.books, key, "never ordered")
    assert "What was paid is the payer's credit" in save(
        finance, f"/orders/{key}/settle", result="upheld"
    )


def test_a_deposit_on_a_refunded_order_is_the_credit_of_its_payer(
    bureau: Desk, finance: Browser
) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(500))
    said_of_it = save(finance, f"/orders/{key}/refund", item=str(key))
    assert "12 issues end; credit note C2026-000001. What was paid is the payer's" in said_of_it


def test_what_is_delivered_is_refunded_and_not_credited(bureau: Desk, finance: Browser) -> None:
    key = order(bureau, 1, Item(product_id=1))
    pay(bureau, key, Incoming(963))
    assert (
        "All of invoice 2026-000001 is delivered: a refund, on the page of its order, gives back "
        "what is earned."
    ) in refused(finance.get("/invoices/1/credit"))
    assert "All that was paid is delivered: a refund gives back what is earned." in refused(
        finance.get(f"/orders/{key}/allowance")
    )
    assert 'href="/invoices/1/credit"' not in finance.get("/invoices/1").text
    assert f'href="/orders/{key}/allowance"' not in finance.get(f"/orders/{key}").text
    assert "2.00 USD" in save(finance, f"/orders/{key}/refund", amount="2")


def test_what_is_to_come_is_credited_or_allowed(bureau: Desk, finance: Browser) -> None:
    key = order(bureau)
    pay(bureau, key, Incoming(1_284))
    assert 'href="/invoices/1/credit"' in finance.get("/invoices/1").text
    assert f'href="/orders/{key}/allowance"' in finance.get(f"/orders/{key}").text


def test_a_part_of_an_order_without_an_invoice_is_said_to_be_a_part(
    bureau: Desk, finance: Browser
) -> None:
    bureau.rows("DELETE FROM billing WHERE account_id = :account_id RETURNING account_id")
    key = order(bureau)
    bureau.put("billing", billing_id=1, begun_on=TODAY)
    path = f"/orders/{key}/pay"
    assert "A part cannot be booked" not in said(finance, path)
    saved = send(finance, path, amount="5.00")
    assert "5.00 USD came; 7.84 USD of invoice 2026-000001 stays open." in said(
        finance, saved.headers["location"]
    )
