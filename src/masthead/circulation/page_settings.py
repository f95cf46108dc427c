"""The settings of an account's readers' pages: names, defaults, meanings, and how a value is read.

Add a new one as a field of :class:`PageSettings` (readers' pages, "Settings").
"""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from masthead.circulation.setting_values import (
    COLOUR,
    EMAIL,
    LOGO,
    DescribedSettings,
    Reading,
    flag,
    logo_of,
    matching,
    number,
    one_of,
    text_of,
)
from masthead.errors import BadInput

Cancelling = Literal["at_end", "at_once", "no"]
"""Whether readers cancel: at the end of what is paid, at once, or not on their pages."""

RESERVED = ("entitlements", "health", "static")
"""Names that no site has, since the server has something else at their paths."""

_SITE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_PURPOSE = re.compile(r"[a-z0-9_-]{1,30}")
_URL_MAX = 500


class Purpose(NamedTuple):
    """What a reader can consent to: its stored name, and its words on the page."""

    name: str
    words: str


def _site(text: str) -> str:
    text = text.lower()
    if not _SITE.fullmatch(text):
        raise BadInput(f"{text!r} is not a short name of letters, digits and hyphens, such as tide")
    if text in RESERVED:
        raise BadInput(f"{text!r} is a path of the server itself: choose another name")
    return text


def _https(text: str) -> str:
    what = f"{text[:80]!r} is not an address that begins with https://"
    if len(text) > _URL_MAX or not text.isascii() or not text.isprintable() or " " in text:
        raise BadInput(what)
    try:
        found = urlsplit(text)
        is_one = found.scheme == "https" and bool(found.hostname) and "@" not in found.netloc
    except ValueError:
        is_one = False
    if not is_one or any(each in text for each in "\"'<>\\"):
        raise BadInput(what)
    return text


def _languages(text: str) -> tuple[str, ...]:
    codes = tuple(each.strip().lower() for each in text.split(","))
    wrong = next((each for each in codes if not _LANGUAGE.fullmatch(each)), None)
    if wrong is not None:
        raise BadInput(f"{wrong!r} is not the code of a language, such as en or de")
    return tuple(dict.fromkeys(codes))


def _written(codes: Sequence[str]) -> str:
    return ",".join(codes)


def _purposes(text: str) -> tuple[Purpose, ...]:
    found = []
    for each in text.split(";"):
        name, equals, words = (part.strip() for part in each.partition("="))
        if not (equals and words and _PURPOSE.fullmatch(name)):
            raise BadInput(
                f"{each.strip()!r} is not a purpose such as news=News from us: a name of small "
                "letters and digits, =, and words; a semicolon is between two"
            )
        found.append(Purpose(name, text_of(120)(words)))
    if len({each.name for each in found}) < len(found):
        raise BadInput("two purposes have the same name: give each its own")
    return tuple(found)


def _written_purposes(purposes: Sequence[Purpose]) -> str:
    return ";".join(f"{each.name}={each.words}" for each in purposes)


@dataclass(frozen=True, kw_only=True)
class PageSettings:
    """The settings of an account's readers' pages; a text that is not set is "".

    What is switched off is not on the pages, and no operation does it for a reader.
    """

    site: Annotated[
        str, Reading("Short name in the address of the pages; without one, there are none.", _site)
    ] = ""
    name: Annotated[
        str, Reading("Name of the publisher on the pages; that of the account.", text_of(70))
    ] = ""
    logo: Annotated[str, Reading("Logo: a PNG, JPEG or SVG as a data URL.", logo_of)] = ""
    colour: Annotated[
        str,
        Reading(
            "Colour of the pages, such as #0a4d68.", matching(COLOUR, "a colour such as #0a4d68")
        ),
    ] = "#1f4e79"
    languages: Annotated[
        tuple[str, ...],
        Reading("Languages of the pages, the first one first: en, de.", _languages, _written),
    ] = ("en", "de")
    contact: Annotated[
        str,
        Reading("Email address for questions of readers.", matching(EMAIL, "an email address")),
    ] = ""
    contact_phone: Annotated[str, Reading("Telephone number for them.", text_of(40))] = ""
    imprint_url: Annotated[str, Reading("Address of the imprint (https).", _https)] = ""
    privacy_url: Annotated[str, Reading("Address of the privacy notice (https).", _https)] = ""
    terms_url: Annotated[str, Reading("Address of the terms of sale (https).", _https)] = ""
    address: Annotated[bool, flag("Whether readers change their addresses.")] = True
    temporary_address: Annotated[bool, flag("Whether readers give an address for some days.")] = (
        True
    )
    pause: Annotated[bool, flag("Whether readers pause subscriptions.")] = True
    pause_days: Annotated[
        int, Reading("Days of pauses in a year, at most, 1 to 366.", number(1, 366))
    ] = 60
    pause_notice: Annotated[
        int, Reading("Days from today to the first day of a pause, 0 to 60.", number(0, 60))
    ] = 3
    renew: Annotated[bool, flag("Whether readers renew.")] = True
    buy: Annotated[bool, flag("Whether readers buy subscriptions.")] = True
    gift: Annotated[bool, flag("Whether readers give subscriptions.")] = True
    pay_by_invoice: Annotated[bool, flag("Whether readers can pay by invoice.")] = True
    pay_by_mandate: Annotated[bool, flag("Whether readers with a mandate can pay by it.")] = False
    shop_url: Annotated[
        str, Reading("Address of the shop where readers can pay (https).", _https)
    ] = ""
    paywall_url: Annotated[
        str,
        Reading("Address of your site that gets readers with a one-time code (https).", _https),
    ] = ""
    automatic_renewal: Annotated[bool, flag("Whether readers switch automatic renewal.")] = True
    cancel: Annotated[
        Cancelling,
        Reading("Whether readers cancel: at_end, at_once or no.", one_of(*get_args(Cancelling))),
    ] = "at_end"
    questionnaire: Annotated[bool, flag("Whether readers answer the questions.")] = True
    my_data: Annotated[bool, flag("Whether readers see and download their data.")] = True
    erasure: Annotated[bool, flag("Whether readers ask for erasure.")] = True
    missing_copy: Annotated[bool, flag("Whether readers say that a copy is missing.")] = True
    missing_copies: Annotated[
        int, Reading("Copies in a year that are sent again at once, 0 to 50.", number(0, 50))
    ] = 2
    missing_copy_days: Annotated[
        int, Reading("Days after an issue for that, 1 to 365.", number(1, 365))
    ] = 60
    documents: Annotated[bool, flag("Whether readers have their invoices and letters.")] = True
    purposes: Annotated[
        tuple[Purpose, ...],
        Reading("What readers can consent to.", _purposes, _written_purposes),
    ] = (Purpose("news", "News from us"), Purpose("partners", "News from partners"))

    @property
    def logo_picture(self) -> tuple[str, bytes] | None:
        """The media type of the logo and its bytes; None if there is none."""
        found = LOGO.fullmatch(self.logo)
        return (f"image/{found[1]}", base64.b64decode(found[2])) if found else None


_SETTINGS = DescribedSettings(PageSettings, "the readers' pages")

SETTINGS = _SETTINGS.described
"""All settings, in the order in which they are listed."""

stored_text = _SETTINGS.stored_text
settings_from = _SETTINGS.settings_from
texts_of = _SETTINGS.texts_of
