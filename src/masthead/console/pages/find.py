"""Find: one search box for anything that a caller on the telephone knows."""

from starlette.responses import Response

from masthead.books import finding, open_items
from masthead.books.open_items import Invoice
from masthead.console.page_request import PageRequest, get

_SHOWN = 30
_SUGGESTED = 8


def find(request: PageRequest) -> Response:
    """Show the matching readers and orders (``finding.look``), or open the only one.

    The number of an invoice opens the invoice.
    """
    text = request.query.get("q", "")
    if (invoice := _invoice(request, text)) is not None:
        return request.go(f"/invoices/{invoice.invoice_id}")
    hits = finding.look(request.books, text, limit=_SHOWN)
    if hits.is_one:
        (path,) = (
            *(f"/subscribers/{hit.person.subscriber_id}" for hit in hits.people),
            *(f"/orders/{order.order_id}" for order in hits.orders),
        )
        return request.go(path)
    return request.page("find", text=text, hits=hits)


def _invoice(request: PageRequest, text: str) -> Invoice | None:
    return open_items.find(request.books, text) if text and request.bills else None


def suggestions(request: PageRequest) -> Response:
    """Show the first matches while somebody types into the search box."""
    return _suggested(request, request.query.get("q", ""), "")


def people(request: PageRequest) -> Response:
    """Show the first matching readers while somebody types into a person picker."""
    field = request.query.get("field", "")
    return _suggested(request, request.query.get(field, ""), field)


def _suggested(request: PageRequest, text: str, field: str) -> Response:
    hits = finding.look(request.books, text, limit=_SUGGESTED)
    return request.page(
        "suggestions",
        text=text,
        hits=hits,
        field=field,
        list=f"{field or 'top'}-list",
        invoice=None if field else _invoice(request, text),
    )


pages = [
    get("/find", find),
    get("/find/suggestions", suggestions),
    get("/find/people", people),
]
