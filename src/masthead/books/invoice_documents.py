"""Documents of invoices, receipts and credit notes as PDF (billing, "Documents").

A document is made from what the invoice stored when it was made, by the templates, the logo and the
colour that the account has now. With these unchanged, it has the same bytes each time.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from masthead.billing.printed import PrintedInvoice, Seller, from_json
from masthead.billing.settings import BillingSettings, lacking_for_letters
from masthead.books.account import Books
from masthead.books.invoicing import seller_of
from masthead.contract.printable import counted, listed
from masthead.documents.prepared import Prepared
from masthead.documents.rendering import Appearance, Renderer, many
from masthead.errors import BadInput, NotFound
from masthead.store import audit
from masthead.store.billing.invoices import Invoice, invoice_numbered, invoices_by_id
from masthead.store.billing.printing import printed_of
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading


class Document(NamedTuple):
    """A document: its number, and its PDF."""

    number: str
    pdf: bytes


def pdf_of(books: Books, invoice_id: int) -> bytes:
    """Return the PDF of an invoice, a receipt or a credit note.

    Raises what :func:`prepared` does, and BadInput for an error of a template, with its file and
    line.
    """
    return prepared(books, invoice_id).pdf()


def prepared(books: Books, invoice_id: int) -> Prepared:
    """Return an invoice, a receipt or a credit note, of which a PDF can be made.

    Raises NotFound if there is none with this id, and BadInput if its payer was erased.
    """
    with books.read() as reading:
        found = invoices_by_id(reading, [invoice_id])
        if not found:
            raise NotFound(f"there is no invoice with the id {invoice_id}", code="unknown_invoice")
        return Prepared(_printed(reading, found[0]), appearance_of(settings_of(reading)))


def documents(books: Books, numbers: Sequence[str]) -> Iterator[Document]:
    """Yield the documents with these numbers, in their order; letter case does not count.

    The audit log records the reading. Raises NotFound and BadInput as ``pdf_of``: for a number
    before the first document is made.
    """
    with books.read() as reading:
        found = [_printed(reading, invoice_numbered(reading, number)) for number in numbers]
        appearance = appearance_of(settings_of(reading))
    audit.record_reading(
        books.store,
        books.actor,
        f"{counted(len(found), 'document')} written as PDF: "
        f"{', '.join(printed.number for printed in found)}",
        account_id=books.account_id,
    )
    with Renderer(appearance, processes=min(many(), max(len(found), 1))) as renderer:
        for printed, pdf in zip(found, renderer.pdfs(found), strict=True):
            yield Document(printed.number, pdf)


def sender_of(settings: BillingSettings) -> Seller:
    """Return the publisher as the letterhead of letters names one.

    Raises BadInput if the settings have no name or no address of the seller.
    """
    missing = lacking_for_letters(settings)
    if missing:
        raise BadInput(
            f"the letterhead needs {listed(missing)}: set {'it' if len(missing) == 1 else 'them'} "
            "first",
            code="billing_settings_missing",
        )
    return seller_of(settings)


def appearance_of(settings: BillingSettings) -> Appearance:
    """Return how the documents of an account look, by its settings."""
    return Appearance(
        settings.colour,
        settings.logo_picture,
        Path(settings.templates) if settings.templates else None,
    )


def _printed(reading: Reading, invoice: Invoice) -> PrintedInvoice:
    printed = printed_of(reading, invoice.invoice_id)
    if printed is None:
        raise BadInput(
            f"{invoice.name} has no document any more: its payer was erased, and with the payer "
            "the names that it printed"
        )
    return from_json(printed, PrintedInvoice)
