"""Operations 3 and 8: the login check and the search for subscribers."""

from functools import partial
from hashlib import md5

from msgspec import Struct
from starlette.responses import Response

from masthead.api.http.log_reasons import LOGIN_LIMIT
from masthead.api.http.metrics import count_login_check
from masthead.api.http.parameters import Values
from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import Responding, encoded, error
from masthead.api.http.routing import route
from masthead.api.http.threads import in_thread
from masthead.api.operations.lists import list_response, page_of
from masthead.contract.encoding import wire_of
from masthead.contract.moments import date_in
from masthead.contract.shapes import (
    AuthenticatedSubscriber,
    AuthenticatedSubscription,
    ReceivedIssue,
    Subscriber,
    fields_of,
)
from masthead.store import interface_queries, logins, passwords
from masthead.store.login_candidates import LoginCandidates, LoginMatch, login_candidates

PASSWORD_MD5 = [field.name for field in fields_of(Subscriber)].index("password_md5")
"""Index, in a subscriber's row, of the digest that an account may hide."""

_make_subscriber = wire_of(AuthenticatedSubscriber)
_make_subscription = wire_of(AuthenticatedSubscription)
_make_issue = wire_of(ReceivedIssue)
_ZIP_DIGITS, _ZIP_PLUS_4_DIGITS = 5, 9
_IGNORED_IN_ZIP = str.maketrans("", "", " -")


def authenticate_subscriber(request: AuthenticatedRequest) -> Responding:
    """Interface, operation 3: the subscriber who has the login and the password, if any.

    For the rules, see rules, "Login check". The response is 429 after too many failures,
    whether or not the login exists (decisions, "Limits of the login check"). While many guesses
    fail, an email that has logged in before still can (rules, "A guarded account").
    """
    return _authenticate(request, has_slot=False)


def _authenticate_in_thread(request: AuthenticatedRequest) -> Responding:
    with request.service.store.reader() as connection:
        connection.set_tenant(request.account_id, is_master=bool(request.caller.is_master))
        return _authenticate(request._replace(connection=connection), has_slot=True)


def _authenticate(request: AuthenticatedRequest, *, has_slot: bool) -> Responding:
    """Respond, or start again in a thread with a slot if there are digests to check.

    The limits are looked up within the slot, so that guesses sent at the same time are counted
    before the next is checked.
    """
    login, password = (
        str(request.parameters.get("login", "")),
        str(request.parameters.get("password", "")),
    )
    if not (login and password):
        count_login_check("refused")
        return encoded({"authenticated": False})
    service, store, limits = request.service, request.service.store, request.service.login_limits
    attempt = logins.attempt_of(store.secret, request.account_id, login, password)
    with store.counters() as counters:
        counters.set_tenant(request.account_id)
        standing = logins.standing_of(counters, limits, attempt, store.clock())
        is_guarded = bool(standing.by_account_us) and attempt.kind == "email"
        if standing.by_login_us or (standing.by_account_us and not is_guarded):
            return _too_many(request, standing.wait_us)
        passes = not is_guarded or logins.may_pass(
            counters, limits, attempt, standing, store.clock()
        )
    candidates = _candidates(request, login, password)
    if candidates.by_digest and not has_slot:
        return in_thread(service, service.digest_checks, partial(_authenticate_in_thread, request))
    found = _best_match(candidates, password)
    if found is None or not passes:
        with store.counters() as counters:
            counters.set_tenant(request.account_id)
            now = store.clock()
            if is_guarded:
                logins.count_guarded(counters, attempt, now, passes=passes)
                return _too_many(request, standing.by_account_us)
            logins.count_failure(counters, limits, attempt, now)
        count_login_check("refused")
        return encoded({"authenticated": False})
    logins.note_success(store, limits, attempt, standing)
    if found in candidates.by_digest:
        service.better_digests.note(request.account_id, found.subscriber_id, found.secret, password)
    count_login_check("authenticated")
    subscriber = _make_subscriber(*found[:5], _received(request, found.subscriber_id))
    return encoded({"authenticated": True, "subscribers": subscriber})


def _received(request: AuthenticatedRequest, subscriber_id: int) -> list[Struct]:
    found = interface_queries.received_subscriptions(
        request.connection, request.account_id, subscriber_id
    )
    return [
        _make_subscription(*subscription, [_make_issue(*issue) for issue in issues] or None)
        for subscription, issues in found
    ]


def _too_many(request: AuthenticatedRequest, wait_us: int) -> Response:
    count_login_check("limited")
    request.received.reason = LOGIN_LIMIT
    wait_s = -(-wait_us // 1_000_000)
    sentence = f"too many logins have failed: try again in {wait_s} seconds"
    return error(429, sentence, {"Retry-After": str(wait_s)})


def _candidates(request: AuthenticatedRequest, login: str, password: str) -> LoginCandidates:
    return login_candidates(
        request.connection,
        request.account_id,
        login,
        password_md5=md5(password.encode(), usedforsecurity=False).hexdigest(),
        today=date_in(request.caller.time_zone, request.service.store.clock()),
        by_renewal_code=bool(request.caller.renewal_code_login),
    )


def _best_match(candidates: LoginCandidates, password: str) -> LoginMatch | None:
    matches = candidates.by_email + [
        match
        for found, fits in ((candidates.by_digest, passwords.fits), (candidates.by_code, _same_zip))
        for match in found
        if fits(password, match.secret) and match.is_meant
    ]
    return min(matches, key=lambda match: (-match.is_current, match.subscriber_id), default=None)


def _same_zip(given: str, stored: str) -> bool:
    ours, theirs = (code.translate(_IGNORED_IN_ZIP).casefold() for code in (stored, given))
    digits = {len(ours), len(theirs)}
    if digits == {_ZIP_DIGITS, _ZIP_PLUS_4_DIGITS} and (ours + theirs).isdecimal():
        ours, theirs = ours[:_ZIP_DIGITS], theirs[:_ZIP_DIGITS]
    return ours == theirs != ""


def search_subscribers(request: AuthenticatedRequest) -> Response:
    """Interface, operation 8: subscribers of shape Subscriber, by ascending id."""
    filters, after, limit = page_of(request)
    rows = interface_queries.search_subscribers(
        request.connection, request.account_id, filters, after=after, limit=limit
    )
    if request.caller.hide_password_md5:
        rows = [(*row[:PASSWORD_MD5], None, *row[PASSWORD_MD5 + 1 :]) for row in rows]
    return list_response(request, rows)


def _may_scan(values: Values) -> bool:
    """Return whether the search may visit many rows: it has no whole email or renewal code."""
    narrow = (str(values.get(name, "")) for name in ("email", "renewal_code"))
    return not any(asked and not asked.endswith("*") for asked in narrow)


routes = [
    route("authenticate_subscriber", authenticate_subscriber),
    route("search_subscribers", search_subscribers, may_scan=_may_scan),
]
