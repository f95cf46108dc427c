"""Cancelling a subscription, and undoing it.

Each operation raises NotFound if there is no such subscription.
"""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.credit_notes import credit_orders, revenue_mark
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import counted, single_spaced
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.billing.ended import (
    Owners,
    orders_of_subscription,
    owners_of,
    refunded_by_hand,
)
from masthead.store.billing.invoices import invoice_of_order
from masthead.store.billing.payments import credit_of
from masthead.store.billing.settings import is_billing
from masthead.store.books import cancelling, catalogue, uncancelling
from masthead.store.books.cancel_reasons import reasons
from masthead.store.books.issue import find_issue
from masthead.store.books.last_days import last_day_of_terms
from masthead.store.books.names import subscription_named
from masthead.store.books.operation import Operation
from masthead.store.books.stored_expiry_dates import left_of_terms
from masthead.store.books.subscription import changeable, stored_subscription


class Endings(NamedTuple):
    """How a subscription can be cancelled: the issues that can be the last one, and the reasons.

    Each issue has its id, name and date. ``newest`` is the date of the newest closed issue, and
    ``at_end`` the last day if its issues are used up; None if there is none. ``owners`` says what
    becomes of money that is given back.
    """

    issues: list[tuple[int, str, str]]
    reasons: list[str]
    newest: str | None
    at_end: str | None
    owners: Owners


def endings(books: Books, subscription_id: int) -> Endings:
    """Return the publication's issues that are not closed, and the publisher's reasons."""
    with books.read() as reading:
        found = stored_subscription(reading.connection, books.account_id, subscription_id)
        planned = [
            (each.issue_id, each.name or str(each.issue_id), each.date or "")
            for each in catalogue.planned_issues(reading)
            if each.publication_id == found.publication_id and not each.closed_at
        ]
        has_issues = left_of_terms(reading, subscription_id) > 0
        return Endings(
            sorted(planned, key=lambda each: each[2]),
            [str(name) for _, name in reasons(reading)],
            found.newest_closed,
            last_day_of_terms(reading, subscription_id) if has_issues else None,
            owners_of(reading, subscription_id),
        )


class Cancelled(NamedTuple):
    """What cancelling did: the issues that are no longer delivered (-1: unlimited), and cents.

    ``refunded`` is net, and ``tax`` goes back with it; the publisher keeps ``earned``. ``later``
    says when the subscription ends, if it has not ended yet; ``issues`` are then those left, and no
    cents were booked. ``credited`` is what became credit of payers, and ``by_hand`` the rest that
    was given back, both with tax.
    """

    subscription_id: int
    issues: int
    is_refund: bool
    currency: str
    reason: str | None = None
    refunded: int = 0
    tax: int = 0
    earned: int = 0
    later: str | None = None
    credit_notes: tuple[str, ...] = ()
    credited: int = 0
    by_hand: int = 0

    @property
    def sentence(self) -> str:
        """When the subscription ends, and what happens to the money."""
        amounts = f"{in_currency(self.earned, self.currency)} is earned"
        if self.is_refund:
            back = in_currency(self.refunded + self.tax, self.currency)
            amounts = f"{back} is refunded, of which tax {in_currency(self.tax, self.currency)}"
        said = f"{counted(self.issues, 'issue left ends', 'issues left end')}, {amounts}"
        if self.later is not None:
            then = "refunded" if self.is_refund else "earned"
            said = f"it ends {self.later}, and what is unearned then is {then}"
        elif self.issues == UNLIMITED:
            said = f"an unlimited term ends, {amounts}"
        why = f", because: {self.reason}" if self.reason else ""
        if self.credit_notes:
            why += f"; {counted(len(self.credit_notes), 'credit note')}: "
            why += ", ".join(self.credit_notes)
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
    """Cancel a subscription: today, when an issue closes, or when its issues are used up.

    The issues are those of its terms. With ``refund``, the revenue that is unearned at the end is
    given back with its tax; without, it is earned. All terms end then, including used-up ones. The
    subscription leaves the renewal campaign at once, so partners who write to its readers leave it
    out. Items of orders that are refunded get a ``refund_date``. A new cancelling replaces one that
    has not ended the subscription yet; the same one again on the same day changes nothing.

    Raises NotFound if there is no such issue. Raises BadInput if the subscription was already
    cancelled or merged into another one, if the issue is closed or of another publication, for
    ``at_end`` with ``refund``, for ``at_end`` if the subscription is unlimited or has no issues
    left of its terms (a qualification gives none: decisions, "Cancelling at the end"), and if
    ``reason`` is not on the publisher's list.
    """
    if at_end and refund:
        raise BadInput("nothing is left to give back when its issues are used up", field="refund")
    with books.change(dry_run=dry_run) as change:
        found = changeable(change, subscription_id)
        left = left_of_terms(change, subscription_id)
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
                if found.issues and not left:
                    state = "goes by a qualification alone"
                raise BadInput(
                    f"{subscription_named(change, subscription_id)} {state}: cancel it now, or "
                    "after an issue"
                )
            later = f"when {counted(left, 'issue left is', 'issues left are')} used up"
        done = Cancelled(subscription_id, left, refund, change.currency, name, later=later)
        mark = revenue_mark(change)
        wanted = (name, change.today, after_issue, int(at_end), int(refund))
        if cancelling.noted(change, subscription_id) == wanted:
            return done
        uncancelling.withdraw(change, subscription_id)
        cancelling.note_cancelling(
            change, subscription_id, name, refund=refund, after_issue=after_issue, at_end=at_end
        )
        if later is not None:
            cancelling.leave_campaign(change, subscription_id)
        else:
            orders = orders_of_subscription(change, subscription_id) if is_billing(change) else []
            payers = _payers(change, orders)
            credit = sum(credit_of(change, payer) for payer in payers)
            refunded, tax, earned = cancelling.end_now(change, subscription_id)
            notes = credit_orders(change, mark, orders, name)
            done = done._replace(
                refunded=refunded,
                tax=tax,
                earned=earned,
                credit_notes=tuple(each.number_text for each in notes),
                credited=sum(credit_of(change, payer) for payer in payers) - credit,
                by_hand=refunded_by_hand(change, subscription_id) if refund else 0,
            )
        change.touch([subscription_id])
        change.say(done.sentence)
    return done


