"""The console's list of what renews automatically."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.billing.renewing import ANNOUNCED, night, reader, sell_two_issues
from tests.console.browser import text_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office

PAGE = "/renewals/automatic"


@pytest.mark.usefixtures("bureau")
def test_finance_and_managers_find_the_list_where_they_look(office: Office) -> None:
    for role, page in (("finance", "/money"), ("manager", "/renewals")):
        browser = office.console.signed_in(role)
        assert f'href="{PAGE}"' in browser.get(page).text
        assert "No subscription renews automatically." in text_of(browser.get(PAGE).text)


def test_the_list_says_who_renews_when_for_how_much_and_whether_it_was_announced(
    office: Office, bureau: Desk
) -> None:
    sell_two_issues(bureau)
    reader(bureau, 1)
    night(bureau, ANNOUNCED)
    reader(bureau, 2, is_paid=False)
    page = office.console.signed_in("finance").get(PAGE).text
    said = text_of(page)
    assert "2 subscriptions renew by the consent of their readers" in said
    assert "Ada Ames Tide (print) Tide for a year 18 May 2026 announced 12.84" in said
    assert "Ben Ames Tide (print) Tide for a year" in said
    assert "waits until its last order is paid" in said
    assert 'href="/subscribers/1#subscription-1"' in page


def test_the_list_has_parts(office: Office) -> None:
    browser = office.console.signed_in("clerk")
    assert browser.get(PAGE, after="2026-05-31.1").status_code == 200
    refused = browser.get(PAGE, after="the second")
    assert refused.status_code == 400
    assert "There is no such part of the list: begin with its first one." in text_of(refused.text)
