"""The page about the readers' pages: settings, preview, bundles, and what readers ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import page_settings, reader_bundles, reader_pauses
from masthead.circulation.page_settings import SETTINGS
from masthead.circulation.setting_values import LOGO_BYTES_MAX
from masthead.console.pages.readers_pages import NAMES
from tests.billing.bureau import order
from tests.console.bookkeeping import refused, said, send
from tests.console.browser import input_values

if TYPE_CHECKING:
    import httpx2

    from masthead.store.database import Value
    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office
    from tests.console.browser import Browser


@pytest.fixture
def manager(office: Office, bureau: Desk) -> Browser:
    """A browser of a manager, on the day of ``bureau``."""
    assert office.desk is bureau
    return office.console.signed_in("manager")


def typed(desk: Desk, **changed: str) -> dict[str, str]:
    """Return the form as a browser sends it: a box that has no tick is empty."""
    texts = {each.name: each.value for each in page_settings.listing(desk.books)}
    ticks = {"yes": "1", "no": ""}
    shown = {name: ticks.get(texts[name], texts[name]) for name in NAMES}
    return shown | {"cancel": texts["cancel"]} | changed


def test_the_form_has_every_setting_but_the_logo() -> None:
    """A setting that is added gets its field."""
    assert sorted([*NAMES, "logo"]) == sorted(each.name for each in SETTINGS)


def test_settings_are_changed_by_a_form(bureau: Desk, manager: Browser) -> None:
    saved = send(
        manager, "/readers-pages/settings", **typed(bureau, site="Tide", gift="", pause_days="30")
    )
    assert saved.headers["location"] == "/readers-pages"
    page = said(manager, "/readers-pages")
    assert "The settings were saved." in page
    assert "Short name in the address tide" in page
    assert "Readers give no" in page
    names = [each.name for each in page_settings.listing(bureau.books) if each.is_set]
    assert names == ["site", "pause_days", "gift"]
    again = send(manager, "/readers-pages/settings", **typed(bureau))
    assert again.status_code == 303
    assert "Nothing was changed." in said(manager, "/readers-pages")


def logo_sent(
    desk: Desk, browser: Browser, name: str, content: bytes, **changed: str
) -> httpx2.Response:
    """Send the form with a file, as a browser does."""
    fields = input_values(browser.get("/readers-pages/settings").text) | typed(desk, **changed)
    return browser.client.post(
        "/readers-pages/settings",
        data=fields,
        files={"logo": (name, content)},
        headers={"Sec-Fetch-Site": "same-origin"},
    )


def test_a_logo_is_a_file_that_stays_until_it_is_taken_off(bureau: Desk, manager: Browser) -> None:
    saved = logo_sent(bureau, manager, r"C:\Tide.SVG", b"<svg/>", contact="desk@tide.example")
    assert saved.status_code == 303
    assert "The settings were saved." in said(manager, "/readers-pages")
    assert manager.get("/readers-pages/logo").content == b"<svg/>"
    send(manager, "/readers-pages/settings", **typed(bureau, site="tide"), no_logo="")
    settings = page_settings.show(bureau.books)
    assert settings.logo_picture == ("image/svg+xml", b"<svg/>")
    assert (settings.site, settings.contact) == ("tide", "desk@tide.example")
    send(manager, "/readers-pages/settings", **typed(bureau), no_logo="1")
    assert page_settings.show(bureau.books).logo == ""
    assert 'name="no_logo"' not in manager.get("/readers-pages/settings").text


@pytest.mark.parametrize(
    ("name", "size", "why"),
    [
        ("logo.gif", 1, "logo.gif is no logo: its name ends with .png, .jpg, .jpeg, .svg."),
        ("logo.png", LOGO_BYTES_MAX + 1, "The logo has 262,145 bytes: 262,144 is the most."),
    ],
)
def test_another_file_or_a_large_one_is_refused_beside_its_field(
    bureau: Desk, manager: Browser, name: str, size: int, why: str
) -> None:
    answer = logo_sent(bureau, manager, name, b"x" * size, contact="desk@tide.example")
    assert answer.status_code == 400
    assert why in refused(answer)
    assert 'href="#logo"' in answer.text
    assert not any(each.is_set for each in page_settings.listing(bureau.books))


def test_a_bad_value_stands_beside_its_field(bureau: Desk, manager: Browser) -> None:
    answer = send(
        manager, "/readers-pages/settings", **typed(bureau, shop_url="http://shop.example")
    )
    assert "not an address that begins with https://" in refused(answer)
    assert 'href="#shop_url"' in answer.text
    assert page_settings.show(bureau.books).shop_url == ""


def test_what_another_manager_changed_stays(bureau: Desk, manager: Browser) -> None:
    """decisions, "Two operators at one record"."""
    opened = manager.get("/readers-pages/settings")
    kept = input_values(opened.text) | typed(bureau, contact="desk@tide.example")
    page_settings.set_values(bureau.books, {"pause_days": "10", "site": "ebb"})
    assert manager.post("/readers-pages/settings", kept).status_code == 303
    settings = page_settings.show(bureau.books)
    assert (settings.pause_days, settings.site) == (10, "ebb")
    assert settings.contact == "desk@tide.example"
    answer = manager.post("/readers-pages/settings", kept | {"pause_days": "20"})
    assert answer.status_code == 409
    assert "Days of pauses in a year 60 10 20" in refused(answer)


def test_the_preview_has_the_colour_and_the_logo(bureau: Desk, manager: Browser) -> None:
    logo = "data:image/svg+xml;base64,PHN2Zy8+"
    page_settings.set_values(bureau.books, {"colour": "#0a4d68", "logo": logo, "name": "Tide & Co"})
    assert (
        '<img src="/readers-pages/logo" alt="Tide &amp; Co"' in manager.get("/readers-pages").text
    )
    look = manager.get("/readers-pages/look.css")
    assert look.headers["content-type"].startswith("text/css")
    assert "background: #0a4d68; color: #ffffff;" in look.text
    picture = manager.get("/readers-pages/logo")
    assert (picture.headers["content-type"], picture.content) == ("image/svg+xml", b"<svg/>")
    assert "script-src" not in picture.headers["content-security-policy"]
    page_settings.set_values(bureau.books, {"logo": ""})
    assert manager.get("/readers-pages/logo").headers["content-type"] == "image/png"


def test_bundles_are_shown_to_readers_by_ticks(bureau: Desk, manager: Browser) -> None:
    assert "Tide for a year 12 issues of Tide (print) not see it" in said(manager, "/readers-pages")
    send(manager, "/readers-pages/bundles/1", renew="1", gift="1", buy="")
    assert reader_bundles.shown(bureau.books) == {1: {"renew", "gift"}}
    assert "Tide for a year 12 issues of Tide (print) Renew, give" in said(
        manager, "/readers-pages"
    )


def test_today_has_what_readers_ask_for_until_it_is_answered(
    bureau: Desk, manager: Browser
) -> None:
    bureau.put("issues", issue_id=900, publication_id=1, name="May", date="2031-05-01")
    asked: dict[str, Value] = {"subscriber_id": 1, "made_at": "2026-04-14 10:00:00"}
    bureau.put(
        "reader_requests",
        reader_request_id=1,
        kind="missing_copy",
        issue_id=900,
        text="<b>Again</b>",
        **asked,
    )
    bureau.put("reader_requests", reader_request_id=2, kind="erasure", **asked)
    bureau.put("reader_requests", reader_request_id=3, kind="message", subscriber_id=2, text="Hi")
    page = said(manager, "/")
    assert "Ada Ames misses a copy: May “<b>Again</b>” 14 April 2026 Answered" in page
    assert "Ada Ames asks for erasure 14 April 2026 Erase , Answered" in page
    assert send(manager, "/reader-requests/1/answer").headers["location"] == "/"
    page = said(manager, "/")
    assert "The request was answered." in page
    assert "misses a copy" not in page
    assert bureau.table("reader_requests")[0]["answered_by"] == "manager"
    assert "Manager answered this on 15 April 2026" in refused(
        send(manager, "/reader-requests/1/answer")
    )


def test_a_reader_who_was_erased_asks_for_nothing_any_more(bureau: Desk, manager: Browser) -> None:
    bureau.put("reader_requests", reader_request_id=1, kind="erasure", subscriber_id=1)
    assert "asks for erasure" in said(manager, "/")
    bureau.put("erasures", subscriber_id=1, erased_at="2026-04-15 10:00:00")
    assert "asks for erasure" not in said(manager, "/")


def test_a_clerk_answers_and_changes_no_setting(office: Office, bureau: Desk) -> None:
    bureau.put("reader_requests", reader_request_id=1, kind="message", subscriber_id=2, text="Hi")
    clerk = office.console.signed_in("clerk")
    assert "Answered" in said(clerk, "/")
    assert "Changing them: a manager." in said(clerk, "/readers-pages")
    assert clerk.get("/readers-pages/settings").status_code == 403


def test_what_a_reader_changed_is_undone_from_the_page_of_the_reader(
    office: Office, bureau: Desk
) -> None:
    order(bureau, 1)
    reader_pauses.pause(bureau.books, 1, 1, "2026-05-10", "2026-06-10")
    clerk = office.console.signed_in("clerk")
    page = said(clerk, "/subscribers/1")
    assert "paused a subscription: 10 May 2026 to 10 June 2026 15 April 2026 Undo" in page
    page = said(clerk, "/reader-changes/1/undo")
    assert "paused a subscription: 10 May 2026 to 10 June 2026, 15 April 2026" in page
    assert send(clerk, "/reader-changes/1/undo").headers["location"] == "/subscribers/1"
    page = said(clerk, "/subscribers/1")
    assert "It was undone." in page
    assert "this was undone on 15 April 2026 by clerk" in page
    assert bureau.table("suspensions") == []
    assert "This was undone on 15 April 2026" in refused(send(clerk, "/reader-changes/1/undo"))
