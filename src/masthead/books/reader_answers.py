"""The questionnaire of a reader: the publisher's custom fields, and the reader's answers.

An answer that a reader gives has the day on which it was given.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.reader_acts import acting
from masthead.circulation.qualifying import IN_WORDS, SEVERAL, TEXT_MAX, shown
from masthead.circulation.reader_rules import check_text, refused
from masthead.contract.shapes import CustomFieldDefinition, CustomFieldOption, fields_of
from masthead.errors import BadInput
from masthead.store import interface_queries
from masthead.store.books import reader_answers as stored
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.reader_changes import ReaderChange
from masthead.store.books.reader_home import reader_of

_FIELD = [field.name for field in fields_of(CustomFieldDefinition)]
_OPTION = [field.name for field in fields_of(CustomFieldOption)]


class Option(NamedTuple):
    """A preset answer, in the words of the publisher."""

    option_id: int
    words: str


class Question(NamedTuple):
    """A question, and what the reader answered.

    ``type`` is checkbox (several options), select, radio, text or textarea. ``allows_other``: the
    reader can answer in other words, which are in ``text``. ``answered_on`` is None if the answer
    was not given on the readers' pages.
    """

    field_id: int
    words: str
    type: str
    options: tuple[Option, ...]
    allows_other: bool
    chosen: tuple[int, ...]
    text: str
    answered_on: str | None


class Given(NamedTuple):
    """The answer to a question: the ids of options, and words; empty is no answer."""

    options: Collection[int] = ()
    text: str = ""


class Answered(NamedTuple):
    """The questions whose answers changed, by their ids."""

    subscriber_id: int
    fields: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """How many answers changed, without the answers."""
        if not self.fields:
            return f"subscriber {self.subscriber_id} changed no answer"
        listed = ", ".join(map(str, self.fields))
        return f"subscriber {self.subscriber_id} answered the custom fields {listed}"


def questions(books: Books, subscriber_id: int) -> list[Question]:
    """Return the questions with the reader's answers. Raises NotFound if there is no such reader.

    Options that the publisher retired are shown only if the reader has chosen them.
    """
    with books.read() as reading:
        reader_of(reading, subscriber_id)
        return _questions(reading, subscriber_id)


def answer(
    books: Books, subscriber_id: int, given: Mapping[int, Given], *, dry_run: bool = False
) -> Answered:
    """Replace the reader's answers to some questions, by the ids of the fields.

    Raises BadInput, with the ``field`` and the id ``question``, for a question or an option that
    there is not, for several answers where one is possible, and for words where only options are.
    """
    with acting(books, subscriber_id, "questionnaire", dry_run=dry_run) as act:
        known = {each.field_id: each for each in _questions(act.change, subscriber_id)}
        before = stored.stored_answers(act.change, subscriber_id)
        changed: dict[int, dict[str, str | None]] = {}
        for field_id, own in given.items():
            if field_id not in known:
                raise refused("answer_wrong", field="answer", question=field_id)
            new = _checked(known[field_id], own)
            old = before.get(field_id) or {}
            if new != (old.get("option_ids"), old.get("text_value")):
                # An empty one keeps its day, so that no earlier answer comes back by a file.
                changed[field_id] = {
                    "option_ids": new[0],
                    "text_value": new[1],
                    "answered_on": act.change.today,
                }
        done = Answered(subscriber_id, tuple(sorted(changed)))
        if changed:
            stored.write(act.change, subscriber_id, changed)
            act.note(
                "answers",
                None,
                {"answers": {str(key): before.get(key) for key in changed}},
                {"answers": {str(key): value for key, value in changed.items()}},
            )
            act.change.say(done.sentence)
        return done


def undo(change: Operation, made: ReaderChange) -> None:
    """Give the answers of before again. Raises BadInput if they were changed since."""
    now = stored.stored_answers(change, made.subscriber_id)
    before, after = (made.before or {})["answers"], (made.after or {})["answers"]
    if any(now.get(int(key)) != value for key, value in after.items()):
        raise BadInput("the answers were changed since: they cannot be undone any more")
    stored.write(change, made.subscriber_id, {int(key): value for key, value in before.items()})


def _questions(reading: Reading, subscriber_id: int) -> list[Question]:
    days = stored.stored_answers(reading, subscriber_id)
    found = []
    for each in (
        interface_queries.answers_of(reading.connection, reading.account_id, subscriber_id) or []
    ):
        field = dict(zip(_FIELD, each.field, strict=False))
        options = [dict(zip(_OPTION, option, strict=True)) for option in each.options]
        chosen = tuple(int(option[0]) for option in each.chosen)
        own = days.get(int(field["field_id"]), {}) if chosen or each.text_value else {}
        found.append(
            Question(
                int(field["field_id"]),
                shown(field["display_as"], field["name"]),
                str(field["type"]),
                tuple(
                    Option(int(one["option_id"]), shown(one["display_as"], one["value"]))
                    for one in options
                    if one["active"] or int(one["option_id"]) in chosen
                ),
                bool(field["allow_other"]),
                chosen,
                each.text_value or "",
                own.get("answered_on"),
            )
        )
    return found


def _checked(question: Question, given: Given) -> tuple[str | None, str | None]:
    """Return the options and the words of an answer as they are stored."""

    def wrong() -> BadInput:
        return refused("answer_wrong", field="answer", question=question.field_id)

    chosen, text = sorted(set(given.options)), given.text.replace("\r\n", "\n").strip()
    has_lines = question.type == "textarea"
    check_text(text, "answer", TEXT_MAX, has_lines=has_lines, question=question.field_id)
    if set(chosen) - {each.option_id for each in question.options}:
        raise wrong()
    if text and question.type not in IN_WORDS and not question.allows_other:
        raise wrong()
    if len(chosen) + bool(text) > 1 and question.type != SEVERAL:
        raise wrong()
    return "|".join(map(str, chosen)) or None, text or None
