"""What is owed to readers: money received for issues that are not delivered yet.

Rules: circulation, "Money" and "Reports". Amounts are whole cents, net of tax and shipping.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from masthead.circulation.amounts import in_currency
from masthead.circulation.tables import Chart, Column, Kind, Report, Row, Series
from masthead.contract.moments import in_words
from masthead.contract.printable import listed

ALL = "all publications"

_KINDS = ("received", "earned", "refunded")
_MONTHS = 12


class Booked(NamedTuple):
    """The sum of the bookings of a kind in a month (``YYYY-MM``) for a publication, in cents."""

    publication_id: int
    publication: str
    month: str
    kind: str
    cents: int


class Month(NamedTuple):
    """A publication's month: opening + received - earned - refunded = closing, in cents."""

    publication_id: int
    publication: str
    month: str
    opening: int
    received: int
    earned: int
    refunded: int
    closing: int


def months(booked: Iterable[Booked]) -> list[Month]:
    """Return every month from a publication's first booking to the last one of all publications.

    They are sorted by publication and month. Each month opens with the closing amount of the month
    before.
    """
    sums: Counter[tuple[int, str, str]] = Counter()
    names: dict[int, str] = {}
    first: dict[int, str] = {}
    last = ""
    for each in booked:
        names[each.publication_id] = each.publication
        sums[each.publication_id, each.month, each.kind] += each.cents
        first[each.publication_id] = min(first.get(each.publication_id, each.month), each.month)
        last = max(last, each.month)
    found = []
    for publication_id in sorted(names):
        opening = 0
        for month in _between(first[publication_id], last):
            received, earned, refunded = (sums[publication_id, month, kind] for kind in _KINDS)
            closing = opening + received - earned - refunded
            found.append(
                Month(
                    publication_id,
                    names[publication_id],
                    month,
                    opening,
                    received,
                    earned,
                    refunded,
                    closing,
                )
            )
            opening = closing
    return found


def _between(first: str, last: str) -> Iterator[str]:
    year, month = map(int, first.split("-"))
    while (text := f"{year:04}-{month:02}") <= last:
        yield text
        year, month = (year + 1, 1) if month == _MONTHS else (year, month + 1)


def liability(
    title: str, booked: Iterable[Booked], *, month: str, currency: str, since: str = ""
) -> Report:
    """Return the liability by publication and month, and of all publications by month.

    The table leaves out months before ``since`` (``YYYY-MM``); the opening amount of the first
    month includes them. The summary has the bookings of ``month``.
    """
    booked = list(booked)
    shown = [each for each in months(booked) if each.month >= since]
    labels = sorted({each.month for each in shown})
    together: list[Row] = []
    for label in labels:
        of_label = [each for each in shown if each.month == label]
        together.append(
            (
                *(ALL, label),
                sum(each.opening for each in of_label),
                sum(each.received for each in of_label),
                sum(each.earned for each in of_label),
                sum(each.refunded for each in of_label),
                sum(each.closing for each in of_label),
            )
        )
    names = {each.publication_id: each.publication for each in shown}
    closing = {(each.publication_id, each.month): each.closing for each in shown}
    chart = Chart(
        tuple(labels),
        tuple(
            Series(name, tuple(closing.get((publication_id, label), 0) for label in labels))
            for publication_id, name in names.items()
        ),
        currency,
        is_money=True,
    )
    columns = (
        Column("publication", Kind.TEXT),
        Column("month", Kind.DATE),
        *(Column(name, Kind.MONEY) for name in ("opening", *_KINDS, "closing")),
    )
    rows = tuple(each[1:] for each in shown)
    summary = _summary(booked, month, currency)
    return Report(title, columns, rows, tuple(together), chart, summary, currency=currency)


def _summary(booked: Sequence[Booked], month: str, currency: str) -> tuple[str, ...]:
    sums = Counter[str]()
    of_month = Counter[str]()
    for each in booked:
        sums[each.kind] += each.cents
        of_month[each.kind] += each.cents if each.month == month else 0
    owed = sums["received"] - sums["earned"] - sums["refunded"]
    said = [
        f"{in_currency(of_month[kind], currency)} was {kind}" for kind in _KINDS if of_month[kind]
    ]
    none = [kind for kind in _KINDS if not of_month[kind]]
    return (
        f"{in_currency(owed, currency)} is owed to readers, for issues that were paid and are "
        "still to come."
        if owed
        else "Nothing is owed to readers.",
        *([f"In {in_words(month)}, {listed(said)}."] if said else []),
        *([f"Nothing was {listed(none, 'or')} in {in_words(month)}."] if none else []),
    )
