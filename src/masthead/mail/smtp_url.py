"""The server that takes mails, by a URL such as ``smtps://user:secret@mail.example.org``.

The URL has a secret: it comes from the environment or a file, and no error repeats it.
"""

from ipaddress import ip_address
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from masthead.errors import BadInput

Tls = Literal["from the start", "starttls", "none"]

_PORTS = {"smtps": 465, "smtp": 587}
_EXAMPLE = "smtp://user:password@mail.example.org:587"


class Server(NamedTuple):
    """A server that takes mails; ``user`` is None without a login.

    ``tls`` is "none" only for a server on this machine.
    """

    host: str
    port: int
    tls: Tls
    user: str | None = None
    password: str = ""

    @property
    def name(self) -> str:
        """The server in a sentence, without its secret: ``mail.example.org, port 587``."""
        return f"{self.host}, port {self.port}"


def server_of(url: str) -> Server:
    """Return the server of a URL.

    ``smtps`` begins TLS with the connection (port 465), ``smtp`` by STARTTLS (port 587). A server
    on this machine, such as ``smtp://localhost:25``, needs no TLS. Raises BadInput for any other
    text.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")  # as it is looked up
    except ValueError:
        raise BadInput(f"the URL of the mail server is not valid: write it as {_EXAMPLE}") from None
    if parts.scheme not in _PORTS or not host:
        raise BadInput(
            "the URL of the mail server begins with smtp:// or smtps://, and has a host, as in "
            f"{_EXAMPLE}"
        )
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise BadInput(
            "the URL of the mail server has something after the host: write / ? and # in a "
            f"password as %2F %3F and %23, as in {_EXAMPLE}"
        )
    user = unquote(parts.username) if parts.username else None
    tls: Tls = "from the start" if parts.scheme == "smtps" else "starttls"
    if parts.scheme == "smtp" and is_this_machine(host):
        tls = "none"
    return Server(host, port or _PORTS[parts.scheme], tls, user, unquote(parts.password or ""))


def is_this_machine(host: str) -> bool:
    """Return whether a host is this machine, so that nobody can listen on the way to it."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
