"""Operation 8: the search for subscribers."""

from collections import Counter
from collections.abc import Sequence

from masthead.checker.asking import Asking
from masthead.checker.findings import NotTried
from masthead.checker.service import Record, Service, id_of, is_full
from masthead.contract.operations import OPERATIONS

_SECTION = "Operation 8"
_OPERATION = OPERATIONS["search_subscribers"]
_REQUEST = f"GET {_OPERATION.path}"
_FIELDS = ("email", "first_name", "last_name", "renewal_code", "source")
NOBODY = "b8f1nobody7c0e"
"""A value that no field of a subscriber is likely to have."""
_NOBODYS = {"renewal_code": "~~~~~", "email": f"{NOBODY}@example.invalid"}


def searches_find_whom_they_are_for(service: Service) -> None:
    """A search for a value finds all subscribers who have it, and no others.

    Interface, operation 8. Whether the match is exact or partial is open.
    """
    tried = False
    for name in _FIELDS:
        records = _with_plain(service, name)
        for value in _values(records, name):
            tried = True
            found = service.rows("search_subscribers", {name: value})
            wrong = sum(value.casefold() not in str(one.get(name)).casefold() for one in found)
            if wrong:
                text = (
                    f"the search is not applied: {wrong} of {len(found)} records lack "
                    "what it is for"
                )
                service.differs(_SECTION, _REQUEST, name, text)
            ids = {id_of(one) for one in records if one[name] == value}
            lacking = len(ids - {id_of(one) for one in found})
            if lacking and not is_full(found, service.subscribers):
                text = f"the search leaves out {lacking} of {len(ids)} records that have the value"
                service.differs(_SECTION, _REQUEST, name, text)
    if not tried:
        raise NotTried("the list has no subscriber to search for")


def searches_for_nobody_find_nobody(service: Service) -> None:
    """A search for a value that no subscriber has returns an empty list.

    Interface, operation 8.
    """
    for name in _FIELDS:
        value = _NOBODYS.get(name, NOBODY)
        response = service.ask("search_subscribers", {name: value})
        if response.status in {400, 422}:
            # A service may refuse a value that is not a valid address or code.
            service.refused(
                response, _SECTION, name, "a search for a value that no subscriber has", 200
            )
            continue
        if found := service.records(response, _OPERATION):
            text = f"a search for a value that no subscriber has returns {len(found)} records"
            service.differs(_SECTION, _REQUEST, name, text)


def empty_searches_do_not_find_everybody(service: Service) -> None:
    """`email=` asks for subscribers without an address, or is an error.

    Interface, operation 8, which leaves it open.
    """
    response = service.asker.ask(_OPERATION.path, asking=Asking(query="email="))
    if response.status == 400:
        return
    found = service.records(response, _OPERATION)
    if any(isinstance(one, dict) and one.get("email") for one in found):
        text = "an empty search returns subscribers who have an address"
        service.notes(_SECTION, _REQUEST, "email", text)


def letter_case_of_searches_does_not_count(service: Service) -> None:
    """An email address in another letter case finds the same subscribers.

    Interface, operation 8, which leaves it open.
    """
    records = _with_plain(service, "email")
    if not records:
        raise NotTried("the list has no subscriber with an address")
    value = str(records[0]["email"])
    usual = service.rows("search_subscribers", {"email": value})
    other = service.rows("search_subscribers", {"email": value.swapcase()})
    if not {id_of(one) for one in usual} <= {id_of(one) for one in other}:
        text = "the same address in another letter case finds other subscribers"
        service.notes(_SECTION, _REQUEST, "email", text)


def renewal_codes_are_unique(service: Service) -> None:
    """No two subscribers have the same renewal code.

    Interface, "Subscriber".
    """
    for request, place, records in (
        (_REQUEST, "subscribers[]", service.subscribers),
        ("GET /2/cdc", "subscribers[]", service.feed.get("subscribers", [])),
    ):
        codes = Counter(str(one.get("renewal_code")) for one in records if one.get("renewal_code"))
        if repeated := sum(count - 1 for count in codes.values()):
            text = f"{repeated} of {len(records)} subscribers have the code of another one"
            service.differs("Subscriber", request, f"{place}.renewal_code", text)


def the_feed_shows_the_same_subscribers(service: Service) -> None:
    """The search and the change feed show the same values of a subscriber.

    Interface, "Subscriber".
    """
    service.check_against_feed(_OPERATION, service.subscribers, "Subscriber")


def _values(records: Sequence[Record], name: str) -> list[str]:
    """Return two values: the first record's, and the rarest that several records have."""
    counts = Counter(str(one[name]) for one in records)
    shared = [value for value in counts if counts[value] > 1]
    rarest = sorted(shared, key=counts.__getitem__)[:1]
    return list(dict.fromkeys([*list(counts)[:1], *rarest, *counts]))[:2]


def _with_plain(service: Service, name: str) -> list[Record]:
    """Return the records with a value that every service searches for in the same way.

    Such a value has only printable ASCII, no spaces at its ends, and no `*`.
    """
    return [
        one
        for one in service.subscribers
        if isinstance(value := one.get(name), str)
        and value
        and value.isascii()
        and value.isprintable()
        and value == value.strip()
        and "*" not in value
    ]


CHECKS = (
    searches_find_whom_they_are_for,
    searches_for_nobody_find_nobody,
    empty_searches_do_not_find_everybody,
    letter_case_of_searches_does_not_count,
    renewal_codes_are_unique,
    the_feed_shows_the_same_subscribers,
)
