"""The control port of the emulator: JSON in and out, errors as ``{"error": "…"}``.

It changes data without credentials, so no web page may use it (rules, "The control port"). It
refuses requests that a browser sends for a page, by ``Origin`` and ``Sec-Fetch-Site``; on loopback
it also refuses any ``Host`` that is not a name of loopback.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, Protocol

import msgspec
from anyio import from_thread, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from masthead.api.http.responses import error
from masthead.emulator import base_set
from masthead.emulator.faults import (
    AnyFault,
    CutAfter,
    Delay,
    Faults,
    Malformed,
    ResetConnection,
    Respond,
    Seconds,
    Slow,
)
from masthead.emulator.publisher import API_KEY, API_LOGIN, Publisher
from masthead.errors import BadInput, MastheadError, NotFound
from masthead.loading.batches import QUOTED_MAX, first_repeated

BODY_BYTES_MAX = 64 * 1024 * 1024

_LOOPBACK = re.compile(r"(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]+)?", re.IGNORECASE)
_NO_PAGE = "this port is for programs, not for web pages"

_Records = list[msgspec.Raw]
_Ids = list[int | str]


class _Key:
    """A key of a JSON object. It equals no other key, so that a dict keeps repeated keys."""

    def __init__(self, name: str) -> None:
        self.name = name


_decode_keys = msgspec.json.Decoder(
    dict[_Key, msgspec.Raw], dec_hook=lambda _type, name: _Key(name)
).decode


class _Move(msgspec.Struct, forbid_unknown_fields=True):
    """By how much to move the clock."""

    days: float = 0
    hours: float = 0
    minutes: float = 0
    seconds: float = 0


class _CodeOf(msgspec.Struct, forbid_unknown_fields=True):
    """Whose one-time code to make."""

    subscriber_id: int


class _Refusal(msgspec.Struct, forbid_unknown_fields=True):
    """For how long to refuse connections; None: until the faults are cleared."""

    seconds: Seconds | None = None


class Port(Protocol):
    """The port of the service (``serving``)."""

    @property
    def refuses(self) -> bool:
        """Whether connections are refused."""
        ...

    async def refuse(self, seconds: float | None) -> None:
        """End all connections and refuse new ones, for so many seconds or until :meth:`accept`."""

    async def accept(self) -> None:
        """Accept connections again."""


class Control(NamedTuple):
    """What the control port controls."""

    publisher: Publisher
    faults: Faults
    port: Port
    base_url: str

    def show(self, _body: bytes) -> object:
        """Return the publisher's address and credentials."""
        return {
            "base_url": self.base_url,
            "api_key": API_KEY,
            "api_login": API_LOGIN,
            "now": self.publisher.now(),
            "operations": [f"{o.method} {o.path}: {o.meaning}" for o in OPERATIONS],
        }

    def add(self, body: bytes) -> object:
        """Add records, all or none."""
        return self.publisher.add(_records(body))

    def change(self, body: bytes) -> object:
        """Change records, all or none."""
        return self.publisher.change(_records(body))

    def remove(self, body: bytes) -> object:
        """Remove records."""
        return self.publisher.remove(_by_kind(body, _Ids))

    def add_base_set(self, _body: bytes) -> object:
        """Add the records of the base set, and return the ids of its subscribers by name."""
        self.publisher.add(base_set.records(self.publisher.clock()))
        return {"subscribers": {each.name.lower(): each.value for each in base_set.BaseSet}}

    def entitlement_code(self, body: bytes) -> object:
        """Return a one-time code of a subscriber."""
        of = _decoded(body, _CodeOf)
        return {"code": self.publisher.entitlement_code(of.subscriber_id)}

    def clock(self, _body: bytes) -> object:
        """Return the time."""
        return {"now": self.publisher.now()}

    def move_clock(self, body: bytes) -> object:
        """Move the clock, and return the time."""
        move = _decoded(body, _Move)
        try:
            by = timedelta(move.days, move.seconds, 0, 0, move.minutes, move.hours)
        except OverflowError:
            raise BadInput("the clock cannot be moved that far") from None
        return {"now": self.publisher.move_clock(by)}

    def waiting_faults(self, _body: bytes) -> object:
        """Return the pending faults."""
        refusing = [{"type": "refuse-connections"}] if self.port.refuses else []
        return {"faults": [*refusing, *self.faults.waiting()]}

    def clear_faults(self, body: bytes) -> object:
        """Remove the pending faults."""
        from_thread.run(self.port.accept)
        self.faults.clear()
        return self.waiting_faults(body)

    def add_fault(self, fault: type[AnyFault], body: bytes) -> object:
        """Add a fault of the next responses."""
        self.faults.add(_decoded(body, fault))
        return self.waiting_faults(body)

    def refuse_connections(self, body: bytes) -> object:
        """Refuse connections."""
        from_thread.run(self.port.refuse, _decoded(body, _Refusal).seconds)
        return self.waiting_faults(body)

    def new_epoch(self, _body: bytes) -> object:
        """Begin a new epoch of the change feed."""
        self.publisher.begin_epoch()
        return {"now": self.publisher.now()}

    def requests(self, _body: bytes) -> object:
        """Return the received requests."""
        return {"requests": self.faults.asked()}

    def forget_requests(self, _body: bytes) -> object:
        """Empty the log of requests."""
        self.faults.forget_asked()
        return {"requests": []}

    def reset(self, _body: bytes) -> object:
        """Restore the initial state: records, clock, faults, log."""
        from_thread.run(self.port.accept)
        self.faults.clear()
        self.publisher.reset()
        self.faults.forget_asked()
        return {"now": self.publisher.now()}


