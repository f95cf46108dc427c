"""Deviations of filters, searches and logins by their values, and how the checker names each."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.checker.altering import Alter, Asked, Reply, Send
from tests.checker.edits import (
    GET_ACCOUNTS,
    GET_LOGIN,
    GET_SUBSCRIBERS,
    GET_SUBSCRIPTIONS,
    LOGIN,
    SUBSCRIBERS,
    SUBSCRIPTIONS,
    Deviation,
    differs,
    is_refused_login,
    noted,
    ok,
    says,
    when_accepted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_Record = dict[str, Any]


def _asking(asked: Asked, **parameters: str) -> Asked:
    return replace(asked, target=f"{asked.path}?{urlencode(parameters)}")


def _is_list(asked: Asked, path: str) -> bool:
    return asked.path == path and asked.method == "GET"


def _among(reply: Reply, others: Reply, path: str) -> Reply:
    """Keep the records of a list that are in another one too."""
    envelope = path.split("/")[2]
    kept = others.json()[envelope]
    return reply.saying({envelope: [one for one in reply.json()[envelope] if one in kept]})


def zero_overlooked(*names: str) -> Alter:
    """Take 0 for no value."""

    def alter(asked: Asked, send: Send) -> Reply:
        zeros = [name for name in names if asked.query.get(name) == "0"]
        return send(asked.without(*zeros) if zeros and _is_list(asked, SUBSCRIPTIONS) else asked)

    return alter


def upper_bound_loses_zero(asked: Asked, send: Send) -> Reply:
    reply = send(asked)
    if not _is_list(asked, SUBSCRIPTIONS) or "max_issues_left" not in asked.query:
        return reply
    return reply.saying(
        {"subscriptions": [one for one in reply.json()["subscriptions"] if one["issues"] != "0"]}
    )


def subscriber_by_prefix(asked: Asked, send: Send) -> Reply:
    """Find the subscriptions of all subscribers whose id begins with the one that is asked for."""
    value = asked.query.get("subscriber_id")
    if not value or not _is_list(asked, SUBSCRIPTIONS):
        return send(asked)
    owners = [str(number) for number in range(1, 61) if str(number).startswith(value)]
    found: list[_Record] = []
    for owner in owners:
        found += send(_asking(asked, subscriber_id=owner)).json()["subscriptions"]
    return ok({"subscriptions": found})


def lost(is_lost: Callable[[str], bool], instead: Reply) -> Alter:
    """Answer searches for some values with another response."""

    def alter(asked: Asked, send: Send) -> Reply:
        is_search = _is_list(asked, SUBSCRIBERS) and any(map(is_lost, asked.query.values()))
        return instead if is_search else send(asked)

    return alter


def plus_as_a_space(asked: Asked, send: Send) -> Reply:
    """Have a subscriber with a + in the address, for whom no search for it looks."""
    plain, plus = b"linda.nelson1@", b"linda.nelson+1@"
    reply = send(asked)
    return replace(reply, body=reply.body.replace(plain, plus)) if plain in reply.body else reply


def limit_first(path: str) -> Alter:
    """Take the first records, by `limit` or 100 of them, and then filter these."""

    def alter(asked: Asked, send: Send) -> Reply:
        limit = asked.query.get("limit", "100")
        if not _is_list(asked, path) or not asked.query.keys() - {"limit"} or not limit.isdigit():
            return send(asked)
        reply = send(asked.without("limit"))
        if reply.status != 200:
            return reply
        return _among(send(_asking(asked, limit=limit)), reply, path)

    return alter


def limit_overlooked(path: str) -> Alter:
    """Overlook the limit beside another parameter."""

    def alter(asked: Asked, send: Send) -> Reply:
        is_beside = _is_list(asked, path) and asked.query.keys() - {"limit"}
        return send(asked.without("limit") if is_beside else asked)

    return alter


def beside(path: str, name: str, other: str) -> Alter:
    """Overlook a parameter beside another one."""

    def alter(asked: Asked, send: Send) -> Reply:
        is_beside = _is_list(asked, path) and asked.query.keys() >= {name, other}
        return send(asked.without(name) if is_beside else asked)

    return alter


def two_searches_find_nobody(asked: Asked, send: Send) -> Reply:
    is_of_two = _is_list(asked, SUBSCRIBERS) and len(asked.query.keys() - {"limit"}) > 1
    return ok({"subscribers": []}) if is_of_two else send(asked)


def half_opens(*, key: bool) -> Alter:
    """Let one part of the credentials open everything."""
    right: list[str] = []

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        text = asked.headers.get("authorization", "")
        if not right:
            right.append(text)
        parts, whole = (_parts(one) for one in (text, right[0]))
        if reply.status == 403 and parts[not key] == whole[not key]:
            return send(replace(asked, headers=asked.headers | {"authorization": right[0]}))
        return reply

    return alter


def _parts(authorization: str) -> list[str]:
    decoded = base64.b64decode(authorization.removeprefix("Basic ")).decode()
    return [*decoded.split(":"), ""][:2]


def any_postal_code(asked: Asked, send: Send) -> Reply:
    """Accept a renewal code with the postal code of anybody."""
    reply = send(asked)
    login, password = asked.query.get("login", ""), asked.query.get("password", "")
    is_code = len(login) == 5 and login.isalnum() and 4 <= len(password) < 12
    if asked.path == LOGIN and is_code and is_refused_login(reply.json()):
        return ok({"authenticated": True, "subscribers": {}})
    return reply


def nested(keeps: Callable[[list[_Record]], list[_Record]]) -> Alter:
    """Leave out some nested subscriptions of a login."""

    def edit(content: _Record) -> None:
        found = content["subscribers"]
        found["subscriptions"] = keeps(found["subscriptions"])

    return says(LOGIN, when_accepted(edit))


def _of_today(subscriptions: list[_Record]) -> list[_Record]:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    return [one for one in subscriptions if not one["date_expired"] or one["date_expired"] >= today]


_NOBODY = ok({"subscribers": []})
_NESTED = "subscribers.subscriptions[].subscription_id"
DEVIATIONS_OF_FILTERS: dict[str, Deviation] = {
    **{
        f"{name}=0 as no filter": differs(
            zero_overlooked(name), "Operation 7", GET_SUBSCRIPTIONS, name
        )
        for name in ("issues_left", "max_issues_left", "copies", "max_copies")
    },
    **{
        f"{name}=0 as no filter": differs(
            zero_overlooked(name), "Operation 7", GET_SUBSCRIPTIONS, name
        )
        for name in ("publication_id", "subscriber_id")
    },
    **{
        f"an upper bound that loses 0, of {size}": differs(
            upper_bound_loses_zero, "Operation 7", GET_SUBSCRIPTIONS, "max_issues_left"
        )
        for size in ("few", "many")
    },
    "subscribers matched by prefix": differs(
        subscriber_by_prefix, "Operation 7", GET_SUBSCRIPTIONS, "subscriber_id"
    ),
    "values with an apostrophe lost": differs(
        lost(lambda value: "'" in value, _NOBODY), "Operation 8", GET_SUBSCRIBERS, "last_name"
    ),
    "values beyond ASCII lost": differs(
        lost(lambda value: not value.isascii(), _NOBODY),
        *("Operation 8", GET_SUBSCRIBERS, "first_name"),
    ),
    "values with a plus lost": differs(plus_as_a_space, "Operation 8", GET_SUBSCRIBERS, "email"),
    "values with a plus as a fault": differs(
        lost(lambda value: "+" in value, Reply(500, b'{"error": "no"}')),
        *("Operation 8", GET_SUBSCRIBERS),
    ),
    "subscriptions limited before the filters": differs(
        limit_first(SUBSCRIPTIONS), "Limits", GET_SUBSCRIPTIONS, "type, limit"
    ),
    "subscriptions of many limited before the filters": differs(
        limit_first(SUBSCRIPTIONS), "Limits", GET_SUBSCRIPTIONS, "subscriber_id, limit"
    ),
    "subscribers limited before the search": differs(
        limit_first(SUBSCRIBERS), "Limits", GET_SUBSCRIBERS, "last_name, limit"
    ),
    "subscribers of many limited before the search": differs(
        limit_first(SUBSCRIBERS), "Limits", GET_SUBSCRIBERS, "renewal_code, limit"
    ),
    "the limit overlooked beside a filter": differs(
        limit_overlooked(SUBSCRIPTIONS), "Limits", GET_SUBSCRIPTIONS, "publication_id, limit"
    ),
    "the limit overlooked beside a search": differs(
        limit_overlooked(SUBSCRIBERS), "Limits", GET_SUBSCRIBERS, "last_name, limit"
    ),
    **{
        f"{name}_{count} overlooked beside the other bound": noted(
            beside(SUBSCRIPTIONS, f"{name}_{count}", f"{other}_{count}"),
            *("Operation 7", GET_SUBSCRIPTIONS, f"min_{count}, max_{count}"),
        )
        for name, other in (("min", "max"), ("max", "min"))
        for count in ("copies", "issues_left")
    },
    **{
        f"{name} overlooked beside {other}": noted(
            beside(SUBSCRIBERS, name, other), "Operation 8", GET_SUBSCRIBERS, fields
        )
        for name, other, fields in (
            ("first_name", "last_name", "first_name, last_name"),
            ("last_name", "first_name", "first_name, last_name"),
            ("email", "renewal_code", "renewal_code, email"),
        )
    },
    "two searches find nobody": differs(
        two_searches_find_nobody, "Operation 8", GET_SUBSCRIBERS, "first_name, last_name"
    ),
    "the key alone opens": noted(half_opens(key=True), "Authentication", GET_ACCOUNTS),
    "the login alone opens": noted(half_opens(key=False), "Authentication", GET_ACCOUNTS),
    "the postal code of anybody": differs(
        any_postal_code, "Operation 3", GET_LOGIN, "authenticated"
    ),
    "one nested subscription alone": differs(
        nested(lambda found: found[:1]), "Operation 3", GET_LOGIN, _NESTED
    ),
    "no nested subscription that expired": differs(
        nested(_of_today), "Operation 3", GET_LOGIN, _NESTED
    ),
}
