"""Makes the pictures of the console's pages for the docs: ``python -m tests.system.pictures``.

Of a demo, in Chromium, so that they can be made again when the pages change: each page on a wide
screen and on a phone, in light and in dark colours.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.cli.running import lines_until, running
from tests.servers import ROOT
from tests.system.browsing import Browser

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = ROOT / "docs" / "console-pages.md"
FOLDER = ROOT / "docs" / "images" / "console"
SCREENS = {"wide": (1280, 1000), "phone": (390, 1200)}
"""Each screen by its width, and how much of a page is shown at most."""

SCHEMES = ("light", "dark")
_HEAD = """\
# The pages of the console, in pictures

Each page of the [console](console.md) with the data of the demo, as a manager sees it: on a wide
screen and on a phone, in light and in dark colours. They are made with
`python -m tests.system.pictures`. The pictures are in the project's folder `docs/images`; a server
that was installed from a package shows this page without them."""


class Shown(NamedTuple):
    """A page, what there is to see, its path, and what is done there before the picture."""

    name: str
    about: str
    path: str
    act: Callable[[Browser], None] = lambda _: None


def _order(browser: Browser) -> None:
    browser.choose("#bundle", "Harbor")
    browser.follow("Check the order")
    browser.read_until(".summary", "Harbor")


def _cancel(browser: Browser) -> None:
    browser.click("#refund")
    browser.follow("Look at what will happen")
    browser.read_until(".summary", "ends")


def _compare(browser: Browser) -> None:
    browser.follow("Compare the two")
    browser.read_until("main", "This will happen")


def _close(browser: Browser) -> None:
    browser.click("tbody th a")
    browser.follow("Look at what closing gives")
    browser.read_until("h1", "Close")


def _closed(browser: Browser, words: str = "not yet") -> None:
    """Open the newest closed issue whose row has the words; by default, one without its file."""
    browser.run(
        "[...[...document.querySelectorAll('table')].at(-1).querySelectorAll('tbody tr')]"
        f".find(each => each.textContent.includes({words!r})).querySelector('th a').click()"
    )
    browser.read_until("h1", "closed")


def _gap(browser: Browser) -> None:
    _closed(browser)
    browser.follow("Look at what a gap list gives")
    browser.read_until("h1", "Gap list")


def _reopen(browser: Browser) -> None:
    _closed(browser, "Weekly")
    browser.follow("Look at what reopening undoes")
    browser.read_until("h1", "Reopen")


def _letters(browser: Browser) -> None:
    browser.read_until("#counted", "Counted")
    browser.send("Look at what will be written")
    browser.read_until(".summary", "letter")


def _open_invoice(browser: Browser) -> None:
    browser.click("#open ~ .scroll tbody th a")
    browser.read_until("h1", "Invoice")


def _invoice_payment(browser: Browser) -> None:
    _open_invoice(browser)
    browser.follow("Payment came")
    browser.read_until("h1", "Payment of an invoice")


def _write_off(browser: Browser) -> None:
    _open_invoice(browser)
    browser.click("main details.menu > summary")
    browser.follow("Write off what is open")
    browser.read_until("h1", "Write off")
    browser.follow("Look at what will happen")
    browser.read_until(".summary", "written off")


def _payments(browser: Browser) -> None:
    browser.write("#for_1", "2026-000001")
    browser.write("#amount_1", "20")
    browser.write("#reference_1", "4711")


def _payer(browser: Browser) -> None:
    browser.click("#open ~ .scroll tbody td a")
    browser.read_until("h1", "Account")


def _counted(browser: Browser) -> None:
    browser.read_until("#counted", "Counted")


def _lapsing(browser: Browser) -> None:
    _counted(browser)
    browser.click("a[href*='/lapses']")
    browser.read_until("h1", "Metal & Lathe")


PAGES = (
    Shown("today", "Today", "/", _counted),
    Shown("find", "Find", "/find?q=adams"),
    Shown("subscriber", "A subscriber", "/subscribers/1"),
    Shown("correct", "Correct a subscriber", "/subscribers/1/edit"),
    Shown("address", "Correct an address", "/addresses/1/edit"),
    Shown("merge", "Merge two readers", "/subscribers/1/merge"),
    Shown(
        "merge-sentence", "Before two readers are merged", "/subscribers/1/merge?other=2", _compare
    ),
    Shown("login", "A new code or password", "/subscribers/1/login"),
    Shown("erase", "Erase a subscriber", "/subscribers/1/erase"),
    Shown("change", "Change a subscription", "/subscriptions/1/set"),
    Shown("suspend", "Suspend a subscription", "/subscriptions/1/suspend"),
    Shown("extend", "Extend a subscription", "/subscriptions/1/extend"),
    Shown("move", "Move a reader", "/subscribers/1/move"),
    Shown("cancel", "Cancel a subscription", "/subscriptions/1/cancel"),
    Shown("cancel-sentence", "Before it is cancelled", "/subscriptions/1/cancel", _cancel),
    Shown("complaint", "Note a complaint", "/subscriptions/1/complaint"),
    Shown("replacement", "Send a copy again", "/subscriptions/1/replacement"),
    Shown("order-new", "A new order", "/orders/new?subscriber=1"),
    Shown("order-sentence", "Before the order is saved", "/orders/new?subscriber=1", _order),
    Shown("order", "An order", "/orders/1332"),
    Shown("order-unpaid", "An order that is not paid", "/orders/1333"),
    Shown("refund", "Refund an item", "/orders/1332/refund"),
    Shown("dispute", "Note a dispute", "/orders/1332/dispute"),
    Shown("money", "Money", "/money"),
    Shown("invoice", "An invoice", "/invoices/1"),
    Shown("invoice-payment", "A payment of an invoice", "/money", _invoice_payment),
    Shown("write-off-sentence", "Before an invoice is written off", "/money", _write_off),
    Shown("payments", "Payments by keyboard", "/payments/new", _payments),
    Shown("payer-account", "The account of a payer", "/money", _payer),
    Shown("bank", "Entries of the bank", "/bank"),
    Shown("bank-file", "Read a file of the bank", "/bank/file"),
    Shown("direct-debit", "Direct debit", "/direct-debit"),
    Shown("direct-debit-run", "A file of direct debits", "/direct-debit/1"),
    Shown("reminders", "Reminders", "/reminders"),
    Shown("mail", "Mail", "/mail"),
    Shown("month-end", "Month end", "/month-end"),
    Shown("issues", "Issues", "/issues"),
    Shown("issue", "An issue that is closed", "/issues", _closed),
    Shown("closing", "Before an issue is closed", "/issues", _close),
    Shown("gap-list", "Before a gap list is made", "/issues", _gap),
    Shown("reopening", "Before an issue is reopened", "/issues", _reopen),
    Shown("replacements", "Copies to send again", "/replacements"),
    Shown("renewals", "Renewals", "/renewals", _counted),
    Shown("letters", "Before letters are written", "/renewals", _letters),
    Shown("effort", "Letters of a publication", "/renewals/1/effort"),
    Shown("other-letters", "Welcome and other letters", "/renewals/letters", _counted),
    Shown("free-titles", "Free titles", "/qualification", _counted),
    Shown("free-title-effort", "An effort of a free title", "/qualification/4/effort"),
    Shown("lapsing", "Whose copies end in a month", "/qualification", _lapsing),
    Shown("qualifications", "The qualifications of a reader", "/subscribers/60/qualifications"),
    Shown("qualify", "A form for the telephone", "/subscribers/60/qualify?publication=4"),
    Shown("reports", "Reports", "/reports"),
    *(
        Shown(f"report-{kind}", f"Report: {kind.replace('-', ' ')}", f"/reports/{kind}", _counted)
        for kind in ("press-run", "circulation", "liability", "expiries", "renewals", "audit")
    ),
    Shown("new", "Who is new this month", "/this-month/new"),
    Shown("lists", "Lists", "/lists"),
    Shown("list", "A list", "/lists/112"),
    Shown("partners", "Partners", "/partners"),
    Shown("partner-new", "Add a partner", "/partners/new"),
    Shown("loads", "Loads", "/loads"),
    Shown("feed", "Feed", "/feed"),
    Shown("log", "Log", "/audit"),
    Shown("not-found", "A page that is not there", "/nowhere"),
)


def make() -> None:
    """Write each picture, and the page of the docs that shows them."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/demo.db"
        with running("demo", "--port=0", "--console-port=0", database=database) as process:
            console = lines_until(process, "The console is on ")[-1].split()[-1]
            browser = Browser(Path(folder, "profile"))
            try:
                _visit(browser, console)
            finally:
                browser.quit()
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page of the docs."""
    sections = [
        f"## {about}\n\n"
        + "\n".join(
            f"![{about}, {screen}, {scheme}](images/console/{_file(name, screen, scheme)})"
            for screen, scheme in itertools.product(SCREENS, SCHEMES)
        )
        for name, about in [("sign-in", "Sign in"), *((each.name, each.about) for each in PAGES)]
    ]
    return "\n\n".join((_HEAD, *sections)) + "\n"


def _visit(browser: Browser, console: str) -> None:
    browser.open(console)
    _save(browser, "sign-in")
    browser.write("#name", "demo")
    browser.write("#password", "demo-operator")
    browser.click("button.main")
    browser.read_until("nav.main", "Today")
    for each in PAGES:
        browser.set_width(SCREENS["wide"][0])
        browser.open(f"{console}{each.path}")
        each.act(browser)
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
