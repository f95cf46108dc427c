"""All that a log line of a request may contain: known words, numbers and addresses.

What fits these cannot be what a client sent, but for its method, which HTTP knows, and for words in
lower-case letters at the start of an unknown path.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

from masthead.contract.operations import EXTENSIONS, OPERATIONS

PARAMETERS = {p.name for o in (*OPERATIONS.values(), *EXTENSIONS) for p in o.parameters}
REASONS = {
    None,
    *(f"parameter {name}" for name in PARAMETERS),
    *("unknown parameter", "parameters", "no credentials", "wrong credentials", "no such path"),
    *("no such id", "method", "too slow", "too old", "body too long", "address too long"),
    *(
        "expectation",
        "rate limit",
        "login limit",
        "no right",
        "headers too long",
        "database",
        "overload",
    ),
    "this is not an HTTP/1.1 request",
    "the address has a character that is not ASCII: percent-encode it, such as %C3%BC",
    "the length of a body has at most 19 digits",
    "the address of a request begins with / and has no #",
    "a request needs one Host header, which names a host",
    "Authorization is given twice: once is enough",
    "a body needs its length, or in HTTP/1.1 the transfer encoding chunked and no other",
    "a request has at most 65536 bytes that are not of its body",
}
LINE = re.compile(
    r"timestamp='[-0-9T:.]{26}Z' level='info' event='request' method=(?:None|'[A-Z-]+') "
    r"path=(?:None|'(?:/(?:[a-z._-]{0,32}|v?[0-9]{1,2}|\*|\{\w+\}))*') status=[0-9]{3} "
    r"reason=(None|'[^']*') duration_ms=[0-9.e-]+ client='([0-9a-f.:]+)' "
    r"account=(?:None|[0-9]+) partner=None user_agent=(?:None|'(?:[\w-]+/[0-9.]+ ?)+') "
    r"request_id='[0-9a-f]{16}'"
)


def assert_lines_are_closed(output: str) -> int:
    """Fail where a line of a request holds anything else; return how many there are."""
    lines = [line for line in output.splitlines() if "event='request'" in line]
    for line in lines:
        found = LINE.fullmatch(line)
        assert found, line
        reason, client = found.groups()
        assert (None if reason == "None" else reason[1:-1]) in REASONS, line
        assert str(ip_address(client)) == client, line
    return len(lines)
