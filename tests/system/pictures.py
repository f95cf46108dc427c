"""Makes the pictures of the console's page of the docs: ``python -m tests.system.pictures``.

Of a demo, in Chromium, so that they can be made again when the pages change.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.cli.running import lines_until, running
from tests.servers import ROOT
from tests.system.browsing import Browser

FOLDER = ROOT / "docs" / "images"
WIDTH = 1100
HEIGHT_MAX = 900


def make() -> None:
    """Write each picture."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/demo.db"
        with running("demo", "--port=0", "--console-port=0", database=database) as process:
            console = lines_until(process, "The console is on ")[-1].split()[-1]
            browser = Browser(Path(folder, "profile"))
            try:
                _visit(browser, console)
            finally:
                browser.quit()


def _visit(browser: Browser, console: str) -> None:
    browser.set_width(WIDTH)
    browser.open(console)
    browser.write("#name", "demo")
    browser.write("#password", "demo-operator")
    browser.click("button.main")
    browser.read_until("#counted", "owed to readers")
    _save(browser, "today")
    browser.open(f"{console}/subscribers/1")
    _save(browser, "subscriber")
    browser.open(f"{console}/orders/new?subscriber=1")
    browser.choose("#bundle", "Harbor")
    browser.click("#is_paid")
    browser.follow("Check the order")
    browser.read_until("section.card", "Total")
    _save(browser, "order")
    browser.open(f"{console}/issues")
    browser.click("tbody th a")
    browser.follow("Look at what closing gives")
    browser.read_until("h1", "Close")
    _save(browser, "closing")


def _save(browser: Browser, name: str) -> None:
    browser.save_picture(FOLDER / f"{name}.png", HEIGHT_MAX)
    browser.set_width(WIDTH)


if __name__ == "__main__":
    make()
