"""The settings of billing: what they accept, and what they say of other values."""

from __future__ import annotations

import base64
import builtins
from typing import TYPE_CHECKING, Any

import pytest

from masthead.billing import settings as of_billing
from masthead.billing.journal_accounts import JOURNAL_ACCOUNTS
from masthead.billing.settings import (
    SETTINGS,
    BillingSettings,
    settings_from,
    stored_text,
    texts_of,
)
from masthead.errors import BadInput, BadUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLE = {
    "seller_name": "Verlag Muster",
    "seller_street": "Hauptstr. 1",
    "seller_city": "Berlin",
    "seller_country": "DE",
    "seller_tax_number": "12/345/67890",
}


def test_a_setting_that_is_not_set_has_its_default() -> None:
    settings = settings_from(())
    assert settings == BillingSettings()
    assert (settings.due_days, settings.tolerance, settings.tax_due) == (14, 0, "payment")
    assert settings.prices_with_tax is True
    assert texts_of(settings) == {each.name: each.default for each in SETTINGS}


def test_each_setting_has_a_meaning_of_one_line() -> None:
    for each in SETTINGS:
        assert each.meaning.endswith("."), each
        assert len(each.meaning) <= 75, each


def test_the_accounts_of_the_journal_have_a_number_each() -> None:
    settings = settings_from([("journal.bank", "1200-7")])
    numbers = [settings.journal_number(key) for key in JOURNAL_ACCOUNTS]
    assert settings.journal_number("bank") == "1200-7"
    assert len(set(numbers)) == len(JOURNAL_ACCOUNTS)


@pytest.mark.parametrize(
    ("name", "text", "stored", "value"),
    [
        ("seller_country", "de", "DE", "DE"),
        ("seller_iban", "de89 3704 0044 0532 0130 00", "DE89370400440532013000", None),
        ("seller_bic", "cobadeffxxx", "COBADEFFXXX", None),
        ("seller_vat_id", "DE 136 695 976", "DE136695976", None),
        ("seller_vat_id", "CHE-123.456.788 MWST", "CHE-123.456.788 MWST", None),
        ("prices_with_tax", "No", "no", False),
        ("prices_with_tax", "1", "yes", True),
        ("tolerance", "0.5", "0.50", 50),
        ("due_days", "030", "30", 30),
        ("tax_due", "Invoice", "invoice", "invoice"),
        ("language", "de", "de", "de"),
        ("invoice_number", "R{year}/{number:05}", "R{year}/{number:05}", None),
        ("colour", "#AA00ff", "#AA00ff", None),
        ("journal.bank", "1201", "1201", None),
    ],
)
def test_a_value_is_stored_in_one_form_that_is_read_again(
    name: str, text: str, stored: str, value: object
) -> None:
    assert stored_text(name, f" {text} ") == stored
    assert stored_text(name, stored) == stored
    field = name.replace(".", "_")
    assert getattr(settings_from([(name, stored)]), field) == (stored if value is None else value)


def test_an_empty_text_clears_a_setting() -> None:
    assert stored_text("seller_iban", "  ") == ""


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("seller_country", "Germany", "the code of a country"),
        ("seller_country", "XX", "the code of a country"),
        ("seller_iban", "DE88370400440532013000", "not an IBAN: invalid checksum digits"),
        ("seller_iban", "DE8937040044", "not an IBAN: invalid IBAN length"),
        ("seller_bic", "COBA", "not a BIC"),
        ("seller_vat_id", "DE136695977", "check digit is invalid"),
        ("seller_vat_id", "EL1", "not a VAT number"),
        ("seller_email", "somebody", "not an email address"),
        ("seller_name", "a" * 71, "70 is the most"),
        ("seller_name", "two\nlines", "one line of text"),
        ("prices_with_tax", "perhaps", "not yes or no"),
        ("tolerance", "-1", "not an amount such as 12.50"),
        ("tolerance", "0.001", "two at most"),
        ("due_days", "366", "from 0 to 365"),
        ("due_days", "½", "from 0 to 365"),
        ("tax_due", "never", "not one of invoice, payment"),
        ("language", "fr", "not one of en, de"),
        ("invoice_number", "{year}", "contains {number} once"),
        ("invoice_number", "{number}-{number}", "contains {number} once"),
        ("invoice_number", "{year}{number}", "between {year} and {number}"),
        ("invoice_number", "{year}-{number!r}", "contains {number} once"),
        ("invoice_number", "{number}-{name}", "letters, digits, spaces"),
        ("invoice_number", "{year}-{year}-{number}", "at most once"),
        ("invoice_number", "A" * 25 + "{number}", "more than 30 characters"),
        ("logo", "logo.png", "a PNG, JPEG or SVG, as a data URL"),
        ("logo", "data:image/png;base64,A", "not valid Base64"),
        ("colour", "red", "not a colour such as"),
        ("journal.bank", "12 00", "not the number of an account"),
    ],
)
def test_a_bad_value_is_refused_with_the_name_and_what_would_be_right(
    name: str, text: str, sentence: str
) -> None:
    with pytest.raises(BadInput) as caught:
        stored_text(name, text)
    said = str(caught.value)
    assert said.startswith(f"{name}: ")
    assert sentence in said
    assert not said.endswith(".")


def test_a_name_that_no_setting_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="did you mean seller_name") as caught:
        stored_text("seler_name", "x")
    assert "'seler_name'" in str(caught.value)


def test_a_logo_is_a_picture_of_at_most_a_quarter_of_a_mebibyte() -> None:
    picture = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    text = f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}"
    assert settings_from([("logo", stored_text("logo", text))]).logo_picture == ("svg", picture)
    assert BillingSettings().logo_picture is None
    large = base64.b64encode(bytes(of_billing.LOGO_BYTES_MAX + 1)).decode()
    with pytest.raises(BadInput, match="262,144 is the most"):
        stored_text("logo", f"data:image/png;base64,{large}")


@pytest.mark.parametrize(
    ("without", "missing"),
    [
        ((), ()),
        (("seller_name",), ("seller_name",)),
        (("seller_tax_number",), ("seller_vat_id or seller_tax_number",)),
        (("seller_city", "seller_country"), ("seller_city", "seller_country")),
    ],
)
def test_an_invoice_needs_who_sells_and_where(
    without: Sequence[str], missing: tuple[str, ...]
) -> None:
    stored = [(name, text) for name, text in WHOLE.items() if name not in without]
    assert of_billing.lacking_for_invoices(settings_from(stored)) == missing


def test_invoices_and_credit_notes_have_different_numbers() -> None:
    of_billing.check_alike(BillingSettings())
    for form in ("{year}-{number:06}", "{year}-{number}"):
        alike = settings_from([("credit_note_number", form)])
        with pytest.raises(BadInput, match="the same number"):
            of_billing.check_alike(alike)


@pytest.mark.parametrize(
    ("name", "text", "package"),
    [
        ("seller_iban", "DE89370400440532013000", "schwifty"),
        ("seller_bic", "COBADEFFXXX", "schwifty"),
        ("seller_vat_id", "DE136695976", "stdnum"),
    ],
)
def test_without_the_packages_a_number_is_refused_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, package: str
) -> None:
    importing = builtins.__import__

    def missing(wanted: str, *rest: Any, **more: Any) -> object:
        if wanted.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return importing(wanted, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(BadUsage, match=f"needs the package {package}") as caught:
        stored_text(name, text)
    assert caught.value.code == "needs_billing_packages"
