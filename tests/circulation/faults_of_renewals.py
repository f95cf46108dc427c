"""Ways in which letters and cancelling can be wrong, each of which can be planted (``faults``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.books import issues, refunds
from masthead.store.books import (
    merging_subscriptions,
    stored_expiry_dates,
    uncancelling,
)
from masthead.store.books.issue import issues_of
from tests.circulation.faults import _call, _nothing, _sql

if TYPE_CHECKING:
    from tests.circulation.faults import Plant

FAULTS_OF_RENEWALS: dict[str, Plant] = {
    "a late reader gets an earlier effort": _sql(
        r"SELECT max\(e\.effort\)", "SELECT min(e.effort)"
    ),
    "an earlier effort follows a later one": _sql(r"r\.effort >= f\.effort", "r.effort = f.effort"),
    "letters ignore the campaign": _sql(
        r"AND s\.renew_campaign_active = 1", "", only="present_terms"
    ),
    "grace ignores the campaign": _sql(
        r"AND s\.renew_campaign_active = 1", "", only="last_regular"
    ),
    "readers to whom all was refunded get letters": _sql(
        r"AND t\.ended_at IS NULL", "", only="present_terms"
    ),
    "readers to whom all was refunded get grace": _sql(
        r"SELECT w\.ended_at", "SELECT nullif(w.ended_at, w.ended_at)"
    ),
    "a gift takes the letters of a reader who has paid": _sql(
        r"AND NOT EXISTS \(\s+SELECT 1 FROM terms AS t WHERE (t\.account_id = :account_id\s+"
        r"AND t\.subscription_id = d\.)",
        r"AND NOT EXISTS (SELECT 1 FROM terms AS t WHERE FALSE AND \1",
    ),
    "the letter of a gift always goes to the reader": _sql(
        r"coalesce\(o\.subscriber_id, b\.subscriber_id\)", "d.subscriber_id"
    ),
}
"""How each is planted, by what is wrong then."""


def _served_once_more(right: Any, books: Any, issue: Any) -> int:
    """End what was cancelled after an issue with the one that follows it."""
    before = [each for each in issues_of(books, issue.publication_id) if each.date < issue.date]
    return int(right(books, before[-1]._replace()) if before else 0)


FAULTS_OF_CANCELLING: dict[str, Plant] = {
    "a cancelled-after subscription is served once too often": _call(
        issues, "end_due", _served_once_more
    ),
    "a cancelled-after subscription ends with the issue before": _sql(
        r"c\.after_issue_id = :issue_id",
        "c.after_issue_id >= :issue_id",
        only="c\\.ended_on IS NULL",
    ),
    "what was cancelled at its end never ends": _sql(r"c\.at_end = 1 AND", "c.at_end = 2 AND"),
    "undoing leaves the money as it is": _sql(r"-e\.earned - e\.refunded,", "0 * e.earned,"),
    "undoing brings money back twice": _sql(
        r"-e\.earned - e\.refunded,", "-2 * e.earned - 2 * e.refunded,"
    ),
    "undoing leaves the refund of the item": _call(uncancelling, "_take_back_refunds", _nothing),
    "undoing leaves a day of refund beside an allowance": _sql(
        r"(?s)CASE WHEN EXISTS \(\s+SELECT 1 FROM terms AS o.*?\) THEN coalesce\(:refund_date",
        "CASE WHEN refunded <> :cents THEN coalesce(:refund_date",
    ),
    "merging ends what nobody has cancelled": _call(
        merging_subscriptions, "_has_issues_left", lambda *_: False
    ),
    "a refund of nothing ends what is over": _call(
        refunds,
        "_over",
        lambda right, item, terms: right(item, [each._replace(issues_left=1) for each in terms]),
    ),
    "undoing leaves the campaign": _sql(
        r"SET renew_campaign_active = :campaign", "SET renew_campaign_active = 0 * :campaign"
    ),
    "undoing forgets the issues": _sql(
        r"SET issues_left = e\.issues_left, ended_at = NULL", "SET issues_left = 0, ended_at = NULL"
    ),
    "undoing after the next issue": _call(issues, "finalize", _nothing),
    "undoing what was paid or refunded since": _call(
        uncancelling, "_was_booked_since", lambda *_: False
    ),
    "reopening leaves ended what its issue has ended": _call(issues, "go_back", _nothing),
    "the end ignores that it was cancelled after an issue": _call(
        stored_expiry_dates._ExpiryDates, "_keep_last", _nothing
    ),
    "a subscription that is to end stays in the campaign": _sql(
        r"SET renew_campaign_active = 0, commit_id = :commit_id",
        "SET renew_campaign_active = 1, commit_id = :commit_id",
    ),
    "an order leaves what is to end": _sql(
        r"SELECT c\.campaign FROM cancellations AS c WHERE c\.account_id = :account_id\s+AND",
        "SELECT c.campaign FROM cancellations AS c WHERE c.account_id < :account_id AND",
    ),
}
"""How each is planted into cancelling."""
