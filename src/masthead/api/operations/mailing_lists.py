"""Operation 10: the entries of a list download."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

from masthead.api.http.streaming import Content, Spooled, spooled
from masthead.api.operation import Call, route
from masthead.api.operations.json_arrays import array
from masthead.contract.encoding import wire_of
from masthead.contract.shapes import MailingListEntry
from masthead.errors import NotFound
from masthead.store import reading

__all__ = ["routes"]

_make_entry = wire_of(MailingListEntry)


def download_mailing_list(call: Call) -> Spooled:
    """Answer interface, operation 10: entries of shape MailingListEntry, by ascending id.

    With ``download=true`` a browser saves the answer as a file. Raises NotFound for a list that
    does not exist.
    """
    return spooled(call, partial(_opened, call))


@contextmanager
def _opened(call: Call) -> Iterator[Content]:
    headers = {}
    if call.values.get("download"):
        name = f"mailing-list-{call.path_id}.json"
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    with call.service.store.reader() as connection:
        connection.set_tenant(call.account_id)
        with connection.snapshot():
            rows = reading.mailing_list_entries(connection, call.account_id, call.path_id or 0)
            if rows is None:
                raise NotFound(f"there is no mailing list {call.path_id}")
            with closing(array(_make_entry(*row) for row in rows)) as pieces:
                yield Content(headers, pieces)


routes = [route("download_mailing_list", download_mailing_list)]