class Operation(NamedTuple):
    """A path of the control port, its function, and an example body ("" for no body)."""

    method: str
    path: str
    run: Callable[[Control, bytes], object]
    meaning: str
    example: str = ""


def _fault(fault: type[AnyFault], meaning: str, example: str) -> Operation:
    def add(control: Control, body: bytes) -> object:
        return control.add_fault(fault, body)

    return Operation("POST", f"/faults/{fault.__struct_config__.tag}", add, meaning, example)


OPERATIONS = (
    Operation("GET", "/", Control.show, "base URL, credentials, time, and these operations"),
    Operation(
        "POST",
        "/records",
        Control.add,
        "adds records, all or none",
        '{"subscribers": [{"subscriber_id": 1}]}',
    ),
    Operation(
        "PATCH",
        "/records",
        Control.change,
        "changes the given columns of records, all or none",
        '{"subscribers": [{"subscriber_id": 1, "email": "ann@reader.example"}]}',
    ),
    Operation(
        "DELETE",
        "/records",
        Control.remove,
        "removes records of a kind, all or none; a subscriber stays, with a delete_date",
        '{"subscribers": [1]}',
    ),
    Operation("GET", "/clock", Control.clock, "the time of the emulator"),
    Operation(
        "POST",
        "/clock",
        Control.move_clock,
        "moves the clock by days, hours, minutes, seconds, also negative ones",
        '{"days": 6}',
    ),
    Operation(
        "POST",
        "/base-set",
        Control.add_base_set,
        "adds a small publisher, and returns the ids of its subscribers by name",
    ),
    Operation(
        "POST",
        "/entitlement-codes",
        Control.entitlement_code,
        "a one-time code of a subscriber, as the readers' pages make it",
        '{"subscriber_id": 1}',
    ),
    _fault(
        Respond,
        "responds to the next requests with a status, headers and a body",
        '{"status": 429, "headers": {"Retry-After": "5"}, "requests": 3}',
    ),
    _fault(Delay, "handles the next requests after so many seconds", '{"seconds": 0.2}'),
    _fault(
        Slow,
        "sends the next responses at so many bytes a second",
        '{"bytes_per_second": 100}',
    ),
    _fault(
        CutAfter,
        "cuts the next responses after so many bytes of their bodies",
        '{"bytes": 1000, "requests": 1, "path": "/2/cdc"}',
    ),
    _fault(
        ResetConnection,
        "resets the connections of the next responses, before them or after so many bytes of "
        "their bodies",
        '{"bytes": 1000}',
    ),
    _fault(
        Malformed,
        "makes the JSON of the next responses invalid: its last bracket is missing",
        '{"requests": null}',
    ),
    Operation(
        "POST",
        "/faults/refuse-connections",
        Control.refuse_connections,
        "ends all connections and refuses new ones, for so many seconds or until the faults are "
        "cleared",
        '{"seconds": 2}',
    ),
    Operation(
        "POST",
        "/faults/new-epoch",
        Control.new_epoch,
        "begins a new epoch: the change feed refuses all times before it, with 410",
    ),
    Operation("GET", "/faults", Control.waiting_faults, "the faults that wait"),
    Operation("DELETE", "/faults", Control.clear_faults, "forgets the faults that wait"),
    Operation("GET", "/requests", Control.requests, "what was asked: the last 10,000 requests"),
    Operation("DELETE", "/requests", Control.forget_requests, "empties that log"),
    Operation("POST", "/reset", Control.reset, "goes back to the beginning"),
)


