"""An order with its invoice sends few statements, since each is a round trip on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.billing import bureau as desks
from tests.billing.bureau import order
from tests.circulation.statements import counting

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

STATEMENTS_MAX = {False: 72, True: 125}
"""By whether the order is paid: then its subscription changes once more."""


@pytest.mark.parametrize("is_paid", [False, True])
def test_an_order_with_its_invoice_sends_few_statements(bureau: Desk, *, is_paid: bool) -> None:
    """What its subscription comes to is worked out once (billing, "What must hold", at size)."""
    desks.fill(bureau)
    order(bureau, is_paid=is_paid)
    with counting() as counts:
        order(bureau, is_paid=is_paid)
    assert counts.sent <= STATEMENTS_MAX[is_paid], counts.sent


def test_the_kinds_of_what_is_billed_are_added(bureau: Desk) -> None:
    """The list of kinds is complete, though the invoice had the subscription worked out before."""
    desks.fill(bureau)
    order(bureau)
    missing = bureau.rows(
        """
        SELECT publication_id, type, copies, issues, renew_campaign_active FROM subscriptions
        WHERE account_id = :account_id
        EXCEPT SELECT publication_id, type, copies, issues, renew_campaign_active
        FROM subscription_kinds WHERE account_id = :account_id
        """
    )
    assert bureau.table("subscriptions")
    assert missing == []
