"""Sign-ins wait for their turn, and nobody else waits for them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from masthead.books import reader_links
from masthead.store import passwords
from tests.readers.conftest import PASSWORD, email_of

if TYPE_CHECKING:
    import pytest

    from masthead.books import Books
    from masthead.books.reader_links import Ways
    from tests.readers.browser import Pages

AT_ONCE, OF_ONE_MAX, PAGES_AT_ONCE = 2, 10, 8


def test_two_sign_ins_are_compared_at_a_time_and_pages_wait_for_none(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "Turns of the readers' pages"."""
    may_go_on, compared = threading.Event(), threading.Semaphore(0)
    verify = passwords.HASHER.verify

    class Held:
        hash = passwords.HASHER.hash
        check_needs_rehash = passwords.HASHER.check_needs_rehash

        @staticmethod
        def verify(hashed: str, password: str) -> bool:
            compared.release()
            assert may_go_on.wait(60)
            return verify(hashed, password)

    monkeypatch.setattr(passwords, "HASHER", Held)
    signing_in = pages.app.state.signing_in
    with ThreadPoolExecutor(AT_ONCE + OF_ONE_MAX + 1) as pool:
        browsers = [pages.browser() for _ in range(AT_ONCE + OF_ONE_MAX + 1)]
        answers = [
            pool.submit(each.sign_in, email_of(20 + number), PASSWORD)
            for number, each in enumerate(browsers[:-1])
        ]
        for _ in range(AT_ONCE):
            assert compared.acquire(timeout=60)
        # The answer of the one for whom there is no place comes while all others wait.
        refused, _ = wait(
            [*answers, pool.submit(browsers[-1].sign_in, email_of(39), PASSWORD)],
            return_when="FIRST_COMPLETED",
        )
        (one,) = refused
        assert one.result().status_code == 503
        assert one.result().headers["Retry-After"]
        assert PASSWORD not in one.result().text
        assert signing_in.waiting == OF_ONE_MAX
        assert not compared.acquire(blocking=False)
        assert pages.browser().get("sign-in").status_code == 200
        may_go_on.set()
    statuses = sorted(each.result().status_code for each in answers if each is not one)
    assert set(statuses) == {303}


def test_eight_pages_are_made_at_a_time_and_others_wait(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "Turns of the readers' pages"."""
    may_go_on, made = threading.Event(), threading.Semaphore(0)
    ways = reader_links.ways

    def held(books: Books) -> Ways:
        made.release()
        assert may_go_on.wait(60)
        return ways(books)

    monkeypatch.setattr(reader_links, "ways", held)
    with ThreadPoolExecutor(PAGES_AT_ONCE + 2) as pool:
        browsers = [pages.browser() for _ in range(PAGES_AT_ONCE + 2)]
        answers = [pool.submit(each.get, "sign-in") for each in browsers]
        for _ in range(PAGES_AT_ONCE):
            assert made.acquire(timeout=60)
        health = pages.browser().client
        while pages.app.state.threads.statistics().tasks_waiting < 2:
            health.get("/health")
        assert not made.acquire(blocking=False)
        may_go_on.set()
    assert {each.result().status_code for each in answers} == {200}
