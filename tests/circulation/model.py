"""The rules of circulation in plain Python, which the proof compares with the product.

Written without the store and ``masthead.circulation``, so that neither judges itself. All is done
reader by reader and issue by issue, and what follows from something else is found again each time:
how slow that is does not matter. What an operation refuses raises :class:`Refused`; the caller
throws the books away to which it was done.
"""

from __future__ import annotations

import calendar
from collections import Counter
from datetime import date, timedelta
from itertools import chain, pairwise, repeat, takewhile
from typing import TYPE_CHECKING

from tests.circulation.model_records import Booked, Delivery, Records, Term, add

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNLIMITED = -1
DAY = timedelta(days=1)


class Refused(Exception):
    """The operation changes nothing."""


def check(is_right: object) -> None:
    """Refuse the operation unless that is so."""
    if not is_right:
        raise Refused


def rounded(dividend: int, divisor: int) -> int:
    """Half a cent is a cent."""
    return (2 * dividend + divisor) // (2 * divisor) if divisor else 0


def months(start: date, end: date) -> int:
    """The whole months from one day to another; the last day of a month makes it whole.

    Below 0 where the end is earlier.
    """
    is_last = end.day == calendar.monthrange(end.year, end.month)[1]
    whole = is_last or end.day >= start.day
    return 12 * (end.year - start.year) + end.month - start.month - (not whole)


