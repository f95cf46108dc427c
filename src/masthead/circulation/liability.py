"""What is owed to readers: money received for issues that are not delivered yet.

Rules: circulation, "Money" and "Reports". Amounts are whole cents, net of tax and shipping.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from masthead.circulation.tables import Chart, Column, Kind, Report, Row, Series

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


def liability(title: str, booked: Iterable[Booked], *, since: str = "") -> Report:
    """Return the liability by publication and month, and of all publications by month.

    The table leaves out months before ``since`` (``YYYY-MM``); the opening amount of the first
    month includes them.
    """
    shown = [month for month in months(booked) if month.month >= since]
    labels = sorted({month.month for month in shown})
    together: list[Row] = []
    for label in labels:
        of_month = [month for month in shown if month.month == label]
        together.append(
            (
                *(ALL, label),
                sum(month.opening for month in of_month),
                sum(month.received for month in of_month),
                sum(month.earned for month in of_month),
                sum(month.refunded for month in of_month),
                sum(month.closing for month in of_month),
            )
        )
    names = {month.publication_id: month.publication for month in shown}
    closing = {(month.publication_id, month.month): month.closing for month in shown}
    chart = Chart(
        title,
        tuple(labels),
        tuple(
            Series(name, tuple(closing.get((publication_id, label), 0) for label in labels))
            for publication_id, name in names.items()
        ),
        "closing liability",
        is_money=True,
    )
    columns = (
        Column("publication", Kind.TEXT),
        Column("month", Kind.TEXT),
        *(Column(name, Kind.MONEY) for name in ("opening", *_KINDS, "closing")),
    )
    return Report(title, columns, tuple(month[1:] for month in shown), tuple(together), chart)
