"""A reader cancels a subscription, and takes that back.

The subscription ends when its issues are used up or, where the publisher allows it, today. Nothing
is given back: only a person does that. Each operation raises NotFound for a subscription that is
not the reader's, and BadInput with a code of ``circulation.reader_rules.REFUSALS`` for what it
refuses.
"""

from typing import NamedTuple

from masthead.books import cancelling, reader_mails
from masthead.books.account import Books
from masthead.books.reader_acts import (
    acting,
    looking,
    own_subscription,
    running_subscription,
)
from masthead.books.reader_subscriptions import is_own
from masthead.circulation.reader_rules import paid_until, refused
from masthead.circulation.spans import Span, overlapped
from masthead.contract.subscription_types import UNLIMITED
from masthead.databases.queries import Batch
from masthead.errors import BadInput
from masthead.store.billing import letters, renewal_consents
from masthead.store.books import cancelling as stored
from masthead.store.books import reader_home, reader_page, uncancelling
from masthead.store.books.last_days import last_day_of_terms, stored_last_day
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.reader_changes import ReaderChange
from masthead.store.books.reader_page import TermLine
from masthead.store.books.stored_expiry_dates import left_of_terms
from masthead.store.books.subscription import StoredSubscription, to_end


class Cancelled(NamedTuple):
    """What cancelling does.

    ``is_at_once``: it ends today. Otherwise it ends when ``issues_left`` are used up, expected on
    the day ``until``; of an unlimited subscription, or one that goes by a qualification alone, with
    the issue of that day. ``kept`` is what the publisher keeps of what was paid, in cents.
    ``stops_renewal``: it does not renew automatically any more. ``is_mailed``: a confirmation goes
    by mail.
    """

    subscription_id: int
    is_at_once: bool
    issues_left: int | None
    until: str | None
    kept: int
    stops_renewal: bool
    currency: str
    is_mailed: bool

    @property
    def sentence(self) -> str:
        """How the subscription ends."""
        how = "ends today" if self.is_at_once else "ends when what is left of it is used up"
        return f"subscription {self.subscription_id} is cancelled: it {how}"


class TakenBack(NamedTuple):
    """A cancelling that was taken back. Automatic renewal stays off."""

    subscription_id: int

    @property
    def sentence(self) -> str:
        """What goes on."""
        return f"the cancelling of subscription {self.subscription_id} was taken back"


def cancel(
    books: Books,
    subscriber_id: int,
    subscription_id: int,
    *,
    at_once: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
) -> Cancelled:
    """Cancel a subscription of a reader; a dry run shows what that does.

    ``at_once`` ends it today, where the publisher allows it. A subscription that somebody else pays
    for is refused. ``reason`` is one of the publisher's. A confirmation goes by mail; it is the
    letter of this cancelling (decisions, "One confirmation of a cancelling").
    """
    with acting(books, subscriber_id, "cancel", dry_run=dry_run) as act:
        if at_once and act.offered.cancel != "at_once":
            raise refused("not_offered")
        planned, after_issue = _planned(act.change, subscriber_id, subscription_id, at_once=at_once)
        done = cancelling.cancel(
            act.books,
            subscription_id,
            refund=False,
            after_issue=after_issue,
            at_end=after_issue is None and not at_once,
            reason=reason,
        )
        after = {
            "at_once": at_once,
            "until": planned.until,
            "after_issue": after_issue,
            "reason": done.reason,
        }
        act.note("cancel", subscription_id, {}, after)
        end = {"ended_on" if at_once else "until": planned.until}
        if act.confirm("cancel", subscription_id, first=act.change.today, **end):
            letters.note_written(
                act.change, "cancellation", [(subscription_id, subscriber_id)], by_email=True
            )
        return planned._replace(kept=done.earned)


def look_at_cancelling(books: Books, subscriber_id: int, subscription_id: int) -> Cancelled:
    """Return what cancelling at the end of what is left does; nothing is locked.

    Raises what :func:`cancel` raises.
    """
    with looking(books, subscriber_id, "cancel") as look:
        return _planned(look.reading, subscriber_id, subscription_id)[0]


def _planned(
    reading: Reading, subscriber_id: int, subscription_id: int, *, at_once: bool = False
) -> tuple[Cancelled, int | None]:
    """Return what cancelling does, and the id of the last issue of an unlimited subscription."""
    found = running_subscription(reading, subscriber_id, subscription_id)
    batch = Batch(reading)
    is_to_end = batch.add(to_end(subscription_id))
    terms = batch.add(reader_page.terms(subscriber_id))
    last_day = batch.add(stored_last_day(subscription_id))
    consents = batch.add(renewal_consents.consents(subscription_id))
    is_mailed = reader_mails.ask_reach(batch, subscriber_id)
    batch.send()
    if is_to_end():
        raise refused("cancelled_already")
    held = [each for each in terms() if each.subscription_id == subscription_id]
    _check_own(held, subscriber_id)
    last_issue = None
    is_unlimited = found.issues == UNLIMITED
    left = left_of_terms(reading, subscription_id) if is_unlimited else found.issues or 0
    goes_on = is_unlimited and left <= 0
    if at_once:
        until: str | None = reading.today
    elif goes_on:
        ahead = sum(max(each.issues_left, 0) for each in held)
        last_issue, until = _last_issue(reading, found, ahead)
    else:
        until = last_day_of_terms(reading, subscription_id) if is_unlimited else last_day()
    done = Cancelled(
        subscription_id,
        at_once,
        None if goes_on else left,
        until,
        0,
        renewal_consents.running_of(consents()) is not None,
        reading.currency,
        is_mailed(),
    )
    return done, last_issue