def _payers(change: Operation, orders: list[int]) -> set[int]:
    """Return the payers of the invoices of orders."""
    found = [invoice_of_order(change, order_id) for order_id in orders]
    return {invoice.subscriber_id for invoice in found if invoice is not None}


def _reason(change: Operation, reason: str) -> str:
    """Return the reason in the publisher's words. Raises BadInput if it is not on the list."""
    found = [str(name) for _, name in reasons(change)]
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
        """What the operation undid."""
        return f"the cancelling of subscription {self.subscription_id} was undone"


class Undoing(NamedTuple):
    """Whether a cancelling can be undone: ``why_not`` is the reason if not, else empty.

    ``refunded`` is the cents with tax that undoing takes back.
    """

    why_not: str
    refunded: int


def undoing(books: Books, subscription_id: int) -> Undoing:
    """Return whether a cancelling can be undone, and what that takes back."""
    with books.read() as reading:
        try:
            uncancelling.check(reading, subscription_id)
        except BadInput as error:
            return Undoing(str(error), 0)
        return Undoing("", uncancelling.refunded_by(reading, subscription_id))


def uncancel(
    books: Books, subscription_id: int, *, takes_back: bool = True, dry_run: bool = False
) -> Uncancelled:
    """Undo the cancelling of a subscription, whether it has ended or not.

    Terms, issues, the campaign and money are as before; what was booked is taken back today. Raises
    BadInput if the subscription was not cancelled, if its reader was deleted, or if, since it
    ended, an issue of its publication was closed, money of its orders was paid or refunded, or a
    credit note was made. Unless ``takes_back`` is set, raises BadInput, with the ``field``, if
    money was refunded with the cancelling.
    """
    with books.change(dry_run=dry_run) as change:
        refunded = uncancelling.refunded_by(change, subscription_id)
        if refunded and not takes_back:
            raise BadInput(
                f"{in_currency(refunded, change.currency)} was given back with the cancelling: say "
                "that the money did not go out, or comes back",
                field="takes_back",
            )
        mark = revenue_mark(change)
        orders = orders_of_subscription(change, subscription_id) if is_billing(change) else ()
        uncancelling.uncancel(change, subscription_id)
        credit_orders(change, mark, orders)
        change.touch([subscription_id])
        done = Uncancelled(subscription_id)
        change.say(done.sentence)
    return done
