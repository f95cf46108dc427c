"""Welcome, cancellation and renewal letters from the books (billing, "Documents")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    billing_settings,
    cancelling,
    erasure,
    issues,
    letters,
    renewal_letters,
    renewals,
)
from masthead.circulation.ordering import Item, Person
from masthead.documents.template_files import export_templates
from masthead.errors import BadInput
from masthead.loading.letter_pdfs import (
    copy_letters_of,
    copy_renewals,
    send_renewals,
    write_letters,
)
from tests.billing.bureau import TODAY, order
from tests.documents.shown import lines_of, pages_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk


def _written(desk: Desk, kind: letters.LetterKind, file: Path) -> list[list[str]]:
    """Write the letters that are due; return the lines of each page."""
    _, paths = write_letters(desk.books, kind, file)
    return [page for path in paths for page in pages_of(path.read_bytes())]


def _break(desk: Desk, folder: Path, template: str) -> None:
    """Let the account use templates of which one has an error."""
    export_templates(folder)
    with (folder / template).open("a", encoding="utf-8") as file:
        file.write("#nothing\n")
    billing_settings.set_values(desk.books, {"templates": str(folder)})


def test_a_new_reader_is_welcomed_once(bureau: Desk, tmp_path: Path) -> None:
    order(bureau, 1, is_paid=True)
    (page,) = _written(bureau, "welcome", tmp_path / "one.pdf")
    assert {
        "Welcome to Tide",
        "Dear Ada Ames,",
        "1 Oak",
        "Issues 12",
        "First issue Tide 5, 1 May 2026",
        "Lasts until 30 April 2027",
        "Your code CODE1",
        "Date 15 April 2026",
    } <= set(page)
    assert _written(bureau, "welcome", tmp_path / "two.pdf") == []
    assert not (tmp_path / "two.pdf").exists()
    ((written,),) = [[row] for row in bureau.table("letters")]
    assert (written["kind"], written["subscriber_id"], written["written_on"]) == (
        "welcome",
        1,
        TODAY,
    )
    order(bureau, 2)
    (page,) = _written(bureau, "welcome", tmp_path / "three.pdf")
    assert "Dear Ben Ames," in page


def test_the_letters_of_a_day_are_written_again_with_the_same_bytes(
    bureau: Desk, tmp_path: Path
) -> None:
    order(bureau, 1)
    write_letters(bureau.books, "welcome", tmp_path / "one.pdf")
    copy_letters_of(bureau.books, "welcome", tmp_path / "again.pdf", TODAY)
    assert (tmp_path / "again.pdf").read_bytes() == (tmp_path / "one.pdf").read_bytes()
    assert len(bureau.table("letters")) == 1
    found, paths = copy_letters_of(bureau.books, "welcome", tmp_path / "none.pdf", "2026-04-14")
    assert (found.printed, paths) == ([], [])


def test_a_gift_names_the_payer_and_goes_to_the_reader(bureau: Desk, tmp_path: Path) -> None:
    order(bureau, 1, Item(bundle_id=1, recipient=Person(subscriber_id=2)))
    (page,) = _written(bureau, "welcome", tmp_path / "gift.pdf")
    assert "Dear Ben Ames," in page
    assert any(line.startswith("Ada Ames gives you a subscription to Tide") for line in page)
    cancelling.cancel(bureau.books, 1, refund=False)
    (page,) = _written(bureau, "cancellation", tmp_path / "end.pdf")
    assert {"Dear Ada Ames,", "Reader Ben Ames"} <= set(page)


def test_an_old_subscription_is_not_welcomed(bureau: Desk, tmp_path: Path) -> None:
    order(bureau, 1)
    bureau.to("2026-05-16")
    assert _written(bureau, "welcome", tmp_path / "late.pdf") == []
    found = letters.due(bureau.books, "welcome", since="2026-04-15")
    assert [each.subscription_id for each in found.printed] == [1]
    with pytest.raises(BadInput, match="2026-05-17"):
        letters.due(bureau.books, "welcome", since="2026-05-17")


def test_a_cancelling_is_confirmed_with_what_is_paid_back(bureau: Desk, tmp_path: Path) -> None:
    order(bureau, 1, is_paid=True)
    done = cancelling.cancel(bureau.books, 1, refund=True)
    assert _written(bureau, "welcome", tmp_path / "welcome.pdf") == []
    (page,) = _written(bureau, "cancellation", tmp_path / "one.pdf")
    assert {
        "Your subscription to Tide",
        "Ended on 15 April 2026",
        "We pay back $12.84",
        f"Credit note {done.credit_notes[0]}",
    } <= set(page)
    assert _written(bureau, "cancellation", tmp_path / "two.pdf") == []


def test_a_cancelling_that_waits_is_confirmed_once_and_says_what_still_comes(
    bureau: Desk, tmp_path: Path
) -> None:
    order(bureau, 1, is_paid=True)
    cancelling.cancel(bureau.books, 1, refund=True, after_issue=6)
    order(bureau, 2, is_paid=True)
    cancelling.cancel(bureau.books, 2, refund=False, at_end=True)
    first, second = _written(bureau, "cancellation", tmp_path / "one.pdf")
    assert "Last issue Tide 6, 1 June 2026" in first
    assert "We pay back" not in " ".join(first)
    assert {"Issues to come 12", "Lasts until 30 April 2027"} <= set(second)
    issues.close(bureau.books, 5)
    bureau.to("2026-05-20")
    issues.close(bureau.books, 6)
    assert bureau.subscription(1)["cancelled_on"] == "2026-05-20"
    assert letters.due(bureau.books, "cancellation", since="2026-04-01").printed == []


def test_a_second_cancelling_on_a_later_day_is_confirmed_again(
    bureau: Desk, tmp_path: Path
) -> None:
    order(bureau, 1)
    cancelling.cancel(bureau.books, 1, refund=False, at_end=True)
    assert len(_written(bureau, "cancellation", tmp_path / "one.pdf")) == 1
    cancelling.uncancel(bureau.books, 1)
    assert _written(bureau, "cancellation", tmp_path / "none.pdf") == []
    bureau.to("2026-04-16")
    cancelling.cancel(bureau.books, 1, refund=False, at_end=True)
    assert len(_written(bureau, "cancellation", tmp_path / "two.pdf")) == 1


def test_an_error_of_a_template_stops_before_a_letter_is_noted(
    bureau: Desk, tmp_path: Path
) -> None:
    """decisions, "When a letter is noted"."""
    order(bureau, 1)
    _break(bureau, tmp_path / "templates", "welcome.typ")
    before = bureau.everything()
    with pytest.raises(BadInput, match=r"welcome\.typ, line \d+: unknown variable: nothing"):
        write_letters(bureau.books, "welcome", tmp_path / "one.pdf")
    assert bureau.everything() == before
    assert [path.name for path in tmp_path.iterdir()] == ["templates"]


def test_what_another_command_wrote_meanwhile_is_not_noted_again(bureau: Desk) -> None:
    order(bureau, 1)
    found = letters.due(bureau.books, "welcome")
    letters.note_written(bureau.books, found)
    with pytest.raises(BadInput, match="some welcome letters are not due any more, and nothing"):
        letters.note_written(bureau.books, found)
    assert len(bureau.table("letters")) == 1


def test_readers_who_want_e_mail_get_it_and_no_paper(bureau: Desk, tmp_path: Path) -> None:
    """billing, "E-mail": queued in the operation's transaction."""
    order(bureau, 1)
    order(bureau, 2)
    bureau.put("payer_details", subscriber_id=1, by_email=1)
    billing_settings.set_values(bureau.books, {"mail_from": "abo@tide.example"})
    (page,) = _written(bureau, "welcome", tmp_path / "one.pdf")
    assert "Dear Ben Ames," in page
    (mail,) = (each for each in bureau.table("mails") if each["kind"] == "welcome")
    assert (mail["address"], mail["subject"], mail["subscription_id"]) == (
        "ada@example.org",
        "Welcome to Tide",
        1,
    )
    assert "The first issue is Tide 5." in mail["text"]
    assert sorted((row["subscriber_id"], row["by_email"]) for row in bureau.table("letters")) == [
        (1, 1),
        (2, 0),
    ]
    copied, _ = copy_letters_of(bureau.books, "welcome", tmp_path / "again.pdf", TODAY)
    assert [each.recipient.name for each in copied.printed] == ["Ben Ames"]


