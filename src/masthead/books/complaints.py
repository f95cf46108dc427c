"""Complaints about an issue, answered when they are made."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from masthead.books import replacements, subscriptions
from masthead.books.account import Books
from masthead.books.notes import author_of, checked
from masthead.circulation.copy_classes import MAKE_GOOD
from masthead.contract.books import ANSWERS, COMPLAINTS
from masthead.errors import BadInput
from masthead.store.books import reader_notes
from masthead.store.books.issue import find_issue
from masthead.store.books.names import subscription_named
from masthead.store.books.reader_notes import Counted, OfIssue
from masthead.store.books.replacements import Received
from masthead.store.books.replacements import received as received_issues
from masthead.store.books.subscription import stored_subscription

__all__ = [
    "ANSWERS",
    "COMPLAINTS",
    "Answer",
    "Answered",
    "Counted",
    "Kind",
    "OfIssue",
    "about",
    "answer",
    "count",
]

Kind = Literal["lost", "damaged", "late", "other"]
"""What was wrong with the copy."""

Answer = Literal["extended", "sent_again", "nothing"]
"""What the reader gets: a free issue at the end, the copies again, or nothing."""

_SAID = {
    "extended": "the subscription is extended by 1 issue",
    "sent_again": "it is sent again",
    "nothing": "nothing was done",
}
_DAYS = 365


class Answered(NamedTuple):
    """A complaint that was added, with its answer. The sentence has no personal text."""

    complaint_id: int
    subscription_id: int
    issue_id: int
    issue: str
    kind: Kind
    answer: Answer

    @property
    def sentence(self) -> str:
        """What was wrong with which issue, and what was done."""
        wrong = "was complained about" if self.kind == "other" else f"was {self.kind}"
        return (
            f"subscription {self.subscription_id}: issue {self.issue_id} ({self.issue}) {wrong} "
            f"(complaint {self.complaint_id}): {_SAID[self.answer]}"
        )


def answer(
    books: Books,
    subscription_id: int,
    issue_id: int,
    kind: Kind,
    answer: Answer,
    text: str = "",
    *,
    dry_run: bool = False,
) -> Answered:
    """Add a complaint about an issue that a subscription received, and do what answers it.

    ``extended`` adds a free issue of the class make-good (:func:`books.subscriptions.extend`),
    ``sent_again`` sends all its copies again (:func:`books.replacements.send_again`). Raises what
    these raise. Raises NotFound if there is no such subscription or issue, BadInput if the
    subscription did not receive the issue, if its reader is deleted, or if the text is too long.
    """
    text = checked(text)
    with books.together(dry_run=dry_run) as inside, inside.change() as change:
        stored_subscription(change.connection, books.account_id, subscription_id)
        found = reader_notes.received(change, subscription_id, issue_id)
        if found is None:
            raise BadInput(
                f"{subscription_named(change, subscription_id)} did not receive "
                f"{find_issue(change, issue_id).title}, so there is no copy to complain about",
                field="issue",
            )
        reader_notes.check_open(change, found.subscriber_id)
        if answer == "extended":
            subscriptions.extend(inside, subscription_id, 1, MAKE_GOOD)
        elif answer == "sent_again":
            replacements.send_again(inside, subscription_id, issue_id, found.copies)
        complaint_id = reader_notes.add_complaint(
            change,
            subscriber_id=found.subscriber_id,
            subscription_id=subscription_id,
            issue_id=issue_id,
            kind=kind,
            answer=answer,
            author=author_of(books),
            text=text or None,
        )
        done = Answered(complaint_id, subscription_id, issue_id, found.name, kind, answer)
        change.say(done.sentence)
    return done


class Complained(NamedTuple):
    """What a form about a complaint shows: the issues that came, and complaints so far."""

    issues: list[Received]
    complaints: int


def received(books: Books, subscription_id: int, *, limit: int = 24) -> Complained:
    """Return the newest issues that a subscription received, and the number of its complaints."""
    with books.read() as reading:
        return Complained(
            received_issues(reading, subscription_id, limit=limit),
            reader_notes.complaints_of(reading, subscription_id),
        )


def count(books: Books, since: str | None = None) -> list[Counted]:
    """Return the number of complaints by issue and kind, newest issues first.

    They are about the issues dated ``since`` or later; by default, those of the last 365 days.
    """
    with books.scan() as reading:
        since = since or (date.fromisoformat(reading.today) - timedelta(_DAYS)).isoformat()
        return reader_notes.count_complaints(reading, since)


def about(books: Books, issue_id: int, *, limit: int = 100) -> list[OfIssue]:
    """Return the newest complaints about an issue, at most ``limit``, the newest first."""
    with books.read() as reading:
        return reader_notes.complaints_about(reading, issue_id, limit)
