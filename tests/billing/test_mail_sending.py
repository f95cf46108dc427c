"""Mails are sent once each, whatever the server does (billing, "E-mail")."""

from __future__ import annotations

import itertools
from collections import Counter
from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest

from masthead.billing.reminding import Level
from masthead.books import (
    billing_settings,
    erasure,
    held_addresses,
    mail_sending,
    outbox,
    reminder_levels,
    reminders,
    subscribers,
)
from masthead.errors import BadInput, MastheadError
from masthead.mail.smtp import ServerUnusable, Timeouts
from masthead.mail.smtp_url import Server
from masthead.store.billing.outbox import About, Words, queue
from masthead.store.billing.sending import UNCERTAIN
from tests.billing.bureau import number_of, order
from tests.billing.dying_senders import MODULE
from tests.billing.outboxes import MAIL_FROM, begin_mail
from tests.billing.outboxes import outbox as mails_of
from tests.circulation.dying import Dying
from tests.documents.shown import lines_of
from tests.long import SHORT_ON_SQLITE
from tests.mail.servers import PostOffice, post_office

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

NOWHERE = Server("127.0.0.1", 1, "none")
STATEMENTS = 3
"""A sender dies before each third statement; there are a few between the two marks of a mail."""


def order_for(desk: Desk, *names: str) -> None:
    """Order once for each name, whose payer has that address; the payers want mails."""
    begin_mail(desk, *range(1, len(names) + 1))
    for payer, name in enumerate(names, 1):
        subscribers.edit(desk.books, payer, {"email": f"{name}@example.org"})
        order(desk, payer)


def states(desk: Desk) -> list[str]:
    """Return the states of all mails."""
    return [status for (status,) in mails_of(desk, "status")]


def test_the_invoice_arrives_with_a_text_and_its_document(bureau: Desk) -> None:
    begin_mail(bureau, 1, mail_reply_to="desk@example.org", mail_bounces_to="back@example.org")
    number = number_of(bureau, order(bureau, 1))
    with post_office() as (office, server):
        done = mail_sending.send(bureau.books, server)
    assert done.sentence == "1 mail sent"
    (mail,) = office.mails
    assert (mail.sender, mail.recipient) == ("back@example.org", "ada@example.org")
    assert mail.message["From"] == f"Tide Press <{MAIL_FROM}>"
    assert mail.message["Reply-To"] == "desk@example.org"
    assert mail.message["Subject"] == f"Invoice {number} from Tide Press"
    body = mail.message.get_body()
    assert body is not None
    assert f"attached is invoice {number} of 15 April 2026 for 12.84 USD." in body.get_content()
    (attached,) = mail.message.iter_attachments()
    assert attached.get_filename() == f"{number}.pdf"
    assert f"Invoice {number}" in lines_of(attached.get_content())
    ((status, sent_at, message_id, tries),) = mails_of(
        bureau, "status", "sent_at", "message_id", "tries"
    )
    assert (status, tries) == ("sent", 1)
    assert sent_at.startswith("2026-04-15")
    assert message_id == mail.message["Message-ID"]


def test_a_reminder_arrives_with_its_letter(bureau: Desk) -> None:
    begin_mail(bureau, 1)
    reminder_levels.set_level(bureau.books, Level(1, 10, 0, "nothing", None))
    order(bureau, 1)
    bureau.to("2026-05-20")
    reminders.send(bureau.books)
    with post_office() as (office, server):
        mail_sending.send(bureau.books, server)
    reminder = office.mails[1].message
    assert reminder["Subject"] == "Reminder from Tide Press"
    (attached,) = reminder.iter_attachments()
    assert attached.get_filename() == "reminder-2026-05-20.pdf"
    assert "Ada Ames" in lines_of(attached.get_content())


def test_a_mail_that_was_sent_is_not_sent_again(bureau: Desk) -> None:
    order_for(bureau, "ada", "ben")
    with post_office() as (office, server):
        mail_sending.send(bureau.books, server)
        assert mail_sending.send(bureau.books, server).sent == 0
    assert office.recipients == ["ada@example.org", "ben@example.org"]


