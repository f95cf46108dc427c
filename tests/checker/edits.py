"""Changes requests and responses in one way each: what the planted deviations are made of."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from tests.checker.altering import Alter, Asked, Reply, Send

if TYPE_CHECKING:
    from collections.abc import Callable

ACCOUNTS = r"/2/accounts/"
ACCOUNT = r"/2/accounts/\d+/"
LOGIN = r"/2/subscribers/authenticate/"
CDC = r"/2/cdc"
ANSWERS = r"/2/customfields/\d+"
FIELDS = r"/2/customfields/"
SUBSCRIPTIONS = r"/2/subscriptions/"
SUBSCRIBERS = r"/2/subscribers/"
ORDER = r"/2/orders/\d+"
LIST = r"/2/downloadmailinglist/\d+/"

GET_ACCOUNTS = "GET /2/accounts/"
GET_ACCOUNT = "GET /2/accounts/{account_id}/"
GET_LOGIN = "GET /2/subscribers/authenticate/"
GET_CDC = "GET /2/cdc"
GET_ANSWERS = "GET /2/customfields/{subscriber_id}"
GET_FIELDS = "GET /2/customfields/"
GET_SUBSCRIPTIONS = "GET /2/subscriptions/"
GET_SUBSCRIBERS = "GET /2/subscribers/"
GET_ORDER = "GET /2/orders/{order_id}"
GET_LIST = "GET /2/downloadmailinglist/{mailing_list_id}/"

HTML = {"Content-Type": "text/html"}


class Deviation(NamedTuple):
    """A change of requests or responses, and the finding that it must cause."""

    alter: Alter
    severity: str
    section: str
    request: str
    field: str


def differs(alter: Alter, section: str, request: str, field: str = "") -> Deviation:
    return Deviation(alter, "difference", section, request, field)


def noted(alter: Alter, section: str, request: str, field: str = "") -> Deviation:
    return Deviation(alter, "note", section, request, field)


def says(pattern: str, edit: Callable[[Any], Any]) -> Alter:
    """Alter the body of each success of a path; ``edit`` changes it, or returns another."""

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        if not re.fullmatch(pattern, asked.path) or reply.status != 200 or not reply.body:
            return reply
        content = reply.json()
        changed = edit(content)
        return reply.saying(content if changed is None else changed)

    return alter


def each(envelope: str | None, edit: Callable[[dict[str, Any]], Any]) -> Callable[[Any], None]:
    """Alter each record of a list."""

    def change(content: Any) -> None:
        for record in content if envelope is None else content.get(envelope, []):
            edit(record)

    return change


def put(**values: Any) -> Callable[[dict[str, Any]], None]:
    """Give fields that are there other values; a function gets the value."""

    def change(record: dict[str, Any]) -> None:
        for name, value in values.items():
            if name in record:
                record[name] = value(record[name]) if callable(value) else value

    return change


def drop(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda record: record.pop(name)


def bytes_of(pattern: str, old: bytes, new: bytes) -> Alter:
    """Replace bytes in the body of a success."""

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        if re.fullmatch(pattern, asked.path) and reply.status == 200:
            return replace(reply, body=reply.body.replace(old, new, 1))
        return reply

    return alter


def ignores(pattern: str, *names: str) -> Alter:
    """Overlook parameters of the query."""

    def alter(asked: Asked, send: Send) -> Reply:
        return send(asked.without(*names) if re.fullmatch(pattern, asked.path) else asked)

    return alter


def instead(when: Callable[[Asked, Reply], bool], reply: Reply) -> Alter:
    """Give another response to some requests."""

    def alter(asked: Asked, send: Send) -> Reply:
        found = send(asked)
        return reply if when(asked, found) else found

    return alter


def is_(pattern: str, *statuses: int) -> Callable[[Asked, Reply], bool]:
    """Tell whether it is a response of a path with one of the statuses."""
    return lambda asked, reply: bool(re.fullmatch(pattern, asked.path)) and reply.status in statuses


def ok(content: Any) -> Reply:
    return Reply(200, json.dumps(content).encode())


def headers(pattern: str, **changes: str) -> Alter:
    """Send other headers; an empty one is left out."""

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        if not re.fullmatch(pattern, asked.path):
            return reply
        named = {name.replace("_", "-"): value for name, value in changes.items()}
        kept = {k: v for k, v in reply.headers.items() if k.title() not in named}
        return replace(reply, headers=kept | {k: v for k, v in named.items() if v})

    return alter


def without_bodies(asked: Asked, send: Send) -> Reply:
    return send(replace(asked, body=b""))


def without_arrays(asked: Asked, send: Send) -> Reply:
    return send(replace(asked, body=b"") if asked.body.startswith(b"[") else asked)


def without_query(asked: Asked, send: Send) -> Reply:
    return send(replace(asked, target=asked.path))


def without_limit(asked: Asked, send: Send) -> Reply:
    """Overlook the limit wherever it is, for subscriptions."""
    is_list = re.fullmatch(SUBSCRIPTIONS, asked.path)
    if is_list and b"limit" in asked.body:
        asked = replace(asked, body=b"")
    return send(asked.without("limit") if is_list else asked)


def total_limit(content: dict[str, Any]) -> None:
    left = 40
    for key, records in content.items():
        content[key] = records[:left]
        left -= len(content[key])


def row_limit(content: dict[str, Any]) -> dict[str, Any]:
    return {key: records[:20] for key, records in content.items()}


def overlapping(asked: Asked, send: Send) -> Reply:
    """Begin each further page with the last record of the one before."""
    if "after" in asked.query:
        earlier = str(int(asked.query["after"]) - 1)
        return send(replace(asked, target=f"{asked.path}?limit=100&after={earlier}"))
    return send(asked)


def without_first(content: dict[str, Any]) -> dict[str, Any]:
    return {key: records[1:] for key, records in content.items()}


def lacking_in_the_long_run(asked: Asked, send: Send) -> Reply:
    """Leave out the first record of each entity where the time is more than two days ago."""
    reply = send(asked)
    if asked.path != "/2/cdc" or reply.status != 200 or not reply.body:
        return reply
    since = datetime.fromisoformat(asked.query["changed_since"])
    is_long_ago = datetime.now(UTC) - since > timedelta(days=2)
    return reply.saying(without_first(reply.json())) if is_long_ago else reply


def _asked_since(asked: Asked, send: Send, since: datetime) -> Reply:
    parameters = asked.query | {"changed_since": since.replace(microsecond=0).isoformat()}
    return send(replace(asked, target=f"{asked.path}?{urlencode(parameters)}"))


def changed_since_overlooked(asked: Asked, send: Send) -> Reply:
    if asked.path == "/2/cdc" and send(asked).status in {200, 400}:
        return _asked_since(asked, send, datetime.now(UTC) - timedelta(days=4))
    return send(asked)


def offset_overlooked(asked: Asked, send: Send) -> Reply:
    """Take a time for one in UTC, and show nothing since a time in the future."""
    text = asked.query.get("changed_since", "")
    if asked.path != "/2/cdc" or not re.search(r"[+-](?!00:)\d\d:\d\d$", text):
        return send(asked)
    since = datetime.fromisoformat(text).replace(tzinfo=UTC)
    now = datetime.now(UTC)
    reply = _asked_since(asked, send, min(since, now))
    return reply.saying({key: [] for key in reply.json()}) if since > now else reply


def more_than_a_hundred(asked: Asked, send: Send) -> Reply:
    reply = send(asked)
    if re.fullmatch(SUBSCRIPTIONS, asked.path) and reply.status == 200 and reply.body:
        found = reply.json()["subscriptions"]
        more = [{**one, "subscription_id": f"9{i}000000"} for i, one in enumerate(found)]
        more += [{**one, "subscription_id": f"8{i}000000"} for i, one in enumerate(found)]
        if asked.query.get("limit") in {None, "1000"} and len(asked.query) < 2:
            return reply.saying({"subscriptions": found + more})
    return reply


def slash_redirects(asked: Asked, send: Send) -> Reply:
    if asked.path == "/2/accounts":
        return Reply(301, b"", {"Location": "/2/accounts/"})
    return send(asked)


def documented_path_redirects(asked: Asked, send: Send) -> Reply:
    if asked.path == "/2/customfields/":
        return Reply(301, b"", {"Location": "/2/customfields"})
    return send(asked)


def any_key_opens(asked: Asked, send: Send) -> Reply:
    reply = send(asked)
    return ok({"accounts": []}) if reply.status == 403 else reply


def any_login_is_right(asked: Asked, send: Send) -> Reply:
    reply = send(asked)
    if asked.path.endswith("authenticate/") and reply.status == 200 and asked.query.get("login"):
        return ok({"authenticated": True, "subscribers": {}})
    return reply


def accepts(parameter: str, status: int) -> Callable[[Asked, Reply], bool]:
    return lambda asked, reply: parameter in asked.query and reply.status == status


def refusing_unescaped_plus(asked: Asked, send: Send) -> Reply:
    if "changed_since" in asked.target and "+" in asked.target:
        return Reply(400, b'{"error": "no"}')
    return send(asked)


def searches_refused(asked: Asked, send: Send) -> Reply:
    """Refuse an address without an @, and a code with another character than letters and digits."""
    email, code = asked.query.get("email"), asked.query.get("renewal_code", "a")
    is_wrong = (email and "@" not in email) or not code.isalnum()
    return Reply(422, b'{"error": "no"}') if is_wrong else send(asked)


def head_refused(asked: Asked, send: Send) -> Reply:
    return Reply(405, b"") if asked.method == "HEAD" else send(asked)


def is_refused_login(content: Any) -> bool:
    return bool(content == {"authenticated": False})


def when_refused(edit: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    return lambda content: edit(content) if is_refused_login(content) else content


def when_accepted(edit: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    return lambda content: content if is_refused_login(content) else edit(content)


def reordered(record: dict[str, Any]) -> None:
    for name in ("company_name", "account_id"):
        record[name] = record.pop(name)


def long_double(content: dict[str, Any]) -> None:
    for order in content.get("orders", [content]):
        put(grand_total=101.16000000000001)(order)


def item_with_both(content: dict[str, Any]) -> None:
    for item in content["order_items"]:
        bundle, product = item.pop("bundle_id", "1"), item.pop("product_id", "1")
        rest = dict(item)
        item.clear()
        item.update({"order_item_id": rest.pop("order_item_id"), "bundle_id": bundle})
        item.update({"product_id": product, **rest})
