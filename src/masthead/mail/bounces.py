"""Mails that came back, in files of a mailbox (billing, "E-mail").

A file is one mail (``.eml``) or a mailbox in the form mbox; a folder is a Maildir, or has such
files. Nothing in them is changed. What a bounce means is for flufl.bounce to say.
"""

import logging
import mailbox
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message as Parsed
from email.policy import compat32
from pathlib import Path
from typing import NamedTuple

from masthead.contract.printable import printable, single_spaced
from masthead.errors import BadInput
from masthead.mail.addresses import is_address

MAIL_BYTES_MAX = 16 << 20
"""The most bytes of one mail that is read; a bounce has the mail that came back inside."""

_PARTS_MAX = 200
_REASON_MAX = 200
_MBOX = b"From "
_ID = re.compile(rb"^Message-ID:[ \t\r\n]*(<[^<>\s]{1,200}>)", re.IGNORECASE | re.MULTILINE)
_CODE = re.compile(r"^[245]\.[0-9]{1,3}\.[0-9]{1,3}")


class Bounce(NamedTuple):
    """What a mail says came back.

    ``addresses`` are those that will never take a mail, ``delayed`` those that may later. Both are
    empty for a mail that is no bounce. ``message_ids`` are those of the mails inside. ``reason`` is
    the code and the words of the server, on one line.
    """

    file: str
    addresses: tuple[str, ...] = ()
    delayed: tuple[str, ...] = ()
    message_ids: tuple[str, ...] = ()
    reason: str = ""


def bounces_in(path: Path) -> Iterator[Bounce]:
    """Yield what each mail of a file or a folder says, in the order of their names.

    Raises BadInput if there is no such file, if a mail is too large, and if the package that reads
    bounces is missing.
    """
    _check_packages()
    if path.is_dir():
        if (path / "cur").is_dir() or (path / "new").is_dir():
            files = sorted(
                file
                for part in ("cur", "new")
                for file in (path / part).glob("*")
                if file.is_file()
            )
        else:
            files = sorted(file for file in path.iterdir() if file.is_file())
    elif path.is_file():
        files = [path]
    else:
        raise BadInput(f"there is no file or folder {printable(path)}")
    for file in files:
        yield from _bounces_of(file)


def _check_packages() -> None:
    try:
        import flufl.bounce  # noqa: F401, PLC0415 - of the extra billing
    except ModuleNotFoundError:
        raise BadInput(
            "bounces need flufl.bounce, which is not installed here", code="needs_billing_packages"
        ) from None


def _bounces_of(file: Path) -> Iterator[Bounce]:
    name = printable(file.name)
    with file.open("rb") as opened:
        is_mbox = opened.read(len(_MBOX)) == _MBOX
    if not is_mbox:
        if file.stat().st_size > MAIL_BYTES_MAX:
            raise BadInput(f"{name} has more than {MAIL_BYTES_MAX >> 20} MiB: it is not one mail")
        yield bounce_of(file.read_bytes(), name)
        return
    box = mailbox.mbox(file, create=False)
    try:
        for number, key in enumerate(box.iterkeys(), 1):
            with box.get_file(key) as opened:
                content = opened.read(MAIL_BYTES_MAX + 1)
            if len(content) > MAIL_BYTES_MAX:
                raise BadInput(
                    f"{name}, mail {number}, has more than {MAIL_BYTES_MAX >> 20} MiB: it is no "
                    "bounce"
                )
            yield bounce_of(content, f"{name}, mail {number}")
    finally:
        box.close()


def bounce_of(content: bytes, name: str) -> Bounce:
    """Return what a mail says came back; ``name`` is what it is called in messages.

    A mail that cannot be read as one is no bounce.
    """
    from flufl.bounce import all_failures  # noqa: PLC0415 - of the extra billing

    logging.getLogger("flufl.bounce").disabled = True  # it logs what it raises, with a traceback
    try:
        mail = message_from_bytes(content, policy=compat32)
        if _too_many_parts(mail):
            return Bounce(name)
        delayed, permanent = all_failures(mail)
        addresses, later = _addresses(permanent), _addresses(delayed)
        reason = _reason(mail) if addresses else ""
    except Exception:  # noqa: BLE001 - what others write into a mailbox stops no other mail
        return Bounce(name)
    own = (mail.get("Message-ID") or "").strip()
    ids = dict.fromkeys(found.decode("ascii", "replace") for found in _ID.findall(content))
    return Bounce(name, addresses, later, tuple(each for each in ids if each != own)[:20], reason)


def _too_many_parts(mail: Parsed) -> bool:
    return any(number > _PARTS_MAX for number, _ in enumerate(mail.walk()))


def _addresses(found: frozenset[bytes]) -> tuple[str, ...]:
    texts = (each.decode("utf-8", errors="replace").strip().strip("<>") for each in found)
    return tuple(sorted(text for text in texts if is_address(text)))


def _reason(mail: Parsed) -> str:
    """Return the code and the words of a report of delivery (RFC 3464); "" without one."""
    for part in mail.walk():
        if part.get_content_type() != "message/delivery-status":
            continue
        for each in part.get_payload() if part.is_multipart() else []:
            assert isinstance(each, Parsed)
            status = _CODE.match(str(each.get("Status", "")).strip())
            words = str(each.get("Diagnostic-Code", "")).partition(";")[2]
            if status:
                said = f"{status[0]} {single_spaced(words)}".strip()
                return printable(said)[:_REASON_MAX]
    return ""
