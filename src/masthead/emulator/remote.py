"""``MastheadServer``: an emulator in its own process, controlled through its control port.

It uses only the standard library, and no HTTP client that a project's tests may replace.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from masthead.emulator.values import as_json
from masthead.errors import BadInput, MastheadError

_CONTROL = re.compile(r"the control port is (\S+)")
_SERVES = re.compile(r"Masthead serves on (\S+)")
_END_S_MAX = 2
"""How long the process may take to end after its input ends; then SIGTERM, finally SIGKILL."""

_RESPONSE_S_MAX = 60


class Credentials(NamedTuple):
    """The user name and the password for HTTP Basic."""

    api_key: str
    api_login: str


class MadeRequest(NamedTuple):
    """A request that the emulator received (``masthead.emulator.faults.Asked``)."""

    method: str | None
    path: str | None
    parameters: dict[str, Any]
    status: int | None
    fault: str | None


class MastheadServer:
    """A running emulator; it ends with the block, and with this process.

    ``base_url`` and ``credentials`` are what a client of the interface needs. All methods raise
    BadInput with the emulator's message for an invalid request, and MastheadError if the emulator
    has ended or failed.
    """

    def __init__(self, files: Path | None = None) -> None:
        """Start an emulator with the records of a folder of import files, or with none."""
        more = ["--from", str(files)] if files else []
        self._errors = TemporaryFile()  # noqa: SIM115 - it stays open while the process runs
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this Python, with its own options
                [
                    *(sys.executable, "-P", "-m", "masthead", "emulator", *more),
                    *("--host", "127.0.0.1", "--port", "0"),
                    *("--control-host", "127.0.0.1", "--control-port", "0", "--end-with-input"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                # Ctrl-C in the terminal is for the tests, which need the emulator until they end.
                process_group=0,
                # Without settings for a server.
                env={n: v for n, v in os.environ.items() if not n.startswith("MASTHEAD_")},
            )
        except BaseException:
            self._errors.close()
            raise
        try:
            self._control = self._printed(_CONTROL)
            self.base_url = self._printed(_SERVES)
        except BaseException:
            self.close()
            raise
        shown = self.ask("GET", "/")
        self.credentials = Credentials(shown["api_key"], shown["api_login"])
        self.clock = Clock(self)
        self.faults = Faults(self)

    def _printed(self, wanted: re.Pattern[str]) -> str:
        """Return what matches in the output; raise MastheadError if the process ends first."""
        assert self._process.stdout
        for line in self._process.stdout:
            if found := wanted.search(line.decode()):
                return found.group(1)
        self._process.wait(_END_S_MAX)
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        raise MastheadError(f"the emulator did not start: {said}")

    def add(self, kind: str, *records: Mapping[str, Any]) -> None:
        """Add records of a kind, such as ``subscribers``, all or none (types: ``values.py``)."""
        self.ask("POST", "/records", {kind: as_json(kind, records)})

    def change(self, kind: str, *records: Mapping[str, Any]) -> None:
        """Change the given columns of records of a kind, all or none."""
        self.ask("PATCH", "/records", {kind: as_json(kind, records)})

    def remove(self, kind: str, *ids: int | str) -> None:
        """Remove records of a kind; ``"17/3"`` is an id of a key with two columns."""
        self.ask("DELETE", "/records", {kind: ids})

    def add_base_set(self) -> None:
        """Add a small publisher: the subscribers of ``BaseSet``, and their records."""
        self.ask("POST", "/base-set")

    def entitlement_code(self, subscriber_id: int) -> str:
        """Return a one-time code of a subscriber, with which a reader comes to a partner's site."""
        code: str = self.ask("POST", "/entitlement-codes", {"subscriber_id": subscriber_id})["code"]
        return code

    @property
    def requests(self) -> list[MadeRequest]:
        """The requests since the last reset, oldest first."""
        found = self.ask("GET", "/requests")["requests"]
        return [MadeRequest(*(each[name] for name in MadeRequest._fields)) for each in found]

    def reset(self) -> None:
        """Restore the initial state: records, clock, faults, log."""
        self.ask("POST", "/reset")

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the control port's response."""
        connection = HTTPConnection(urlsplit(self._control).netloc, timeout=_RESPONSE_S_MAX)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            text = response.read()
        except (OSError, HTTPException) as reason:
            raise MastheadError(f"the emulator does not answer: {reason}") from reason
        finally:
            connection.close()
        try:
            said: dict[str, Any] = json.loads(text)
            if response.status != 200:
                wrong = BadInput if response.status < 500 else MastheadError
                raise wrong(said["error"])
        except (ValueError, TypeError, KeyError):
            raise MastheadError(f"this is no response of an emulator: {text[:100]!r}") from None
        return said

    def close(self) -> None:
        """End the process and wait until it has ended."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        # A process that was forked meanwhile can keep its input open.
        for end in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(_END_S_MAX)
                break
            except subprocess.TimeoutExpired:
                end()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Clock:
    """The emulator's clock."""

    def __init__(self, server: MastheadServer) -> None:
        self._server = server

    @property
    def now(self) -> datetime:
        """The time, in UTC."""
        return datetime.fromisoformat(self._server.ask("GET", "/clock")["now"])

    def move(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> None:
        """Move the clock; negative numbers move it backwards."""
        by = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds}
        self._server.ask("POST", "/clock", by)


class Faults:
    """The faults of the next responses.

    ``requests`` is the number of responses with the fault, None for all until :meth:`clear`; their
    paths begin with ``path``.
    """

    def __init__(self, server: MastheadServer) -> None:
        self._server = server

    def respond(
        self,
        status: int,
        *,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        requests: int | None = 1,
        path: str = "",
    ) -> None:
        """Respond with a status; without ``body`` with an error as the service sends it."""
        more = {"headers": dict(headers or {}), "body": body}
        self._add("respond", status=status, **more, requests=requests, path=path)

    def delay(self, *, seconds: float, requests: int | None = 1, path: str = "") -> None:
        """Handle the request after this number of seconds."""
        self._add("delay", seconds=seconds, requests=requests, path=path)

    def slow(self, *, bytes_per_second: int, requests: int | None = 1, path: str = "") -> None:
        """Send this number of body bytes per second."""
        self._add("slow", bytes_per_second=bytes_per_second, requests=requests, path=path)

    def cut_after(self, after_bytes: int, *, requests: int | None = 1, path: str = "") -> None:
        """End the connection after this number of body bytes, at the latest before the last one."""
        self._add("cut-after", bytes=after_bytes, requests=requests, path=path)

    def reset_connection(
        self,
        *,
        after_bytes: int | None = None,
        requests: int | None = 1,
        path: str = "",
    ) -> None:
        """Reset the connection before the response, or after this number of body bytes."""
        self._add("reset-connection", bytes=after_bytes, requests=requests, path=path)

    def malformed(self, *, requests: int | None = 1, path: str = "") -> None:
        """Send a complete response whose JSON lacks its last bracket."""
        self._add("malformed", requests=requests, path=path)

    def refuse_connections(self, *, seconds: float | None = None) -> None:
        """End all connections and refuse new ones, for so many seconds or until :meth:`clear`."""
        self._add("refuse-connections", seconds=seconds)

    def new_epoch(self) -> None:
        """Begin a new epoch: the change feed refuses all earlier times with 410."""
        self._server.ask("POST", "/faults/new-epoch")

    def clear(self) -> None:
        """Remove the pending faults, and accept connections again."""
        self._server.ask("DELETE", "/faults")

    def _add(self, fault: str, **settings: object) -> None:
        self._server.ask("POST", f"/faults/{fault}", settings)
