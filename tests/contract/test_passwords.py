"""Which passwords and which digests of passwords a file may have."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract.passwords import Password, PasswordHash, is_md5
from tests.contract.values import texts

SALTED = "abcdefghijklmnopqrstuu0123456789012345678901234567890"
WELL_KNOWN = [
    f"$2y$10${SALTED}",
    f"$wp$2y$10${SALTED}",
    "$P$984478476IagS59wHZvyQMArzfx58u.",
    "$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf",
    "$argon2id$v=19$m=65536,t=4,p=1$c29tZXNhbHQ$q0RKBOz3a1Vj5a3xSPaDvQ",
    "pbkdf2_sha256$20000$H0dPx8NeajVu$GiC4k5kqbbR9qWBlsRgDywNqC2vd9kqfk7zdorEnNas=",
]
OTHERS = [
    "$6$rounds=5000$saltsalt$" + 86 * "x",
    "$1$saltsalt$" + 22 * "x",
    "sha1$salt$" + 40 * "0",
    "{SSHA}" + 32 * "x",
    "*" + 40 * "A",
    "U$S$D" + 50 * "x",
    *(name(b"").hexdigest() for name in (hashlib.md5, hashlib.sha1, hashlib.sha256)),
    hashlib.sha512(b"").hexdigest().upper(),
    hashlib.md5(b"").hexdigest() + ":salt",
]


@pytest.mark.parametrize("digest", WELL_KNOWN + OTHERS)
def test_a_digest_is_no_password(digest: str) -> None:
    """rules, "Passwords in files": no reader could log in with the digest of a digest."""
    for text in (digest, f" {digest}\n"):
        with pytest.raises(ValueError, match="digests belong in the column password_hash") as error:
            Password().parse(text)
        assert digest not in str(error.value)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0${*"), min_size=1, max_size=31))
def test_any_other_text_is_a_password(text: str) -> None:
    assert Password().parse(text) == hashlib.md5(text.encode()).hexdigest()


@pytest.mark.parametrize("text", ["$ecret$", "a$b$c", "Pa$$w0rd for 20 $ bills", "{x}" + 20 * "y "])
def test_signs_alone_make_no_digest_of_a_password(text: str) -> None:
    assert Password().parse(text)


@pytest.mark.parametrize("digest", WELL_KNOWN)
def test_digests_of_other_systems_are_kept_as_they_are(digest: str) -> None:
    assert PasswordHash().parse(digest) == digest
    assert not is_md5(digest)


def test_md5_has_lower_case_and_django_s_argon2_loses_its_name() -> None:
    digest = hashlib.md5(b"x").hexdigest()
    assert PasswordHash().parse(digest.upper()) == digest
    assert is_md5(digest)
    assert PasswordHash().parse(f"argon2{WELL_KNOWN[4]}") == WELL_KNOWN[4]


@pytest.mark.parametrize(
    ("digest", "cost"),
    [
        (f"$2y$31${SALTED}", "bcrypt whose cost is 31"),
        (f"$wp$2y$15${SALTED}", "bcrypt whose cost is 15"),
        (f"$2y$03${SALTED}", "bcrypt whose cost is 3"),
        ("$P$T" + 30 * "x", "phpass whose logarithm of its rounds is 31"),
        ("$S$F" + 51 * "x", "phpass whose logarithm of its rounds is 17"),
        *(
            (f"$argon2id$v=19$m={m},t={t},p={p}$c29tZXNhbHQ$q0RKBOz3a1Vj5a3xSPaDvQ", cost)
            for m, t, p, cost in (
                (4 * 1024**2, 1, 1, "Argon2 whose memory in KiB is 4194304"),
                (65_536, 17, 1, "Argon2 whose number of passes is 17"),
                (65_536, 3, 99, "Argon2 whose number of lanes is 99"),
                (0, 3, 1, "Argon2 whose memory in KiB is 0"),
            )
        ),
        ("pbkdf2_sha256$99999999$saltsalt$" + 43 * "x" + "=", "PBKDF2 whose number of rounds"),
    ],
)
def test_a_digest_that_takes_too_long_is_refused(digest: str, cost: str) -> None:
    """decisions, "Digests of other systems"."""
    with pytest.raises(ValueError, match=f"a digest of {cost}") as error:
        PasswordHash().parse(digest)
    assert digest not in str(error.value)


@pytest.mark.parametrize(
    "text", ["secret", *OTHERS[:6], OTHERS[-1], "$2y$10$short", f"$2x$10${SALTED}"]
)
def test_what_no_login_can_be_checked_with_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a digest that a login can be checked with") as error:
        PasswordHash().parse(text)
    assert text not in str(error.value)


@given(texts(PasswordHash()))
def test_what_is_kept_is_taken_again(text: str) -> None:
    assert PasswordHash().parse(PasswordHash().parse(text)) == text
