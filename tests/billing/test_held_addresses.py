"""Mails that came back put their addresses on hold (billing, "E-mail")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import held_addresses, mail_sending, outbox
from masthead.errors import BadInput, NotFound
from tests.billing.bureau import order, refused
from tests.billing.outboxes import begin_mail
from tests.billing.outboxes import outbox as mails_of
from tests.mail.mailboxes import ORDINARY, report
from tests.mail.servers import post_office

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

ADA = "ada@example.org"
NAMED = "the mail about invoice 2026-000001"


def send_to_ada(desk: Desk) -> str:
    """Mail an invoice to Ada, and return the mail's own id."""
    begin_mail(desk, 1)
    order(desk, 1)
    with post_office() as (office, server):
        mail_sending.send(desk.books, server)
    return str(office.mails[0].message["Message-ID"])


def test_a_bounce_fails_its_mail_and_holds_the_address(bureau: Desk, tmp_path: Path) -> None:
    (tmp_path / "1.eml").write_bytes(report(ADA, send_to_ada(bureau)))
    (tmp_path / "2.eml").write_bytes(ORDINARY)
    order(bureau, 1)
    done = held_addresses.read_bounces(bureau.books, tmp_path)
    assert done.sentence == "2 mails read; 1 address put on hold; 1 mail no bounce"
    assert done.held == [ADA]
    error = "it came back: 5.1.1 550 <the address> no such user"
    assert mails_of(bureau, "status", "error") == [("failed", error), ("held", None)]
    (held,) = bureau.table("held_addresses")
    assert (held["address"], held["subscriber_id"], held["held_on"]) == (ADA, 1, "2026-04-15")
    assert held["reason"] == error


def test_the_same_bounce_again_changes_nothing_even_after_a_release(
    bureau: Desk, tmp_path: Path
) -> None:
    (tmp_path / "1.eml").write_bytes(report(ADA, send_to_ada(bureau)))
    held_addresses.read_bounces(bureau.books, tmp_path)
    held_addresses.release(bureau.books, ADA)
    before = bureau.everything()
    done = held_addresses.read_bounces(bureau.books, tmp_path)
    assert done.sentence == "1 mail read; 0 addresses put on hold; 1 bounce known before"
    assert bureau.everything() == before


def test_a_mail_that_was_passed_on_and_came_back_is_known_by_its_id(
    bureau: Desk, tmp_path: Path
) -> None:
    (tmp_path / "1.eml").write_bytes(report("old@elsewhere.example", send_to_ada(bureau)))
    assert held_addresses.read_bounces(bureau.books, tmp_path).held == [ADA]


def test_a_bounce_without_an_id_is_known_by_its_address(bureau: Desk, tmp_path: Path) -> None:
    send_to_ada(bureau)
    (tmp_path / "1.eml").write_bytes(report("ADA@example.org"))
    assert held_addresses.read_bounces(bureau.books, tmp_path).held == [ADA]


def test_an_address_to_which_nothing_was_sent_is_only_reported(
    bureau: Desk, tmp_path: Path
) -> None:
    send_to_ada(bureau)
    (tmp_path / "1.eml").write_bytes(report("ben@example.org"))
    (tmp_path / "2.eml").write_bytes(report("eve@example.org", "<forged@example.org>"))
    (tmp_path / "3.eml").write_bytes(report(ADA, is_delay=True))
    before = bureau.everything()
    done = held_addresses.read_bounces(bureau.books, tmp_path)
    assert done.unknown == ["ben@example.org", "eve@example.org"]
    assert done.sentence == (
        "3 mails read; 0 addresses put on hold; 1 mail still on the way; 2 addresses unknown here"
    )
    assert bureau.everything() == before


def test_a_dry_run_holds_nothing(bureau: Desk, tmp_path: Path) -> None:
    (tmp_path / "1.eml").write_bytes(report(ADA, send_to_ada(bureau)))
    before = bureau.everything()
    assert held_addresses.read_bounces(bureau.books, tmp_path, dry_run=True).held == [ADA]
    assert bureau.everything() == before


def test_what_is_not_on_hold_cannot_be_released(bureau: Desk) -> None:
    with pytest.raises(NotFound, match="the address is not on hold"):
        held_addresses.release(bureau.books, ADA)


def test_a_payer_shows_what_was_mailed_and_that_the_address_is_on_hold(
    bureau: Desk, tmp_path: Path
) -> None:
    message_id = send_to_ada(bureau)
    shown = outbox.of_payer(bureau.books, 1)
    assert [(each.about, each.status) for each in shown.mails] == [("invoice 2026-000001", "sent")]
    assert shown.held is None
    (tmp_path / "1.eml").write_bytes(report(ADA, message_id))
    held_addresses.read_bounces(bureau.books, tmp_path)
    shown = outbox.of_payer(bureau.books, 1)
    assert [each.status for each in shown.mails] == ["failed"]
    assert shown.held is not None
    assert [each.address for each in held_addresses.listed(bureau.books)] == [ADA]
    assert outbox.overview(bureau.books, 10).counts == {"failed": 1}


def test_mails_are_tried_again_or_cancelled_only_where_that_is_right(bureau: Desk) -> None:
    begin_mail(bureau, 1)
    order(bureau, 1)
    assert refused(bureau, outbox.retry, [1]) == f"{NAMED} waits: nothing was changed"
    assert refused(bureau, outbox.retry, [7]) == "there is no mail 7"
    outbox.cancel(bureau.books, [1])
    assert refused(bureau, outbox.cancel, [1]) == f"{NAMED} was cancelled: nothing was changed"
    bureau.put("held_addresses", held_address_id=1, address=ADA, held_on="2026-04-01")
    assert "its payer has no address, or one that is on hold" in refused(bureau, outbox.retry, [1])
    held_addresses.release(bureau.books, ADA)
    assert outbox.retry(bureau.books, [1], dry_run=True).sentence == "1 mail queued again"
    assert mails_of(bureau, "status") == [("cancelled",)]
    outbox.retry(bureau.books, [1])
    with post_office() as (_, server):
        mail_sending.send(bureau.books, server)
    assert refused(bureau, outbox.retry, [1]) == f"{NAMED} was sent: nothing was changed"
    assert refused(bureau, outbox.cancel, [1]) == f"{NAMED} was sent: nothing was changed"


def test_a_folder_that_is_not_there_is_refused(bureau: Desk, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no file or folder"):
        held_addresses.read_bounces(bureau.books, tmp_path / "none")
