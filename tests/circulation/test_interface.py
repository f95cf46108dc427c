"""The interface, the change feed and a mirror show what the operations of the books did.

A real server answers, the commands are typed, and after each of them a copy makes a pass and is
compared with the service (circulation, "What must hold").
"""

from __future__ import annotations

import itertools
from contextlib import closing
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from masthead.store import accounts, open_store
from tests.api.callers import Caller, Feed
from tests.circulation.today import TODAY, days
from tests.mirror.kept import Kept
from tests.servers import masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

_numbers = itertools.count()
DAYS = [TODAY + timedelta(days) for days in (20, 50, 80, 110, 140)]
FILES = {
    "subscribers.csv": (
        "subscriber_id,first_name,last_name,email,renewal_code\n"
        "1,Ada,Ames,ada@example.org,ADA11\n2,Ben,Birch,ben@example.org,BEN22\n"
    ),
    "addresses.csv": (
        "address_id,subscriber_id,address,city,zip_code\n1,1,12 Elm,Salem,97301\n2,2,3 Oak,,19901\n"
    ),
}


class Source(NamedTuple):
    """The service, and the credentials for it."""

    url: str
    key: str
    login: str


class Partner:
    """Someone at a terminal, and a partner who reads along: operation by operation, and a copy."""

    def __init__(self, database: str, caller: Caller, copy: Path) -> None:
        self._database = database
        self.caller = caller
        self._source = Source(caller.server.url, "key", "login")
        self._copy = Kept(f"sqlite:///{copy}")
        self._copy.update(self._source)
        self._feed = Feed(caller, f"{TODAY - timedelta(1)} 00:00:00")
        self._feed.poll()

    def run(self, *words: Any) -> dict[str, list[dict[str, Any]]]:
        """Run a command; return what the feed then has. A copy that follows stays equal."""
        masthead(*words, "--account=1", database=self._database)
        changed = self._feed.poll()
        self._copy.update(self._source)
        assert self._copy.differences(self._source) == []
        return {name: rows for name, rows in changed.items() if rows}

    def subscription(self, subscription_id: int) -> dict[str, Any]:
        """Return what operation 7 shows of a subscription."""
        rows = self.caller.read("/2/subscriptions/")["subscriptions"]
        (found,) = (row for row in rows if int(row["subscription_id"]) == subscription_id)
        return dict(found)

    def entries(self, mailing_list_id: int) -> Any:
        """Return what operation 10 shows of a list."""
        return self.caller.read(f"/2/downloadmailinglist/{mailing_list_id}/")

    def order(self, order_id: int) -> Any:
        """Return what operation 9 shows of an order."""
        return self.caller.read(f"/2/orders/{order_id}")

    def received(self, code: str, zip_code: str) -> dict[str, list[str]]:
        """Return the names of the issues that operation 3 shows, by subscription."""
        path = "/2/subscribers/authenticate/"
        found = self.caller.read(path, login=code, password=zip_code)["subscribers"]
        return {
            each["subscription_id"]: [issue["name"] for issue in each["issues"] or ()]
            for each in found["subscriptions"]
        }


@pytest.fixture
def partner(store: Store, tmp_path: Path) -> Iterator[Partner]:
    """An account with open books, monthly issues to come, two readers and three bundles."""
    url = store.new_database(f"shown-{next(_numbers)}")
    with closing(open_store(url)) as opened:
        keys = {"api_key": "key", "api_login": "login"}
        accounts.add_account(opened, {"account_id": 1, **keys})
    folder = tmp_path / "files"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
    for words in (
        ("import", folder),
        ("books", "open"),
        ("catalogue", "publication", "add", "Tide", "--grace-counts"),
        *(
            ("catalogue", "issue", "add", f"No. {n}", "--publication=1", f"--date={day}")
            for n, day in enumerate(DAYS, 1)
        ),
        ("catalogue", "bundle", "add", "Year", "--line=1:12:Print:35", "--tax=2.45"),
        ("catalogue", "bundle", "add", "Trial", "--line=1:1:Digital:0"),
        ("catalogue", "bundle", "add", "Life", "--line=1:unlimited:Both:300"),
    ):
        masthead(*words, "--account=1", database=url)
    with serving(url) as server, closing(Caller(server, "key", "login")) as caller:
        yield Partner(url, caller, tmp_path / "copy.db")
    store.drop_database(url)


def expired_before(day: date) -> str:
    return str(day - timedelta(1))