def take_back(
    books: Books, subscriber_id: int, subscription_id: int, *, dry_run: bool = False
) -> TakenBack:
    """Take back the cancelling of a subscription that has not ended."""
    with acting(books, subscriber_id, "cancel", dry_run=dry_run) as act:
        reason, made_on, after_issue, at_end, is_refund = _noted(
            act.change, subscriber_id, subscription_id
        )
        cancelling.uncancel(act.books, subscription_id)
        before = {
            "made_on": made_on,
            "reason": reason,
            "after_issue": after_issue,
            "at_end": at_end,
            "is_refund": is_refund,
        }
        act.note("uncancel", subscription_id, before, {})
        act.confirm("uncancel", subscription_id)
        return TakenBack(subscription_id)


def look_at_taking_back(books: Books, subscriber_id: int, subscription_id: int) -> TakenBack:
    """Return what taking a cancelling back does; nothing is locked.

    Raises what :func:`take_back` raises.
    """
    with looking(books, subscriber_id, "cancel") as look:
        _noted(look.reading, subscriber_id, subscription_id)
        uncancelling.check(look.reading, subscription_id)
        return TakenBack(subscription_id)


def _noted(reading: Reading, subscriber_id: int, subscription_id: int) -> stored.Noted:
    """Return the cancelling of a reader's subscription that has not ended."""
    found = own_subscription(reading, subscriber_id, subscription_id)
    if found.cancelled_on is not None:
        raise refused("cancelling_final")
    noted = stored.noted(reading, subscription_id)
    if noted is None:
        raise refused("not_cancelled")
    check_own(reading, subscriber_id, subscription_id)
    return noted


def undo(books: Books, change: Operation, made: ReaderChange) -> None:
    """Take back a cancelling, or cancel again what was taken back.

    Raises BadInput if the subscription was cancelled otherwise since, or if it cannot be undone.
    """
    subscription_id = made.subscription_id or 0
    before = made.before or {}
    if made.kind == "cancel":
        _undo_cancelling(books, change, made)
        return
    if stored.noted(change, subscription_id) is not None:
        raise BadInput("the subscription was cancelled again since")
    cancelling.cancel(
        books,
        subscription_id,
        refund=bool(before["is_refund"]),
        after_issue=before["after_issue"],
        at_end=bool(before["at_end"]),
        reason=before["reason"],
    )


def _undo_cancelling(books: Books, change: Operation, made: ReaderChange) -> None:
    """Take back a cancelling that is as the reader left it. The reader was given no money back."""
    subscription_id, after = made.subscription_id or 0, made.after or {}
    find = stored.ended_by if after["at_once"] else stored.noted
    is_at_end = after["after_issue"] is None and not after["at_once"]
    if find(change, subscription_id) != (
        after["reason"],
        made.made_at[:10],
        after["after_issue"],
        int(is_at_end),
        0,
    ):
        raise BadInput("the cancelling was changed since: it cannot be undone any more")
    cancelling.uncancel(books, subscription_id, takes_back=False)


def check_own(reading: Reading, subscriber_id: int, subscription_id: int) -> None:
    """Raise BadInput if somebody else pays for a subscription of the reader."""
    terms = reading.ask(reader_page.terms(subscriber_id))
    _check_own([each for each in terms if each.subscription_id == subscription_id], subscriber_id)


def _check_own(held: list[TermLine], subscriber_id: int) -> None:
    if not is_own([each for each in held if each.issues_left], subscriber_id):
        raise refused("write_to_us")


def _last_issue(reading: Reading, found: StoredSubscription, ahead: int) -> tuple[int, str]:
    """Return the id and the day of the last planned issue that an unlimited subscription gets.

    It is the last one within the months that are paid, or else the next one that is planned. A term
    that has not begun counts its months from its first issue, which ``ahead`` others come before.
    """
    paused = [
        Span(0, each.first, each.last)
        for each in reading.ask(reader_page.suspensions(found.subscriber_id))
        if each.subscription_id == found.subscription_id
    ]
    planned = [
        each
        for each in reader_page.coming(reading, [found.publication_id])
        if each.day >= (found.begins_on or "") and overlapped(paused, each.day, each.day) is None
    ]
    if not planned:
        raise refused("write_to_us")
    begins = planned[min(ahead, len(planned) - 1)].day
    terms = reader_home.unlimited_terms(reading, found.subscription_id)
    until = paid_until((first or begins, months) for first, months in terms)
    within = [each for each in planned if until is not None and each.day <= until]
    last = within[-1] if within else planned[0]
    return last.issue_id, last.day
