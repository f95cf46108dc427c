"""The letters of reminders as PDF, and the commands (billing, "Reminders", "Documents")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from masthead.billing import reminder_mails
from masthead.billing.mail_texts import MailWords
from masthead.billing.printed import from_json
from masthead.billing.printed_reminders import PrintedReminder
from masthead.billing.reminding import Level
from masthead.books import (
    billing_settings,
    erasure,
    payer_payments,
    reminder_documents,
    reminder_levels,
    reminders,
)
from masthead.books.payer_payments import Incoming
from masthead.documents.letter_samples import samples
from masthead.documents.template_files import export_templates
from tests.billing.bureau import order, refused
from tests.billing.outboxes import begin_mail
from tests.documents.shown import lines_of

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.books import Books
    from tests.circulation.desk import Desk

DAY = "2026-05-09"


def _reminded(desk: Desk) -> None:
    """Remind Ada, who owes all, and Ben, who owes a part and has a fee, on a day."""
    reminder_levels.set_level(desk.books, Level(1, 10, 350, "stop", None))
    order(desk)
    order(desk, 2)
    desk.to("2026-05-02")
    payer_payments.add(desk.books, Incoming(1000, "2026-05-01"), subscriber_id=2)
    desk.to(DAY)
    reminders.send(desk.books)


def test_the_letters_of_a_day_have_the_same_bytes_later(bureau: Desk) -> None:
    _reminded(bureau)
    made = list(reminder_documents.letters(bureau.books))
    assert [each.number for each in made] == ["2026-000001-1", "2026-000002-1"]
    assert "Ada Ames" in lines_of(made[0].pdf)
    ben = " ".join(lines_of(made[1].pdf))
    for words in ("2026-000002", "2.84", "3.50", "2026-000004", "until 1 May 2026"):
        assert words in ben
    bureau.to("2026-06-20")
    payer_payments.add(bureau.books, Incoming(284), subscriber_id=2)
    assert list(reminder_documents.letters(bureau.books, DAY)) == made


def test_the_letter_of_an_erased_payer_is_not_written(bureau: Desk) -> None:
    _reminded(bureau)
    erasure.erase(bureau.books, 1, "earn", leave_traces=True)
    assert [each.number for each in reminder_documents.letters(bureau.books)] == ["2026-000002-1"]


def test_a_day_has_its_own_letters(bureau: Desk) -> None:
    _reminded(bureau)

    def write(books: Books, day: str) -> None:
        assert list(reminder_documents.letters(books, day)) == []

    write(bureau.books, "2026-05-08")
    assert (
        refused(bureau, write, "2026-05-10") == "2026-05-10 is still to come; today is 2026-05-09"
    )


def test_a_payer_who_wants_mails_gets_the_letter_by_mail(bureau: Desk) -> None:
    begin_mail(bureau, 2)
    _reminded(bureau)
    (mail,) = [row for row in bureau.table("mails") if row["kind"] == "reminder"]
    (reminder,) = [row for row in bureau.table("reminders") if row["subscriber_id"] == 2]
    assert (mail["reminder_id"], mail["address"]) == (reminder["reminder_id"], "ben@example.org")
    assert mail["subject"] == "Reminder from Tide Press"
    assert mail["text"].splitlines()[:5] == [
        "Good day Ben Ames,",
        "",
        "attached is a reminder of what is open: 3.50 USD. Please pay by 16 May 2026.",
        "What is not paid has ended: we send no more issues, and its price is taken off.",
        "Please pay with the reference RF15 2026 0000 02.",
    ]
    assert "  2026-000002 of 15 April 2026: 2.84 USD" in mail["text"]
    assert reminder_mails.words_of(from_json(reminder["printed"], PrintedReminder)) == MailWords(
        mail["subject"], mail["text"]
    )


def test_a_letter_that_goes_by_mail_is_printed_only_if_the_mail_failed(bureau: Desk) -> None:
    begin_mail(bureau, 2)
    _reminded(bureau)
    assert [each.number for each in reminder_documents.letters(bureau.books)] == ["2026-000001-1"]
    assert reminders.letter_days(bureau.books) == [(DAY, 1)]
    bureau.rows(
        "UPDATE mails SET status = 'failed' WHERE account_id = :account_id "
        "AND kind = 'reminder' RETURNING mail_id"
    )
    found = [each.number for each in reminder_documents.letters(bureau.books)]
    assert found == ["2026-000001-1", "2026-000002-1"]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("then_do", ["nothing", "stop"])
def test_the_words_of_a_reminder_say_only_what_it_asks_for(language: str, then_do: str) -> None:
    """The samples of documents, in both languages, and with nothing left to pay."""
    sample = dict(samples())[f"reminder-{language}"]
    assert isinstance(sample, PrintedReminder)
    printed = msgspec.structs.replace(sample, then_do=then_do)
    words = reminder_mails.words_of(printed)
    assert "\n" not in words.subject
    assert "{" not in words.text
    iban = "DE02 1203 0000 0000 2020 51"
    assert iban in words.text
    settled = msgspec.structs.replace(printed, credit=printed.due + printed.credit)
    assert iban not in reminder_mails.words_of(settled).text


def test_an_error_of_a_template_stops_before_anything_is_recorded(
    bureau: Desk, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    export_templates(folder)
    template = folder / "reminder.typ"
    lines = template.read_text(encoding="utf-8").splitlines()
    template.write_text("\n".join([lines[0], "#nonsense", *lines[1:]]), encoding="utf-8")
    billing_settings.set_values(bureau.books, {"templates": str(folder)})
    reminder_levels.set_level(bureau.books, Level(1, 10, 350, "nothing", None))
    order(bureau)
    bureau.to(DAY)
    assert "reminder.typ, line 2" in refused(bureau, reminders.send)
