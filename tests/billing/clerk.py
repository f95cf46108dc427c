"""The product and the model of billing side by side: each operation is done to both, and compared.

Invoices, payments and terms are named by their numbers in the model, from 0 in the order in which
they were made; credit notes are not counted.
"""

from __future__ import annotations

import pickle
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from masthead.books import (
    cancelling,
    closed_months,
    disputes,
    erasure,
    invoices,
    issues,
    orders,
    payer_payments,
    payment_reversals,
    refunds,
    reminder_levels,
    subscribers,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation import ordering
from masthead.circulation.ordering import Order, Person
from masthead.errors import MastheadError
from tests.billing import bureau, debiting_clerk, debits, renewing_clerk
from tests.billing.compared import invoices_of, of_model, of_product
from tests.billing.model import Billing, Item, Refused, Term
from tests.billing.model_records import NOTHING
from tests.billing.offers import BOTH, DIGITAL, OFFERS, SHIPPING, TWO_ISSUES, fill
from tests.billing.reminder_model import levels
from tests.billing.sums import check_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.billing.model import Invoice
    from tests.billing.reminder_model import Then
    from tests.circulation.desk import Desk

_TABLES = ("invoices", "invoice_lines", "payments", "allocations", "journal_lines", "revenue",
           "terms", "orders", "order_items", "closed_months", "subscription_issues", "mandates",
           "debit_runs", "claims", "reminders", "renewal_consents",
           "announced_renewals")  # fmt: skip


_OTHERS = debiting_clerk.OPERATIONS | renewing_clerk.OPERATIONS
"""The operations of direct debit, of reminders and of automatic renewal, by their names."""


class Differs(AssertionError):
    """The product is not what the model says."""


class Clerk:
    """An account that bills, with its model."""

    def __init__(
        self, desk: Desk, *, tolerance: int = 0, due_by: str = "payment", then: Then = "stop"
    ) -> None:
        """Fill the account at the desk: three payers, two of them with a mandate, and no order."""
        fill(
            desk,
            tolerance=f"{tolerance / 100:.2f}",
            tax_due=due_by,
            mandate_rests_after="9",
            **debits.SETTINGS,
        )
        bureau.use_currency(desk, "EUR")
        self.desk = desk
        self.model = Billing(bureau.TODAY, tolerance=tolerance, due_by=due_by)
        self.model.reminders.levels = levels(then)
        for number, each in enumerate(self.model.reminders.levels, 1):
            reminder_levels.set_level(desk.books, reminder_levels.Level(number, *each, None))
        self.payers = [1, 2, 3]
        for payer in (1, 2):
            debits.sign(desk, payer)
            self.model.debits.signed.add(payer)
        self.made: set[int] = set()
        self.history: list[str] = []
        self.counts = {True: 0, False: 0}
        """How many operations were done, and refused."""
        self.compare()

    def do(self, name: str, /, **given: Any) -> bool:
        """Do an operation to both, and compare; return whether it was done, and not refused."""
        self.history.append(f"{name} {given}")
        before = self._rows()
        kept = pickle.dumps(self.model)
        other = _OTHERS.get(name)
        is_done = bool(other(self, **given) if other else getattr(self, f"_{name}")(**given))
        if not is_done:
            self.model = pickle.loads(kept)
            if self._rows() != before:
                raise Differs(f"{name} was refused, and changed something")
        self.counts[is_done] += 1
        self.compare()
        return is_done

    def _rows(self) -> list[Any]:
        return [self.desk.table(name) for name in _TABLES]

    def both(
        self,
        product: Callable[[], object],
        model: Callable[[], object],
        *,
        may_refuse: bool = False,
    ) -> bool:
        """Do both; both are refused, or none.

        With ``may_refuse`` the product may refuse what the model of billing does not.
        """
        sentence = ""
        try:
            product()
        except MastheadError as refusal:
            sentence = str(refusal)
        if sentence and may_refuse:
            return False
        try:
            model()
        except Refused:
            if not sentence:
                raise Differs("the model refuses it, and the product does not") from None
            return False
        if sentence:
            raise Differs(f"the product refuses it: {sentence}")
        return True

    # What the numbers mean

    def number(self, invoice: int) -> str:
        """Return the number on an invoice."""
        return str(invoices_of(self.desk)[invoice]["number_text"])

    def order_id(self, invoice: int) -> int:
        """Return the order of an invoice."""
        return int(invoices_of(self.desk)[invoice]["order_id"])

    def _item(self, invoice: int, item: int) -> tuple[Invoice, Item, int]:
        found = self.model.invoices[invoice]
        order_id = self.order_id(invoice)
        ids = [row["order_item_id"] for row in self.desk.table("order_items")
               if row["order_id"] == order_id]  # fmt: skip
        item %= len(ids)
        return found, found.items[item], ids[item]

    def _payment_id(self, payment: int) -> int:
        return int(self.desk.table("payments")[payment]["payment_id"])

    def day(self, days: int) -> str:
        """Return the day that is so many days from today."""
        return f"{date.fromisoformat(self.model.today) + timedelta(days)}"

    # The operations

    def _order(self, payer: int, offers: Sequence[int], *, is_paid: bool) -> bool:
        items = tuple(
            ordering.Item(bundle_id=offer) if offer else ordering.Item(product_id=1)
            for offer in offers
        )
        known = len(self.desk.table("terms"))
        orders.place(self.desk.books, Order(Person(subscriber_id=payer), items, is_paid=is_paid))
        begun = iter(self.desk.table("terms")[known:])
        made = []
        for offer in offers:
            net, tax, lines = OFFERS[offer]
            if offer == TWO_ISSUES:
                net, tax = self.model.renewals.net, self.model.renewals.tax
                lines = ((1, 2, net),)
            terms = [Term(next(begun)["subscription_id"], many, cents) for _, many, cents in lines]
            digital = DIGITAL if offer == BOTH else NOTHING
            made.append(Item(net, tax, terms, digital=digital))
        shipping = SHIPPING.get(list(offers).count(BOTH), NOTHING)
        self.model.order(payer, made, is_paid=is_paid, shipping=shipping)
        return True

    def _pay(
        self, payer: int, cents: int, invoice: int | None = None, fee: int = 0, days: int = 0
    ) -> bool:
        day = self.day(days)
        number = None if invoice is None else self.number(invoice)
        who = payer if invoice is None else None
        if invoice is not None:
            payer = self.model.invoices[invoice].payer
        return self.both(
            lambda: payer_payments.add(
                self.desk.books, Incoming(cents, day, fee=fee), invoice=number, subscriber_id=who
            ),
            lambda: self.model.pay(payer, cents, of=invoice, fee=fee, day=day),
        )

    def _reverse(self, payment: int, fee: int = 0, days: int = 0) -> bool:
        key, day = self._payment_id(payment), self.day(days)
        return self.both(
            lambda: payment_reversals.reverse(self.desk.books, key, fee=fee, day=day),
            lambda: self.model.reverse(payment, fee=fee, day=day),
        )

    def _pay_back(self, payer: int, cents: int | None = None, days: int = 0) -> bool:
        day = self.day(days)
        return self.both(
            lambda: payer_payments.pay_back(self.desk.books, payer, cents, day=day),
            lambda: self.model.pay_back(payer, cents, day=day),
        )

    def _cancel_invoice(self, invoice: int) -> bool:
        found = self.model.invoices[invoice]

        def model() -> None:
            self.model.end_everything(found)
            if not self.model.note(found, with_shipping=True):
                raise Refused

        return self.both(lambda: invoices.cancel(self.desk.books, self.number(invoice)), model)

    def _refund(self, invoice: int, item: int, cents: int | None = None) -> bool:
        found, of, item_id = self._item(invoice, item)

        def model() -> None:
            self.model.refund(found, of, cents)
            self.model.note(found)

        return self.both(
            lambda: refunds.refund(self.desk.books, self.order_id(invoice), item_id, cents), model
        )

    def _credit(self, invoice: int, item: int, cents: int) -> bool:
        """Give a part of a paid invoice back."""
        found, of, item_id = self._item(invoice, item)

        def model() -> None:
            if found.open:
                raise Refused
            self.model.allow(found, of, cents)
            self.model.note(found)

        return self.both(
            lambda: invoices.credit(self.desk.books, self.number(invoice), cents, item_id=item_id),
            model,
        )

    def _write_off(self, invoice: int, *, keep: bool) -> bool:
        return self.both(
            lambda: invoices.write_off(self.desk.books, self.number(invoice), keep=keep),
            lambda: self.model.write_off(self.model.invoices[invoice], keep=keep),
        )

    def _dispute(self, invoice: int) -> bool:
        order_id = self.order_id(invoice)
        return self.both(
            lambda: disputes.dispute(self.desk.books, order_id, "never ordered"),
            lambda: self.model.dispute(self.model.invoices[invoice]),
        )

    def _settle(self, invoice: int, *, is_upheld: bool) -> bool:
        """Settle the dispute of an order."""
        order_id = self.order_id(invoice)
        return self.both(
            lambda: disputes.settle(self.desk.books, order_id, is_upheld=is_upheld),
            lambda: self.model.settle_dispute(self.model.invoices[invoice], is_upheld=is_upheld),
        )

    def _cancel(self, term: int, *, refund: bool, later: int = 0) -> bool:
        """Cancel the subscription of a term: now, or after an issue that is to come."""
        key = self.desk.table("terms")[term]["subscription_id"]

        after = None
        if later:
            ((publication,),) = self.desk.rows(
                "SELECT publication_id FROM subscriptions "
                "WHERE account_id = :account_id AND subscription_id = :key",
                key=key,
            )
            after = self._issues(publication, is_closed=False)[later - 1]

        def model() -> None:
            if after is None:
                self.model.end_subscriptions({key: refund})

        return self.both(
            lambda: cancelling.cancel(self.desk.books, key, refund=refund, after_issue=after),
            model,
            may_refuse=True,
        )

    def _uncancel(self, term: int) -> bool:
        key = self.desk.table("terms")[term]["subscription_id"]

        def model() -> None:
            if key in self.model.ended:
                self.model.go_on(key)

        return self.both(lambda: cancelling.uncancel(self.desk.books, key), model, may_refuse=True)

    def _erase(self, payer: int, *, refund: bool) -> bool:
        """Erase a payer; what readers still have ends before."""
        books = self.desk.books
        ends = [each.subscription_id for each in erasure.left(books, payer)]
        self.payers.remove(payer)

        def model() -> None:
            for key in ends:
                self.model.end_subscriptions({key: refund})
            self.model.debits.signed.discard(payer)
            self.model.erased.add(payer)

        return self.both(
            lambda: erasure.erase(books, payer, "refund" if refund else "earn", leave_traces=True),
            model,
        )

    def _make(self, order_id: int) -> bool:
        """Make the invoice of an order of before billing: a mug for Ben."""

        def model() -> None:
            if order_id in self.made:
                raise Refused
            self.made.add(order_id)
            net, tax, _ = OFFERS[0]
            self.model.order(self.model.payer_of(2), [Item(net, tax, [])], is_paid=False)

        return self.both(lambda: invoices.make(self.desk.books, order_id), model)

    def _close(self, publication: int, gap: bool = False) -> bool:
        """Close the next issue of a publication, or make a gap list of the latest one."""
        closed = self._issues(publication, is_closed=True)
        issue = closed[-1] if gap and closed else self._issues(publication, is_closed=False)[0]
        before = self._delivered()

        def product() -> None:
            if gap and closed:
                issues.make_gap_list(self.desk.books, issue)
            else:
                issues.close(self.desk.books, issue)

        return self.both(product, lambda: self._deliver(issue, before), may_refuse=True)

    def _delivered(self) -> dict[tuple[int, int], int]:
        return {
            (row["subscription_id"], row["issue_id"]): row["term_id"]
            for row in self.desk.table("subscription_issues")
            if row["term_id"] is not None
        }

    def _deliver(self, issue: int, before: dict[tuple[int, int], int]) -> None:
        ids = [row["term_id"] for row in self.desk.table("terms")]
        new = [term for key, term in self._delivered().items() if key not in before]
        self.model.deliver(issue, [ids.index(term) for term in new])
        ends = {
            row["subscription_id"]: bool(row["is_refund"])
            for row in self.desk.table("cancellations")
            if row["ended_issue_id"] == issue and row["subscription_id"] not in self.model.ended
        }
        if ends:
            self.model.end_subscriptions(ends, issue)

    def _issues(self, publication: int, *, is_closed: bool) -> list[int]:
        return [
            row["issue_id"]
            for row in self.desk.table("issues")
            if row["publication_id"] == publication and bool(row["closed_at"]) is is_closed
        ]

    def _reopen(self, publication: int) -> bool:
        closed = self._issues(publication, is_closed=True)
        if not closed:
            return False
        return self.both(
            lambda: issues.reopen(self.desk.books, closed[-1]),
            lambda: self._undo(closed[-1]),
            may_refuse=True,
        )

    def _undo(self, issue: int) -> None:
        for key, (last, _) in list(self.model.ended.items()):
            if last == issue:
                self.model.go_on(key)
        self.model.undo(issue)

    def _merge(self, kept: int, gone: int, *, keep_both: bool = True) -> bool:
        """Merge two payers, and what both subscribe to unless both are kept."""
        before = self._merged()
        if kept != gone:
            self.payers.remove(gone)

        def model() -> None:
            if kept == gone:
                raise Refused
            self.model.merge(kept, gone)
            for other in self._merged().items() - before.items():
                self.model.merge_subscriptions(*other)

        return self.both(
            lambda: subscribers.merge(self.desk.books, kept, gone, keep_both=keep_both), model
        )

    def _merged(self) -> dict[int, int]:
        """Return which subscriptions were merged into which."""
        return dict(
            self.desk.rows(
                "SELECT subscription_id, merged_into FROM subscriptions "
                "WHERE account_id = :account_id AND merged_into IS NOT NULL"
            )
        )

    def _pass_days(self, days: int) -> bool:
        self.model.today = self.day(days)
        self.desk.to(self.model.today)
        return True

    def _close_month(self) -> bool:
        month = self.model.open_since[:7]
        return self.both(
            lambda: closed_months.close(self.desk.books, month), self.model.close_month
        )

    # Whether both are the same

    def compare(self) -> None:
        """Raise Differs if the product is not what the model says, or its sums do not agree."""
        shown, expected = of_product(self.desk), of_model(self.model)
        for name, rows in expected.items():
            if shown[name] != rows:
                last = self.history[-1:] or ["at the beginning"]
                raise Differs(f"{last[0]}: {name} are {shown[name]}, and by the model {rows}")
        try:
            check_sums(self.desk)
        except AssertionError as error:
            raise Differs(f"{self.history[-1:]}: {error}") from error
