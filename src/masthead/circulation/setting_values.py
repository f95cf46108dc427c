"""Settings of an account that are stored as texts: how values are read, and what is said of others.

A dataclass describes settings: each field has its default, and a :class:`Reading` as annotation.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, get_args, get_type_hints

from masthead.circulation.amounts import cents_of
from masthead.errors import BadInput


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


Settings = TypeVar("Settings", bound=_Dataclass)

LOGO_BYTES_MAX = 256 * 1024
"""The most bytes of a logo."""

LOGO = re.compile(r"data:image/(png|jpeg|svg\+xml);base64,(.*)", re.DOTALL)
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

_LOGO_KINDS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".svg": "image/svg+xml",
}
_WORDS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}


class Reading(NamedTuple):
    """A setting's meaning in one line, how its text is read, and how its value is written.

    ``read`` raises BadInput for a bad text, and accepts what ``write`` writes.
    """

    meaning: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str


class Setting(NamedTuple):
    """A setting: its stored name, its meaning, its default as text, and the field's name."""

    name: str
    meaning: str
    default: str
    field: str


class DescribedSettings(Generic[Settings]):
    """The settings that a dataclass describes, ``of`` what, such as ``billing``.

    ``named`` returns the stored name of a field.
    """

    def __init__(
        self, settings: type[Settings], of: str, named: Callable[[str], str] = str
    ) -> None:
        """Read the description of the settings."""
        self._settings = settings
        self._of = of
        self._defaults = settings()
        self._readings: Mapping[str, tuple[str, Reading]] = {
            named(field): (field, get_args(hint)[1])
            for field, hint in get_type_hints(settings, include_extras=True).items()
        }
        self.described: tuple[Setting, ...] = tuple(
            Setting(
                named(field.name),
                self._readings[named(field.name)][1].meaning,
                self._readings[named(field.name)][1].write(field.default),
                field.name,
            )
            for field in fields(settings)
        )

    def stored_text(self, name: str, text: str) -> str:
        """Return the text of a setting as it is stored, such as ``yes`` for ``true``; "" clears it.

        Raises BadInput with the setting's name for a bad value, and for a name that no setting has.
        """
        _, reading = self._reading(name)
        text = text.strip()
        if not text:
            return ""
        try:
            return reading.write(reading.read(text))
        except BadInput as error:
            raise type(error)(f"{name}: {error}", code=error.code, **error.values) from None

    def settings_from(self, stored: Iterable[tuple[str, str]]) -> Settings:
        """Return the settings from names and texts of :meth:`stored_text`, or their defaults.

        Texts were checked when they were stored, so that this needs no packages. Raises BadInput
        for a name that no setting has, and for what should be a number and is none.
        """
        values: dict[str, Any] = {}
        for name, text in stored:
            field, reading = self._reading(name)
            is_text = isinstance(getattr(self._defaults, field), str)
            values[field] = text if is_text else reading.read(text)
        return self._settings(**values)

    def texts_of(self, settings: Settings) -> dict[str, str]:
        """Return the text of each setting by its name, as :meth:`stored_text` returns it."""
        return {
            name: reading.write(getattr(settings, field))
            for name, (field, reading) in self._readings.items()
        }

    def _reading(self, name: str) -> tuple[str, Reading]:
        try:
            return self._readings[name]
        except KeyError:
            near = get_close_matches(name, self._readings, 1)
            raise BadInput(
                f"{self._of} has no setting {name!r}"
                + (f": did you mean {near[0]}?" if near else "")
            ) from None


def text_of(most: int) -> Callable[[str], str]:
    """Return what reads one line of text with at most so many characters."""

    def read(text: str) -> str:
        if len(text) > most:
            raise BadInput(f"{text[:40]!r}… has {len(text)} characters: {most} is the most")
        if not text.isprintable():
            raise BadInput(
                f"{text!r} has characters that cannot be printed: it is one line of text"
            )
        return text

    return read


def one_of(*choices: str) -> Callable[[str], str]:
    """Return what reads one of these words, whatever the case of its letters."""

    def read(text: str) -> str:
        if text.lower() not in choices:
            raise BadInput(f"{text!r} is not one of {', '.join(choices)}")
        return text.lower()

    return read


def matching(pattern: re.Pattern[str], what: str) -> Callable[[str], str]:
    """Return what reads a text of a pattern; ``what`` says what that is."""

    def read(text: str) -> str:
        if not pattern.fullmatch(text):
            raise BadInput(f"{text!r} is not {what}")
        return text

    return read


def days(text: str) -> int:
    """Return a number of days. Raises BadInput for a text that is none from 0 to 365."""
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 365):
        raise BadInput(f"{text!r} is not a number of days from 0 to 365")
    return int(text)


def number(least: int, most: int) -> Callable[[str], int]:
    """Return what reads a whole number between two others."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text[:9]) <= most):
            raise BadInput(f"{text!r} is not a number from {least} to {most}")
        return int(text)

    return read


def cents(text: str) -> int:
    """Return an amount in cents. Raises BadInput for a text that is none."""
    try:
        return cents_of(text)
    except ValueError as error:
        raise BadInput(str(error)) from None


def truth(text: str) -> bool:
    """Return whether a text says yes. Raises BadInput for one that says neither yes nor no."""
    try:
        return _WORDS[text.lower()]
    except KeyError:
        raise BadInput(f"{text!r} is not yes or no") from None


def yes_or_no(value: bool) -> str:
    """Return the word for a truth, as :func:`truth` reads it."""
    return "yes" if value else "no"


def flag(meaning: str) -> Reading:
    """Return the reading of a setting that is yes or no, by its meaning."""
    return Reading(meaning, truth, yes_or_no)


def logo_from(name: str, content: bytes) -> str:
    """Return the data URL of a logo, from the name and the content of its file.

    Raises BadInput for the name of another kind of file; :func:`logo_of` checks the size.
    """
    kind = _LOGO_KINDS.get(PurePath(name).suffix.lower())
    if kind is None:
        raise BadInput(f"{name} is no logo: its name ends with {', '.join(_LOGO_KINDS)}")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def logo_of(text: str) -> str:
    """Return a logo, a data URL. Raises BadInput for another text, or one of too many bytes."""
    found = LOGO.fullmatch(text)
    if not found:
        raise BadInput("a logo is a PNG, JPEG or SVG, as a data URL: data:image/png;base64,…")
    try:
        size = len(base64.b64decode(found[2], validate=True))
    except binascii.Error:
        raise BadInput("the data URL of the logo is not valid Base64") from None
    if size > LOGO_BYTES_MAX:
        raise BadInput(f"the logo has {size:,} bytes: {LOGO_BYTES_MAX:,} is the most")
    return text
