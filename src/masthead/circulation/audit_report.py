"""The audit report of a free title: its parts, and the average of a half-year.

Rules: qualification, "The audit report". Masthead counts; it claims no bureau's approval.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from masthead.circulation.copy_classes import QUALIFIED
from masthead.circulation.qualifying import valid_until
from masthead.circulation.tables import Chart, Column, Kind, Part, Report, Row, Series, number_of
from masthead.contract.subscription_types import DIGITAL, PRINTED

ISSUE, COPIES, TYPE, CLASS = "issue", "copies", "type", "audit class"
ANSWER, STATE, CHANGE = "answer", "state", "change"
"""The parts of the report. The rows of each part but the last two add up to the whole issue; so do
those of each question, and of the part by state."""

AGES = ("up to 1 year", "up to 2 years", "up to 3 years", "over 3 years")
BEFORE, ADDITION, REMOVAL = "the issue before", "addition", "removal"

_MONTHS = 12
_NONE = "(none)"
_ONE_DAY = timedelta(days=1)


class Count(NamedTuple):
    """Subscriptions and copies; a copy of the type Both counts as printed and as digital."""

    subscriptions: int = 0
    copies: int = 0
    printed: int = 0
    digital: int = 0


class Figure(NamedTuple):
    """A row of the report: the part, up to three values that its copies share, and their number."""

    part: str
    key1: str
    key2: str
    key3: str
    subscriptions: int
    copies: int
    printed: int
    digital: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it counts."""
        return self.part, self.key1, self.key2, self.key3

    @property
    def counts(self) -> Count:
        """What it has counted."""
        return Count(self.subscriptions, self.copies, self.printed, self.digital)


class Copies(NamedTuple):
    """Copies of an issue that share a type, a copy class, an audit class, a request type, an age.

    ``audit_class``, ``request_type`` and ``age`` (a place in :data:`AGES`) are None for copies that
    do not go out by a qualification.
    """

    type: str
    copy_class: str
    audit_class: str | None
    request_type: str | None
    age: int | None
    subscriptions: int
    copies: int


class Answered(NamedTuple):
    """Copies that share a type and, for each question by its name, an answer in words.

    ``answers`` is None for copies that do not go out by a qualification.
    """

    type: str
    answers: Mapping[str, str] | None
    subscriptions: int
    copies: int


class Sent(NamedTuple):
    """Copies that share a type, and the country and state to which they went."""

    type: str
    country: str | None
    state: str | None
    subscriptions: int
    copies: int


class Change(NamedTuple):
    """What is new since the issue before, or no longer there, for one reason."""

    way: str
    reason: str
    counts: Count


def first_days(day: str) -> tuple[str, str, str]:
    """Return the earliest days of a qualification that is up to 1, 2 and 3 years old on a day.

    The age is reckoned like the validity: so many years have the same last day.
    """
    found = []
    for years in (1, 2, 3):
        given = date.fromisoformat(day)
        first = date(given.year - years, given.month, 1) - _ONE_DAY
        while valid_until(f"{first}", years * _MONTHS) < day:
            first += _ONE_DAY
        found.append(f"{first}")
    return found[0], found[1], found[2]


def figures(
    name: str,
    copies: Sequence[Copies],
    answered: Iterable[Answered],
    sent: Iterable[Sent],
    changes: Iterable[Change],
    questions: Sequence[str],
) -> list[Figure]:
    """Return the rows of the report of an issue, in order; ``name`` is that of the issue."""
    parts: dict[tuple[str, str, str, str], list[Count]] = {}

    def add(part: str, keys: tuple[str, str, str], count: Count) -> None:
        parts.setdefault((part, *keys), []).append(count)

    add(ISSUE, (name, "", ""), Count())
    for each in copies:
        count = _count(each.type, each.subscriptions, each.copies)
        add(ISSUE, (name, "", ""), count)
        add(COPIES, (each.copy_class, "", ""), count)
        add(TYPE, (each.type, "", ""), count)
        is_qualified = each.copy_class == QUALIFIED and each.age is not None
        add(
            CLASS,
            (each.audit_class or _NONE, each.request_type or _NONE, AGES[each.age or 0])
            if is_qualified
            else (f"not qualified: {each.copy_class}", "", ""),
            count,
        )
    for one in answered:
        for question in questions:
            said = "not qualified" if one.answers is None else one.answers.get(question, _NONE)
            add(ANSWER, (question, said, ""), _count(one.type, one.subscriptions, one.copies))
    for place in sent:
        keys = (place.country or _NONE, place.state or "", "")
        add(STATE, keys, _count(place.type, place.subscriptions, place.copies))
    for change in changes:
        add(CHANGE, (change.way, change.reason, ""), change.counts)
    order = [ISSUE, COPIES, TYPE, CLASS, ANSWER, STATE, CHANGE]
    asked = {question: number for number, question in enumerate(questions)}
    ways = {BEFORE: 0, ADDITION: 1, REMOVAL: 2}

    def place_of(key: tuple[str, str, str, str]) -> tuple[object, ...]:
        part, first, second, third = key
        within = {ANSWER: asked, CHANGE: ways}.get(part, {}).get(first, 0)
        age = AGES.index(third) if third in AGES else 0
        return order.index(part), within, first, second, age

    return [
        Figure(*key, *(sum(numbers) for numbers in zip(*parts[key], strict=True)))
        for key in sorted(parts, key=place_of)
    ]


