"""Opening the books of an account: from then on, operations own its data instead of files.

Until then, an account is in the mode ``elsewhere``, afterwards in the mode ``here``
(circulation, "Two modes of an account"). ``circulation.opening`` says what a subscription's numbers
become.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.amounts import in_currency
from masthead.circulation.opening import (
    Choices,
    Finding,
    Given,
    OpeningTerm,
    coming_issues,
    is_far,
    opening_terms,
)
from masthead.contract.printable import counted, printable
from masthead.contract.subscription_types import PRINTED
from masthead.errors import BadInput
from masthead.store.books import opening, opening_figures, opening_undo
from masthead.store.books.closing import deliver
from masthead.store.books.opening import Account, Numbers
from masthead.store.books.opening_figures import Balance, Sent
from masthead.store.books.operation import Operation, operation
from masthead.store.books.served_subscriptions import Grace
from masthead.store.books.stored_expiry_dates import calendar_of

__all__ = [
    "Account",
    "Balance",
    "Choices",
    "NextIssue",
    "Opened",
    "Sent",
    "Undone",
    "account_of",
    "open_books",
    "undo_opening",
]

_NAMED_MAX = 5
_AS_THE_FILES_SAY = Choices()


def account_of(books: Books) -> Account:
    """Return the account, in either mode. Raises NotFound if it does not exist."""
    with books.read() as reading:
        return opening.account_of(reading)


class NextIssue(NamedTuple):
    """What closing a publication's next issue would give, and what was sent before it.

    ``readers`` is the number of subscriptions, ``printed`` that of the copies of Print and Both.
    ``held`` counts the subscriptions that would be served and cannot be, by reason. ``last`` is
    None if the files have neither lists nor deliveries.
    """

    publication: str
    issue: str
    readers: int
    copies: int
    printed: int
    held: Mapping[str, int]
    last: Sent | None


class Opened(NamedTuple):
    """The opening balances by publication, and how many issues count as closed.

    ``notes`` say which subscriptions were taken in a way that the publisher should know of.
    ``to_renew`` subscriptions have no issue left, and got an empty term so that they get letters;
    their last issue is dated ``renew_since`` or later. Only a dry run has ``next_issues``.
    """

    balances: Sequence[Balance]
    closed_issues: int
    currency: str
    renew_since: str | None = None
    to_renew: int = 0
    notes: Sequence[str] = ()
    next_issues: Sequence[NextIssue] = ()

    @property
    def sentence(self) -> str:
        """How many subscriptions have issues left, what is unearned, and which issues closed."""
        count = sum(each.subscriptions for each in self.balances)
        unearned = sum(each.unearned for each in self.balances)
        said = (
            f"books opened: {counted(count, 'subscription')} with issues left, "
            f"{in_currency(unearned, self.currency)} unearned, "
            f"{counted(self.closed_issues, 'issue')} closed"
        )
        if self.renew_since is not None:
            said += f", {self.to_renew} to renew since {self.renew_since}"
        return said


def open_books(
    books: Books,
    choices: Choices = _AS_THE_FILES_SAY,
    *,
    renew_since: str | None = None,
    dry_run: bool = False,
) -> Opened:
    """Open the account's books in a transaction of its own.

    Closes the issues dated up to today, or up to the newest one that anybody received.
    Subscriptions without issues left get an empty term if their last issue is dated ``renew_since``
    or later.

    Raises BadInput, which lists each kind of subscription that cannot be taken as it is, with
    examples; NotFound if there is no such account; MastheadError if its books are already open.
    """
    with operation(
        books.store, books.account_id, books.actor, dry_run=dry_run, mode="elsewhere"
    ) as change:
        opening.add_books(change)
        closed = opening.close_past(change)
        opening.fill_in(change, choices.copies, choices.type)
        counting = _Opening(change, choices)
        notes = counting.run()
        to_renew = 0 if renew_since is None else opening.add_empty_terms(change, renew_since)
        opening.begin(change)
        opening.refresh_all(change)
        balances = opening_figures.balances(change)
        notes += counting.issues_a_year(balances)
        done = Opened(balances, closed, change.currency, renew_since, to_renew, notes)
        change.say(done.sentence)
        if dry_run:
            done = done._replace(next_issues=_next_issues(change, balances))
    if not dry_run:
        opening.analyze(books.store)
    return done


class Undone(NamedTuple):
    """The day of the opening that was undone."""

    opened_on: str

    @property
    def sentence(self) -> str:
        """What was undone, and what gives the subscriptions the values of the files again."""
        return (
            f"the opening of {self.opened_on} was undone: the account gets its data from files, "
            "and subscriptions have the opening's values until files are loaded"
        )


def undo_opening(books: Books, *, dry_run: bool = False) -> Undone:
    """Undo the opening, for as long as nothing was done in the books.

    Raises BadInput, with what was done, NotFound if there is no such account, MastheadError if its
    books are not open.
    """
    with books.change(dry_run=dry_run) as change:
        opening_undo.check_unused(change)
        opened_on = opening.account_of(change).opened_on
        assert opened_on is not None
        opening_undo.undo(change)
        done = Undone(opened_on)
        change.say(done.sentence)
    return done


class _Opening:
    """Adds the opening terms of all subscriptions, and notes what is to be said about them."""

    def __init__(self, change: Operation, choices: Choices) -> None:
        self._change = change
        self._choices = choices
        self._found = Counter[Finding]()
        self._examples: dict[Finding, list[Numbers]] = {}
        self._coming: dict[int, list[str]] = {}
        self._a_year: dict[int, int] = {}

    def run(self) -> list[str]:
        """Add the terms; return a sentence for each kind of note.

        Raises BadInput for issues without a date, and for subscriptions that cannot be taken as
        they are, with one sentence for each kind.
        """
        problems = []
        if undated := opening.issues_without_date(self._change):
            named = ", ".join(map(str, undated[:_NAMED_MAX]))
            problems.append(
                "date is empty, and issues close in its order: "
                f"{counted(len(undated), 'issue')}, such as {named}; give each a date"
            )
        is_refused = bool(problems)
        for batch in opening.numbers_of(self._change):
            terms = [(numbers, term) for numbers in batch for term in self._terms(numbers)]
            is_refused = is_refused or any(each.advice for each in self._found)
            if not is_refused:
                self._write(terms)
        said = self._said()
        problems += [said[each] for each in Finding if each in said and each.advice]
        if problems:
            last = "the books stay closed: load corrected rows, or say how these are taken"
            raise BadInput("\n".join([*problems, last]), code="opening_refused")
        return [said[each] for each in Finding if each in said]

    def issues_a_year(self, balances: Sequence[Balance]) -> list[str]:
        """Return a note of the issues a year with which issues were counted, if any were."""
        if Finding.COUNTED not in self._found:
            return []
        counts = [
            f"{each.name} {self._a_year[each.publication_id]}"
            for each in balances
            if each.publication_id in self._a_year
        ]
        return [f"after the planned issues, so many a year were counted: {', '.join(counts)}"]

    def _terms(self, numbers: Numbers) -> list[OpeningTerm]:
        coming = self._coming_until(numbers.publication_id, numbers.date_expired)
        given = Given(*numbers[3:], coming)
        terms, findings = opening_terms(given, self._choices)
        for finding in findings:
            self._found[finding] += 1
            if self._found[finding] <= _NAMED_MAX:
                self._examples.setdefault(finding, []).append(numbers)
        return terms

    def _coming_until(self, publication_id: int, day: str | None) -> int | None:
        """Return the number of coming issues up to a day; None if it is too far ahead."""
        today = self._change.today
        if day is None or day <= today:
            return 0
        if is_far(day, today):
            return None
        if publication_id not in self._coming:
            calendar = calendar_of(self._change, publication_id)
            self._a_year[publication_id] = calendar.issues_per_year
            self._coming[publication_id] = [f"{each}" for each in coming_issues(calendar, today)]
        return bisect_right(self._coming[publication_id], day)

    def _write(self, terms: list[tuple[Numbers, OpeningTerm]]) -> None:
        opening.add_terms(self._change, terms)
        cancelled = {each.subscription_id for each, _ in terms if each.cancelled_on}
        if cancelled:
            opening.end_later(self._change, cancelled)

    def _said(self) -> dict[Finding, str]:
        """Return a sentence for each finding: the number of subscriptions, and some by name."""
        ids = {numbers.subscription_id for few in self._examples.values() for numbers in few}
        names = opening.names_of(self._change, ids)
        said = {}
        for each, few in self._examples.items():
            examples = ", ".join(_example(numbers, names) for numbers in few)
            count = counted(self._found[each], "subscription")
            advice = f"; {each.advice}" if each.advice else ""
            said[each] = f"{each.text}: {count}, such as {examples}{advice}"
        return said


def _example(numbers: Numbers, names: dict[int, str]) -> str:
    """Return a subscription in words: its id, the reader's name, and what is given for it."""
    given = {
        "issues": numbers.issues,
        "paid_issues_left": numbers.paid_issues_left,
        "unearned_revenue": numbers.unearned_revenue,
        "date_expired": numbers.date_expired,
        "cancelled_on": numbers.cancelled_on,
    }
    what = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
    name = printable(names[numbers.subscription_id])
    return " ".join(filter(None, (str(numbers.subscription_id), name, what and f"({what})")))


def _next_issues(change: Operation, balances: Sequence[Balance]) -> list[NextIssue]:
    """Deliver the next issue of each publication with issues left, which a dry run then undoes."""
    last = opening_figures.last_sent(change)
    found = []
    for each in balances:
        if not each.subscriptions and each.publication_id not in last:
            continue
        issue = opening_figures.next_planned(change, each.publication_id)
        if issue is None:
            day = next(coming_issues(calendar_of(change, each.publication_id), change.today), None)
            if day is None:
                continue
            issue = opening_figures.plan(change, each.publication_id, f"{day}")
        made = deliver(change, issue, Grace())
        found.append(
            NextIssue(
                each.name,
                f"{issue.name}, {issue.date}",
                made.entries,
                sum(part.copies for part in made.press_run),
                sum(part.copies for part in made.press_run if part.type in PRINTED),
                Counter(one.why for one in made.held),
                last.get(each.publication_id),
            )
        )
    return found
