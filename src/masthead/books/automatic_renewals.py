"""Automatic renewal: announcing what is due, and ordering what was announced.

An order is made some days before the last issue of a subscription closes, at the price that was
announced some days before that (billing, "Automatic renewal"). Both are done for all subscriptions
with a running consent (``books.renewal_consents``), a part of them in each transaction. All amounts
are whole cents, with tax unless a name says otherwise.
"""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from masthead.billing.announcement_mails import words_of_announcement
from masthead.billing.automatic_renewals import (
    Schedule,
    copies_of,
    each_of,
    first_not_due,
    is_too_late,
    renews_on,
)
from masthead.books import order_files, orders
from masthead.books.account import Books
from masthead.books.invoicing import seller_of
from masthead.books.orders import Price
from masthead.circulation.amounts import in_currency
from masthead.circulation.ordering import Item, Order, Person, RefusedOrder
from masthead.contract.printable import counted
from masthead.store.billing import (
    announced_renewals,
    announcements_printed,
    outbox,
    renewal_consents,
)
from masthead.store.billing.announced_renewals import (
    Announced,
    AnnouncedRow,
    Candidate,
    Waiting,
)
from masthead.store.billing.settings import settings_of
from masthead.store.books.names import reader_named, subscription_named
from masthead.store.books.operation import Operation

_TOO_LATE = "it could not be ordered in time"
_TOGETHER = 500
"""How many subscriptions are renewed in one transaction."""


class Refused(NamedTuple):
    """A renewal that was refused: whose, of which publication, and why."""

    reader: str
    subscription: str
    reason: str

    @property
    def sentence(self) -> str:
        """What is not renewed, and why."""
        return f"{self.subscription} of {self.reader} is not renewed: {self.reason}"


class Announcements(NamedTuple):
    """The renewals that were announced: how many, and what they cost together.

    ``mailed`` of them go by email. ``stopped`` are consents that ended, such as by a cancelling.
    """

    announced: int
    cents: int
    mailed: int
    stopped: int
    refused: tuple[Refused, ...]
    currency: str

    @property
    def sentence(self) -> str:
        """How many renewals were announced, and how many were not."""
        said = "no renewal was announced"
        if self.announced:
            verb = "was" if self.announced == 1 else "were"
            cents = in_currency(self.cents, self.currency)
            said = f"{counted(self.announced, 'renewal')} {verb} announced, of {cents} in all"
        if self.mailed:
            said += f", {self.mailed:,} by email"
        if self.stopped:
            said += f"; {counted(self.stopped, 'consent')} ended"
        return f"{said}{_refused(self.refused)}"


class Renewed(NamedTuple):
    """The announced renewals that were ordered: how many, and what they cost together.

    ``waiting`` are due, and wait until the last term is paid and nothing else is in the way.
    """

    renewed: int
    cents: int
    waiting: int
    refused: tuple[Refused, ...]
    currency: str

    @property
    def sentence(self) -> str:
        """How many subscriptions were renewed, and how many were not."""
        said = "no subscription was renewed"
        if self.renewed:
            verb = "was" if self.renewed == 1 else "were"
            cents = in_currency(self.cents, self.currency)
            said = f"{counted(self.renewed, 'subscription')} {verb} renewed, for {cents} in all"
        if self.waiting:
            said += f"; {self.waiting:,} cannot be renewed yet"
        return f"{said}{_refused(self.refused)}"


def _refused(refused: Sequence[Refused]) -> str:
    return f"; {len(refused):,} {'is' if len(refused) == 1 else 'are'} refused" if refused else ""


def announce(books: Books, *, dry_run: bool = False) -> Announcements:
    """Announce the renewals that are due, at the price that their order would have today.

    A subscription whose order would be refused, such as for a retired bundle, is noted as refused,
    and gets the letters of its publication. Consents of subscriptions that ended are stopped
    before. Raises MastheadError if Masthead does not keep the account's books.
    """
    done = _begin(books, dry_run=dry_run)
    with books.read() as reading:
        publications = sorted(announced_renewals.plans(reading))
    for publication_id in publications:
        after: int | None = 0
        while after is not None:
            part, after = _announce_some(books, publication_id, after, dry_run=dry_run)
            done = done._replace(
                announced=done.announced + part.announced,
                cents=done.cents + part.cents,
                mailed=done.mailed + part.mailed,
                refused=done.refused + part.refused,
            )
    return done


