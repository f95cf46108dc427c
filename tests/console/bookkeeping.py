"""What the tests of the pages of billing do in a browser, and what they read there."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

from tests.console.browser import input_values, text_of

if TYPE_CHECKING:
    import httpx2

    from masthead.store.database import Value
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console

_ID = re.compile(
    r"\b(subscription|issue|order|subscriber|term|payment|item|account) \d+", re.IGNORECASE
)
_ERRORS = re.compile(r'<div class="notice bad" role="alert" id="errors".*?</div>', re.DOTALL)
_MAIN = re.compile(r"<main.*</main>", re.DOTALL)


class Office(NamedTuple):
    """An account that bills, and its console, with an operator of each role."""

    desk: Desk
    console: Console


def said(browser: Browser, path: str) -> str:
    """Return the text of the content of a page."""
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    found = _MAIN.search(answer.text)
    assert found
    return text_of(found[0])


def send(browser: Browser, path: str, **typed: str) -> httpx2.Response:
    """Fill in the form of a page and send it."""
    return browser.post(path, {**input_values(browser.get(path).text), **typed})


def save(browser: Browser, path: str, **typed: str) -> str:
    """Fill in a form that first says what will happen, and save it; return what follows."""
    looked = send(browser, path, **typed)
    assert looked.status_code == 200, text_of(looked.text)
    saved = browser.post(path, {**input_values(looked.text), **typed, "sure": "1"})
    assert saved.status_code == 303, text_of(saved.text)
    return said(browser, saved.headers["location"])


def refused(answer: httpx2.Response) -> str:
    """Return what is wrong with a form, or why a page is not there; it names no id."""
    assert answer.status_code in {400, 404, 409}, answer.text
    found = _ERRORS.search(answer.text) or _MAIN.search(answer.text)
    assert found
    text = text_of(html.unescape(found[0]))
    assert not _ID.search(text), text
    return text


def put_entries(desk: Desk) -> None:
    """Write entries of a bank that wait: one for invoice 1, an unknown one, one that went out."""
    desk.put("bank_files", bank_file_id=1, name="april.xml", digest="d", imported_at="2026-04-15")
    waiting: dict[str, Value] = {"bank_file_id": 1, "value_date": "2026-04-14", "fee": 0}
    desk.put(
        "bank_entries",
        bank_entry_id=1,
        fingerprint="f1",
        cents=1284,
        status="proposed",
        invoice_id=1,
        name="A. Ames",
        reference="for the Tide",
        **waiting,
    )
    desk.put(
        "bank_entries",
        bank_entry_id=2,
        fingerprint="f2",
        cents=500,
        status="unknown",
        name="Nobody known",
        **waiting,
    )
    desk.put(
        "bank_entries",
        bank_entry_id=3,
        fingerprint="f3",
        cents=-400,
        status="unknown",
        reference="fee",
        **waiting,
    )
