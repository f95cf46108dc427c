"""The settings of an account's billing: names, defaults, meanings, and how a value is read.

Add a new one as a field of :class:`BillingSettings`. The stored name of a setting is that of its
field; those of the journal are written with a dot, ``journal.bank``.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args, get_type_hints

from masthead.billing import identifiers
from masthead.billing.countries import EU, country_code
from masthead.billing.journal_accounts import JournalAccount
from masthead.billing.numbering import are_alike, check_form
from masthead.circulation.amounts import cents_of, decimal
from masthead.errors import BadInput
from masthead.mail.addresses import is_address

TaxDue = Literal["invoice", "payment"]
Language = Literal["en", "de"]

LOGO_BYTES_MAX = 256 * 1024
"""The most bytes of a logo."""

_LOGO = re.compile(r"data:image/(png|jpeg|svg\+xml);base64,(.*)", re.DOTALL)
_NUMBER_OF_ACCOUNT = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]{0,19}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_DIGITS = re.compile(r"[0-9]{1,7}")
_JOURNAL = "journal_"
_WORDS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}


class Reading(NamedTuple):
    """A setting's meaning in one line, how its text is read, and how its value is written.

    ``read`` raises BadInput for a bad text, and accepts what ``write`` writes.
    """

    meaning: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str


def _text(most: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        if len(text) > most:
            raise BadInput(f"{text[:40]!r}… has {len(text)} characters: {most} is the most")
        if not text.isprintable():
            raise BadInput(
                f"{text!r} has characters that cannot be printed: it is one line of text"
            )
        return text

    return read


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in choices:
            raise BadInput(f"{text!r} is not one of {', '.join(choices)}")
        return text.lower()

    return read


def _matching(pattern: re.Pattern[str], what: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if not pattern.fullmatch(text):
            raise BadInput(f"{text!r} is not {what}")
        return text

    return read


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 365):
        raise BadInput(f"{text!r} is not a number of days from 0 to 365")
    return int(text)


def _number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text[:9]) <= most):
            raise BadInput(f"{text!r} is not a number from {least} to {most}")
        return int(text)

    return read


def _cents(text: str) -> int:
    try:
        return cents_of(text)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _truth(text: str) -> bool:
    try:
        return _WORDS[text.lower()]
    except KeyError:
        raise BadInput(f"{text!r} is not yes or no") from None


def _vat_id(text: str) -> str:
    prefix = text.strip()[:2].upper()
    if identifiers.vat_country(prefix) in EU:
        return identifiers.vat_number(text)
    return _text(20)(text)


def _address(text: str) -> str:
    if not is_address(text):
        raise BadInput(f"{text!r} is not an email address such as service@example.org")
    return text


def _folder(text: str) -> str:
    if not text.startswith("/"):
        raise BadInput(f"{text!r} is not the whole path of a folder, such as /srv/templates")
    return _text(200)(text)


def _logo(text: str) -> str:
    found = _LOGO.fullmatch(text)
    if not found:
        raise BadInput("a logo is a PNG, JPEG or SVG, as a data URL: data:image/png;base64,…")
    try:
        size = len(base64.b64decode(found[2], validate=True))
    except binascii.Error:
        raise BadInput("the data URL of the logo is not valid Base64") from None
    if size > LOGO_BYTES_MAX:
        raise BadInput(f"the logo has {size:,} bytes: {LOGO_BYTES_MAX:,} is the most")
    return text


_NUMBER = _matching(_NUMBER_OF_ACCOUNT, "the number of an account: letters, digits, '.' and '-'")
_TRUTH = ("no", "yes")


@dataclass(frozen=True, kw_only=True)
class BillingSettings:
    """The settings of an account; a text that is not set is "" (billing, "Rules").

    Amounts are whole cents. The defaults of the journal are numbers of the German chart SKR 04.
    """

    seller_name: Annotated[str, Reading("Name of the seller, as on invoices.", _text(70))] = ""
    seller_street: Annotated[str, Reading("Street of the seller.", _text(70))] = ""
    seller_city: Annotated[str, Reading("City of the seller.", _text(70))] = ""
    seller_postal_code: Annotated[str, Reading("Postal code of the seller.", _text(16))] = ""
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
        str, Reading("Tax number of the seller, where it has no VAT number.", _text(30))
    ] = ""
    seller_email: Annotated[
        str, Reading("Email address for questions.", _matching(_EMAIL, "an email address"))
    ] = ""
    seller_iban: Annotated[
        str, Reading("IBAN to which payers transfer, with its check digits.", identifiers.iban)
    ] = ""
    seller_bic: Annotated[str, Reading("BIC of that bank.", identifiers.bic)] = ""
    seller_bank: Annotated[str, Reading("Name of that bank.", _text(70))] = ""
    prices_with_tax: Annotated[
        bool,
        Reading(
            "Whether the price with tax is the same in each country.",
            _truth,
            lambda value: _TRUTH[value],
        ),
    ] = True
    creditor_id: Annotated[
        str,
        Reading(
            "Creditor identifier of the seller, for direct debits.", identifiers.creditor_identifier
        ),
    ] = ""
    debit_notice_days: Annotated[
        int, Reading("Days from an invoice to its direct debit, 1 to 365.", _number(1, 365))
    ] = 14
    mandate_rests_after: Annotated[
        int,
        Reading("Returned debits in a row after which a mandate rests, 1 to 9.", _number(1, 9)),
    ] = 2
    invoice_number: Annotated[
        str, Reading("Form of an invoice's number: {number}, and {year}.", check_form)
    ] = "{year}-{number:06}"
    credit_note_number: Annotated[str, Reading("Form of a credit note's number.", check_form)] = (
        "C{year}-{number:06}"
    )
    due_days: Annotated[int, Reading("Days after which an invoice is due, 0 to 365.", _days)] = 14
    tolerance: Annotated[
        int, Reading("Amount that may be missing, and is written off.", _cents, decimal)
    ] = 0
    tax_due: Annotated[
        TaxDue,
        Reading("When tax is due: with the payment, or the invoice.", _one_of(*get_args(TaxDue))),
    ] = "payment"
    language: Annotated[
        Language, Reading("Language of documents.", _one_of(*get_args(Language)))
    ] = "en"
    renewal_days: Annotated[
        int,
        Reading("Days before the last issue closes on which a renewal is ordered.", _days),
    ] = 14
    renewal_notice_days: Annotated[
        int, Reading("Days before that on which an automatic renewal is announced.", _days)
    ] = 30
    logo: Annotated[str, Reading("Picture at the head of documents: PNG, JPEG or SVG.", _logo)] = ""
    colour: Annotated[
        str,
        Reading(
            "Colour of lines and headings in documents.",
            _matching(_COLOUR, "a colour such as #1f3a5f"),
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
    mail_sending: Annotated[
        bool,
        Reading("Whether queued mails are sent at all.", _truth, lambda value: _TRUTH[value]),
    ] = False
    mails_per_hour: Annotated[
        int, Reading("The most mails that are sent in an hour.", _number(1, 100_000))
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
        str, Reading("Number of the accountant at DATEV (Berater).", _matching(_DIGITS, "a number"))
    ] = ""
    datev_client: Annotated[
        str,
        Reading("Number of the publisher there (Mandant).", _matching(_DIGITS, "a number")),
    ] = ""
    datev_account_length: Annotated[
        int, Reading("Digits of an account there, 4 to 8.", _number(4, 8))
    ] = 4
    fiscal_year_month: Annotated[
        int, Reading("Month with which the fiscal year begins, 1 to 12.", _number(1, 12))
    ] = 1

    @property
    def logo_picture(self) -> tuple[str, bytes] | None:
        """The ending of the logo's file (png, jpeg, svg) and its bytes; None if there is none."""
        found = _LOGO.fullmatch(self.logo)
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


