"""The kinds: the value types of fields and parameters.

A kind parses text (a cell of a file, a parameter of a request), writes stored values to the wire
and reads them from there. It also has a JSON Schema, a column type and a name for the docs. How a
missing value is written is a separate attribute: :class:`Missing`.

Reading accepts more than Masthead writes. Other services with this interface may write a number in
place of a string of digits, or the year zero for a missing date (rules, "Client: reading
generously").
"""

import re
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar

BIGGEST_INTEGER = 2**63 - 1
SMALLEST_INTEGER = -(2**63)
NUMBER_DIGITS_MAX = 15
NUMBER_CHARACTERS_MAX = 1_000
"""This limit includes leading and trailing zeros."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} (?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,9})?")
_DIGEST = re.compile(r"[0-9a-fA-F]{32}")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")
_BOOLEANS = {"true": 1, "1": 1, "false": 0, "0": 0}
_TRUTH = {True: True, "1": True, "true": True, False: False, "0": False, "false": False}
_NO_DATE = ("0000-", "-0001-")
_DIGITS = re.compile(r"-?[0-9]{1,30}")


class Missing(Enum):
    """How a missing value is written on the wire (rules, "Missing values")."""

    NEVER = "never"
    NULL = "null"
    EMPTY = "empty string"
    ABSENT = "key absent"


class Kind:
    """The base of all kinds.

    ``word`` names the kind in the docs, ``column`` is its type in the database. ``when_missing`` is
    what is stored for a missing value, None unless the kind has a default (rules, "Missing
    Bool").
    """

    word: str
    column: ClassVar[str] = "TEXT"
    when_missing: int | str | None = None

    def parse(self, text: str) -> int | str:
        """Return the stored value for a non-empty ``text``.

        Raises ValueError; its message is shown after "<field>: ".
        """
        raise NotImplementedError

    def write(self, name: str) -> str:
        """Return a Python expression for the wire value of the stored value ``name``."""
        return name

    def read(self, value: Any) -> Any:
        """Return the Python value for a decoded JSON value that is not missing.

        JSON numbers are int or Decimal. Raises ValueError, TypeError or ArithmeticError.
        """
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a value on the wire that is not missing."""
        raise NotImplementedError


class Integer(Kind):
    """A 64-bit integer, on the wire a JSON string (decisions, "Integers")."""

    word = "integer, as a string"
    column = "INTEGER"

    def __init__(self, when_missing: int | None = None) -> None:
        self.when_missing = when_missing

    def parse(self, text: str) -> int:
        """Return the number."""
        if not _INTEGER.fullmatch(text):
            raise ValueError("not a whole number: digits only, without leading zeros")
        if len(text) > 20 or not SMALLEST_INTEGER <= (number := int(text)) <= BIGGEST_INTEGER:
            raise ValueError("does not fit into 64 bits")
        return number

    def write(self, name: str) -> str:
        """Return an expression for the decimal digits."""
        return f"str({name})"

    def read(self, value: Any) -> int:
        """Return the number; a JSON number and decimals of zero are accepted too."""
        if value.__class__ is str and _DIGITS.fullmatch(value):
            return int(value)
        number = _decimal(value)
        if number.adjusted() > 30 or number != number.to_integral_value():
            raise ValueError("not a whole number")
        return int(number)

    def schema(self) -> dict[str, Any]:
        """Return a string with the pattern of a whole number."""
        return {"type": "string", "pattern": "^-?(0|[1-9][0-9]{0,18})$"}


class Identifier(Integer):
    """An id of a record: 0 to 2^63 - 1 (rules, "Ids in paths")."""

    word = "id, as a string"

    def parse(self, text: str) -> int:
        """Return the number."""
        number = super().parse(text)
        if number < 0:
            raise ValueError("negative, which no id is")
        return number

    def schema(self) -> dict[str, Any]:
        """Return a string with the pattern of an id."""
        return {"type": "string", "pattern": "^(0|[1-9][0-9]{0,18})$"}


class Text(Kind):
    """Text of any length or of at most ``max_length`` code points."""

    word = "text"

    def __init__(self, max_length: int | None = None, *, when_missing: str | None = None) -> None:
        self.max_length = max_length
        self.when_missing = when_missing

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        if self.max_length is not None and len(text) > self.max_length:
            raise ValueError(f"longer than {self.max_length} characters")
        if found := _NOT_STORABLE.search(text):
            if found.group() == "\x00":
                raise ValueError("holds a NUL character, which no store can keep")
            raise ValueError("is not valid UTF-8")
        return text

    def read(self, value: Any) -> str:
        """Return the text."""
        return _text(value)

    def schema(self) -> dict[str, Any]:
        """Return a string, with its maximum length if it has one."""
        limit = {} if self.max_length is None else {"maxLength": self.max_length}
        return {"type": "string"} | limit


class Credential(Text):
    """An ``api_key`` or ``api_login``, limited to what HTTP Basic allows (RFC 7617 section 2).

    That is text without control characters; a user name has no colon either.
    """

    def __init__(self, *, is_user_name: bool) -> None:
        super().__init__()
        self.is_user_name = is_user_name

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        parsed = super().parse(text)
        if _CONTROL.search(parsed):
            raise ValueError("holds a control character, which HTTP Basic cannot carry")
        if self.is_user_name and ":" in parsed:
            raise ValueError("holds a colon, which ends the user name in HTTP Basic")
        return parsed


class OneOf(Kind):
    """An enumeration of words; letter case is ignored (rules, "Booleans")."""

    word = "one of a few words"

    def __init__(self, *values: str, when_missing: str | None = None) -> None:
        self.values = values
        self.when_missing = when_missing
        self._by_lower_case = {value.lower(): value for value in values}

    def parse(self, text: str) -> str:
        """Return the word as the interface writes it."""
        if value := self._by_lower_case.get(text.lower()):
            return value
        raise ValueError(f"not one of {', '.join(self.values)}")

    def read(self, value: Any) -> str:
        """Return the word as the interface writes it; unknown words are returned unchanged."""
        text = _text(value)
        return self._by_lower_case.get(text.lower(), text)

    def schema(self) -> dict[str, Any]:
        """Return an enumeration."""
        return {"type": "string", "enum": list(self.values)}


class _TrueOrFalse(Kind):
    column = "INTEGER"

    def __init__(self, *, when_missing: int = 0) -> None:
        self.when_missing = when_missing

    def parse(self, text: str) -> int:
        """Return 1 or 0."""
        value = _BOOLEANS.get(text.lower())
        if value is None:
            raise ValueError("neither true (or 1) nor false (or 0)")
        return value

    def read(self, value: Any) -> bool:
        """Return the boolean, from a boolean, a number or a string."""
        found = _TRUTH.get(value.lower() if value.__class__ is str else value)
        if found is None:
            raise ValueError("neither true (or 1) nor false (or 0)")
        return found


class Bool(_TrueOrFalse):
    """True or false, on the wire a JSON boolean."""

    word = "true or false"

    def write(self, name: str) -> str:
        """Return an expression for a boolean."""
        return f"{name} == 1"

    def schema(self) -> dict[str, Any]:
        """Return a boolean."""
        return {"type": "boolean"}


class Flag(_TrueOrFalse):
    """True or false, on the wire the string "1" or "0"."""

    word = '"0" or "1"'

    def write(self, name: str) -> str:
        """Return an expression for the digit."""
        return f"str({name})"

    def schema(self) -> dict[str, Any]:
        """Return an enumeration of two strings."""
        return {"type": "string", "enum": ["0", "1"]}


class Bit(_TrueOrFalse):
    """True or false, on the wire the number 1 or 0."""

    word = "0 or 1, as a number"

    def schema(self) -> dict[str, Any]:
        """Return an enumeration of two numbers."""
        return {"type": "integer", "enum": [0, 1]}


class Number(Kind):
    """An exact decimal, on the wire a JSON number in its shortest form (rules, "Double").

    Stored as the text that is written to the wire. More than fifteen digits are refused, because
    clients with IEEE 754 doubles would lose them.
    """

    word = "number"
    when_missing = "0"

    def parse(self, text: str) -> str:
        """Return the shortest decimal form: ``10.50`` becomes ``10.5`` and ``85.00`` ``85``."""
        if not _NUMBER.fullmatch(text):
            raise ValueError("not a number such as 10.5")
        if len(text) > NUMBER_CHARACTERS_MAX:
            # A tuple of digits takes a hundred times the memory of the text.
            raise ValueError(f"has more than {NUMBER_DIGITS_MAX} digits")
        sign, digits, exponent = Decimal(text).as_tuple()
        written = "".join(map(str, digits)).lstrip("0")
        shortest = written.rstrip("0")
        if not shortest:
            return "0"
        exponent = int(exponent) + len(written) - len(shortest)
        if max(len(shortest), len(shortest) + exponent, -exponent) > NUMBER_DIGITS_MAX:
            raise ValueError(f"has more than {NUMBER_DIGITS_MAX} digits")
        return format(Decimal((sign, tuple(map(int, shortest)), exponent)), "f")

    def write(self, name: str) -> str:
        """Return an expression for the digits, which are copied to the wire."""
        return f"Raw({name}.encode())"

    def read(self, value: Any) -> Decimal:
        """Return the exact number."""
        return _decimal(value)

    def schema(self) -> dict[str, Any]:
        """Return a number."""
        return {"type": "number"}


class DecimalText(Kind):
    """A decimal, on the wire a string with the same decimals as in the file."""

    word = "decimal, as a string"

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        if not _DECIMAL.fullmatch(text):
            raise ValueError("not a decimal such as 10.50, of at most 18 and 9 digits")
        return text

    def read(self, value: Any) -> Decimal:
        """Return the number with its decimals."""
        return _decimal(value)

    def schema(self) -> dict[str, Any]:
        """Return a string with the pattern of a decimal."""
        return {"type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?$"}


class Date(Kind):
    """A day, ``YYYY-MM-DD``."""

    word = "date `YYYY-MM-DD`"

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        try:
            if not _DATE.fullmatch(text):
                raise ValueError
            date.fromisoformat(text)
        except ValueError:
            raise ValueError("not a date that exists, written YYYY-MM-DD") from None
        return text

    def read(self, value: Any) -> date | None:
        """Return the day, without a time after it; None for the year zero."""
        return None if value.startswith(_NO_DATE) else date.fromisoformat(value[:10])

    def schema(self) -> dict[str, Any]:
        """Return a string that is a date."""
        return {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}


class DateTime(Kind):
    """A date and time without a zone, ``YYYY-MM-DD hh:mm:ss``."""

    word = "time `YYYY-MM-DD hh:mm:ss`"

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        try:
            if not _DATE_TIME.fullmatch(text):
                raise ValueError
            datetime.fromisoformat(text)
        except ValueError:
            raise ValueError("not a time that exists, written YYYY-MM-DD hh:mm:ss") from None
        return text

    def read(self, value: Any) -> datetime | None:
        """Return the time; None for the year zero."""
        return None if value.startswith(_NO_DATE) else datetime.fromisoformat(value)

    def schema(self) -> dict[str, Any]:
        """Return a string with the pattern of such a time."""
        pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$"
        return {"type": "string", "pattern": pattern}


class Digest(Kind):
    """An MD5 digest, 32 hexadecimal digits."""

    word = "MD5 digest"

    def parse(self, text: str) -> str:
        """Return the digits in lower case."""
        if not _DIGEST.fullmatch(text):
            raise ValueError("not the 32 hexadecimal digits of an MD5 digest")
        return text.lower()

    def read(self, value: Any) -> str:
        """Return the digits."""
        return _text(value)

    def schema(self) -> dict[str, Any]:
        """Return a string with the pattern of a digest."""
        return {"type": "string", "pattern": "^[0-9a-f]{32}$"}


class Many(Kind):
    """A nested list of records of one shape, stored in a separate table."""

    word = "list"

    def __init__(self, shape: type) -> None:
        self.shape = shape


def _text(value: Any) -> str:
    if value.__class__ is str:
        text: str = value
        return text
    if value.__class__ in {int, Decimal}:
        return str(value)
    raise TypeError("not text")


def _decimal(value: Any) -> Decimal:
    number = Decimal(_text(value))
    if not number.is_finite():
        raise ValueError("not a number")
    return number
