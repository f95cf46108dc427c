"""Documents as PDF, which take long to make and hold no connection meanwhile."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from masthead.books import letter_documents, renewal_letters, renewals
from masthead.documents.rendering import Renderer
from tests.readers_books.household import ADA, BEN, CORA
from tests.readers_pages.house import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from masthead.store import Connection
    from tests.readers_pages.house import House


def test_a_pdf_that_is_made_slowly_holds_no_connection(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "A PDF without a connection": of the invoice, the reminder and the card alike."""
    desk, app = house.desk, house.pages.app
    ((invoice,),) = desk.rows(
        "SELECT invoice_id FROM invoices WHERE account_id = :account_id AND subscriber_id = 1"
    )
    ((order,),) = desk.rows(
        "SELECT order_id FROM orders WHERE account_id = :account_id AND subscriber_id = 3"
    )
    is_made, may_end = threading.Event(), threading.Event()
    lent: list[Connection] = []
    open_connection, render = app.state.store.reader, Renderer.pdf

    @contextmanager
    def reader() -> Iterator[Connection]:
        with open_connection() as connection:
            lent.append(connection)
            yield connection
            lent.remove(connection)

    def slowly(self: Renderer, printed: Any) -> bytes:
        is_made.set()
        assert may_end.wait(60)
        return render(self, printed)

    browsers = house.signed_in(ADA), house.signed_in(CORA)
    monkeypatch.setattr(app.state.store, "reader", reader)
    monkeypatch.setattr(Renderer, "pdf", slowly)
    paths = f"documents/{invoice}.pdf", f"order/{order}/card.pdf"
    with ThreadPoolExecutor(1) as threads:
        for browser, path in zip(browsers, paths, strict=True):
            is_made.clear()
            may_end.clear()
            asked = threads.submit(browser.get, path)
            assert is_made.wait(60)
            held = [*lent]
            may_end.set()
            assert asked.result().content[:5] == b"%PDF-"
            assert held == []


def test_the_first_page_has_the_letters_that_were_sent(house: House) -> None:
    """Readers' pages, "Home"; decisions, "Letters that readers open"."""
    letter_documents.send(house.desk.books, "welcome")
    renewals.set_effort(house.desk.books, renewals.Effort(1, 2, 12, bundle_id=1))
    renewal_letters.send(house.desk.books)
    browser = house.signed_in(BEN)
    assert "Welcome to Tide (PDF) 15 April 2026" in text_of(browser.get())
    assert "Willkommen bei Tide (PDF)" in text_of(house.signed_in(BEN, "de").get())
    (path,) = re.findall(r"documents/letters/\d+\.pdf", browser.get().text)
    letter = browser.get(path)
    assert (letter.headers["content-type"], letter.content[:5]) == ("application/pdf", b"%PDF-")
    assert house.signed_in(ADA).get(path).status_code == 404
    (renewal,) = re.findall(r"documents/renewals/\d+\.pdf\?effort=2", browser.get().text)
    assert browser.get(renewal).content[:5] == b"%PDF-"
    for wrong in ("", "?effort=1", "?effort=x", "?effort=" + "9" * 40):
        assert browser.get(renewal.replace("?effort=2", wrong)).status_code == 404
    number = re.sub(r"\D", "", path)
    for other in (f"renewals/{number}.pdf?effort=1", f"announcements/{number}.pdf"):
        assert browser.get(f"documents/{other}").status_code == 404
    house.set(documents="no")
    assert browser.get(path).status_code == 404
    assert browser.get(renewal).status_code == 404
    assert "Welcome" not in text_of(browser.get())
