"""Ways in which billing can go wrong, each of which can be planted into the product.

``tests.circulation.faults`` says how.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from masthead.books import (
    credit_notes,
    invoicing,
    payer_payments,
    settlement,
)
from masthead.books import invoices as books_invoices
from masthead.store.billing import closed_months, invoices, payments
from masthead.store.books import order_money
from tests.circulation.faults import _call, _nothing, _sql

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.circulation.faults import Plant


def _posted(where: Any, **instead: str) -> Plant:
    """Return what posts to other accounts than the right ones."""

    def wrong(right: Any, change: Any, day: str, text: str, lines: Any, **named: Any) -> Any:
        lines = [(instead.get(account, account), cents) for account, cents in lines]
        return right(change, day, text, lines, **named)

    return _call(where, "post", wrong)


def _skipping(number: int) -> Callable[..., int]:
    """Return what loses one number of an invoice, as an operation that was killed could."""

    def wrong(right: Any, *given: Any) -> int:
        found: int = right(*given)
        return found if found < number else int(right(*given))

    return wrong


def _twice(right: Any, books: Any, payment: Any) -> None:
    if payment.kind == "paid_back":
        payment = payment._replace(left_cents=payment.cents)
    right(books, payment)


def _without_write_offs(
    right: Any, books: Any, invoice_id: int, kind: str, *given: Any, **named: Any
) -> None:
    if kind != "write_off":
        right(books, invoice_id, kind, *given, **named)


def _of_others(right: Any, books: Any, payers: Any) -> Any:
    """Find what the payers have, and the first payers of the account."""
    found = right(books, {*payers, *range(1, 12)})
    return {payer: [each for own in found.values() for each in own] for payer in payers}


def _generous(right: Any, *given: Any) -> Any:
    return replace(right(*given), tolerance=1_000)


FAULTS: dict[str, Plant] = {
    "a number of an invoice is lost": _call(invoices, "next_number", _skipping(2)),
    "the tax of what is lost is rounded down": _call(
        settlement, "tax_of", lambda _right, part, net, tax: tax * part // net
    ),
    "the tax of an invoice is due at once": _posted(invoicing, tax_not_due="tax"),
    "tax is never due": _posted(settlement, tax="tax_not_due"),
    "a fee is revenue of products": _posted(payer_payments, fees="product_revenue"),
    "a fee is taken from the payer": _posted(payer_payments, fees="prepayments"),
    "a payment is dated into a closed month": _call(
        payer_payments, "first_open_day", lambda _right, _change, day: day
    ),
    "a month that is closed is not noted": _call(closed_months, "close_month", _nothing),
    "a short payment makes an invoice whole": _call(payer_payments, "settings_of", _generous),
    "what is within the tolerance is not written off": _call(
        payments, "allocate", _without_write_offs
    ),
    "credit is used twice": _call(payments, "change_left", _nothing),
    "credit is never used": _call(invoicing, "use_credit", _nothing),
    "credit that is paid back is taken twice": _call(payments, "add_payment", _twice),
    "the credit of another payer is used": _call(payments, "with_credit_of_payers", _of_others),
    "a payment settles invoices of another payer": _call(invoices, "open_of_payers", _of_others),
    "a payment that comes back opens the invoices of all payments": _sql(
        r"payment_id = :payment_id( AND kind = 'payment'\s+GROUP BY invoice_id)",
        r":payment_id > 0\1",
    ),
    "a payment that comes back leaves what was earned": _call(
        settlement, "taken_back", lambda *_: []
    ),
    "an order whose payment came back stays paid": _call(order_money, "mark_unpaid", _nothing),
    "the same payment comes back twice": _call(payments, "reversal_of", lambda *_: None),
    "a write-off leaves the receivable": _posted(books_invoices, receivables="losses"),
    "a write-off leaves the price of a term": _call(
        order_money, "reprice", lambda _right, _change, terms, _shares: list(terms)
    ),
    "the same is credited twice": _call(invoices, "credited_lines_of_invoices", lambda *_: []),
    "what was paid of a credited invoice is kept": _call(credit_notes, "give_back", lambda *_: 0),
    "a merged payer leaves the payments behind": _sql(
        r"(UPDATE payments SET subscriber_id =) :kept",
        r"\1 CASE WHEN :kept > 0 THEN subscriber_id END",
    ),
}
"""What goes wrong, and how it is planted."""
