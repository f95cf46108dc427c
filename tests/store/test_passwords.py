"""Which password fits a digest of another system, and what replaces the digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.contract.passwords import PasswordHash
from masthead.store import commits, passwords
from masthead.store.passwords import BetterDigests, fits
from tests.servers import as_server
from tests.store.conftest import opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store import Store as OpenStore

# Made by libpass and argon2-cffi; those of "hashcat" are the examples of that program.
PASSWORD = "pässwörd 1"
ARGON2 = (
    "$argon2id$v=19$m=64,t=1,p=1$vVPSTYP5FOM96NBfSRV7kA$pI9iktGa95wmFJFAb4jIXt6bTK/vWnjJgPjD1Dvk4rM"
)
DIGESTS = {
    "bcrypt": (PASSWORD, "$2y$04$OIM65c4.7ivOslq5Cv7u/ukvJ5roUnz8G2eZA9FrFwHup59wbuMcm"),
    "older bcrypt": (PASSWORD, "$2a$04$pI/NvD6/dpGzp2TT2z2Fju.YyKpDvZhH6c8QiMmmzsymG18TZw3t2"),
    "WordPress": (PASSWORD, "$wp$2y$04$qgYNZ6WMjh138MHfp95zZegktCx8jXRh1hGR8HWPGy6KfNRnuZqb2"),
    "phpass": (PASSWORD, "$P$6NlnHPprE9mb8PIaf..ycKwNwSnDhG1"),
    "phpBB": (PASSWORD, "$H$62lB7PzTZsnb/cpeaXSWdSMA9/rLJh/"),
    "hashcat's phpass": ("hashcat", "$P$984478476IagS59wHZvyQMArzfx58u."),
    "Drupal": ("hashcat", "$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf"),
    "Argon2": (PASSWORD, ARGON2),
    "Django": (
        PASSWORD,
        "pbkdf2_sha256$1000$LbhIL0JcJ1DK$bfcinQVhlUEe9V5wjShY2wDruwskaH22qdbAU46GtN0=",
    ),
}
BCRYPT = DIGESTS["bcrypt"][1]


@pytest.mark.parametrize("name", DIGESTS)
def test_the_right_password_fits_and_no_other(name: str) -> None:
    """decisions, "Digests of other systems"."""
    password, digest = DIGESTS[name]
    assert PasswordHash().parse(digest) == digest
    assert fits(password, digest)
    for other in (password.upper(), f"{password} ", password[:-1], "", "\0", digest, "x" * 5_000):
        assert not fits(other, digest)


def test_bcrypt_reads_as_much_of_a_password_as_where_the_digest_was_made() -> None:
    digest = "$2b$04$abcdefghijklmnopqrstu.ehXAdaTlskxXpqv4PQN4Te7.d/sQvju"
    assert fits("x", digest)
    assert not fits("x" * 73, digest)


@pytest.fixture
def read_by(opened: OpenStore, url: str) -> Iterator[OpenStore]:
    """The store as a server has it open; its reader 1 has a digest of bcrypt."""
    with opened.writer() as database, database.transaction():
        database.lock_account(1)
        commit_id = commits.begin_commit(database, 1)
        database.change(
            """
            INSERT INTO subscribers (account_id, subscriber_id, password_hash,
                password_hash_loaded, commit_id, custom_fields_commit_id)
            VALUES (1, 1, :digest, 'loaded', :commit_id, :commit_id)
            """,
            digest=BCRYPT,
            commit_id=commit_id,
        )
    with opening(as_server(url)) as served:
        yield served


def stored(opened: OpenStore) -> tuple[str, int]:
    with opened.writer() as database:
        (row,) = database.rows_as(
            tuple[str, int],
            "SELECT password_hash, commit_id FROM subscribers WHERE account_id = 1",
        )
    return row


def test_argon2_replaces_a_digest_and_the_feed_does_not_show_it(
    opened: OpenStore, read_by: OpenStore
) -> None:
    _, commit_id = stored(opened)
    better = BetterDigests()
    better.note(1, 1, BCRYPT, PASSWORD)
    better.write(read_by)
    digest, same_commit = stored(opened)
    assert digest.startswith("$argon2id$")
    assert fits(PASSWORD, digest)
    assert same_commit == commit_id
    # A digest that is as good stays.
    better.note(1, 1, digest, PASSWORD)
    better.write(read_by)
    assert stored(opened) == (digest, commit_id)


def test_what_a_load_has_replaced_meanwhile_stays(opened: OpenStore, read_by: OpenStore) -> None:
    better = BetterDigests()
    better.note(1, 1, BCRYPT, PASSWORD)
    with opened.writer() as database:
        database.change("UPDATE subscribers SET password_hash = 'another'")
    better.write(read_by)
    assert stored(opened)[0] == "another"


def test_what_cannot_be_written_now_is_written_later(
    opened: OpenStore, read_by: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    better = BetterDigests()
    better.note(1, 1, BCRYPT, PASSWORD)
    with monkeypatch.context() as patch:
        patch.setattr(passwords, "_REPLACE", "UPDATE no_such_table SET password_hash = :better")
        with pytest.raises(Exception, match="no_such_table"):
            better.write(read_by)
    better.write(read_by)
    assert fits(PASSWORD, stored(opened)[0])
    assert stored(opened)[0] != BCRYPT
