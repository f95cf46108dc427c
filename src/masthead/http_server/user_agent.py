"""The program of a request's client, for the log.

The header ``User-Agent`` names programs with their versions (RFC 9110), and anything else that a
client puts there. The log shows the first three that have the form ``name/1.2``, and a few names
that common programs send without a version. The rest of the header is left out, since it can hold
personal data and credentials (rules, "The program of a client").
"""

import re
from collections.abc import Mapping
from functools import lru_cache

_BYTES_MAX = 512
_PROGRAMS_MAX = 3
_COMMENT = re.compile(r"\([^()]*\)")
_PROGRAM = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,29}/v?[0-9]{1,4}(?:\.[0-9]{1,6}){0,3}")
_WITHOUT_VERSION = {"axios", "curl", "node", "undici"}


def user_agent(headers: Mapping[bytes, bytes]) -> str | None:
    """Return the client's programs and their versions; None if it names none.

    ``headers`` are those of the request, by lower-case name.
    """
    sent = headers.get(b"user-agent")
    return _programs(sent[:_BYTES_MAX]) if sent else None


@lru_cache(maxsize=1024)
def _programs(sent: bytes) -> str | None:
    words = _COMMENT.sub(" ", sent.decode("latin-1")).split()
    found = [each for each in words if _PROGRAM.fullmatch(each) or each in _WITHOUT_VERSION]
    return " ".join(found[:_PROGRAMS_MAX]) or None
