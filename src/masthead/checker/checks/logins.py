"""Operation 3: the login check, with renewal codes and postal codes from the feed."""

import secrets
from typing import Any, NamedTuple

from masthead.checker.asking import Response
from masthead.checker.findings import NotTried
from masthead.checker.forms import differing_fields
from masthead.checker.reading import type_of
from masthead.checker.service import Record, Service, id_of, objects
from masthead.contract.operations import OPERATIONS
from masthead.contract.shapes import AuthenticatedSubscriber

_SECTION = "Operation 3"
_REQUEST = f"GET {OPERATIONS['authenticate_subscriber'].path}"
_REFUSED = {"authenticated": False}
_READERS = 3


class _Reader(NamedTuple):
    subscriber: Record
    login: str
    password: str


def wrong_logins_are_refused(service: Service) -> None:
    """A login that matches no subscriber returns 200 with only `{"authenticated": false}`.

    Interface, operation 3; "Errors".
    """
    # Use other logins each time: a service may lock logins after many failed attempts.
    for login in (f"nobody-{secrets.token_hex(6)}@example.invalid", f"~{secrets.token_hex(2)}"):
        password = secrets.token_hex(8)
        _check_refusal(service, _login(service, login, password), "a login that fits nobody")


def a_wrong_postal_code_is_refused(service: Service) -> None:
    """A renewal code with a postal code that no subscriber has is refused.

    Interface, operation 3.
    """
    readers = _all_readers(service)
    # Choose a random reader who does not log in here: a service may lock a login after failures.
    reader = secrets.choice(readers[_READERS:] or readers)
    response = _login(service, reader.login, secrets.token_hex(8))
    _check_refusal(service, response, "a renewal code with a wrong postal code")


def incomplete_logins_are_refused(service: Service) -> None:
    """A login check with a missing or empty `login` or `password` authenticates nobody.

    Interface, operation 3, which leaves it open.
    """
    login = f"nobody-{secrets.token_hex(6)}@example.invalid"
    for parameters in ({}, {"login": login}, {"password": "x"}, {"login": "", "password": ""}):
        response = service.ask("authenticate_subscriber", parameters)
        if 400 <= response.status < 500:
            continue
        body = service.json_of(response, _SECTION)
        if body != _REFUSED:
            text = 'an incomplete login is not answered with {"authenticated": false}'
            service.notes(_SECTION, _REQUEST, "login", text)


def right_logins_are_accepted(service: Service) -> None:
    """A renewal code with its subscriber's postal code is accepted, and the response has its form.

    Interface, operation 3; "Subscription", as nested in the login check.
    """
    accepted = 0
    readers = _readers(service)
    for reader in readers:
        response = _login(service, reader.login, reader.password)
        body = service.json_of(response, _SECTION)
        if body == _REFUSED:
            continue
        accepted += 1
        _check_success(service, body)
        found = body.get("subscribers") if isinstance(body, dict) else None
        if isinstance(found, dict):
            for name in differing_fields(reader.subscriber, found):
                text = "it differs from that of the same subscriber in the change feed"
                service.differs(_SECTION, _REQUEST, f"subscribers.{name}", text)
    if not accepted:
        text = f"{len(readers)} renewal codes with a postal code of the subscriber are refused"
        service.differs(_SECTION, _REQUEST, "authenticated", text)


def spaces_and_letter_case_of_codes_do_not_count(service: Service) -> None:
    """A lower-case renewal code and a postal code with spaces are accepted too.

    Interface, operation 3, which leaves it open.
    """
    reader = _accepted(service)[0]
    other = (reader.login.swapcase(), f" {reader.password.swapcase()} ")
    if service.json_of(_login(service, *other), _SECTION) == _REFUSED:
        text = "a code in another letter case or with spaces is refused"
        service.notes(_SECTION, _REQUEST, "login", text)


def subscriptions_of_a_login_are_as_in_the_list(service: Service) -> None:
    """The nested subscriptions are the same as in the list.

    Interface, operations 3 and 7.
    """
    reader, found = _accepted(service)
    listed = service.rows("list_subscriptions", {"subscriber_id": id_of(reader.subscriber)})
    here = {id_of(one): one for one in objects(found.get("subscriptions"))}
    there = {id_of(one): one for one in listed}
    field = "subscribers.subscriptions[]"
    if here.keys() != there.keys():
        text = "the login check has other subscriptions than the list"
        service.differs(_SECTION, _REQUEST, f"{field}.subscription_id", text)
    for key in here.keys() & there.keys():
        one, other = here[key], dict(there[key])
        # The list names this count `issues`.
        other["issues_left"] = other.pop("issues", None)
        for name in differing_fields(other, one):
            text = "it differs from that of the same subscription in the list"
            service.differs(_SECTION, _REQUEST, f"{field}.{name}", text)


