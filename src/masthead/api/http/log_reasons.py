"""What the log says about a failed request: a reason, and the path of an unknown route.

Neither contains data from the client, except words of the path in lower-case letters
(rules, "The reason of an error").
"""

import re
from collections.abc import Collection

from starlette.exceptions import HTTPException

from masthead.api.http.credentials import NoRight
from masthead.api.http.overload import Overloaded
from masthead.api.http.parameters import UnknownParameter
from masthead.errors import AccountGone, BadInput, NotFound, StoreUnavailable

LOGIN_LIMIT = "login limit"
"""The reason of a login that is refused after many failures."""

NO_RIGHT = "no right"
"""The reason of a request for an operation that its partner may not ask for."""

_BY_STATUS = {
    401: "no credentials",
    403: "wrong credentials",
    404: "no such path",
    405: "method",
    408: "too slow",
    410: "too old",
    413: "body too long",
    414: "address too long",
    417: "expectation",
    429: "rate limit",
    431: "headers too long",
}
_FIRST_WORD = re.compile(r"\{?(\w+)")
_WORD = r"\.?[a-z_-]{0,26}(?:\.(?:css|html|ico|js|json|php|png|svg|txt|xml))?"
_SHOWN = (
    re.compile(rf"{_WORD}|v?[0-9]{{1,2}}"),
    re.compile(rf"{_WORD}|v[0-9]{{1,2}}"),
)
"""The segments of a path that are shown. A dot is allowed only at the beginning or before a file
extension, since names of people have other dots."""


def reason_of(error: Exception, parameters: Collection[str]) -> str:
    """Return the reason of an error response; ``parameters`` are those of the operation.

    The sentence of an invalid parameter begins with its name.
    """
    match error:
        case UnknownParameter():
            reason = "unknown parameter"
        case BadInput():
            found = _FIRST_WORD.match(str(error))
            is_known = found and found[1] in parameters
            reason = f"parameter {found[1]}" if found and is_known else "parameters"
        case AccountGone():
            reason = _BY_STATUS[403]
        case NotFound():
            reason = "no such id"
        case StoreUnavailable():
            reason = "database"
        case Overloaded():
            reason = error.reason
        case NoRight():
            reason = NO_RIGHT
        case HTTPException():
            reason = reason_of_refusal(error.status_code, error.detail)
        case _:
            reason = "error"
    return reason


def reason_of_refusal(status: int, sentence: str) -> str:
    """Return the reason of a response whose sentence is a constant."""
    return _BY_STATUS.get(status, sentence)


def shown_path(path: str) -> str:
    """Return what the log shows of the path of an unknown route: its first two segments.

    A segment that is neither a word in lower-case letters nor a version, such as ``v2``, becomes
    ``*``. All further segments together become one ``*``.
    """
    segments = path.split("/")[1:]
    shown = [
        segment if pattern.fullmatch(segment) else "*"
        for segment, pattern in zip(segments, _SHOWN, strict=False)
    ]
    return "/".join(["", *shown, *["*"] * (len(segments) > len(shown))])
