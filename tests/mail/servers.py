"""A real mail server on this machine, which refuses, is silent or breaks off as a test wants."""

from __future__ import annotations

import asyncio
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.policy import default
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from masthead.mail.smtp_url import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from email.message import EmailMessage
    from pathlib import Path

HOST = "127.0.0.1"
PASSWORD = "p@ss/word"


class Received(NamedTuple):
    """A mail that the server took."""

    sender: str
    recipient: str
    content: bytes

    @property
    def message(self) -> EmailMessage:
        """The mail, parsed."""
        return message_from_bytes(self.content, policy=default)


class PostOffice:
    """What the server does with mails, by the words before the ``@`` of the recipient.

    ``later`` is refused for now, ``gone`` as an unknown address, ``spam`` at the end of the mail.
    At ``break`` the connection ends before the end of the mail, at ``vanish`` after it, unanswered.
    At ``silent`` the end of the mail is never answered, at ``closing`` the server closes.
    """

    def __init__(self) -> None:
        self.mails = list[Received]()
        self.data_begun = list[str]()
        self.on_data: Callable[[], None] = lambda: None
        """Called when a mail begins, in the thread of the server."""

    @property
    def recipients(self) -> list[str]:
        """The addresses of the mails that the server took, in their order."""
        return [each.recipient for each in self.mails]

    async def handle_RCPT(  # noqa: N802 - the name is aiosmtpd's
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        """Answer RCPT."""
        name = address.partition("@")[0]
        if name == "later":
            return "450 4.2.0 busy"
        if name == "gone":
            return f"550 5.1.1 <{address}> unknown user"
        if name == "closing":
            return "421 4.3.2 closing"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        """Answer the end of a mail."""
        (recipient,) = envelope.rcpt_tos
        name = recipient.partition("@")[0]
        if name == "spam":
            return "554 5.7.1 looks like spam"
        if name == "full":
            return "452 4.3.1 no space"
        if name == "silent":
            await asyncio.Event().wait()
        self.mails.append(Received(envelope.mail_from, recipient, envelope.content))
        if name == "vanish":
            server.transport.abort()
            await asyncio.Event().wait()
        return "250 OK"


class _Smtp(SMTP):
    """The server's side of one connection."""

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - the name is aiosmtpd's
        """Break the connection off for ``break``; otherwise take the mail."""
        assert self.envelope is not None
        assert isinstance(self.transport, asyncio.Transport)
        (recipient,) = self.envelope.rcpt_tos
        office: PostOffice = self.event_handler
        office.data_begun.append(recipient)
        office.on_data()
        if recipient.startswith("break@"):
            await self.push("354 go ahead")
            self.transport.abort()
            return
        await super().smtp_DATA(arg)


@contextmanager
def post_office(
    office: PostOffice | None = None, **options: Any
) -> Iterator[tuple[PostOffice, Server]]:
    """Run the server; yield what it got, and where it is. ``options`` are those of aiosmtpd."""
    office = office or PostOffice()
    loop = asyncio.new_event_loop()
    tls = options.pop("begins_with_tls", None)

    async def start() -> asyncio.Server:
        return await loop.create_server(
            lambda: _Smtp(office, enable_SMTPUTF8=True, loop=loop, **options), HOST, 0, ssl=tls
        )

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        server = asyncio.run_coroutine_threadsafe(start(), loop).result()
        port = server.sockets[0].getsockname()[1]
        yield office, Server(HOST, port, "none")
    finally:

        async def stop() -> None:
            server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def check_login(_server: Any, _session: Any, _envelope: Any, _how: str, data: Any) -> AuthResult:
    """Let the user ``press`` in with :data:`PASSWORD`."""
    is_known = isinstance(data, LoginPassword) and data == LoginPassword(
        b"press", PASSWORD.encode()
    )
    return AuthResult(success=is_known, handled=False)


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Make a certificate for this machine; return its file, and what a server uses."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path, key_path = folder / "certificate.pem", folder / "key.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key_path)
    return path, context