def test_an_order_shows_in_operations_7_and_9_and_in_the_feed(partner: Partner) -> None:
    """interface, operations 4, 7 and 9."""
    changed = partner.run("order", "add", "--subscriber=1", "--bundle=1", "--paid")
    assert set(changed) == {"orders", "purchases", "subscriptions"}
    assert changed["purchases"][0]["total"] == "37.45"
    order = partner.order(1)
    assert (order["grand_total"], order["is_gift"], order["subscriber_id"]) == (37.45, False, "1")
    (item,) = order["order_items"]
    assert (item["bundle_id"], item["tax_total"], item["refund_date"]) == ("1", 2.45, None)
    assert "product_id" not in item
    shown = partner.subscription(1)
    assert (shown["issues"], shown["copies"], shown["paid_issues_left"]) == ("12", "1", "12")
    assert (shown["unearned_revenue"], shown["type"]) == ("35.00", "Print")
    assert (shown["last_purchase_id"], shown["last_purchase_bundle_id"]) == ("1", "1")
    assert shown["date_created"] in days()
    partner.run("order", "refund", 1)
    (item,) = partner.order(1)["order_items"]
    assert item["refund_date"][:10] in days()
    shown = partner.subscription(1)
    assert (shown["issues"], shown["unearned_revenue"]) == ("0", "0.00")
    assert shown["date_expired"] == expired_before(DAYS[0])


def test_of_automatic_renewal_only_the_order_shows(partner: Partner) -> None:
    """interface, operations 4, 7 and 9; billing, "Automatic renewal"."""
    partner.run("catalogue", "bundle", "add", "One", "--line=1:1:Print:3")
    partner.run("order", "add", "--subscriber=1", "--bundle=4", "--paid")
    assert partner.run("subscription", "consent", "give", 1, "--bundle=1", "--words=yes") == {}
    partner.run("billing", "settings", "renewal_days=365")
    assert partner.run("renewals", "automatic") == {}
    partner.run("billing", "settings", "renewal_notice_days=0")
    partner.run("subscription", "consent", "stop", 1)
    assert partner.run("subscription", "consent", "give", 1, "--bundle=1", "--words=yes") == {}
    changed = partner.run("renewals", "automatic")
    assert set(changed) == {"orders", "purchases", "subscriptions"}
    assert changed["purchases"][0]["total"] == "37.45"
    assert partner.subscription(1)["issues"] == "13"


def test_a_closed_issue_shows_as_a_list_and_as_one_received(partner: Partner) -> None:
    """interface, operations 3, 4, 7 and 10."""
    partner.run("order", "add", "--subscriber=1", "--bundle=1", "--paid")
    partner.run("order", "add", "--email=cleo@example.org", "--bundle=1")
    partner.run("order", "add", "--subscriber=2", "--bundle=2")
    changed = partner.run("issue", "close", 1)
    (made,) = changed["list_downloads"]
    assert made["date_created"][:10] in days()
    del made["date_created"]
    assert made == {
        "mailing_list_id": "1",
        "name": "Tide No. 1",
        "status": "Complete",
        "count": "2",
        "is_gap": "0",
        "grace_from_date": None,
        "grace_issues": "0",
        "parent_mailing_list_id": None,
    }
    assert partner.entries(1) == [
        {"subscription_id": "1", "copies": "1", "is_grace": "0", "is_paid": "1", "type": "Print"},
        {"subscription_id": "3", "copies": "1", "is_grace": "0", "is_paid": "0", "type": "Digital"},
    ]
    assert [row["subscription_id"] for row in changed["subscriptions"]] == ["1", "3"]
    shown = partner.subscription(1)
    assert (shown["issues"], shown["paid_issues_left"], shown["unearned_revenue"]) == (
        "11",
        "11",
        "32.09",
    )
    assert partner.received("ADA11", "97301") == {"1": ["No. 1"]}
    partner.run("subscription", "address", 2, "--address=5 Pine", "--city=Reno")
    (gap,) = partner.run("issue", "gap", 1)["list_downloads"]
    assert (gap["is_gap"], gap["parent_mailing_list_id"], gap["count"]) == ("1", "1", "1")
    assert [row["subscription_id"] for row in partner.entries(2)] == ["2"]
    changed = partner.run("issue", "reopen", 1)
    assert {row["subscription_id"] for row in changed["subscriptions"]} == {"1", "2", "3"}
    for gone in (1, 2):
        partner.caller.refusal(404, f"/2/downloadmailinglist/{gone}/")
    assert partner.received("ADA11", "97301") == {"1": []}
    assert partner.subscription(1)["unearned_revenue"] == "35.00"
    (again,) = partner.run("issue", "close", 1)["list_downloads"]
    assert (again["mailing_list_id"], again["count"]) == ("3", "3")


