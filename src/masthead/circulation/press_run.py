"""The copies of an issue: its press run, and its circulation beside that of the issue before.

Rules: circulation, "Reports". Printing and circulation count copies, not subscriptions; the reports
show both. A subscription of the type Both gets a printed and a digital copy, and counts once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.circulation.copy_classes import ALL, GRACE, MAKE_GOOD, PAID
from masthead.circulation.tables import Cell, Chart, Column, Kind, Report, Row, Series, number_of
from masthead.contract.printable import listed
from masthead.contract.subscription_types import PRINTED

_TYPES = (*PRINTED, "Digital")
_NONE = "(none)"
_LABELS_MAX = 20


class Served(NamedTuple):
    """Copies of an issue that have these values in common, and how many subscriptions get them.

    A subscription with free copies beside others counts once, with the others.
    """

    type: str
    of_class: str
    classification: str | None
    request_type: str | None
    country: str | None
    state: str | None
    subscriptions: int
    copies: int

    @property
    def is_paid(self) -> bool:
        """Whether the copies count as paid; copies that replace lost ones do too."""
        return self.of_class in {PAID, MAKE_GOOD}

    @property
    def is_grace(self) -> bool:
        """Whether the copies are grace."""
        return self.of_class == GRACE


class Moves(NamedTuple):
    """What differs from the issue before: the number of subscriptions and of copies.

    Additions are subscriptions that did not get the issue before, and additional copies of others.
    Removals are subscriptions that got the issue before but not this one, and copies that others no
    longer get.
    """

    before: tuple[int, int]
    additions: tuple[int, int]
    removals: tuple[int, int]


def press_run(title: str, served: Iterable[Served], notes: Sequence[str] = ()) -> Report:
    """Return the copies of an issue by type and country.

    For each row, copies = paid + grace + other. The columns after that are the other classes that
    occur: those of free copies, and of copies that are not paid yet. The title names the issue;
    notes are printed below the table.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    served = list(served)
    for each in served:
        key = (each.type, each.country or _NONE)
        counts[*key, each.of_class] += each.copies * (each.of_class not in {PAID, GRACE})
        counts[*key, "subscriptions"] += each.subscriptions
        counts[*key, "copies"] += each.copies
        counts[*key, "grace" if each.is_grace else "paid" if each.is_paid else "other"] += (
            each.copies
        )
    classes = _classes(served)
    measures = ("subscriptions", "copies", "paid", "grace", "other", *classes)
    keys = sorted({key[:2] for key in counts}, key=lambda key: (_place(key[0]), key[1]))
    rows: tuple[Row, ...] = tuple(
        (*key, *(counts[*key, measure] for measure in measures)) for key in keys
    )
    printed = sum(counts[*key, "copies"] for key in keys if key[0] in PRINTED)
    countries = _largest(
        {country: sum(counts[t, country, "copies"] for t in _TYPES) for _, country in keys}
    )
    chart = Chart(
        tuple(countries),
        tuple(
            Series(kind, tuple(counts[kind, country, "copies"] for country in countries))
            for kind in _TYPES
            if any(key[0] == kind for key in keys)
        ),
        "copies",
    )
    total: Row = (
        *("all", ""),
        *(sum(counts[*key, measure] for key in keys) for measure in measures),
    )
    return Report(
        title,
        (Column("type", Kind.TEXT), Column("country", Kind.TEXT), *map(Column, measures)),
        rows,
        (total,),
        chart,
        _said_of_run(dict(zip(measures, total[2:], strict=True)), printed),
        tuple(notes),
    )


def _said_of_run(totals: Mapping[str, Cell], printed: int) -> tuple[str, ...]:
    copies, subscriptions = int(totals["copies"] or 0), int(totals["subscriptions"] or 0)
    if not copies:
        return ("There are no copies.",)
    of = number_of(subscriptions, "subscription")
    kinds = {
        "paid": int(totals["paid"] or 0),
        "grace": int(totals["grace"] or 0),
        "free or not paid": int(totals["other"] or 0),
    }
    some = listed([f"{count:,} {kind}" for kind, count in kinds.items() if count])
    none = [kind for kind, count in kinds.items() if not count]
    copied = f"{printed:,} to print (Print and Both), {copies - printed:,} digital"
    return (
        f"{number_of(copies, 'copy', 'copies')} for {of}: {copied}.",
        f"{some[0].upper()}{some[1:]}.",
        *([f"No copy is {listed(none, 'or')}."] if none else []),
    )


