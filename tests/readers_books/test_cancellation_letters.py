"""What a reader cancels is confirmed once: by the mail, or else by a letter on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import letter_documents, letters, mail_sending, reader_cancelling
from tests.billing.outboxes import begin_mail
from tests.mail.servers import post_office
from tests.readers_books.household import BEN, EVE, of, reader

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

TODAY = "2026-05-20"


def on_paper(desk: Desk) -> list[int]:
    """Return for whom a cancellation letter is to be printed now."""
    due = letters.due(desk.books, "cancellation")
    assert not due.mailed
    return [each.recipient.subscriber_id for each in due.printed]


@pytest.fixture
def without_eve(household: Desk) -> Desk:
    """The household, in which Eve's cancelling is confirmed already."""
    assert on_paper(household) == [EVE]
    letter_documents.send(household.books, "cancellation")
    household.to(TODAY)
    return household


def test_a_reader_with_a_confirmation_by_mail_gets_no_letter(without_eve: Desk) -> None:
    """decisions, "One confirmation of a cancelling"."""
    desk = without_eve
    begin_mail(desk)
    reader_cancelling.cancel(reader(desk, BEN), BEN, of(desk).ben)
    assert on_paper(desk) == []
    assert letter_documents.number_of_day(desk.books, "cancellation", TODAY) == 0


def test_a_reader_to_whom_no_mail_goes_gets_the_letter(without_eve: Desk) -> None:
    """decisions, "One confirmation of a cancelling"."""
    desk = without_eve
    reader_cancelling.cancel(reader(desk, BEN), BEN, of(desk).ben)
    assert on_paper(desk) == [BEN]


def test_a_confirmation_that_could_not_be_sent_is_a_letter_of_its_day(without_eve: Desk) -> None:
    """decisions, "One confirmation of a cancelling"."""
    desk = without_eve
    begin_mail(desk)
    desk.connection.change(
        "UPDATE subscribers SET email = 'gone@example.org' WHERE subscriber_id = 2"
    )
    reader_cancelling.cancel(reader(desk, BEN), BEN, of(desk).ben)
    with post_office() as (_, server):
        mail_sending.send(desk.books, server)
    assert letter_documents.number_of_day(desk.books, "cancellation", TODAY) == 1
    assert letter_documents.together(desk.books, "cancellation", TODAY)[:5] == b"%PDF-"


def test_a_cancelling_after_one_that_was_taken_back_is_confirmed_too(without_eve: Desk) -> None:
    desk, key = without_eve, of(without_eve).ben
    begin_mail(desk)
    reader_cancelling.cancel(reader(desk, BEN), BEN, key)
    reader_cancelling.take_back(reader(desk, BEN), BEN, key)
    desk.to("2026-05-21")
    reader_cancelling.cancel(reader(desk, BEN), BEN, key)
    mails = [each["subject"] for each in desk.table("mails")]
    assert mails.count("Your cancellation of Tide") == 2
    assert on_paper(desk) == []
