"""The secret key of a database: it seals credentials and makes keyed hashes.

The key is not in the database. It is in MASTHEAD_SECRET_KEY, or in a file beside an embedded
database (``masthead.db-key``). No command has an option for it, since all users of a machine can
see its command lines (decisions, "The secret key").
"""

import hmac
import os
import stat
from base64 import b64decode, b64encode
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from re import fullmatch
from secrets import token_bytes, token_hex
from typing import TYPE_CHECKING

from masthead.errors import BadUsage, MastheadError
from masthead.settings import SETTINGS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_BYTES = 32
_NONCE_BYTES = 12
_VARIABLE = SETTINGS["secret_key"].variable
_HOW_TO_MAKE_ONE = "python3 -c 'import secrets; print(secrets.token_hex(32))'"


class Secret:
    """A secret key from an environment variable or else from a file; either may be None.

    It is read on first use. All methods except ``make`` raise MastheadError if the key is missing
    or invalid.
    """

    def __init__(self, file: Path | None, *, variable: str | None = _VARIABLE) -> None:
        self._file = file
        self._variable = variable

    def make(self) -> None:
        """Write a new key to the file if there is no key. Only one of several processes does it."""
        if self._given or self._file is None or self._file.exists():
            return
        made = self._file.with_name(f"{self._file.name}-{token_hex(8)}")
        descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(f"{token_bytes(_BYTES).hex()}\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(made, self._file)
        finally:
            made.unlink()

    def fingerprint(self, *parts: str | int) -> str:
        """Return a keyed hash of the parts, in order: 64 hexadecimal digits (keyed BLAKE2b).

        Guesses of the parts cannot be tested against it without the key.
        """
        found = self._fingerprints.copy()
        found.update("\x00".join(map(str, parts)).encode())
        return found.hexdigest()

    def seal(self, text: str, place: str) -> str:
        """Return the text encrypted with this key and bound to ``place``, its row and column.

        The cipher is AES-256-GCM with a random nonce.
        """
        nonce = token_bytes(_NONCE_BYTES)
        return b64encode(
            nonce + self._cipher.encrypt(nonce, text.encode(), place.encode())
        ).decode()

    def unseal(self, sealed: str, place: str) -> str:
        """Return the text that was sealed for ``place``; raise MastheadError if it was not."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see _cipher

        try:
            raw = b64decode(sealed)
            opened = self._cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError):
            raise MastheadError(
                f"{place} cannot be opened: it was sealed with another secret key, or changed since"
            ) from None
        return opened.decode()

    def key_for(self, purpose: str) -> bytes:
        """Return a key of 32 bytes for a purpose: no other key follows from it."""
        return self._key_for(purpose)

    @property
    def where(self) -> str:
        """The key's variable or file, for messages."""
        return _VARIABLE if self._given or not self._file else str(self._file)

    @property
    def _given(self) -> str:
        return os.environ.get(self._variable, "") if self._variable else ""

    @cached_property
    def _cipher(self) -> "AESGCM":
        # Imported late: most commands seal nothing, and it takes a tenth of their start.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        return AESGCM(self._key_for("sealing"))

    @cached_property
    def _fingerprints(self) -> blake2b:
        # Each request needs two, and HMAC-SHA256 takes three times as long.
        return blake2b(key=self._key_for("fingerprints"), digest_size=32)

    def _key_for(self, purpose: str) -> bytes:
        return hmac.digest(self._key, f"masthead {purpose}".encode(), "sha256")

    @cached_property
    def _key(self) -> bytes:
        if self._given:
            return _parsed(self._given, _VARIABLE)
        if self._file is None:
            raise BadUsage(
                f"a PostgreSQL database needs a secret key in {_VARIABLE}, always the same one: "
                f"make it with {_HOW_TO_MAKE_ONE} and keep it where the database's backups are not"
            )
        try:
            with self._file.open(encoding="utf-8") as file:
                mode = os.fstat(file.fileno()).st_mode
                text = file.read(_BYTES * 4)
        except FileNotFoundError:
            raise MastheadError(
                f"the secret key of this database is missing: put {self._file} back, or give the "
                f"key in {_VARIABLE}"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "is no text"
            raise MastheadError(f"the secret key {self._file} cannot be read: {reason}") from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise MastheadError(
                f"the secret key {self._file} is open to other users of this machine: "
                f"run `chmod 600 {self._file}`"
            )
        return _parsed(text.strip(), str(self._file))


def _parsed(text: str, place: str) -> bytes:
    if not fullmatch(f"[0-9a-fA-F]{{{2 * _BYTES}}}", text):
        raise BadUsage(
            f"{place} does not hold a secret key, which is {2 * _BYTES} hexadecimal digits: "
            f"{_HOW_TO_MAKE_ONE} makes one"
        )
    return bytes.fromhex(text)
