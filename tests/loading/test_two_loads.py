"""While a load has its transaction open: what readers see, and which other loads go on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from threading import Event
from typing import TYPE_CHECKING

import pytest

from masthead.loading.load import load
from masthead.store import accounts
from tests.api.callers import Caller
from tests.loading.publisher import SMALL, Publisher
from tests.servers import COMMAND_SECONDS_MAX, Store, import_files, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BEFORE = ["Ada", "Ben"]
AFTER = ["Zoe", "Ben", "Cy"]
CHANGED = SMALL | {"subscribers.csv": "subscriber_id,first_name\n1,Zoe\n3,Cy\n"}


@pytest.fixture
def pair(store: Store, tmp_path: Path) -> Iterator[tuple[Publisher, Publisher]]:
    """The accounts 1 and 2 of a database of their own; each holds the small publisher."""
    database = store.new_database("two-loads")
    with ExitStack() as stack:
        stack.callback(store.drop_database, database)
        one = Publisher(database, tmp_path, 1)
        stack.callback(one.store.close)
        two = Publisher(database, tmp_path, 2, store=one.store)
        for publisher in (one, two):
            number = publisher.account_id
            keys = {"api_key": f"key-{number}", "api_login": f"login-{number}"}
            accounts.set_account(publisher.store, number, keys)
            publisher.load(SMALL)
        yield one, two


@contextmanager
def open_load(publisher: Publisher) -> Iterator[None]:
    """Load the changed files, and commit after the block: some are written by then, unseen."""
    is_open, may_commit = Event(), Event()

    def tell(doing: str) -> None:
        if doing == "writing subscriptions":
            is_open.set()
            assert may_commit.wait(COMMAND_SECONDS_MAX)

    folder = publisher.write(CHANGED)
    with ThreadPoolExecutor(1) as threads:
        loading = threads.submit(
            load, publisher.store, [folder], account_id=publisher.account_id, tell=tell
        )
        loading.add_done_callback(lambda _: is_open.set())
        try:
            assert is_open.wait(COMMAND_SECONDS_MAX)
            assert not loading.done(), loading.result()
            yield
        finally:
            may_commit.set()
        loading.result()


@contextmanager
def callers(database: str) -> Iterator[tuple[Caller, Caller]]:
    """Serve the database, and yield a caller for each account."""
    with (
        serving(database) as server,
        closing(Caller(server, "key-1", "login-1")) as one,
        closing(Caller(server, "key-2", "login-2")) as two,
    ):
        yield one, two


def first_names(caller: Caller) -> list[str]:
    """Return what a look-up shows of an account's subscribers."""
    return [row["first_name"] for row in caller.read("/2/subscribers/")["subscribers"]]


def test_look_ups_go_on_and_see_what_was_there_before(pair: tuple[Publisher, Publisher]) -> None:
    one, _ = pair
    with callers(one.url) as (as_one, as_two):
        with open_load(one):
            for _ in range(3):
                assert first_names(as_one) == first_names(as_two) == BEFORE
            assert as_one.read("/2/orders/1")["order_items"]
        assert first_names(as_one) == AFTER
        assert first_names(as_two) == BEFORE


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_a_load_into_one_account_does_not_wait_for_a_load_into_another(
    pair: tuple[Publisher, Publisher],
) -> None:
    """rules, "Locks of accounts"; of PostgreSQL alone: SQLite lets one write at a time."""
    one, two = pair
    with callers(one.url) as (as_one, as_two):
        with open_load(one):
            printed = import_files(two.write(CHANGED), account_id="2", database=two.url)
            assert "subscribers           1 inserted, 1 changed, 0 unchanged\n" in printed
            assert first_names(as_two) == AFTER
            assert first_names(as_one) == BEFORE
            assert two.commit_count() == one.commit_count() + 1
        assert first_names(as_one) == AFTER
    assert one.everything() == two.everything()
    assert one.commit_count() == two.commit_count()
