"""What readers changed on their pages, for the desk, and how a clerk undoes it.

A change can be undone until the next issue of its subscription is closed, and while the record is
as the reader left it. A new email address has nothing to do with issues.
"""

from collections.abc import Callable
from typing import NamedTuple

from masthead.books import (
    reader_addresses,
    reader_answers,
    reader_cancelling,
    reader_copies,
    reader_details,
    reader_order_undoing,
    reader_pauses,
    reader_renewing,
    reader_requests,
)
from masthead.books.account import Books
from masthead.books.notes import author_of
from masthead.errors import BadInput
from masthead.store import sign_in_links
from masthead.store.books import reader_changes
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.reader_changes import ReaderChange

__all__ = ["Change", "ReaderChange", "Undone", "find", "of_reader", "undo"]

_SAID = {
    "contact": "changed the name",
    "address": "moved to another address",
    "subscription_address": "sends a subscription to another address",
    "temporary_address": "changed the address for a while",
    "pause": "paused a subscription",
    "resume": "ended a pause",
    "cancel": "cancelled a subscription",
    "uncancel": "took a cancellation back",
    "automatic_renewal": "switched automatic renewal",
    "order": "ordered",
    "missing_copy": "said that a copy is missing",
    "answers": "answered questions",
    "consents": "changed what the reader agrees to",
    "password": "set a password",
}

Undoing = Callable[[Books, Operation, ReaderChange], None]

_UNDOING: dict[str, Undoing] = {
    "contact": lambda _books, change, made: reader_details.undo(change, made),
    "address": lambda _books, change, made: reader_addresses.undo(change, made),
    "subscription_address": lambda _books, change, made: reader_addresses.undo(change, made),
    "temporary_address": lambda _books, change, made: reader_addresses.undo(change, made),
    "pause": lambda _books, change, made: reader_pauses.undo(change, made),
    "resume": lambda _books, change, made: reader_pauses.undo(change, made),
    "cancel": reader_cancelling.undo,
    "uncancel": reader_cancelling.undo,
    "automatic_renewal": reader_renewing.undo,
    "order": reader_order_undoing.undo,
    "missing_copy": lambda books, change, made: reader_copies.undo(change, made, author_of(books)),
    "answers": lambda _books, change, made: reader_answers.undo(change, made),
    "consents": lambda _books, change, made: reader_requests.undo_consents(change, made),
}
"""How changes are undone, by their kind; the others cannot be undone."""


class Change(NamedTuple):
    """A change of a reader: what it was in words, and whether a clerk can undo it.

    ``why_not`` is empty if it can be tried: undoing it still refuses what was changed since.
    """

    made: ReaderChange
    said: str
    why_not: str


class Undone(NamedTuple):
    """A change of a reader that was undone."""

    reader_change_id: int
    subscriber_id: int
    subscription_id: int | None
    kind: str

    @property
    def sentence(self) -> str:
        """Which change was undone."""
        whose = "" if self.subscription_id is None else f", subscription {self.subscription_id}"
        return (
            f"change {self.reader_change_id} of subscriber {self.subscriber_id}{whose} was undone: "
            f"the reader {_SAID[self.kind]}"
        )


def of_reader(books: Books, subscriber_id: int, *, limit: int = 50) -> list[Change]:
    """Return what a reader changed, the newest first, at most ``limit``."""
    with books.read() as reading:
        return [
            Change(each, _said(each), _why_not(reading, each))
            for each in reader_changes.of_reader(reading, subscriber_id, limit)
        ]


def find(books: Books, reader_change_id: int) -> Change:
    """Return a change of a reader. Raises NotFound if there is none."""
    with books.read() as reading:
        made = reader_changes.find(reading, reader_change_id)
        return Change(made, _said(made), _why_not(reading, made))


def undo(books: Books, reader_change_id: int, *, dry_run: bool = False) -> Undone:
    """Undo what a reader changed, in the name of the books' actor.

    Raises NotFound if there is no such change. Raises BadInput if it was undone before, if its kind
    cannot be undone, if an issue of the subscription was closed since, and if the record was
    changed since.
    """
    with books.together(dry_run=dry_run) as inside, inside.change() as change:
        made = reader_changes.find(change, reader_change_id)
        if why_not := _why_not(change, made):
            raise BadInput(why_not)
        _UNDOING[made.kind](inside, change, made)
        reader_changes.mark_undone(change, reader_change_id, author_of(books))
        done = Undone(reader_change_id, made.subscriber_id, made.subscription_id, made.kind)
        change.say(done.sentence)
    if _is_email(made) and not dry_run:
        # Links that were mailed to the address that ended sign in nobody.
        sign_in_links.forget(books.store, books.account_id, made.subscriber_id)
    return done


def _is_email(made: ReaderChange) -> bool:
    return made.kind == "contact" and "email" in (made.after or {})


def _said(made: ReaderChange) -> str:
    after = made.after or {}
    if _is_email(made):
        return f"{'changed the' if (made.before or {}).get('email') else 'gave an'} email address"
    if made.kind == "automatic_renewal":
        return f"switched automatic renewal {'on' if after.get('on') else 'off'}"
    if made.kind in {"pause", "temporary_address"} and "first" in after:
        return f"{_SAID[made.kind]}: {after['first']} to {after['last']}"
    return _SAID[made.kind]


def _why_not(reading: Reading, made: ReaderChange) -> str:
    """Return why a change cannot be undone; '' if it can be tried."""
    if made.undone_at is not None:
        return f"this was undone on {made.undone_at[: len('2026-11-28')]} by {made.undone_by}"
    if made.kind not in _UNDOING:
        return f"that the reader {_SAID[made.kind]} cannot be undone here"
    if made.before is None or made.after is None:
        return "the reader was erased since"
    if _is_email(made):
        return ""
    now = reader_changes.closed_of(reading, made.subscriber_id, made.subscription_id)
    if any(day > made.before["closed"].get(key, "") for key, day in now.items()):
        return "an issue was closed since: it cannot be undone any more"
    return ""