_Key = Callable[[Served], str]
_DIMENSIONS: tuple[tuple[str, _Key], ...] = (
    ("type", lambda each: each.type),
    ("class", lambda each: each.of_class),
    ("classification", lambda each: each.classification or _NONE),
    ("request type", lambda each: each.request_type or _NONE),
    ("state", lambda each: " ".join(filter(None, (each.country, each.state))) or _NONE),
)


def circulation(
    title: str,
    issues: tuple[str, str],
    served: Sequence[Served],
    moves: Moves,
    notes: Sequence[str] = (),
    *,
    has_before: bool = True,
) -> Report:
    """Return the circulation of an issue: its change from the issue before, and its parts.

    ``issues`` are the names of this issue and of the one before, which ``has_before`` says to have
    a list. Each group of rows (type, class,
    classification, request type, state) adds up to the whole issue. The issue before + additions -
    removals = this issue, in subscriptions and in copies.
    """
    name, before = issues
    whole = _counted("this issue", name, served)
    rows: list[Row] = [
        _moved("the issue before", before, moves.before),
        _moved("additions", "", moves.additions),
        _moved("removals", "", (-moves.removals[0], -moves.removals[1])),
        whole,
    ]
    for by, key in _DIMENSIONS:
        groups: dict[str, list[Served]] = {}
        for each in served:
            groups.setdefault(key(each), []).append(each)
        order = sorted(groups, key=lambda value: (_place(value), value))
        rows += [_counted(by, value, groups[value]) for value in order]
    copies = sum(each.copies for each in served)
    kept = moves.before[1] - moves.removals[1]
    chart = Chart(
        (before, "removals", "additions", name),
        (
            Series("copies of the issue", (moves.before[1], 0, 0, copies)),
            Series("additions", (0, 0, moves.additions[1], 0), (0, 0, kept, 0)),
            Series("removals", (0, moves.removals[1], 0, 0), (0, kept, 0, 0)),
        ),
        "copies",
    )
    measures = ("subscriptions", "copies", "paid", "not paid", *(kind.lower() for kind in _TYPES))
    columns = (Column("by", Kind.TEXT), Column("value", Kind.TEXT), *map(Column, measures))
    said = _said_of_circulation(copies, moves, before if has_before else "")
    return Report(title, columns, tuple(rows), (), chart, said, tuple(notes))


def _said_of_circulation(copies: int, moves: Moves, before: str) -> tuple[str, ...]:
    whole = number_of(copies, "copy", "copies")
    if not before:
        return (f"{whole}. There is no list of an issue before to compare with.",)
    change = copies - moves.before[1]
    than = f"{abs(change):,} {'more' if change > 0 else 'fewer'} than" if change else "as many as"
    moved = {"added": moves.additions[1], "removed": moves.removals[1]}
    some = [f"{number_of(count, 'copy', 'copies')} {how}" for how, count in moved.items() if count]
    none = [how for how, count in moved.items() if not count]
    return (
        f"{whole}, {than} {before}.",
        *([f"Since then: {listed(some)}."] if some else []),
        *([f"No copy was {listed(none, 'or')}."] if none else []),
    )


def _moved(name: str, value: str, counts: tuple[int, int]) -> Row:
    return (name, value, *counts, None, None, None, None, None)


def _counted(name: str, value: str, served: Sequence[Served]) -> Row:
    copies = sum(each.copies for each in served)
    paid = sum(each.copies for each in served if each.is_paid)
    by_type = (sum(each.copies for each in served if each.type == kind) for kind in _TYPES)
    subscriptions = sum(each.subscriptions for each in served)
    return (name, value, subscriptions, copies, paid, copies - paid, *by_type)


def _classes(served: Iterable[Served]) -> list[str]:
    """Return the classes that occur beside paid and grace: standard ones first, then own ones."""
    found = {each.of_class for each in served} - {PAID, GRACE}
    return [*(each for each in ALL if each in found), *sorted(found.difference(ALL))]


def _place(kind: str) -> int:
    return _TYPES.index(kind) if kind in _TYPES else len(_TYPES)


def _largest(counts: dict[str, int]) -> list[str]:
    """Return the labels with the largest counts, the largest first."""
    return sorted(counts, key=lambda label: (-counts[label], label))[:_LABELS_MAX]