def test_without_a_mail_that_is_due_no_server_is_asked(bureau: Desk) -> None:
    begin_mail(bureau, 1)
    assert mail_sending.send(bureau.books, NOWHERE).sentence == "0 mails sent"


def test_a_server_that_is_busy_is_asked_again_with_a_growing_delay(bureau: Desk) -> None:
    order_for(bureau, "later")
    tried = []
    with post_office() as (_, server):
        for day in range(15, 26):
            bureau.to(f"2026-04-{day}")
            done = mail_sending.send(bureau.books, server)
            tried.append((done.later, done.failed))
            assert mail_sending.send(bureau.books, server) == mail_sending.Sent()
    assert tried == [(1, 0)] * 9 + [(0, 1), (0, 0)]
    assert mails_of(bureau, "status", "tries", "error") == [("failed", 10, "450 4.2.0 busy")]


def test_a_delayed_mail_waits_until_its_time(bureau: Desk) -> None:
    order_for(bureau, "later")
    with post_office() as (office, server):
        mail_sending.send(bureau.books, server)
        subscribers.edit(bureau.books, 1, {"email": "ada@example.org"})
        bureau.now += 9 * 60 * 1_000_000
        assert mail_sending.send(bureau.books, server) == mail_sending.Sent()
        bureau.now += 60 * 1_000_000
        mail_sending.send(bureau.books, server)
    assert len(office.mails) == 0
    assert mails_of(bureau, "tries") == [(2,)]


def test_an_unknown_address_is_put_on_hold_and_named_nowhere(bureau: Desk) -> None:
    order_for(bureau, "gone", "ben")
    order(bureau, 1)
    with post_office() as (office, server):
        done = mail_sending.send(bureau.books, server)
    assert office.recipients == ["ben@example.org"]
    assert (done.sent, done.failed) == (1, 1)
    assert done.problems[0].error == "550 5.1.1 <the address> unknown user"
    assert states(bureau) == ["failed", "sent", "held"]
    order(bureau, 1)
    assert len(states(bureau)) == 3
    (held,) = bureau.table("held_addresses")
    assert (held["address"], held["subscriber_id"]) == ("gone@example.org", 1)
    said = [
        each for (each,) in bureau.rows("SELECT summary FROM audit WHERE account_id = :account_id")
    ]
    assert not any("example.org" in each for each in said)


def test_a_mail_that_looks_like_spam_has_failed_and_the_address_is_free(bureau: Desk) -> None:
    order_for(bureau, "spam", "ben")
    with post_office() as (office, server):
        mail_sending.send(bureau.books, server)
    assert states(bureau) == ["failed", "sent"]
    assert bureau.table("held_addresses") == []
    assert office.recipients == ["ben@example.org"]


def test_a_connection_that_breaks_within_a_mail_loses_none(bureau: Desk) -> None:
    order_for(bureau, "break", "ben")
    with post_office() as (office, server):
        with pytest.raises(ServerUnusable, match="the connection to the mail server ended"):
            mail_sending.send(bureau.books, server)
        assert office.mails == []
        ((status, error, _),) = mails_of(bureau, "status", "error", "tries")[:1]
        # The system may have taken all of a small mail before the connection broke.
        assert (status, error) == ("failed", UNCERTAIN) or status == "queued"
        mail_sending.send(bureau.books, server)
        assert office.recipients == ["ben@example.org"]


def test_a_mail_whose_end_was_not_answered_is_not_sent_again_but_by_a_person(bureau: Desk) -> None:
    order_for(bureau, "vanish")
    with post_office() as (office, server):
        with pytest.raises(ServerUnusable):
            mail_sending.send(bureau.books, server)
        bureau.to("2026-04-20")
        assert mail_sending.send(bureau.books, server) == mail_sending.Sent()
        assert outbox.retry_failed(bureau.books).mails == 0
        assert len(office.mails) == 1
        assert mails_of(bureau, "status", "error") == [("failed", UNCERTAIN)]
        subscribers.edit(bureau.books, 1, {"email": "ada@example.org"})
        outbox.retry(bureau.books, [1])
        mail_sending.send(bureau.books, server)
    assert office.recipients == ["vanish@example.org", "ada@example.org"]
    one, two = (each.message["Message-ID"] for each in office.mails)
    assert one == two


