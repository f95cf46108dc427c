"""Operation 7: the filters of the list of subscriptions."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from masthead.checker.findings import NotTried
from masthead.checker.repeating import MadeUp
from masthead.checker.service import SUCCESS, Record, Service, id_of, is_full, objects
from masthead.contract.operations import LIMIT_MAX, OPERATIONS
from masthead.contract.subscription_types import TYPES, UNLIMITED

_SECTION = "Operation 7"
_OPERATION = OPERATIONS["list_subscriptions"]
_REQUEST = f"GET {_OPERATION.path}"
_COUNTS = {"copies": "copies", "issues_left": "issues"}
"""The field of each count that has bounds, by the names of its filters."""

_EQUAL = {
    "type": "type",
    "publication_id": "publication_id",
    "copies": "copies",
    "issues_left": "issues",
    "campaign_active": "renew_campaign_active",
}
"""The fields of the filters of equality, by the names of these."""

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
    for suffix, field in _COUNTS.items():
        numbers = _numbers(service, field)
        if not numbers:
            continue
        lowest, highest = numbers[0], numbers[-1]
        for bound in (highest, lowest + 1):
            _try(service, f"min_{suffix}", str(bound), _within(field, bound, 1))
        for bound in (lowest, max(highest - 1, 0)):
            _try(service, f"max_{suffix}", str(bound), _within(field, bound, -1))


def zero_is_a_value(service: Service) -> None:
    """A filter with the value 0 is applied, and an upper bound of 1 keeps the records with 0.

    Interface, operation 7.
    """
    _try(service, "issues_left", "0", _is("issues", "0"))
    _try(service, "max_issues_left", "0", _within("issues", 0, -1))
    _try(service, "max_issues_left", "1", _within("issues", 1, -1))
    for name, fits in (
        ("copies", _is("copies", "0")),
        ("max_copies", _within("copies", 0, -1)),
        ("publication_id", _is("publication_id", "0")),
    ):
        _try(service, name, "0", fits, may_be_refused=True)
    _try(service, "subscriber_id", MadeUp(0), _is_of(service, "0"), may_be_refused=True)
    # Of one subscriber, a result is never full.
    for one in service.feed.get("subscriptions", []):
        if str(one.get("issues")) == "0" and one.get("subscriber_id"):
            filters = {"max_issues_left": "1", "subscriber_id": str(one["subscriber_id"])}
            found = service.rows("list_subscriptions", filters)
            if id_of(one) not in set(map(id_of, found)) and len(found) < LIMIT_MAX:
                text = "the upper bound leaves out a subscription that has no issues left"
                service.differs(_SECTION, _REQUEST, "max_issues_left", text)
            break


def bounds_are_inclusive(service: Service) -> None:
    """A record exactly at a bound matches it.

    Interface, operation 7, which leaves it open.
    """
    rows = _rows(service)
    tried = False
    for suffix, field in _COUNTS.items():
        numbers = _numbers(service, field)
        for name, number in zip(("max", "min"), (numbers[:1], numbers[-1:]), strict=True):
            if not number:
                continue
            found = service.rows("list_subscriptions", {f"{name}_{suffix}": str(*number)})
            is_found = any(_number(one, field) == number[0] for one in found)
            tried = tried or is_found or not is_full(found, rows)
            if not is_found and not is_full(found, rows):
                text = "a record exactly at the bound is left out"
                service.notes(_SECTION, _REQUEST, f"{name}_{suffix}", text)
    if not tried:
        raise NotTried("the filters find more subscriptions than they show")


def two_bounds_are_both_kept(service: Service) -> None:
    """The service honours a lower and an upper bound on the same count.

    Interface, operation 7, which leaves it open.
    """
    rows = _rows(service)
    tried = False
    for suffix, field in _COUNTS.items():
        numbers = _numbers(service, field)
        for low, middle, high in zip(numbers[:1], numbers[1:2], numbers[2:][-1:], strict=False):
            tried = True
            names = f"min_{suffix}, max_{suffix}"
            found = _between(service, suffix, middle, middle)
            outside = (number for one in found if (number := _number(one, field)) is not None)
            if any(number not in {middle, UNLIMITED} for number in outside):
                service.notes(_SECTION, _REQUEST, names, "one of two bounds is ignored")
            found = _between(service, suffix, low, high)
            ids = {id_of(one) for one in found}
            inside = (one for one in rows if low < (_number(one, field) or low) < high)
            if not is_full(found, rows) and any(id_of(one) not in ids for one in inside):
                text = "two bounds leave out records that are within both"
                service.notes(_SECTION, _REQUEST, names, text)
    if not tried:
        raise NotTried("the subscriptions have fewer than three numbers of copies and issues left")


def subscriber_id_is_kept(service: Service) -> None:
    """`subscriber_id` finds the subscriptions that the change feed shows for that subscriber.

    Interface, operation 7.
    """
    owners = _owners(service)
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


def ids_are_compared_whole(service: Service) -> None:
    """`publication_id` and `subscriber_id` find an id, and not those that begin with it.

    Interface, operation 7.
    """
    owners = _owners(service)
    publications = [str(one.get("publication_id")) for one in _rows(service)]
    tried = False
    for name, known, fits in (
        ("publication_id", publications, partial(_is, "publication_id")),
        ("subscriber_id", list(owners.values()), partial(_is_of, service)),
    ):
        if beginning := _beginning(known):
            tried = True
            _try(service, name, beginning, fits(beginning), may_be_refused=True)
    if not tried:
        raise NotTried("no id begins like another one, or is long enough to be cut")


def a_limit_beside_a_filter_is_kept(service: Service) -> None:
    """With a filter, `limit` counts the records that fit the filter.

    Interface, operation 7; "Limits".
    """
    first, *others = _rows(service)
    tried = False
    for name, field in _EQUAL.items():
        # A service that limits before it filters would look at the first record alone.
        texts = [str(one.get(field)) for one in others if one.get(field) not in (None, "")]
        counts = Counter(text for text in texts if text != str(first.get(field)))
        for common, _ in counts.most_common(1):
            tried = True
            value = common.lower() if field == "renew_campaign_active" else common
            found = service.rows("list_subscriptions", {name: value, "limit": "1"})
            if len(found) != 1:
                text = f"limit=1 beside a filter returns {len(found)} records, where 1 is expected"
                service.differs("Limits", _REQUEST, f"{name}, limit", text)
    # The same for the default: a subscription behind the first 100.
    listed = {id_of(one) for one in service.subscriptions}
    owners = _owners(service) if len(listed) >= LIMIT_MAX else {}
    for one in [one for one in owners if one not in listed][-1:]:
        tried = True
        found = service.rows("list_subscriptions", {"subscriber_id": owners[one]})
        if one not in set(map(id_of, found)) and len(found) < LIMIT_MAX:
            text = f"the filter leaves out a subscription that is not among the first {LIMIT_MAX}"
            service.differs("Limits", _REQUEST, "subscriber_id, limit", text)
    if not tried:
        raise NotTried("all subscriptions have the same values")


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


def _owners(service: Service) -> dict[str, str]:
    """Return the subscriber of each subscription that the change feed shows."""
    changed = service.feed.get("subscriptions", [])
    return {id_of(one): str(one.get("subscriber_id")) for one in changed}


def _beginning(ids: Sequence[str]) -> str | None:
    """Return an id with which another one begins, or else the beginning of an id."""
    known = {text for text in ids if text.isascii() and text.isdigit() and text[0] != "0"}
    cut = sorted(text[:length] for text in known for length in range(1, len(text)))
    return next((text for text in cut if text in known), next(iter(cut), None))


def _between(service: Service, suffix: str, low: int, high: int) -> list[Record]:
    bounds = {f"min_{suffix}": str(low), f"max_{suffix}": str(high)}
    return service.rows("list_subscriptions", bounds)


def _numbers(service: Service, field: str) -> list[int]:
    """Return the different numbers of a field in ascending order, without that for unlimited."""
    known = {_number(one, field) for one in _rows(service)}
    return sorted(number for number in known if number is not None and number >= 0)


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


def _is_of(service: Service, owner: str) -> Fits:
    """Return a function that tells whether the change feed shows that subscriber for a record."""
    owners = _owners(service)
    return lambda record: owners[id_of(record)] == owner if id_of(record) in owners else None


def _within(field: str, bound: int, direction: int) -> Fits:
    """Return a function that checks a lower bound (direction 1) or an upper bound (-1)."""

    def fits(record: Record) -> bool | None:
        number = _number(record, field)
        if number is None or number in {UNLIMITED, bound}:
            return None
        return (number - bound) * direction > 0

    return fits


def _try(
    service: Service, name: str, value: str, fits: Fits, *, may_be_refused: bool = False
) -> None:
    """Request one filter, and compare the result with the list.

    A result that is not full has all matching records, including those of the unfiltered list.
    With ``may_be_refused``, perhaps no record can have the value.
    """
    rows = _rows(service)
    response = service.ask("list_subscriptions", {name: value})
    if may_be_refused and response.status in {400, 404, 422}:
        return
    found = objects(service.records(response, _OPERATION))
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
    zero_is_a_value,
    bounds_are_inclusive,
    two_bounds_are_both_kept,
    subscriber_id_is_kept,
    ids_are_compared_whole,
    a_limit_beside_a_filter_is_kept,
    several_filters_are_all_kept,
    letter_case_of_values_does_not_count,
    the_feed_shows_the_same_subscriptions,
)
