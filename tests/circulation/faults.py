"""Ways in which the books can be kept wrong, each of which can be planted into the product.

Every one is a mistake that somebody could make. A plant gets what undoes it, and returns how often
the mistake was made since: one that is never reached proves nothing.
"""
# Long because it is one list, in which each mistake stands beside others of its kind.

# Long because it is one table of mistakes.
from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any

from masthead.books import account, order_lines, orders, refunds, term_payments
from masthead.books import issues as books_issues
from masthead.circulation import expiry_dates, refunding
from masthead.circulation.ordering import RefusedOrder
from masthead.store import audit, deletions
from masthead.store.billing.closed_months import OpenDays
from masthead.store.books import (
    cancelling,
    catalogue,
    closing,
    earning,
    extendable_subscriptions,
    item_pricing,
    merging_subscriptions,
    order_money,
    order_people,
    reopening,
    stored_expiry_dates,
)
from masthead.store.books.issue import Issue
from masthead.store.books.served_subscriptions import Serving
from masthead.store.postgresql_connection import PostgresStoreConnection
from masthead.store.sqlite import SqliteStoreConnection

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from masthead.store import Connection

    Times = Callable[[], int]
    Plant = Callable[[pytest.MonkeyPatch], Times]


def _sql(pattern: str, by: str, *, only: str = "") -> Plant:
    """Return what lets the store run other SQL wherever ``pattern`` stands in a statement.

    ``only`` is what such a statement has too.
    """

    def plant(patch: pytest.MonkeyPatch) -> Times:
        times = [0]
        for kind, name in product(
            (SqliteStoreConnection, PostgresStoreConnection), ("rows", "change", "stream")
        ):
            run = getattr(kind, name)

            def other(self: Connection, sql: str, /, run: Any = run, **values: Any) -> Any:
                if re.search(only, sql):
                    sql, count = re.subn(pattern, by, sql)
                    times[0] += count
                return run(self, sql, **values)

            patch.setattr(kind, name, other)
        return lambda: times[0]

    return plant


def _call(where: Any, name: str, instead: Callable[..., Any]) -> Plant:
    """Return what takes the place of a function; it gets the function and what that was given."""

    def plant(patch: pytest.MonkeyPatch) -> Times:
        times = [0]
        right = getattr(where, name)

        def wrong(*given: Any, **named: Any) -> Any:
            times[0] += 1
            return instead(right, *given, **named)

        patch.setattr(where, name, wrong)
        return lambda: times[0]

    return plant


def _nothing(_right: Any, *_given: Any, **_named: Any) -> int:
    return 0


def _gap_without_suspensions(
    right: Any, serving: Serving, running: Any, issue: Any, *more: Any
) -> None:
    right(serving, running, issue, *more)
    if issue.closed_at:
        serving._conditions = re.sub(
            r"AND\s+NOT EXISTS \(\s+SELECT 1 FROM suspensions.*?\)\)",
            "",
            serving._conditions,
            flags=re.DOTALL,
        )


def _nothing_taken_back(right: Any, net: int, terms: Any) -> Any:
    return [
        each._replace(refunded=min(each.refunded, term.unearned), earned=max(each.earned, 0))
        for each, term in zip(right(net, terms), terms, strict=True)
    ]


def _to_the_first(_right: Any, cents: int, most: Any) -> list[int]:
    found = []
    for each in most:
        found.append(min(each, cents))
        cents -= found[-1]
    return found


def _part_alone(_right: Any, item: Any, amount: int, terms: Any) -> int:
    left: int = sum(term.received - term.refunded for term in terms)
    gross: int = item.net + item.tax
    return left if amount == refunding.paid_gross(item) else amount * int(item.net) // gross


