"""Runs each operation of the model with the real operations, on an account of its own."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from masthead.books import (
    Books,
    cancelling,
    catalogue,
    efforts,
    issues,
    orders,
    payments,
    refunds,
    renewals,
    subscribers,
    subscriptions,
)
from masthead.books.issues import Grace, MailingList
from masthead.books.opening import Choices, open_books
from masthead.books.payments import Payment
from masthead.books.subscriptions import How, Values
from masthead.circulation.ordering import NOBODY, Item, Order, Person
from masthead.errors import MastheadError
from masthead.store import accounts
from masthead.store.audit import Actor
from tests.circulation.beginning import TODAY, begin, rows_of
from tests.circulation.desk import Desk, moment
from tests.circulation.shown import Differs

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from tests.circulation.model_records import Asked
    from tests.servers import Store

ADA = Actor("ada", "proof")
BETWEEN_US = 1
"""Between two operations: many are within a second, so that only numbers tell what came first."""


class Office(Desk):
    """The account; ``meanwhile`` is called at each reading of the clock, within operations too.

    While it is alone, what a preview says is what closing then gives.
    """

    actor = ADA

    def __init__(self, url: str) -> None:
        self.account_id = 1
        self.now = moment(f"{TODAY}")
        self.meanwhile: Callable[[], None] | None = None
        self.is_alone = True
        self._open(url)

    def _clock(self) -> int:
        if self.meanwhile is not None:
            happening, self.meanwhile = self.meanwhile, None
            happening()
            self.meanwhile = happening
        self.now += 1
        return self.now

    def step(self, days: int = 0) -> None:
        """Let some seconds pass, or days."""
        self.now += BETWEEN_US + days * 86_400_000_000

    # Issues

    def close(self, issue: int, grace_issues: int = 0, since: date | None = None) -> object:
        return self._close(issue, grace_issues, since, is_preview=False)

    def preview(self, issue: int, grace_issues: int = 0, since: date | None = None) -> object:
        return self._close(issue, grace_issues, since, is_preview=True)

    def _close(
        self, issue: int, grace_issues: int, since: date | None, *, is_preview: bool
    ) -> object:
        grace = Grace(grace_issues, f"{since}" if since else None)
        preview: tuple[object, ...] | None = None
        with suppress(MastheadError):
            preview = tuple(issues.preview(self.books, issue, grace))
        made = issues.close(self.books, issue, grace, dry_run=is_preview)
        if self.is_alone and preview != (made.press_run, made.held, made.lapsed):
            raise Differs(f"the preview is {preview}, not {(made.press_run, made.held)}")
        return _made(made)

    def gap(self, issue: int) -> object:
        return _made(issues.make_gap_list(self.books, issue))

    def reopen(self, issue: int) -> object:
        return tuple(issues.reopen(self.books, issue))[1:]

    def file(self, issue: int) -> None:
        issues.mark_written(self.books, issue)

    # Orders

    def order(
        self,
        payer: int | None,
        address: int | str | None,
        asked: tuple[Asked, ...],
        *,
        is_paid: bool,
        reference: str | None = None,
    ) -> object:
        who = _person(payer, address)
        order = Order(
            who._replace(last_name="Somebody new") if payer is None else who,
            [_item(each) for each in asked],
            reference=reference,
            is_paid=is_paid,
        )
        return orders.place(self.books, order).order_id

    def pay(self, order: int, day: date | None = None) -> None:
        payments.pay(self.books, order, Payment(paid_on=f"{day}" if day else None))

    def refund(self, order: int, item_id: int, amount: int | None = None) -> object:
        return refunds.refund(self.books, order, item_id, amount).cents

    def allow(self, order: int, item_id: int, amount: int) -> object:
        return refunds.allow(self.books, order, item_id, amount).cents

    # Subscriptions

    def cancel(
        self,
        key: int,
        *,
        refund: bool,
        after_issue: int | None = None,
        at_end: bool = False,
    ) -> None:
        when: dict[str, Any] = {"after_issue": after_issue, "at_end": at_end}
        cancelling.cancel(self.books, key, refund=refund, **when)

    def uncancel(self, key: int) -> None:
        cancelling.uncancel(self.books, key)

    def extend(self, key: int, issues: int, of_class: str = "complimentary") -> None:
        subscriptions.extend(self.books, key, issues, of_class)

    def suspend(self, key: int, first: date | None = None, last: date | None = None) -> None:
        subscriptions.suspend(self.books, key, _text(first), _text(last))

    def resume(self, key: int, resumed: date | None = None) -> None:
        subscriptions.resume(self.books, key, _text(resumed))

    def move(
        self,
        key: int,
        address: int | str,
        first: date | None = None,
        last: date | None = None,
    ) -> None:
        place = {"address": f"{address}", "city": "Nowhere"}
        to = address if isinstance(address, int) else place
        if first:
            subscriptions.move_for_a_while(self.books, key, to, f"{first}", f"{last}")
        else:
            subscriptions.move(self.books, key, to)

    def go_back(self, key: int, resumed: date | None = None) -> None:
        subscriptions.go_back(self.books, key, _text(resumed))

    def set_copies(self, key: int, copies: int, how: How | None = None) -> None:
        subscriptions.set_values(self.books, key, Values(copies=copies, how=how))

    def set(self, key: int, **values: Any) -> None:
        subscriptions.set_values(self.books, key, Values(**values))

    def merge(self, kept: int, gone: int, *, keep_both: bool = False) -> object:
        merged = subscribers.merge(self.books, kept, gone, keep_both=keep_both)
        return [each.pair[:2] for each in merged.merged]

    # Renewals

    def set_effort(self, publication: int, effort: int, issues_left: int) -> None:
        renewals.set_effort(self.books, renewals.Effort(publication, effort, issues_left))

    def remove_effort(self, publication: int, effort: int) -> None:
        efforts.remove(self.books, efforts.RENEWAL, publication, effort)

    def select(self, publication: int) -> object:
        return _select(self.books, publication)

    # The plan

    def plan(self, publication: int, day: date) -> None:
        catalogue.add_issue(self.books, {"publication_id": publication, "date": f"{day}"})

    def move_issue(self, issue: int, day: date) -> None:
        catalogue.set_issue(self.books, issue, {"date": f"{day}"})

    def set_mailing_day(self, issue: int, day: date | None) -> None:
        catalogue.set_issue(self.books, issue, {"mailed_on": _text(day)})

    def remove_issue(self, issue: int) -> None:
        catalogue.remove_issue(self.books, issue)

    def set_publication(self, publication: int, **values: int | str) -> None:
        catalogue.set_values(self.books, "publication", publication, values)

    def sell_bundle(self, bundle: int, *, is_active: bool) -> None:
        if is_active:
            catalogue.set_bundle(self.books, bundle, {"active": 1})
        else:
            catalogue.retire(self.books, "bundle", bundle)


def _text(day: date | None) -> str | None:
    return f"{day}" if day else None


def _made(made: MailingList) -> object:
    return made.mailing_list_id, made.entries, {each[0]: each.why for each in made.held}


def _person(subscriber: int | None, address: int | str | None) -> Person:
    if isinstance(address, str):
        return Person(subscriber, address={"address": address, "city": "Nowhere"})
    return Person(subscriber, address_id=address)


def _item(asked: Asked) -> Item:
    named = asked.recipient is not None or asked.address is not None
    return Item(
        bundle_id=asked.bundle,
        product_id=asked.product,
        recipient=_person(asked.recipient, asked.address) if named else NOBODY,
        is_new=asked.is_new,
        first_issue=asked.first_issue,
        price=asked.price,
        tax=asked.tax,
        of_class=asked.of_class,
        subscription_id=asked.subscription,
        is_gift=asked.is_gift,
        copies=asked.copies,
    )


# As the commands do it.


def _select(books: Books, publication: int) -> object:
    rows: list[renewals.Letter] = []
    sent = renewals.send(books, rows.extend, publication)
    letters = [dict(zip(renewals.LETTER, row, strict=True)) for row in rows]
    assert sum(each.letters for each in sent.due) == len(letters)
    return {
        each["subscription_id"]: (each["effort"], each["issues_left"], each["to_subscriber_id"])
        for each in letters
    }


def prepare(kind: Store) -> str:
    """Return the URL of a new database whose account is that of ``beginning``, with open books."""
    url = kind.new_database("circulation")
    office = Office(url)
    try:
        accounts.add_account(office.store, {"account_id": 1})
        for table, rows in rows_of(begin()).items():
            office.put_many(table, rows)
        open_books(Books(office.store, 1, ADA), Choices(issues_from_dates=True))
    finally:
        office.leave()
    return url
