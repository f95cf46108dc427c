"""Documents of invoices from the books (billing, "Documents")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import facturx
import pytest

from masthead.books import billing_settings, erasure, invoice_documents, invoices
from masthead.circulation.ordering import Item
from masthead.documents.template_files import export_templates
from masthead.errors import BadInput, NotFound
from masthead.store import audit
from tests.billing.bureau import number_of, order
from tests.documents.shown import lines_of
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

NUMBER = "2026-000001"


def test_an_invoice_is_printed_from_what_it_stored(bureau: Desk) -> None:
    order(bureau, 1, Item(bundle_id=1), Item(product_id=1, copies=2))
    pdf = invoice_documents.pdf_of(bureau.books, 1)
    shown = lines_of(pdf)
    assert f"Invoice {NUMBER}" in shown
    assert {"Tide Press", "Ada Ames", "1 Oak", "Date 15 April 2026"} <= set(shown)
    assert any(line.startswith("Total $") for line in shown)
    assert facturx.get_xml_from_pdf(pdf)[0] == "factur-x.xml"
    billing_settings.set_values(bureau.books, {"seller_name": "Ebb Press"})
    assert invoice_documents.pdf_of(bureau.books, 1) == pdf


def test_documents_come_in_the_order_of_their_numbers(bureau: Desk) -> None:
    one, two = order(bureau, 1), order(bureau, 2, is_paid=True)
    numbers = [number_of(bureau, two), number_of(bureau, one)]
    invoices.cancel(bureau.books, numbers[1], reason="ordered twice")
    made = list(invoice_documents.documents(bureau.books, [*numbers, "c2026-000001"]))
    assert [each.number for each in made] == [*numbers, "C2026-000001"]
    receipt, invoice, note = (lines_of(each.pdf) for each in made)
    assert f"Receipt {numbers[0]}" in receipt
    assert f"Invoice {numbers[1]}" in invoice
    assert "Credit note C2026-000001" in note
    assert f"for invoice {numbers[1]} of 15 April 2026" in note
    assert "ordered twice" in note


def test_writing_documents_is_recorded(bureau: Desk) -> None:
    """rules, "Who did what": the record of a read is written before anything is output."""
    numbers = [number_of(bureau, order(bureau, payer)) for payer in (1, 2)]
    before = _recorded(bureau)
    assert len(list(invoice_documents.documents(bureau.books, numbers))) == 2
    (added,) = [each for each in _recorded(bureau) if each not in before]
    assert added == f"2 documents written as PDF: {numbers[0]}, {numbers[1]}"


def _recorded(desk: Desk) -> list[str]:
    return [each.summary for each in audit.entries(desk.connection, account_id=desk.account_id)]


def test_an_unknown_number_stops_before_any_document(bureau: Desk) -> None:
    number = number_of(bureau, order(bureau))
    with pytest.raises(NotFound, match="there is no invoice or credit note 2026-7"):
        next(invoice_documents.documents(bureau.books, [number, "2026-7"]))
    with pytest.raises(NotFound, match="there is no invoice with the id 7"):
        invoice_documents.pdf_of(bureau.books, 7)


def test_an_erased_payer_has_no_document_any_more(bureau: Desk) -> None:
    number = number_of(bureau, order(bureau))
    erasure.erase(bureau.books, 1, "refund")
    with pytest.raises(BadInput, match=f"invoice {number} has no document any more: its payer was"):
        invoice_documents.pdf_of(bureau.books, 1)


def test_the_account_uses_its_own_templates_and_colour(bureau: Desk, tmp_path: Path) -> None:
    order(bureau)
    before = invoice_documents.pdf_of(bureau.books, 1)
    billing_settings.set_values(bureau.books, {"colour": "#8a1c3b"})
    assert invoice_documents.pdf_of(bureau.books, 1) != before
    export_templates(tmp_path)
    texts = (tmp_path / "texts.typ").read_text(encoding="utf-8")
    (tmp_path / "texts.typ").write_text(texts.replace('"Invoice"', '"Bill"'), encoding="utf-8")
    billing_settings.set_values(bureau.books, {"templates": str(tmp_path)})
    assert f"Bill {NUMBER}" in lines_of(invoice_documents.pdf_of(bureau.books, 1))


def test_templates_are_exported_changed_and_checked_by_commands(tmp_path: Path) -> None:
    folder = tmp_path / "templates"

    def said(*arguments: object, exit_status: int = 0) -> str:
        done = masthead("documents", *arguments, database="", exit_status=exit_status)
        return done.stderr if exit_status else done.stdout

    assert said("export", folder).startswith(f"{folder} has announcement.typ, base.typ, ")
    assert "has a file announcement.typ already: nothing was written" in said(
        "export", folder, exit_status=1
    )
    checked = said("check", folder, f"--into={tmp_path}/samples")
    made = {path.name for path in (tmp_path / "samples").iterdir()}
    for name in ("invoice", "credit_note", "reminder", "renewal-letter", "labels"):
        assert {f"{name}-en.pdf", f"{name}-de.pdf"} <= made
    assert checked == f"{len(made)} documents made by {folder}: no error\n"
    with (folder / "base.typ").open("a", encoding="utf-8") as file:
        file.write("#let\n")
    refused = said("check", folder, exit_status=1)
    assert f"{folder}/base.typ, line " in refused
    assert refused.endswith("in the sample invoice-en\n")
    own = f"{len(made)} documents made by the templates of Masthead: no error\n"
    assert said("check") == own
