"""Stamps go by the database's clock (rules, "The clock of stamps")."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from masthead.store import accounts, commits, open_store, system_clock

if TYPE_CHECKING:
    from tests.servers import Store

_numbers = itertools.count()
YEAR_US = 365 * 86_400 * 1_000_000


def test_a_stamp_is_the_time_of_the_database(store: Store) -> None:
    """The tests' databases run on this machine, so its clock can judge."""
    before = system_clock()
    opened = open_store(store.new_database(f"clock-{next(_numbers)}"))
    accounts.add_account(opened, {"account_id": 1})
    with opened.writer() as database:
        stamp = commits.position_of(database, 1).newest_stamp
    assert before <= stamp <= system_clock()


def test_the_machine_of_a_loader_has_no_say_where_the_database_is_a_server(store: Store) -> None:
    opened = open_store(store.new_database(f"clock-{next(_numbers)}"))
    opened.clock = lambda: system_clock() + YEAR_US
    accounts.add_account(opened, {"account_id": 1})
    with opened.writer() as database:
        is_ahead = commits.position_of(database, 1).newest_stamp > system_clock() + YEAR_US // 2
    assert is_ahead == (store.kind == "sqlite")
