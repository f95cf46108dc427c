"""The books of a publisher with a given number of paid subscriptions, made by SQL.

Every reader has one subscription of the same magazine, from one paid order. Most are printed with
one copy. One in a hundred is suspended; one in two hundred gets this month's issue at another
address. Twelve months of issues are planned; one issue was closed before the books opened.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import islice
from typing import Any, NamedTuple

from benchmarks.databases import connected, is_postgresql, rows, settle
from benchmarks.publisher import ACCOUNT_ID, add_account
from masthead.circulation.expiry_dates import Calendar

_PUBLICATION = 1
ISSUES = range(2, 14)
"""The ids of the planned issues."""

LENGTHS = (6, 12, 24)
_BUNDLES = {6: 2_400, 12: 4_200, 24: 7_900}
_ISSUES_PER_YEAR = 12
_SUSPENDED_EVERY = 100
_OPENED = "2026-01-01"
_CLOSED = f"'{_OPENED} 00:00:00'"
_DATES = [date(2026 + month // 12, month % 12 + 1, 1) for month in range(len(ISSUES) + 1)]

# The columns of the n-th reader.
_NUMBERS = """WITH RECURSIVE number (n) AS (
    SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {count})"""
_LENGTH = f"CASE n % 4 WHEN 0 THEN {LENGTHS[0]} WHEN 1 THEN {LENGTHS[2]} ELSE {LENGTHS[1]} END"
_PRICE = "CASE {length} " + " ".join(f"WHEN {n} THEN {c}" for n, c in _BUNDLES.items()) + " END"
_TYPE = "CASE WHEN n % 8 = 0 THEN 'Digital' WHEN n % 16 = 1 THEN 'Both' ELSE 'Print' END"
_COPIES = "CASE WHEN n % 50 = 0 THEN 5 ELSE 1 END"
_IS_ACTIVE = "CASE WHEN n % 10 = 0 THEN 0 ELSE 1 END"
_DECIMAL = "CAST({cents} / 100 AS TEXT) || '.' || CAST({cents} % 100 / 10 AS TEXT) || '0'"


class _Step(NamedTuple):
    """The rows of a table: the SQL of each column for the number ``n``, and which numbers."""

    table: str
    columns: dict[str, str]
    every: int = 1

    def sql(self, count: int) -> str:
        """Return the statement that inserts the rows for numbers up to ``count``."""
        numbers = _NUMBERS.format(count=count)
        return (
            f"INSERT INTO {self.table} (account_id, {', '.join(self.columns)}) {numbers} "
            f"SELECT {ACCOUNT_ID}, {', '.join(self.columns.values())} FROM number "
            f"WHERE n % {self.every} = 0 ORDER BY n"
        )


def _steps() -> Sequence[_Step]:
    """Return the tables that belong to each reader, in the order of the references."""
    price = _PRICE.format(length=_LENGTH)
    total = _DECIMAL.format(cents=f"({price})")
    ends = " ".join(f"WHEN {n} THEN '{day}'" for n, day in _last_days().items())
    return [
        _Step(
            "subscribers",
            {
                "subscriber_id": "n",
                "renewal_code": "'R' || n",
                "email": "'reader' || n || '@example.org'",
                "first_name": "'First' || (n % 1000)",
                "last_name": "'Last' || (n % 50000)",
                "first_name_folded": "'first' || (n % 1000)",
                "last_name_folded": "'last' || (n % 50000)",
                "commit_id": "1",
                "custom_fields_commit_id": "1",
            },
        ),
        _Step(
            "addresses",
            {
                "address_id": "n",
                "subscriber_id": "n",
                "address": "(n % 900) || ' Harbor Road ' || n",
                "city": "'City ' || (n % 5000)",
                "state": "'NY'",
                "zip_code": "CAST(10000 + n % 50000 AS TEXT)",
                "country_abbreviation": "'US'",
                "commit_id": "1",
            },
        ),
        _Step(
            "orders",
            {
                "order_id": "n",
                "subscriber_id": "n",
                "mailing_address_id": "n",
                "billing_address_id": "n",
                "order_date": "'2025-12-01 10:00:00'",
                "sub_total": total,
                "grand_total": total,
                "external_reference": "'WEB-' || n",
                "paid_on": f"'{_OPENED}'",
                "commit_id": "1",
            },
        ),
        _Step(
            "purchases",
            {
                "purchase_id": "n",
                "subscriber_id": "n",
                "bundle_id": _LENGTH,
                "shipping_address_id": "n",
                "billing_address_id": "n",
                "total": total,
                "commit_id": "1",
            },
        ),
        _Step(
            "order_items",
            {
                "order_item_id": "n",
                "order_id": "n",
                "bundle_id": _LENGTH,
                "sub_total": total,
                "grand_total": total,
                "purchase_id": "n",
            },
        ),
        _Step(
            "subscriptions",
            {
                "subscription_id": "n",
                "subscriber_id": "n",
                "publication_id": str(_PUBLICATION),
                "mailing_address_id": "n",
                "billing_address_id": "n",
                "issues": _LENGTH,
                "copies": _COPIES,
                "paid_issues_left": _LENGTH,
                "unearned_revenue": total,
                "type": _TYPE,
                "date_created": f"'{_OPENED}'",
                "date_expired": f"CASE {_LENGTH} {ends} END",
                "last_purchase_bundle_id": _LENGTH,
                "last_purchase_id": "n",
                "renew_campaign_active": _IS_ACTIVE,
                "begins_on": "'2026-01-02'",
                "commit_id": "1",
            },
        ),
        _Step(
            "terms",
            {
                "term_id": "n",
                "subscription_id": "n",
                "order_item_id": "n",
                "issues": _LENGTH,
                "issues_left": _LENGTH,
                "copies": _COPIES,
                "price": price,
                "paid_on": f"'{_OPENED}'",
                "kind": "'paid'",
            },
        ),
        _Step(
            "revenue",
            {
                "revenue_id": "n",
                "term_id": "n",
                "kind": "'received'",
                "cents": price,
                "booked_on": f"'{_OPENED}'",
            },
        ),
        _Step(
            "suspensions",
            {
                "suspension_id": "n",
                "subscription_id": "n",
                "from_date": "'2026-01-15'",
            },
            every=_SUSPENDED_EVERY,
        ),
        _Step(
            "temporary_addresses",
            {
                "temporary_address_id": "n",
                "subscription_id": "n",
                "address_id": "n - 1",
                "from_date": "'2026-01-15'",
                "to_date": "'2027-12-31'",
            },
            every=201,
        ),
    ]


def _last_days() -> dict[int, date]:
    """Return the last day of a subscription by its issues left."""
    calendar = Calendar([], _DATES[1:], _ISSUES_PER_YEAR, _DATES[:1])
    coming = list(islice(calendar.after_closed(), max(LENGTHS) + 1))
    return {length: coming[length] - timedelta(days=1) for length in LENGTHS}


_EFFORTS = (3, 1, -1)
"""The issues left at which each renewal letter is due."""


def _catalogue() -> list[str]:
    """Return the statements for the publication, its issues and bundles, and the open books."""
    issues = ", ".join(
        f"({ACCOUNT_ID}, {number}, {_PUBLICATION}, 'no. {number}', '{day}', "
        f"{'NULL' if number in ISSUES else _CLOSED})"
        for number, day in enumerate(_DATES, 1)
    )
    bundles = ", ".join(
        f"({ACCOUNT_ID}, {length}, '{length} issues', {cents})"
        for length, cents in _BUNDLES.items()
    )
    lines = ", ".join(
        f"({ACCOUNT_ID}, {length}, 1, {_PUBLICATION}, {length}, 'Print', {cents})"
        for length, cents in _BUNDLES.items()
    )
    rows_of = {
        "publications (account_id, publication_id, name)": (
            f"({ACCOUNT_ID}, {_PUBLICATION}, 'Tide')"
        ),
        "issues (account_id, issue_id, publication_id, name, date, closed_at)": issues,
        "books (account_id, books_id, opened_on, opened_at)": (
            f"({ACCOUNT_ID}, 1, '{_OPENED}', '{_OPENED} 12:00:00')"
        ),
        "bundles (account_id, bundle_id, name, price)": bundles,
        """bundle_lines (
            account_id, bundle_id, line_number, publication_id, issues, type, price)""": lines,
        "renewal_efforts (account_id, publication_id, effort, issues_left)": ", ".join(
            f"({ACCOUNT_ID}, {_PUBLICATION}, {effort}, {left})"
            for effort, left in enumerate(_EFFORTS, 1)
        ),
        "commits (account_id, commit_id, visible_at)": f"({ACCOUNT_ID}, 1, 1)",
    }
    return [
        f"INSERT INTO {columns} VALUES {values} ON CONFLICT DO NOTHING"
        for columns, values in rows_of.items()
    ]


_KINDS = """
    INSERT INTO subscription_kinds (
        account_id, publication_id, type, copies, issues, renew_campaign_active)
    SELECT DISTINCT account_id, publication_id, type, copies, issues, renew_campaign_active
    FROM subscriptions
    """
_FAST = {
    "sqlite": "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000",
    "postgresql": "SET session_replication_role = replica; SET synchronous_commit = off",
}


def make_books(url: str, count: int) -> None:
    """Add the account with its open books and ``count`` subscriptions."""
    add_account(url)
    with connected(url) as connection:
        connection.execute(_FAST["postgresql" if is_postgresql(url) else "sqlite"])
        for statement in [*_catalogue(), *(step.sql(count) for step in _steps()), _KINDS]:
            connection.execute(statement)
    settle(url)


def nth_subscriber(number: int, of: int, count: int) -> int:
    """Return one of the readers who are not suspended, spread evenly over ``count``."""
    found = 1 + number * (count // (of + 1))
    return found if found % _SUSPENDED_EVERY else found + 1


def newest_list(url: str) -> tuple[int, int]:
    """Return the id of the newest mailing list, and its number of entries."""
    found: list[tuple[Any, ...]] = rows(
        url, "SELECT mailing_list_id, count FROM list_downloads ORDER BY mailing_list_id DESC"
    )
    return int(found[0][0]), int(found[0][1])
