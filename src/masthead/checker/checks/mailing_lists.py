"""Operation 10: the entries of a mailing list."""

from masthead.checker.asking import Asking, Response
from masthead.checker.findings import NotTried
from masthead.checker.service import Record, Service, id_of, objects, unknown_id
from masthead.contract.operations import OPERATIONS
from masthead.contract.shapes import MailingListEntry

_OPERATION = OPERATIONS["download_mailing_list"]
_SECTION = "Operation 10"
_REQUEST = f"GET {_OPERATION.path}"
_LISTS = 3


def entries_have_the_form_of_their_table(service: Service) -> None:
    """The feed's list downloads can be downloaded: an array of entries that match their table.

    Interface, operation 10; "Mailing list entry". That the id is a `mailing_list_id` is open.
    """
    for found in _changed(service):
        response = _download(service, found)
        records = service.records(response, _OPERATION)
        service.check_records(MailingListEntry, records, _REQUEST, "[]")


def the_count_is_that_of_the_entries(service: Service) -> None:
    """A complete list download has as many entries as its `count` says.

    Interface, "List download", which does not say what is counted.
    """
    complete = [one for one in _changed(service) if one.get("status") == "Complete"]
    if not complete:
        raise NotTried("the change feed shows no list download that is complete")
    for found in complete:
        entries = service.records(_download(service, found), _OPERATION)
        if str(found.get("count")) not in {"", "None", str(len(entries))}:
            text = "it is not the number of the entries of operation 10"
            service.notes("List download", "GET /2/cdc", "list_downloads[].count", text)


def a_subscription_is_once_on_a_list(service: Service) -> None:
    """A subscription has only one entry on a mailing list.

    Interface, "Mailing list entry", which leaves it open.
    """
    for found in _changed(service):
        entries = objects(service.records(_download(service, found), _OPERATION))
        field = "[].subscription_id"
        service.check_unique(entries, "Mailing list entry", _REQUEST, field, "note")


def the_download_flag_is_read(service: Service) -> None:
    """`download` is accepted, also in the form of the sample, and changes no entry.

    Interface, operation 10, which does not say what it changes.
    """
    found = _changed(service)[0]
    usual = objects(service.records(_download(service, found), _OPERATION))
    ids = {"mailing_list_id": id_of(found)}
    sample = Asking(content=b'[{"download": "true"}]')
    for what, response in (
        ("download=true", service.asker.ask(_OPERATION.path, {"download": "true"}, ids)),
        ("the body of the sample", service.asker.ask(_OPERATION.path, ids=ids, asking=sample)),
    ):
        if response.status != 200:
            text = f"{what} is answered with {response.status}"
            service.notes(_SECTION, _REQUEST, "download", text)
        elif objects(service.records(response, _OPERATION)) != usual:
            service.notes(_SECTION, _REQUEST, "download", f"{what} changes the entries")


def an_unknown_list_is_an_error(service: Service) -> None:
    """A list that does not exist is an error.

    Interface, operation 10, which leaves it open; "Errors".
    """
    known = {id_of(one) for one in service.feed.get("list_downloads", [])}
    response = service.ask("download_mailing_list", mailing_list_id=unknown_id(known))
    if response.status == 200:
        service.records(response, _OPERATION)
    service.refused(response, "Errors", "mailing_list_id", "an unknown mailing list", 404)


def _changed(service: Service) -> list[Record]:
    lists = service.feed.get("list_downloads", [])
    if not lists:
        raise NotTried("the change feed shows no list download")
    return lists[:_LISTS]


def _download(service: Service, found: Record) -> Response:
    return service.ask("download_mailing_list", mailing_list_id=id_of(found))


CHECKS = (
    entries_have_the_form_of_their_table,
    the_count_is_that_of_the_entries,
    a_subscription_is_once_on_a_list,
    the_download_flag_is_read,
    an_unknown_list_is_an_error,
)
