"""No page that is only shown writes, or waits for who writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import reader_cancelling, reader_pauses
from masthead.readers.pages import PAGES
from tests.readers_books.household import ADA, BEN, CORA, reader, show_bundle

if TYPE_CHECKING:
    from tests.readers_pages.house import House

_LEFT_OUT = {"sign-in/link/{token}", "password", "read", "logo"}
"""Pages that need a link by mail, a site of the publisher, and a logo."""


def test_each_page_is_shown_while_another_writes(house: House) -> None:
    """decisions, "Previews of readers"."""
    desk, keys = house.desk, house.subscriptions
    show_bundle(desk)
    reader_pauses.pause(reader(desk, BEN), BEN, keys.ben, "2026-06-01", "2026-06-20")
    reader_cancelling.cancel(reader(desk, ADA), ADA, keys.ada)
    orders = dict(
        desk.rows("SELECT subscriber_id, order_id FROM orders WHERE account_id = :account_id")
    )
    ((invoice,),) = desk.rows(
        f"SELECT invoice_id FROM invoices WHERE account_id = :account_id AND subscriber_id = {BEN}"
    )
    paths = {page.path for page in PAGES if page.method == "GET"} - _LEFT_OUT
    browsers = {key: house.signed_in(key) for key in (ADA, BEN, CORA)}
    stranger = house.pages.browser()
    with desk.store.writer() as other, other.transaction():
        other.lock_account(desk.account_id)
        for path in sorted(paths):
            who = BEN
            named = {"subscriptions": keys.ben, "order": orders[BEN], "documents": invoice}
            if path.endswith("/uncancel"):
                who, named["subscriptions"] = ADA, keys.ada
            if path.endswith("card.pdf"):
                who, named["order"] = CORA, orders[CORA]
            shown = path.replace("{id:int}", str(named.get(path.partition("/")[0], "")))
            browser = stranger if path.startswith("sign-in") else browsers[who]
            assert (shown, browser.get(shown).status_code) == (shown, 200)
