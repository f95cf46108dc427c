"""Cancelling a subscription, and undoing it.

Each operation raises NotFound if there is no such subscription.
"""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.amounts import decimal
from masthead.contract.printable import counted, single_spaced
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.books import cancelling, catalogue, uncancelling
from masthead.store.books.cancel_reasons import reasons
from masthead.store.books.issue import find_issue
from masthead.store.books.operation import Operation
from masthead.store.books.subscription import changeable, held

__all__ = ["Cancelled", "Endings", "Uncancelled", "cancel", "endings", "uncancel"]


class Endings(NamedTuple):
    """How a subscription can be cancelled: the issues that can be the last one, and the reasons.

    An issue has its id, name and date.
    """

    issues: list[tuple[int, str, str]]
    reasons: list[str]


def endings(books: Books, subscription_id: int) -> Endings:
    """Return the issues of its publication that are to come, and the publisher's reasons."""
    with books.read() as reading:
        found = held(reading.connection, books.account_id, subscription_id)
        issues = catalogue.listed(reading.connection, books.account_id, "issue")
        return Endings(
            [
                (issue_id, name or str(issue_id), day)
                for issue_id, publication_id, name, _, day, *_, closed_at in issues
                if publication_id == found.publication_id and not closed_at
            ],
            [str(name) for _, name in reasons(reading.connection, books.account_id)],
        )


class Cancelled(NamedTuple):
    """What cancelling did: issues that are not delivered any more (-1: unlimited), and cents.

    ``refunded`` is net, ``tax`` what goes back with it; ``earned`` is kept. ``later`` says when it
    ends if that is still to come; then ``issues`` are those left, and no cents were booked.
    """

    subscription_id: int
    issues: int
    is_refund: bool
    reason: str | None = None
    refunded: int = 0
    tax: int = 0
    earned: int = 0
    later: str | None = None

    @property
    def sentence(self) -> str:
        """When it ends, and what becomes of the money."""
        money = f"{decimal(self.earned)} is earned"
        if self.is_refund:
            back = decimal(self.refunded + self.tax)
            money = f"{back} is refunded, of which tax {decimal(self.tax)}"
        said = f"{counted(self.issues, 'issue left ends', 'issues left end')}, {money}"
        if self.later is not None:
            money = "refunded" if self.is_refund else "earned"
            said = f"it ends {self.later}, and what is unearned then is {money}"
        elif self.issues == UNLIMITED:
            said = f"an unlimited term ends, {money}"
        why = f", because: {self.reason}" if self.reason else ""
        return f"subscription {self.subscription_id} is cancelled: {said}{why}"


def cancel(
    books: Books,
    subscription_id: int,
    *,
    refund: bool,
    after_issue: int | None = None,
    at_end: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
) -> Cancelled:
    """Cancel a subscription: today, with the closing of an issue, or when its issues are used up.

    With ``refund`` what is unearned at its end goes back, with its tax; without, it is earned. All
    terms end then, also those that are used up. The subscription leaves the campaign at once:
    partners who write to its readers leave this one out. An item of an order of which money goes
    back gets its ``refund_date``. It takes the place of a cancelling that is still to end.

    Raises NotFound if there is no such issue; BadInput if the subscription was cancelled before or
    joined into another one, for an issue that is not to come, ``at_end`` with ``refund``, of an
    unlimited one or one that has no issue left, and a ``reason`` that is none of the publisher's.
    """
    if at_end and refund:
        raise BadInput("nothing is left to give back when its issues are used up", field="refund")
    with books.change(dry_run=dry_run) as change:
        found = changeable(change, subscription_id)
        left = found.issues or 0
        uncancelling.withdraw(change, subscription_id)
        name = None if reason is None else _reason(change, reason)
        later = None
        if after_issue is not None:
            issue = find_issue(change, after_issue)
            if issue.publication_id != found.publication_id or issue.closed_at:
                raise BadInput(
                    f"{issue.title} is {'closed' if issue.closed_at else 'of another publication'}:"
                    " name one that is still to come, or cancel without one"
                )
            later = f"after {issue.title}"
        elif at_end:
            if left <= 0:
                state = "is unlimited" if left else "has no issue left"
                raise BadInput(
                    f"subscription {subscription_id} {state}: cancel it now, or after an issue"
                )
            later = f"when {counted(left, 'issue left is', 'issues left are')} used up"
        cancelling.note_cancelling(
            change, subscription_id, name, refund=refund, after_issue=after_issue, at_end=at_end
        )
        done = Cancelled(subscription_id, left, refund, name, later=later)
        if later is not None:
            cancelling.leave_campaign(change, subscription_id)
        else:
            refunded, tax, earned = cancelling.end_now(change, subscription_id)
            done = done._replace(refunded=refunded, tax=tax, earned=earned)
        change.touch([subscription_id])
        change.say(done.sentence)
    return done


def _reason(change: Operation, reason: str) -> str:
    """Return the reason in the publisher's words. Raises BadInput if it is none of theirs."""
    found = [str(name) for _, name in reasons(change.connection, change.account_id)]
    for name in found:
        if name.casefold() == single_spaced(reason).casefold():
            return name
    raise BadInput(
        f"{reason!r} is no reason for cancelling; those of the publisher are: "
        f"{', '.join(found) or '(none)'}",
        code="not_a_reason",
    )


class Uncancelled(NamedTuple):
    """A subscription whose cancelling was undone."""

    subscription_id: int

    @property
    def sentence(self) -> str:
        """What was undone."""
        return f"the cancelling of subscription {self.subscription_id} was undone"


def uncancel(books: Books, subscription_id: int, *, dry_run: bool = False) -> Uncancelled:
    """Undo the cancelling of a subscription, whether it has ended or not.

    Terms, issues, the campaign and money are as before; what was booked is taken back today. Raises
    BadInput if it was not cancelled, if an issue of its publication was closed since it ended, or
    if its reader was deleted, or money of its orders paid or refunded since.
    """
    with books.change(dry_run=dry_run) as change:
        uncancelling.uncancel(change, subscription_id)
        change.touch([subscription_id])
        done = Uncancelled(subscription_id)
        change.say(done.sentence)
    return done