class Rules(Records):
    """The records, what follows from them, money, and how the books are opened."""

    # What follows from the records

    def terms_of(self, key: int) -> list[int]:
        """A subscription's terms, in the order in which they were added."""
        return sorted(n for n, term in self.terms.items() if term.subscription == key)

    def terms_of_items(self, items: Iterable[int]) -> list[int]:
        wanted = set(items)
        return sorted(n for n, term in self.terms.items() if term.item in wanted)

    def delivered(self, number: int) -> list[date]:
        """The dates of the issues that came out of a term, with any number of copies."""
        of_term = [i for (_, i), each in self.deliveries.items() if each.term == number]
        return sorted(self.issues[issue].date for issue in of_term)

    def left(self, number: int) -> int:
        """The issues left of a term: an unlimited one is never used up."""
        term = self.terms[number]
        if term.ended:
            return 0
        return UNLIMITED if term.issues < 0 else term.issues - len(self.delivered(number))

    def issues_left(self, key: int) -> int:
        lefts = [self.left(number) for number in self.terms_of(key)]
        return UNLIMITED if UNLIMITED in lefts else sum(lefts)

    def is_paid(self, number: int | None) -> bool:
        term = self.terms.get(number or 0)
        return term is not None and term.paid_on is not None

    def paid_issues_left(self, key: int) -> int | None:
        paid = sum(self.left(number) for number in self.terms_of(key) if self.is_paid(number))
        return None if self.issues_left(key) == UNLIMITED else paid

    def booked(self, number: int, kind: str) -> int:
        return sum(row.cents for row in self.revenue if (row.term, row.kind) == (number, kind))

    def unearned(self, number: int) -> int:
        received, *others = (self.booked(number, k) for k in ("received", "earned", "refunded"))
        return received - sum(others)

    def received(self, key: int) -> list[tuple[date, int, Delivery]]:
        """What a subscription got, the oldest issue first."""
        own = [(issue, each) for (whose, issue), each in self.deliveries.items() if whose == key]
        return sorted((self.issues[issue].date, issue, each) for issue, each in own)

    def last_regular(self, key: int) -> date | None:
        return max((day for day, _, each in self.received(key) if each.is_regular), default=None)

    def grace_since(self, key: int) -> list[int]:
        """The grace issues since the last regular one, which no renewal has taken over."""
        last = self.last_regular(key) or date.min
        return [i for day, i, each in self.received(key) if not each.is_regular and day > last]

    def is_free_copy(self, number: int) -> bool:
        return self.terms[number].kind == "extension"

    def present_term(self, key: int) -> int | None:
        """The newest term with issues left, or else the newest; a free copy if there is no other.

        One that has ended was given back, and with it all that the reader would still have had.
        """
        terms = self.terms_of(key)
        sold = [n for n in terms if not self.is_free_copy(n)]
        running = [n for n in sold if self.left(n)]
        return next(reversed(running or sold or terms), None)

    def is_suspended(self, key: int, day: date) -> bool:
        spans = (span for span in self.suspensions.values() if span.subscription == key)
        return any(span.first <= day <= (span.last or date.max) for span in spans)

    def address_on(self, key: int, day: date) -> int | None:
        for span in self.aways.values():
            if span.subscription == key and span.first <= day <= (span.last or date.max):
                return span.address
        return self.subscriptions[key].mailing

    def is_running(self, key: int) -> bool:
        found = self.subscriptions[key]
        return found.cancelled_on is None and self.subscribers[found.subscriber]

    def issues_of(self, publication: int, *, closed: bool | None = None) -> list[int]:
        """A publication's issues in the order of their dates: closed ones, others, or all."""
        return sorted(
            (n for n, issue in self.issues.items() if issue.publication == publication
             and closed in {None, issue.closed is not None}),
            key=lambda n: (self.issues[n].date, n),
        )  # fmt: skip

    def newest_closed(self, publication: int) -> int | None:
        return next(reversed(self.issues_of(publication, closed=True)), None)

    def beyond(self, publication: int) -> Iterator[date]:
        """The days after the last planned issue: by months, by weeks, or by parts of 365 days."""
        last = self.issues[self.issues_of(publication)[-1]].date
        year = self.publications[publication].issues_per_year
        for n in range(1, 4000):
            if 12 % year == 0:
                month = 12 * last.year + last.month - 1 + n * 12 // year
                length = calendar.monthrange(month // 12, month % 12 + 1)[1]
                yield date(month // 12, month % 12 + 1, min(last.day, length))
            else:
                weeks = timedelta(weeks=n * 52 // year)
                yield last + (weeks if 52 % year == 0 else timedelta(days=365 * n // year))

    def expires(self, key: int) -> date | None:
        """The day before the first issue that a subscription will not get; None: unlimited."""
        last, day = self.last_day(key), self.runs_out(key)
        if last is None:
            return day
        publication = self.subscriptions[key].publication
        planned = [self.issues[n].date for n in self.issues_of(publication)]
        end = next(each for each in chain(planned, self.beyond(publication)) if each > last) - DAY
        return min(end, day or end)

    def runs_out(self, key: int) -> date | None:
        """The same by the issues that are left, whether it was cancelled or not."""
        found, left = self.subscriptions[key], self.issues_left(key)
        planned = self.issues_of(found.publication)
        got = self.received(key)
        days = chain((self.issues[n].date for n in planned), self.beyond(found.publication))
        if left == UNLIMITED:
            return None
        if left == 0:
            if got:
                last = got[-1][0]
            elif found.begins_on:
                last = found.begins_on - DAY
            else:
                return None  # the day it would have begun is unknown
            return next(day for day in days if day > last) - DAY
        for number, day in zip(chain(planned, repeat(None)), days, strict=False):
            issue = self.issues[number] if number else None
            is_past = issue is not None and issue.closed is not None
            spans = [s for s in self.suspensions.values() if s.subscription == key]
            is_away = any(s.first <= day <= (s.last or date.max) and (s.last or is_past)
                          for s in spans)  # fmt: skip
            is_lost = is_past and issue is not None and issue.main_list is None
            is_due = found.begins_on is not None and found.begins_on <= day
            if is_due and not is_away and not is_lost and (key, number) not in self.deliveries:
                left -= 1
                if left < 0:
                    return day - DAY
        raise AssertionError("there are too few days")

    # Money

    def book(self, number: int, issue: int | None, kind: str, cents: int, day: date) -> None:
        if cents:
            self.revenue.append(Booked(number, issue, kind, cents, day))

    def open_day(self, day: date) -> date:
        """Nothing is booked into a month that has ended: then it is booked today."""
        return day if (day.year, day.month) >= (self.today.year, self.today.month) else self.today

    def settle(self, number: int, issue: int | None = None, day: date | None = None) -> None:
        """Earn what a paid term should have earned by now: floor(c·k/n) after k of n."""
        term = self.terms[number]
        if not self.is_paid(number) or term.ended or term.paid_on is None:
            return
        more = self.due(number) - self.booked(number, "earned")
        if not issue:
            self.book(number, None, "earned", more, day or self.today)
        elif more > 0:
            found = self.issues[issue]
            day = self.open_day(found.mailed_on or found.date)
            self.book(number, issue, "earned", more, max(term.paid_on, day))
        else:
            of, day = self.latest_earned(number, issue)
            self.book(number, of, "earned", more, self.open_day(day))

    def due(self, number: int) -> int:
        """What a term should have earned: of what it is spread over, so much has been delivered."""
        term = self.terms[number]
        done, whole = len(self.delivered(number)), term.issues
        if term.issues == UNLIMITED:
            done, whole = self.months_served(number), term.months or 1
        if done >= whole:
            return term.price - term.allowed
        if done < term.spread_after:
            return term.spread_earned * done // term.spread_after
        rest = term.price - term.allowed - term.spread_earned
        parts, of_these = whole - term.spread_after, done - term.spread_after
        if term.spread_parts is not None:
            parts, of_these = term.spread_parts, of_these * term.copies
        return term.spread_earned + rest * of_these // parts

    def months_served(self, number: int) -> int:
        """How many months an unlimited term was served: from an issue that came until the next."""
        term, start = self.terms[number], self.began(number)
        publication = self.subscriptions[term.subscription].publication
        listed = [n for n in self.issues_of(publication) if self.issues[n].main_list]
        came = {i for (_, i), each in self.deliveries.items() if each.term == number}
        if start is None or not listed:
            return 0
        day = self.issues[listed[0]].date
        served = months(start, day) if term.opened_on and start < day else 0
        for issue, after in pairwise(listed):
            if issue in came:
                until, since = self.issues[after].date, self.issues[issue].date
                served += months(start, until) - months(start, since)
        return max(served, 0)

    def latest_earned(self, number: int, issue: int) -> tuple[int | None, date]:
        """Where a term's latest closed issue but this one was booked, or else its payment."""
        found = [
            (self.issues[row.issue].date if row.issue else date.min, n, row.issue, row.on)
            for n, row in enumerate(self.revenue)
            if (row.term, row.kind) == (number, "earned") and row.cents > 0
            and (not row.issue or (row.issue != issue and self.issues[row.issue].closed))
        ]  # fmt: skip
        *_, of, day = max(found, default=(None, self.terms[number].paid_on))
        assert isinstance(day, date)
        return of, day

    def take_back(self, issue: int) -> None:
        """What an issue earned is taken back where it was booked, unless that month has ended."""
        days: Counter[tuple[int, date]] = Counter()
        for row in self.revenue:
            if (row.issue, row.kind) == (issue, "earned") and not self.terms[row.term].ended:
                days[row.term, self.open_day(row.on)] += row.cents
        for (number, day), cents in sorted(days.items()):
            self.book(number, issue, "earned", -cents, day)

    def began(self, number: int) -> date | None:
        """An unlimited term begins when the books are opened, or with the first issue out of it."""
        return self.terms[number].opened_on or next(iter(self.delivered(number)), None)

    def settle_all(self, issue: int) -> None:
        for number, term in sorted(self.terms.items()):
            publication = self.subscriptions[term.subscription].publication
            if publication == self.issues[issue].publication:
                self.settle(number, issue)

    # Opening

    def open_books(self, given: dict[int, tuple[int | date, int | None, int]]) -> None:
        """Begin with issues, paid issues and unearned cents of each subscription.

        A date stands for the issues that are not closed, up to that day.
        """
        for publication in self.publications:
            got = {issue for _, issue in self.deliveries}
            every = self.issues_of(publication)
            past = [n for n in every if self.issues[n].date <= self.today or n in got]
            for number in every[: every.index(past[-1]) + 1] if past else []:
                self.issues[number].closed = self.moment
        for key, (left, paid, cents) in sorted(given.items()):
            found = self.subscriptions[key]
            issues = self.coming(found.publication, left) if isinstance(left, date) else left
            newest = self.newest_closed(found.publication)
            found.begins_on = self.issues[newest].date + DAY if newest else self.today
            of_these = paid if paid is not None else issues if cents else 0
            parts = (of_these, cents, True), (issues - of_these, 0, False)
            parts = parts if issues > 0 else ((issues, cents, cents > 0), (0, 0, False))
            for count, price, is_paid in (part for part in parts if part[0]):
                term = Term(key, None, count, price, "opening", copies=max(found.copies, 1))
                term.of_class = "paid" if is_paid else "complimentary"
                term.paid_on = self.today if is_paid else None
                if count == UNLIMITED:
                    term.opened_on = self.today
                    publication_ = self.publications[found.publication]
                    term.months = publication_.unlimited_term_months
                self.book(add(self.terms, term), None, "received", price, self.today)

    def coming(self, publication: int, until: date) -> int:
        """How many issues come up to a day: those that are not closed, and those beyond."""
        planned = [self.issues[n].date for n in self.issues_of(publication, closed=False)]
        return sum(1 for _ in takewhile(lambda day: day <= until,
                                        chain(planned, self.beyond(publication))))  # fmt: skip

    # Terms that are added

    def begins(self, publication: int) -> date:
        """The first day from which issues are due: circulation, "First issue"."""
        newest = self.newest_closed(publication)
        if newest is None:
            return min([self.today, *(self.issues[n].date for n in self.issues_of(publication))])
        is_late = self.publications[publication].late_start == "current"
        return self.issues[newest].date + (0 if is_late else 1) * DAY

    def add_term(self, term: Term) -> None:
        """Add a term; where grace counts, a late renewal takes over the grace issues."""
        key = term.subscription
        publication = self.publications[self.subscriptions[key].publication]
        if term.issues == UNLIMITED:
            term.months = term.months or publication.unlimited_term_months
        is_late = publication.grace_counts and term.item and not self.issues_left(key)
        number = add(self.terms, term)
        for issue in self.grace_since(key)[: max(term.issues, 0)] if is_late else []:
            self.deliveries[key, issue] = self.deliveries[key, issue]._replace(term=number)

    # What is cancelled: ``model_cancelling``

    def last_day(self, key: int) -> date | None:
        """The date of the last issue that one gets which is to end after an issue."""
        raise NotImplementedError
