"""What readers may do on the readers' pages, and the sentences that refuse it.

The publisher's settings say what is offered (``circulation.page_settings``). Days are
``YYYY-MM-DD``.
"""

import datetime as dt
from calendar import monthrange
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from masthead.circulation.spans import Span, day_after, day_before, overlapped
from masthead.errors import BadInput

REFUSALS: Mapping[str, str] = {
    "not_offered": "This is not offered here. Please write to us.",
    "not_yours": "There is no such record.",
    "ended": "This subscription has ended.",
    "write_to_us": "This cannot be done here. Please write to us.",
    "text_wrong": "This text has characters that cannot be printed.",
    "text_too_long": "This text is too long: %(most)s characters are the most.",
    "text_missing": "Write a few words.",
    "address_missing": "Enter a street and a city.",
    "day_wrong": "This is not a day such as 2026-11-28.",
    "day_past": "%(day)s is past: choose %(earliest)s or a later day.",
    "days_reversed": "The last day is before the first day.",
    "day_too_far": "No issue is planned for that day yet: choose an earlier day.",
    "issue_closed": "The issue of %(day)s is addressed already: choose a day after it.",
    "temporary_overlaps": (
        "Another address is noted from %(first)s to %(last)s already: end that first."
    ),
    "nothing_chosen": "Choose at least one subscription.",
    "changed_meanwhile": "This has changed meanwhile. Look at the page again.",
    "pause_overlaps": "The subscription is paused from %(first)s already.",
    "pause_notice": "A pause begins on %(earliest)s at the earliest.",
    "pause_too_long": (
        "Days of this pause in %(year)s: %(days)s. Days left for pauses: %(left)s of %(allowed)s."
    ),
    "pause_not_yours": "This pause was not made here. Please write to us.",
    "not_paused": "The subscription is not paused.",
    "cancelled_already": "The subscription is cancelled already.",
    "not_cancelled": "The subscription is not cancelled.",
    "cancelling_final": "This cancellation cannot be taken back any more. Please order again.",
    "unlimited": "This is not possible for a subscription without an end.",
    "renews_already": "The subscription renews automatically already.",
    "renews_not": "The subscription does not renew automatically.",
    "not_for_sale": "This cannot be ordered any more.",
    "consent_missing": "Confirm that you agree.",
    "payment_unknown": "Choose how you pay.",
    "no_mandate": "We have no mandate to collect from your bank account. Choose another way.",
    "name_missing": "Enter a first name or a last name.",
    "recipient_missing": "Enter the name of the person who gets the gift.",
    "issue_unknown": "Choose an issue that was sent to you.",
    "asked_enough": "You have asked us several times. Please wait for an answer.",
    "asked_already": "You have told us already that this copy is missing.",
    "answer_wrong": "Choose from the answers.",
    "answer_missing": "Answer this question.",
    "password_length": "A password has %(least)s to %(most)s characters.",
    "password_simple": "A password has at least %(least)s different characters, besides spaces.",
    "password_is_email": "The password is your email address: choose another one.",
    "purpose_unknown": "Choose from the purposes.",
}
"""The sentence of each code with which an operation of a reader is refused.

The words are the source text for the catalogues of the pages. Values stand as ``%(name)s``.
"""


def refused(code: str, *, field: str = "", **values: object) -> BadInput:
    """Return the error with the sentence of a code; ``field`` is the argument that is wrong.

    The error has the values of the sentence and the field in ``values``.
    """
    return BadInput(REFUSALS[code] % values, code=code, field=field, **values)


State = Literal["begins", "active", "paused", "waits", "cancelled", "ended"]
"""How a subscription stands: it begins later, it is served, it is paused, it waits for a payment,
it is cancelled and has not ended, or it has ended."""


class Standing(NamedTuple):
    """What the rules need to know of a subscription.

    ``issues`` are those left, -1 if it is unlimited. ``is_cancelled``: it ends and has not ended.
    ``is_final``: the cancelling cannot be taken back. ``is_own``: the reader pays for it, so that
    it is no gift that somebody else pays for. ``of_terms`` are the issues left of its terms, which
    may have an end where a qualification has none.
    """

    issues: int
    is_over: bool = False
    is_cancelled: bool = False
    is_final: bool = False
    is_waiting: bool = False
    is_own: bool = True
    begins_on: str | None = None
    pauses: tuple[Span, ...] = ()
    renews: bool = False
    of_terms: int = 0


