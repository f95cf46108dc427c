"""The end of a month: nothing is booked into it any more (billing, "Month end")."""

from typing import NamedTuple

from masthead.billing.months import check_month, last_day, month_after, month_of
from masthead.books import journal as books_journal
from masthead.books.account import Books
from masthead.circulation.amounts import in_currency
from masthead.contract.moments import in_words
from masthead.contract.printable import counted
from masthead.errors import BadInput, MastheadError
from masthead.store.billing import closed_months, journal, sums
from masthead.store.books.issue import issues_of
from masthead.store.books.operation import Operation


class ClosedMonth(NamedTuple):
    """A month that was closed, and what stood in the journal at its end, in cents.

    ``receivables`` are invoices that are not settled, ``deposits`` what was paid of these,
    ``credits`` the other money of payers, ``deferred`` what is owed to readers. ``notes`` say what
    of the month is still to come.
    """

    month: str
    receivables: int
    deposits: int
    credits: int
    deferred: int
    currency: str
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What was closed, and how the account stood."""

        def amount(cents: int) -> str:
            return in_currency(cents, self.currency)

        return (
            f"{in_words(self.month)} is closed: receivables {amount(self.receivables)}, deposits "
            f"{amount(self.deposits)}, credits {amount(self.credits)}, deferred "
            f"{amount(self.deferred)}"
        )


def close(books: Books, month: str, *, dry_run: bool = False) -> ClosedMonth:
    """Close a month that has ended: what comes later is booked to the first day that is open.

    Months are closed in their order, from the one in which billing began. A closed month is never
    opened again. Raises BadInput for what is no month, for a month that has not ended, is closed
    already, or does not follow the latest closed one. Raises MastheadError if the account does not
    bill, or if the journal does not agree with the books.
    """
    check_month(month)
    with books.change(dry_run=dry_run) as change:
        begun = closed_months.check_bills(change)
        _check_turn(change, month, begun)
        day = last_day(month)
        for found in (
            books_journal.checked(change, begun, None),
            books_journal.checked(change, begun, day),
        ):
            if found.wrong:
                when = f" at the end of {in_words(month)}" if found.day else ""
                raise MastheadError(f"{found.sentence}{when}: {in_words(month)} stays open")
        done = _closed(change, begun, month)
        closed_months.close_month(change, month)
        change.say(done.sentence)
    return done


def _check_turn(change: Operation, month: str, begun: str) -> None:
    closed_on = closed_months.closed_on(change, month)
    if closed_on is not None:
        raise BadInput(
            f"{in_words(month)} was closed on {in_words(closed_on)} already: nothing was changed"
        )
    last = closed_months.last_closed(change)
    turn = month_of(begun) if last is None else month_after(last)
    if month < turn:
        began = in_words(month_of(begun))
        raise BadInput(f"billing began in {began}: earlier months are closed already")
    if month >= month_of(change.today):
        raise BadInput(
            f"{in_words(month)} has not ended: it can be closed from the first day of "
            f"{in_words(month_after(month))} on"
        )
    if month > turn:
        raise BadInput(f"{in_words(turn)} is not closed yet: months are closed in their order")


def _closed(change: Operation, begun: str, month: str) -> ClosedMonth:
    day = last_day(month)
    balances = journal.balances(change, begun, day)
    deposits = sums.invoice_sums(change, day).deposits
    return ClosedMonth(
        month,
        balances.get("receivables", 0),
        deposits,
        -balances.get("prepayments", 0) - deposits,
        -balances.get("deferred", 0),
        change.currency,
        _notes(change, month),
    )


def _notes(change: Operation, month: str) -> tuple[str, ...]:
    """Return which issues of the month, or of an earlier one, are still to be closed."""
    waiting = [
        each.title
        for each in issues_of(change)
        if each.closed_at is None and each.date and month_of(each.booked_on) <= month
    ]
    if not waiting:
        return ()
    many = counted(len(waiting), "issue is", "issues are")
    note = (
        f"{many} not closed yet, such as {waiting[0]}: what they earn is booked to "
        f"{in_words(month_after(month))} or later"
    )
    return (note,)
