"""The reader's invoices, credit notes and letters as PDF."""

from starlette.responses import Response

from masthead.books import invoice_documents, reader_documents
from masthead.circulation.page_settings import PageSettings
from masthead.errors import NotFound
from masthead.readers.page_request import PageRequest, get


def pdf(request: PageRequest) -> Response:
    """Send a document of the reader. Raises NotFound for another reader's."""
    home = request.home
    found = home.document(request.ids["id"])
    if found is None:
        raise NotFound("there is no such document")
    name = "".join(each if each.isalnum() and each.isascii() else "-" for each in found.number)
    return request.pdf(name, invoice_documents.prepared(request.books, found.invoice_id))


def letter(request: PageRequest) -> Response:
    """Send a letter of the reader. Raises NotFound for another reader's."""
    key = request.ids["id"]
    found = reader_documents.reminder(request.books, request.subscriber_id, key)
    return request.pdf(f"letter-{key}", found)


def _is_offered(settings: PageSettings) -> bool:
    return settings.documents


pages = [
    get("documents/{id:int}.pdf", pdf, _is_offered),
    get("documents/reminders/{id:int}.pdf", letter, _is_offered),
]