def total_of(parts: Iterable[tuple[str, int, int]]) -> Count:
    """Return the sum of types with their subscriptions and copies."""
    counts = [_count(*each) for each in parts]
    return Count(*(sum(numbers) for numbers in zip(Count(), *counts, strict=True)))


def _count(type_: str, subscriptions: int, copies: int) -> Count:
    printed = copies if type_ in PRINTED else 0
    return Count(subscriptions, copies, printed, copies if type_ in DIGITAL else 0)


def report(title: str, found: Sequence[Figure], notes: Sequence[str], day: str) -> Report:
    """Return the report of an issue as a table."""
    rows = tuple((each.part, each.key1, each.key2, each.key3, *each.counts) for each in found)
    whole = next(each for each in found if each.part == ISSUE)
    qualified = sum(e.copies for e in found if e.part == COPIES and e.key1 == QUALIFIED)
    copies = number_of(whole.copies, "copy", "copies")
    others = f"{qualified:,} qualified, {whole.copies - qualified:,} others"
    said = (f"{copies} for {number_of(whole.subscriptions, 'subscription')}: {others}.",)
    names = ("subscriptions", "copies", "printed", "digital")
    columns = (*_KEYS, *map(Column, names))
    parts = _parts(rows, columns, {*_WHOLE, CHANGE})
    return Report(title, columns, rows, (), _chart(found), said, (*notes,), day, parts=parts)


_KEYS = tuple(Column(name, Kind.TEXT) for name in ("part", "value", "of it", "age"))

_WHOLE = frozenset({COPIES, TYPE, CLASS, STATE})
"""The parts whose rows add up to the whole issue."""

_TABLES = {
    ISSUE: ("Issue", "issue"),
    COPIES: ("Kinds of copies", "kind"),
    TYPE: ("Types", "type"),
    CLASS: ("Audit classes", "audit class", "request type", "age"),
    ANSWER: ("Answers", "question", "answer"),
    STATE: ("Countries and states", "country", "state"),
    CHANGE: ("Additions and removals", "change", "reason"),
}
"""The title of each part's table, and the columns of what it counts."""


def _parts(
    rows: Sequence[Row], columns: tuple[Column, ...], with_total: Collection[str]
) -> tuple[Part, ...]:
    """Return the rows as a table for each part; some end with the whole as their total."""
    whole = next(row for row in rows if row[0] == ISSUE)
    found = []
    for part, (title, *keys) in _TABLES.items():
        last = 1 + len(keys)
        own = tuple(row[1:last] + row[len(_KEYS) :] for row in rows if row[0] == part)
        name = "this issue" if part == CHANGE else "all"
        total = (name, *[""] * (len(keys) - 1), *whole[len(_KEYS) :])
        head = (*(Column(key, Kind.TEXT) for key in keys), *columns[len(_KEYS) :])
        if own:
            found.append(Part(title, head, own, (total,) if part in with_total else ()))
    return tuple(found)


def average(
    title: str, issues: Sequence[Sequence[Figure]], notes: Sequence[str], day: str
) -> Report:
    """Return the average of some issues as a table: the sums of their copies, and these divided.

    A half is rounded up, so averages of parts need not add up to that of the whole; sums do.
    """
    sums: Counter[tuple[str, str, str, str]] = Counter()
    for found in issues:
        for each in found:
            if each.part == ISSUE:
                sums[ISSUE, "all issues", "", ""] += each.copies
            elif each.key1 != BEFORE:
                sums[each.key] += each.copies
    number = len(issues)
    rows = tuple((*key, total, (2 * total + number) // (2 * number)) for key, total in sums.items())
    whole = sums[ISSUE, "all issues", "", ""]
    copies = number_of((2 * whole + number) // (2 * number), "copy", "copies")
    said = (f"{copies} on average of {number_of(number, 'issue')}.",)
    merged = [Figure(*key, 0, total, 0, 0) for key, total in sums.items()]
    columns = (*_KEYS, Column("copies of all issues"), Column("average"))
    ordered = _ordered(rows)
    parts = _parts(ordered, columns, _WHOLE)
    return Report(title, columns, ordered, (), _chart(merged), said, (*notes,), day, parts=parts)


def _ordered(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return rows by their parts; within a part, as they first occurred."""
    order = [ISSUE, COPIES, TYPE, CLASS, ANSWER, STATE, CHANGE]
    return tuple(sorted(rows, key=lambda row: order.index(str(row[0]))))


def _chart(found: Sequence[Figure]) -> Chart:
    """Return the copies of each audit class, stacked by the age of the qualification."""
    rows = [each for each in found if each.part == CLASS and each.key3]
    labels = tuple(dict.fromkeys(each.key1 for each in rows))
    series = tuple(
        Series(
            age,
            tuple(
                sum(e.copies for e in rows if (e.key1, e.key3) == (label, age)) for label in labels
            ),
        )
        for age in AGES
        if any(each.key3 == age for each in rows)
    )
    return Chart(labels, series, "copies")
