"""What renewal letters brought: for each effort of a publication, how many readers renewed.

Rules: circulation, "Renewals". A renewal counts for the last letter that was sent before it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.circulation.tables import Chart, Column, Kind, Report, Series, number_of
from masthead.contract.printable import listed

_PER_MILLE = 1000


class EffortResult(NamedTuple):
    """An effort: how many letters were sent, and what happened to them.

    ``went_on`` counts readers who did not renew and were sent a later effort for the same term.
    """

    publication: str
    effort: int
    issues_left: int | None
    sent: int
    renewed: int
    went_on: int


def renewals(title: str, efforts: Sequence[EffortResult]) -> Report:
    """Return the efforts with their results: sent = renewed + went on + waiting.

    The rate is renewed by sent, rounded down to tenths of a per cent. ``issues_left`` is None for
    an effort that the publication no longer has.
    """
    rows = tuple(
        (
            each.publication,
            each.effort,
            each.issues_left,
            each.sent,
            each.renewed,
            each.went_on,
            each.sent - each.renewed - each.went_on,
            _rate(each.renewed, each.sent),
        )
        for each in efforts
    )
    sent = sum(each.sent for each in efforts)
    renewed = sum(each.renewed for each in efforts)
    went_on = sum(each.went_on for each in efforts)
    total = (
        *("all", None, None, sent, renewed, went_on),
        sent - renewed - went_on,
        _rate(renewed, sent),
    )
    chart = Chart(
        tuple(f"{each.publication}, effort {each.effort}" for each in efforts),
        tuple(
            Series(name, tuple(int(row[place] or 0) for row in rows))
            for name, place in (("renewed", 4), ("went on", 5), ("waiting", 6))
        ),
        "letters",
    )
    columns = (
        Column("publication", Kind.TEXT),
        *map(Column, ("effort", "issues left", "sent", "renewed", "went on", "waiting")),
        Column("rate %", Kind.SHARE),
    )
    return Report(title, columns, rows, (total,), chart, _summary(efforts, sent, renewed, went_on))


def _summary(
    efforts: Sequence[EffortResult], sent: int, renewed: int, went_on: int
) -> tuple[str, ...]:
    if not sent:
        return ("No letter was sent.",)
    letters = number_of(sent, "letter was", "letters were")
    none = [f"effort {each.effort} of {each.publication}" for each in efforts if not each.sent]
    return (
        f"{letters} sent: {renewed:,} brought a renewal, {went_on:,} went on to a later letter and "
        f"{sent - renewed - went_on:,} wait for an answer."
        if renewed
        else f"{letters} sent. None has brought a renewal yet.",
        *([f"No letter was sent for {listed(none, 'or')}."] if none else []),
    )


def _rate(renewed: int, sent: int) -> int | None:
    return renewed * _PER_MILLE // sent if sent else None
