"""Ways in which shipping, digital shares and merged consents can go wrong.

Each can be planted into the product; ``tests.circulation.faults`` says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.billing import tax
from masthead.books import credit_notes, disputes, settlement
from masthead.books import invoices as books_invoices
from masthead.store.billing import order_tax
from tests.billing.faults import _posted
from tests.circulation.faults import _call, _sql

if TYPE_CHECKING:
    from tests.circulation.faults import Plant


def _without_shipping(right: Any, *given: Any, **named: Any) -> Any:
    return right(*given, **named | {"with_shipping": False})


def _with_half(right: Any, line: Any, *amounts: Any) -> Any:
    return right(line._replace(digital_share=5_000), *amounts)


def _first(right: Any, *given: Any) -> list[int]:
    """Return all that is left as that of the first line."""
    left = right(*given)
    return [sum(left), *(0 for _ in left[1:])]


def _stays(statement: str) -> Plant:
    """Return what lets a statement change nothing."""
    return _sql(rf"({statement}\s+WHERE) account_id", r"\1 account_id = -1 AND account_id")


FAULTS_OF_SALES: dict[str, Plant] = {
    "shipping is revenue of products": _posted(settlement, shipping_revenue="product_revenue"),
    "shipping that was never paid is revenue": _posted(
        books_invoices, shipping_revenue="product_revenue"
    ),
    "shipping stays when an invoice is taken back": _call(
        books_invoices, "credit_what_ended", _without_shipping
    ),
    "shipping stays when a dispute is upheld": _call(disputes, "credit_orders", _without_shipping),
    "shipping of one of two is billed": _call(
        order_tax, "shipping_parts", lambda right, taxing, costs: right(taxing, costs[:1])
    ),
    "digital copies have the tax of printed ones": _call(
        tax, "_split", lambda _right, _line, net, tax_of_it: [("print", net, tax_of_it)]
    ),
    "the digital share is another": _call(tax, "_split", _with_half),
    "a credit note takes all from the printed copies": _call(credit_notes, "_left_of", _first),
    "the consent stays with the merged subscription": _stays(
        "UPDATE renewal_consents SET subscription_id = :one"
    ),
    "what was announced stays with the merged subscription": _stays(
        "UPDATE announced_renewals SET subscription_id = :one"
    ),
    "an order stays with a payer who was merged": _stays(
        "UPDATE orders SET subscriber_id = :kept, commit_id = :commit_id"
    ),
}
"""What goes wrong, and how it is planted."""