def test_grace_shows_on_the_list_and_comes_out_of_a_late_renewal(partner: Partner) -> None:
    """interface, operation 10; circulation, "Late renewal"."""
    partner.run("order", "add", "--subscriber=1", "--bundle=2")
    partner.run("issue", "close", 1)
    (made,) = partner.run("issue", "close", 2, "--grace-issues=1", f"--grace-from={DAYS[0]}")[
        "list_downloads"
    ]
    assert (made["grace_from_date"], made["grace_issues"]) == (str(DAYS[0]), "1")
    assert [row["is_grace"] for row in partner.entries(2)] == ["1"]
    assert partner.subscription(1)["date_expired"] == expired_before(DAYS[2])
    partner.run("subscription", "set", 1, "--type=Print")
    partner.run("order", "add", "--subscriber=1", "--bundle=1", "--paid")
    shown = partner.subscription(1)
    assert (shown["issues"], shown["unearned_revenue"]) == ("11", "32.09")
    assert shown["date_last_renewed"] in days()


def test_the_telephone_shows_in_the_feed(partner: Partner) -> None:
    """interface, operations 4, 7 and 8."""
    partner.run("order", "add", "--subscriber=1", "--bundle=1", "--paid")
    partner.run("order", "add", "--subscriber=2", "--bundle=3", "--paid")
    shown = partner.subscription(2)
    assert (shown["issues"], shown["paid_issues_left"], shown["date_expired"]) == ("-1", None, None)
    (row,) = partner.run("subscription", "set", 1, "--copies=3", "--free", "--campaign=off")[
        "subscriptions"
    ]
    assert (row["copies"], row["renew_campaign_active"]) == ("3", False)
    before = partner.subscription(1)["date_expired"]
    partner.run("subscription", "suspend", 1, f"--from={DAYS[0]}", f"--to={DAYS[0]}")
    assert partner.subscription(1)["date_expired"] > before
    partner.run("subscription", "resume", 1)
    assert partner.subscription(1)["date_expired"] == before
    (row,) = partner.run("subscription", "extend", 1)["subscriptions"]
    assert row["issues"] == "13"
    changed = partner.run("subscription", "address", 1, "--address=9 Bay", "--city=Reno")
    assert set(changed) == {"addresses", "subscriptions"}
    assert changed["subscriptions"][0]["mailing_address_id"] == "3"
    changed = partner.run("subscriber", "merge", 2, "--into=1")
    assert {row["subscriber_id"] for row in changed["subscriptions"]} == {"1"}
    assert [bool(row["delete_date"]) for row in changed["subscribers"]] == [True]
    assert partner.caller.read("/2/subscribers/", renewal_code="BEN22") == {"subscribers": []}
    (row,) = partner.run("subscription", "cancel", 1, "--refund")["subscriptions"]
    assert row["issues"] == "0"
    (item,) = partner.order(1)["order_items"]
    assert item["refund_date"][:10] in days()


def test_billing_shows_in_purchases_orders_and_subscriptions(partner: Partner) -> None:
    """interface, operations 4, 7, 8 and 9; billing, "Invoice", "Payment"."""
    seller = ("seller_name=Tide", "seller_street=1 Quay", "seller_city=Hull", "seller_country=GB")
    partner.run("billing", "settings", *seller, "seller_tax_number=1234567890")
    partner.run("billing", "begin")
    changed = partner.run("order", "add", "--subscriber=1", "--bundle=1")
    (purchase,) = changed["purchases"]
    number = purchase["invoice_id"]
    assert number.endswith("-000001")
    assert (purchase["total"], purchase["payment_type"]) == ("37.45", "")
    assert (purchase["product_total"], purchase["name"]) == ("35.00", "Year")
    assert partner.subscription(1)["paid_issues_left"] == "0"

    # A part changes nothing that partners see; the rest pays for the issues.
    assert partner.run("payment", "add", f"--invoice={number}", "--amount=30") == {}
    changed = partner.run("payment", "add", "--payer=1", "--amount=7.45", "--type=Check")
    assert [row["payment_type"] for row in changed["purchases"]] == ["Check"]
    shown = partner.subscription(1)
    assert (shown["paid_issues_left"], shown["unearned_revenue"]) == ("12", "35.00")

    # It bounces, and is paid again.
    assert set(partner.run("payment", "reverse", 2)) == {"subscriptions"}
    shown = partner.subscription(1)
    assert (shown["paid_issues_left"], shown["unearned_revenue"]) == ("0", "0.00")
    partner.run("payment", "add", "--payer=1", "--amount=7.45")

    partner.run("invoice", "cancel", number)
    (item,) = partner.order(1)["order_items"]
    assert item["refund_date"][:10] in days()
    assert partner.subscription(1)["issues"] == "0"
