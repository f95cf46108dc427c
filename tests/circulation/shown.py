"""What the tables hold and what the model says, in one shape for comparison."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from masthead.store.database import Connection
    from tests.circulation.model_operations import Books

Shown = dict[str, dict[Any, Any]]

_QUERIES = {
    "publications": """publication_id, issues_per_year, late_start, grace_counts, credit_issues,
        unlimited_term_months""",
    "bundles": "bundle_id, active",
    "issues": """issue_id, publication_id, date, closed_at IS NOT NULL, mailing_list_id,
        file_written_at IS NOT NULL, mailed_on""",
    "subscribers": "subscriber_id, delete_date IS NULL, merged_into",
    "addresses": "address_id, subscriber_id, coalesce(address, '')",
    "subscriptions": """subscription_id, subscriber_id, publication_id, type, begins_on,
        date_created, mailing_address_id, billing_address_id, copies, renew_campaign_active,
        date_last_renewed, last_purchase_bundle_id, last_purchase_id, cancelled_on, issues,
        paid_issues_left, unearned_revenue, date_expired, merged_into""",
    "terms": """term_id, subscription_id, order_item_id, issues, issues_left, price, kind, months,
        paid_on, starts_on, ended_at IS NOT NULL, moved_after IS NOT NULL, copies, class,
        free_copies, free_class, allowed, spread_after, spread_earned, spread_parts""",
    "list_downloads": """mailing_list_id, status, count, is_gap, parent_mailing_list_id,
        grace_issues, grace_from_date""",
    "orders": """order_id, subscriber_id, external_reference, billing_address_id,
        mailing_address_id, is_gift, paid_on, sub_total, tax_total, grand_total""",
    "order_items": """order_item_id, order_id, bundle_id, product_id, sub_total, tax_total,
        grand_total, purchase_id, refunded, substr(refund_date, 1, 10),
        is_dropped, copies, list_price""",
    "purchases": """purchase_id, subscriber_id, bundle_id, total, is_gift, billing_address_id,
        shipping_address_id, invoice_id""",
    "suspensions": "suspension_id, subscription_id, from_date, to_date",
    "cancellations": """subscription_id, made_on, after_issue_id, at_end, is_refund, campaign,
        ended_on, ended_issue_id, final_issue_id""",
    "cancelled_terms": """term_id, issues_left, earned, refunded, tax,
        substr(refund_date, 1, 10)""",
    "temporary_addresses": "temporary_address_id, subscription_id, from_date, to_date, address_id",
}
_WITH_TWO_KEYS = {
    "subscription_issues": """subscription_id, issue_id, mailing_list_id, term_id, is_grace,
        address_id""",
    "mailing_list_entries": """mailing_list_id, subscription_id, copies, is_grace, is_paid, type,
        class, free_copies, free_class""",
    "renewal_efforts": "publication_id, effort, issues_left",
    "renewals_sent": "term_id, effort, subscription_id, sent_on",
}
_USUAL = {int, str, type(None)}
_MONEY = {"sub_total", "tax_total", "grand_total", "total", "unearned_revenue"}


class Differs(AssertionError):
    """The database is not what the model says."""


def of_store(connection: Connection, account_id: int) -> Shown:
    """Return what the tables hold."""
    shown: Shown = {}
    for keys, queries in ((1, _QUERIES), (2, _WITH_TWO_KEYS)):
        for table, columns in queries.items():
            rows = connection.rows(
                f"SELECT {columns} FROM {table} WHERE account_id = :account_id",
                account_id=account_id,
            )
            found = [tuple(map(_plain, row)) for row in rows]
            shown[table] = {row[0] if keys == 1 else row[:2]: row[keys:] for row in found}
    for table in ("orders", "order_items", "purchases"):
        names = [name.strip() for name in _QUERIES[table].split(",")][1:]
        places = [place for place, name in enumerate(names) if name in _MONEY]
        shown[table] = {key: _in_cents(row, places) for key, row in shown[table].items()}
    shown["revenue"] = _sums(
        connection.rows(
            """SELECT term_id, issue_id, kind, cents, booked_on FROM revenue
            WHERE account_id = :account_id""",
            account_id=account_id,
        )
    )
    return shown


def _sums(rows: Iterable[tuple[Any, ...]]) -> dict[Any, Any]:
    """Return the cents by all else: in how many rows they are booked is no rule."""
    sums: Counter[tuple[Any, ...]] = Counter()
    for term, issue, kind, cents, day in rows:
        sums[term, issue, kind, day] += cents
    return {key: cents for key, cents in sums.items() if cents}


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return f"{value}"
    return int(value) if isinstance(value, bool) else value


def _in_cents(row: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
    return tuple(
        int(Decimal(value) * 100) if place in places and value is not None else value
        for place, value in enumerate(row)
    )


def _row(*values: Any) -> tuple[Any, ...]:
    """Return values as tables have them: days as texts, yes and no as 1 and 0."""
    return tuple(
        [each if type(each) in _USUAL else _plain(each) for each in values]  # millions of them
    )


def of_model(books: Books) -> Shown:
    """Return what the model says that the tables hold."""
    orders = {n: [item for item in books.items.values() if item.order == n] for n in books.orders}
    of_purchase = {item.purchase: item.order for item in books.items.values()}
    return {
        "publications": {n: _row(*vars(each).values()) for n, each in books.publications.items()},
        "bundles": {n: _row(each.active) for n, each in books.bundles.items()},
        "issues": {
            n: _row(
                *(i.publication, i.date, i.closed is not None, i.main_list, i.is_written),
                i.mailed_on,
            )
            for n, i in books.issues.items()
        },
        "subscribers": {
            n: _row(is_there, books.merged.get(n)) for n, is_there in books.subscribers.items()
        },
        "addresses": {n: _row(a.subscriber, a.street) for n, a in books.addresses.items()},
        "subscriptions": {
            n: _row(
                *vars(each).values(),
                books.issues_left(n),
                books.paid_issues_left(n),
                _decimal(sum(map(books.unearned, books.terms_of(n)))),
                books.expires(n),
                books.merged_subscriptions.get(n),
            )
            for n, each in books.subscriptions.items()
        },
        "terms": {
            n: _row(
                *(t.subscription, t.item, t.issues, books.left(n), t.price, t.kind, t.months),
                t.paid_on,
                books.began(n) if t.issues < 0 else None,
                t.ended is not None,
                t.moved is not None,
                *(t.copies, t.of_class, t.free_copies, t.free_class, t.allowed),
                *(t.spread_after, t.spread_earned, t.spread_parts),
            )
            for n, t in books.terms.items()
        },
        "list_downloads": {
            n: _row(
                *("Complete", len(each.entries), each.parent is not None, each.parent),
                *(each.grace_issues, each.grace_from),
            )
            for n, each in books.lists.items()
        },
        "orders": {
            n: _row(
                *(o.subscriber, o.reference, o.billing, o.mailing, o.is_gift, o.paid_on),
                *(sum(getattr(i, name) for i in orders[n]) for name in ("net", "tax", "gross")),
            )
            for n, o in books.orders.items()
        },
        "order_items": {
            n: _row(
                *(i.order, i.bundle, i.product, i.net, i.tax, i.gross, i.purchase, i.refunded),
                *(i.refunded_on, i.is_dropped, i.copies, i.list_price),
            )
            for n, i in books.items.items()
        },
        "purchases": {
            n: _row(*vars(each).values(), f"{of_purchase[n]}")
            for n, each in books.purchases.items()
        },
        "suspensions": {n: _row(*each[:3]) for n, each in books.suspensions.items()},
        "cancellations": {
            n: _row(
                *(c.made_on, c.after_issue, c.at_end, c.is_refund, c.campaign),
                *(c.ended_on, c.ended_issue, c.final_issue),
            )
            for n, c in books.cancellations.items()
        },
        "cancelled_terms": {n: _row(*each) for n, each in books.cancelled_terms.items()},
        "temporary_addresses": {n: _row(*each) for n, each in books.aways.items()},
        "subscription_issues": {key: _row(*each) for key, each in books.deliveries.items()},
        "mailing_list_entries": {
            (n, key): _row(*entry)
            for n, each in books.lists.items()
            for key, entry in each.entries.items()
        },
        "renewal_efforts": {key: (left,) for key, left in books.efforts.items()},
        "renewals_sent": {key: _row(*each) for key, each in books.sent.items()},
        "revenue": _sums(_row(*row) for row in books.revenue),
    }


def _decimal(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def compare(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Raise Differs, with what differs, unless both are the same."""
    if found == expected:
        return
    lines = []
    for table, rows in expected.items():
        for key in sorted(found[table].keys() | rows.keys(), key=repr):
            has, says = found[table].get(key), rows.get(key)
            if has != says:
                lines.append(f"{table} {key}: the store has {has}, the model {says}")
    raise Differs("\n".join(lines))
