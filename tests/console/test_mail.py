"""The page of mails, and what a payer was mailed, in an account that bills."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import mail_sending
from tests.billing.bureau import order
from tests.billing.outboxes import begin_mail, outbox
from tests.console.bookkeeping import refused, said, save, send
from tests.mail.servers import post_office

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office
    from tests.console.browser import Browser


@pytest.fixture
def mailed(bureau: Desk) -> Desk:
    """A mail to Ada that was sent, one to Ben that failed, and one to Ben that is on hold."""
    begin_mail(bureau, 1, 2)
    bureau.connection.change(
        "UPDATE subscribers SET email = 'gone@example.org' "
        "WHERE account_id = :account_id AND subscriber_id = 2",
        account_id=bureau.account_id,
    )
    for payer in (1, 2, 2):
        order(bureau, payer)
    with post_office() as (_, server):
        mail_sending.send(bureau.books, server)
    return bureau


def test_the_page_has_what_is_not_sent_and_the_addresses_on_hold(
    mailed: Desk, finance: Browser
) -> None:
    assert len(mailed.table("mails")) == 3
    page = said(finance, "/mail")
    assert "0 wait 1 failed 1 on hold" in page
    assert (
        "Invoice 2026-000002 Ben Ames 15 April 2026 failed 550 5.1.1 <the address> unknown user "
        "Send again , Do not send" in page
    )
    assert "Invoice 2026-000003 Ben Ames 15 April 2026 on hold" in page
    assert "2026-000001" not in page
    assert "gone@example.org 15 April 2026 550 5.1.1 <the address> unknown user Payer" in page


def test_the_account_of_a_payer_has_what_was_mailed(mailed: Desk, finance: Browser) -> None:
    assert mailed.table("held_addresses")
    page = said(finance, "/subscribers/1/account")
    assert "Invoice 2026-000001 15 April 2026 sent" in page
    assert "on hold" not in page
    page = said(finance, "/subscribers/2/account")
    assert "The email address is on hold since 15 April 2026: mails to it came back." in page
    assert "Invoice 2026-000003 15 April 2026 on hold" in page


def test_an_address_is_released(mailed: Desk, finance: Browser) -> None:
    page = save(finance, "/held-addresses/1/release")
    assert "The address gets mails again; 1 mail is sent to it." in page
    assert "No address is on hold." in page
    assert outbox(mailed, "status") == [("sent",), ("failed",), ("queued",)]


def test_a_mail_is_sent_again_or_not_at_all(mailed: Desk, finance: Browser) -> None:
    save(finance, "/held-addresses/1/release")
    assert "The mail is sent again." in save(finance, "/mails/2/retry")
    assert "The mail is not sent any more." in save(finance, "/mails/3/cancel")
    assert outbox(mailed, "status") == [("sent",), ("queued",), ("cancelled",)]


def test_what_is_refused_names_no_id(mailed: Desk, finance: Browser) -> None:
    assert mailed.table("mails")
    for path, sentence in (
        ("/mails/9/retry", "There is no such mail."),
        ("/mails/1/retry", "The mail about invoice 2026-000001 was sent: nothing was changed."),
        ("/mails/2/retry", "its payer has no address, or one that is on hold"),
        ("/held-addresses/9/release", "No such address is on hold."),
    ):
        assert sentence in refused(send(finance, path)), path


def test_a_viewer_looks_and_changes_nothing(mailed: Desk, office: Office) -> None:
    assert mailed is office.desk
    page = office.console.signed_in("viewer").get("/mail").text
    assert "gone@example.org" in page
    assert not re.search(r'href="/(?:mails|held-addresses)/', page)


def test_nothing_waits_and_nothing_is_set_up(finance: Browser) -> None:
    page = said(finance, "/mail")
    assert "No mail is queued: the settings of billing name no address" in page
    assert "No mail waits, and none has failed." in page
    assert "No address is on hold." in page
