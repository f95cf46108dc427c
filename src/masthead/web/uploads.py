"""Files that are sent with a form, and those that wait until they are confirmed.

A form with a file comes as ``multipart/form-data`` (RFC 7578), as browsers write it.
"""

import re
import secrets
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import NamedTuple

UPLOAD_BYTES_MAX = 4 * 1024 * 1024
"""The size of a form with files: a statement of a bank with some 2,500 entries."""

_BOUNDARY = re.compile(r'boundary="?([^";,\s]{1,70})"?')
_NAME = re.compile(r'[;\s]name="([^"]*)"')
_FILENAME = re.compile(r'[;\s]filename="([^"]*)"')
_ESCAPED = {"%22": '"', "%0D": " ", "%0A": " "}
_PARTS_MAX = 100
_KEPT_BYTES_MAX = 32 * 1024 * 1024
_KEPT_S_MAX = 1_800
_TOKEN_BYTES = 16


class Upload(NamedTuple):
    """A file: its name on the sender's machine, without folders, and its bytes."""

    name: str
    data: bytes


class Sent(NamedTuple):
    """What a form with files sent: its fields in their order, and its files by field."""

    fields: list[tuple[str, str]]
    files: dict[str, Upload]


def read_multipart(content_type: str, body: bytes) -> Sent:
    """Return the fields and files of a body; a file that was not chosen is left out.

    Raises ValueError if the body is not one of a browser's form.
    """
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise ValueError("the form does not say where its parts end")
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode())
    if not 1 < len(parts) <= _PARTS_MAX or not parts[-1].startswith(b"--"):
        raise ValueError("the form has no end, or too many parts")
    sent = Sent([], {})
    for part in parts[1:-1]:
        head, end, data = part.partition(b"\r\n\r\n")
        lines = head.decode()
        name = _NAME.search(lines)
        if not end or name is None:
            raise ValueError("a part of the form has no name")
        file = _FILENAME.search(lines)
        if file is None:
            sent.fields.append((_plain(name[1]), data.decode()))
        elif file[1]:
            sent.files[_plain(name[1])] = Upload(re.split(r"[/\\]", _plain(file[1]))[-1], data)
    return sent


def _plain(text: str) -> str:
    for escaped, sign in _ESCAPED.items():
        text = text.replace(escaped, sign)
    return text


class _Kept(NamedTuple):
    owner: tuple[int, int]
    files: Mapping[str, Upload]
    since: float

    @property
    def size(self) -> int:
        return sum(len(each.data) for each in self.files.values())


class KeptFiles:
    """Files between the preview of a form and its confirmation, for half an hour, in memory.

    Only who sent them finds them again, by a token; the browser learns no place of the
    server's disk. The oldest go if all together have more than 32 MiB; they are compressed.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def keep(self, owner: tuple[int, int], files: Mapping[str, Upload]) -> str:
        """Keep files of an owner, which is an account and one of its people; return their token."""
        packed = {
            name: each._replace(data=zlib.compress(each.data, 1)) for name, each in files.items()
        }
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        with self._lock:
            self._kept[token] = _Kept(owner, packed, monotonic())
            while sum(each.size for each in self._kept.values()) > _KEPT_BYTES_MAX:
                self._kept.popitem(last=False)
        return token

    def find(self, owner: tuple[int, int], token: str) -> dict[str, Upload]:
        """Return the files of a token; {} if the owner has none, or not any more."""
        with self._lock:
            found = self._kept.get(token)
        if found is None or found.owner != owner or monotonic() - found.since >= _KEPT_S_MAX:
            return {}
        return {
            name: each._replace(data=zlib.decompress(each.data))
            for name, each in found.files.items()
        }

    def drop(self, token: str) -> None:
        """Forget files that were read."""
        with self._lock:
            self._kept.pop(token, None)
