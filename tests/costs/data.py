"""Two accounts with equal records: one of them has ten times as many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.contract.moments import format_moment
from masthead.contract.records import TABLES_BY_NAME
from masthead.loading.load import load
from masthead.store import commits, entitlement_keys, open_store, removing
from tests.servers import write_ndjson

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.store import Connection, Store

    Records = list[dict[str, Any]]

SMALL, LARGE, MASTER = 1, 2, 3
SUBSCRIBERS = {SMALL: 200, LARGE: 2_000}
ACCOUNTS = 100
KEYS = 1_000
OPTIONS = 4
LISTED = 100
CHANGED = 10
PUBLICATIONS = ("Tide", "Harbour")
_A_DAY_US = 86_400 * 1_000_000


def fill(url: str, folder: Path) -> dict[int, str]:
    """Make the accounts; return of each the time since which ten of its subscribers changed."""
    store = open_store(url)
    try:
        load(store, write_ndjson(folder, {"accounts": _accounts()}), account_id=None)
        with store.writer() as database, database.transaction():
            _add_keys(database)
        for account_id, subscribers in SUBSCRIBERS.items():
            with store.writer() as database, database.transaction():
                database.lock_account(account_id)
                _add_history(database, account_id, subscribers)
            load_records(store, folder / str(account_id), account_id, _records(subscribers))
        since = {}
        for account_id in SUBSCRIBERS:
            with store.writer() as database:
                newest = commits.position_of(database, account_id).newest_stamp
            since[account_id] = format_moment(newest + 1)
            changes = {
                "subscribers": [_subscriber(n) | {"last_name": "Changed"} for n in range(1, 11)]
            }
            load_records(store, folder / f"{account_id}-changes", account_id, changes)
            keys = [(number,) for number in range(1, 11)]
            removing.remove_records(store, account_id, TABLES_BY_NAME["purchases"], keys)
            entitlement_keys.rotate(store, account_id)
        if store.dialect == "postgresql":
            with store.writer() as database:
                # Plans depend on what is known of the tables, and not on how far that has come.
                database.script("ANALYZE")
    finally:
        store.close()
    return since


def load_records(store: Store, folder: Path, account_id: int, files: dict[str, Records]) -> None:
    """Load the records into the account."""
    load(store, write_ndjson(folder, files), account_id=account_id)


def _accounts() -> Records:
    return [
        {
            "account_id": n,
            "company_name": f"Publisher {n}{' and Sons' * 100}",
            "active": True,
            "api_active": "1",
            "api_key": f"key-{n}",
            "api_login": f"login-{n}",
            "created": "2026-01-01 00:00:00",
            "is_master": n == MASTER,
        }
        for n in range(1, ACCOUNTS + 1)
    ]


def _add_keys(database: Connection) -> None:
    """Add keys, so many that PostgreSQL looks one up by an index, as it does with the accounts."""
    rows = ((f"{n:064}", f"{n:064}") for n in range(KEYS))
    database.insert_many("credentials", ("key_hash", "login_hash"), rows, account_id=ACCOUNTS)


def _add_history(database: Connection, account_id: int, count: int) -> None:
    """Let the account have as many commits of the days before as it has subscribers.

    Each has removed a purchase.
    """
    database.change("DELETE FROM commits WHERE account_id = :id", id=account_id)
    end = database.now() - _A_DAY_US
    rows = ((n, end - 1_000_000 * (count - n)) for n in range(1, count + 1))
    database.insert_many("commits", ("commit_id", "visible_at"), rows, account_id=account_id)
    removed = (("purchases", 10_000 + n, n) for n in range(1, count + 1))
    columns = ("entity", "record_id", "commit_id")
    database.insert_many("deletions", columns, removed, account_id=account_id)


def _subscriber(n: int) -> dict[str, Any]:
    return {
        "subscriber_id": n,
        "renewal_code": f"R{n:04}",
        "email": f"reader{n:04}@example.org",
        "password": f"secret {n}",
        "first_name": f"First{n % 2}",
        "last_name": f"Last{n:04}",
        "source": ("Shop", "Fair")[n % 2],
    }


def _records(count: int) -> dict[str, Records]:
    """The records of so many subscribers; the last subscription is like no other."""
    every = range(1, count + 1)
    of_one = [{"subscriber_id": n} for n in every]
    return {
        "publications": [
            {"publication_id": n, "name": name} for n, name in enumerate(PUBLICATIONS, 1)
        ],
        "issues": [
            {"issue_id": n, "publication_id": n, "name": f"Issue {n}", "date": "2026-03-01"}
            for n in (1, 2)
        ],
        "subscribers": [_subscriber(n) for n in every],
        "addresses": [
            one | {"address_id": n, "city": "Salem", "zip_code": f"{n:05}"}
            for n, one in enumerate(of_one, 1)
        ],
        "subscriptions": [
            one
            | {
                "subscription_id": n,
                "publication_id": 1 + n % 2,
                "mailing_address_id": n,
                "issues": 4,
                "copies": 2 if n == count else 1,
                "type": "Digital" if n % 2 else "Print",
                "date_expired": "2099-12-31",
            }
            for n, one in enumerate(of_one, 1)
        ],
        "subscription_issues": [
            {"subscription_id": n, "issue_id": issue} for n in every for issue in (1, 2)
        ],
        "custom_fields": [
            {"field_id": n, "name": f"field{n}", "display_as": f"Field {n}", "type": "checkbox"}
            for n in (1, 2)
        ],
        "custom_field_options": [
            {
                "option_id": n,
                "field_id": 1 + n % 2,
                "value": str(n),
                "display_as": f"Option {n}",
                "active": True,
                "order": n,
            }
            for n in range(1, OPTIONS + 1)
        ],
        "custom_field_answers": [one | {"field_id": 1, "option_ids": "2|4"} for one in of_one],
        "orders": [
            one | {"order_id": n, "order_date": "2026-03-01 10:00:00", "grand_total": 10}
            for n, one in enumerate(of_one, 1)
        ],
        "order_items": [
            {"order_item_id": n, "order_id": 1 + n % count, "bundle_id": 7, "grand_total": 5}
            for n in range(1, 2 * count + 1)
        ],
        "purchases": [
            one | {"purchase_id": n, "total": "10.00"} for n, one in enumerate(of_one, 1)
        ],
        "list_downloads": [{"mailing_list_id": n, "name": f"List {n}"} for n in (1, 2)],
        "mailing_list_entries": [
            {"mailing_list_id": n, "subscription_id": m, "copies": 1, "type": "Print"}
            for n, m in [*((1, m) for m in range(1, LISTED + 1)), *((2, m) for m in every)]
        ],
    }
