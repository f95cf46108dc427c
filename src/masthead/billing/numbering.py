"""How the number of an invoice is written (billing, "Invoice")."""

import re
from typing import NamedTuple

from masthead.errors import BadInput

NUMBER_LENGTH_MAX = 30
"""The most characters of a written number, with the year 2026 and the number 999999."""


class Read(NamedTuple):
    """The parts of a written number; ``year`` is None if its form has none."""

    year: int | None
    number: int


_FIELD = re.compile(r"\{(?:year|number(?::0[1-9])?)\}")
_PADDING = re.compile(r":0[1-9]")
_TEXT = re.compile(r"[A-Za-z0-9 ./_-]*")


def check_form(form: str) -> str:
    """Return the form of a number, such as ``{year}-{number:06}``.

    Raises BadInput unless it has ``{number}`` (or ``{number:06}``, with zeros) once, ``{year}`` at
    most once, and otherwise letters, digits, spaces, and ``.``, ``/``, ``_``, ``-``.
    """
    fields = _FIELD.findall(form)
    years = fields.count("{year}")
    if len(fields) - years != 1:
        raise BadInput(
            f"{form!r} is not the form of a number: it contains {{number}} once, such as "
            "{year}-{number:06}"
        )
    if years > 1 or not _TEXT.fullmatch(_FIELD.sub("", form)):
        raise BadInput(
            f"{form!r} is not the form of a number: beside {{number}} it has {{year}} at most "
            "once, and letters, digits, spaces, '.', '/', '_' and '-'"
        )
    if "}{" in form:
        raise BadInput(
            f"{form!r} is not the form of a number: a character stands between {{year}} and "
            "{number}, so that no two numbers are alike"
        )
    if len(written(form, 2026, 999_999)) > NUMBER_LENGTH_MAX:
        raise BadInput(
            f"{form!r} gives a number of more than {NUMBER_LENGTH_MAX} characters: make it shorter"
        )
    return form


def are_alike(one: str, other: str) -> bool:
    """Return whether two forms differ in nothing but the zeros before the number."""
    return _PADDING.sub("", one) == _PADDING.sub("", other)


def has_year(form: str) -> bool:
    """Return whether the numbers of a form begin again at 1 with each year."""
    return "{year}" in form


def series_of(form: str, year: int, *, is_credit: bool) -> str:
    """Return the name of the series that the numbers of a form have in a year."""
    kind = "credit_note" if is_credit else "invoice"
    return f"{kind} {year}" if has_year(form) else kind


def read(form: str, text: str) -> Read | None:
    """Return the parts of a number that the form could have written; None if it could not.

    Letter case does not count.
    """
    pattern = ""
    end = 0
    for field in _FIELD.finditer(form):
        width = int(field[0][-2]) if ":" in field[0] else 1
        digits = rf"(?P<number>[0-9]{{{width}}}|[1-9][0-9]{{{width},}})"
        pattern += re.escape(form[end : field.start()])
        pattern += r"(?P<year>[0-9]{4})" if field[0] == "{year}" else digits
        end = field.end()
    found = re.fullmatch(pattern + re.escape(form[end:]), text, re.IGNORECASE)
    if found is None:
        return None
    year = found.groupdict().get("year")
    return Read(None if year is None else int(year), int(found["number"]))


def written(form: str, year: int, number: int) -> str:
    """Return a number as it is printed, such as ``2026-000123``."""
    return form.format(year=year, number=number)
