"""Operation 8: the search for subscribers."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from masthead.checker.asking import Asking
from masthead.checker.findings import NotTried
from masthead.checker.repeating import MadeUp
from masthead.checker.service import Record, Service, id_of, is_full, objects
from masthead.contract.operations import LIMIT_MAX, OPERATIONS

_SECTION = "Operation 8"
_OPERATION = OPERATIONS["search_subscribers"]
_REQUEST = f"GET {_OPERATION.path}"
_FIELDS = ("email", "first_name", "last_name", "renewal_code", "source")
NOBODY = MadeUp("b8f1nobody7c0e")
"""A value that no field of a subscriber is likely to have."""
_NOBODYS = {"renewal_code": MadeUp("~~~~~"), "email": MadeUp(f"{NOBODY}@example.invalid")}


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
            wrong = sum(not _has(one, name, value) for one in found)
            if wrong:
                text = (
                    f"the search is not applied: {wrong} of {len(found)} records lack "
                    "what it is for"
                )
                service.differs(_SECTION, _REQUEST, name, text)
            _must_have_all(service, name, value, found)
    if not tried:
        raise NotTried("the list has no subscriber to search for")


def values_with_other_characters_are_found(service: Service) -> None:
    """A search for a value with `'`, `+` or a letter beyond ASCII finds who has the value.

    Interface, operation 8; "Conventions".
    """
    for has in ("'".__contains__, "+".__contains__, _is_beyond_ascii):
        tried = False
        for name in _FIELDS:
            records = [one for one in _searchable(service, name) if any(map(has, one[name]))]
            for value in list(dict.fromkeys(one[name] for one in records))[:1]:
                tried = True
                found = service.rows("search_subscribers", {name: value})
                _must_have_all(service, name, value, found)
                if len(found) >= len(service.subscribers) > len(records):
                    text = "the search is not applied: it finds everybody"
                    service.differs(_SECTION, _REQUEST, name, text)
        if not tried:
            odd = next(filter(has, "'+é"))
            _find_nobody(service, "last_name", MadeUp(f"{NOBODY[:5]}{odd}{NOBODY[5:]}"))


def two_searches_are_both_kept(service: Service) -> None:
    """The service honours both of two fields.

    Interface, operation 8, which leaves it open.
    """
    tried = False
    for one_name, other_name in (("first_name", "last_name"), ("renewal_code", "email")):
        one, other = _unlike(service, one_name, other_name)
        if not one or not other:
            continue
        tried = True
        names = f"{one_name}, {other_name}"
        both = {one_name: str(one[one_name]), other_name: str(other[other_name])}
        response = service.ask("search_subscribers", both)
        if response.status in {400, 422}:
            service.refused(response, _SECTION, names, "a search by two fields", 200)
            continue
        found = objects(service.records(response, _OPERATION))
        if any(not _has(record, *pair) for record in found for pair in both.items()):
            service.notes(_SECTION, _REQUEST, names, "one of two fields is ignored")
        same = {one_name: str(one[one_name]), other_name: str(one[other_name])}
        found = service.rows("search_subscribers", same)
        if id_of(one) not in set(map(id_of, found)) and not is_full(found, service.subscribers):
            text = "a search by two fields leaves out a record that has both values"
            service.differs(_SECTION, _REQUEST, names, text)
    if not tried:
        raise NotTried("no two subscribers differ in two fields")


def a_limit_beside_a_search_is_kept(service: Service) -> None:
    """With a search, `limit` counts the records that the search finds.

    Interface, operation 8; "Limits".
    """
    tried = False
    for name in _FIELDS:
        # A service that limits before it searches would look at the first record alone.
        records = _with_plain(service, name)
        others = [one for one in records if not _has(service.subscribers[0], name, one[name])]
        counts = Counter(str(one[name]) for one in others)
        for value, _ in counts.most_common(1):
            tried = True
            found = service.rows("search_subscribers", {name: value, "limit": "1"})
            if len(found) != 1:
                text = f"limit=1 beside a search returns {len(found)} records, where 1 is expected"
                service.differs("Limits", _REQUEST, f"{name}, limit", text)
    # The same for the default: a subscriber behind the first 100.
    listed = {id_of(one) for one in service.subscribers}
    changed = service.feed.get("subscribers", []) if len(listed) >= LIMIT_MAX else []
    unlisted = [
        one for one in changed if id_of(one) not in listed and _is_plain(one.get("renewal_code"))
    ]
    for one in [one for one in unlisted if not one.get("delete_date")][-1:]:
        tried = True
        found = service.rows("search_subscribers", {"renewal_code": str(one["renewal_code"])})
        if id_of(one) not in set(map(id_of, found)):
            text = f"the search leaves out a subscriber who is not among the first {LIMIT_MAX}"
            service.differs("Limits", _REQUEST, "renewal_code, limit", text)
    if not tried:
        raise NotTried("all subscribers have the same values")


def searches_for_nobody_find_nobody(service: Service) -> None:
    """A search for a value that no subscriber has returns an empty list.

    Interface, operation 8.
    """
    for name in _FIELDS:
        _find_nobody(service, name, _NOBODYS.get(name, NOBODY))


def empty_searches_do_not_find_everybody(service: Service) -> None:
    """`email=` asks for subscribers without an address, or is an error.

    Interface, operation 8, which leaves it open.
    """
    response = service.asker.ask(_OPERATION.path, asking=Asking(query=MadeUp("email=")))
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


def _find_nobody(service: Service, name: str, value: str) -> None:
    what = "a search for a value that no subscriber has"
    response = service.ask("search_subscribers", {name: value})
    if response.status in {400, 422}:
        # A service may refuse a value that is not a valid address or code.
        service.refused(response, _SECTION, name, what, 200)
    elif found := service.records(response, _OPERATION):
        service.differs(_SECTION, _REQUEST, name, f"{what} returns {len(found)} records")


def _must_have_all(service: Service, name: str, value: str, found: Sequence[Record]) -> None:
    """Report a search that leaves out records of the list with exactly that value."""
    ids = {id_of(one) for one in service.subscribers if one.get(name) == value}
    lacking = len(ids - {id_of(one) for one in found})
    if lacking and not is_full(found, service.subscribers):
        text = f"the search leaves out {lacking} of {len(ids)} records that have the value"
        service.differs(_SECTION, _REQUEST, name, text)


def _has(record: Record, name: str, value: str) -> bool:
    """Tell whether a search finds a record, which may be by a part of the value."""
    return value.casefold() in str(record.get(name)).casefold()


def _unlike(service: Service, name: str, other: str) -> tuple[Record, Record] | tuple[None, None]:
    """Return two subscribers, of whom neither has the value of the other one in either field."""
    of_both = [one for one in _with_plain(service, name) if _is_plain(one.get(other))]
    for one, another in pairwise(of_both):
        pairs = ((one, another), (another, one))
        if not any(_has(a, field, b[field]) for a, b in pairs for field in (name, other)):
            return one, another
    return None, None


def _with_plain(service: Service, name: str) -> list[Record]:
    """Return the records with a value that every service searches for in the same way."""
    return [one for one in _searchable(service, name) if _is_plain(one[name])]


def _is_plain(value: object) -> bool:
    """Tell whether a value has only printable ASCII without `*`, and no spaces at its ends."""
    return _is_searchable(value) and str(value).isascii()


def _searchable(service: Service, name: str) -> list[Record]:
    return [one for one in service.subscribers if _is_searchable(one.get(name))]


def _is_searchable(value: object) -> bool:
    is_text = isinstance(value, str) and value and value.isprintable()
    return bool(is_text) and value == str(value).strip() and "*" not in str(value)


def _is_beyond_ascii(character: str) -> bool:
    return not character.isascii()


CHECKS = (
    searches_find_whom_they_are_for,
    values_with_other_characters_are_found,
    two_searches_are_both_kept,
    a_limit_beside_a_search_is_kept,
    searches_for_nobody_find_nobody,
    empty_searches_do_not_find_everybody,
    letter_case_of_searches_does_not_count,
    renewal_codes_are_unique,
    the_feed_shows_the_same_subscribers,
)
