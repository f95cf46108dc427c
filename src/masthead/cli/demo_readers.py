"""The readers' pages of the demo: all that they have is switched on, and some readers used them.

So the console shows what readers ask, and what they changed.
"""

from collections.abc import Callable
from datetime import date, timedelta

from masthead.books import (
    Books,
    complaints,
    page_settings,
    reader_addresses,
    reader_bundles,
    reader_copies,
    reader_pauses,
    reader_requests,
)
from masthead.store.audit import Actor

DEMO_SITE = "harbour-lane"
"""The site of the demo's readers' pages."""

Act = Callable[[Books, int, int], None]
"""What a reader does with a subscription; it takes the ids of both."""

_SETTINGS = {
    "site": DEMO_SITE,
    "name": "Harbour Lane Press",
    "colour": "#0a4d68",
    "contact": "desk@harbour-lane.example",
    "contact_phone": "+353 21 555 0100",
    "imprint_url": "https://harbour-lane.example/imprint",
    "privacy_url": "https://harbour-lane.example/privacy",
    "terms_url": "https://harbour-lane.example/terms",
    "shop_url": "https://harbour-lane.example/shop",
    "pay_by_mandate": "yes",
    "cancel": "at_once",
}

_A_YEAR, _A_YEAR_DIGITAL, _A_YEAR_OF_BOTH = 1, 4, 5
_HARBOR, _WEEKLY, _GARDEN, _LATHE, _TRAIL = 10, 20, 30, 40, 50
_HARBOR_AND_GARDEN = 61
_BUNDLES: dict[int, tuple[reader_bundles.Use, ...]] = {
    **{
        publication + kind: ("renew", "buy", "gift") if kind == _A_YEAR else ("renew", "buy")
        for publication in (_HARBOR, _WEEKLY, _GARDEN, _LATHE, _TRAIL)
        for kind in (_A_YEAR, _A_YEAR_DIGITAL, _A_YEAR_OF_BOTH)
        if (publication, kind) != (_GARDEN, _A_YEAR_DIGITAL)  # The garden is not digital alone.
    },
    _HARBOR_AND_GARDEN: ("buy", "gift"),
}

_PAUSE_DAYS = (10, 30)
_HARBOUR = {
    "address": "3 Quay Road",
    "city": "Kinsale",
    "zip_code": "P17 AB34",
    "country_name": "Ireland",
    "country_abbreviation": "IE",
}


def begin(books: Books) -> None:
    """Set up the readers' pages of the demo's account, whose books are open."""
    page_settings.set_values(books, _SETTINGS)
    for bundle_id, uses in _BUNDLES.items():
        reader_bundles.set_uses(books, bundle_id, uses)


def act(books: Books, what: Act, subscriber_id: int, subscription_id: int) -> None:
    """Let a reader do one of :data:`ACTS` on the pages."""
    actor = Actor(f"reader {subscriber_id}", "readers: demo")
    own = Books(books.store, books.account_id, actor, reader_id=subscriber_id)
    what(own, subscriber_id, subscription_id)


def _pause(books: Books, subscriber_id: int, subscription_id: int) -> None:
    with books.read() as reading:
        today = date.fromisoformat(reading.today)
    first, last = ((today + timedelta(days)).isoformat() for days in _PAUSE_DAYS)
    reader_pauses.pause(books, subscriber_id, subscription_id, first, last)


def _move(books: Books, subscriber_id: int, subscription_id: int) -> None:
    wanted = reader_addresses.Wanted(_HARBOUR, (subscription_id,), bills=True)
    reader_addresses.change(books, subscriber_id, wanted)


def _miss(books: Books, subscriber_id: int, subscription_id: int) -> None:
    """Miss the oldest copy, about which the desk decides."""
    oldest = complaints.received(books, subscription_id).issues[-1].issue_id
    said = "It never came. The neighbours have theirs."
    reader_copies.missing(books, subscriber_id, subscription_id, oldest, said)


def _write(books: Books, subscriber_id: int, _subscription_id: int) -> None:
    said = "Can the copies come in paper instead of plastic? Thank you!"
    reader_requests.message(books, subscriber_id, said)


def _leave(books: Books, subscriber_id: int, _subscription_id: int) -> None:
    reader_requests.ask_erasure(books, subscriber_id, "I am moving abroad for good.")


ACTS: tuple[Act, ...] = (_pause, _move, _miss, _write, _leave)
"""What readers did this morning, each of them one thing with a subscription of theirs."""
