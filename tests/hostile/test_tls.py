"""A TLS handshake that does not come to its end is given up; the server here has 1 second."""

from __future__ import annotations

import socket
import ssl
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import address_of, make_certificate, running
from tests.servers import Store, masthead

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPATIENT = [sys.executable, "-m", "tests.hostile.impatient"]
END_S_MAX = 40
"""Less than the 60 seconds that event loops give a handshake."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Where an impatient server speaks TLS."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = make_certificate(folder)
    database = Store("sqlite", folder).new_database("tls")
    masthead("accounts", "add", 1, database=database)
    options = ("--port=0", f"--certificate={certificate}", f"--certificate-key={key}")
    with running("serve", *options, database=database, command=IMPATIENT) as process:
        yield address_of(process)
        process.terminate()
        assert process.stdout is not None
        assert "level='error'" not in process.stdout.read()


def hello() -> bytes:
    """Return the first message of a handshake."""
    sent = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="x")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return sent.read()


@pytest.mark.parametrize("part", ["nothing", "half of the first message", "the first message"])
def test_a_handshake_that_does_not_end_is_given_up(address: tuple[str, int], part: str) -> None:
    """rules, "Requests that come slowly": it has as long as a request, and is not logged."""
    whole = hello()
    data = {"nothing": b"", "half of the first message": whole[: len(whole) // 2]}.get(part, whole)
    with socket.create_connection(address, END_S_MAX) as client:
        client.sendall(data)
        # What the server says of its side may come first; its end has to come in time.
        while client.recv(65_536):
            pass
