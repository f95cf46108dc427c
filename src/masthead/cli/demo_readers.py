"""The readers' pages of the demo: all that they have is switched on."""

from masthead.books import Books, page_settings, reader_bundles

DEMO_SITE = "harbour-lane"
"""The site of the demo's readers' pages."""

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


def begin(books: Books) -> None:
    """Set up the readers' pages of the demo's account, whose books are open."""
    page_settings.set_values(books, _SETTINGS)
    for bundle_id, uses in _BUNDLES.items():
        reader_bundles.set_uses(books, bundle_id, uses)
