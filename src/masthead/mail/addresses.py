"""Addresses of mails: which texts are one, and how they are compared (billing, "E-mail")."""

import re

ADDRESS_MAX = 254
"""The most characters of an address (RFC 5321, 4.5.3.1, without the angle brackets)."""

_LOCAL_MAX = 64
_LOCAL = re.compile(
    r"[^\s\x00-\x20\x7f-\xa0()<>\[\]:;@\\,\".]+(?:\.[^\s\x00-\x20\x7f-\xa0()<>\[\]:;@\\,\".]+)*"
)
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


def is_address(text: str) -> bool:
    """Return whether a text is one address to which a mail can go, such as ``ada@example.org``.

    An address has one ``@``, no quotes, no comments and no spaces, and a domain with a dot.
    """
    local, at, domain = text.rpartition("@")
    if not at or len(text) > ADDRESS_MAX or len(local.encode(errors="replace")) > _LOCAL_MAX:
        return False
    if not text.isprintable() or not _LOCAL.fullmatch(local):
        return False
    labels = in_ascii(domain).split(".")
    return len(labels) > 1 and all(map(_LABEL.fullmatch, labels))


def in_ascii(domain: str) -> str:
    """Return a domain as DNS has it: ``xn--mller-kva.example`` for ``müller.example``.

    Returns "" for a text that no domain can be.
    """
    try:
        return domain.encode("idna").decode("ascii")
    except UnicodeError:
        return ""


def for_server(address: str) -> str:
    """Return an address with its domain as DNS has it; its part before the ``@`` is unchanged."""
    local, _, domain = address.rpartition("@")
    return f"{local}@{in_ascii(domain)}"


def without(text: str, address: str) -> str:
    """Return a text without an address, such as the answer of a server that repeats it.

    Addresses do not stand in logs and audit entries.
    """
    for each in (address, for_server(address)):
        text = re.sub(re.escape(each), "the address", text, flags=re.IGNORECASE)
    return text
