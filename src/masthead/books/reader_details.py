"""A reader's own name and email address, which the reader changes on the readers' pages.

The company is part of an address (``books.reader_addresses``).
"""

import itertools
from typing import NamedTuple

from masthead.books import subscribers
from masthead.books.account import Books
from masthead.books.reader_acts import acting
from masthead.books.reader_links import SentLink
from masthead.books.reader_mails import email_link
from masthead.circulation.reader_rules import check_text, refused
from masthead.errors import BadInput
from masthead.store import reader_sessions
from masthead.store.books import contact_details, moving, reader_changes, reader_logins
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import ReaderChange
from masthead.store.email_links import EmailLink

NAME_MAX = 100
"""The most characters of a first and of a last name that a reader enters."""

_LOOKED_AT = 200
"""How many of the newest changes of a reader are looked at."""


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


def mail_email_link(books: Books, subscriber_id: int, email: str, url: str) -> SentLink | None:
    """Queue the mail with the link ``url`` by which a reader's new address is confirmed.

    Returns None if no mail is queued, such as to an address that is on hold.
    """
    with acting(books, subscriber_id, "address") as act:
        language = books.language
        if email_link(act.change, subscriber_id, email, url, language=language) is None:
            return None
        done = SentLink(subscriber_id)
        act.change.say(done.sentence)
        return done


class NewEmail(NamedTuple):
    """A reader with another email address. The sentence does not have it."""

    subscriber_id: int

    @property
    def sentence(self) -> str:
        """Whose address changed."""
        return subscribers.Edited(f"subscriber {self.subscriber_id}", ["email"]).sentence


def change_email(
    books: Books, subscriber_id: int, link: EmailLink, *, dry_run: bool = False
) -> NewEmail:
    """Give a reader the email address of a link, which shows that mails there arrive.

    The former address, if there is one, and the new one get a mail about it. Raises BadInput if the
    link was used before, and if the login was changed since the link was made.
    """
    with acting(books, subscriber_id, "address", dry_run=dry_run) as act:
        email, former = link.email, act.reader.email
        mark = reader_sessions.mark_of(act.change.connection, books.account_id, subscriber_id)
        if mark != link.mark or any(
            (each.after or {}).get("link") == link.key
            for each in reader_changes.of_reader(act.change, subscriber_id, _LOOKED_AT)
        ):
            raise refused("changed_meanwhile")
        act.confirm("email", None, email=email)
        subscribers.edit(act.books, subscriber_id, {"email": email})
        act.confirm("email", None, email=email)
        act.note("contact", None, {"email": former}, {"email": email, "link": link.key})
        return NewEmail(subscriber_id)


def undo(change: Operation, made: ReaderChange) -> None:
    """Give a reader the former name or email address again.

    A password that the reader set with the address that ends is deleted. Raises BadInput if the
    name or the address was changed since.
    """
    before, after = made.before or {}, made.after or {}
    if "email" in after:
        if contact_details.names_of(change, made.subscriber_id)["email"] != after["email"]:
            raise BadInput("the email address was changed since: it cannot be undone any more")
        contact_details.edit_subscriber(change, made.subscriber_id, {"email": before["email"]})
        newest = reader_changes.of_reader(change, made.subscriber_id, _LOOKED_AT)
        since = itertools.takewhile(
            lambda each: each.reader_change_id > made.reader_change_id, newest
        )
        if any(each.kind == "password" for each in since):
            reader_logins.forget_password(change, made.subscriber_id)
        return
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
