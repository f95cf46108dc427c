"""The letters of a day in one PDF, and noting welcome and cancellation letters before it is made.

A letter of a day is on paper unless it goes by email; one whose mail failed is on paper again
(billing, "Documents"). It has the names and addresses of today.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Literal, NamedTuple, get_args

from masthead.books import announcement_letters, letters, renewal_letters
from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.books.letters import LetterKind, Written
from masthead.books.own_templates import check_template
from masthead.contract.printable import counted, listed
from masthead.documents.kinds import Printed
from masthead.documents.rendering import LETTERS_AT_ONCE, Appearance, Renderer
from masthead.errors import BadInput, NotFound
from masthead.store import audit
from masthead.store.billing import announcements_printed
from masthead.store.billing import letters as stored
from masthead.store.books import renewing

__all__ = ["KINDS", "TOGETHER", "Counts", "Kind", "counts", "number_of_day", "send", "together"]

Kind = Literal["welcome", "cancellation", "renewal", "announcement"]
"""The kinds of letters that are printed by their day."""

KINDS: tuple[Kind, ...] = get_args(Kind)
TOGETHER = LETTERS_AT_ONCE
"""The most letters in one PDF (decisions, "Many letters in one PDF")."""


class Counts(NamedTuple):
    """How many letters of a kind are due: on paper, by email, and those without an address.

    ``digest`` is that of the letters, by which :func:`send` knows them.
    """

    kind: LetterKind
    printed: int
    mailed: int
    without_address: int
    digest: str

    @property
    def sentence(self) -> str:
        """What is due; '' if nothing is."""
        ways = ((self.printed, "on paper"), (self.mailed, "by email"))
        said = [f"{counted(each, f'{self.kind} letter')} {way}" for each, way in ways if each]
        return listed(said) if said else ""


def counts(books: Books, *, since: str | None = None) -> list[Counts]:
    """Return how many welcome and cancellation letters are due.

    Raises what ``letters.due`` does.
    """
    return [_counts(letters.due(books, kind, since=since)) for kind in get_args(LetterKind)]


def _counts(due: letters.Due) -> Counts:
    ways = (
        [each.subscription_id for each in due.printed],
        [each.subscription_id for each, _ in due.mailed],
    )
    digest = hashlib.sha256(repr(ways).encode()).hexdigest()
    printed, mailed = map(len, ways)
    return Counts(due.kind, printed, mailed, len(due.without_address), digest)


def send(
    books: Books, kind: LetterKind, *, seen: str | None = None, dry_run: bool = False
) -> Written:
    """Note the letters of a kind that are due as written, and queue those that go by email.

    The others are printed afterwards, by their day (:func:`together`). Raises what ``letters.due``
    does, and BadInput if others are due than those of whom ``seen`` is the digest, and for an error
    of the account's own template, with its file and line.
    """
    check_template(books, kind)
    due = letters.due(books, kind)
    if seen not in {None, _counts(due).digest}:
        raise BadInput("other letters are due now: look at them once more")
    return letters.note_written(books, due, dry_run=dry_run)


def number_of_day(books: Books, kind: Kind, day: str) -> int:
    """Return how many letters of a day are on paper. Raises BadInput if the day is to come."""
    with books.scan() as reading:
        check_past_day(day, reading.today)
        if kind == "renewal":
            return renewing.count_on_paper(reading, day)
        if kind == "announcement":
            return announcements_printed.count_of_day(reading, day)
        return stored.count_of_day(reading, kind, day)


def together(books: Books, kind: Kind, day: str, part: int = 1) -> bytes:
    """Return letters of a day in one PDF: the first 100, or a later part of as many.

    The audit log records the reading. Raises NotFound if there is no letter in this part, BadInput
    for a day to come, if the settings have no name or no address of the seller, and for an error
    of a template, with its file and line.
    """
    with _of_day(books, kind, day) as (found, appearance):
        own = [*islice(found, (part - 1) * TOGETHER, part * TOGETHER)] if part > 0 else []
    if not own:
        raise NotFound(f"there are no {kind} letters of this day on paper")
    audit.record_reading(
        books.store,
        books.actor,
        f"{counted(len(own), f'{kind} letter')} of {day} {'was' if len(own) == 1 else 'were'} "
        "printed",
        account_id=books.account_id,
    )
    with Renderer(appearance) as renderer:
        return renderer.together(own)


@contextmanager
def _of_day(books: Books, kind: Kind, day: str) -> Iterator[tuple[Iterator[Printed], Appearance]]:
    if kind == "renewal":
        with renewal_letters.selected(books, sent_on=day) as renewals:
            yield renewals.letters, renewals.appearance
    elif kind == "announcement":
        with announcement_letters.selected(books, day) as announced:
            yield announced.letters, announced.appearance
    else:
        due = letters.of_day(books, kind, day)
        yield iter(due.printed), due.appearance
