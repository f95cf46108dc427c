"""What operations 7 and 8 share: the limit, ids, order and further pages."""

import re
from urllib.parse import urlsplit

from masthead.checker.asking import Asking
from masthead.checker.findings import NotTried
from masthead.checker.repeating import MadeUp
from masthead.checker.service import Record, Service, id_of, objects, section_of
from masthead.contract.operations import LIMIT_MAX, OPERATIONS, Operation
from masthead.contract.shapes import fields_of

_LISTS = (OPERATIONS["list_subscriptions"], OPERATIONS["search_subscribers"])
_NEXT = re.compile(r'<([^<>]*)>[^,]*;\s*rel="?next"?', re.IGNORECASE)
_PAGES = 3
_FILTERS = {"list_subscriptions": "subscriber_id", "search_subscribers": "renewal_code"}
"""The filter of each list that finds a record of the change feed."""


def lists_have_the_form_of_their_tables(service: Service) -> None:
    """Both lists have their envelopes; each record matches its table and has its own id.

    Interface, operations 7 and 8; "Subscription"; "Subscriber".
    """
    for operation in _LISTS:
        assert operation.response
        records = service.records(service.ask(operation.name), operation)
        place = f"{operation.envelope}[]"
        service.check_records(operation.response, records, f"GET {operation.path}", place)


def records_of_a_list_have_ids_of_their_own(service: Service) -> None:
    """No id appears twice in a list.

    Interface, operations 7 and 8; "Subscriber".
    """
    for operation in _LISTS:
        field = f"{operation.envelope}[].{_key(operation)}"
        request = f"GET {operation.path}"
        service.check_unique(_records(service, operation), section_of(operation), request, field)


def lists_are_in_the_order_of_ids(service: Service) -> None:
    """The records of a list are in ascending order of ids; clients rely on an order.

    Interface, operations 7 and 8, which leave it open.
    """
    for operation in _LISTS:
        ids = [id_of(record) for record in _records(service, operation)]
        numbers = [int(text) for text in ids if text.isascii() and text.isdigit()]
        if numbers != sorted(numbers):
            text = "the records are not in ascending order of their ids"
            field = f"{operation.envelope}[].{_key(operation)}"
            service.notes(section_of(operation), f"GET {operation.path}", field, text)


def limit_is_kept(service: Service) -> None:
    """The service honours `limit`; its default and its maximum are 100.

    Interface, "Limits"; operations 7 and 8.
    """
    for operation in _LISTS:
        request = f"GET {operation.path}"
        listed = _records(service, operation)
        if len(listed) > LIMIT_MAX:
            text = f"{len(listed)} records without a limit, where at most {LIMIT_MAX} are expected"
            service.differs("Limits", request, "limit", text, service.whole(request))
        counts = {}
        for limit in (1, 2, 99, LIMIT_MAX):
            if limit == LIMIT_MAX or len(listed) > limit // 2:
                counts[limit] = len(service.rows(operation.name, {"limit": str(limit)}))
        most = max(len(listed), *counts.values(), _above_the_maximum(service, operation))
        for limit, count in counts.items():
            due = min(limit, most)
            if count > limit or count < due:
                text = f"limit={limit} returns {count} records, where {due} are expected"
                service.differs("Limits", request, "limit", text)
        if len(listed) < (due := min(LIMIT_MAX, most)):
            text = f"{len(listed)} records without a limit, where {due} are expected"
            service.differs("Limits", request, "limit", text, service.whole(request))


def _above_the_maximum(service: Service, operation: Operation) -> int:
    """Return how many records a limit above the maximum returns; 0 if the service refuses it."""
    response = service.ask(operation.name, {"limit": "1000"})
    if 400 <= response.status < 500:
        service.refused(response, "Limits", "limit", "limit=1000", 200)
        return 0
    count = len(objects(service.records(response, operation)))
    if count > LIMIT_MAX:
        text = f"limit=1000 returns {count} records, where at most {LIMIT_MAX} are expected"
        service.differs("Limits", f"GET {operation.path}", "limit", text)
    return count