def control_app(control: Control, *, is_loopback: bool) -> Starlette:
    """Return the ASGI app; ``is_loopback`` tells whether it is served only on loopback."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation

    async def respond(of_path: dict[str, Operation], request: Request) -> Response:
        _check_asker(request, is_loopback=is_loopback)
        operation = of_path.get(request.method)
        if operation is None:
            allowed = ", ".join(of_path)
            raise HTTPException(405, f"{request.url.path} has {allowed}", {"Allow": allowed})
        body = await _body(request)
        found = await to_thread.run_sync(operation.run, control, body)
        return Response(msgspec.json.encode(found), media_type="application/json")

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    routes = [
        Route(path, partial(respond, of_path), methods=methods) for path, of_path in by_path.items()
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: _http_error,
            MastheadError: _error,
            Exception: _own_mistake,
        },
    )
    # A path with an extra slash gets the usual message for an unknown path, not an empty redirect.
    app.router.redirect_slashes = False
    return app


def _check_asker(request: Request, *, is_loopback: bool) -> None:
    """Raise HTTPException 403 for a request of a web page."""
    headers = request.headers
    if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
        raise HTTPException(403, _NO_PAGE)
    if is_loopback and not _LOOPBACK.fullmatch(headers.get("host", "")):
        raise HTTPException(403, f"{_NO_PAGE}: ask it as 127.0.0.1 or localhost")


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES_MAX:
            raise HTTPException(413, f"a body has at most {BODY_BYTES_MAX >> 20} MiB")
    return bytes(body)


def _decoded(body: bytes, wanted: Any, kind: str = "") -> Any:
    """Return JSON decoded as ``wanted``: the body, or its part for a kind.

    Raises BadInput if it cannot be decoded.
    """
    try:
        found = msgspec.json.decode(body or b"{}", type=wanted)
        if body and not kind:
            _check_keys(body)
    except msgspec.ValidationError as reason:
        what, _, place = str(reason).partition(" - at `$")
        where = kind + place.strip("`").lstrip("." if not kind else "")
        sentence = what.replace("`", "")
        raise BadInput(f"{where}: {sentence}" if where else f"the body: {sentence}") from None
    except msgspec.DecodeError as reason:
        raise BadInput(f"the body is not valid JSON: {reason}") from None
    except RecursionError:
        raise BadInput(f"{kind or 'the body'}: nested too deeply") from None
    return found


def _check_keys(body: bytes) -> None:
    """Raise BadInput if a JSON object repeats a key; a decoder would keep the last one."""
    if twice := first_repeated(key.name for key in _decode_keys(body)):
        raise BadInput(f"the body: the key {twice[:QUOTED_MAX]} occurs twice; once is enough")


def _by_kind(body: bytes, wanted: Any) -> dict[str, Any]:
    """Return the body's part for each kind as ``wanted``; raise BadInput if it does not fit."""
    if not body:
        raise BadInput('a body is missing, such as {"subscribers": [{"subscriber_id": 1}]}')
    of_kinds = _decoded(body, dict[str, msgspec.Raw])
    return {kind: _decoded(given, wanted, kind) for kind, given in of_kinds.items()}


def _records(body: bytes) -> dict[str, list[bytes]]:
    found = _by_kind(body, _Records)
    return {kind: [bytes(record) for record in records] for kind, records in found.items()}


def _http_error(_request: Request, reason: Exception) -> Response:
    assert isinstance(reason, HTTPException)
    sentence = reason.detail
    if reason.status_code == 404:
        paths = ", ".join(dict.fromkeys(operation.path for operation in OPERATIONS))
        sentence = f"there is no such path; there are {paths}"
    return error(reason.status_code, sentence, reason.headers)


def _error(_request: Request, reason: Exception) -> Response:
    if isinstance(reason, NotFound):
        return error(404, str(reason))
    return error(400 if isinstance(reason, BadInput) else 503, str(reason))


def _own_mistake(_request: Request, _reason: Exception) -> Response:
    return error(500, "the emulator made a mistake; what it prints to standard error has it")
