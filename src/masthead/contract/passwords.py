"""Passwords in files: in clear, or as the digest that another system made of them.

A subscriber has one of ``password_md5``, which the interface shows, and ``password_hash``, which
only files have (rules, "Passwords in files"). What takes a login too long to compute is refused
here, so the login check never meets it (decisions, "Digests of other systems").
"""

import re
from hashlib import md5

from masthead.contract.kinds import Digest, Kind, Text

FILE_COLUMNS = ("password", "password_md5", "password_hash")
"""The columns of a file that give a subscriber's password; a row has at most one of them."""

ITOA64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""The digits of phpass, by value. Its fourth character is the logarithm of the rounds."""

_BCRYPT = re.compile(r"(?:\$wp)?\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{31}")
_PHPASS = re.compile(r"\$(?:[PH]\$([./0-9A-Za-z])[./0-9A-Za-z]{30}|S\$(.)[./0-9A-Za-z]{51})")
_ARGON2 = re.compile(
    r"(?:argon2)?(\$argon2(?:id|i|d)\$v=19\$m=([0-9]{1,9}),t=([0-9]{1,9}),p=([0-9]{1,9})"
    r"\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,86})"
)
_PBKDF2 = re.compile(r"pbkdf2_sha256\$([1-9][0-9]{0,8})\$[!-#%-~]{8,128}\$[A-Za-z0-9+/]{43}=")

_BCRYPT_COSTS = range(4, 15)
_PHPASS_COSTS = range(7, 17)
_ARGON2_KIB_MAX = 128 * 1024
_ARGON2_WORK_MAX = 1024 * 1024
"""The maximum of kibibytes times passes."""

_ARGON2_LANES_MAX = 16
_PBKDF2_ROUNDS_MAX = 2_000_000

_LOOKS_LIKE_A_DIGEST = re.compile(
    r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})(?::.*)?"
    r"|\*[0-9a-f]{40}"  # MySQL
    r"|[a-z0-9_]{0,20}\$[^$\s]{1,64}\$\S{16,}"  # crypt, phpass, Django
    r"|\{[a-z0-9.-]{2,20}\}\S{16,}",  # LDAP
    re.IGNORECASE | re.DOTALL,
)


class Password(Text):
    """A password in clear, of which the MD5 digest is stored."""

    word = "password"

    def parse(self, text: str) -> str:
        """Return the MD5 digest; raise ValueError for what looks like a digest already."""
        super().parse(text)
        if _LOOKS_LIKE_A_DIGEST.fullmatch(text.strip()):
            raise ValueError(
                "looks like the digest of a password, as another system stores it, and not like a "
                "password: digests belong in the column password_hash"
            )
        return md5(text.encode(), usedforsecurity=False).hexdigest()


class PasswordHash(Kind):
    """The digest of a password, as another system stores it."""

    word = "digest of a password: bcrypt, phpass, Argon2, PBKDF2 of Django, or MD5"

    def parse(self, text: str) -> str:
        """Return the digest. An MD5 digest gets lower case, and Django's ``argon2`` is left out.

        Raises ValueError for an unknown form, and where checking a password would take too long.
        """
        if found := _BCRYPT.fullmatch(text):
            _check_cost("bcrypt", "cost", int(found[1]), _BCRYPT_COSTS)
        elif found := _PHPASS.fullmatch(text):
            rounds = ITOA64.find(found[1] or found[2])
            _check_cost("phpass", "logarithm of its rounds", rounds, _PHPASS_COSTS)
        elif found := _ARGON2.fullmatch(text):
            text = found[1]
            memory_kib, passes, lanes = (int(number) for number in found.groups()[1:])
            _check_cost("Argon2", "number of lanes", lanes, range(1, _ARGON2_LANES_MAX + 1))
            _check_cost("Argon2", "memory in KiB", memory_kib, range(8, _ARGON2_KIB_MAX + 1))
            passes_max = _ARGON2_WORK_MAX // memory_kib
            _check_cost("Argon2", "number of passes", passes, range(1, passes_max + 1))
        elif found := _PBKDF2.fullmatch(text):
            _check_cost(
                "PBKDF2", "number of rounds", int(found[1]), range(1, _PBKDF2_ROUNDS_MAX + 1)
            )
        else:
            try:
                return Digest().parse(text)
            except ValueError:
                raise ValueError(
                    "not a digest that a login can be checked with: those are bcrypt ($2a$, $2b$, "
                    "$2y$, $wp$2y$), phpass ($P$, $H$, $S$), Argon2 ($argon2id$, $argon2i$, "
                    "$argon2d$), pbkdf2_sha256$ and the 32 hexadecimal digits of MD5"
                ) from None
        return text


def _check_cost(name: str, what: str, cost: int, allowed: range) -> None:
    if cost not in allowed:
        raise ValueError(
            f"a digest of {name} whose {what} is {cost}: a login would take too long or be "
            f"unsafe; allowed is {allowed.start} to {allowed.stop - 1}"
        )


def is_md5(digest: str) -> bool:
    """Return whether a digest that :class:`PasswordHash` returned is one of MD5."""
    return "$" not in digest
