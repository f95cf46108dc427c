"""The country of a reader, by the words of an address (billing, "Tax")."""

from functools import lru_cache
from typing import NamedTuple

from masthead.billing.countries import CODES
from masthead.errors import BadUsage

_LANGUAGES = ("en", "de")
_OTHER_NAMES = {
    "ENGLAND": "GB",
    "GREAT BRITAIN": "GB",
    "UK": "GB",
    "U.S.": "US",
    "U.S.A.": "US",
    "UNITED STATES OF AMERICA": "US",
    "USA": "US",
}
"""Names that the lists of countries lack, in capitals."""


class Place(NamedTuple):
    """Where a reader is: the code of the country, and the state in capitals, '' if not known."""

    country: str
    state: str = ""


def country_of(*texts: str | None) -> str | None:
    """Return the code of the country that the first of the texts names that names one.

    A text is a code with two letters, or the English or German name of a country. Returns None if
    none of them is, and "" if all texts are empty. Raises BadUsage if a name cannot be looked up,
    because the extra ``billing`` is not installed.
    """
    given = [text.strip().upper() for text in texts if text and text.strip()]
    for text in given:
        code = text if text in CODES else _OTHER_NAMES.get(text) or _codes_by_name().get(text)
        if code:
            return code
    return None if given else ""


@lru_cache(maxsize=1)
def _codes_by_name() -> dict[str, str]:
    try:
        from babel import Locale  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise BadUsage(
            f"looking up the name of a country needs the package {error.name}, which is not "
            "installed here",
            code="needs_billing_packages",
        ) from error
    return {
        str(name).upper(): code
        for language in _LANGUAGES
        for code, name in Locale(language).territories.items()
        if code in CODES
    }
