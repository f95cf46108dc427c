"""The media type that a client prefers, by its header ``Accept`` (RFC 9110 section 12.5.1)."""

from collections.abc import Sequence

from masthead.api.http.compression import QUALITY


def media_type_for(accept: str, offered: Sequence[str]) -> str:
    """Return the offered media type that the client prefers, the first one if it prefers none.

    The most specific range that includes a type gives its quality. Of two types with the same
    quality, the one with the more specific range is preferred. Nothing is refused: a client that
    accepts none of the types gets the first.
    """
    ranges = _ranges(accept)

    def preference(media_type: str) -> tuple[float, int]:
        wider = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
        for precision, name in zip((2, 1, 0), wider, strict=True):
            if name in ranges:
                return ranges[name], precision if ranges[name] else 0
        return 0.0, 0

    return max(offered, key=preference)


def _ranges(accept: str) -> dict[str, float]:
    """Return the quality of each media range, without its parameters."""
    found: dict[str, float] = {}
    for part in accept.lower().split(","):
        name, *parameters = (word.strip() for word in part.split(";"))
        given = [parameter for parameter in parameters if parameter.startswith("q=")]
        quality = QUALITY.fullmatch(given[0]) if given else None
        found[name] = float(quality[1]) if quality else float(not given)
    return found
