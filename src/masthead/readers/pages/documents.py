"""The reader's invoices, credit notes and letters as PDF."""

from starlette.responses import Response

from masthead.books import invoice_documents, reader_documents
from masthead.books.reader_documents import SentKind
from masthead.circulation.page_settings import PageSettings
from masthead.errors import NotFound
from masthead.readers.page_request import PageRequest, get

_EFFORT_DIGITS = 4
"""How many digits the number of an effort has at most."""


def pdf(request: PageRequest) -> Response:
    """Send a document of the reader. Raises NotFound for another reader's."""
    home = request.home
    found = home.document(request.ids["id"])
    if found is None:
        raise NotFound("there is no such document")
    name = "".join(each if each.isalnum() and each.isascii() else "-" for each in found.number)
    return request.pdf(name, invoice_documents.prepared(request.books, found.invoice_id))


def reminder(request: PageRequest) -> Response:
    """Send a reminder of the reader. Raises NotFound for another reader's."""
    key = request.ids["id"]
    found = reader_documents.reminder(request.books, request.subscriber_id, key)
    return request.pdf(f"letter-{key}", found)


def letter(request: PageRequest) -> Response:
    """Send a welcome or a cancellation letter of the reader. Raises NotFound for another's."""
    return _sent(request, "welcome", "cancellation")


def renewal(request: PageRequest) -> Response:
    """Send the renewal letter of an effort, by its term. Raises NotFound for another reader's."""
    text = request.query.get("effort", "")
    is_number = text.isascii() and text.isdigit() and len(text) <= _EFFORT_DIGITS
    return _sent(request, "renewal", effort=int(text) if is_number else 0)


def announcement(request: PageRequest) -> Response:
    """Send the announcement of an automatic renewal. Raises NotFound for another reader's."""
    return _sent(request, "announcement")


def _sent(request: PageRequest, *kinds: SentKind, effort: int = 0) -> Response:
    key = request.ids["id"]
    found = reader_documents.letter(request.books, request.subscriber_id, kinds, key, effort)
    return request.pdf(f"letter-{key}", found)


def _is_offered(settings: PageSettings) -> bool:
    return settings.documents


pages = [
    get("documents/{id:int}.pdf", pdf, _is_offered),
    get("documents/reminders/{id:int}.pdf", reminder, _is_offered),
    get("documents/letters/{id:int}.pdf", letter, _is_offered),
    get("documents/renewals/{id:int}.pdf", renewal, _is_offered),
    get("documents/announcements/{id:int}.pdf", announcement, _is_offered),
]
