"""Requirements on all operations: paths, methods, and where parameters are sent."""

from masthead.checker.asking import Asking
from masthead.checker.findings import NotTried
from masthead.checker.service import (
    SUCCESS,
    Record,
    Service,
    feed_parameters,
    id_of,
    objects,
)
from masthead.contract.operations import DELETIONS, OPERATIONS, SNAPSHOT, Operation

_ACCOUNTS = OPERATIONS["list_accounts"]
_LISTS = (OPERATIONS["list_subscriptions"], OPERATIONS["search_subscribers"])
_CHANGES = OPERATIONS["changes"]


def other_paths_are_errors(service: Service) -> None:
    """An unknown path and a path of another version return 404 in JSON.

    Interface, "Versioning"; "Errors", which leave it open.
    """
    for path, section in (("/2/nothing-is-here/", "Errors"), ("/1/accounts/", "Versioning")):
        response = service.asker.ask(path)
        service.refused(response, section, "", "a path of no operation", 404)


def paths_answer_with_and_without_a_slash(service: Service) -> None:
    """A path returns the same response with and without a final slash, without a redirect.

    Interface, "Endpoints", which shows one form of each; clients differ, and lose their credentials
    on a redirect.
    """
    for operation in OPERATIONS.values():
        path = operation.path.rstrip("/") if operation.path.endswith("/") else f"{operation.path}/"
        parameters, ids = _example(service, operation)
        if ids is None:
            continue
        response = service.asker.ask(path, parameters, ids)
        if response.status != SUCCESS:
            redirect = ", a redirect" if 300 <= response.status < 400 else ""
            text = f"{response.status}{redirect}; with the slash as documented it is answered"
            service.notes("Endpoints", response.request, "", text)


def head_is_answered(service: Service) -> None:
    """HEAD returns the status of GET, without a body.

    Interface, "Endpoints", which has only GET; RFC 9110 requires HEAD too.
    """
    for operation in (_ACCOUNTS, *_LISTS, _CHANGES):
        parameters, ids = _example(service, operation)
        response = service.asker.ask(operation.path, parameters, ids, Asking(method="HEAD"))
        if response.status != SUCCESS or response.content:
            what = "has a body" if response.content else f"is answered with {response.status}"
            service.notes("Endpoints", response.request, "", f"HEAD {what}")


def other_methods_are_errors(service: Service) -> None:
    """An unsupported method returns 405 with Allow; tried with PROPFIND, which only reads.

    Interface, "Endpoints", which has only GET.
    """
    response = service.asker.ask(_ACCOUNTS.path, asking=Asking(method="PROPFIND"))
    service.refused(response, "Endpoints", "", "another method", 405)
    if response.status == 405 and "Allow" not in response.headers:
        text = "a 405 has no Allow (RFC 9110)"
        service.notes("Endpoints", response.request, "Allow", text)


def parameters_are_read_from_the_query(service: Service) -> None:
    """Parameters are accepted in the query string, which nearly all clients use.

    Interface, "Endpoints", which leaves open where they travel.
    """
    if service.reads_bodies_only:
        text = "parameters are read from a JSON body, and not from the query"
        service.notes("Endpoints", f"GET {_LISTS[0].path}", "limit", text)


def parameters_are_read_from_a_body(service: Service) -> None:
    """Parameters are accepted in a body too: a JSON object, an array that holds one, or a form.

    Interface, "Endpoints", whose samples are JSON objects.
    """
    operation = _list_of_several(service)
    for what, asking in (
        ("a JSON object", Asking(content=b'{"limit": "1"}')),
        ("an array of one JSON object", Asking(content=b'[{"limit": "1"}]')),
        ("a number in a JSON object", Asking(content=b'{"limit": 1}')),
        ("a form", Asking(content=b"limit=1", content_type="application/x-www-form-urlencoded")),
    ):
        response = service.asker.ask(operation.path, asking=asking)
        if response.status != SUCCESS:
            text = f"{what} as the body of a GET is answered with {response.status}"
            service.notes("Endpoints", response.request, "limit", text)
        elif len(service.records(response, operation)) != 1:
            text = f"{what} as the body of a GET is not read"
            service.notes("Endpoints", response.request, "limit", text)


def personal_data_are_not_stored_on_the_way(service: Service) -> None:
    """Responses with personal data have Cache-Control: no-store.

    Interface, which leaves it open.
    """
    response = service.ask(_LISTS[1].name, {"limit": "1"})
    if "no-store" not in response.headers.get("Cache-Control", "").lower():
        text = "responses with personal data may be stored by caches on their way"
        service.notes("Conventions", response.request, "Cache-Control", text)


def extensions_of_the_feed_are_there(service: Service) -> None:
    """The extensions for a complete copy exist: the next time, a snapshot, deletions.

    Interface, operation 4, which has none of them; they are optional.
    """
    parameters, _ = _example(service, _CHANGES)
    if "Masthead-Changes-Through" not in service.ask("changes", parameters).headers:
        text = "it is not there: a client has to ask for overlapping times"
        service.notes("Operation 4", f"GET {_CHANGES.path}", "Masthead-Changes-Through", text)
    for operation, needed in (
        (SNAPSHOT, {"entities": "listdownloads"}),
        (DELETIONS, parameters),
    ):
        response = service.asker.ask(operation.path, needed, asking=Asking(method="HEAD"))
        if response.status != SUCCESS:
            text = "this optional extension is not there: a copy may be incomplete"
            service.notes("Operation 4", f"GET {operation.path}", "", text)


def _example(
    service: Service, operation: Operation
) -> tuple[dict[str, str], dict[str, str] | None]:
    """Return parameters and ids with which an operation returns 200; None without an id."""
    if operation is _CHANGES:
        return feed_parameters(service.asker.now(), ["listdownloads"]), {}
    if operation.name == "authenticate_subscriber":
        return {"login": "", "password": ""}, {}
    name = operation.path.partition("{")[2].partition("}")[0]
    if not name:
        return {}, {}
    sources: dict[str, list[Record]] = {
        "account_id": service.accounts,
        "subscriber_id": service.subscribers,
        "order_id": service.feed.get("orders", []),
        "mailing_list_id": service.feed.get("list_downloads", []),
    }
    records = objects(sources[name])
    return {}, ({name: id_of(records[0])} if records else None)


def _list_of_several(service: Service) -> Operation:
    if len(service.subscriptions) > 1:
        return _LISTS[0]
    if len(service.subscribers) > 1:
        return _LISTS[1]
    raise NotTried("neither list has two records, of which a limit would show one")


CHECKS = (
    other_paths_are_errors,
    paths_answer_with_and_without_a_slash,
    head_is_answered,
    other_methods_are_errors,
    parameters_are_read_from_the_query,
    parameters_are_read_from_a_body,
    personal_data_are_not_stored_on_the_way,
    extensions_of_the_feed_are_there,
)
