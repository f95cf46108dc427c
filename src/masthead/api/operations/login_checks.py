"""The login check of a request: its waits, its metrics, and its refusals.

Operation 3 and the entitlements use it; ``masthead.store.login_check`` has the rules.
"""

from collections.abc import Callable
from functools import partial

from starlette.responses import Response

from masthead.api.http.log_reasons import LOGIN_LIMIT
from masthead.api.http.metrics import count_login_check
from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import Responding, encoded, error
from masthead.api.http.threads import in_thread
from masthead.store.login_candidates import LoginMatch
from masthead.store.login_check import Login, check_login

Accepted = Callable[[AuthenticatedRequest, LoginMatch], Response]
"""Makes the response for a subscriber whose login is right."""

REFUSED = {"authenticated": False}
"""The body of the response to a login that is not right, whatever the reason."""


def respond_to_login(request: AuthenticatedRequest, accepted: Accepted) -> Responding:
    """Check the parameters ``login`` and ``password``; respond.

    The response is 429 after too many failures, whether or not the login exists (decisions,
    "Limits of the login check").
    """
    return _respond(request, accepted, has_slot=False)


def _respond_in_thread(request: AuthenticatedRequest, accepted: Accepted) -> Responding:
    with request.service.store.reader() as connection:
        connection.set_tenant(request.account_id, is_master=bool(request.caller.is_master))
        return _respond(request._replace(connection=connection), accepted, has_slot=True)


def _respond(request: AuthenticatedRequest, accepted: Accepted, *, has_slot: bool) -> Responding:
    """Respond, or start again in a thread with a slot if there are digests to check."""
    service = request.service
    login = Login(
        request.account_id,
        str(request.parameters.get("login", "")),
        str(request.parameters.get("password", "")),
        request.caller.time_zone,
        bool(request.caller.renewal_code_login),
    )
    checked = check_login(
        service.store, request.connection, service.login_limits, login, may_take_long=has_slot
    )
    if checked is None:
        again = partial(_respond_in_thread, request, accepted)
        return in_thread(service, service.digest_checks, again)
    count_login_check(checked.outcome)
    found = checked.match
    if found is None:
        return _too_many(request, checked.wait_us) if checked.wait_us else encoded(REFUSED)
    if checked.is_by_digest:
        service.better_digests.note(
            request.account_id, found.subscriber_id, found.secret, login.password
        )
    return accepted(request, found)


def _too_many(request: AuthenticatedRequest, wait_us: int) -> Response:
    request.received.reason = LOGIN_LIMIT
    wait_s = -(-wait_us // 1_000_000)
    sentence = f"too many logins have failed: try again in {wait_s} seconds"
    return error(429, sentence, {"Retry-After": str(wait_s)})
