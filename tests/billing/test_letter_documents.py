"""The letters of a day as one PDF, and letters that are noted before it is made (billing)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import billing_settings, cancelling, letter_documents, renewal_letters, renewals
from masthead.books.letter_documents import TOGETHER, number_of_day, together
from masthead.documents.template_files import export_templates
from masthead.errors import BadInput, NotFound
from tests.billing.bureau import TODAY, order
from tests.billing.outboxes import begin_mail, outbox
from tests.billing.renewing import ANNOUNCED, night, reader, sell_two_issues
from tests.documents.shown import pages_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from masthead.books.account import Books
    from masthead.books.letter_documents import Counts, Kind
    from tests.circulation.desk import Desk


def pages(desk: Desk, kind: Kind, day: str = TODAY) -> list[list[str]]:
    """Return the lines of each letter of a day; their number is the one that is said."""
    found = pages_of(together(desk.books, kind, day))
    assert number_of_day(desk.books, kind, day) == len(found)
    return found


def due(desk: Desk) -> list[Counts]:
    return letter_documents.counts(desk.books)


def fail(desk: Desk) -> None:
    """Let all mails fail."""
    desk.connection.change(
        "UPDATE mails SET status = 'failed' WHERE account_id = :account_id",
        account_id=desk.account_id,
    )


def test_letters_are_noted_once_and_printed_by_their_day(bureau: Desk) -> None:
    """decisions, "Letters that the console notes": what failed is on paper after all."""
    begin_mail(bureau, 2)
    order(bureau, 1)
    order(bureau, 2)
    welcome, cancelled = due(bureau)
    assert welcome.sentence == "1 welcome letter on paper and 1 welcome letter by email"
    assert (cancelled.printed, cancelled.mailed, cancelled.sentence) == (0, 0, "")
    assert letter_documents.send(bureau.books, "welcome", seen=welcome.digest).sentence == (
        "1 welcome letter written, 1 more by email"
    )
    assert due(bureau)[0].sentence == ""
    assert letter_documents.send(bureau.books, "welcome").printed == 0
    (page,) = pages(bureau, "welcome")
    assert "Dear Ada Ames," in page
    assert [kind for (kind,) in outbox(bureau, "kind")].count("welcome") == 1
    fail(bureau)
    assert [page[page.index("Welcome to Tide") + 1] for page in pages(bureau, "welcome")] == [
        "Dear Ada Ames,",
        "Dear Ben Ames,",
    ]


def test_letters_in_german(bureau: Desk) -> None:
    order(bureau, 1, is_paid=True)
    cancelling.cancel(bureau.books, 1, refund=False, at_end=True)
    billing_settings.set_values(bureau.books, {"language": "de"})
    letter_documents.send(bureau.books, "cancellation")
    (page,) = pages(bureau, "cancellation")
    assert {"Ihr Abonnement Tide", "Guten Tag Ada Ames,"} <= set(page)


def test_others_than_those_that_were_seen_are_not_noted(bureau: Desk) -> None:
    order(bureau, 1)
    seen, _ = due(bureau)
    order(bureau, 2)
    before = bureau.everything()
    with pytest.raises(BadInput, match="other letters are due now"):
        letter_documents.send(bureau.books, "welcome", seen=seen.digest)
    letter_documents.send(bureau.books, "welcome", dry_run=True)
    assert bureau.everything() == before


def test_renewal_letters_are_noted_first_and_printed_by_their_day(bureau: Desk) -> None:
    """A letter in a file of before the mails is on paper, though its reader wants email now."""
    for payer in (1, 2):
        order(bureau, payer, is_paid=True)
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 12, bundle_id=1))
    with pytest.raises(BadInput, match="other letters are due now"):
        renewal_letters.send(bureau.books, seen=[renewals.Due(1, 1, 1)])
    begin_mail(bureau, 2)
    assert renewal_letters.send(bureau.books, seen=[renewals.Due(1, 1, 2)]) == [
        renewals.Due(1, 1, 2)
    ]
    assert renewals.due(bureau.books) == []
    (page,) = pages(bureau, "renewal")
    assert "Dear Ada Ames," in page
    fail(bureau)
    assert len(pages(bureau, "renewal")) == 2
    begin_mail(bureau, 1)
    assert number_of_day(bureau.books, "renewal", TODAY) == 2


def test_announcements_are_printed_by_their_day(bureau: Desk) -> None:
    sell_two_issues(bureau)
    reader(bureau)
    night(bureau, ANNOUNCED)
    (page,) = pages(bureau, "announcement", ANNOUNCED)
    assert "Dear Ada Ames," in page


def test_a_part_without_letters_is_not_there(bureau: Desk) -> None:
    order(bureau, 1)
    letter_documents.send(bureau.books, "welcome")
    assert TOGETHER == 100
    for part in (0, 2):
        with pytest.raises(NotFound, match="there are no welcome letters of this day"):
            together(bureau.books, "welcome", TODAY, part)
    for kind in letter_documents.KINDS:
        with pytest.raises(BadInput, match="2026-04-16"):
            number_of_day(bureau.books, kind, "2026-04-16")


@pytest.mark.parametrize(
    "send",
    [lambda books: letter_documents.send(books, "welcome"), renewal_letters.send],
    ids=["welcome", "renewal"],
)
def test_an_error_of_a_template_stops_before_a_letter_is_noted(
    bureau: Desk, tmp_path: Path, send: Callable[[Books], object]
) -> None:
    """decisions, "When a letter is noted"."""
    order(bureau, 1, is_paid=True)
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 12))
    export_templates(tmp_path / "own")
    for name in ("welcome.typ", "renewal_letter.typ"):
        with (tmp_path / "own" / name).open("a", encoding="utf-8") as file:
            file.write("#nothing\n")
    billing_settings.set_values(bureau.books, {"templates": str(tmp_path / "own")})
    before = bureau.everything()
    with pytest.raises(BadInput, match=r"\.typ, line \d+: unknown variable: nothing"):
        send(bureau.books)
    assert bureau.everything() == before
