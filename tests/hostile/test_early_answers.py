"""Who is answered before all of a request has come gets that answer, however much they send."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
import struct
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.api.callers import Caller, basic
from tests.cli.running import lines_until, running
from tests.hostile.wire import HANG_S, answers_in
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hostile.wire import Wire
    from tests.servers import Store

SIZE = 5_000_000
LENGTH = b"Content-Length: %d" % SIZE
CHUNKED = b"Transfer-Encoding: chunked"
UPGRADE = (b"Connection: upgrade", b"Upgrade: h2c")
CHUNKS = (b"10000\r\n" + b" " * 65_536 + b"\r\n") * (SIZE // 65_536) + b"0\r\n\r\n"
LEAVING = 60
RESETS = struct.pack("ii", 1, 0)
"""A socket with this ``SO_LINGER`` resets its connection when it is closed."""
DISCARDED_BYTES_MAX = 16 * 1024 * 1024


def kept(wire: Wire, target: bytes, *lines: bytes, method: bytes = b"GET") -> bytes:
    """Return the head of a request after which the connection is kept."""
    return wire.head(target, *lines, method=method).replace(b"Connection: close\r\n", b"")


def refused(wire: Wire) -> dict[str, tuple[int, bytes]]:
    """Return requests of megabytes by the reason that each is refused for, and the status."""
    body = b" " * SIZE
    stranger = b"GET /2/accounts/ HTTP/1.1\r\nHost: x\r\n" + LENGTH + b"\r\n\r\n"
    return {
        "too long a body": (413, kept(wire, b"/2/accounts/", LENGTH) + body),
        "too long in chunks": (413, kept(wire, b"/2/accounts/", CHUNKED) + CHUNKS),
        "a broken chunk": (400, kept(wire, b"/2/accounts/", CHUNKED) + b"zz\r\n" + CHUNKS),
        "no credentials": (401, stranger + body),
        "an unknown path": (404, kept(wire, b"/nowhere", LENGTH) + body),
        "an unknown path in chunks": (404, kept(wire, b"/nowhere", CHUNKED) + CHUNKS),
        "another method": (405, kept(wire, b"/2/accounts/", LENGTH, method=b"POST") + body),
        "an unknown method": (405, b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n" + body),
        "too long an address": (414, b"GET /" + b"a" * SIZE),
        "too long a header": (431, kept(wire, b"/2/accounts/", b"X: " + b"y" * SIZE)),
        "many headers": (431, kept(wire, b"/2/accounts/", *[b"X: y"] * (SIZE // 6))),
        "no HTTP": (400, b"\x16\x03\x01" + bytes(SIZE)),
        "the last request": (404, wire.head(b"/nowhere") + body),
        "the last request of HTTP/1.0": (404, b"GET /nowhere HTTP/1.0\r\n\r\n" + body),
        "another protocol": (404, kept(wire, b"/nowhere", *UPGRADE) + body),
        "an expectation": (417, kept(wire, b"/2/accounts/", b"Expect: x", LENGTH) + body),
    }


def test_whoever_sends_megabytes_gets_the_response_behind_them(wire: Wire) -> None:
    """rules, "Responses before the end of a request": nothing is reset (RFC 9112 section 9.6)."""
    for reason, (status, request) in refused(wire).items():
        received = b""
        with socket.create_connection(wire.server.address, HANG_S) as connection:
            connection.sendall(request)
            while piece := connection.recv(65_536):
                received += piece
        (response,) = answers_in(received)
        assert response.status == status, reason
        assert response.error(), reason
        assert reason == "an unknown path in chunks" or response.headers["connection"] == "close"


def test_a_client_that_sends_all_before_it_reads_gets_the_answer(wire: Wire) -> None:
    """rules, "Responses before the end of a request": Python's own client is one."""
    connection = http.client.HTTPConnection(*wire.server.address, timeout=HANG_S)
    headers = {"Authorization": basic("key-golden", "login-golden")}
    for path, status in (("/2/accounts/", 413), ("/nowhere", 404)):
        for chunked in (False, True):
            body = iter([b" " * 65_536] * (SIZE // 65_536)) if chunked else b" " * SIZE
            connection.request("GET", path, body, headers, encode_chunked=chunked)
            response = connection.getresponse()
            assert response.status == status
            assert response.read()
            connection.close()


def test_a_client_that_reads_while_it_sends_gets_the_answer(wire: Wire) -> None:
    """rules, "Responses before the end of a request"."""
    caller = Caller(wire.server, "key-golden", "login-golden")
    for _ in range(3):
        assert caller.ask("/2/accounts/", body=b" " * SIZE).status_code == 413
    caller.close()


def test_curl_on_a_slow_line_gets_the_answer(wire: Wire, tmp_path: Path) -> None:
    """rules, "Responses before the end of a request"."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    file = tmp_path / "body"
    file.write_bytes(b" " * SIZE)
    command = ["curl", "-sS", "-u", "key-golden:login-golden", "-X", "GET", "-H", "Expect:"]
    command += ["--limit-rate", "4M", "--data-binary", f"@{file}", "-w", "%{http_code}"]
    done = subprocess.run(
        [*command, f"{wire.server.url}/2/accounts/"], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("413")
    assert done.stderr == ""


def test_the_bytes_read_after_the_last_response_are_bounded(wire: Wire) -> None:
    """rules, "Responses before the end of a request": a client that never ends is cut off."""
    sent = 0
    with socket.create_connection(wire.server.address, HANG_S) as connection:
        connection.sendall(kept(wire, b"/2/accounts/", b"Content-Length: 1000000000"))
        with suppress(BrokenPipeError, ConnectionResetError):
            while sent < 8 * DISCARDED_BYTES_MAX:
                sent += connection.send(b" " * 65_536)
    assert DISCARDED_BYTES_MAX < sent < 8 * DISCARDED_BYTES_MAX


def test_a_connection_is_kept_where_the_rest_of_a_body_is_short(wire: Wire) -> None:
    """rules, "Responses before the end of a request": it is read, and the next request too."""
    with socket.create_connection(wire.server.address, HANG_S) as connection:
        for line, body in ((b"Content-Length: 2", b"{}"), (CHUNKED, b"2\r\n{}\r\n0\r\n\r\n")):
            connection.sendall(kept(wire, b"/nowhere", line))
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == 404
            assert response.read()
            assert response.headers["Connection"] is None
            connection.sendall(body)


def test_a_refused_head_has_headers_alone(wire: Wire) -> None:
    """RFC 9110 section 9.3.2: nothing behind the headers of a response to HEAD."""
    good = wire.head(b"/2/accounts/", method=b"HEAD")
    for request, status in (
        (wire.head(b"/2/accounts/", b"Expect: x", method=b"HEAD"), 417),
        (wire.head("/2/ü".encode(), method=b"HEAD"), 400),
        (b"\r\n" + wire.head("/2/ü".encode(), method=b"HEAD"), 400),
        (b"HEAD \x00", 400),
        (wire.head(b"/" + b"a" * 9_000, method=b"HEAD"), 414),
        (wire.head(b"/2/accounts/", b"X: " + b"y" * 40_000, method=b"HEAD"), 431),
        (good.replace(b"HTTP/1.1", b"HTTP/2.0"), 400),
        (good.replace(b"HTTP/1.1", b"HTTP/1.1 x"), 400),
    ):
        response = wire.one(request)
        assert response.status == status, request[:40]
        assert int(response.headers["content-length"]) > 0
        assert response.body == b"", request[:40]


def test_a_request_that_is_refused_leaves_the_response_before_it_alone(wire: Wire) -> None:
    """The log has no error then: the fixture of the server looks at it."""
    for target in (b"/digest?entities=listdownloads", b"/snapshot?entities=addresses", b"/health"):
        for refused in (b"BAD\r\n\r\n", kept(wire, b"/2/accounts/", CHUNKED) + b"zz\r\n"):
            answers = wire.send(kept(wire, target) + refused)
            assert [response.status for response in answers] == [200, 400], target


def test_clients_that_leave_before_their_answer_are_no_error(wire: Wire) -> None:
    """The log has none then: the fixture of the server looks at it."""
    for _ in range(LEAVING):
        connection = socket.create_connection(wire.server.address, HANG_S)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
        connection.sendall(kept(wire, b"/snapshot?entities=addresses"))
        connection.close()
    assert wire.one(wire.head(b"/health")).status == 200


def test_a_client_that_sends_megabytes_over_tls_gets_the_response(
    store: Store, tmp_path: Path
) -> None:
    """rules, "Responses before the end of a request"."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, which makes a certificate")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run(
        [*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    database = store.new_database("tls")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
    settings = {"MASTHEAD_CERTIFICATE": f"{certificate}", "MASTHEAD_CERTIFICATE_KEY": f"{key}"}
    with running("serve", "--port", 0, database=database, settings=settings) as process:
        place = lines_until(process, "Masthead serves on https://")[-1].rpartition("/")[2]
        host, port = place.split(":")
        trusted = ssl.create_default_context(cafile=certificate)
        for path, status in (("/2/accounts/", 413), ("/nowhere", 404)):
            connection = http.client.HTTPSConnection(
                host, int(port), timeout=HANG_S, context=trusted
            )
            headers = {"Authorization": basic("key", "login")}
            connection.request("GET", path, b" " * SIZE, headers)
            response = connection.getresponse()
            assert response.status == status
            assert response.read()
            connection.close()
