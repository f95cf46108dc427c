"""In which language documents are written (billing, "Documents")."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from masthead.billing.printed import Payer
from masthead.billing.settings import BillingSettings
from masthead.billing.spoken import spoken
from masthead.books import letters, reminder_levels, reminders
from tests.billing.bureau import fill, order

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.mark.parametrize(
    ("country", "name", "language"),
    [
        ("DE", "", "de"),
        ("AT", "Austria", "de"),
        ("", "Österreich", "de"),
        ("FR", "", "en"),
        ("", "Atlantis", "en"),
        ("IE", "", "de"),
        ("", "", "de"),
    ],
)
def test_a_document_has_the_language_of_another_country(
    country: str, name: str, language: str
) -> None:
    """decisions, "The language of a document"."""
    settings = BillingSettings(seller_country="IE", language="de", language_by_country=True)
    reader = Payer(subscriber_id=1, country=country, country_name=name)
    assert spoken(settings, reader).language == language


def test_without_the_setting_all_documents_have_one_language() -> None:
    settings = BillingSettings(seller_country="IE", language="en")
    assert spoken(settings, Payer(subscriber_id=1, country="DE")) == settings


def test_invoices_fees_and_letters_have_the_language_of_their_address(shared: Desk) -> None:
    fill(shared, language_by_country="yes")
    for payer, country in ((1, "AT"), (2, "FR")):
        shared.connection.change(
            "UPDATE addresses SET country_name = NULL, country_abbreviation = :country "
            "WHERE account_id = :id AND subscriber_id = :payer",
            id=shared.account_id,
            payer=payer,
            country=country,
        )
    for payer in (1, 2, 3):
        order(shared, payer)
    reminder_levels.set_level(shared.books, reminder_levels.Level(1, 5, 500, "nothing", None))
    shared.to("2026-05-15")
    reminders.send(shared.books)
    printed = [
        (row[0], json.loads(row[1]))
        for table in ("invoices", "reminders")
        for row in shared.rows(
            f"SELECT subscriber_id, printed FROM {table} WHERE account_id = :account_id"
        )
    ]
    assert len(printed) == 9
    assert {(payer, each["language"]) for payer, each in printed} == {
        (1, "de"),
        (2, "en"),
        (3, "en"),
    }
    found = letters.due(shared.books, "welcome", since="2026-04-15").printed
    assert {each.recipient.subscriber_id: each.language for each in found} == {
        1: "de",
        2: "en",
        3: "en",
    }