def state_of(standing: Standing, today: str) -> State:
    """Return how a subscription stands today."""
    if standing.is_over or not standing.issues:
        return "ended"
    if standing.is_cancelled:
        return "cancelled"
    if overlapped(standing.pauses, today, today):
        return "paused"
    if standing.is_waiting:
        return "waits"
    if standing.begins_on is not None and standing.begins_on > today:
        return "begins"
    return "active"


def days_by_year(first: str, last: str | None) -> dict[int, int]:
    """Return how many days of each year a span has; one without an end lasts until its year ends.

    Both days count.
    """
    begin = dt.date.fromisoformat(first)
    end = dt.date(begin.year, 12, 31) if last is None else dt.date.fromisoformat(last)
    found = {}
    for year in range(begin.year, end.year + 1):
        of_year = max(begin, dt.date(year, 1, 1)), min(end, dt.date(year, 12, 31))
        found[year] = (of_year[1] - of_year[0]).days + 1
    return found


def paused_days(pauses: Iterable[Span]) -> dict[int, int]:
    """Return how many days of each year some pauses have."""
    found: dict[int, int] = {}
    for span in pauses:
        for year, days in days_by_year(span.first, span.last).items():
            found[year] = found.get(year, 0) + days
    return found


def earliest_pause(today: str, notice: int, newest_closed: str | None) -> str:
    """Return the first day on which a pause can begin.

    It is ``notice`` days after today, and after the newest closed issue, which is addressed
    already.
    """
    found = (dt.date.fromisoformat(today) + dt.timedelta(days=notice)).isoformat()
    return found if newest_closed is None else max(found, day_after(newest_closed))


class PauseRules(NamedTuple):
    """What the publisher allows: days of a calendar year, and days before the first day."""

    days: int
    notice: int


def check_pause(
    rules: PauseRules,
    today: str,
    first: str,
    last: str,
    pauses: Iterable[Span],
    newest_closed: str | None,
) -> None:
    """Raise BadInput unless a subscription can be paused from ``first`` to ``last``.

    All days of its pauses count, also those that a clerk entered, each in its calendar year.
    """
    pauses = tuple(pauses)
    check_days(first, last)
    earliest = earliest_pause(today, rules.notice, newest_closed)
    if first < earliest:
        raise refused("pause_notice", field="first", earliest=earliest)
    if other := overlapped(pauses, first, last):
        raise refused("pause_overlaps", field="first", first=other.first)
    before = paused_days(pauses)
    for year, days in days_by_year(first, last).items():
        left = max(rules.days - before.get(year, 0), 0)
        if days > left:
            raise refused(
                "pause_too_long", field="last", days=days, year=year, left=left, allowed=rules.days
            )


def is_made_good(issue_day: str, since: str, copies: int, most: int) -> bool:
    """Return whether a missing copy is sent again at once.

    ``since`` is the first day of issues for which that is so. ``copies`` were sent again in this
    calendar year, and ``most`` is what the publisher allows.
    """
    return issue_day >= since and copies < most


def paid_until(terms: Iterable[tuple[str, int]]) -> str | None:
    """Return the last day of unlimited terms, given their first days and months; None without any.

    A month ends on the day before the same day of the next month, or before its last day.
    """
    found = None
    for first, months in terms:
        begin = dt.date.fromisoformat(first)
        number = begin.year * 12 + begin.month - 1 + months
        year, month = divmod(number, 12)
        day = min(begin.day, monthrange(year, month + 1)[1])
        last = day_before(dt.date(year, month + 1, day).isoformat())
        found = last if found is None else max(found, last)
    return found


def check_days(first: str, last: str) -> None:
    """Raise BadInput unless both are days, in this order."""
    check_day(first, "first")
    check_day(last, "last")
    if last < first:
        raise refused("days_reversed", field="last")


def check_day(day: str, field: str) -> None:
    """Raise BadInput with the field unless a text is a day such as 2026-11-28."""
    try:
        is_day = dt.date.fromisoformat(day).isoformat() == day
    except ValueError:
        is_day = False
    if not is_day:
        raise refused("day_wrong", field=field)


def check_text(
    text: str, field: str, most: int, *, has_lines: bool = False, **values: object
) -> None:
    """Raise BadInput with the field for a text that is too long, or that cannot be printed.

    With ``has_lines``, it may have line breaks. The error has the ``values`` too.
    """
    if len(text) > most:
        raise refused("text_too_long", field=field, most=most, **values)
    if not (text.replace("\n", " ") if has_lines else text).isprintable():
        raise refused("text_wrong", field=field, **values)
