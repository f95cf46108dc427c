"""Ways in which automatic renewal can go wrong, each of which can be planted into the product.

``tests.circulation.faults`` says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import automatic_renewals
from masthead.store.billing import announced_renewals, renewal_consents
from tests.circulation.faults import _call, _nothing, _sql

if TYPE_CHECKING:
    import pytest

    from tests.circulation.faults import Plant, Times


def _all(*plants: Plant) -> Plant:
    """Return what plants several mistakes that hide each other; each must be made."""

    def plant(patch: pytest.MonkeyPatch) -> Times:
        times = [each(patch) for each in plants]
        return lambda: min(each() for each in times)

    return plant


_SAME_TERM = _sql(
    r"AND t\.term_id =\s+\(SELECT n\.term_id",
    "AND t.term_id = (SELECT min(n.term_id) FROM terms AS n WHERE n.account_id = :account_id "
    "AND n.subscription_id = v.subscription_id) AND 0 < (SELECT n.term_id",
    only=r"t\.price = 0",
)
"""Takes the first term of a subscription for its last one."""

_STOPS_NO_ANNOUNCEMENT = _call(renewal_consents, "stop_announcements", _nothing)

FAULTS_OF_RENEWING: dict[str, Plant] = {
    "a term is renewed twice": _all(
        _call(announced_renewals, "settle", _nothing), _SAME_TERM, _STOPS_NO_ANNOUNCEMENT
    ),
    "what was renewed is not noted": _call(announced_renewals, "settle", _nothing),
    "a renewal is ordered after it was stopped": _all(
        _STOPS_NO_ANNOUNCEMENT,
        _sql(r"AND v\.stopped_on IS NULL(?=\s+AND s\.cancelled_on)", ""),
    ),
    "a renewal is ordered after another order": _all(_STOPS_NO_ANNOUNCEMENT, _SAME_TERM),
    "a renewal is ordered at the new price": _call(
        automatic_renewals,
        "_as_announced",
        lambda _right, _change, _announced, each: automatic_renewals._order(each),
    ),
    "a renewal is ordered on the day of its announcement": _call(
        automatic_renewals, "renews_on", lambda _right, _plan, _schedule, _expired, today: today
    ),
    "renewals are announced for ever": _call(automatic_renewals, "first_not_due", lambda *_: None),
    "an unpaid term is renewed": _sql(r"AND \(t\.price = 0 OR t\.paid_on IS NOT NULL\)", ""),
    "a cancelled subscription is renewed": _all(
        _call(renewal_consents, "stop_ended", _nothing),
        _sql(
            r"AND NOT EXISTS \(SELECT 1 FROM cancellations AS c WHERE c\.account_id = "
            r":account_id\s+AND c\.subscription_id = v\.subscription_id AND c\.ended_on IS NULL\)",
            "",
        ),
    ),
    "letters go to readers who renew automatically": _sql(
        r"AND NOT EXISTS \(SELECT 1 FROM renewal_consents AS c WHERE c\.account_id = :account_id",
        "AND NOT EXISTS (SELECT 1 FROM renewal_consents AS c WHERE c.account_id <> :account_id",
    ),
    "a reader whose renewal was refused gets no letter": _sql(
        r"u\.status = 'refused'", "u.status = 'announced'"
    ),
    "a giver's renewal is billed to the reader": _call(
        automatic_renewals,
        "_order",
        lambda right, each, *price: right(each._replace(payer_id=each.subscriber_id), *price),
    ),
    "a renewal has one copy": _call(automatic_renewals, "copies_of", lambda *_: 1),
}
"""What goes wrong, and how it is planted."""
