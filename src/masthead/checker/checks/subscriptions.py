"""Operation 7: the filters of the list of subscriptions."""

from collections import Counter
from collections.abc import Callable, Sequence

from masthead.checker.findings import NotTried
from masthead.checker.service import SUCCESS, Record, Service, id_of, is_full, objects
from masthead.contract.operations import OPERATIONS
from masthead.contract.subscription_types import TYPES, UNLIMITED

_SECTION = "Operation 7"
_OPERATION = OPERATIONS["list_subscriptions"]
_REQUEST = f"GET {_OPERATION.path}"
Fits = Callable[[Record], bool | None]
"""Tells whether a record matches a filter; None if the interface leaves it open."""


def filters_of_equality_are_kept(service: Service) -> None:
    """`copies`, `issues_left`, `publication_id` and `type` find records with exactly that value.

    Interface, operation 7.
    """
    fields = {"copies": "copies", "issues_left": "issues", "publication_id": "publication_id"}
    for name, field in fields.items():
        for value in _values(service, field):
            _try(service, name, str(value), _is(field, str(value)))
    for word in TYPES:
        _try(service, "type", word, _is("type", word))


def campaign_active_is_kept(service: Service) -> None:
    """`campaign_active` finds the records with the same `renew_campaign_active`.

    Interface, operation 7.
    """
    for word, text in (("true", "True"), ("false", "False")):
        _try(service, "campaign_active", word, _is("renew_campaign_active", text))


def bounds_are_kept(service: Service) -> None:
    """`min_…` and `max_…` are lower and upper bounds on copies and on issues left.

    Interface, operation 7. The check ignores unlimited subscriptions, and those exactly at a bound:
    the interface does not say whether they match.
    """
    for suffix, field in (("copies", "copies"), ("issues_left", "issues")):
        known = {_number(one, field) for one in _rows(service)}
        numbers = sorted(number for number in known if number is not None and number >= 0)
        if not numbers:
            continue
        lowest, highest = numbers[0], numbers[-1]
        for bound in (highest, lowest + 1):
            _try(service, f"min_{suffix}", str(bound), _within(field, bound, 1))
        for bound in (lowest, max(highest - 1, 0)):
            _try(service, f"max_{suffix}", str(bound), _within(field, bound, -1))


def bounds_are_inclusive(service: Service) -> None:
    """A record exactly at a bound matches it.

    Interface, operation 7, which leaves it open.
    """
    rows = _rows(service)
    number = _number(rows[0], "copies")
    if number is None:
        raise NotTried("the first subscription has no copies")
    tried = False
    for name in ("min_copies", "max_copies"):
        found = service.rows("list_subscriptions", {name: str(number)})
        is_found = id_of(rows[0]) in {id_of(one) for one in found}
        tried = tried or is_found or not is_full(found, rows)
        if not is_found and not is_full(found, rows):
            text = "a record exactly at the bound is left out"
            service.notes(_SECTION, _REQUEST, name, text)
    if not tried:
        raise NotTried("the filters find more subscriptions than they show")


def subscriber_id_is_kept(service: Service) -> None:
    """`subscriber_id` finds the subscriptions that the change feed shows for that subscriber.

    Interface, operation 7.
    """
    changed = service.feed.get("subscriptions", [])
    owners = {id_of(one): str(one.get("subscriber_id")) for one in changed}
    if not owners:
        raise NotTried("the change feed shows no subscription")
    for owner in list(dict.fromkeys(owners.values()))[:3]:
        found = service.rows("list_subscriptions", {"subscriber_id": owner})
        ids = {id_of(one) for one in found}
        if any(owners.get(one, owner) != owner for one in ids):
            text = "the filter returns subscriptions of other subscribers"
            service.differs(_SECTION, _REQUEST, "subscriber_id", text)
        due = {one for one in owners if owners[one] == owner}
        if not is_full(found, service.subscriptions) and not due <= ids:
            text = "the filter leaves out subscriptions that the change feed shows"
            service.differs(_SECTION, _REQUEST, "subscriber_id", text)


