"""Which language a reader reads: the one chosen, or the first that the browser asks for."""

from collections.abc import Sequence
from functools import cache

from babel import Locale
from babel.core import negotiate_locale
from starlette.requests import Request
from starlette.responses import Response

from masthead.readers.words import LOCALES

COOKIE = "masthead_language"
"""The cookie with the language that a reader chose."""

SOURCE = "en"
"""The language of the source."""

_YEAR_S = 365 * 24 * 60 * 60
_RANGES_MAX = 20


def chosen(request: Request, offered: Sequence[str]) -> str:
    """Return the language of a request, one of those that the publisher offers.

    The reader's choice comes first, then what the browser prefers (RFC 9110 section 12.5.4), then
    the publisher's first language.
    """
    kept = request.cookies.get(COOKIE, "")
    if kept in offered:
        return kept
    wanted = _wanted(request.headers.get("accept-language", ""))
    return negotiate_locale(wanted, offered, sep="-") or offered[0]


def choose(request: Request, response: Response, language: str, path: str) -> None:
    """Keep the language that a reader chose, for the pages below ``path``."""
    response.set_cookie(
        COOKIE,
        language,
        max_age=_YEAR_S,
        path=path,
        secure=request.app.state.behind_proxy,
        httponly=True,
        samesite="lax",
    )


def offered(languages: Sequence[str]) -> tuple[str, ...]:
    """Return the languages of a publisher that have a catalogue; English if none has."""
    return tuple(each for each in languages if each in _known()) or (SOURCE,)


def known() -> tuple[str, ...]:
    """Return all languages that have a catalogue, English first."""
    return (SOURCE, *sorted(_known() - {SOURCE}))


@cache
def _known() -> frozenset[str]:
    return frozenset((SOURCE, *(path.name for path in LOCALES.iterdir() if path.is_dir())))


def own_name(language: str) -> str:
    """Return what a language calls itself: ``Deutsch``."""
    name = Locale.parse(language).get_display_name(language) or language
    return name[:1].upper() + name[1:]


def _wanted(header: str) -> list[str]:
    """Return the languages of an Accept-Language header, the most wanted first."""
    found: list[tuple[float, str]] = []
    for part in header.split(",")[:_RANGES_MAX]:
        tag, _, quality = part.strip().partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if weight > 0 and tag.strip():
            found.append((weight, tag.strip()))
    return [tag for _, tag in sorted(found, key=lambda each: -each[0])]
