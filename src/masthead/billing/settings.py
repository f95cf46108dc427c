"""The settings of an account's billing: names, defaults, meanings, and how a value is read.

Add a new one as a field of :class:`BillingSettings`. The stored name of a setting is that of its
field; those of the journal are written with a dot, ``journal.bank``.
"""

import base64
import re
from dataclasses import dataclass
from typing import Annotated, Literal, cast, get_args

from masthead.billing import identifiers
from masthead.billing.countries import EU, country_code
from masthead.billing.journal_accounts import JournalAccount
from masthead.billing.numbering import are_alike, check_form
from masthead.circulation.amounts import decimal
from masthead.circulation.setting_values import (
    COLOUR,
    EMAIL,
    LOGO,
    LOGO_BYTES_MAX,
    DescribedSettings,
    Reading,
    cents,
    days,
    flag,
    logo_of,
    matching,
    number,
    one_of,
    text_of,
)
from masthead.errors import BadInput
from masthead.mail.addresses import is_address

__all__ = [
    "LOGO_BYTES_MAX",
    "SETTINGS",
    "BillingSettings",
    "Language",
    "TaxDue",
    "check_alike",
    "lacking_for_invoices",
    "lacking_for_letters",
    "settings_from",
    "stored_text",
    "texts_of",
]

TaxDue = Literal["invoice", "payment"]
Language = Literal["en", "de"]

_NUMBER_OF_ACCOUNT = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]{0,19}")
_DIGITS = re.compile(r"[0-9]{1,7}")
_JOURNAL = "journal_"
_NUMBER = matching(_NUMBER_OF_ACCOUNT, "the number of an account: letters, digits, '.' and '-'")


def _vat_id(text: str) -> str:
    prefix = text.strip()[:2].upper()
    if identifiers.vat_country(prefix) in EU:
        return identifiers.vat_number(text)
    return text_of(20)(text)


def _address(text: str) -> str:
    if not is_address(text):
        raise BadInput(f"{text!r} is not an email address such as service@example.org")
    return text


def _folder(text: str) -> str:
    if not text.startswith("/"):
        raise BadInput(f"{text!r} is not the whole path of a folder, such as /srv/templates")
    return text_of(200)(text)


