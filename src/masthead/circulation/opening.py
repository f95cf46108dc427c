"""What a subscription of the publisher's former system becomes when the books are opened.

Its issues left become one opening term, or two if only some of them are paid
(circulation, "Two modes of an account"). What the files leave open is a finding: Masthead guesses
nothing that readers would notice (decisions, "Opening terms").
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from enum import Enum
from itertools import takewhile
from typing import Literal, NamedTuple

from masthead.circulation.expiry_dates import Calendar
from masthead.circulation.issue_calendar import dates_beyond
from masthead.contract.subscription_types import UNLIMITED, SubscriptionType

_CENTS = 100
_YEARS_MAX = 50


class OpeningTerm(NamedTuple):
    """A term: its issues (-1 unlimited), all of which are left, and its price in whole cents.

    The price of a paid term is its unearned revenue, 0 if the value is not known. A term that is
    not paid is free.
    """

    issues: int
    price: int
    is_paid: bool


class Given(NamedTuple):
    """What the files say of a subscription; None where they say nothing.

    ``issues`` is -1 if it is unlimited; ``unearned_revenue`` is an amount as text. ``coming`` is
    the number of coming issues up to ``date_expired``, None if this day is too far ahead to count.
    ``in_campaign`` subscriptions get renewal letters and grace.
    """

    issues: int | None = None
    paid_issues_left: int | None = None
    unearned_revenue: str | None = None
    copies: int | None = 1
    type: str | None = "Print"
    date_expired: str | None = None
    cancelled_on: str | None = None
    in_campaign: bool = False
    coming: int | None = 0


class Choices(NamedTuple):
    """How to take subscriptions that the files do not describe in full.

    ``issues_from_dates`` counts the coming issues up to ``date_expired`` if ``issues`` is empty.
    ``paid`` says whether issues are paid if neither ``paid_issues_left`` nor ``unearned_revenue``
    does. Cancelled subscriptions with issues left get these, and end then (``serve``), or have none
    left (``end``). ``copies`` and ``type`` are those of subscriptions without any.
    """

    issues_from_dates: bool = False
    paid: Literal["all", "none"] | None = None
    cancelled: Literal["serve", "end"] | None = None
    copies: int | None = None
    type: SubscriptionType | None = None


class Finding(Enum):
    """What the files leave open, or contradict, about a subscription.

    Each has a text, and what to do; a finding with nothing to do is a note.
    """

    ISSUES = ("issues is below -1", "give 0 or more, or -1 for an unlimited subscription")
    CENTS = ("unearned_revenue is not in whole cents", "give at most two decimals")
    NEGATIVE = ("unearned_revenue is below 0", "give 0 or more")
    PAID = (
        "paid_issues_left is below 0, or above the issues left",
        "give how many of the issues left are paid",
    )
    NOTHING_PAID = (
        "unearned_revenue is above 0, and no issue left is paid",
        "give the issues that the money is for, or no unearned_revenue",
    )
    DATE = (
        "issues is empty, and date_expired is after the next issue",
        "give the issues left, or let them be counted up to the date",
    )
    FAR = (
        f"issues is empty, and date_expired is more than {_YEARS_MAX} years ahead",
        "give an unlimited subscription -1 issues, and others an earlier date",
    )
    NOT_SAID = (
        "the issues up to date_expired count, and nothing says whether they are paid",
        "fill paid_issues_left or unearned_revenue, or say it for all of these",
    )
    CANCELLED = (
        "cancelled_on is set, and issues, money or time are left",
        "give what is really left, or say whether such readers still get it",
    )
    COPIES = (
        "copies is empty or below 1, and the reader can get issues",
        "give 1 or more, or say a number for all of these",
    )
    TYPE = (
        "type is empty, and the reader can get issues",
        "give Print, Digital or Both, or say one for all of these",
    )
    COUNTED = ("the issues up to date_expired count, since issues is empty", "")
    UNKNOWN = ("no issue is left, since issues and date_expired are empty", "")
    APART = ("issues counts, and differs from date_expired by more than one issue", "")

    def __init__(self, text: str, advice: str) -> None:
        self.text = text
        self.advice = advice


def coming_issues(calendar: Calendar, today: str) -> Iterator[date]:
    """Yield the days of a publication's issues after today, for as long as dates are counted.

    They are the planned issues, and after these the number a year that the publication has. If no
    issue is known, they are reckoned from today.
    """
    first = date.fromisoformat(today)
    beyond = dates_beyond(first, calendar.issues_per_year)
    days = calendar.after_closed() if calendar.dates else beyond
    last = date(min(first.year + _YEARS_MAX, date.max.year), 12, 31)
    return (day for day in takewhile(lambda day: day <= last, days) if day > first)


def is_far(date_expired: str, today: str) -> bool:
    """Return whether a day is too far ahead to count issues up to it."""
    return int(date_expired[:4]) > int(today[:4]) + _YEARS_MAX


def opening_terms(given: Given, choices: Choices) -> tuple[list[OpeningTerm], list[Finding]]:
    """Return the terms of a subscription, the paid one first, and the findings.

    There are no terms if no issue is left, or if a finding is more than a note. If
    ``unearned_revenue`` is empty or 0, ``paid_issues_left`` still says what was paid for; these
    issues earn nothing. If both are empty and ``choices`` says nothing, no issue is paid.
    """
    cents = Decimal(given.unearned_revenue) * _CENTS if given.unearned_revenue else Decimal()
    has_date = given.issues is None and given.coming != 0
    if given.cancelled_on:
        has_rest = given.issues or cents or has_date
        if choices.cancelled is None and has_rest:
            return [], [Finding.CANCELLED]
        if choices.cancelled != "serve" or not has_rest:
            return [], []
    left, findings = _left(given, choices, is_said=bool(cents))
    if left or has_date or given.in_campaign:
        if (given.copies or 0) < 1:
            findings.append(Finding.COPIES)
        if not given.type:
            findings.append(Finding.TYPE)
    paid, contradiction = _paid(given, choices, left, cents)
    if contradiction and not (has_date and not choices.issues_from_dates):
        findings.append(contradiction)
    if findings and any(each.advice for each in findings):
        return [], findings
    if left == UNLIMITED:
        return [OpeningTerm(UNLIMITED, int(cents), bool(paid))], findings
    parts = (OpeningTerm(paid, int(cents), True), OpeningTerm(left - paid, 0, False))
    return [part for part in parts if part.issues], findings


def _left(given: Given, choices: Choices, *, is_said: bool) -> tuple[int, list[Finding]]:
    """Return the issues left, and what is to be said about their number.

    ``is_said``: money is unearned, so that the issues are paid.
    """
    if given.issues is not None:
        is_apart = (
            given.date_expired is not None
            and given.issues >= 0
            and (given.coming is None or abs(given.coming - given.issues) > 1)
        )
        return given.issues, [Finding.APART] if is_apart else []
    if given.date_expired is None:
        return 0, [Finding.UNKNOWN]
    if given.coming is None:
        return 0, [Finding.FAR]
    if not choices.issues_from_dates:
        return 0, [Finding.DATE] if given.coming else []
    is_said = is_said or given.paid_issues_left is not None or choices.paid is not None
    finding = Finding.COUNTED if is_said else Finding.NOT_SAID
    return given.coming, [finding] if given.coming else []


def _paid(given: Given, choices: Choices, left: int, cents: Decimal) -> tuple[int, Finding | None]:
    """Return how many of the issues left are paid, and how the numbers contradict each other."""
    if left < UNLIMITED:
        return 0, Finding.ISSUES
    if cents != cents.to_integral_value():
        return 0, Finding.CENTS
    if cents < 0:
        return 0, Finding.NEGATIVE
    all_if_not_said = left if cents or choices.paid == "all" else 0
    if left == UNLIMITED:
        return all_if_not_said, None
    paid = all_if_not_said if given.paid_issues_left is None else given.paid_issues_left
    if not 0 <= paid <= left:
        return 0, Finding.PAID
    return paid, Finding.NOTHING_PAID if cents and not paid else None
