"""The letters of reminders as PDF, and the commands (billing, "Reminders", "Documents")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.billing.reminding import Level
from masthead.books import erasure, payer_payments, reminder_documents, reminder_levels, reminders
from masthead.books.payer_payments import Incoming
from tests.billing.bureau import order, refused
from tests.documents.shown import lines_of

if TYPE_CHECKING:
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