@dataclass(frozen=True, kw_only=True)
class BillingSettings:
    """The settings of an account; a text that is not set is "" (billing, "Rules").

    Amounts are whole cents. The defaults of the journal are numbers of the German chart SKR 04.
    """

    seller_name: Annotated[str, Reading("Name of the seller, as on invoices.", text_of(70))] = ""
    seller_street: Annotated[str, Reading("Street of the seller.", text_of(70))] = ""
    seller_city: Annotated[str, Reading("City of the seller.", text_of(70))] = ""
    seller_postal_code: Annotated[str, Reading("Postal code of the seller.", text_of(16))] = ""
    seller_country: Annotated[
        str,
        Reading(
            "Country of the seller, such as DE; an address without one is there.", country_code
        ),
    ] = ""
    seller_vat_id: Annotated[
        str, Reading("VAT number of the seller; its check digits are checked in the EU.", _vat_id)
    ] = ""
    seller_tax_number: Annotated[
        str, Reading("Tax number of the seller, where it has no VAT number.", text_of(30))
    ] = ""
    seller_email: Annotated[
        str, Reading("Email address for questions.", matching(EMAIL, "an email address"))
    ] = ""
    seller_iban: Annotated[
        str, Reading("IBAN to which payers transfer, with its check digits.", identifiers.iban)
    ] = ""
    seller_bic: Annotated[str, Reading("BIC of that bank.", identifiers.bic)] = ""
    seller_bank: Annotated[str, Reading("Name of that bank.", text_of(70))] = ""
    prices_with_tax: Annotated[
        bool, flag("Whether the price with tax is the same in each country.")
    ] = True
    creditor_id: Annotated[
        str,
        Reading(
            "Creditor identifier of the seller, for direct debits.", identifiers.creditor_identifier
        ),
    ] = ""
    debit_notice_days: Annotated[
        int, Reading("Days from an invoice to its direct debit, 1 to 365.", number(1, 365))
    ] = 14
    mandate_rests_after: Annotated[
        int,
        Reading("Returned debits in a row after which a mandate rests, 1 to 9.", number(1, 9)),
    ] = 2
    invoice_number: Annotated[
        str, Reading("Form of an invoice's number: {number}, and {year}.", check_form)
    ] = "{year}-{number:06}"
    credit_note_number: Annotated[str, Reading("Form of a credit note's number.", check_form)] = (
        "C{year}-{number:06}"
    )
    due_days: Annotated[int, Reading("Days after which an invoice is due, 0 to 365.", days)] = 14
    tolerance: Annotated[
        int, Reading("Amount that may be missing, and is written off.", cents, decimal)
    ] = 0
    tax_due: Annotated[
        TaxDue,
        Reading("When tax is due: with the payment, or the invoice.", one_of(*get_args(TaxDue))),
    ] = "payment"
    language: Annotated[
        Language, Reading("Language of documents.", one_of(*get_args(Language)))
    ] = "en"
    language_by_country: Annotated[
        bool, flag("Whether documents abroad are in German or English, by the country.")
    ] = False
    renewal_days: Annotated[
        int,
        Reading("Days before the last issue closes on which a renewal is ordered.", days),
    ] = 14
    renewal_notice_days: Annotated[
        int, Reading("Days before that on which an automatic renewal is announced.", days)
    ] = 30
    logo: Annotated[
        str, Reading("Picture at the head of documents: PNG, JPEG or SVG.", logo_of)
    ] = ""
    colour: Annotated[
        str,
        Reading(
            "Colour of lines and headings in documents.",
            matching(COLOUR, "a colour such as #1f3a5f"),
        ),
    ] = "#1f3a5f"
    templates: Annotated[
        str,
        Reading("Folder of changed templates, where documents are made; its whole path.", _folder),
    ] = ""
    mail_from: Annotated[
        str, Reading("Email address from which mails go; without one, none is queued.", _address)
    ] = ""
    mail_reply_to: Annotated[str, Reading("Email address to which answers go.", _address)] = ""
    mail_bounces_to: Annotated[
        str, Reading("Email address to which bounces go; mail_from without it.", _address)
    ] = ""
    mail_sending: Annotated[bool, flag("Whether queued mails are sent at all.")] = False
    mails_per_hour: Annotated[
        int, Reading("The most mails that are sent in an hour.", number(1, 100_000))
    ] = 1_000
    journal_receivables: Annotated[str, Reading("Account of open invoices.", _NUMBER)] = "1200"
    journal_clearing: Annotated[str, Reading("Account of money on its way.", _NUMBER)] = "1460"
    journal_bank: Annotated[str, Reading("Account of the bank.", _NUMBER)] = "1800"
    journal_prepayments: Annotated[
        str, Reading("Account of payments that settle no whole invoice.", _NUMBER)
    ] = "3250"
    journal_tax: Annotated[str, Reading("Account of tax that is due.", _NUMBER)] = "3800"
    journal_tax_not_due: Annotated[str, Reading("Account of tax that is not due yet.", _NUMBER)] = (
        "3810"
    )
    journal_deferred: Annotated[str, Reading("Account of paid issues to come.", _NUMBER)] = "3900"
    journal_unpaid: Annotated[
        str, Reading("Account of what is invoiced and not paid, without tax.", _NUMBER)
    ] = "3901"
    journal_revenue: Annotated[str, Reading("Account of revenue from subscriptions.", _NUMBER)] = (
        "4200"
    )
    journal_product_revenue: Annotated[
        str, Reading("Account of revenue from products.", _NUMBER)
    ] = "4210"
    journal_shipping_revenue: Annotated[
        str, Reading("Account of revenue from shipping.", _NUMBER)
    ] = "4220"
    journal_reminder_fees: Annotated[
        str, Reading("Account of fees of reminders that were paid.", _NUMBER)
    ] = "4830"
    journal_fees: Annotated[str, Reading("Account of fees of banks.", _NUMBER)] = "6855"
    journal_losses: Annotated[str, Reading("Account of what is written off.", _NUMBER)] = "6930"
    journal_opening: Annotated[
        str, Reading("Account of the balances with which billing begins.", _NUMBER)
    ] = "9000"
    datev_consultant: Annotated[
        str, Reading("Number of the accountant at DATEV (Berater).", matching(_DIGITS, "a number"))
    ] = ""
    datev_client: Annotated[
        str,
        Reading("Number of the publisher there (Mandant).", matching(_DIGITS, "a number")),
    ] = ""
    datev_account_length: Annotated[
        int, Reading("Digits of an account there, 4 to 8.", number(4, 8))
    ] = 4
    fiscal_year_month: Annotated[
        int, Reading("Month with which the fiscal year begins, 1 to 12.", number(1, 12))
    ] = 1

    @property
    def logo_picture(self) -> tuple[str, bytes] | None:
        """The ending of the logo's file (png, jpeg, svg) and its bytes; None if there is none."""
        found = LOGO.fullmatch(self.logo)
        if not found:
            return None
        return found[1].removesuffix("+xml"), base64.b64decode(found[2])

    @property
    def tax_account(self) -> JournalAccount:
        """The account that has the tax of an invoice until the invoice is whole."""
        return "tax" if self.tax_due == "invoice" else "tax_not_due"

    def journal_number(self, account: JournalAccount) -> str:
        """Return the number of an account of the journal by its name, such as ``receivables``."""
        return cast("str", getattr(self, f"{_JOURNAL}{account}"))


_SETTINGS = DescribedSettings(
    BillingSettings, "billing", lambda field: field.replace(_JOURNAL, "journal.", 1)
)

SETTINGS = _SETTINGS.described
"""All settings, in the order in which they are listed."""

stored_text = _SETTINGS.stored_text
settings_from = _SETTINGS.settings_from
texts_of = _SETTINGS.texts_of


def check_alike(settings: BillingSettings) -> None:
    """Raise BadInput if two settings do not fit together: numbers of both kinds must differ."""
    if are_alike(settings.invoice_number, settings.credit_note_number):
        raise BadInput(
            "invoice_number and credit_note_number are such that an invoice and a credit note "
            "could have the same number: give one of them a letter that the other has not"
        )


def lacking_for_invoices(settings: BillingSettings) -> tuple[str, ...]:
    """Return the names of settings without which no invoice is valid; () if none is missing."""
    missing = [*lacking_for_letters(settings)]
    if not (settings.seller_vat_id or settings.seller_tax_number):
        missing.append("seller_vat_id or seller_tax_number")
    return tuple(missing)


def lacking_for_letters(settings: BillingSettings) -> tuple[str, ...]:
    """Return the names of settings without which a letterhead is not whole; () if none is."""
    needed = ("seller_name", "seller_street", "seller_city", "seller_country")
    return tuple(name for name in needed if not getattr(settings, name))
