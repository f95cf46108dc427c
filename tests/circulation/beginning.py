"""The account with which the proof of circulation begins, as the model has it and as rows.

Two publications: one has closed issues, late starts with the next issue, and grace counts; of the
other nothing is closed yet, and late starts begin with the newest issue. Terms are short, so that
they run out in a few steps; prices leave remainders.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from tests.circulation.model import UNLIMITED
from tests.circulation.model_operations import Books
from tests.circulation.model_records import (
    Address,
    Bundle,
    Delivery,
    Issue,
    Line,
    Publication,
    Subscription,
)

if TYPE_CHECKING:
    from masthead.store.database import Value

TODAY = date(2026, 2, 10)
TIDE, EBB = 1, 2
ONE_PRINTED, TWO_LINES, UNLIMITED_DIGITAL, FREE, LONG, TWO_COPIES, SINGLE, FOR_MONTHS = range(1, 9)
GIVEN: dict[int, tuple[int | date, int | None, int]] = {
    1: (date(2026, 4, 1), 1, 333),
    2: (UNLIMITED, None, 1201),
    3: (3, 2, 0),
    4: (4, 4, 1000),
}
"""Issues, paid issues left and unearned cents of each subscription that has issues left.

The first is paid up to a day, that of an issue.
"""


def begin() -> Books:
    """Return the books as they are before they are opened."""
    books = Books(TODAY, moment=1)
    books.publications = {
        TIDE: Publication(grace_counts=1),
        EBB: Publication(10, "current", credit_issues=2, unlimited_term_months=5),
    }
    months = [Issue(TIDE, date(2026, month, 1)) for month in range(1, 8)]
    others = [Issue(EBB, date(2026, month, 20)) for month in (2, 3, 5, 6)]
    books.issues = dict(enumerate([*months, *others], 1))
    books.subscribers = dict.fromkeys(range(1, 6), True) | {5: False}
    books.addresses = {n: Address(n, f"{n} Quay") for n in range(1, 6)}
    books.addresses |= {6: Address(1, "6 Pier"), 7: Address(3, "")}
    books.bundles = {
        ONE_PRINTED: Bundle(1000, 70, (Line(TIDE, 3, "Print", 1, 1000),)),
        TWO_LINES: Bundle(801, 100, (Line(TIDE, 2, "Both", 2, 500), Line(EBB, 3, "Print", 1, 301))),
        UNLIMITED_DIGITAL: Bundle(1201, 0, (Line(EBB, UNLIMITED, "Digital", 1, 1201),)),
        FREE: Bundle(0, 0, (Line(TIDE, 1, "Digital", 1, 0),)),
        LONG: Bundle(999, 33, (Line(TIDE, 7, "Print", 1, 999),)),
        TWO_COPIES: Bundle(500, 35, (Line(TIDE, 2, "Digital", 3, 500),)),
        SINGLE: Bundle(700, 0, (Line(TIDE, 7, "Digital", 1, 700),)),
        FOR_MONTHS: Bundle(900, 0, (Line(TIDE, UNLIMITED, "Digital", 1, 900, 3),)),
    }
    books.products = {1: Bundle(1500, 105)}
    books.subscriptions = {
        1: Subscription(1, TIDE, "Print", None, mailing=1, billing=1),
        2: Subscription(2, TIDE, "Digital", None, mailing=2, billing=2),
        3: Subscription(3, EBB, "Both", None, mailing=3, billing=1, copies=2),
        4: Subscription(5, TIDE, "Print", None, mailing=5, billing=5),
        5: Subscription(4, TIDE, "Print", None, mailing=4, billing=4),
    }
    received = Delivery(None, None, is_grace=False, address=None)
    books.deliveries = {(1, 2): received, (5, 2): received}
    return books


def rows_of(books: Books) -> dict[str, list[dict[str, Value]]]:
    """Return the rows of the tables for :func:`begin`, before the books are opened."""
    rows: dict[str, list[dict[str, Value]]] = {
        "publications": [
            {"publication_id": n, "name": f"Paper {n}", **vars(each)}
            for n, each in books.publications.items()
        ],
        "issues": [
            {
                "issue_id": n,
                "publication_id": each.publication,
                "name": f"no. {n}",
                "date": f"{each.date}",
            }
            for n, each in books.issues.items()
        ],
        "subscribers": [
            {
                "subscriber_id": n,
                "last_name": f"Reader {n}",
                "delete_date": None if is_there else "2026-01-01 00:00:00",
            }
            for n, is_there in books.subscribers.items()
        ],
        "addresses": [
            {
                "address_id": n,
                "subscriber_id": each.subscriber,
                "address": each.street or None,
                "city": None if each.street else "Nowhere",
            }
            for n, each in books.addresses.items()
        ],
        "products": [
            {"product_id": n, "price": each.price, "tax": each.tax}
            for n, each in books.products.items()
        ],
    }
    rows["bundles"] = [
        {"bundle_id": n, "price": each.price, "tax": each.tax} for n, each in books.bundles.items()
    ]
    rows["bundle_lines"] = [
        {
            "bundle_id": n,
            "line_number": number,
            "publication_id": line.publication,
            **{name: value for name, value in line._asdict().items() if name != "publication"},
        }
        for n, each in books.bundles.items()
        for number, line in enumerate(each.lines, 1)
    ]
    rows["subscriptions"] = [
        {
            "subscription_id": n,
            "subscriber_id": each.subscriber,
            "publication_id": each.publication,
            "mailing_address_id": each.mailing,
            "billing_address_id": each.billing,
            "copies": each.copies,
            "type": each.type,
            "renew_campaign_active": each.campaign,
            # The files may leave out what follows from the rest, or have it wrong.
            **_left(n),
            "paid_issues_left": GIVEN[n][1] if n in GIVEN else None,
            "unearned_revenue": f"{GIVEN[n][2] / 100:.2f}" if n in GIVEN else None,
        }
        for n, each in books.subscriptions.items()
    ]
    rows["subscription_issues"] = [
        {"subscription_id": key, "issue_id": issue} for key, issue in books.deliveries
    ]
    return rows


def _left(number: int) -> dict[str, Value]:
    """Return how much a subscription has left: issues, or a day."""
    if number not in GIVEN:
        return {"issues": None, "date_expired": "2025-06-30"}
    left = GIVEN[number][0]
    if isinstance(left, date):
        return {"issues": None, "date_expired": f"{left}"}
    return {"issues": left, "date_expired": None}
