"""Passwords in files: in clear, as MD5, or as digests of other systems."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from masthead.store.merging import Counts
from tests.loading.mapped import load_mapped, refusal
from tests.loading.test_mapping import of_subscribers
from tests.store.test_passwords import DIGESTS

if TYPE_CHECKING:
    from tests.loading.publisher import Publisher

BCRYPT, PHPASS = DIGESTS["bcrypt"][1], DIGESTS["phpass"][1]
MD5 = hashlib.md5(b"secret").hexdigest()
SHA256 = hashlib.sha256(b"secret").hexdigest()


def stored(publisher: Publisher) -> list[tuple[str | None, str | None]]:
    return [(row["password_md5"], row["password_hash"]) for row in publisher.table("subscribers")]


def load_digests(publisher: Publisher, *digests: str) -> Counts:
    rows = "".join(f'{n},"{digest}"\n' for n, digest in enumerate(digests, 1))
    loaded = publisher.load({"subscribers.csv": f"subscriber_id,password_hash\n{rows}"})
    return loaded.counts["subscribers"]


def test_a_digest_of_md5_becomes_the_password_md5_and_others_are_kept(
    publisher: Publisher,
) -> None:
    """rules, "Passwords in files"."""
    load_digests(publisher, BCRYPT, MD5.upper(), "")
    assert stored(publisher) == [(None, BCRYPT), (MD5, None), (None, None)]


def test_a_new_password_replaces_the_old_one_in_whichever_column(publisher: Publisher) -> None:
    load_digests(publisher, BCRYPT, MD5)
    assert load_digests(publisher, MD5, PHPASS) == Counts(0, 2, 0)
    assert stored(publisher) == [(MD5, None), (None, PHPASS)]
    publisher.load({"subscribers.csv": "subscriber_id,password\n2,secret\n"})
    assert stored(publisher) == [(MD5, None), (MD5, None)]
    # A file without passwords changes none.
    publisher.load({"subscribers.csv": "subscriber_id,source\n1,web\n"})
    assert stored(publisher) == [(MD5, None), (MD5, None)]


def test_what_a_login_has_replaced_is_no_change_in_the_next_file(publisher: Publisher) -> None:
    """decisions, "Digests of other systems"."""
    load_digests(publisher, BCRYPT, PHPASS)
    with publisher.store.writer() as database:
        database.change(
            "UPDATE subscribers SET password_hash = '$argon2id$' || CAST(subscriber_id AS text) "
            "WHERE account_id = :id",
            id=publisher.account_id,
        )
    assert load_digests(publisher, BCRYPT, PHPASS) == Counts(0, 0, 2)
    publisher.load(
        {"subscribers.csv": f'subscriber_id,email,password_hash\n1,a@example.org,"{BCRYPT}"\n'}
    )
    assert stored(publisher) == [(None, "$argon2id$1"), (None, "$argon2id$2")]
    # A password that was changed in the other system counts.
    assert load_digests(publisher, PHPASS, PHPASS) == Counts(0, 1, 1)
    assert stored(publisher) == [(None, PHPASS), (None, "$argon2id$2")]


def test_a_row_has_one_of_the_columns(publisher: Publisher) -> None:
    rows = f"subscriber_id,password_md5,password_hash\n1,{MD5},\n2,{MD5},{BCRYPT}\n"
    problem = publisher.problem({"subscribers.csv": rows})
    place, sentence = "subscribers.csv:3: password_hash: ", "there is a password_md5 too"
    assert problem == f"{place}{sentence}: a subscriber has one of them"


def test_no_message_shows_a_digest(publisher: Publisher) -> None:
    """rules, "Values that are refused"."""
    for column, text in (
        ("password", BCRYPT),
        ("password", SHA256),
        ("password_hash", SHA256),
        ("password_hash", BCRYPT.replace("$04$", "$31$")),
    ):
        plain = {"subscribers.csv": f'subscriber_id,{column}\n1,"{text}"\n'}
        problem = publisher.problem(plain)
        assert problem.startswith(f"subscribers.csv:2: {column}: ")
        assert text[-20:] not in problem


@pytest.mark.parametrize("column", ["password", "password_hash"])
def test_a_mapped_file_has_digests_too(publisher: Publisher, column: str) -> None:
    mapping = of_subscribers(f'subscriber_id = "A"\n{column} = "B"')
    content = f'A,B\n1,"{BCRYPT}"\n2,{MD5.upper()}\n'
    if column == "password_hash":
        load_mapped(publisher, {"s.csv": content}, mapping)
        assert stored(publisher) == [(None, BCRYPT), (MD5, None)]
    else:
        problems = refusal(publisher, {"s.csv": content}, mapping)
        assert [problem.partition(": ")[0] for problem in problems] == ["s.csv:2", "s.csv:3"]
        shown = "\n".join(problems)
        assert BCRYPT not in shown
        assert MD5.upper() not in shown
