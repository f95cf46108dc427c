"""Operation 3: the login check, with renewal codes and postal codes from the feed."""

import secrets
from collections import Counter
from typing import Any, NamedTuple

from masthead.checker.asking import Response
from masthead.checker.findings import NotTried
from masthead.checker.forms import differing_fields
from masthead.checker.reading import type_of
from masthead.checker.repeating import MadeUp
from masthead.checker.service import SUCCESS, Record, Service, id_of, objects
from masthead.contract.operations import OPERATIONS
from masthead.contract.shapes import AuthenticatedSubscriber

_SECTION = "Operation 3"
_REQUEST = f"GET {OPERATIONS['authenticate_subscriber'].path}"
_REFUSED = {"authenticated": False}
_READERS = 3
_NOBODY = "nobody-{}@example.invalid"


class _Reader(NamedTuple):
    subscriber: Record
    login: str
    password: str


def wrong_logins_are_refused(service: Service) -> None:
    """A login that matches no subscriber returns 200 with only `{"authenticated": false}`.

    Interface, operation 3; "Errors".
    """
    # Use other logins each time: a service may lock logins after many failed attempts.
    for login in (_NOBODY.format(secrets.token_hex(6)), f"~{secrets.token_hex(2)}"):
        response = _login(service, MadeUp(login), _made_up_password())
        _check_refusal(service, response, "a login that fits nobody")


def a_wrong_postal_code_is_refused(service: Service) -> None:
    """A renewal code with a postal code that no subscriber has is refused.

    Interface, operation 3.
    """
    reader = _random_reader(service)
    response = _login(service, reader.login, _made_up_password())
    _check_refusal(service, response, "a renewal code with a wrong postal code")


def the_postal_code_of_another_is_refused(service: Service) -> None:
    """A renewal code with the postal code of another subscriber is refused.

    Interface, operation 3.
    """
    readers = _all_readers(service)
    # Twice, since an address that the feed does not show may have the same postal code.
    for _ in range(2):
        reader = _random_reader(service)
        own = _postal_codes(service, id_of(reader.subscriber))
        others = [one for one in readers if _five(one.password) not in own]
        if not others:
            raise NotTried("all subscribers of the change feed have the same postal code")
        response = _login(service, reader.login, secrets.choice(others).password)
        if response.status != SUCCESS or service.json_of(response, _SECTION) == _REFUSED:
            break
    else:
        text = "a renewal code with the postal code of another subscriber is accepted"
        service.differs(_SECTION, _REQUEST, "authenticated", text)


def incomplete_logins_are_refused(service: Service) -> None:
    """A login check with a missing or empty `login` or `password` authenticates nobody.

    Interface, operation 3, which leaves it open.
    """
    login, empty = MadeUp(_NOBODY.format(secrets.token_hex(6))), MadeUp()
    password = _made_up_password()
    for parameters in (
        *({}, {"login": login}, {"password": password}, {"login": empty, "password": empty}),
    ):
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
    reader = _accepted(service)
    other = (reader.login.swapcase(), f" {reader.password.swapcase()} ")
    if service.json_of(_login(service, *other), _SECTION) == _REFUSED:
        text = "a code in another letter case or with spaces is refused"
        service.notes(_SECTION, _REQUEST, "login", text)


def subscriptions_of_a_login_are_as_in_the_list(service: Service) -> None:
    """The nested subscriptions are the same as in the list.

    Interface, operations 3 and 7.
    """
    tried = False
    for reader in _readers(service):
        response = _login(service, reader.login, reader.password)
        body = service.json_of(response, _SECTION)
        if isinstance(body, dict) and isinstance(body.get("subscribers"), dict):
            tried = True
            _compare_subscriptions(service, reader, body["subscribers"])
    if not tried:
        raise NotTried("no login was accepted")


def _compare_subscriptions(service: Service, reader: _Reader, found: Record) -> None:
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


def _accepted(service: Service) -> _Reader:
    for reader in _readers(service):
        body = service.json_of(_login(service, reader.login, reader.password), _SECTION)
        if isinstance(body, dict) and isinstance(body.get("subscribers"), dict):
            return reader
    raise NotTried("no login was accepted")


def _login(service: Service, login: str, password: str) -> Response:
    return service.ask("authenticate_subscriber", {"login": login, "password": password})


def _made_up_password() -> MadeUp:
    return MadeUp(secrets.token_hex(8))


def _readers(service: Service) -> list[_Reader]:
    """Return the subscribers with whom the checks log in.

    The first one has the most subscriptions, and the second one a subscription that has expired, if
    there are such subscribers: services lose these most easily.
    """
    readers = {id_of(one.subscriber): one for one in _all_readers(service)}
    changed = service.feed.get("subscriptions", [])
    owners = [str(one.get("subscriber_id")) for one in changed]
    counts = Counter(owner for owner in owners if owner in readers)
    today = f"{service.asker.now():%Y-%m-%d}"
    first = [owner for owner, _ in counts.most_common(1)]
    for owner, one in zip(owners, changed, strict=True):
        if "" < str(one.get("date_expired")) < today and counts[owner] and owner not in first:
            first.append(owner)
            break
    return [readers[owner] for owner in dict.fromkeys([*first, *readers])][:_READERS]


def _random_reader(service: Service) -> _Reader:
    """Return a subscriber for a login that must fail, after which a service may lock it.

    It is one with whom the checks do not log in, if there is one.
    """
    used = {one.login for one in _readers(service)}
    readers = _all_readers(service)
    return secrets.choice([one for one in readers if one.login not in used] or readers)


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


def _postal_codes(service: Service, owner: str) -> set[str]:
    """Return the beginnings of all postal codes that the change feed shows for a subscriber."""
    addresses = service.feed.get("addresses", [])
    of_owner = (one for one in addresses if str(one.get("subscriber_id")) == owner)
    return {_five(str(one.get("zip_code"))) for one in of_owner}


def _five(postal_code: str) -> str:
    """Return what counts of a postal code: of a ZIP+4 perhaps only its first five digits."""
    return "".join(filter(str.isalnum, postal_code)).upper()[:5]


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
    the_postal_code_of_another_is_refused,
)