def _by_number(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Return what takes a renewal to a subscription by its number alone."""

    def wrong(right: Any, books: Any, *key: Any) -> Any:
        found = extendable_subscriptions.look_up(books, [key[0]])[key[0]]
        same = [each for each in found if (each.publication_id, each.type) == key[1:3]]
        is_free = key[3] is None and right(books, *key)
        return choose(same, key=lambda e: e.subscription_id) if is_free else right(books, *key)

    return wrong


def _with_one_copy(
    right: Any, books: Any, term: Any, _copies: int, *more: Any, **named: Any
) -> None:
    right(books, term, 1, *more, **named)


def _not_merged(right: Any, books: Any, person: Any, prefix: str) -> Any:
    found = right(books, person, prefix)
    if person.subscriber_id and found != person.subscriber_id:
        raise RefusedOrder("subscriber_id", "merged")
    return found


def _booked_to_the_date(patch: pytest.MonkeyPatch) -> Times:
    times = [0]

    def wrong(issue: Issue) -> str:
        times[0] += 1
        return issue.date

    patch.setattr(Issue, "booked_on", property(wrong))
    return lambda: times[0]


FAULTS: dict[str, Plant] = {
    # Closing
    "a delivery takes an issue for each copy": _sql(
        r"THEN t\.issues_left - 1",
        """THEN t.issues_left - (SELECT s.copies FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id = d.subscription_id)""",
    ),
    "a delivery takes an issue from the newest term": _sql(
        r"SELECT min\(o\.term_id\)", "SELECT max(o.term_id)"
    ),
    "closing forgets suspensions": _sql(
        r"(FROM suspensions AS a WHERE)", r"\1 FALSE AND", only="AS c"
    ),
    "a gap list forgets suspensions": _call(Serving, "__init__", _gap_without_suspensions),
    "the last day of a suspension is none of it": _sql(r"a\.to_date >= :day", "a.to_date > :day"),
    "readers who are deleted are served": _sql(r"r\.delete_date IS NOT NULL\)", "FALSE)"),
    "subscriptions are served before they begin": _sql(r"AND s\.begins_on <= :day", ""),
    "credit is ignored": _sql(
        r"NOT\s+\(t\.price > 0 AND t\.paid_on IS NULL AND :credit", "NOT (FALSE AND :credit"
    ),
    "credit is one issue more": _sql(r":credit <= CASE", ":credit < CASE"),
    "copies are sent to nowhere": _sql(r"c\.type IN \('Print', 'Both'\)", "c.type IN ('Both')"),
    "temporary addresses are forgotten": _sql(
        r"coalesce\(\(\s+SELECT min\(w\.address_id\)",
        "coalesce((SELECT CAST(NULL AS BIGINT)",
        only="AS c",
    ),
    "the last day of a temporary address is none of it": _sql(
        r"w\.to_date >= :day", "w.to_date > :day"
    ),
    "a term that is not paid counts as paid": _sql(
        r"CASE WHEN t\.paid_on IS NOT NULL (THEN 1 ELSE 0 END, s\.type)",
        r"CASE WHEN t.price > 0 \1",
    ),
    "what is not paid has the class of its term": _sql(
        r"THEN 'unpaid'\s+ELSE t\.class", "THEN t.class ELSE t.class"
    ),
    "free copies count as paid": _sql(
        r"coalesce\(t\.free_copies, 0\), t\.free_class", "0, CAST(NULL AS TEXT)"
    ),
    "a renewal cuts the copies that are paid for": _sql(
        r"coalesce\(t\.copies \+ t\.free_copies, s\.copies\), d\.is_grace",
        """coalesce((SELECT n.copies FROM terms AS n WHERE n.account_id = :account_id
        AND n.subscription_id = d.subscription_id ORDER BY n.term_id DESC LIMIT 1), s.copies),
        d.is_grace""",
    ),
    "what is not paid holds back what is paid behind it": _sql(
        r"AND s\.subscription_id IN \(\s+SELECT u\.subscription_id",
        "AND FALSE AND s.subscription_id IN (SELECT u.subscription_id",
    ),
    "a term that is passed over is used up too": _sql(
        r"(FROM subscription_issues AS d\s+WHERE d\.account_id = :account_id AND "
        r"d\.mailing_list_id = :mailing_list_id\s+AND t\.account_id = :account_id AND) "
        r"t\.term_id = d\.term_id",
        r"\1 t.subscription_id = d.subscription_id AND t.term_id <= d.term_id",
    ),
    "a term that is passed over needs no hand": _call(
        Serving,
        "held",
        lambda right, *given: [row for row in right(*given) if row[2] != "passed over"],
    ),
    "a closing is not noted in the issue": _sql(
        r"SET closed_at = :now, mailing_list_id = :mailing_list_id",
        "SET closed_at = :now, mailing_list_id = NULLIF(:mailing_list_id, 2)",
    ),
    "issues of deleted readers are not named": _sql(
        r"AND r\.delete_date IS NOT NULL(\s+AND s)", r"AND FALSE\1"
    ),
    "a preview changes something": _call(
        account,
        "operation",
        lambda right, *given, **named: right(*given, **{**named, "dry_run": False}),
    ),
    # Grace
    "one grace issue too many": _sql(r"(i\.date > c\.last_regular\)\s*) <(?!=)", r"\1 <="),
    "grace ignores when the last issue was": _sql(
        r"(s\.date_expired|c\.last_regular) >= :since", r"(\1 >= :since OR \1 < :since)"
    ),
    "grace is counted twice": _call(
        order_lines, "covered", lambda right, *given: [*right(*given)] * 2
    ),
    "grace is never counted": _call(order_lines, "covered", lambda *_: ()),
    # Money
    "each share is rounded": _call(
        earning,
        "earned",
        lambda _right, done, whole="t.issues": (
            f"((2 * t.price * {done} + {whole}) / (2 * {whole}))"
        ),
    ),
    "revenue is booked before a term was paid": _sql(
        r"CASE WHEN t\.paid_on > :day THEN t\.paid_on ELSE :day END", ":day"
    ),
    "a payment earns nothing of what was delivered": _call(term_payments, "_earned", _nothing),
    "unlimited terms earn nothing when an issue is closed": _call(
        closing, "earn_by_months", lambda *_: 1 << 40
    ),
    "months are earned in which nothing was served": _sql(
        r"FROM subscription_issues AS g JOIN \((VALUES .*?)\) AS v ON v\.column1 = g\.issue_id\s+"
        r"WHERE g\.account_id = :account_id AND g\.term_id = t\.term_id",
        r"FROM (\1) AS v",
    ),
    "the months of a bundle are those of its publication": _call(
        item_pricing,
        "_lines",
        lambda right, *given: [line._replace(months=None) for line in right(*given)],
    ),
    "a delivery is booked to the issue's date, whenever it was mailed": _booked_to_the_date,
    "what is converted is spread over other parts": _sql(
        r"spread_parts = :spread_parts", "spread_parts = :spread_parts + 1"
    ),
    "converting rounds the issues up": _sql(
        r"SET issues = :issues, issues_left = :issues_left, copies",
        "SET issues = :issues + 1, issues_left = :issues_left + 1, copies",
    ),
    "an unlimited term begins with the latest issue": _sql(
        r"(OR \(t\.starts_on) > :day", r"\1 < :day"
    ),
    "what a refund is above what is unearned is not taken back": _call(
        refunds, "taken", _nothing_taken_back
    ),
    "a refund forgets its tax": _call(refunding, "tax_of", _nothing),
    "each part of a refund is rounded": _call(refunds, "net_of", _part_alone),
    "the tax of each cancelling is rounded": _call(
        cancelling,
        "tax_share",
        lambda _right, item, net, _refunded: refunding.tax_of(net, item.net, item.tax),
    ),
    "a refund leaves the issues": _sql(
        r"SET issues_left = 0, ended_at = :now",
        "SET issues_left = issues_left, ended_at = :now",
        only="AND order_item_id = :item_id",
    ),
    "cancelling with a refund earns what is unearned": _sql(
        r"k\.other = 1 THEN 'refunded'", "k.other = 1 THEN 'earned'"
    ),
    "cancelling leaves a subscription in the campaign": _sql(
        r"renew_campaign_active = 0, commit_id", "commit_id"
    ),
    "a discount goes to the first line": _call(
        item_pricing, "spread", lambda _right, net, prices: [net - sum(prices[1:]), *prices[1:]]
    ),
    "a refund goes to the first line": _call(refunding, "parts", _to_the_first),
    "an allowance ends the issues": _sql(
        r"SET allowed = allowed \+ :cents", "SET issues_left = 0, allowed = allowed + :cents"
    ),
    "what an allowance leaves is not spread over what is left": _call(
        order_money, "spread_rest", _nothing
    ),
    "what is earned ahead of today is taken back today": _call(
        refunds, "taken_back", lambda right, cents, _earned, today: right(cents, (), today)
    ),
    "a late closing is booked into a month that has ended": _call(
        OpenDays, "day_for", lambda _right, _days, day: day
    ),
    "a reopening is booked into a month that has ended": _sql(
        r"CASE WHEN r\.booked_on < :since THEN :instead", "CASE WHEN FALSE THEN :instead"
    ),
    "who has all money back stays in the campaign": _call(order_money, "leave_campaign", _nothing),
    "who was refunded never gets letters again": _sql(
        r"SELECT t\.ended_at FROM", "SELECT NULL FROM"
    ),
    # Orders
    "a term has one copy, whatever was ordered": _call(order_lines, "add_term", _with_one_copy),
    "an item has one copy, whatever was ordered": _call(
        orders,
        "price_item",
        lambda right, change, number, item: right(change, number, item._replace(copies=1)),
    ),
    "the copies of an item cost what one does": _call(
        orders,
        "price_item",
        lambda right, *given: (a := right(*given))._replace(net=a.net // a.item.copies),
    ),
    "several addresses share a subscription": _call(
        order_lines.Lines, "tell_apart", lambda *_: None
    ),
    "late_start is ignored": _call(
        order_lines, "begins_on", lambda right, _late, *given: right("next", *given)
    ),
    "a renewal goes to the oldest subscription": _call(order_lines, "running", _by_number(min)),
    "a renewal goes to the newest subscription": _call(order_lines, "running", _by_number(max)),
    "a renewal goes to a cancelled subscription": _sql(
        r"(s\.subscriber_id IN \([^)]*\)\s+)AND s\.cancelled_on IS NULL", r"\1"
    ),
    "a renewal leaves the subscription that it names": _call(
        order_lines, "running", lambda right, *given: right(*given[:4])
    ),
    "a temporary address is kept for good": _call(
        order_people, "usual_address", lambda _right, _books, _who, own: max(own, default=None)
    ),
    "a part of an address is taken": _call(order_people, "refusal", lambda *_: None),
    "--new is ignored": _call(
        order_lines.Lines,
        "add_term",
        lambda right, lines, number, item_id, purchase_id, priced, *more: right(
            lines,
            number,
            item_id,
            purchase_id,
            priced._replace(item=priced.item._replace(is_new=False)),
            *more,
        ),
    ),
    "an order goes behind what is unlimited": _sql(
        r"SELECT min\(t\.issues_left\) FROM terms",
        "SELECT max(nullif(t.issues_left, -1)) FROM terms",
    ),
    "an order comes again whatever its content": _call(orders, "digest", lambda *_: ""),
    "a gift goes to the donor": _call(
        orders, "_recipient", lambda _right, _change, people, *_: people.payer
    ),
    # Reopening
    "reopening forgets the revenue": _call(reopening, "take_back", _nothing),
    "reopening gives no issue back": _sql(
        r"SET issues_left = t\.issues_left \+ 1", "SET issues_left = t.issues_left"
    ),
    "reopening ignores what was refunded since": _call(reopening.Undoing, "check_terms", _nothing),
    "reopening leaves the beginning of those who have renewed since": _call(
        reopening.Undoing, "_begin_again", _nothing
    ),
    "grace that was undone never comes again": _sql(
        r"issues <> 0 OR subscription_id IN", "subscription_id IN", only="SET begins_on = :day"
    ),
    "reopening leaves a cent in its month": _sql(
        r"CASE WHEN e\.is_less = 0 THEN :issue_id ELSE o\.issue_id END", ":issue_id"
    ),
    "reopening ignores what was converted since": _sql(
        r"OR e\.copies - e\.free_copies <> t\.copies", ""
    ),
    "lists that are gone are in the feed with the commit before": _call(
        deletions,
        "note",
        lambda right, connection, account_id, commit_id, *more, **named: right(
            connection, account_id, commit_id - 1, *more, **named
        ),
    ),
    # The plan, and the ends
    "who begins with an issue that is moved earlier does not get it": _call(
        catalogue, "begin_with_moved", _nothing
    ),
    "the end ignores a suspension": _call(
        stored_expiry_dates,
        "with_issues_left",
        lambda right, calendar, left, begins, missed, _away: right(
            calendar, left, begins, missed, ()
        ),
    ),
    "the end ignores issues that a gap list brings": _call(
        stored_expiry_dates._ExpiryDates, "_keep_missed", _nothing
    ),
    "the end ignores how many issues a year has": _call(
        expiry_dates, "dates_beyond", lambda right, last, _year: right(last, 12)
    ),
    "closing writes no expiry date": _call(books_issues, "write_expiry_after_closing", _nothing),
    # Merging, renewals, and what all operations do
    "merging loses the terms": _sql(
        r"(UPDATE terms SET subscription_id = :one, moved_after)", r"UPDATE terms SET moved_after"
    ),
    "what was delivered to the other one is delivered again": _sql(
        r"UPDATE subscription_issues SET subscription_id = :one\s+WHERE",
        "UPDATE subscription_issues SET subscription_id = :one WHERE FALSE AND",
    ),
    "merging forgets the letters": _sql(
        r"UPDATE renewals_sent SET subscription_id = :one\s+WHERE",
        "UPDATE renewals_sent SET subscription_id = :one WHERE FALSE AND",
    ),
    "merging forgets suspensions": _call(merging_subscriptions, "_move_spans", _nothing),
    "what was merged goes on": _sql(
        r"SET cancelled_on = :today, renew_campaign_active = 0,\s+merged_into",
        "SET cancelled_on = NULLIF(:today, :today), renew_campaign_active = 0, merged_into",
    ),
    "who was merged orders nothing": _call(order_people, "_by_id", _not_merged),
    "merging forgets the terms": _sql(
        r"(?s)(UPDATE terms SET moved_after = .*?)WHERE (account_id = :account_id AND subsc)",
        r"\1WHERE FALSE AND \2",
    ),
    "merging forgets the purchases": _sql(
        r"(UPDATE purchases SET subscriber_id = :kept, commit_id = :commit_id\s+WHERE)",
        r"\1 FALSE AND",
    ),
    "changed balances are not in the feed": _sql(
        r"(unearned_revenue = n\.unearned, commit_id) = :commit_id",
        r"\1 = s.commit_id + 0 * :commit_id",
    ),
    "an operation is not in the audit log": _call(audit, "record", _nothing),
}
"""How each is planted, by what is wrong then."""
