"""Hands mails to a server by SMTP (RFC 5321), one at a time.

A server has a mail once it answers the line that ends it. Until that line is sent, it has not. The
caller is asked just before (``before_end``), so that it can note that the answer is uncertain from
then on.
"""

import re
import smtplib
import socket
import ssl
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import NamedTuple, Self

from masthead.contract.printable import printable, single_spaced
from masthead.errors import MastheadError
from masthead.mail.addresses import for_server
from masthead.mail.messages import needs_utf8
from masthead.mail.smtp_url import Server

_GO_AHEAD = 354
_LATER = 421
_PERMANENT = 500
_SAID_MAX = 200
_UNKNOWN_ADDRESS = re.compile(rb"\b5\.1\.(?:1|2|3|6|10)\b")
"""Codes of RFC 3463 that say that the address does not exist."""


class Timeouts(NamedTuple):
    """The most seconds that a server may take to answer: a command, and the end of a mail.

    Servers examine a mail before they answer its end: RFC 5321, 4.5.3.2.6 asks for ten minutes.
    """

    command: float = 60
    end: float = 600


class ServerUnusable(MastheadError):
    """The server takes no mails now: no connection, no TLS, a refused login or sender."""


class ConnectionLost(MastheadError):
    """The connection ended within a mail. ``is_uncertain``: the server may have the mail."""

    def __init__(self, message: str, *, is_uncertain: bool) -> None:
        super().__init__(message)
        self.is_uncertain = is_uncertain


class Refused(MastheadError):
    """The server refused a mail. ``is_permanent``: it will never take it.

    ``is_unknown_address``: it says that the address does not exist.
    """

    def __init__(self, code: int, said: bytes, *, of_recipient: bool) -> None:
        super().__init__(_answer(code, said))
        self.is_permanent = code >= _PERMANENT
        self.is_unknown_address = (
            of_recipient and self.is_permanent and bool(_UNKNOWN_ADDRESS.search(said))
        )


class NotHandedOver(MastheadError):
    """``before_end`` returned False: the server did not get the mail."""


class Session(AbstractContextManager["Session"]):
    """A connection to a server, which ends with the block."""

    def __init__(self, server: Server, timeouts: Timeouts | None = None) -> None:
        self._server = server
        self._timeouts = timeouts or Timeouts()
        self._smtp: smtplib.SMTP | None = None
        self._is_within_mail = False

    def __enter__(self) -> Self:
        """Connect, with TLS as the server's URL asks for, and log in. Raises ServerUnusable."""
        server = self._server
        context = ssl.create_default_context()
        try:
            if server.tls == "from the start":
                smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                    server.host, server.port, timeout=self._timeouts.command, context=context
                )
            else:
                smtp = smtplib.SMTP(server.host, server.port, timeout=self._timeouts.command)
            self._smtp = smtp
            assert smtp.sock is not None
            # The line that ends a mail would otherwise wait until the server confirms the lines
            # before, which takes 40 ms.
            smtp.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if server.tls == "starttls":
                smtp.starttls(context=context)
            smtp.ehlo_or_helo_if_needed()
            if server.user is not None:
                smtp.login(server.user, server.password)
        except smtplib.SMTPNotSupportedError:
            self._close()
            raise self._unusable("it has no TLS, or no login that Masthead knows") from None
        except smtplib.SMTPResponseException as error:
            self._close()
            raise self._unusable(_answer(error.smtp_code, error.smtp_error)) from None
        except UnicodeError:
            self._close()
            raise self._unusable("a name or password beyond ASCII cannot be sent to it") from None
        except (OSError, smtplib.SMTPException) as error:
            self._close()
            raise self._unusable(single_spaced(printable(error))[:_SAID_MAX]) from None
        return self

    def __exit__(self, *_: object) -> None:
        """Take leave of the server, and close the connection."""
        # Within a mail, the words of a command would be words of the mail.
        if self._smtp is not None and self._smtp.sock is not None and not self._is_within_mail:
            with suppress(OSError, smtplib.SMTPException):
                self._smtp.quit()
        self._close()

    def hand_over(
        self, sender: str, recipient: str, message: bytes, before_end: Callable[[], bool]
    ) -> None:
        """Hand one mail over; return once the server has it.

        Raises Refused if the server refuses this mail, NotHandedOver if ``before_end`` returned
        False, ConnectionLost if the connection ends or the server is silent for too long, and
        ServerUnusable if it takes no mails of this sender, or none now. After the last three, the
        session is of no use any more.
        """
        smtp = self._smtp
        assert smtp is not None
        is_uncertain = False
        try:
            self._open_mail(smtp, sender, recipient)
            smtp.putcmd("data")
            self._expect(_GO_AHEAD, *smtp.getreply())
            self._is_within_mail = True
            smtp.send(_quoted(message))
            if not before_end():
                raise NotHandedOver
            is_uncertain = True
            assert smtp.sock is not None
            smtp.sock.settimeout(self._timeouts.end)
            smtp.send(b".\r\n")
            code, said = smtp.getreply()
            self._is_within_mail = False
            smtp.sock.settimeout(self._timeouts.command)
        except smtplib.SMTPNotSupportedError:
            self._reset()
            raise Refused(
                553,
                b"the server takes no addresses with other letters than ASCII",
                of_recipient=False,
            ) from None
        except (OSError, smtplib.SMTPException) as error:
            raise ConnectionLost(
                single_spaced(printable(error))[:_SAID_MAX], is_uncertain=is_uncertain
            ) from None
        if code == _LATER:
            raise self._unusable(_answer(code, said))
        self._expect(250, code, said)

    def _open_mail(self, smtp: smtplib.SMTP, sender: str, recipient: str) -> None:
        options = ["SMTPUTF8"] if needs_utf8(sender) or needs_utf8(recipient) else []
        code, said = smtp.mail(for_server(sender), options)
        if code != 250:
            raise self._unusable(_answer(code, said))
        code, said = smtp.rcpt(for_server(recipient))
        self._expect(250, code, said, of_recipient=True)

    def _expect(self, wanted: int, code: int, said: bytes, *, of_recipient: bool = False) -> None:
        """Raise for another answer than the wanted one; the session can be used again then."""
        if code == wanted or (of_recipient and code == 251):
            return
        if code == _LATER or code < 400:
            raise self._unusable(_answer(code, said))
        self._reset()
        raise Refused(code, said, of_recipient=of_recipient)

    def _reset(self) -> None:
        if self._smtp is not None:
            with suppress(OSError, smtplib.SMTPException):
                self._smtp.rset()

    def _close(self) -> None:
        if self._smtp is not None:
            self._smtp.close()

    def _unusable(self, why: str) -> ServerUnusable:
        return ServerUnusable(f"the mail server {self._server.name} takes no mails now: {why}")


def _quoted(message: bytes) -> bytes:
    """Return a mail whose lines begin with no single period, as DATA sends them."""
    quoted = re.sub(rb"(?m)^\.", b"..", message)
    return quoted if quoted.endswith(b"\r\n") else quoted + b"\r\n"


def _answer(code: int, said: bytes | str) -> str:
    """Return the answer of a server on one line."""
    text = said.decode("utf-8", errors="replace") if isinstance(said, bytes) else said
    return f"{code} {printable(single_spaced(text))}"[:_SAID_MAX]
