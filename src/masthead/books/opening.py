"""Opening the books of an account: from then on, operations own its data instead of files.

Until then, an account is in the mode ``elsewhere``, afterwards in the mode ``here``
(circulation, "Two modes of an account"). ``circulation.opening`` says what a subscription's numbers
become.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.amounts import decimal
from masthead.circulation.opening import (
    Contradiction,
    ContradictionError,
    OpeningTerm,
    opening_terms,
)
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.books import opening
from masthead.store.books.opening import Account, Balance, Numbers
from masthead.store.books.operation import Operation, operation

__all__ = ["Account", "Balance", "Opened", "account_of", "open_books"]

_NAMED_MAX = 5
_NUMBERS = ("issues", "paid_issues_left", "unearned_revenue")

Contradictions = dict[Contradiction, list[str]]


def account_of(books: Books) -> Account:
    """Return the account, in either mode. Raises NotFound if it does not exist."""
    with books.read() as reading:
        return opening.account_of(reading)


class Opened(NamedTuple):
    """The opening balances by publication, and how many issues count as closed.

    ``to_renew`` subscriptions have no issue left, and got an empty term so that they get letters;
    their last issue is dated ``renew_since`` or later.
    """

    balances: Sequence[Balance]
    closed_issues: int
    renew_since: str | None = None
    to_renew: int = 0

    @property
    def sentence(self) -> str:
        """How many subscriptions have issues left, what is unearned, and which issues closed."""
        count = sum(each.subscriptions for each in self.balances)
        unearned = sum(each.unearned for each in self.balances)
        said = (
            f"books opened: {counted(count, 'subscription')} with issues left, "
            f"{decimal(unearned)} unearned, {counted(self.closed_issues, 'issue')} closed"
        )
        if self.renew_since is not None:
            said += f", {self.to_renew} to renew since {self.renew_since}"
        return said


def open_books(books: Books, *, renew_since: str | None = None, dry_run: bool = False) -> Opened:
    """Open the account's books in a transaction of its own.

    Closes the issues dated up to today, or up to the newest one that anybody received.
    Subscriptions without issues left get an empty term if their last issue is dated ``renew_since``
    or later.

    Raises BadInput, which lists each kind of contradiction with examples, NotFound if there is no
    such account, MastheadError if its books are already open.
    """
    with operation(
        books.store, books.account_id, books.actor, dry_run=dry_run, mode="elsewhere"
    ) as change:
        opening.add_books(change)
        closed = opening.close_past(change)
        _add_terms(change)
        to_renew = 0 if renew_since is None else opening.add_empty_terms(change, renew_since)
        opening.begin(change)
        opening.refresh_all(change)
        done = Opened(opening.balances(change), closed, renew_since, to_renew)
        change.say(done.sentence)
    if not dry_run:
        opening.analyze(books.store)
    return done


def _add_terms(change: Operation) -> None:
    """Add the opening terms of all subscriptions.

    Raises BadInput for issues without a date, and for numbers of subscriptions that contradict each
    other, with one sentence for each kind.
    """
    problems = []
    if found := opening.issues_without_date(change):
        named = _examples(len(found), "issue", ", ".join(map(str, found[:_NAMED_MAX])))
        problems.append(f"date is empty, and issues close in its order: {named}")
    contradictions: Contradictions = {}
    for batch in opening.numbers_of(change):
        terms = [(numbers, term) for numbers in batch for term in _terms(numbers, contradictions)]
        if not contradictions:
            opening.add_terms(change, terms)
    for kind, said in contradictions.items():
        named = _examples(len(said), "subscription", "; ".join(said[:_NAMED_MAX]))
        problems.append(f"{kind}: {named}")
    if problems:
        raise BadInput("\n".join([*problems, "the books stay closed; load corrected rows first"]))


def _examples(count: int, what: str, named: str) -> str:
    return f"{counted(count, what)}, such as {named}"


def _terms(numbers: Numbers, contradictions: Contradictions) -> Iterator[OpeningTerm]:
    """Yield the opening terms of a subscription, or note how its numbers contradict each other."""
    given = numbers.issues, numbers.paid_issues_left, numbers.unearned_revenue
    try:
        yield from opening_terms(*given)
    except ContradictionError as error:
        said = ", ".join(
            f"{name} {'empty' if value is None else value}"
            for name, value in zip(_NUMBERS, given, strict=True)
        )
        contradictions.setdefault(error.kind, []).append(f"{numbers.subscription_id} ({said})")
