"""Numbers with check digits: IBANs, BICs, creditor identifiers and VAT numbers.

The packages that know them come with the extra ``billing``. They are imported where they are used,
since they take long to import.
"""

import re

from masthead.billing.countries import EU
from masthead.errors import BadInput, BadUsage

_VAT_PREFIXES = {"EL": "GR"}
"""Prefixes of VAT numbers that are not the code of their country."""

_CREDITOR = re.compile(r"[A-Z]{2}[0-9]{2}[0-9A-Z]{3}[0-9A-Z]{1,28}")


def iban(text: str) -> str:
    """Return an IBAN without spaces, in capitals.

    Raises BadInput if its country, length or check digits are wrong, BadUsage without the extra.
    """
    try:
        import schwifty  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _missing(error, "an IBAN") from error
    try:
        return str(schwifty.IBAN(text))
    except ValueError as error:
        raise BadInput(f"{text!r} is not an IBAN: {_reason(error)}") from None


def bic(text: str) -> str:
    """Return a BIC without spaces, in capitals.

    Raises BadInput if its form or country is wrong, BadUsage without the extra.
    """
    try:
        import schwifty  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _missing(error, "a BIC") from error
    try:
        return str(schwifty.BIC(text))
    except ValueError as error:
        raise BadInput(f"{text!r} is not a BIC: {_reason(error)}") from None


def bic_of(text: str) -> str:
    """Return the BIC of an IBAN's bank, "" if the register of its country has none.

    Raises BadInput if it is not an IBAN, BadUsage without the extra.
    """
    number = iban(text)
    import schwifty  # noqa: PLC0415

    return str(schwifty.IBAN(number).bic or "")


def creditor_identifier(text: str) -> str:
    """Return a creditor identifier of the SEPA without spaces, in capitals.

    Raises BadInput if its form or check digits are wrong, BadUsage without the extra.
    """
    try:
        from stdnum.eu import at_02  # noqa: PLC0415
        from stdnum.exceptions import ValidationError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _missing(error, "a creditor identifier") from error
    try:
        number = str(at_02.validate(text))
    except ValidationError as error:
        raise BadInput(
            f"{text!r} is not a creditor identifier, such as DE98ZZZ09999999999: {_reason(error)}"
        ) from None
    if not _CREDITOR.fullmatch(number):
        raise BadInput(
            f"{text!r} is not a creditor identifier, such as DE98ZZZ09999999999: it has a country, "
            "two check digits, three letters or digits, and the number of the country"
        )
    return number


def vat_number(text: str) -> str:
    """Return a VAT number of the European Union without spaces, with its prefix, in capitals.

    Raises BadInput if its prefix, form or check digits are wrong, BadUsage without the extra. A
    number with right check digits need not have been issued to anybody.
    """
    try:
        from stdnum.eu import vat  # noqa: PLC0415
        from stdnum.exceptions import ValidationError  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _missing(error, "a VAT number") from error
    try:
        number = str(vat.validate(text))
    except ValidationError as error:
        raise BadInput(
            f"{text!r} is not a VAT number of a country of the European Union, such as "
            f"DE136695976: {_reason(error)}"
        ) from None
    if vat_country(number) not in EU:
        raise BadInput(
            f"{text!r} is not a VAT number of a country of the European Union, such as "
            "DE136695976: its first two letters are the country"
        )
    return number


def vat_country(number: str) -> str:
    """Return the country of a VAT number as its code, such as GR for a number with ``EL``."""
    prefix = number[:2]
    return _VAT_PREFIXES.get(prefix, prefix)


def _missing(error: ModuleNotFoundError, what: str) -> BadUsage:
    return BadUsage(
        f"checking {what} needs the package {error.name}, which is not installed here",
        code="needs_billing_packages",
    )


def _reason(error: Exception) -> str:
    """Return what a package says of a number, as a part of a sentence."""
    said = str(error).strip().rstrip(".") or type(error).__name__
    return said[:1].lower() + said[1:]
