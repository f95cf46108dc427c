"""Ways in which direct debits can go wrong, each of which can be planted into the product.

``tests.circulation.faults`` says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.books import debit_collections, debit_returns
from masthead.store.billing import claims
from tests.circulation.faults import _call, _nothing, _sql

if TYPE_CHECKING:
    from tests.circulation.faults import Plant


def _two(right: Any, change: Any, backs: Any) -> Any:
    """Take back the next claim of the run, too."""
    if len(backs) == 1:
        claim = backs[0].claim
        which = claims.Selection(claim.debit_run_id)
        found = claims.claims_of(change, which, after=0, limit=10)
        backs = [
            *backs,
            *(
                backs[0]._replace(claim=each)
                for each in found
                if each.claim_id != claim.claim_id and each.status == "paid"
            ),
        ]
    return right(change, backs)


DEBIT_FAULTS: dict[str, Plant] = {
    "an invoice is handed in twice": _sql(
        r"AND NOT EXISTS \(SELECT 1 FROM claims AS c\s+WHERE c\.account_id = :account_id "
        r"AND c\.invoice_id = i\.invoice_id AND c\.status = 'sent'\)",
        "",
    ),
    "a resting mandate is debited": _sql(
        r"AND m\.status = 'active' AND m\.iban", "AND m.status <> 'ended' AND m.iban"
    ),
    "each claim is the first one": _sql(
        r"THEN 'RCUR' ELSE 'FRST' END", "THEN 'FRST' ELSE 'FRST' END"
    ),
    "a refused claim counts as the first one": _sql(
        r"AND \(b\.status IN \('sent', 'paid'\) OR b\.payment_id IS NOT NULL\)", ""
    ),
    "two claims of a run are both the first one": _sql(
        r"PARTITION BY m\.mandate_id ORDER BY i\.invoice_id", "PARTITION BY i.invoice_id"
    ),
    "a return opens the other invoices of its run": _call(debit_returns, "give_back", _two),
    "a return leaves its payment": _call(debit_returns, "take_back", _nothing),
    "the fee of a return is lost": _call(
        debit_returns,
        "take_back",
        lambda right, change, payment, day, _fee, reason: right(change, payment, day, 0, reason),
    ),
    "a mandate never rests": _call(debit_returns, "rests", lambda *_: False),
    "a mandate rests after one return": _call(
        debit_returns, "rests", lambda right, returned, _most: right(returned, 1)
    ),
    "a claim stays with the bank": _call(claims, "mark_paid", _nothing),
    "a claim is paid for another payer": _call(
        debit_collections,
        "receive",
        lambda right, change, incoming, **_: right(change, incoming, subscriber_id=1),
    ),
}
"""What goes wrong, and how it is planted."""
