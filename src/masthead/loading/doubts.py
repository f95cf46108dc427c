"""What a load reads as it stands, and warns about (rules, "Warnings of a load").

A warning is one sentence for each column and kind of doubt, with the first line and the number of
rows. :class:`Doubts` keeps no more, and looks at a column as one text where it can.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from unicodedata import normalize

from masthead.contract.kinds import Date, DateTime
from masthead.contract.records import Table
from masthead.errors import BadInput
from masthead.loading.batches import QUOTED_MAX, Batch, Cells
from masthead.loading.cleaning import BadCell, cleaned, without_decimals

SHOWN_MAX = 20
"""The maximum number of warnings that are shown of a file."""

_NAMES = frozenset(("first_name", "last_name", "company", "address", "city"))
_CODES = frozenset(("renewal_code", "zip_code"))
_LOOKED_AT = _NAMES | _CODES | {"email"}
"""The columns by which readers are found, at the login too, and those of a label."""

_COUNTRIES = ("country_abbreviation", "country_name")
_COUNTRIES_MAX = 300
_SHORT, _LONG = 4, 5
"""The numbers of digits of a postal code without its first zero, and with it."""

_TITLES_MAX = 1000

_ADDRESS = re.compile(r"[^@\s;,<>]+@[^@\s;,<>][^@\s;,<>.]*\.[^@\s;,<>]+")
_LOST_LETTER = re.compile("\ufffd|(?<=[^\\W\\d_])\\?(?=[^\\W\\d_])")
_MARKUP = re.compile(r"&(?:[A-Za-z]{2,8}|#[0-9]{2,5});")
_OF_DAY = re.compile(
    r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b"
    r"|\b(?:[0-9]{1,2}-|[0-9]{2}\. )"
    r"(?:Jan|Feb|Mrz|Mar|Apr|Mai|May|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])\b"
)
_ISO_DAY = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-([0-9]{2})(?:[ T].*)?")
_WRITTEN_DAY = re.compile(r"([0-9]{1,2})[./-]([0-9]{1,2})[./-](?:[0-9]{4}|[0-9]{2})(?:[ T].*)?")
_MONTHS = 12

_SEVERAL = "holds several addresses: the reader is found by none of them"
_NO_ADDRESS = "is no email address"
_AS_IT_IS = "so it may not be found: a file with the name of a table is loaded as it is"
_DAY = "has a date, which a spreadsheet makes of texts such as 3-4: write the text"
_UNCLEAN = f"has spaces or signs that programs leave in cells, {_AS_IT_IS}"
_ACCENTS = f"has letters and their accents as two characters, {_AS_IT_IS}"


@dataclass
class _Doubt:
    """The first line with a doubt, the text there, and the number of rows."""

    line: int
    text: str
    count: int = 0


@dataclass
class _Days:
    """How a column writes its dates: the first that is ``YYYY-MM-DD``, and the first other one.

    ``has_late``: a date ``YYYY-MM-DD`` is after the 12th of its month, so it has one meaning only.
    ``has_others``: one is not the 1st, which many terms begin with. ``has_early``: another date is
    not after the 12th, so a spreadsheet would have read it as a date.
    """

    iso: _Doubt | None = None
    other: _Doubt | None = None
    has_late: bool = False
    has_others: bool = False
    has_early: bool = False


@dataclass
class _Codes:
    """The postal codes of a country in a column: those of 4 digits, and how many have 5."""

    short: _Doubt | None = None
    long: int = 0
    has_zero: bool = False


@dataclass
class Doubts:
    """The doubts about one file.

    ``column_of`` returns a column's name in messages, by the number of its table in the file.
    ``is_cleaned``: the file's cells have been cleaned (``loading.cleaning``).
    """

    label: str
    column_of: Callable[[int, str], str]
    is_cleaned: bool
    _found: dict[tuple[str, str], _Doubt] = field(default_factory=dict)
    _days: dict[tuple[int, str], _Days] = field(default_factory=dict)
    _codes: dict[tuple[int, str], dict[str | None, _Codes]] = field(default_factory=dict)
    _titles: dict[str, _Doubt] = field(default_factory=dict)

    def look(self, part: int, table: Table, batch: Batch) -> None:
        """Note what is doubtful in the rows of the file's table number ``part``."""
        if not batch.lines:
            return
        by_name = dict(zip(batch.columns, batch.cells, strict=True))
        for column in table.columns:
            name, cells = column.name, by_name.get(column.name)
            if cells is None:
                continue
            if table.name == "publications" and name == "name" and self.is_cleaned:
                self._look_at_titles(self.column_of(part, name), batch.lines, cells)
            elif isinstance(column.kind, Date | DateTime):
                self._look_at_days(self._days.setdefault((part, name), _Days()), batch.lines, cells)
            elif name in _LOOKED_AT:
                self._look_at_texts(part, name, batch.lines, cells)
                if name == "zip_code":
                    self._look_at_codes((part, name), batch.lines, cells, by_name)

    def _look_at_texts(self, part: int, name: str, lines: Sequence[int], cells: Cells) -> None:
        kinds: dict[str, str] = {}
        for text, kind in _doubtful(name, cells, is_cleaned=self.is_cleaned):
            kinds.setdefault(text, kind)
        if not kinds:
            return
        column = self.column_of(part, name)
        for line, cell in zip(lines, cells, strict=True):
            if cell is not None and cell in kinds:
                self._found.setdefault((column, kinds[cell]), _Doubt(line, cell)).count += 1

    def _look_at_titles(self, column: str, lines: Sequence[int], cells: Cells) -> None:
        for title in dict.fromkeys(cells):
            if not title or len(self._titles) == _TITLES_MAX:
                continue
            line = lines[cells.index(title)]
            letters = "".join(filter(str.isalnum, title.casefold())) or title
            first = self._titles.setdefault(letters, _Doubt(line, title))
            if first.text != title:
                kind = (
                    f"is another publication than {first.text[:QUOTED_MAX]!r} in line {first.line}:"
                    " if they are one, write both in the same way, or give both the same id"
                )
                self._found.setdefault((column, kind), _Doubt(line, title, 1))

    @staticmethod
    def _look_at_days(days: _Days, lines: Sequence[int], cells: Cells) -> None:
        for cell in dict.fromkeys(cells):
            if not cell or isinstance(cell, BadCell):
                continue
            if iso := _ISO_DAY.fullmatch(cell):
                days.has_late |= int(iso[1]) > _MONTHS
                days.has_others |= iso[1] != "01"
                days.iso = days.iso or _Doubt(lines[cells.index(cell)], cell)
            elif other := _WRITTEN_DAY.fullmatch(cell):
                days.has_early |= max(int(other[1]), int(other[2])) <= _MONTHS
                days.other = days.other or _Doubt(lines[cells.index(cell)], cell)

    def _look_at_codes(
        self,
        place: tuple[int, str],
        lines: Sequence[int],
        cells: Cells,
        by_name: Mapping[str, Cells],
    ) -> None:
        countries = next((by_name[name] for name in _COUNTRIES if name in by_name), None)
        by_country = self._codes.setdefault(place, {})
        lengths = Counter(zip(countries or repeat(""), map(len, map(_text, cells)), strict=False))
        for (country, length), count in lengths.items():
            if length not in {_SHORT, _LONG}:
                continue
            if country not in by_country and len(by_country) == _COUNTRIES_MAX:
                continue
            codes = by_country.setdefault(country, _Codes())
            if length == _LONG:
                codes.long += count
            else:
                of = countries or repeat(country)
                self._note_short(codes, country, zip(lines, cells, of, strict=False))
        if not countries and "|0" in f"|{'|'.join(map(_text, cells))}":
            by_country.setdefault("", _Codes()).has_zero = True

    @staticmethod
    def _note_short(
        codes: _Codes, country: str | None, rows: Iterable[tuple[int, str | None, str | None]]
    ) -> None:
        for line, cell, of in rows:
            if cell and of == country and len(cell) == _SHORT and cell.isdecimal():
                codes.short = codes.short or _Doubt(line, cell)
                codes.short.count += 1

    def warnings(self) -> Iterator[str]:
        """Yield the warnings, at most ``SHOWN_MAX``, and how many more there are.

        Raises BadInput if a spreadsheet has swapped days and months: no row shows which dates.
        """
        found = [
            f"{self.label}:{doubt.line}: {column}: {doubt.text[:QUOTED_MAX]!r} {kind}"
            f"{_of_rows(doubt.count)}"
            for (column, kind), doubt in self._found.items()
        ]
        found += [
            f"{self.label}:{days.other.line}: {self.column_of(*place)}: {days.other.text!r} is "
            f"written otherwise than {days.iso.text!r} in line {days.iso.line}: check that days "
            "and months are right"
            for place, days in self._days.items()
            if days.iso and days.other and not self._is_swapped(place, days)
        ]
        found += [
            f"{self.label}:{codes.short.line}: {self.column_of(*place)}: {codes.short.text!r} has "
            f"4 digits, and {codes.long} others of the country have 5: a program may have taken "
            f"the zero away{_of_rows(codes.short.count)}"
            for place, by_country in self._codes.items()
            for country, codes in by_country.items()
            if codes.short
            and codes.short.count < codes.long
            and not (codes.has_zero and not country)
        ]
        yield from found[:SHOWN_MAX]
        if len(found) > SHOWN_MAX:
            yield f"{self.label}: and {len(found) - SHOWN_MAX} more warnings"

    def _is_swapped(self, place: tuple[int, str], days: _Days) -> bool:
        """Return False; raise BadInput if the dates of a column must be those of a spreadsheet."""
        if days.has_late or days.has_early or not (days.has_others and days.iso and days.other):
            return False
        raise BadInput(
            f"{self.label}:{days.iso.line}: {self.column_of(*place)}: a spreadsheet has swapped "
            f"days and months: {days.iso.text!r} and all others that it took for dates are before "
            f"the 13th, and {days.other.text!r} in line {days.other.line} and all others that it "
            "left as text are after the 12th. Load the original file, or open that file again "
            "with this column as text"
        )