def test_a_reader_without_an_address_is_named_and_left_out(bureau: Desk) -> None:
    order(bureau, 1)
    with bureau.store.writer() as database, database.transaction():
        database.change(
            "UPDATE subscriptions SET mailing_address_id = NULL, billing_address_id = NULL "
            "WHERE account_id = :account_id",
            account_id=bureau.account_id,
        )
    found = letters.due(bureau.books, "welcome")
    assert (found.printed, found.without_address) == ([], [1])
    letters.note_written(bureau.books, found)
    assert bureau.table("letters") == []


def test_an_erased_reader_gets_no_letter(bureau: Desk) -> None:
    order(bureau, 1, is_paid=True)
    erasure.erase(bureau.books, 1, "refund")
    for kind in ("welcome", "cancellation"):
        assert letters.due(bureau.books, kind).printed == []


def test_renewal_letters_are_printed_and_noted_together(bureau: Desk, tmp_path: Path) -> None:
    order(bureau, 1, is_paid=True)
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 12, bundle_id=1, key_code="K1"))
    assert copy_renewals(bureau.books, tmp_path / "preview.pdf").due == [renewals.Due(1, 1, 1)]
    assert bureau.table("renewals_sent") == []
    assert send_renewals(bureau.books, tmp_path / "one.pdf").due == [renewals.Due(1, 1, 1)]
    shown = lines_of((tmp_path / "one.pdf").read_bytes())
    assert {"Offer Tide for a year", "Price $12.84, of which VAT $0.84", "Offer code K1"} <= set(
        shown
    )
    assert (tmp_path / "preview.pdf").read_bytes() == (tmp_path / "one.pdf").read_bytes()
    assert len(bureau.table("renewals_sent")) == 1
    assert send_renewals(bureau.books, tmp_path / "none.pdf").due == []
    assert not (tmp_path / "none.pdf").exists()
    copy_renewals(bureau.books, tmp_path / "again.pdf", sent_on=TODAY)
    assert (tmp_path / "again.pdf").read_bytes() == (tmp_path / "one.pdf").read_bytes()


