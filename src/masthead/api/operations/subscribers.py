"""Operations 3 and 8: the login check and the search for subscribers."""

from datetime import UTC, datetime
from hashlib import md5

from msgspec import Struct

from masthead.api.http.metrics import count_login_check
from masthead.api.http.parameters import Values
from masthead.api.http.responses import Answer, error, json
from masthead.api.operation import Call, route
from masthead.api.operations.lists import list_answer, page_of
from masthead.contract.encoding import encode, wire_of
from masthead.contract.shapes import (
    AuthenticatedSubscriber,
    AuthenticatedSubscription,
    ReceivedIssue,
    Subscriber,
    fields_of,
)
from masthead.store import logins, reading

__all__ = ["PASSWORD_MD5", "routes"]

PASSWORD_MD5 = [field.name for field in fields_of(Subscriber)].index("password_md5")
"""Where a subscriber's row holds the digest that an account may hide."""

_make_subscriber = wire_of(AuthenticatedSubscriber)
_make_subscription = wire_of(AuthenticatedSubscription)
_make_issue = wire_of(ReceivedIssue)
_ZIP_DIGITS, _ZIP_PLUS_4_DIGITS = 5, 9
_IGNORED_IN_ZIP = str.maketrans("", "", " -")


def authenticate_subscriber(call: Call) -> Answer:
    """Answer interface, operation 3: the subscriber whom login and password fit, if there is one.

    Who that is, and what fits, is told by decisions, "Login check". 429 after too many wrong
    guesses, whether or not there is such a login (decisions, "Limits of the login check").
    """
    login, password = str(call.values.get("login", "")), str(call.values.get("password", ""))
    if not (login and password):
        count_login_check("refused")
        return json(encode({"authenticated": False}))
    store, limits = call.service.store, call.service.limits
    attempt = logins.attempt_of(store.secret, call.account_id, login, password)
    with store.counters() as counters:
        wait_us = logins.wait_us(counters, limits, attempt, store.clock())
    if wait_us:
        count_login_check("limited")
        return _too_many(wait_us)
    found = _fitting(call, login, password)
    count_login_check("authenticated" if found else "refused")
    if found is None:
        with store.counters() as counters:
            logins.count_failure(counters, limits, attempt, store.clock())
        return json(encode({"authenticated": False}))
    subscriber = _make_subscriber(*found[:5], _received(call, found.subscriber_id))
    return json(encode({"authenticated": True, "subscribers": subscriber}))


def _received(call: Call, subscriber_id: int) -> list[Struct]:
    found = reading.received_subscriptions(call.connection, call.account_id, subscriber_id)
    return [
        _make_subscription(*subscription, [_make_issue(*issue) for issue in issues] or None)
        for subscription, issues in found
    ]


def _too_many(wait_us: int) -> Answer:
    wait_s = -(-wait_us // 1_000_000)
    sentence = f"too many logins have failed: try again in {wait_s} seconds"
    return error(429, sentence, {"Retry-After": str(wait_s)})


def _fitting(call: Call, login: str, password: str) -> reading.LoginMatch | None:
    by_email, by_code = reading.login_candidates(
        call.connection,
        call.account_id,
        login,
        password_md5=md5(password.encode(), usedforsecurity=False).hexdigest(),
        today=datetime.fromtimestamp(call.service.store.clock() / 1_000_000, UTC)
        .date()
        .isoformat(),
        by_renewal_code=bool(call.caller.renewal_code_login),
    )
    fitting = by_email + [
        match for match in by_code if _same_zip(match.zip_code or "", password) and match.is_meant
    ]
    return min(fitting, key=lambda match: (-match.is_current, match.subscriber_id), default=None)


def _same_zip(stored: str, given: str) -> bool:
    ours, theirs = (code.translate(_IGNORED_IN_ZIP).casefold() for code in (stored, given))
    digits = {len(ours), len(theirs)}
    if digits == {_ZIP_DIGITS, _ZIP_PLUS_4_DIGITS} and (ours + theirs).isdecimal():
        ours, theirs = ours[:_ZIP_DIGITS], theirs[:_ZIP_DIGITS]
    return ours == theirs != ""


def search_subscribers(call: Call) -> Answer:
    """Answer interface, operation 8: subscribers of shape Subscriber, by ascending id."""
    filters, after, limit = page_of(call)
    rows = reading.search_subscribers(
        call.connection, call.account_id, filters, after=after, limit=limit
    )
    if call.caller.hide_password_md5:
        rows = [(*row[:PASSWORD_MD5], None, *row[PASSWORD_MD5 + 1 :]) for row in rows]
    return list_answer("search_subscribers", call, rows)


def _may_scan(values: Values) -> bool:
    """Tell whether the search could visit many rows: all but a whole email or renewal code."""
    narrow = (str(values.get(name, "")) for name in ("email", "renewal_code"))
    return not any(asked and not asked.endswith("*") for asked in narrow)


routes = [
    route("authenticate_subscriber", authenticate_subscriber),
    route("search_subscribers", search_subscribers, in_thread=_may_scan),
]