def test_a_server_that_is_silent_is_left_after_a_while(bureau: Desk) -> None:
    order_for(bureau, "silent", "ben")
    with post_office() as (_, server), pytest.raises(ServerUnusable, match="timed out"):
        mail_sending.send(bureau.books, server, timeouts=Timeouts(command=30, end=0.2))
    assert mails_of(bureau, "status", "error") == [("failed", UNCERTAIN), ("queued", None)]


def test_a_server_that_closes_after_some_mails_is_connected_again(bureau: Desk) -> None:
    order_for(bureau, "ada", "closing", "cora")
    with post_office() as (office, server):
        done = mail_sending.send(bureau.books, server)
    assert office.recipients == ["ada@example.org", "cora@example.org"]
    assert (done.sent, done.later) == (2, 1)


def test_a_server_that_is_not_there_leaves_all_mails_queued(bureau: Desk) -> None:
    order_for(bureau, "ada")
    with pytest.raises(ServerUnusable, match="takes no mails now"):
        mail_sending.send(bureau.books, NOWHERE)
    assert mails_of(bureau, "status", "tries") == [("queued", 0)]


def test_two_senders_never_have_the_same_mail(bureau: Desk) -> None:
    order_for(bureau, "ada", "ben", "cora")
    office = PostOffice()
    with post_office(office) as (_, server), post_office() as (other, second):
        # While the first sender is within its first mail, the second one sends all that are left.
        others = iter([second])

        def begin_another() -> None:
            for each in others:
                mail_sending.send(bureau.books, each)

        office.on_data = begin_another
        mail_sending.send(bureau.books, server)
    assert office.recipients == ["ada@example.org"]
    assert other.recipients == ["ben@example.org", "cora@example.org"]
    assert states(bureau) == ["sent"] * 3


def test_a_mail_that_is_cancelled_while_it_is_sent_does_not_arrive(bureau: Desk) -> None:
    order_for(bureau, "ada")
    with post_office() as (office, server):
        office.on_data = lambda: None if states(bureau) == ["cancelled"] else _cancel(bureau)
        with pytest.raises(MastheadError, match="was changed while it was being sent"):
            mail_sending.send(bureau.books, server)
    assert office.mails == []
    assert states(bureau) == ["cancelled"]


def _cancel(desk: Desk) -> None:
    outbox.cancel(desk.books, [1])


def test_an_hour_has_a_limit_and_a_run_another(bureau: Desk) -> None:
    order_for(bureau, "ada", "ben", "cora")
    billing_settings.set_values(bureau.books, {"mails_per_hour": "2"})
    with post_office() as (office, server):
        assert mail_sending.send(bureau.books, server, limit=1).sent == 1
        done = mail_sending.send(bureau.books, server)
        assert done.sentence == "1 mail sent; 1 wait for the next hour"
        assert mail_sending.send(bureau.books, server).sent == 0
        bureau.now += 61 * 60 * 1_000_000
        assert mail_sending.send(bureau.books, server).sent == 1
    assert len(office.mails) == 3


def test_an_account_that_does_not_send_reaches_no_server(bureau: Desk) -> None:
    order_for(bureau, "ada")
    billing_settings.set_values(bureau.books, {"mail_sending": ""})
    with post_office() as (office, server), pytest.raises(BadInput, match="sends no mails"):
        mail_sending.send(bureau.books, server)
    assert office.data_begun == []
    assert mails_of(bureau, "status", "tries") == [("queued", 0)]


