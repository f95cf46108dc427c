"""A mail as bytes: headers, a plain text, and attached documents (billing, "E-mail").

Names and subjects come from readers and files. Whatever characters they have, each header stays one
header, and the addresses stay those that were given.
"""

import hashlib
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import NamedTuple

from masthead.contract.printable import on_terminal, printable, single_spaced
from masthead.errors import BadInput
from masthead.mail.addresses import for_server, is_address

_ASCII = SMTP.clone(cte_type="7bit")
_UTF8 = _ASCII.clone(utf8=True)
_HEADER_MAX = 250
"""The most characters of a subject or a name; the rest is cut off."""


class Attachment(NamedTuple):
    """A PDF that is attached to a mail, with the name of its file."""

    name: str
    pdf: bytes


class Message(NamedTuple):
    """A mail to one address.

    ``message_id`` is the one of the header, with its angle brackets; the same mail has the same one
    at each try. ``moment_us`` is its time in microseconds since 1970. ``unsubscribe`` is where a
    reader writes who wants no more such mails, "" where that is not right.
    """

    sender: str
    sender_name: str
    recipient: str
    subject: str
    text: str
    message_id: str
    moment_us: int
    language: str
    reply_to: str = ""
    unsubscribe: str = ""
    attachments: tuple[Attachment, ...] = ()


def needs_utf8(address: str) -> bool:
    """Return whether a server must know SMTPUTF8 for an address: its name is not ASCII."""
    return not for_server(address).isascii()


def bytes_of(message: Message) -> bytes:
    """Return a mail as SMTP sends it: the same bytes for the same message.

    Lines end with CR LF, and all characters are ASCII, but for addresses that are not. Raises
    BadInput if one of the addresses is none.
    """
    for address in (message.sender, message.recipient, message.reply_to, message.unsubscribe):
        if address and not is_address(address):
            raise BadInput("an address of the mail is not an email address")
    is_utf8 = any(map(needs_utf8, (message.sender, message.recipient, message.reply_to)))
    mail = EmailMessage(policy=_UTF8 if is_utf8 else _ASCII)
    mail["From"] = _address(message.sender, message.sender_name)
    mail["To"] = _address(message.recipient)
    if message.reply_to:
        mail["Reply-To"] = _address(message.reply_to)
    mail["Subject"] = _header(message.subject)
    mail["Date"] = format_datetime(datetime.fromtimestamp(message.moment_us // 1_000_000, UTC))
    mail["Message-ID"] = message.message_id
    mail["Auto-Submitted"] = "auto-generated"
    if message.unsubscribe:
        mail["List-Unsubscribe"] = f"<mailto:{for_server(message.unsubscribe)}?subject=unsubscribe>"
    mail.set_content(on_terminal(message.text.replace("\r\n", "\n")))
    for attachment in message.attachments:
        mail.add_attachment(
            attachment.pdf,
            maintype="application",
            subtype="pdf",
            filename=_header(attachment.name),
        )
    mail["Content-Language"] = message.language
    if message.attachments:
        digest = hashlib.sha256(message.message_id.encode()).hexdigest()
        mail.set_boundary(f"masthead-{digest[:40]}")
    return mail.as_bytes()


def _address(address: str, name: str = "") -> Address:
    local, _, domain = for_server(address).rpartition("@")
    return Address(_header(name), local, domain)


def _header(text: str) -> str:
    return printable(single_spaced(text))[:_HEADER_MAX]
