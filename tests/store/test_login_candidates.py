"""Which subscribers a login can mean, and which digest is checked for an unknown login."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING

import pytest

from masthead.store.login_candidates import DIGESTS_MAX, LoginMatch, login_candidates

if TYPE_CHECKING:
    from tests.loading.publisher import Publisher

EMAILS = {n: f"a{letter}@example.org" for n, letter in enumerate(ascii_lowercase, 1)}


def digest(n: int) -> str:
    return f"$P$B{ascii_lowercase[n]}{29 * 'x'}"


def load(publisher: Publisher, emails: dict[int, str]) -> None:
    """Load readers with these emails, each with a digest."""
    rows = "".join(f'{n},{email},"{digest(n % 26)}"\n' for n, email in emails.items())
    publisher.load({"subscribers.csv": f"subscriber_id,email,password_hash\n{rows}"})


@pytest.fixture
def readers(publisher: Publisher) -> Publisher:
    """Readers with a digest each, whose emails begin with the same letter."""
    load(publisher, EMAILS)
    return publisher


def by_digest(publisher: Publisher, login: str) -> list[LoginMatch]:
    with publisher.store.reader() as database:
        database.set_tenant(publisher.account_id)
        return login_candidates(
            database, publisher.account_id, login, password_md5="", today="2026-11-27"
        ).by_digest


def test_an_unknown_email_has_the_digest_of_another_which_stays_the_same(
    readers: Publisher,
) -> None:
    """rules, "The same response for an unknown login"."""
    unknown = [f"{letter}{n}@example.net" for letter in "abxyz0é" for n in range(10)]
    found = {login: by_digest(readers, login) for login in unknown}
    assert all(len(decoys) == 1 and not decoys[0].is_meant for decoys in found.values())
    assert found == {login: by_digest(readers, login) for login in unknown}
    assert by_digest(readers, "A0@EXAMPLE.net") == found["a0@example.net"]
    # The next email would be the same one for all of these.
    assert len({found[f"a{n}@example.net"][0].secret for n in range(10)}) > 1


def test_a_known_email_has_its_own_digest_alone(readers: Publisher) -> None:
    for n, email in EMAILS.items():
        (match,) = by_digest(readers, email.swapcase())
        assert (match.subscriber_id, match.secret, match.is_meant) == (n, digest(n % 26), 1)


def test_of_an_email_that_many_share_some_digests_are_checked_and_of_its_decoy_as_many(
    publisher: Publisher,
) -> None:
    load(publisher, dict.fromkeys(range(1, DIGESTS_MAX + 3), "ada@example.org"))
    for login in ("ada@example.org", "ben@example.org"):
        secrets = [match.secret for match in by_digest(publisher, login)]
        assert secrets == [digest(n) for n in range(1, DIGESTS_MAX + 1)]


def test_what_is_no_email_and_whom_the_publisher_deleted_have_none(readers: Publisher) -> None:
    assert by_digest(readers, "AB3DE") == []
    readers.load({"subscribers.csv": "subscriber_id,delete_date\n1,2026-01-01 00:00:00\n"})
    (match,) = by_digest(readers, EMAILS[1])
    assert not match.is_meant
    assert match.secret != digest(1)


def test_where_no_reader_has_a_digest_an_unknown_email_has_none(publisher: Publisher) -> None:
    for login in ("ada@example.org", "cleo@example.org"):
        assert by_digest(publisher, login) == []