def several_filters_are_all_kept(service: Service) -> None:
    """The service honours both of two filters.

    Interface, operation 7, which leaves it open.
    """
    for one in _rows(service)[:1]:
        copies, word = _number(one, "copies"), one.get("type")
        if copies is None or word not in TYPES:
            raise NotTried("the first subscription has no copies or no type")
        found = service.rows("list_subscriptions", {"copies": str(copies), "type": str(word)})
        if any((_number(row, "copies"), row.get("type")) != (copies, word) for row in found):
            text = "one of two filters is ignored"
            service.notes(_SECTION, _REQUEST, "copies, type", text)


def letter_case_of_values_does_not_count(service: Service) -> None:
    """`True`, `TRUE` and `1` mean true, and `PRINT` means `Print`: clients send all of them.

    Interface, operation 7, which leaves it open.
    """
    for name, usual, others in (
        ("campaign_active", "true", ("True", "TRUE", "1")),
        ("campaign_active", "false", ("False", "FALSE", "0")),
        ("type", "Print", ("PRINT", "print")),
    ):
        expected = [id_of(one) for one in service.rows("list_subscriptions", {name: usual})]
        for other in others:
            response = service.ask("list_subscriptions", {name: other})
            found = None
            if response.status == SUCCESS:
                found = [id_of(one) for one in objects(service.records(response, _OPERATION))]
            if found != expected:
                text = f"{other} is not read as {usual}"
                service.notes(_SECTION, _REQUEST, name, text)


def the_feed_shows_the_same_subscriptions(service: Service) -> None:
    """The list and the change feed show the same values of a subscription.

    Interface, "Subscription".
    """
    service.check_against_feed(_OPERATION, _rows(service), "Subscription")


def _rows(service: Service) -> list[Record]:
    if not service.subscriptions:
        raise NotTried("the list has no subscription")
    return service.subscriptions


def _number(record: Record, field: str) -> int | None:
    try:
        return int(record[field])
    except (KeyError, TypeError, ValueError):
        return None


def _values(service: Service, field: str) -> Sequence[int]:
    """Return the rarest value of a field, and the value for unlimited if a record has it.

    If there is only one value, also return a value that no record has.
    """
    numbers = (_number(one, field) for one in _rows(service))
    counts = Counter(number for number in numbers if number is not None)
    if not counts:
        return ()
    rarest = min(counts, key=lambda number: (counts[number], number))
    if len(counts) == 1:
        return rarest, rarest + 17
    return (rarest, UNLIMITED) if counts[UNLIMITED] and rarest != UNLIMITED else (rarest,)


def _is(field: str, text: str) -> Fits:
    """Return a function that tells whether a field has this value, whatever its type."""

    def fits(record: Record) -> bool | None:
        return str(record.get(field)) == text

    return fits


def _within(field: str, bound: int, direction: int) -> Fits:
    """Return a function that checks a lower bound (direction 1) or an upper bound (-1)."""

    def fits(record: Record) -> bool | None:
        number = _number(record, field)
        if number is None or number in {UNLIMITED, bound}:
            return None
        return (number - bound) * direction > 0

    return fits


def _try(service: Service, name: str, value: str, fits: Fits) -> None:
    """Request one filter, and compare the result with the list.

    A result that is not full has all matching records, including those of the unfiltered list.
    """
    rows = _rows(service)
    found = service.rows("list_subscriptions", {name: value})
    if wrong := sum(fits(one) is False for one in found):
        text = f"the filter is not applied: {wrong} of {len(found)} records do not fit it"
        service.differs(_SECTION, _REQUEST, name, text)
    if is_full(found, rows):
        return
    ids = {id_of(one) for one in found}
    if left_out := sum(fits(one) is True and id_of(one) not in ids for one in rows):
        text = f"the filter leaves out {left_out} records that fit it"
        service.differs(_SECTION, _REQUEST, name, text)


CHECKS = (
    filters_of_equality_are_kept,
    campaign_active_is_kept,
    bounds_are_kept,
    bounds_are_inclusive,
    subscriber_id_is_kept,
    several_filters_are_all_kept,
    letter_case_of_values_does_not_count,
    the_feed_shows_the_same_subscriptions,
)
