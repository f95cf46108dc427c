"""Reading what a mapping says about a column of a table: where its values come from."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from masthead.contract.file_kinds import IdentifierList
from masthead.contract.kinds import Date, DateTime, DecimalText, Identifier, Integer, Number
from masthead.contract.records import Table
from masthead.contract.shapes import Field
from masthead.loading.checks import SECRET, with_value
from masthead.loading.mapping import Fixed, Key, KeyChoice, Source, target_of
from masthead.loading.mapping_dates import form_of, forms_of
from masthead.loading.mapping_values import Column, Writing, reader
from masthead.loading.templates import Join, join_of
from masthead.loading.toml_reading import Mistakes, quoted
from masthead.loading.words import REST, replacements_of

Constant = str | int | bool


class _Constant(Struct, forbid_unknown_fields=True):
    constant: Constant


class _Values(Struct, forbid_unknown_fields=True, kw_only=True):
    """What can stand beside each form that gives a cell."""

    values: dict[str, Constant] | None = None
    default: Constant | None = None
    dates: str | list[str] | None = None
    day: Literal["first", "last"] | None = None
    scale: int | float | None = None


class _Column(_Values, forbid_unknown_fields=True):
    column: str


class _Join(_Values, forbid_unknown_fields=True):
    join: str


class _First(_Values, forbid_unknown_fields=True):
    first: list[str | dict[str, object]]


class _Key(Struct, forbid_unknown_fields=True):
    key: list[str | dict[str, object]]
    of: str | None = None
    when: list[str] = []


_FORMS: dict[str, type[Struct]] = {
    "constant": _Constant,
    "key": _Key,
    "column": _Column,
    "first": _First,
    "join": _Join,
}


class SourceReader:
    """Reads the sources of a table's columns, and adds their mistakes."""

    def __init__(self, table: Table, writing: Writing, mistakes: Mistakes) -> None:
        self._table = table
        self._writing = writing
        self._mistakes = mistakes

    def source(self, place: str, field: Field, value: object) -> Source | None:
        """Return where a column comes from, None if nothing can be said because of a mistake."""
        if isinstance(value, str):
            return Column((value,))
        if not isinstance(value, dict):
            self._mistakes.add(
                place, "has to be the name of a column, or a table with one of its forms"
            )
            return None
        forms = [name for name in _FORMS if name in value]
        if len(forms) != 1:
            self._mistakes.add(place, f"has to have exactly one of {', '.join(sorted(_FORMS))}")
            return None
        given = self._mistakes.struct(_FORMS[forms[0]], value, place)
        source = self._of_form(place, field, given)
        if isinstance(source, Column):
            self._check_values(place, field, source)
        return source

    def _of_form(self, place: str, field: Field, given: object) -> Source | None:
        if isinstance(given, _Constant):
            return Column((), constant=_text(given.constant))
        if isinstance(given, _Key):
            return self._key(place, field, [(place, given)])
        if isinstance(given, _Column):
            return self._column(place, field, given, (given.column,))
        if isinstance(given, _First):
            return self._first(place, field, given)
        return self._join(place, field, given) if isinstance(given, _Join) else None

    def _join(self, place: str, field: Field, given: _Join) -> Source | None:
        try:
            join = join_of(given.join)
        except ValueError as error:
            self._mistakes.add(f"{place}.join", f"the template {given.join[:100]!r} {error}")
            return None
        return self._column(place, field, given, join.names, join)

    def _column(
        self,
        place: str,
        field: Field,
        given: _Values,
        columns: tuple[str, ...],
        join: Join | None = None,
    ) -> Column:
        dates = (given.dates,) if isinstance(given.dates, str) else tuple(given.dates or ())
        self._check_dates(place, field, dates, given)
        scale = None if given.scale is None else Decimal(str(given.scale))
        if scale is not None:
            self._check_scale(place, field, scale)
        values = None
        if given.values is not None:
            values = replacements_of({word: _text(v) for word, v in given.values.items()})
        default = None if given.default is None else _text(given.default)
        return Column(columns, join, values, default, dates, given.day, scale)

    def _check_dates(self, place: str, field: Field, dates: Sequence[str], given: _Values) -> None:
        if given.dates is not None and not dates:
            self._mistakes.add(f"{place}.dates", "has no form: leave it out")
        try:
            forms_of(dates)
            without_day = next((form for form in dates if not form_of(form).has_day), None)
        except ValueError as error:
            self._mistakes.add(f"{place}.dates", str(error))
            return
        if without_day and given.day is None:
            self._mistakes.add(
                f"{place}.dates",
                f'{without_day!r} has no day: add day = "first" or day = "last", that of the month',
            )
        if given.day is not None and (not without_day or not isinstance(field.kind, _DAYS)):
            self._mistakes.add(
                f"{place}.day", "is for dates without a day: add a form to dates, such as 'YYYY-MM'"
            )

    def _check_scale(self, place: str, field: Field, scale: Decimal) -> None:
        if not isinstance(field.kind, _NUMBERS) or isinstance(field.kind, _IDS):
            self._mistakes.add(f"{place}.scale", f"{field.name} is no number that has a scale")
        if not scale.is_finite() or not _SCALE_MIN <= scale <= 1 / _SCALE_MIN:
            self._mistakes.add(
                f"{place}.scale", "has to be a factor such as 0.01, which makes 5.00 of 500 cents"
            )

    def _first(self, place: str, field: Field, given: _First) -> Source | None:
        """Return the first of several columns, or of several keys."""
        columns = [each for each in given.first if isinstance(each, str)]
        if not given.first:
            self._mistakes.add(f"{place}.first", "names no column")
            return None
        if len(columns) == len(given.first):
            return self._column(place, field, given, tuple(columns))
        if columns:
            self._mistakes.add(f"{place}.first", "has to be a list of columns, or a list of keys")
            return None
        if given != _First(first=given.first):
            self._mistakes.add(place, "an id from keys has neither values nor a default")
        keys = []
        for number, value in enumerate(given.first):
            at = f"{place}.first[{number}]"
            key = self._mistakes.struct(_Key, value, at)
            if key is None:
                return None
            keys.append((at, key))
        return self._key(place, field, keys)

    def _key(self, place: str, field: Field, given: Sequence[tuple[str, _Key]]) -> Key | None:
        mistakes = self._mistakes
        if not isinstance(field.kind, Identifier):
            mistakes.add(place, f"{field.name} is no id, so it cannot be made from a key")
            return None
        target = target_of(self._table, field.name)
        choices = []
        of = target
        for at, key in given:
            if target is None and not key.of:
                mistakes.add(at, f"say with `of` what {field.name} is the id of, such as 'bundles'")
            if target is not None and key.of not in {None, target}:
                mistakes.add(f"{at}.of", f"has to be {target!r}, whose id {field.name} is")
            if target is None and of not in {None, key.of}:
                mistakes.add(f"{at}.of", f"has to be {of!r}, as in the first key")
            of = of or key.of
            if not key.key:
                mistakes.add(f"{at}.key", "names no column")
            parts = tuple(self._parts(f"{at}.key", key.key))
            choices.append(KeyChoice(parts, tuple(key.when)))
        return Key(tuple(choices), of or "")

    def _parts(self, place: str, given: Sequence[str | dict[str, object]]) -> list[str | Fixed]:
        parts: list[str | Fixed] = []
        for number, part in enumerate(given):
            if isinstance(part, str):
                parts.append(part)
            elif fixed := self._mistakes.struct(_Constant, part, f"{place}[{number}]"):
                text = _text(fixed.constant).strip()
                if not text:
                    self._mistakes.add(f"{place}[{number}].constant", "empty: leave it out")
                parts.append(Fixed(text))
        return parts

    def _check_values(self, place: str, field: Field, source: Column) -> None:
        """Report the constants that the column cannot have."""
        given = {} if source.columns else {".constant": source.constant}
        if source.default is not None:
            given[".default"] = source.default
        if source.values is not None:
            given |= {f".values.{quoted(k)}": v for k, v in source.values.exact.items()}
            patterns: Mapping[str, str] = source.values.patterns
            given |= {f".values.{quoted(k)}": v for k, v in patterns.items() if v != REST}
        if field.is_required and not source.columns and not source.constant:
            self._mistakes.add(f"{place}.constant", f"empty, and {field.name} always has a value")
        for inner, text in given.items():
            try:
                reader(field, Column((), constant=text), self._writing)
            except ValueError as error:
                sentence = str(error) if field.name in SECRET else with_value(text, str(error))
                self._mistakes.add(place + inner, sentence)


_DAYS = (Date, DateTime)
_NUMBERS = (Integer, Number, DecimalText)
_IDS = (Identifier, IdentifierList)
_SCALE_MIN = Decimal("0.000001")


def _text(value: Constant) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
