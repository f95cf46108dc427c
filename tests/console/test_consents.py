"""Automatic renewal on a reader's page: the consent, the next renewal, and stopping it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import automatic_renewals, billing_settings, catalogue, renewal_consents
from tests.billing.renewing import SHORT, YEAR, reader, sell_two_issues
from tests.console.browser import input_values, text_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office
    from tests.console.browser import Browser

ADA = "/subscribers/1"


@pytest.fixture
def clerk(office: Office, bureau: Desk) -> Browser:
    """A clerk's browser; Ada's subscription renews automatically."""
    sell_two_issues(bureau)
    reader(bureau)
    return office.console.signed_in("clerk")


def _announce(desk: Desk) -> None:
    """Announce the renewal on the day of the session, which is early enough then."""
    billing_settings.set_values(desk.books, {"renewal_days": "20"})
    assert automatic_renewals.announce(desk.books).announced == 1


def test_the_next_renewal_is_shown_once_it_is_announced(bureau: Desk, clerk: Browser) -> None:
    assert (
        "Renews automatically since 15 April 2026, by Tide for a year; the next renewal is not "
        "announced yet"
    ) in text_of(clerk.get(ADA).text)
    _announce(bureau)
    page = text_of(clerk.get(ADA).text)
    assert "by Tide for a year; next on 15 May 2026, 12.84 USD" in page
    assert "Renew automatically" not in page
    assert clerk.get("/subscriptions/1/consent").status_code == 400


def test_the_renewal_is_stopped_with_a_button(bureau: Desk, clerk: Browser) -> None:
    _announce(bureau)
    assert "Stop automatic renewal" in text_of(clerk.get(ADA).text)
    path = "/subscriptions/1/stop-renewal"
    form = input_values(clerk.get(path).text)
    assert clerk.post(path, {**form, "reason": "moves away"}).status_code == 303
    assert bureau.table("renewal_consents")[0]["stop_reason"] == "moves away"
    assert [row["status"] for row in bureau.table("announced_renewals")] == ["stopped"]
    assert "Renews automatically" not in text_of(clerk.get(ADA).text)


def test_a_consent_given_by_telephone_is_noted(bureau: Desk, clerk: Browser) -> None:
    renewal_consents.stop(bureau.books, 1)
    path = "/subscriptions/1/consent"
    form = input_values(clerk.get(path).text)
    given = {**form, "bundle": str(YEAR), "source": "telephone"}
    assert clerk.post(path, {**given, "words": ""}).status_code == 400
    assert clerk.post(path, {**given, "words": "Yes, go on."}).status_code == 303
    consent = bureau.table("renewal_consents")[-1]
    assert (consent["words"], consent["source"]) == ("Yes, go on.", "telephone")
    assert consent["given_on"] == "2026-04-15"


def test_the_form_offers_what_can_renew_the_subscription(bureau: Desk, clerk: Browser) -> None:
    renewal_consents.stop(bureau.books, 1)
    catalogue.retire(bureau.books, "bundle", SHORT)
    page = clerk.get("/subscriptions/1/consent").text
    assert "Tide for a year: 12.84 USD" in page
    assert "Tide twice" not in page
