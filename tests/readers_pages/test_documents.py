"""Documents as PDF, which take long to make and hold no connection meanwhile."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from masthead.documents.rendering import Renderer
from tests.readers_books.household import ADA, CORA

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