def _begin(books: Books, *, dry_run: bool) -> Announcements:
    """Stop the consents that ended, and what was announced by them."""
    with books.change(dry_run=dry_run) as change:
        stopped = renewal_consents.stop_ended(change)
        announcements = renewal_consents.stop_announcements(change)
        if stopped or announcements:
            change.say(
                f"{counted(stopped, 'consent')} to automatic renewal ended, and "
                f"{counted(announcements, 'announced renewal')} with them"
            )
        return Announcements(0, 0, 0, stopped, (), change.currency)


def _announce_some(
    books: Books, publication_id: int, after: int, *, dry_run: bool
) -> tuple[Announcements, int | None]:
    """Announce renewals of subscriptions after an id; return the last id, None at the end."""
    with books.change(dry_run=dry_run) as change:
        schedule = _schedule(change)
        today = date.fromisoformat(change.today)
        plan = announced_renewals.plans(change).get(publication_id)
        if plan is None:
            return Announcements(0, 0, 0, 0, (), change.currency), None
        before = first_not_due(plan, schedule, today) or date.max
        found = announced_renewals.to_announce(
            change, publication_id, before.isoformat(), after, _TOGETHER
        )
        wanted = [_order(each) for each in found]
        order_files.look_up(change, wanted)
        rows, refused, cents = [], [], 0
        for each, order in zip(found, wanted, strict=True):
            day = renews_on(plan, schedule, date.fromisoformat(each.expired), today)
            price, reason = Price(0, 0), None
            try:
                price = orders.price_of(change, order)
            except RefusedOrder as error:
                reason = str(error)
                refused.append(_refusal(change, each, reason))
            cents += price.net + price.tax
            rows.append(_row(change, each, price, day.isoformat(), reason))
        announced_renewals.announce(change, rows)
        mailed = _queue_mails(change, [each.payer_id for each in found], rows)
        number = len(rows) - len(refused)
        done = Announcements(number, cents, mailed, 0, tuple(refused), change.currency)
        if rows:
            change.say(f"automatic renewal: {done.sentence}")
    return done, found[-1].subscription_id if len(found) == _TOGETHER else None


def _queue_mails(change: Operation, payers: Sequence[int], rows: Sequence[AnnouncedRow]) -> int:
    """Queue the mails of announcements to payers who want mails; return how many."""
    addresses = outbox.addresses_of(change, payers)
    mailed = [
        row.announcement_id
        for payer, row in zip(payers, rows, strict=True)
        if payer in addresses and row.status == "announced"
    ]
    if not mailed:
        return 0
    settings = settings_of(change)
    seller = seller_of(settings)
    for each in announcements_printed.printed_announcements(change, settings, seller, mailed):
        payer_id = each.payer.subscriber_id
        about = outbox.About(subscription_id=each.subscription_id)
        words = outbox.Words(*words_of_announcement(each))
        outbox.queue_to(change, addresses[payer_id], "announcement", payer_id, about, words)
    return len(mailed)


def _row(
    change: Operation, each: Candidate, price: Price, day: str, reason: str | None
) -> AnnouncedRow:
    return AnnouncedRow(
        announcement_id=change.new_id("announced_renewals"),
        consent_id=each.consent_id,
        subscription_id=each.subscription_id,
        term_id=each.term_id,
        bundle_id=each.bundle_id,
        price=price.net,
        tax=price.tax,
        announced_on=change.today,
        renews_on=day,
        status="announced" if reason is None else "refused",
        order_id=None,
        reason=reason,
    )


def renew(books: Books, *, dry_run: bool = False) -> Renewed:
    """Order the renewals that were announced for today or before, at the announced price.

    The order extends the subscription, and is not paid; an account that bills makes its invoice. An
    order that is refused, such as for a bundle that was retired since, is noted as refused. Nobody
    is renewed whose consent was stopped, or whose subscription has a later term by now. Raises
    MastheadError if Masthead does not keep the account's books.
    """
    done = Renewed(0, 0, 0, (), books.currency)
    after: int | None = 0
    while after is not None:
        part, after = _renew_some(books, after, {}, dry_run=dry_run)
        done = done._replace(
            renewed=done.renewed + part.renewed,
            cents=done.cents + part.cents,
            refused=done.refused + part.refused,
        )
    waiting, late = _give_up(books, dry_run=dry_run)
    if dry_run:
        waiting -= done.renewed + len(done.refused)
    return done._replace(waiting=waiting, refused=done.refused + late)


