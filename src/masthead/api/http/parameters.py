"""Request parameters: from the query string, a JSON body or a form body, checked by the contract.

For what is accepted and refused, see rules, "Requests". The operation defines what a value
means.
"""

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request as StarletteRequest

from masthead.contract.kinds import Text
from masthead.contract.operations import Operation
from masthead.errors import BadInput

BODY_BYTES_MAX = 16 * 1024
TOO_LARGE = (
    f"the body of a request is at most {BODY_BYTES_MAX} bytes: send fewer or shorter parameters"
)
_CLOSE = {"Connection": "close"}
_FIELDS_MAX = 100
_NOT_AN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")

Value = TypeVar("Value")
Values = dict[str, int | str]
"""Parameters by name, as their kinds parse them; only those that were given."""


class UnknownParameter(BadInput):
    """A parameter that the operation does not have."""


async def read_body(request: StarletteRequest) -> bytes:
    """Return the body of a request.

    Raises HTTPException 413 if it is longer than :data:`BODY_BYTES_MAX`, BadInput if it is
    compressed, ClientDisconnect if the client disconnects, and the errors of the server's
    ``receive`` (``masthead.api.http.protocol``: a body that is not complete in time, or not HTTP).
    """
    if int(request.headers.get("content-length", "0")) > BODY_BYTES_MAX:
        raise _too_large()
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES_MAX:
            raise _too_large()
    codings = request.headers.getlist("content-encoding")
    if body and any(coding.lower() != "identity" for coding in codings):
        raise BadInput("the body is compressed: send it as it is")
    return body


def _too_large() -> HTTPException:
    return HTTPException(413, TOO_LARGE, _CLOSE)


def read_parameters(operation: Operation, query: bytes, body: bytes) -> Values:
    """Return the parameters of a request to ``operation``.

    Raises BadInput for an unknown parameter, one that is given twice, an invalid value, and a
    missing required parameter.
    """
    known = {parameter.name: parameter for parameter in operation.parameters}
    values: Values = {}
    for name, text in _given(query, body).items():
        if name not in known:
            raise UnknownParameter(_unknown(name, list(known)))
        kind = known[name].kind
        try:
            if not text and not isinstance(kind, Text):
                raise ValueError("is empty: leave it out, or give it a value")
            values[name] = kind.parse(text)
        except ValueError as error:
            raise BadInput(f"{name}: {error}") from None
    for parameter in operation.parameters:
        if parameter.required and parameter.name not in values:
            raise BadInput(f"{{{parameter.name}}} is a required field")
    return values


def _given(query: bytes, body: bytes) -> dict[str, str]:
    given: dict[str, str] = {}
    if query or body:
        for name, value in (*_once_each(_form(query)), *_from_body(body)):
            if given.setdefault(name, value) != value:
                raise BadInput(f"{name} is given twice, with two values: give one of them")
    return given


def _unknown(name: str, known: list[str]) -> str:
    if not known:
        return f"this operation takes no parameters, so {name!r} means nothing to it"
    nearest = get_close_matches(name, known, n=1, cutoff=0)[0]
    return f"there is no parameter {name!r} here; the nearest is {nearest!r}"


def _once_each(pairs: Iterable[tuple[str, Value]]) -> Iterable[tuple[str, Value]]:
    found: dict[str, Value] = {}
    for name, value in pairs:
        if name in found:
            raise BadInput(f"{name} is given twice: once is enough")
        found[name] = value
    return found.items()


def _form(text: bytes) -> list[tuple[str, str]]:
    if not text:
        return []
    if found := _NOT_AN_ESCAPE.search(text):
        raise BadInput(
            f"a % stands before two hexadecimal digits, and character {found.start() + 1} of the "
            "parameters does not: %25 is the character itself"
        )
    try:
        return parse_qsl(
            text.decode(), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_MAX
        )
    except UnicodeDecodeError:
        raise BadInput("the parameters are not valid UTF-8") from None
    except ValueError:
        raise BadInput(f"there are more than {_FIELDS_MAX} parameters") from None


def _from_body(body: bytes) -> Iterable[tuple[str, str]]:
    text = body.strip()
    if text[:1] not in {b"{", b"["}:
        return _once_each(_form(text))
    try:
        found = json.loads(
            text.decode(),
            object_pairs_hook=_Object,
            parse_int=str,
            parse_float=str,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError):
        raise BadInput("the body begins like JSON, but it is not valid JSON") from None
    if found == [] and not isinstance(found, _Object):
        return ()
    if isinstance(found, list) and not isinstance(found, _Object) and len(found) == 1:
        (found,) = found
    if not isinstance(found, _Object):
        raise BadInput("a JSON body is one object, or an array with one object")
    return _texts(found)


class _Object(list[tuple[str, Any]]):
    """The members of a JSON object, including those that occur twice."""


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _texts(members: _Object) -> Iterable[tuple[str, str]]:
    for name, value in _once_each(members):
        if value is None:
            continue
        if isinstance(value, bool):
            yield name, "true" if value else "false"
        elif isinstance(value, str):
            yield name, value
        else:
            raise BadInput(f"{name} is nested: its value is a text, a number, true, false or null")
