"""The letters that were sent to a reader: listed, made again as PDF, and nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    letter_documents,
    reader_cancelling,
    reader_documents,
    reader_home,
    renewal_letters,
    renewals,
)
from masthead.errors import NotFound
from masthead.store.billing import reader_letters
from tests.billing.bureau import TODAY
from tests.documents.shown import lines_of
from tests.readers_books.household import ADA, BEN, CORA, DAN, EVE, of, reader, refused, undo_newest
from tests.store.conftest import ON_POSTGRESQL

if TYPE_CHECKING:
    from masthead.store.billing.reader_letters import SentKind, SentLetter
    from tests.circulation.desk import Desk

EVERYBODY = ADA, BEN, CORA, DAN, EVE


@pytest.fixture
def household(household: Desk) -> Desk:
    """Letters of all kinds were sent today, an announcement to Ben."""
    renewals.set_effort(household.books, renewals.Effort(1, 1, 12, bundle_id=1))
    renewal_letters.send(household.books)
    letter_documents.send(household.books, "welcome")
    letter_documents.send(household.books, "cancellation")
    announce(household)
    return household


def announce(desk: Desk) -> None:
    """Announce the automatic renewal of Ben's subscription."""
    ((term,),) = desk.rows(
        "SELECT min(term_id) FROM terms WHERE account_id = :account_id AND subscription_id = :key",
        key=of(desk).ben,
    )
    of_ben = {"subscription_id": of(desk).ben, "bundle_id": 1, "consent_id": 1}
    desk.put("renewal_consents", **of_ben, subscriber_id=BEN, given_on=TODAY)
    desk.put(
        "announced_renewals",
        **of_ben,
        announcement_id=1,
        term_id=term,
        price=1200,
        tax=84,
        announced_on=TODAY,
        renews_on="2026-06-01",
        status="announced",
    )


def sent_to(desk: Desk, subscriber_id: int) -> dict[str, SentLetter]:
    """Return the letters of a reader's first page by kind; all are of today."""
    books = reader(desk, subscriber_id)
    found = reader_home.first_page(books, subscriber_id, requests_max=1).sent
    assert {each.written_on for each in found} <= {TODAY}
    return {each.kind: each for each in found}


def kinds(desk: Desk, subscriber_id: int, *, with_pdf: bool) -> set[str]:
    letters = sent_to(desk, subscriber_id)
    return {kind for kind, each in letters.items() if bool(each.is_current) is with_pdf}


def lines(desk: Desk, subscriber_id: int, letter: SentLetter) -> list[str]:
    books = reader(desk, subscriber_id)
    made = reader_documents.letter(books, subscriber_id, [letter.kind], letter.key, letter.effort)
    return lines_of(made.pdf())


def test_each_reader_finds_the_letters_that_were_sent_to_them(household: Desk) -> None:
    """decisions, "Letters that readers open": those about gifts are listed, without a PDF."""
    with_pdf = {each: kinds(household, each, with_pdf=True) for each in EVERYBODY}
    assert with_pdf == {
        ADA: {"welcome", "renewal"},
        BEN: {"welcome", "renewal", "announcement"},
        CORA: set(),
        DAN: set(),
        EVE: {"cancellation"},
    }
    listed = {each: kinds(household, each, with_pdf=False) for each in EVERYBODY}
    assert listed == {ADA: set(), BEN: set(), CORA: {"renewal"}, DAN: {"welcome"}, EVE: set()}


def test_a_letter_is_made_again_as_the_publisher_does(household: Desk) -> None:
    """decisions, "Letters that readers open"."""
    found = sent_to(household, BEN)
    for kind in ("welcome", "renewal"):
        assert "Dear Ben Ames," in lines(household, BEN, found[kind])
    assert "Ben Ames" in " ".join(lines(household, BEN, found["announcement"]))
    all_of_day = lines_of(letter_documents.together(household.books, "cancellation", TODAY))
    assert lines(household, EVE, sent_to(household, EVE)["cancellation"]) == all_of_day


def test_a_letter_has_the_day_on_which_it_was_sent(household: Desk) -> None:
    before = lines(household, BEN, sent_to(household, BEN)["welcome"])
    household.to("2026-04-17")
    assert lines(household, BEN, sent_to(household, BEN)["welcome"]) == before


KINDS: list[SentKind] = ["welcome", "cancellation", "renewal", "announcement"]


@pytest.mark.parametrize("kind", KINDS)
def test_another_readers_letter_is_answered_as_an_unknown_one(
    household: Desk, kind: SentKind
) -> None:
    whose = EVE if kind == "cancellation" else BEN
    letter = sent_to(household, whose)[kind]
    for other in {*EVERYBODY} - {whose}:
        books = reader(household, other)
        theirs = refused(
            household, reader_documents.letter, books, other, [kind], letter.key, letter.effort
        )
        unknown = refused(household, reader_documents.letter, books, other, [kind], 987, 1)
        assert isinstance(theirs, NotFound)
        assert str(theirs) == str(unknown)


@ON_POSTGRESQL
def test_the_database_does_not_tell_the_role_of_a_reader_of_others_letters(
    household: Desk,
) -> None:
    """decisions, "The role of the readers' pages": the query names another reader."""
    for asking in EVERYBODY:
        with reader(household, asking).read() as reading:
            for other in {*EVERYBODY} - {asking}:
                assert reading.ask(reader_letters.sent(other)) == []


def test_a_cancelling_that_was_taken_back_is_listed_without_a_pdf(household: Desk) -> None:
    household.to("2026-04-17")
    key = of(household).ada
    reader_cancelling.cancel(reader(household, ADA), ADA, key)
    letter_documents.send(household.books, "cancellation")
    books = reader(household, ADA)
    (letter,) = (
        each
        for each in reader_home.first_page(books, ADA, requests_max=1).sent
        if each.kind == "cancellation"
    )
    assert "Dear Ada Ames," in lines(household, ADA, letter)
    undo_newest(household)
    refused(household, reader_documents.letter, books, ADA, ["cancellation"], letter.key)


def test_where_documents_are_switched_off_no_letter_is_shown(household: Desk) -> None:
    letter = sent_to(household, BEN)["welcome"]
    household.put("page_settings", setting_id=1, name="documents", value="no")
    assert sent_to(household, BEN) == {}
    books = reader(household, BEN)
    refused(household, reader_documents.letter, books, BEN, ["welcome"], letter.key)
