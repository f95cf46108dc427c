"""A service that is not Masthead: it has the interface and words of its own.

Lists have at most 100 rows and no further page. There is no snapshot, no digest and no header of
Masthead's. Ids and counts are JSON numbers, booleans are 0 and 1, what is missing is null or not
there at all, and items and answers come in no order.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.client.service import Asked, Reply, Serve, refused, reply

Record = dict[str, Any]

KEYS = {
    "customfields": "custom_fields",
    "subscriptions": "subscriptions",
    "subscribers": "subscribers",
    "addresses": "addresses",
    "purchases": "purchases",
    "listdownloads": "list_downloads",
    "orders": "orders",
}
NOW = timedelta()
LONG_AGO = timedelta(days=30)
WINDOW = timedelta(days=5)
ROWS_MAX = 100


class OtherService:
    """The service; a test changes its data and its ways."""

    key = "other-key"
    login = "other-login"

    def __init__(self, serve: Serve) -> None:
        self.records: dict[str, dict[int, Record]] = defaultdict(dict)
        self.changed_at: dict[tuple[str, int], datetime] = {}
        self.fields: list[Record] = []
        self.entries: dict[int, list[Record]] = {}
        self.asked: list[Asked] = []
        self.pages = False
        self.is_doubled = False
        self.reads_bodies = False
        """Whether it reads parameters from a JSON body and not from the query."""
        self.window = WINDOW
        self.unknown: Reply = refused(404, "no such page")
        self.too_old: Reply | None = refused(410, "too old")
        self._url = serve(self._answer).url
        self.fill()

    @property
    def url(self) -> str:
        """Where it answers."""
        return self._url

    def fill(self) -> None:
        """Put in some records of each kind, of which half changed lately."""
        self.fields = [
            {
                "field_id": 1,
                "name": "colour",
                "type": "select",
                "allow_other": 1,
                "value_options": [
                    {"option_id": 2, "value": "b", "disqualifier": 0, "active": 1, "order": 2},
                    {"option_id": 1, "value": "r", "disqualifier": 0, "active": 1},
                ],
            },
            {"field_id": 2, "name": "motto", "type": "text", "value_options": []},
        ]
        for number, ago in ((1, LONG_AGO), (2, LONG_AGO), (3, NOW)):
            self.subscriber(number, ago)
            self.put("subscriptions", subscription(10 * number, number), ago)
            self.put("customfields", answers(number, f"Motto {number}"), ago)
            self.put("addresses", {"address_id": number, "subscriber_id": number}, ago)
            self.put("orders", order(number, number), ago)
            purchase = {"purchase_id": number, "subscriber_id": number, "total": 10.5}
            self.put("purchases", purchase, ago)
            self.put("listdownloads", {"mailing_list_id": number, "count": 1, "is_gap": 0}, ago)
            self.entries[number] = [{"subscription_id": 10 * number, "copies": 1, "is_paid": 1}]

    def subscriber(self, number: int, ago: timedelta = NOW, **values: Any) -> None:
        """Put in a subscriber who changed so long ago."""
        values = {"renewal_code": f"R{number}", "email": f"{number}@example.org", **values}
        self.put("subscribers", {"subscriber_id": number, **values}, ago)

    def put(self, entity: str, record: Record, ago: timedelta = NOW) -> None:
        """Put in a record that changed so long ago."""
        key = next(iter(record.values()))
        self.records[entity][key] = record
        self.changed_at[entity, key] = datetime.now(UTC) - ago

    def remove(self, entity: str, key: int) -> None:
        """Forget a record, which the change feed does not tell."""
        del self.records[entity][key]

    def _answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        expected = b64encode(f"{self.key}:{self.login}".encode()).decode()
        if asked.headers.get("authorization") != f"Basic {expected}":
            return refused(401, "who are you?")
        return self._found(asked)

    def _found(self, asked: Asked) -> Reply:
        match asked.path.strip("/").split("/"):
            case ["2", "accounts"]:
                return reply({"accounts": [{"account_id": 700, "company_name": "Other"}]})
            case ["2", "cdc"]:
                return self._changes(asked)
            case ["2", "customfields"]:
                return reply(self.fields)
            case ["2", "subscribers" | "subscriptions" as name]:
                return self._list(name, asked)
            case ["2", "customfields" | "orders" | "downloadmailinglist" as name, number]:
                return self._one(name, int(number))
        return self.unknown

    def _parameters(self, asked: Asked) -> dict[str, str]:
        if not self.reads_bodies:
            return asked.parameters
        found: dict[str, str] = json.loads(asked.body or b"{}")
        return found

    def _one(self, name: str, number: int) -> Reply:
        found: Any = self.records[name].get(number)
        if name == "downloadmailinglist":
            found = self.entries.get(number)
        if name == "customfields" and found:
            found = found["custom_fields"]
        return refused(404) if found is None else reply(found)

    def _list(self, name: str, asked: Asked) -> Reply:
        filters = self._parameters(asked)
        after, limit = int(filters.pop("after", 0)), int(filters.pop("limit", ROWS_MAX))
        rows = [
            record
            for key, record in sorted(self.records[name].items())
            if key > after
            and not record.get("delete_date")
            and all(str(record.get(filter_)) == value for filter_, value in filters.items())
        ]
        shown = {name: rows[:limit]}
        if not self.pages or len(rows) <= ROWS_MAX:
            return reply(shown)
        last = next(iter(rows[ROWS_MAX - 1].values()))
        return reply(shown, Link=f'<?after={last}>; rel="next"')

    def _changes(self, asked: Asked) -> Reply:
        parameters = self._parameters(asked)
        if "changed_since" not in parameters:
            return refused(400, "{changed_since} is a required field")
        since = datetime.fromisoformat(parameters["changed_since"])
        oldest = datetime.now(UTC) - self.window
        if self.too_old and since < oldest:
            return self.too_old
        since = max(since, oldest)
        return reply(
            {
                KEYS[entity]: [
                    record
                    for key, record in self.records[entity].items()
                    if self.changed_at[entity, key] >= since
                ]
                * (1 + self.is_doubled)
                for entity in parameters["entities"].split(",")
            }
        )


def subscription(number: int, subscriber_id: int, **values: Any) -> Record:
    """Return a subscription as this service writes it."""
    return {
        "subscription_id": number,
        "subscriber_id": subscriber_id,
        "publication_id": 5,
        "issues": 4,
        "type": "PRINT",
        "date_created": "2026-01-01",
        "date_expired": "0000-00-00",
        **values,
    }


def answers(subscriber_id: int, motto: str) -> Record:
    """Return the answers of a subscriber, the questions in no order."""
    return {
        "subscriber_id": subscriber_id,
        "custom_fields": [
            {"field_id": 2, "name": "motto", "type": "text", "text_value": motto},
            {
                "field_id": 1,
                "name": "colour",
                "type": "select",
                "allow_other": 1,
                "values": [{"option_id": 2, "value": "b"}, {"option_id": 1, "value": "r"}],
            },
        ],
    }


def order(number: int, subscriber_id: int, **values: Any) -> Record:
    """Return an order, its items in no order, with a time and a number of another form."""
    return {
        "order_id": number,
        "subscriber_id": subscriber_id,
        "order_date": "2026-11-01T10:00:00Z",
        "is_gift": 0,
        "sub_total": 101.16000000000001,
        "grand_total": "101.160",
        "order_items": [
            {"order_item_id": 9, "product_id": 3, "sub_total": 1.5},
            {"order_item_id": 8, "bundle_id": 4, "sub_total": 100},
        ],
        **values,
    }
