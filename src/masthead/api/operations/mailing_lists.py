"""Operation 10: the entries of a list download."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import Responding
from masthead.api.http.routing import route
from masthead.api.http.streaming import Content, Streamed
from masthead.api.operations.json_arrays import array
from masthead.contract.encoding import wire_of
from masthead.contract.shapes import MailingListEntry
from masthead.errors import NotFound
from masthead.store import interface_queries

_make_entry = wire_of(MailingListEntry)


def download_mailing_list(request: AuthenticatedRequest) -> Responding:
    """Interface, operation 10: entries of shape MailingListEntry, by ascending id.

    With ``download=true`` a browser saves the response as a file. Awaiting raises NotFound for a
    list that does not exist.
    """
    return Streamed(request.received, request.account_id, partial(_opened, request))


@contextmanager
def _opened(request: AuthenticatedRequest) -> Iterator[Content]:
    headers = {}
    if request.parameters.get("download"):
        name = f"mailing-list-{request.path_id}.json"
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    with request.service.store.reader() as connection:
        connection.set_tenant(request.account_id)
        with connection.snapshot():
            rows = interface_queries.mailing_list_entries(
                connection, request.account_id, request.path_id
            )
            if rows is None:
                raise NotFound(f"there is no mailing list {request.path_id}")
            with closing(array(_make_entry(*row) for row in rows)) as pieces:
                yield Content(headers, pieces)


routes = [route("download_mailing_list", download_mailing_list)]
