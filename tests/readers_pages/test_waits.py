"""No page that is only shown writes, or waits for who writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import billing_settings, reader_cancelling, reader_pauses
from masthead.readers.pages import PAGES
from tests.readers_books.household import ADA, BEN, CORA, reader, show_bundle
from tests.readers_pages import free_title

if TYPE_CHECKING:
    from tests.readers_pages.house import House

_LEFT_OUT = {
    "sign-in/link/{token}",
    "read",
    "logo",
    "order/sent/{once}",
    "documents/reminders/{id:int}.pdf",
    "documents/letters/{id:int}.pdf",
    "documents/renewals/{id:int}.pdf",
    "documents/announcements/{id:int}.pdf",
}
"""Pages that need a link by mail, a site of the publisher, a logo, a form, and letters."""


def ids(house: House) -> dict[tuple[int, str], int]:
    """Return the id in the path of a page by its reader and the first part of the path."""
    desk, keys = house.desk, house.subscriptions
    orders = desk.rows("SELECT subscriber_id, order_id FROM orders WHERE account_id = :account_id")
    invoices = desk.rows(
        "SELECT subscriber_id, invoice_id FROM invoices WHERE account_id = :account_id"
    )
    return {
        (ADA, "subscriptions"): keys.ada,
        (BEN, "subscriptions"): keys.ben,
        **{(who, "order"): key for who, key in orders},
        **{(who, "documents"): key for who, key in invoices},
    }


def reader_of(path: str) -> int:
    """Return who sees a page: Ada has cancelled, Ben pauses, and Cora has given."""
    return {"uncancel": ADA, "card.pdf": CORA}.get(path.rpartition("/")[2], BEN)


def test_each_page_is_shown_while_another_writes(house: House) -> None:
    """decisions, "Previews of readers"."""
    desk, keys = house.desk, house.subscriptions
    billing_settings.set_values(desk.books, {"mail_from": "press@example.org"})
    show_bundle(desk)
    reader_pauses.pause(reader(desk, BEN), BEN, keys.ben, "2026-06-01", "2026-06-20")
    reader_cancelling.cancel(reader(desk, ADA), ADA, keys.ada)
    free_title.fill(desk)
    free_title.qualify(desk, BEN)
    found = ids(house)
    browsers = {key: house.signed_in(key) for key in (ADA, BEN, CORA)}
    stranger = house.pages.browser()
    paths = {page.path for page in PAGES if page.method == "GET"} - _LEFT_OUT
    statuses = {}
    with desk.store.writer() as other, other.transaction():
        other.lock_account(desk.account_id)
        for path in paths:
            who = reader_of(path)
            browser = stranger if path.startswith("sign-in") else browsers[who]
            key = found.get((who, path.partition("/")[0]))
            statuses[path] = browser.get(path.replace("{id:int}", str(key))).status_code
    assert statuses == dict.fromkeys(paths, 200)
