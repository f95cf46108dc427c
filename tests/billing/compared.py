"""What the tables of billing hold, and what they hold by the model, in the same form."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from tests.billing import bureau
from tests.billing.model_records import unpaid_net

if TYPE_CHECKING:
    from tests.billing.model import Billing
    from tests.circulation.desk import Desk


def invoices_of(desk: Desk) -> list[dict[str, Any]]:
    """Return the invoices and receipts, without credit notes."""
    return [row for row in desk.table("invoices") if row["kind"] != "credit_note"]


def of_product(desk: Desk) -> dict[str, Any]:
    """Return what the tables hold."""
    table = desk.table
    balances = bureau.accounts(desk)
    earned = sum(row["cents"] for row in table("revenue") if row["kind"] == "earned")
    balances["deferred"] = balances.get("deferred", 0) + earned
    balances["revenue"] = balances.get("revenue", 0) - earned
    booked: dict[tuple[int, str], int] = {}
    for row in table("revenue"):
        key = row["term_id"], row["kind"]
        booked[key] = booked.get(key, 0) + row["cents"]
    orders = {row["order_id"]: row for row in table("orders")}
    numbers = {row["invoice_id"]: number for number, row in enumerate(invoices_of(desk))}
    return {
        "claims": [
            (numbers[row["invoice_id"]], row["cents"], row["status"]) for row in table("claims")
        ],
        "reminders": [
            (
                *(numbers[row["invoice_id"]], row["subscriber_id"], row["level"]),
                *(row["reminded_on"], row["fee"]),
            )
            for row in table("reminders")
        ],
        "invoices": [
            (
                row["subscriber_id"],
                row["net"],
                row["tax"],
                row["total"],
                row["open_cents"],
                orders[row["order_id"]]["paid_on"] is not None
                if row["order_id"]
                else not row["open_cents"],
            )
            for row in invoices_of(desk)
        ],
        "orders": [
            orders[row["order_id"]]["subscriber_id"] for row in invoices_of(desk) if row["order_id"]
        ],
        "credit notes": [row["total"] for row in table("invoices") if row["kind"] == "credit_note"],
        "payments": [
            (
                row["subscriber_id"],
                row["kind"],
                row["value_date"],
                row["cents"],
                row["fee"],
                row["left_cents"],
            )
            for row in table("payments")
        ],
        "terms": [
            (
                row["price"],
                row["issues_left"],
                row["paid_on"] is not None,
                *(
                    booked.get((row["term_id"], kind), 0)
                    for kind in ("received", "earned", "refunded")
                ),
            )
            for row in table("terms")
        ],
        "months": [row["month_id"] for row in table("closed_months")][-1:],
        "digital": _digital(desk),
        "consents": [
            (row["subscription_id"], row["stopped_on"] is None) for row in table("renewal_consents")
        ],
        "announced renewals": [
            (
                *(row["subscription_id"], row["price"], row["tax"]),
                *(row["announced_on"], row["renews_on"], row["status"]),
            )
            for row in table("announced_renewals")
        ],
        "balances": {name: cents for name, cents in balances.items() if cents},
    }


def _digital(desk: Desk) -> dict[str, int]:
    """Return net and tax of all lines with digital goods, less those of credit notes."""
    notes = {row["invoice_id"] for row in desk.table("invoices") if row["kind"] == "credit_note"}
    found = Counter[str]()
    for row in desk.table("invoice_lines"):
        if row["goods"] == "digital":
            sign = -1 if row["invoice_id"] in notes else 1
            found.update(net=sign * row["net"], tax=sign * row["tax"])
    return {name: cents for name, cents in found.items() if cents}


def of_model(model: Billing) -> dict[str, Any]:
    """Return what the tables hold by the model."""
    first = date.fromisoformat(model.open_since) - timedelta(1)
    began = date.fromisoformat(bureau.TODAY)
    return {
        "claims": [(each.invoice, each.cents, each.state) for each in model.debits.claims],
        "reminders": [
            (number, model.invoices[number].payer, *rest) for number, *rest in model.reminders.sent
        ],
        "invoices": [
            (
                *(each.payer, each.net, each.tax, each.total, each.open),
                not each.open if each.is_fee else each.is_paid,
            )
            for each in model.invoices
        ],
        "orders": [each.payer for each in model.invoices if not each.is_fee],
        "credit notes": model.credit_notes,
        "payments": [
            (each.payer, each.kind, each.day, each.cents, each.fee, each.left)
            for each in model.payments
        ],
        "terms": [
            (
                term.price,
                0 if term.is_over else term.issues - len(term.delivered),
                term.is_paid,
                term.received,
                term.earned,
                term.refunded,
            )
            for invoice in model.invoices
            for term in invoice.terms
        ],
        "months": []
        if (first.year, first.month) < (began.year, began.month)
        else [first.year * 100 + first.month],
        "digital": {name: cents for name, cents in model.digital.items() if cents},
        "consents": model.renewals.consents,
        "announced renewals": [
            (each.subscription, each.net, each.tax, each.announced_on, each.day, each.state)
            for each in model.renewals.announced
        ],
        "balances": balances(model),
    }


def balances(model: Billing) -> dict[str, int]:
    """Return what each account of the journal stands at by the model, if that is not nothing."""
    waiting = [invoice for invoice in model.invoices if invoice.open]
    terms = [term for invoice in model.invoices for term in invoice.terms]
    deposits = sum(invoice.paid.total() for invoice in waiting)
    found = {
        "bank": sum(payment.cents - payment.fee for payment in model.payments),
        "fees": sum(payment.fee for payment in model.payments),
        "prepayments": -deposits - sum(payment.left for payment in model.payments),
        "receivables": deposits + sum(invoice.open for invoice in waiting),
        "unpaid": -sum(map(unpaid_net, waiting)),
        "deferred": -sum(term.unearned for term in terms),
        "revenue": -sum(term.earned for term in terms),
        "product_revenue": -model.products,
        "shipping_revenue": -model.shipping,
        "reminder_fees": -sum(
            each.paid.total() for each in model.invoices if each.is_fee and not each.open
        ),
        "losses": model.losses,
        "tax": -model.tax,
    }
    if model.due_by == "payment":
        found["tax_not_due"] = -sum(each.tax - each.credited_tax for each in waiting)
    return {account: cents for account, cents in found.items() if cents}