def _give_up(books: Books, *, dry_run: bool) -> tuple[int, tuple[Refused, ...]]:
    """Refuse what has waited too long; return how many still wait, and what was refused."""
    with books.change(dry_run=dry_run) as change:
        schedule = _schedule(change)
        today = date.fromisoformat(change.today)
        found = announced_renewals.waiting(change)
        late = [
            each
            for each in found
            if is_too_late(schedule, date.fromisoformat(each.renews_on), today)
        ]
        if dry_run:
            # What this run would have ordered still waits.
            return len(found), ()
        for each in late:
            announced_renewals.settle(change, each.announcement_id, "refused", reason=_TOO_LATE)
        if late:
            verb = "was" if len(late) == 1 else "were"
            change.say(f"{counted(len(late), 'announced renewal')} {verb} refused: {_TOO_LATE}")
        refused = tuple(_refusal(change, each, _TOO_LATE) for each in late)
    return len(found) - len(late), refused


def _schedule(change: Operation) -> Schedule:
    settings = settings_of(change)
    return Schedule(settings.renewal_days, settings.renewal_notice_days)


class _RefusedLateError(Exception):
    """An order that was refused after a part of it was queued: the transaction is undone."""

    def __init__(self, announcement_id: int, reason: str) -> None:
        super().__init__(reason)
        self.announcement_id = announcement_id
        self.reason = reason


def _renew_some(
    books: Books, after: int, reasons: dict[int, str], *, dry_run: bool
) -> tuple[Renewed, int | None]:
    """Order announced renewals after an id; return the last id, None at the end.

    ``reasons`` are why some are refused. An order that is refused late is undone together with all
    others of the transaction, which are then taken again without it.
    """
    try:
        with books.change(dry_run=dry_run) as change:
            renewal_consents.stop_announcements(change)
            found = announced_renewals.to_renew(change, after, _TOGETHER)
            order_files.look_up(change, [_order(each) for _, each in found])
            refused, cents = [], 0
            for announced, each in found:
                key = announced.announcement_id
                reason = reasons.get(key)
                try:
                    order = None if reason else _as_announced(change, announced, each)
                except RefusedOrder as error:
                    order, reason = None, str(error)
                if order is None:
                    announced_renewals.settle(change, key, "refused", reason=reason)
                    refused.append(_refusal(change, each, reason or ""))
                    continue
                try:
                    placed = orders.take(change, order)
                except RefusedOrder as error:
                    raise _RefusedLateError(key, str(error)) from error
                announced_renewals.settle(change, key, "renewed", placed.order_id)
                cents += placed.cents
            done = Renewed(len(found) - len(refused), cents, 0, tuple(refused), change.currency)
            if found:
                change.say(f"automatic renewal: {done.sentence}")
    except _RefusedLateError as late:
        reasons = {**reasons, late.announcement_id: late.reason}
        return _renew_some(books, after, reasons, dry_run=dry_run)
    return done, found[-1][0].announcement_id if len(found) == _TOGETHER else None


def _order(each: Candidate, price: int | None = None, tax: int | None = None) -> Order:
    """Return the order that renews a subscription; without a price, at that of the catalogue."""
    copies = 1
    if each.line_copies:
        copies = copies_of(
            each.bundle_id,
            each.ordered_bundle_id,
            each.ordered_copies,
            each.term_copies,
            each.line_copies,
        )
    item = Item(
        bundle_id=each.bundle_id,
        price=None if price is None else each_of(price, copies),
        tax=None if tax is None else each_of(tax, copies),
        recipient=Person(subscriber_id=each.subscriber_id),
        subscription_id=each.subscription_id,
        copies=copies,
    )
    payer = Person(subscriber_id=each.payer_id, address_id=each.billing_address_id)
    return Order(payer, (item,))


def _as_announced(change: Operation, announced: Announced, each: Candidate) -> Order:
    """Return the order at the price that was announced.

    It is an order at the prices of the catalogue, if these still come to that. Otherwise the item
    has the announced price, with the tax of the account's rates if this is the announced tax.
    Raises RefusedOrder as :func:`orders.price_of` does.
    """
    was = Price(announced.price, announced.tax)
    for order in (_order(each), _order(each, was.net)):
        if orders.price_of(change, order) == was:
            return order
    return _order(each, was.net, was.tax)


def _refusal(change: Operation, each: Candidate | Waiting, reason: str) -> Refused:
    return Refused(
        reader_named(change, each.subscriber_id),
        subscription_named(change, each.subscription_id),
        reason,
    )
