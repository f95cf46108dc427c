"""What ``masthead.api.http.protocol`` and ``masthead.api.server`` build on in uvicorn.

uvicorn may change any of it in a new release, which is why ``pyproject.toml`` bounds its version.
After an update, read each function that fails here again, and what of ours overrides or calls it.
"""

from __future__ import annotations

import hashlib
import inspect
import threading
from typing import TYPE_CHECKING

import pytest
from uvicorn import Config, Server
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from masthead.api.http.protocol import HttpProtocol
from masthead.api.workers import _Worker

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWER_SECONDS_MAX = 60

USED: dict[Callable[..., object], str] = {
    HttpToolsProtocol.__init__: "4f0899941034",
    HttpToolsProtocol.connection_made: "6efb565ff3d3",
    HttpToolsProtocol.connection_lost: "c91a4c9bf2e2",
    HttpToolsProtocol.data_received: "010a7ae59a5d",
    HttpToolsProtocol.eof_received: "5652627579a0",
    HttpToolsProtocol._unset_keepalive_if_required: "00a6a4e47214",
    HttpToolsProtocol.on_message_begin: "96d377fdc7c2",
    HttpToolsProtocol.on_url: "37be44e962b0",
    HttpToolsProtocol.on_header: "65d62c044f61",
    HttpToolsProtocol.on_headers_complete: "1ea8589acfad",
    HttpToolsProtocol._start_asgi_task: "9c08c2571ae9",
    HttpToolsProtocol.on_body: "dba9c32aeba3",
    HttpToolsProtocol.on_message_complete: "1fbad42dc31f",
    HttpToolsProtocol.on_response_complete: "64e254f28e38",
    HttpToolsProtocol.shutdown: "d7351fa33f00",
    HttpToolsProtocol.pause_writing: "17a8fd215d96",
    HttpToolsProtocol.resume_writing: "7844bbaa8cce",
    HttpToolsProtocol.timeout_keep_alive_handler: "8b53bf5f2e20",
    RequestResponseCycle.__init__: "4d2f220910c3",
    RequestResponseCycle.run_asgi: "0f33f2449a44",
    RequestResponseCycle.send: "abdd8601b326",
    RequestResponseCycle.receive: "8124ae006be7",
    FlowControl.__init__: "0152d94a0407",
    FlowControl.drain: "4bda6b61c277",
    FlowControl.pause_reading: "7c27388bb984",
    FlowControl.resume_reading: "a0429d30857e",
    FlowControl.pause_writing: "93d4a08a9f2d",
    FlowControl.resume_writing: "a343e8b0baf0",
    Server.run: "239e0133d430",
    Server.startup: "2aa1d70a244b",
    Multiprocess.__init__: "5e0f105cb4a3",
    Multiprocess.run: "306814569fbd",
    Multiprocess.init_processes: "6c69f2a36bf5",
    Multiprocess.handle_signals: "69be08d4fd9b",
    Multiprocess.keep_subprocess_alive: "3ba4980aa33b",
    Multiprocess.restart_all: "438dec6d95be",
    Multiprocess.handle_hup: "c6701178f72d",
    Process.__init__: "a8c85f799aae",
    Process.always_pong: "f045b1417fcf",
    Process.pong: "531eb588bfa5",
    Process.target: "ad60ca4616de",
    Process.wait_until_ready: "facaf9df0601",
}


@pytest.mark.parametrize("function", USED, ids=lambda function: function.__qualname__)
def test_uvicorn_does_what_it_did_when_this_was_written(function: Callable[..., object]) -> None:
    source = inspect.getsource(function)
    assert hashlib.sha256(source.encode()).hexdigest()[:12] == USED[function]


def test_a_worker_has_its_server_before_a_second_thread_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else that thread may make another one, of which the parent never hears that it started."""
    threads: list[int] = []
    made = Server.__init__

    def make(self: Server, config: Config) -> None:
        threads.append(threading.active_count())
        made(self, config)

    monkeypatch.setattr(Server, "__init__", make)
    monkeypatch.setattr(Server, "run", lambda _server, _sockets: None)
    monkeypatch.setattr(Process, "always_pong", Process.pong)
    worker = _Worker(Config("made:up"), [])
    with worker.parent_conn as parent, worker.child_conn:
        before = threading.active_count()
        parent.send(b"ping")
        worker.target([])
        assert parent.poll(ANSWER_SECONDS_MAX)
        assert parent.recv() is False
    assert threads == [before]


def test_all_that_the_protocol_overrides_is_among_them() -> None:
    overridden = vars(HttpProtocol).keys() & vars(HttpToolsProtocol).keys()
    named = {function.__name__ for function in USED}
    assert {name for name in overridden if callable(getattr(HttpProtocol, name))} <= named
