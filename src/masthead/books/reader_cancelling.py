"""A reader cancels a subscription, and takes that back.

The subscription ends when its issues are used up or, where the publisher allows it, today. Nothing
is given back: only a person does that. Each operation raises NotFound for a subscription that is
not the reader's, and BadInput with a code of ``circulation.reader_rules.REFUSALS`` for what it
refuses.
"""

from typing import NamedTuple

from masthead.books import cancelling, reader
from masthead.books.account import Books
from masthead.books.reader_acts import Act, acting, own_subscription, running_subscription
from masthead.books.reader_home import standing_of
from masthead.circulation.reader_rules import paid_until, refused
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.billing.renewal_consents import running_consent
from masthead.store.books import cancelling as stored
from masthead.store.books import reader_home, reader_page
from masthead.store.books.details import look_at_subscription
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import ReaderChange
from masthead.store.books.subscription import StoredSubscription, is_to_end


class Cancelled(NamedTuple):
    """What cancelling does.

    ``is_at_once``: it ends today. Otherwise it ends when ``issues_left`` are used up, expected on
    the day ``until``; of an unlimited subscription, with the issue of that day. ``kept`` is what
    the publisher keeps of what was paid, in cents. ``stops_renewal``: it does not renew
    automatically any more.
    """

    subscription_id: int
    is_at_once: bool
    issues_left: int | None
    until: str | None
    kept: int
    stops_renewal: bool
    currency: str

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
    for is refused. ``reason`` is one of the publisher's. A confirmation goes by mail.
    """
    with acting(books, subscriber_id, "cancel", dry_run=dry_run) as act:
        found = running_subscription(act, subscription_id)
        if is_to_end(act.change, subscription_id):
            raise refused("cancelled_already")
        if at_once and act.offered.cancel != "at_once":
            raise refused("not_offered")
        check_own(act, subscription_id)
        last_issue = None
        if found.issues == UNLIMITED and not at_once:
            last_issue = _last_issue(act, found)
        renews = running_consent(act.change, subscription_id) is not None
        shown = look_at_subscription(
            act.change.connection, act.change.account_id, subscription_id
        ).fields
        done = cancelling.cancel(
            act.books,
            subscription_id,
            refund=False,
            after_issue=last_issue and last_issue[0],
            at_end=last_issue is None and not at_once,
            reason=reason,
        )
        day = act.change.today if at_once else shown["date_expired"]
        until = last_issue[1] if last_issue else day and str(day)
        after = {
            "at_once": at_once,
            "until": until,
            "after_issue": last_issue and last_issue[0],
            "reason": done.reason,
        }
        act.note("cancel", subscription_id, {}, after)
        act.confirm("cancel", subscription_id, first=act.change.today, until=until or None)
        return Cancelled(
            subscription_id,
            at_once,
            None if found.issues == UNLIMITED else found.issues,
            until or None,
            done.earned,
            renews,
            act.change.currency,
        )


def take_back(
    books: Books, subscriber_id: int, subscription_id: int, *, dry_run: bool = False
) -> TakenBack:
    """Take back the cancelling of a subscription that has not ended."""
    with acting(books, subscriber_id, "cancel", dry_run=dry_run) as act:
        found = own_subscription(act.change, subscriber_id, subscription_id)
        if found.cancelled_on is not None:
            raise refused("cancelling_final")
        noted = stored.noted(act.change, subscription_id)
        if noted is None:
            raise refused("not_cancelled")
        check_own(act, subscription_id)
        reason, made_on, after_issue, at_end, is_refund = noted
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


def undo(books: Books, change: Operation, made: ReaderChange) -> None:
    """Take back a cancelling, or cancel again what was taken back.

    Raises BadInput if the subscription was cancelled otherwise since, or if it cannot be undone.
    """
    subscription_id = made.subscription_id or 0
    before, after = made.before or {}, made.after or {}
    noted = stored.noted(change, subscription_id)
    if made.kind == "cancel":
        is_as_left = noted is not None and noted[:3] == (
            after["reason"],
            made.made_at[: len("2026-11-28")],
            after["after_issue"],
        )
        if not is_as_left and not after["at_once"]:
            raise BadInput("the cancelling was changed since: it cannot be undone any more")
        cancelling.uncancel(books, subscription_id)
        return
    if noted is not None:
        raise BadInput("the subscription was cancelled again since")
    cancelling.cancel(
        books,
        subscription_id,
        refund=bool(before["is_refund"]),
        after_issue=before["after_issue"],
        at_end=bool(before["at_end"]),
        reason=before["reason"],
    )


def check_own(act: Act, subscription_id: int) -> None:
    """Raise BadInput if somebody else pays for a subscription of the reader."""
    for served in reader.served(act.change, act.reader.subscriber_id):
        if served.line.subscription_id == subscription_id:
            if not standing_of(served, act.reader.subscriber_id).is_own:
                raise refused("write_to_us")
            return


def _last_issue(act: Act, found: StoredSubscription) -> tuple[int, str]:
    """Return the id and the day of the last planned issue that an unlimited subscription gets.

    It is the last one within the months that are paid, or else the next one that is planned.
    """
    planned = reader_page.coming(act.change, [found.publication_id])
    until = paid_until(reader_home.unlimited_terms(act.change, found.subscription_id))
    if not planned:
        raise refused("write_to_us")
    within = [each for each in planned if until is not None and each.day <= until]
    last = within[-1] if within else planned[0]
    return last.issue_id, last.day
