"""Forms: the input, its errors, and whether somebody else changed the record meanwhile.

A refused form is shown again with all of its input. A form that changes a record carries, in
``seen``, the record's values when it was opened.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from masthead.circulation.amounts import cents_of
from masthead.contract.moments import is_day
from masthead.errors import BadInput, MastheadError
from masthead.web.words import marked

_ID_MAX = 2**63 - 1
_ID = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"[^\s._]+[._]\w")
_GROUPED = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{3})*|[0-9]+)[.,]([0-9]{1,2})")
_NUMBER = re.compile(r"-?[0-9]{1,30}")
_NOT_AS_SHOWN = "the form was not sent as it was shown: look at it again"


class Form:
    """The values of a form and the errors of its fields; '' stands for the whole form."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)
        self.errors: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        """Return the input of a field; '' if it is empty."""
        return self.values.get(name, "")

    def refuse(self, field: str, sentence: str) -> None:
        """Record an error of a field; only the first error of a field is kept."""
        self.errors.setdefault(field, sentence)

    def sentence(self, error: MastheadError) -> str:
        """Return the message of an error as a sentence."""
        return as_sentence(error)

    def translated(self, text: str) -> str:
        """Return one of this class's own messages in the language of the page."""
        return text

    def _refuse(self, field: str, message: str, **values: object) -> None:
        self.refuse(field, self.translated(message).format(**values))

    @contextmanager
    def refusing(self, field: str = "") -> Iterator[None]:
        """Record an error that the block raises as an error of the field, and leave the block.

        An error that names a wrong argument belongs to the field of that name.
        """
        try:
            yield
        except BadInput as error:
            self.refuse(str(error.values.get("field", field)), self.sentence(error))

    def text(self, name: str, label: str, *, characters_max: int = 255) -> str:
        """Return a text."""
        value = self[name]
        if len(value) > characters_max:
            self._refuse(
                name,
                marked("{label} has {count} characters; {most} fit."),
                label=label,
                count=len(value),
                most=characters_max,
            )
        return value

    def number(
        self, name: str, label: str, *, at_least: int = -_ID_MAX, at_most: int = _ID_MAX
    ) -> int | None:
        """Return a whole number, or None if the field is empty.

        Without limits, it is any number that the database can keep: the operation has the limits.
        """
        value = self[name]
        if not value:
            return None
        if not _NUMBER.fullmatch(value) or abs(int(value)) > _ID_MAX:
            self._refuse(name, marked("{label} is a whole number."), label=label)
            return None
        number = int(value)
        if not at_least <= number <= at_most:
            self._refuse(
                name,
                marked("{label} is a number from {least:,} to {most:,}."),
                label=label,
                least=at_least,
                most=at_most,
            )
            return None
        return number

    def day(self, name: str, label: str) -> str | None:
        """Return a day as ``YYYY-MM-DD``, or None if the field is empty."""
        value = self[name]
        if not value:
            return None
        if not is_day(value):
            self._refuse(name, marked("{label} is a day, such as 2026-11-24."), label=label)
            return None
        return value

    def amount(self, name: str, label: str) -> int | None:
        """Return an amount in cents, or None if the field is empty.

        Spaces do not matter, the decimals follow a point or a comma, and thousands may be
        separated: ``1,234.50``, ``1.234,50`` and ``1234.5`` are the same.
        """
        typed = "".join(self[name].split())
        if not typed:
            return None
        if found := _GROUPED.fullmatch(typed):
            typed = f"{re.sub(r'[.,]', '', found[1])}.{found[2]}"
        try:
            return cents_of(typed)
        except ValueError as error:
            self.refuse(name, f"{label}: {error}.")
            return None

    def choice(self, name: str, label: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices; the first if the field is empty."""
        value = self[name] or choices[0]
        if value not in choices:
            self._refuse(
                name,
                marked("{label} is one of {choices}."),
                label=label,
                choices=", ".join(choices),
            )
        return value

    @property
    def is_good(self) -> bool:
        """Whether the form has no errors."""
        return not self.errors


def id_in(text: str) -> int | None:
    """Return the id that the text contains, or None if it is not an id."""
    return int(text) if _ID.fullmatch(text) else None


class Choices(list[tuple[str, str]]):
    """The values and labels of a choice in a record's state, by field name."""


class Change(NamedTuple):
    """What another operator changed after the form was opened, and what this one typed."""

    field: str
    opened: str
    now: str
    typed: str


class ChangedError(MastheadError):
    """Raised to leave an operation that would now do otherwise than the form has shown."""


class StaleError(MastheadError):
    """Another operator has changed the record since the form was opened."""

    def __init__(self, changes: list[Change]) -> None:
        super().__init__("somebody else has changed this since you opened it")
        self.changes = changes


def seen_of(values: Mapping[str, object]) -> str:
    """Return the record's values as a form carries them in ``seen``."""
    return msgspec.json.encode({name: text_of(value) for name, value in values.items()}).decode()


def take_over(form: Form, values: Mapping[str, object], fields: Collection[str]) -> list[str]:
    """Take over what another operator changed and this one did not; return the fields' names.

    ``values`` are the record's now, ``fields`` the names of those that the operator types. Raises
    StaleError if both changed a field, or if something changed on which the form depends, and
    BadInput for a form that does not carry what it had shown (decisions, "Two operators at one
    record").

    Call it inside the operation that changes the record, so that no other change comes between.
    """
    try:
        seen = msgspec.json.decode(form["seen"] or "{}", type=dict[str, str])
    except msgspec.DecodeError as error:
        raise BadInput(_NOT_AS_SHOWN) from error
    if not values.keys() <= seen.keys():
        raise BadInput(_NOT_AS_SHOWN)
    taken, found = {}, []
    for name, value in values.items():
        opened, now, typed = seen[name], text_of(value), form[name]
        if isinstance(value, Choices):
            opened, now = _label(opened, typed), _label(now, typed)
        if _plain(opened) == _plain(now):
            continue
        is_typed = name in fields and not isinstance(value, Choices)
        if is_typed and _plain(typed) == _plain(opened):
            taken[name] = now
        elif not is_typed or _plain(typed) != _plain(now):
            found.append(Change(name, opened, now, typed))
    form.values.update(taken)
    if found:
        raise StaleError(found)
    return list(taken)


def _label(choices: str, value: str) -> str:
    """Return the label that a value has among the choices in ``seen``; '' if it is none."""
    try:
        labels = dict(msgspec.json.decode(choices, type=list[tuple[str, str]]))
    except msgspec.DecodeError:
        return ""
    return labels.get(value, "")


def _plain(text: str) -> str:
    """Return a text as a form sends it: without spaces at its ends, with one kind of line end."""
    return text.strip().replace("\r\n", "\n")


def text_of(value: object) -> str:
    """Return a value as a field shows it: None and False are empty, True is 1; lists are sorted."""
    match value:
        case None | False:
            return ""
        case True:
            return "1"
        case Choices():
            return msgspec.json.encode(sorted(value)).decode()
        case list() | tuple() | set():
            return ", ".join(sorted(map(text_of, value)))
        case _:
            return str(value)


def as_sentence(said: object) -> str:
    """Return the message of an error or an operation as a sentence.

    The name of a file or a setting at its beginning stays as it is.
    """
    text = str(said).rstrip(".")
    first = text[:1] if _NAME.match(text) else text[:1].upper()
    return f"{first}{text[1:]}."
