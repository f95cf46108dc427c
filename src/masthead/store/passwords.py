"""Digests of passwords that other systems made: the check of a password, and better digests.

A file may bring digests of bcrypt, phpass, Argon2 and PBKDF2 (``contract.passwords`` has the forms
and the limits of their costs). At the first login with the right password, Argon2id replaces the
digest (decisions, "Digests of other systems").
"""

import hmac
from base64 import b64decode, b64encode
from contextlib import suppress
from functools import partial
from hashlib import new as new_hash
from hashlib import pbkdf2_hmac, sha256
from typing import Literal

import bcrypt
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from masthead.contract.passwords import ITOA64
from masthead.errors import AccountGone
from masthead.store.database import Store

HASHER = PasswordHasher()
"""Argon2id with the default parameters of argon2-cffi: 64 MiB, three passes."""

LENGTH_MIN = 10
LENGTH_MAX = 1_000
"""The characters that a password which people choose has at least and at most."""

CHARACTERS_MIN = 4
"""The different characters that it has at least, besides spaces."""

Weakness = Literal["length", "characters", "login"]
"""Why a password is easy to guess: its length, too few characters, or it is the login."""

_PASSWORD_BYTES_MAX = 4_096
"""A longer password never fits: the rounds of phpass hash the whole password each time."""

_BCRYPT_BYTES_MAX = 72
_PHPASS_DIGITS = {"$P$": 22, "$H$": 22, "$S$": 43}
_SALT_BYTES = 16
_NOTED_MAX = 10_000
_REPLACE = """
    UPDATE subscribers SET password_hash = :better
    WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND password_hash = :digest
    """


def weakness_of(password: str, login: str) -> Weakness | None:
    """Return why a password that somebody chose is easy to guess; None if it is not.

    ``login`` is what it goes with: an operator's name, or an email address.
    """
    if not LENGTH_MIN <= len(password) <= LENGTH_MAX:
        return "length"
    characters = {each for each in password.casefold() if not each.isspace()}
    if len(characters) < CHARACTERS_MIN:
        return "characters"
    if not password.casefold().replace(login.casefold(), "").strip():
        return "login"
    return None


def fits(password: str, digest: str) -> bool:
    """Return whether a digest is that of the password.

    It takes up to a second and 128 MiB, depending on the digest.
    """
    given = password.encode()
    if len(given) > _PASSWORD_BYTES_MAX:
        return False
    if digest.startswith("$argon2"):
        try:
            return HASHER.verify(digest, given)
        except (VerificationError, InvalidHashError):
            return False
    if digest.startswith("pbkdf2_sha256$"):
        _, rounds, salt, wanted = digest.split("$")
        made = pbkdf2_hmac("sha256", given, salt.encode(), int(rounds))
        return hmac.compare_digest(made, b64decode(wanted))
    if digest[:3] in _PHPASS_DIGITS:
        return hmac.compare_digest(_phpass(given, digest), digest)
    if digest.startswith("$wp"):
        # WordPress 6.8: bcrypt alone would cut off long passwords.
        given = b64encode(hmac.digest(b"wp-sha384", given, "sha384"))
        digest = digest.removeprefix("$wp")
    return bcrypt.checkpw(given[:_BCRYPT_BYTES_MAX], digest.encode())


def _phpass(password: bytes, digest: str) -> str:
    """Return the digest of phpass with the rounds and the salt of another one.

    ``$S$`` is that of Drupal 7.
    """
    make = partial(new_hash, "sha512" if digest.startswith("$S$") else "md5", usedforsecurity=False)
    made = make(digest[4:12].encode() + password).digest()
    for _ in range(1 << ITOA64.index(digest[3])):
        made = make(made + password).digest()
    digits: list[str] = []
    for first in range(0, len(made), 3):
        part = int.from_bytes(made[first : first + 3], "little")
        digits += [ITOA64[part >> shift & 63] for shift in (0, 6, 12, 18)]
    return digest[:12] + "".join(digits)[: _PHPASS_DIGITS[digest[:3]]]


def follows(digest: str, loaded: str) -> bool:
    """Return whether a digest was loaded, or replaced the loaded one at a login check.

    ``loaded`` is the SHA-256 of the loaded digest (``password_hash_loaded``). A password that is
    set here has a salt of its own, so it follows nothing.
    """
    if sha256(digest.encode()).hexdigest() == loaded:
        return True
    salt = b64encode(bytes.fromhex(loaded)[:_SALT_BYTES]).decode().rstrip("=")
    return digest.startswith("$argon2") and digest.split("$")[-2] == salt


def _salt_after(digest: str) -> bytes:
    """Return the salt of the digest that replaces another one, as random as that one's salt."""
    return sha256(digest.encode()).digest()[:_SALT_BYTES]


class BetterDigests:
    """Digests to replace, kept in memory until a server writes them.

    Logins therefore never wait for a load. What cannot be kept or written is made again at the
    reader's next login.
    """

    def __init__(self) -> None:
        self._noted: dict[tuple[int, int], tuple[str, str]] = {}

    def note(self, account_id: int, subscriber_id: int, digest: str, password: str) -> None:
        """Make a better digest of the right ``password``, unless ``digest`` is as good."""
        key = account_id, subscriber_id
        if digest.startswith("$argon2") and not HASHER.check_needs_rehash(digest):
            return
        if key not in self._noted and len(self._noted) < _NOTED_MAX:
            self._noted[key] = digest, HASHER.hash(password, salt=_salt_after(digest))

    def write(self, store: Store) -> None:
        """Replace the digests that are still those which were checked.

        Raises StoreUnavailable if another process is writing; the next call tries again.
        """
        noted = dict(self._noted)
        for account_id in sorted({account_id for account_id, _ in noted}):
            of_account = {key: noted[key] for key in noted if key[0] == account_id}
            with (
                suppress(AccountGone),
                store.writer(waits=False) as connection,
                connection.transaction(),
            ):
                connection.lock_account(account_id)
                connection.change_many(
                    _REPLACE,
                    [
                        {
                            "account_id": account_id,
                            "subscriber_id": subscriber_id,
                            "digest": digest,
                            "better": better,
                        }
                        for (_, subscriber_id), (digest, better) in of_account.items()
                    ],
                )
            for key in of_account:
                del self._noted[key]
