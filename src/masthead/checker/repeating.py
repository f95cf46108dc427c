"""The request that repeats a finding, as a line of a shell with curl.

It holds neither credentials nor values of records: a placeholder such as ``{last_name}`` stands for
such a value (rules, "Checker: what it says and keeps").
"""

import shlex
from collections.abc import Callable, Mapping
from urllib.parse import quote

import msgspec

from masthead.contract.operations import OPERATIONS

_PERSONAL = {"email", "first_name", "last_name", "login", "password", "renewal_code", "source"}
_IDS = {"account_id", "mailing_list_id", "order_id", "subscriber_id"}
_OPEN = {
    parameter.name for operation in OPERATIONS.values() for parameter in operation.parameters
} - (_PERSONAL | _IDS)
_VARIABLES = ("$MASTHEAD_API_KEY", "$MASTHEAD_API_LOGIN")


class MadeUp(str):
    """A value that the checker made up, and that may be shown."""

    __slots__ = ()


class Shown:
    """What a line may show; ``source_of`` says of which record a person's value is."""

    def __init__(self, source_of: Callable[[str, str], str] | None) -> None:
        self._source_of = source_of

    def value(self, name: str, value: str) -> str:
        """Return the value of a parameter or of an id in a path, or a placeholder."""
        if name in _OPEN or isinstance(value, MadeUp) or (name in _IDS and self._source_of):
            return value
        source = self._source_of(name, value) if self._source_of else name
        return f"{{{source}}}"

    def escaped(self, name: str, value: str) -> str:
        """Return the same for a URL."""
        shown = self.value(name, value)
        return shown if shown.startswith("{") else quote(shown, safe="")


def curl(
    url: str, method: str, credentials: tuple[str, ...], own: tuple[str, ...], body: str, kind: str
) -> str:
    """Return the line of a request; the ``own`` credentials are variables in it."""
    words = ["curl -sSi"]
    if method == "HEAD":
        words = ["curl -sSI"]
    elif method != "GET" or body:
        words.append(f"-X {method}")
    if credentials:
        variables = dict(zip(own, _VARIABLES, strict=True))
        words.append(f'-u "{":".join(variables.get(one, one) for one in credentials)}"')
    if body:
        words.append(f"-H {shlex.quote(f'Content-Type: {kind}')} --data {shlex.quote(body)}")
    return " ".join([*words, shlex.quote(url)])


def as_body(parameters: Mapping[str, str]) -> str:
    """Return parameters as a JSON object."""
    return msgspec.json.encode({name: str(value) for name, value in parameters.items()}).decode()