_DEFAULTS = BillingSettings()


class BillingSetting(NamedTuple):
    """A setting: its stored name, its meaning, its default as text, and the field's name."""

    name: str
    meaning: str
    default: str
    field: str


def _name(field: str) -> str:
    return field.replace(_JOURNAL, "journal.", 1)


_READINGS: Mapping[str, tuple[str, Reading]] = {
    _name(field): (field, get_args(hint)[1])
    for field, hint in get_type_hints(BillingSettings, include_extras=True).items()
}

SETTINGS: tuple[BillingSetting, ...] = tuple(
    BillingSetting(
        _name(field.name),
        _READINGS[_name(field.name)][1].meaning,
        _READINGS[_name(field.name)][1].write(field.default),
        field.name,
    )
    for field in fields(BillingSettings)
)
"""All settings, in the order in which they are listed."""


def stored_text(name: str, text: str) -> str:
    """Return the text of a setting as it is stored, such as ``yes`` for ``true``; "" clears it.

    Raises BadInput with the setting's name for a bad value, and for a name that no setting has.
    """
    _, reading = _reading(name)
    text = text.strip()
    if not text:
        return ""
    try:
        return reading.write(reading.read(text))
    except BadInput as error:
        raise type(error)(f"{name}: {error}", code=error.code, **error.values) from None


def settings_from(stored: Iterable[tuple[str, str]]) -> BillingSettings:
    """Return the settings from names and texts of :func:`stored_text`; others have their defaults.

    Texts were checked when they were stored, so that this needs no packages. Raises BadInput for a
    name that no setting has, and for what should be a number and is none.
    """
    values: dict[str, Any] = {}
    for name, text in stored:
        field, reading = _reading(name)
        is_text = isinstance(getattr(_DEFAULTS, field), str)
        values[field] = text if is_text else reading.read(text)
    return BillingSettings(**values)


def texts_of(settings: BillingSettings) -> dict[str, str]:
    """Return the text of each setting by its name, as :func:`stored_text` returns it."""
    return {
        name: reading.write(getattr(settings, field))
        for name, (field, reading) in _READINGS.items()
    }


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


def _reading(name: str) -> tuple[str, Reading]:
    try:
        return _READINGS[name]
    except KeyError:
        near = get_close_matches(name, _READINGS, 1)
        raise BadInput(
            f"billing has no setting {name!r}" + (f": did you mean {near[0]}?" if near else "")
        ) from None