def test_renewal_letters_with_an_error_stay_due(bureau: Desk, tmp_path: Path) -> None:
    order(bureau, 1, is_paid=True)
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 12))
    _break(bureau, tmp_path / "templates", "renewal_letter.typ")
    with pytest.raises(BadInput, match=r"renewal_letter\.typ, line \d+"):
        send_renewals(bureau.books, tmp_path / "one.pdf")
    assert bureau.table("renewals_sent") == []
    assert renewals.due(bureau.books) == [renewals.Due(1, 1, 1)]


def test_renewal_letters_that_changed_while_they_were_printed_are_not_noted(
    bureau: Desk, tmp_path: Path
) -> None:
    order(bureau, 1, is_paid=True)
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 12))
    with renewal_letters.selected(bureau.books) as found:
        list(found.letters)
    order(bureau, 2, is_paid=True)
    with pytest.raises(BadInput, match="the letters that are due changed while they were printed"):
        renewal_letters.note_sent(bureau.books, None, found.digest())
    assert bureau.table("renewals_sent") == []


def test_a_reader_who_wants_e_mail_gets_the_renewal_letter_so(bureau: Desk, tmp_path: Path) -> None:
    order(bureau, 1, is_paid=True)
    order(bureau, 2, is_paid=True)
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 12, bundle_id=1, key_code="K1"))
    bureau.put("payer_details", subscriber_id=1, by_email=1)
    settings = {"mail_from": "abo@tide.example", "seller_iban": "DE89370400440532013000"}
    billing_settings.set_values(bureau.books, settings)
    assert send_renewals(bureau.books, tmp_path / "one.pdf") == ([renewals.Due(1, 1, 2)], 1)
    (page,) = pages_of((tmp_path / "one.pdf").read_bytes())
    assert "Dear Ben Ames," in page
    (mail,) = (each for each in bureau.table("mails") if each["kind"] == "renewal")
    assert mail["address"] == "ada@example.org"
    assert mail["text"].splitlines()[2:6] == [
        "your subscription to Tide has 12 issues left.",
        "This renews it: Tide for a year, 12.84 USD.",
        "To renew it, answer this mail.",
        "Or transfer 12.84 USD to DE89 3704 0044 0532 0130 00, with the reference 1 CODE1 K1.",
    ]
    assert len(bureau.table("renewals_sent")) == 2
