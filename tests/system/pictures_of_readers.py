"""Makes the pictures of the readers' pages: ``python -m tests.system.pictures_of_readers``.

Of the household of the tests, in Chromium: each page on a phone and on a wide screen, in light and
in dark colours; the first page in German, too.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from masthead.books import issues, page_settings
from tests.billing.outboxes import begin_mail
from tests.circulation.desk import at_desk
from tests.readers.browser import SITE, serving_readers
from tests.readers_books import household
from tests.readers_books.household import BEN
from tests.readers_pages.house import POSTAL_CODE
from tests.servers import ROOT, Store
from tests.system.browsing import Browser

PAGE = ROOT / "docs" / "readers-pictures.md"
FOLDER = ROOT / "docs" / "images" / "readers"
SCREENS = {"phone": (390, 1400), "wide": (1280, 1000)}
"""Each screen by its width, and how much of a page is shown at most."""

SCHEMES = ("light", "dark")
_HEAD = """\
# The readers' pages, in pictures

Each of the readers' pages with the readers of the tests: on a phone and on a wide screen, in light
and in dark colours, which follow the reader's device. A publisher has its own name, logo and
colour. They are made with `python -m tests.system.pictures_of_readers`. The pictures are in the
project's folder `docs/images`; a server that was installed from a package shows this page without
them."""


class Shown(NamedTuple):
    """A page, what there is to see, and its path in the site; ``{key}`` is a subscription."""

    name: str
    about: str
    path: str


PAGES = (
    Shown("home", "The first page", ""),
    Shown("home-german", "The first page, in German", "?language=de"),
    Shown("subscription", "A subscription", "subscriptions/{key}?language=en"),
    Shown("address", "Change the address", "subscriptions/{key}/address"),
    Shown("pause", "Pause", "subscriptions/{key}/pause"),
    Shown("renewal", "Automatic renewal", "subscriptions/{key}/renewal"),
    Shown("cancel", "Cancel", "subscriptions/{key}/cancel"),
    Shown("missing", "A copy is missing", "subscriptions/{key}/missing"),
    Shown("gift", "Give a subscription", "gift"),
    Shown("gift-form", "A gift before it is ordered", "gift?offer=1"),
    Shown("data", "Your data", "data"),
)


def make() -> None:
    """Write each picture, and the page of the docs that shows them."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        at_desk(Store("sqlite", Path(folder))) as desk,
        serving_readers(desk.store) as pages,
    ):
        household.fill(desk)
        household.show_bundle(desk)
        begin_mail(desk)
        issues.close(desk.books, 5)
        desk.to("2026-05-20")
        page_settings.set_values(
            desk.books,
            {
                "site": SITE,
                "name": "Harbor Press",
                "contact": "readers@harbor.example",
                "purposes": "news=News from us;partners=Offers of partners",
            },
        )
        browser = Browser(Path(folder, "profile"))
        try:
            _visit(browser, f"{pages.url}/{SITE}/", household.of(desk).ben)
        finally:
            browser.quit()
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page of the docs."""
    sections = [
        f"## {about}\n\n"
        + "\n".join(
            f"![{about}, {screen}, {scheme}](images/readers/{_file(name, screen, scheme)})"
            for screen, scheme in itertools.product(SCREENS, SCHEMES)
        )
        for name, about in [("sign-in", "Sign in"), *((each.name, each.about) for each in PAGES)]
    ]
    return "\n\n".join((_HEAD, *sections)) + "\n"


def _visit(browser: Browser, site: str, key: int) -> None:
    browser.open(f"{site}sign-in")
    _save(browser, "sign-in")
    browser.write("#login", f"CODE{BEN}")
    browser.write("#password", POSTAL_CODE)
    browser.click("main button.main")
    browser.read_until("h1", "Your subscriptions")
    for each in PAGES:
        browser.set_width(SCREENS["wide"][0])
        browser.open(site + each.path.format(key=key))
        _save(browser, each.name)


def _save(browser: Browser, name: str) -> None:
    for (screen, (width, height_max)), scheme in itertools.product(SCREENS.items(), SCHEMES):
        browser.set_width(width)
        browser.set_scheme(scheme)
        browser.save_picture(FOLDER / _file(name, screen, scheme), height_max)


def _file(name: str, screen: str, scheme: str) -> str:
    return f"{name}-{screen}-{scheme}.webp"


if __name__ == "__main__":
    make()
