"""What readers ask the desk for, and what they agree to.

Operations of readers raise BadInput with a code of ``circulation.reader_rules.REFUSALS``.
"""

from collections.abc import Collection
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.notes import author_of
from masthead.books.reader_acts import acting
from masthead.circulation.reader_rules import check_text, refused
from masthead.errors import BadInput
from masthead.store import page_settings
from masthead.store.books import reader_requests as stored
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import ReaderChange
from masthead.store.books.reader_home import reader_of
from masthead.store.books.reader_requests import Request

__all__ = [
    "TEXT_MAX",
    "Answered",
    "Asked",
    "Chosen",
    "Purpose",
    "Request",
    "answer",
    "ask_erasure",
    "choose",
    "find",
    "message",
    "of_reader",
    "purposes",
    "undo_consents",
    "waiting",
]

TEXT_MAX = 2_000
"""The most characters of what a reader writes to the desk."""

OPEN_MAX = 20
"""How many requests of a reader can wait for an answer."""


class Asked(NamedTuple):
    """A request that the desk sees now. The sentence has no text, which is personal."""

    reader_request_id: int
    subscriber_id: int
    kind: str

    @property
    def sentence(self) -> str:
        """Who asks for what."""
        what = {"erasure": "asks for erasure", "message": "wrote a message"}[self.kind]
        return f"subscriber {self.subscriber_id} {what} (request {self.reader_request_id})"


class Answered(NamedTuple):
    """A request that a clerk answered."""

    reader_request_id: int
    subscriber_id: int

    @property
    def sentence(self) -> str:
        """Which request was answered."""
        return f"request {self.reader_request_id} of subscriber {self.subscriber_id} was answered"


class Purpose(NamedTuple):
    """A purpose of the publisher, in its words, and when the reader agreed; None: not."""

    name: str
    words: str
    given_at: str | None


class Chosen(NamedTuple):
    """The purposes to which a reader agrees now, and those to which no longer."""

    subscriber_id: int
    given: tuple[str, ...]
    ended: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What the reader agrees to, by the names of the purposes."""
        said = []
        if self.given:
            said.append(f"agrees to {', '.join(self.given)}")
        if self.ended:
            said.append(f"does not agree to {', '.join(self.ended)} any more")
        return f"subscriber {self.subscriber_id} {' and '.join(said) or 'changed nothing'}"


def ask_erasure(
    books: Books, subscriber_id: int, text: str = "", *, dry_run: bool = False
) -> Asked:
    """Ask the desk to erase the reader's data; once asked, it is not asked again."""
    with acting(books, subscriber_id, "erasure", dry_run=dry_run) as act:
        present = act.change.ask(stored.of_reader(subscriber_id, OPEN_MAX))
        for each in present:
            if each.kind == "erasure" and each.answered_at is None:
                return Asked(each.reader_request_id, subscriber_id, "erasure")
        return _ask(act.change, subscriber_id, "erasure", text)


def message(books: Books, subscriber_id: int, text: str, *, dry_run: bool = False) -> Asked:
    """Write to the desk."""
    with acting(books, subscriber_id, "my_data", dry_run=dry_run) as act:
        if not text.strip():
            raise refused("text_missing", field="text")
        return _ask(act.change, subscriber_id, "message", text)


def _ask(change: Operation, subscriber_id: int, kind: str, text: str) -> Asked:
    text = checked_message(text)
    check_open(change, subscriber_id)
    done = Asked(stored.add(change, subscriber_id, kind, text), subscriber_id, kind)
    change.say(done.sentence)
    return done


def check_open(change: Operation, subscriber_id: int) -> None:
    """Raise BadInput if too many requests of a reader wait for an answer."""
    present = change.ask(stored.of_reader(subscriber_id, OPEN_MAX))
    if sum(each.answered_at is None for each in present) >= OPEN_MAX:
        raise refused("asked_enough")


def checked_message(text: str) -> str:
    """Return what a reader wrote, with line breaks of one character. Raises BadInput."""
    text = text.replace("\r\n", "\n").strip()
    check_text(text, "text", TEXT_MAX, has_lines=True)
    return text


def of_reader(books: Books, subscriber_id: int, *, limit: int = OPEN_MAX) -> list[Request]:
    """Return the newest requests of a reader, the newest first."""
    with books.read() as reading:
        return reading.ask(stored.of_reader(subscriber_id, limit))


def waiting(books: Books, *, limit: int = 100) -> list[Request]:
    """Return the requests of all readers that wait for an answer, in the order of asking."""
    with books.read() as reading:
        return stored.open_requests(reading, limit)


def find(books: Books, reader_request_id: int) -> Request:
    """Return a request. Raises NotFound if there is none."""
    with books.read() as reading:
        return stored.find(reading, reader_request_id)


def answer(books: Books, reader_request_id: int, *, dry_run: bool = False) -> Answered:
    """Note that a request was answered, in the name of the books' actor.

    Raises NotFound if there is no such request, BadInput if it was answered before.
    """
    with books.change(dry_run=dry_run) as change:
        found = stored.find(change, reader_request_id)
        if found.answered_at is not None:
            raise BadInput(f"{found.answered_by} answered this on {found.answered_at[:10]}")
        stored.answer(change, reader_request_id, author_of(books))
        done = Answered(reader_request_id, found.subscriber_id)
        change.say(done.sentence)
    return done


def purposes(books: Books, subscriber_id: int) -> list[Purpose]:
    """Return the purposes of the publisher, and to which the reader agreed and when.

    Raises NotFound if there is no such reader.
    """
    with books.read() as reading:
        reader_of(reading, subscriber_id)
        given = {each.purpose: each for each in stored.consents_of(reading, subscriber_id)}
        return [
            Purpose(
                each.name, each.words, given[each.name].given_at if each.name in given else None
            )
            for each in page_settings.settings_of(reading).purposes
        ]


def choose(
    books: Books, subscriber_id: int, names: Collection[str], *, dry_run: bool = False
) -> Chosen:
    """Let the reader agree to the purposes with these names, and to no others."""
    with acting(books, subscriber_id, "my_data", dry_run=dry_run) as act:
        known = [each.name for each in page_settings.settings_of(act.change).purposes]
        if set(names) - set(known):
            raise refused("purpose_unknown", field="purposes")
        present = stored.consents_of(act.change, subscriber_id)
        has = {each.purpose for each in present}
        given = [name for name in known if name in names and name not in has]
        ended = [each for each in present if each.purpose in known and each.purpose not in names]
        done = Chosen(subscriber_id, tuple(given), tuple(each.purpose for each in ended))
        if given or ended:
            ids = [stored.give(act.change, subscriber_id, name) for name in given]
            ended_ids = [each.reader_consent_id for each in ended]
            stored.end(act.change, ended_ids)
            act.note("consents", None, {"ended": ended_ids}, {"given": ids})
            act.change.say(done.sentence)
        return done


def undo_consents(change: Operation, made: ReaderChange) -> None:
    """Take back what a reader agreed to. Raises BadInput if that was changed since."""
    given, ended = (made.after or {})["given"], (made.before or {})["ended"]
    done = stored.end(change, given) + stored.end(change, ended, again=True)
    if done < len(given) + len(ended):
        raise BadInput("the reader changed this since: it cannot be undone any more")