def _check_refusal(service: Service, response: Response, what: str) -> None:
    if response.status != 200:
        text = f"{what} is answered with {response.status}; it is no error, and its status is 200"
        service.differs(_SECTION, _REQUEST, "authenticated", text)
        service.body_of(response)
        return
    body = service.json_of(response, _SECTION)
    if body == _REFUSED and type_of(body["authenticated"]) == "a JSON boolean":
        return
    if not isinstance(body, dict) or "authenticated" not in body:
        text = f"{what} is answered without `authenticated`"
    elif type_of(body["authenticated"]) != "a JSON boolean":
        text = f"it is {type_of(body['authenticated'])}, and has to be true or false"
    elif body["authenticated"]:
        text = f"{what} is accepted"
    else:
        text = f"{what} is answered with other members beside `authenticated`"
    service.differs(_SECTION, _REQUEST, "authenticated", text)


def _check_success(service: Service, body: Any) -> None:
    is_right = isinstance(body, dict) and body.get("authenticated") is True
    if not is_right or list(body) != ["authenticated", "subscribers"]:
        text = "the body is not an object of `authenticated`, true, and `subscribers`"
        service.differs(_SECTION, _REQUEST, "authenticated", text)
    found = body.get("subscribers") if isinstance(body, dict) else None
    if isinstance(found, list):
        text = "it is an array, and has to be a single object"
        service.differs(_SECTION, _REQUEST, "subscribers", text)
    records = found if isinstance(found, list) else [found]
    service.check_records(AuthenticatedSubscriber, records, _REQUEST, "subscribers")
    for record in objects(records):
        field = "subscribers.subscriptions[].subscription_id"
        service.check_unique(objects(record.get("subscriptions")), _SECTION, _REQUEST, field)


def _accepted(service: Service) -> tuple[_Reader, Record]:
    for reader in _readers(service):
        body = service.json_of(_login(service, reader.login, reader.password), _SECTION)
        if isinstance(body, dict) and isinstance(body.get("subscribers"), dict):
            return reader, body["subscribers"]
    raise NotTried("no login was accepted")


def _login(service: Service, login: str, password: str) -> Response:
    return service.ask("authenticate_subscriber", {"login": login, "password": password})


def _readers(service: Service) -> list[_Reader]:
    """Return the subscribers with whom the checks log in."""
    return _all_readers(service)[:_READERS]


def _all_readers(service: Service) -> list[_Reader]:
    """Return the subscribers of the change feed with a renewal code and a postal code.

    The interface does not say which address counts, so addresses to which a subscription is mailed
    come first. Raises NotTried if there are no such subscribers.
    """
    subscribers = {id_of(one): one for one in service.feed.get("subscribers", [])}
    mailed = {str(one.get("mailing_address_id")) for one in service.feed.get("subscriptions", [])}
    addresses = service.feed.get("addresses", [])
    readers: dict[str, _Reader] = {}
    for address in sorted(addresses, key=lambda one: id_of(one) not in mailed):
        owner = str(address.get("subscriber_id"))
        subscriber, zip_code = subscribers.get(owner), address.get("zip_code")
        if subscriber is None or subscriber.get("delete_date"):
            continue
        login = subscriber.get("renewal_code")
        if _is_plain(login, 3) and _is_plain(zip_code, 4):
            readers.setdefault(owner, _Reader(subscriber, str(login), str(zip_code)))
    if not readers:
        raise NotTried("the change feed shows no subscriber with a renewal and a postal code")
    return list(readers.values())


def _is_plain(text: Any, length: int) -> bool:
    return isinstance(text, str) and text.isascii() and text.isalnum() and len(text) >= length


# The refused logins come last: a service may lock a client after failures.
CHECKS = (
    right_logins_are_accepted,
    spaces_and_letter_case_of_codes_do_not_count,
    subscriptions_of_a_login_are_as_in_the_list,
    incomplete_logins_are_refused,
    wrong_logins_are_refused,
    a_wrong_postal_code_is_refused,
)