def a_list_that_is_not_full_has_all(service: Service) -> None:
    """A list of fewer than 100 records, without parameters, has every record that a filter finds.

    Interface, "Limits"; operations 7 and 8. The change feed shows which records exist.
    """
    for operation in _LISTS:
        listed = {id_of(one) for one in _records(service, operation)}
        changed = service.feed.get(str(operation.envelope), [])
        name = _FILTERS[operation.name]
        unlisted = [one for one in changed if id_of(one) not in listed and one.get(name)]
        if len(listed) >= LIMIT_MAX or not unlisted:
            continue
        found = service.rows(operation.name, {name: str(unlisted[0][name])})
        # Request the list again, since the record may be new.
        records = service.rows(operation.name)
        lacking = {id_of(one) for one in found} - {id_of(one) for one in records}
        if id_of(unlisted[0]) in lacking and len(records) < LIMIT_MAX:
            text = f"{len(records)} records without a limit, which lack one that a filter finds"
            service.differs("Limits", f"GET {operation.path}", "limit", text)


def a_limit_that_is_none_is_an_error(service: Service) -> None:
    """A limit that is 0, negative or not a number is an error.

    Interface, operations 7 and 8, which leave it open.
    """
    for operation in _LISTS:
        for limit in ("0", "-1", "ten"):
            response = service.ask(operation.name, {"limit": limit})
            service.refused(response, section_of(operation), "limit", f"limit={limit}", 400)


def further_pages_do_not_overlap(service: Service) -> None:
    """The next page that a full list links to has other records.

    Interface, "Limits", which leave paging open.
    """
    tried = False
    for operation in _LISTS:
        seen: set[str] = set()
        query: str = MadeUp(f"limit={LIMIT_MAX}")
        for _ in range(_PAGES):
            response = service.asker.ask(operation.path, asking=Asking(query=query))
            records = objects(service.records(response, operation))
            ids = [id_of(record) for record in records]
            if repeats := sum(one in seen for one in ids):
                text = f"{repeats} of {len(ids)} records of a page were on an earlier one"
                service.notes("Limits", response.request, 'Link: rel="next"', text)
            seen.update(ids)
            link = _NEXT.search(response.headers.get("Link", ""))
            if not link:
                break
            tried = True
            query = urlsplit(link[1]).query
    if not tried:
        raise NotTried('no list links to a next page, with Link: <…>; rel="next"')


def unknown_parameters_are_errors(service: Service) -> None:
    """An unknown parameter is an error, so that typing errors are noticed.

    Interface, operations 7 and 8, which leave it open.
    """
    for operation in _LISTS:
        response = service.ask(operation.name, {"no_such_filter": MadeUp(1)})
        text = "an unknown parameter"
        service.refused(response, section_of(operation), "no_such_filter", text, 400)


def the_same_parameter_twice_is_an_error(service: Service) -> None:
    """A parameter with two values is an error.

    Interface, operations 7 and 8, which leave it open.
    """
    for operation in _LISTS:
        asking = Asking(query=MadeUp("limit=1&limit=2"))
        response = service.asker.ask(operation.path, asking=asking)
        service.refused(response, section_of(operation), "limit", "a parameter given twice", 400)


def _key(operation: Operation) -> str:
    assert operation.response
    return fields_of(operation.response)[0].name


def _records(service: Service, operation: Operation) -> list[Record]:
    is_subscriptions = operation.name == "list_subscriptions"
    return service.subscriptions if is_subscriptions else service.subscribers


CHECKS = (
    lists_have_the_form_of_their_tables,
    records_of_a_list_have_ids_of_their_own,
    lists_are_in_the_order_of_ids,
    limit_is_kept,
    a_list_that_is_not_full_has_all,
    a_limit_that_is_none_is_an_error,
    further_pages_do_not_overlap,
    unknown_parameters_are_errors,
    the_same_parameter_twice_is_an_error,
)
