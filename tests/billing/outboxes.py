"""Accounts whose payers want mails, and what their outboxes have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.books import billing_settings

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

MAIL_FROM = "press@example.org"


def begin_mail(desk: Desk, *payers: int, **settings: str) -> None:
    """Let an account send mails, and payers want them."""
    billing_settings.set_values(
        desk.books, {"mail_from": MAIL_FROM, "mail_sending": "yes", **settings}
    )
    for payer in payers:
        desk.put("payer_details", subscriber_id=payer, by_email=1)


def outbox(desk: Desk, *columns: str) -> list[tuple[Any, ...]]:
    """Return columns of all mails, by their ids."""
    return [tuple(mail[each] for each in columns) for mail in desk.table("mails")]
