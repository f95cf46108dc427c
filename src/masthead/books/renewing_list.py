"""The list of what renews automatically: when, for how much, and whether it was announced.

``books.automatic_renewals`` announces and orders (billing, "Automatic renewal"). Amounts are whole
cents, with tax.
"""

from datetime import date
from typing import Literal, NamedTuple

from masthead.billing.automatic_renewals import Plan, Schedule, copies_of, renews_on
from masthead.books.account import Books
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import printable
from masthead.contract.subscription_types import type_in_words
from masthead.store.billing.announced_renewals import Candidate, plans
from masthead.store.billing.renewing_list import Row, count_renewing, renewing
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading

__all__ = ["FIRST", "Renews", "RenewsPage", "State", "listed"]

State = Literal["announced", "expected", "waits", "refused"]
"""``expected``: not announced yet. ``waits``: it is ordered once ``why`` is not so any more."""

FIRST = ("", 0)
"""The place before the first subscription of the list."""


class Renews(NamedTuple):
    """A subscription that renews by consent.

    ``next_on`` is the day of the next order, and ``cents`` its price: as announced, or else as it
    would be today (decisions, "Prices of renewals that are not announced"). Both are None if it is
    refused. ``why`` says why it waits or is refused.
    """

    subscription_id: int
    subscriber_id: int
    reader: str
    subscription: str
    bundle: str
    next_on: str | None
    cents: int | None
    announced_on: str | None
    state: State
    why: str
    currency: str

    @property
    def sentence(self) -> str:
        """Whose subscription renews, when, for how much, and whether that was announced."""
        said = f"{self.subscription} of {self.reader}: "
        if self.next_on is None or self.cents is None:
            return f"{said}it is not renewed, {self.why}"
        said += f"{self.next_on}, {in_currency(self.cents, self.currency)}, {self.announced}"
        return f"{said}; it waits {self.why}" if self.state == "waits" else said

    @property
    def announced(self) -> str:
        """Whether the renewal was announced, and when."""
        if self.announced_on is None:
            return "not announced yet"
        return f"announced on {self.announced_on}"


class RenewsPage(NamedTuple):
    """A part of the list; ``after`` is the place where the next part begins, None at the end.

    ``in_all`` is how many subscriptions renew by consent in the account.
    """

    found: list[Renews]
    after: tuple[str, int] | None
    in_all: int


def listed(books: Books, after: tuple[str, int] = FIRST, limit: int = 100) -> RenewsPage:
    """Return the subscriptions that renew by consent, those that end first before the others."""
    with books.read() as reading:
        rows = renewing(reading, after, limit + 1)
        in_all = count_renewing(reading)
        settings = settings_of(reading)
        schedule = Schedule(settings.renewal_days, settings.renewal_notice_days)
        known = plans(reading) if rows else {}
        found = [
            _renews(reading, each, row, known.get(row.publication_id), schedule)
            for each, row in rows[:limit]
        ]
    last = rows[limit - 1][0] if len(rows) > limit else None
    return RenewsPage(found, None if last is None else (last.expired, last.subscription_id), in_all)


def _renews(
    reading: Reading, each: Candidate, row: Row, plan: Plan | None, schedule: Schedule
) -> Renews:
    state, why = _state(row)
    next_on, cents, announced_on = row.renews_on, row.cents, row.announced_on
    if state == "refused":
        next_on = cents = announced_on = None
    elif row.status is None:
        next_on = reading.today
        if plan is not None and each.expired:
            expired, today = (date.fromisoformat(day) for day in (each.expired, reading.today))
            next_on = renews_on(plan, schedule, expired, today).isoformat()
        cents = row.bundle_cents * _copies(each)
    names = " ".join(filter(None, (row.first_name, row.last_name)))
    publication = printable(row.publication) or "the subscription"
    return Renews(
        subscription_id=each.subscription_id,
        subscriber_id=each.subscriber_id,
        reader=printable(names) or "a reader without a name",
        subscription=f"{publication} ({type_in_words(row.type)})" if row.type else publication,
        bundle=printable(row.bundle),
        next_on=next_on,
        cents=cents,
        announced_on=announced_on,
        state=state,
        why=why,
        currency=reading.currency,
    )


def _copies(each: Candidate) -> int:
    if not each.line_copies:
        return 1
    return copies_of(
        each.bundle_id,
        each.ordered_bundle_id,
        each.ordered_copies,
        each.term_copies,
        each.line_copies,
    )


def _state(row: Row) -> tuple[State, str]:
    """Return what keeps a renewal from being ordered, if anything does."""
    if row.status == "refused":
        return "refused", f"because {row.reason or 'its order was refused'}"
    if row.status == "stopped":
        return "refused", "because what was announced of it was stopped"
    if row.status == "renewed":
        return "refused", "because the order that renewed it was taken back"
    if row.status is None and not row.is_on_sale:
        return "refused", "because its bundle is not for sale"
    for is_so, why in (
        (row.is_unpaid, "until its last order is paid"),
        (row.is_disputed, "until the dispute of its order is settled"),
        (row.is_suspended, "until its suspension ends"),
    ):
        if is_so:
            return "waits", why
    return ("expected" if row.status is None else "announced"), ""
