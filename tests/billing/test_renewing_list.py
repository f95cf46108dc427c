"""What renews automatically: when, for how much, and whether it was announced.

Rule: billing, "Automatic renewal"; decisions, "Prices of renewals that are not announced" (D-376).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import cancelling, catalogue, disputes, renewal_consents, renewing_list
from masthead.books.payer_payments import Incoming
from tests.billing.bureau import pay
from tests.billing.renewing import (
    ANNOUNCED,
    RENEWED,
    YEAR,
    night,
    orders_of,
    reader,
    sell_two_issues,
)

if TYPE_CHECKING:
    from masthead.books.renewing_list import Renews
    from tests.circulation.desk import Desk


def listed(desk: Desk) -> list[Renews]:
    return renewing_list.listed(desk.books).found


def test_what_is_not_announced_yet_has_the_day_of_its_order_and_the_price_of_today(
    bureau: Desk,
) -> None:
    """decisions, "Prices of renewals that are not announced" (D-376)."""
    sell_two_issues(bureau)
    one = reader(bureau, copies=3)
    (found,) = listed(bureau)
    assert (found.subscription_id, found.next_on, found.cents) == (one, RENEWED, 3 * 1284)
    assert (found.state, found.announced_on) == ("expected", None)
    assert found.sentence == ("Tide (print) of Ada Ames: 2026-05-18, 38.52 USD, not announced yet")


def test_what_was_announced_keeps_its_price_when_the_bundle_has_another(bureau: Desk) -> None:
    sell_two_issues(bureau)
    reader(bureau)
    night(bureau, ANNOUNCED)
    catalogue.set_bundle(bureau.books, YEAR, {"price": 1500, "tax": 105})
    (found,) = listed(bureau)
    assert (found.state, found.announced_on, found.cents) == ("announced", ANNOUNCED, 1284)
    assert found.sentence.endswith("2026-05-18, 12.84 USD, announced on 2026-04-18")


def test_what_was_renewed_waits_for_its_payment_and_then_for_its_next_renewal(
    bureau: Desk,
) -> None:
    sell_two_issues(bureau)
    one = reader(bureau)
    night(bureau, ANNOUNCED)
    night(bureau, RENEWED)
    (found,) = listed(bureau)
    assert (found.state, found.next_on) == ("waits", "2027-05-18")
    assert found.sentence.endswith("not announced yet; it waits until its last order is paid")
    pay(bureau, orders_of(bureau, one)[1], Incoming(1284))
    assert [each.state for each in listed(bureau)] == ["expected"]


def test_what_keeps_a_renewal_from_being_ordered_is_said(bureau: Desk) -> None:
    sell_two_issues(bureau)
    in_dispute, unpaid = reader(bureau, 1), reader(bureau, 2, is_paid=False)
    disputes.dispute(bureau.books, orders_of(bureau, in_dispute)[0], "never ordered")
    assert {each.subscription_id: each.why for each in listed(bureau)} == {
        in_dispute: "until the dispute of its order is settled",
        unpaid: "until its last order is paid",
    }


def test_a_renewal_that_is_refused_has_neither_day_nor_price(bureau: Desk) -> None:
    sell_two_issues(bureau)
    reader(bureau)
    catalogue.retire(bureau.books, "bundle", YEAR)
    (found,) = listed(bureau)
    assert (found.state, found.next_on, found.cents) == ("refused", None, None)
    assert found.sentence == (
        "Tide (print) of Ada Ames: it is not renewed, because its bundle is not for sale"
    )
    night(bureau, ANNOUNCED)
    (found,) = listed(bureau)
    assert found.state == "refused"
    assert found.why.startswith("because Tide for a year is retired")


def test_what_was_stopped_or_cancelled_is_not_listed(bureau: Desk) -> None:
    sell_two_issues(bureau)
    stopped, cancelled, ends = reader(bureau, 1), reader(bureau, 2), reader(bureau, 3)
    renewal_consents.stop(bureau.books, stopped)
    cancelling.cancel(bureau.books, cancelled, refund=True)
    cancelling.cancel(bureau.books, ends, refund=False, at_end=True)
    assert renewing_list.listed(bureau.books) == renewing_list.RenewsPage([], None, 0)


def test_the_list_comes_in_parts_and_what_ends_first_is_first(bureau: Desk) -> None:
    sell_two_issues(bureau)
    several = [reader(bureau, payer) for payer in (1, 2, 3)]
    first = renewing_list.listed(bureau.books, limit=2)
    assert [each.subscription_id for each in first.found] == several[:2]
    assert first.in_all == 3
    assert first.after is not None
    second = renewing_list.listed(bureau.books, first.after, limit=2)
    assert [each.subscription_id for each in second.found] == several[2:]
    assert (second.after, second.in_all) == (None, 3)
