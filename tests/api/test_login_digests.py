"""Operation 3: readers log in with the passwords of another system."""

from __future__ import annotations

import csv
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.api.test_login_limits import FOUND, NO, attempt, calling
from tests.servers import import_files, masthead, write_ndjson
from tests.store.test_passwords import DIGESTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

PASSWORD, BCRYPT = DIGESTS["bcrypt"]
PHPASS = DIGESTS["phpass"][1]
AT_ONCE = 2


@pytest.fixture
def database(store: Store, tmp_path: Path) -> Iterator[str]:
    """A publisher whose three readers had passwords in another system; one email is of two."""
    url = store.new_database("digests")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=url)
    readers = {"ada@example.org": BCRYPT, "ben@example.org": PHPASS, "Ada@example.org": PHPASS}
    records = [
        {"subscriber_id": n, "first_name": f"{n}", "email": email, "password_hash": digest}
        for n, (email, digest) in enumerate(readers.items(), 1)
    ]
    folder = tmp_path / "files"
    folder.mkdir()
    import_files(*write_ndjson(folder, {"subscribers": records}), account_id="1", database=url)
    yield url
    store.drop_database(url)


def test_readers_log_in_and_the_digests_become_better(database: str, tmp_path: Path) -> None:
    """decisions, "Digests of other systems"."""
    with calling(database) as (caller, server):
        for _ in range(2):
            for email in ("ada@example.org", "BEN@example.org"):
                assert attempt(caller, email, PASSWORD).text.startswith(FOUND)
                for wrong in ("wrong", BCRYPT, PHPASS):
                    assert attempt(caller, email, wrong).text == NO
        assert attempt(caller, "nobody@example.org", PASSWORD).text == NO
        assert '"password_md5":""' in caller.ask("/2/subscribers/").text
        assert "$2y$" not in caller.ask("/2/subscribers/").text
        assert server.stop() == 0
        assert "$2y$" not in server.output()
    masthead("export", tmp_path / "out", "--account", 1, database=database)
    with (tmp_path / "out" / "subscribers.csv").open() as file:
        digests = [row["password_hash"] for row in csv.DictReader(file)]
    # The email of two has logged in as the first.
    assert [digest.startswith("$argon2id$") for digest in digests] == [True, True, False]
    with calling(database) as (caller, _):
        assert attempt(caller, "ada@example.org", PASSWORD).text.startswith(FOUND)
        assert attempt(caller, "ada@example.org", "wrong").text == NO


def test_guesses_at_the_same_time_are_limited_too(database: str) -> None:
    """decisions, "Limits of the login check"."""
    with (
        calling(database, "--login-failures", "3") as (caller, _),
        ThreadPoolExecutor(12) as threads,
    ):
        answers = threads.map(
            lambda n: attempt(caller, "ada@example.org", f"guess {n}").status_code, range(12)
        )
        assert list(answers).count(200) <= 3 + AT_ONCE - 1
