"""Statements of banks in SWIFT's MT940, as exports of home banking have it.

A statement begins with ``:20:`` and names its account, its balances and its entries: a line
``:61:`` and the text ``:86:``.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from masthead.bank_files.entries import BadValueError, Entry, Heading, cents_of, day_of, shown
from masthead.bank_files.mt940_details import described
from masthead.bank_files.tally import Tally

IS_HERE = re.compile(r"^(?:\{4:\s*)?:20:", re.MULTILINE)
"""What the beginning of such a file has."""

_TAG = re.compile(r":([0-9]{2}[A-Z]?|NS):(.*)", re.DOTALL)
_ENVELOPE = re.compile(r"(?:\{[1-5]:[^{}]*(?:\{[^{}]*\}[^{}]*)*\}?)+\s*$")
_BALANCE = re.compile(r"([CD])([0-9]{6})([A-Z]{3})([0-9.,]+)")
_LINE = re.compile(
    r"(?P<day>[0-9]{6})(?P<booked>[0-9]{4})?(?P<mark>R?[CD]|E[CD])[A-Z]?(?P<amount>[0-9]+,[0-9]*)"
    r"(?P<type>[A-Z][A-Z0-9]{3})?(?P<own>[^\n]*?)(?://(?P<bank>[^\n]*))?(?:\n(?P<more>.*))?",
    re.DOTALL,
)
_WITHIN = re.compile(r"/(OCMT|CHGS)/([A-Z]{3})([0-9]+,[0-9]*)")
_PAGE = re.compile(r"[0-9]+/0*([0-9]+)")
_LINES_MAX = 60
"""How many lines a part may have; ``:86:`` has six in the standard."""

_CENTURY = 2000
_MONTHS_APART = 6
_NOTHING = {"", "NONREF", "NOTPROVIDED"}


class _Part(NamedTuple):
    tag: str
    lines: list[str]
    line: int

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


def read(lines: Iterable[str], tally: Tally) -> Iterator[Heading | Entry]:
    """Yield the heading of each statement of a file, and the entries of each.

    Entries that are only announced are left out and counted. Raises BadValueError, with the line,
    for a part that cannot be read, and for entries that are not the difference of the balances.
    """
    reader = _Reader(tally)
    for part in _parts(lines):
        try:
            yield from reader.take(part)
        except BadValueError as error:
            raise BadValueError(f"line {part.line}: {error}") from None
    yield from reader.end()


def _parts(lines: Iterable[str]) -> Iterator[_Part]:
    """Yield each tag with its lines."""
    part: _Part | None = None
    for number, written in enumerate(lines, start=1):
        line = _ENVELOPE.sub("", written.rstrip("\r\n")) if "{" in written else written
        line = line.rstrip("\r\n")
        if line.strip() in {"", "-", "-}", "}"}:
            continue
        if found := _TAG.match(line):
            if part is not None:
                yield part
            part = _Part(found[1], [found[2]], number)
        elif part is not None:
            part.lines.append(line)
            if len(part.lines) > _LINES_MAX:
                raise BadValueError(f"line {number}: the part :{part.tag}: does not end")
    if part is not None:
        yield part


class _Reader:
    """What is known of the statement that is being read, and its last entry."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._account = self._currency = ""
        self._page_number = 1
        self._is_open = self._has_heading = False
        self._opening: int | None = None
        self._sum = 0
        self._entry: Entry | None = None

    def take(self, part: _Part) -> Iterator[Heading | Entry]:
        """Take a part; yield the heading, or the entry that is complete by it."""
        if part.tag != "86":
            yield from self._complete()
        match part.tag:
            case "20":
                self._check_closed()
                self._account, self._page_number, self._has_heading = "", 1, False
            case "25" | "25P":
                self._account = part.lines[0].strip()
            case "28" | "28C":
                if page := _PAGE.fullmatch(part.text):
                    self._page_number = int(page[1])
            case "60F" | "60M":
                yield from self._open(part)
            case "61":
                self._begin(part)
            case "86" if self._entry is not None:
                self._entry = described(self._entry, part.lines)
                yield from self._complete()
            case "62F" | "62M":
                self._close(part)

    def end(self) -> Iterator[Entry]:
        """Yield the last entry. Raises BadValueError if the file ends within a statement."""
        yield from self._complete()
        self._check_closed()

    def _complete(self) -> Iterator[Entry]:
        if self._entry is not None:
            yield self._entry
            self._entry = None

    def _open(self, part: _Part) -> Iterator[Heading]:
        self._check_closed()
        self._opening, self._currency = _balance(part.text)
        self._sum, self._is_open = 0, True
        if not self._has_heading:
            self._has_heading = True
            yield Heading(self._account, self._currency, part.line, self._page_number > 1)

    def _check_closed(self) -> None:
        if self._is_open:
            raise BadValueError(
                "the statement ends without a closing balance (:62F:): the file is not complete"
            )

    def _begin(self, part: _Part) -> None:
        if not self._is_open:
            raise BadValueError("an entry comes before the opening balance (:60F:)")
        found = _LINE.fullmatch(part.text)
        if not found:
            raise BadValueError(f"{shown(part.text)} is not an entry of MT940 (:61:)")
        if found["mark"].startswith("E"):
            self._tally.pending += 1
            return
        is_taken_back = found["mark"].startswith("R")
        sign = 1 if (found["mark"][-1] == "C") != is_taken_back else -1
        amount = sign * cents_of(found["amount"], ",")
        self._sum += amount
        fee = _fee(found["more"] or "", amount, self._currency)
        day = _day(found["day"])
        self._entry = Entry(
            day,
            _booked(found["booked"], day),
            amount + fee,
            reference=_given(found["own"]),
            bank_reference=_given(found["bank"] or ""),
            fee=fee,
            is_reversal=is_taken_back,
            line=part.line,
        )

    def _close(self, part: _Part) -> None:
        closing, _ = _balance(part.text)
        if not self._is_open or self._opening is None:
            raise BadValueError("a closing balance comes before the opening one (:60F:)")
        self._is_open = False
        if self._opening + self._sum != closing:
            raise BadValueError(
                f"the entries of the statement add up to {self._sum / 100:.2f}, and its balances "
                f"differ by {(closing - self._opening) / 100:.2f}: the file is not complete"
            )


def _balance(text: str) -> tuple[int, str]:
    found = _BALANCE.fullmatch(text)
    if not found:
        raise BadValueError(f"{shown(text)} is not a balance of MT940")
    mark, _, currency, amount = found.groups()
    return cents_of(amount, ",") * (1 if mark == "C" else -1), currency


def _fee(text: str, amount: int, currency: str) -> int:
    """Return the charges that the booked amount has within, by its original amount."""
    within = {
        name: cents_of(written, ",")
        for name, code, written in _WITHIN.findall(text)
        if code == currency
    }
    fee, original = within.get("CHGS", 0), within.get("OCMT", 0)
    return fee if fee and abs(amount + fee) == original else 0


def _day(written: str) -> str:
    return day_of(_CENTURY + int(written[:2]), written[2:4], written[4:])


def _booked(written: str | None, value_day: str) -> str:
    """Return the day of a booking without its year, which is near that of the value."""
    if not written:
        return value_day
    year, apart = int(value_day[:4]), int(written[:2]) - int(value_day[5:7])
    if abs(apart) > _MONTHS_APART:
        year += 1 if apart < 0 else -1
    return day_of(year, written[:2], written[2:])


def _given(written: str) -> str:
    plain = written.strip()
    return "" if plain.upper() in _NOTHING else plain
