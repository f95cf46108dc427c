"""Notes about readers, and complaints about issues with their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import complaints, erasure, notes, subscribers
from masthead.books.account import Books
from masthead.errors import BadInput, NotFound
from masthead.loading.subscriber_data import subscriber_data
from masthead.store import audit
from masthead.store.audit import Actor
from tests.circulation.two_readers import TODAY, fill

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

WORDS = "Call <b>after</b> six.\n\n  Ask for Zoë"


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The account, filled; both readers received the issues 2 to 4."""
    fill(shared)
    with shared.store.writer() as database, database.transaction():
        database.lock_account(shared.account_id)
        database.change("DELETE FROM audit")
    return shared


def as_user(desk: Desk, name: str) -> Books:
    """Return the books in which another user works."""
    return Books(desk.store, desk.account_id, Actor(name, "console: note"))


def logged(desk: Desk) -> list[str]:
    """Return what the audit log says."""
    with desk.store.writer() as database:
        return [entry.summary for entry in audit.entries(database)]


def test_a_note_has_its_author_and_time_and_the_log_has_no_text(desk: Desk) -> None:
    notes.add(desk.books, 1, WORDS.replace("\n", "\r\n") + "  \r\n")
    (note,) = desk.table("notes")
    assert note == {
        "note_id": 1,
        "subscriber_id": 1,
        "noted_at": f"{TODAY} 12:00:00",
        "author": "ada",
        "text": WORDS,
    }
    assert logged(desk) == ["note 1 of subscriber 1 was added"]


def test_a_note_needs_text_that_fits_and_a_reader_who_is_there(desk: Desk) -> None:
    for text, words in [(" \n", "no text"), ("x" * 10_001, "10,001 characters; 10,000 fit")]:
        with pytest.raises(BadInput, match=words):
            notes.add(desk.books, 1, text)
    with pytest.raises(NotFound, match="no subscriber 99"):
        notes.add(desk.books, 99, "x")
    subscribers.merge(desk.books, 1, 2, keep_both=True)
    with pytest.raises(BadInput, match="Ben Ames was deleted"):
        notes.add(desk.books, 2, "x")
    assert desk.table("notes") == []


def test_authors_correct_their_notes_of_the_day_and_managers_any(desk: Desk) -> None:
    notes.add(desk.books, 1, "wrong")
    notes.correct(desk.books, 1, "right")
    with pytest.raises(BadInput, match="the note is of ada"):
        notes.correct(as_user(desk, "ben"), 1, "stolen")
    desk.to("2026-04-16")
    with pytest.raises(BadInput, match="on the same day"):
        notes.correct(desk.books, 1, "later")
    assert [row["text"] for row in desk.table("notes")] == ["right"]
    notes.correct(as_user(desk, "ben"), 1, "by the manager", of_anybody=True)
    (note,) = desk.table("notes")
    assert (note["author"], note["text"]) == ("ada", "by the manager")


def test_a_complaint_extends_the_subscription_in_one_operation(desk: Desk) -> None:
    before = desk.subscription(1)["issues"]
    done = complaints.answer(desk.books, 1, 4, "lost", "extended", "The box was broken")
    assert desk.subscription(1)["issues"] == before + 1
    (complaint,) = desk.table("complaints")
    assert (complaint["kind"], complaint["answer"]) == ("lost", "extended")
    assert (complaint["subscriber_id"], complaint["subscription_id"]) == (1, 1)
    (said,) = logged(desk)
    assert "subscription 1 got 1 free issue" in said
    assert said.endswith(done.sentence)
    assert "box" not in said


def test_a_complaint_that_cannot_be_answered_leaves_nothing(desk: Desk) -> None:
    subscription = desk.subscription(1)
    with pytest.raises(BadInput, match=r"Tide .* did not receive Tide 5"):
        complaints.answer(desk.books, 1, 5, "late", "nothing")
    with pytest.raises(NotFound, match="no subscription 99"):
        complaints.answer(desk.books, 99, 1, "late", "nothing")
    complaints.answer(desk.books, 1, 4, "lost", "extended", dry_run=True)
    assert desk.table("complaints") == []
    assert desk.subscription(1) == subscription


def test_complaints_are_counted_by_issue_and_kind(desk: Desk) -> None:
    complaints.answer(desk.books, 1, 4, "lost", "extended")
    complaints.answer(desk.books, 1, 4, "late", "nothing")
    complaints.answer(desk.books, 2, 4, "lost", "nothing")
    found = complaints.count(desk.books)
    assert [(each.kind, each.complaints, each.extended) for each in found] == [
        ("late", 1, 0),
        ("lost", 2, 1),
    ]
    assert complaints.count(desk.books, "2026-06-01") == []


def test_merged_readers_keep_the_notes_and_complaints_of_both(desk: Desk) -> None:
    notes.add(desk.books, 2, "of the other")
    complaints.answer(desk.books, 2, 4, "damaged", "nothing")
    subscribers.merge(desk.books, 1, 2)
    assert [row["subscriber_id"] for row in desk.table("notes")] == [1]
    (complaint,) = desk.table("complaints")
    assert (complaint["subscriber_id"], complaint["subscription_id"]) == (1, 1)


def test_erasing_removes_the_texts_for_good_and_the_reader_gets_them_before(desk: Desk) -> None:
    notes.add(desk.books, 1, WORDS)
    complaints.answer(desk.books, 1, 4, "other", "nothing", "Zoë was rude")
    given = subscriber_data(desk.store, desk.account_id, 1)
    assert "Ask for Zoë" in given
    assert "Zoë was rude" in given
    erasure.erase(desk.books, 1, "earn", leave_traces=True)
    assert [row["text"] for row in desk.table("notes")] == [None]
    assert [row["text"] for row in desk.table("complaints")] == [None]
    assert "Zoë" not in subscriber_data(desk.store, desk.account_id, 1)
    with pytest.raises(BadInput, match="was deleted"):
        notes.add(desk.books, 1, "again")
