"""A reader's own name, which the reader changes on the readers' pages.

The company is part of an address (``books.reader_addresses``).
"""

from typing import NamedTuple

from masthead.books import subscribers
from masthead.books.account import Books
from masthead.books.reader_acts import acting
from masthead.circulation.reader_rules import check_text, refused
from masthead.errors import BadInput
from masthead.store.books import contact_details, moving
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import ReaderChange

NAME_MAX = 100
"""The most characters of a first and of a last name that a reader enters."""


class Renamed(NamedTuple):
    """A reader with another name; ``changed`` are the fields, none if the name was so before."""

    subscriber_id: int
    changed: tuple[str, ...]
    labels: int

    @property
    def sentence(self) -> str:
        """Which fields changed, without the name."""
        who = f"subscriber {self.subscriber_id}"
        return subscribers.Edited(who, self.changed, self.labels).sentence


def rename(
    books: Books, subscriber_id: int, first_name: str, last_name: str, *, dry_run: bool = False
) -> Renamed:
    """Change the name of a reader, also on the reader's addresses that have the former name.

    A confirmation goes by mail. Raises BadInput, with a code of
    ``circulation.reader_rules.REFUSALS`` and the ``field``, without any name, for a text that is
    too long or cannot be printed, and if the publisher's pages change no addresses.
    """
    with acting(books, subscriber_id, "address", dry_run=dry_run) as act:
        names = {"first_name": _one_line(first_name), "last_name": _one_line(last_name)}
        for name, text in names.items():
            check_text(text or "", name, NAME_MAX)
        if not any(names.values()):
            raise refused("name_missing", field="last_name")
        former = act.reader.first_name, act.reader.last_name
        before = {
            "first_name": former[0],
            "last_name": former[1],
            "addresses": moving.labelled(act.change, subscriber_id, former),
        }
        edited = subscribers.edit(act.books, subscriber_id, names, labels_too=True)
        if edited.changed:
            act.note("contact", None, before, names)
            called = " ".join(text for text in names.values() if text)
            act.confirm("contact", None, called=called)
        return Renamed(subscriber_id, tuple(edited.changed), edited.labels)


def undo(change: Operation, made: ReaderChange) -> None:
    """Give a reader the former name again. Raises BadInput if the name was changed since."""
    before, after = made.before or {}, made.after or {}
    now = contact_details.names_of(change, made.subscriber_id)
    own = {name: before[name] for name in ("first_name", "last_name")}
    if any(now[name] != after[name] for name in own):
        raise BadInput("the name was changed since: it cannot be undone any more")
    contact_details.edit_subscriber(change, made.subscriber_id, own)
    moving.restore_labels(
        change,
        before["addresses"],
        (after["first_name"], after["last_name"]),
        (own["first_name"], own["last_name"]),
    )


def _one_line(text: str) -> str | None:
    return " ".join(text.split()) or None