def test_an_erased_payer_gets_no_mail_any_more(bureau: Desk) -> None:
    order_for(bureau, "ada", "ben")
    erasure.erase(bureau.books, 1, "refund")
    with post_office() as (office, server):
        mail_sending.send(bureau.books, server)
    assert office.recipients == ["ben@example.org"]
    assert mails_of(bureau, "status", "address")[0] == ("cancelled", None)


def test_a_text_that_is_no_address_fails_and_the_next_mail_goes(bureau: Desk) -> None:
    order_for(bureau, "ada, ben", "cora")
    with post_office() as (office, server):
        done = mail_sending.send(bureau.books, server)
    assert office.recipients == ["cora@example.org"]
    assert done.problems[0].error == "the payer's address is not an email address"


def test_an_error_of_a_template_sends_and_marks_nothing(bureau: Desk, tmp_path: Path) -> None:
    order_for(bureau, "ada")
    (tmp_path / "texts.typ").write_text("#let\n", encoding="utf-8")
    billing_settings.set_values(bureau.books, {"templates": str(tmp_path)})
    with post_office() as (office, server), pytest.raises(BadInput, match=r"texts\.typ, line"):
        mail_sending.send(bureau.books, server)
    assert office.mails == []
    assert mails_of(bureau, "status", "tries") == [("queued", 0)]


def test_mails_are_written_to_files_and_still_wait(bureau: Desk, tmp_path: Path) -> None:
    order_for(bureau, "ada", "ben")
    billing_settings.set_values(bureau.books, {"mail_sending": ""})
    before = bureau.table("mails")
    done = mail_sending.write(bureau.books, tmp_path / "mails")
    assert done.sentence == f"2 mails written to {tmp_path}/mails; none was sent"
    files = sorted((tmp_path / "mails").iterdir())
    assert [each.name for each in files] == ["mail-000001.eml", "mail-000002.eml"]
    assert b"\r\nTo: ada@example.org\r\n" in files[0].read_bytes()
    assert bureau.table("mails") == before
    assert mail_sending.due(bureau.books).sentence == "2 mails would be sent"


def test_a_released_address_gets_what_was_held(bureau: Desk) -> None:
    order_for(bureau, "gone")
    order(bureau, 1)
    with post_office() as (office, server):
        mail_sending.send(bureau.books, server)
        subscribers.edit(bureau.books, 1, {"email": "ada@example.org"})
        done = held_addresses.release(bureau.books, "GONE@example.org")
        assert done.sentence == "the address of subscriber 1 gets mails again; 1 mail queued again"
        outbox.cancel(bureau.books, [2])
        assert outbox.retry_failed(bureau.books).sentence == "1 mail queued again"
        mail_sending.send(bureau.books, server)
    assert office.recipients == ["ada@example.org"]
    assert states(bureau) == ["sent", "cancelled"]


@SHORT_ON_SQLITE
def test_a_sender_that_is_killed_loses_no_mail_and_sends_none_twice(bureau: Desk) -> None:
    """decisions, "Mails are sent once"."""
    begin_mail(bureau, 1, 2)
    uncertain = 0
    with post_office() as (office, server), Dying(MODULE) as dying:
        for at in itertools.count(1, STATEMENTS):
            with bureau.books.change() as change:
                for payer in (1, 2):
                    queue(change, "announcement", payer, About(), Words(f"{at}", f"{payer}\n"))
            status = dying.do(bureau.url, bureau.now + 1_000_000, str(server.port), at)
            bureau.now += 60 * 60 * 1_000_000
            mail_sending.send(bureau.books, server)
            arrived = Counter(each.message["Message-ID"] for each in office.mails)
            office.mails.clear()
            for state, error, message_id in mails_of(bureau, "status", "error", "message_id")[-2:]:
                if state == "failed":
                    assert error == UNCERTAIN
                    assert arrived[message_id] <= 1
                    uncertain += 1
                else:
                    assert (state, arrived[message_id]) == ("sent", 1), at
            if status == 0:
                break
            assert status == -SIGKILL
    # Between the mark and the answer are a few statements of two mails, and no others.
    assert at > 50
    assert 0 < uncertain <= 8