def _text(cell: str | None) -> str:
    return cell or ""


def _of_rows(count: int) -> str:
    return "" if count == 1 else f" ({count} rows)"


def _doubtful(name: str, cells: Cells, *, is_cleaned: bool) -> Iterator[tuple[str, str]]:
    """Yield the texts of a column that are doubtful, and what is doubtful."""
    joined = "|".join(filter(None, cells))
    if not is_cleaned:
        yield from _unclean(cells)
        if name in _CODES and ".0" in joined:
            yield from (
                (cell, _UNCLEAN) for cell in _texts(cells) if without_decimals(cell) != cell
            )
    if name == "email":
        if joined.count("@") == sum(map(bool, cells)) and _is_free_of(joined, " ;,<>"):
            return
        for cell in _texts(cells):
            if not _ADDRESS.fullmatch(cell):
                yield cell, _SEVERAL if cell.count("@") > 1 else _NO_ADDRESS
        return
    checks = [
        (pattern, kind)
        for pattern, signs, kind in (
            (_LOST_LETTER, "?\ufffd", "has lost a letter: save the original file as UTF-8"),
            (_MARKUP, "&", "has signs of a web page, such as &amp;: write the letters themselves"),
            (_OF_DAY, "-.", _DAY),
        )
        if not _is_free_of(joined, signs) and pattern.search(joined)
    ]
    for pattern, kind in checks:
        yield from ((cell, kind) for cell in _texts(cells) if pattern.search(cell))


def _unclean(cells: Cells) -> Iterator[tuple[str, str]]:
    """Yield the texts that a mapped file would be cleaned of, or that are no values."""
    clean = cleaned(cells)
    if clean is cells:
        return
    for cell, better in zip(cells, clean, strict=True):
        if not cell or isinstance(cell, BadCell):
            continue
        if isinstance(better, BadCell):
            yield cell, f"is no value: {better.sentence}"
        elif cell != better:
            yield cell, _ACCENTS if normalize("NFC", cell) == better else _UNCLEAN


def _texts(cells: Cells) -> Iterator[str]:
    return (cell for cell in set(cells) if cell and not isinstance(cell, BadCell))


def _is_free_of(text: str, signs: str) -> bool:
    return not any(sign in text for sign in signs)
