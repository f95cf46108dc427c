"""An operation of the books is done completely or not at all: one commit, one audit entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import Books
from masthead.books.opening import account_of
from masthead.databases.queries import Batch, rows_as
from masthead.errors import MastheadError, NotFound
from masthead.store import audit, commits
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation, operation
from tests.circulation.desk import ACTOR, Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store

UNSTAMPED = "SELECT count(*) FROM commits WHERE account_id = :account_id AND visible_at IS NULL"
COMMITS = "SELECT count(*) FROM commits WHERE account_id = :account_id"


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """An account with open books and one reader."""
    with at_desk(store) as found:
        found.put("subscribers", subscriber_id=1, email="ada@example.org")
        yield found


def said(desk: Desk) -> list[tuple[audit.Actor, int | None, str]]:
    """Return the audit entries of the account, without their times."""
    with desk.store.writer() as database:
        found = audit.entries(database, account_id=desk.account_id)
        return [
            (audit.Actor(entry.user_name, entry.command), entry.account_id, entry.summary)
            for entry in found
            if entry.command == ACTOR.command
        ]


def rename(running: Operation) -> None:
    """Change the reader, as an operation does."""
    running.connection.change(
        """
        UPDATE subscribers SET email = 'new@example.org', commit_id = :commit_id
        WHERE account_id = :account_id
        """,
        account_id=running.account_id,
        commit_id=running.commit_id,
    )


def test_it_is_one_commit_that_is_stamped_and_one_entry(desk: Desk) -> None:
    ((before,),) = desk.rows(COMMITS)
    with operation(desk.store, desk.account_id, ACTOR) as running:
        rename(running)
        running.say("reader 1 renamed")
    assert desk.rows(COMMITS) == [(before + 1,)]
    assert desk.rows(UNSTAMPED) == [(0,)]
    assert desk.rows("SELECT commit_id FROM subscribers WHERE account_id = :account_id") == [
        (running.commit_id,)
    ]
    assert said(desk) == [(ACTOR, desk.account_id, "reader 1 renamed")]


def test_what_it_queued_is_found_by_statements_that_are_sent_together(desk: Desk) -> None:
    """decisions, "Statements that are sent together"."""
    with operation(desk.store, desk.account_id, ACTOR) as running:
        batch = Batch(running)
        found = batch.add(
            rows_as(tuple[str], "SELECT name FROM classes WHERE account_id = :account_id")
        )
        running.add("classes", class_id=77, name="Free")
        batch.send()
        assert ("Free",) in found()


@pytest.mark.parametrize("how", ["raises", "is dry"])
def test_what_raises_and_a_dry_run_leave_no_trace(desk: Desk, how: str) -> None:
    before, commits_before = desk.everything(), desk.rows(COMMITS)
    try:
        with operation(desk.store, desk.account_id, ACTOR, dry_run=how == "is dry") as running:
            rename(running)
            running.say("reader 1 renamed")
            assert running.connection.row("SELECT 1 FROM subscribers WHERE email LIKE 'new%'")
            if how == "raises":
                raise ZeroDivisionError
    except ZeroDivisionError:
        assert how == "raises"
    assert desk.everything() == before
    assert desk.rows(COMMITS) == commits_before
    assert said(desk) == []


def test_a_change_that_no_partner_sees_makes_an_entry_and_no_commit(desk: Desk) -> None:
    before = desk.rows(COMMITS)
    with operation(desk.store, desk.account_id, ACTOR) as running:
        running.connection.change(
            "INSERT INTO products (account_id, product_id) VALUES (:account_id, 1)",
            account_id=desk.account_id,
        )
        running.say("product 1 added")
    assert desk.rows(COMMITS) == before
    assert said(desk) == [(ACTOR, desk.account_id, "product 1 added")]


def test_what_changes_nothing_and_says_nothing_has_no_entry(desk: Desk) -> None:
    before = desk.rows(COMMITS)
    with operation(desk.store, desk.account_id, ACTOR):
        pass
    assert desk.rows(COMMITS) == before
    assert said(desk) == []


@pytest.mark.parametrize("what", ["a deletion", "answers"])
def test_a_commit_that_only_this_row_shows_is_kept(desk: Desk, what: str) -> None:
    before = desk.rows(COMMITS)[0][0]
    with operation(desk.store, desk.account_id, ACTOR) as running:
        values = {"account_id": desk.account_id, "commit_id": running.commit_id}
        if what == "answers":
            running.connection.change(
                "UPDATE subscribers SET custom_fields_commit_id = :commit_id "
                "WHERE account_id = :account_id",
                **values,
            )
        else:
            running.connection.change(
                "INSERT INTO deletions (account_id, entity, record_id, commit_id) "
                "VALUES (:account_id, 'orders', 1, :commit_id)",
                **values,
            )
    assert desk.rows(COMMITS) == [(before + 1,)]


def test_day_and_time_are_in_the_account_s_time_zone(desk: Desk) -> None:
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE accounts SET time_zone = 'Pacific/Auckland'")
    desk.to("2026-03-01")
    with desk.books.read() as books:
        # Noon in UTC is one in the night of the next day there.
        assert (books.today, books.now) == ("2026-03-02", "2026-03-02 01:00:00")


def test_without_books_an_operation_names_the_command_that_opens_them(desk: Desk) -> None:
    """circulation, "Two modes of an account"."""
    with desk.store.writer() as database, database.transaction():
        database.change("DELETE FROM books")
    assert account_of(desk.books).opened_on is None
    for begun in (
        operation(desk.store, desk.account_id, ACTOR),
        desk.books.scan(),
    ):
        with pytest.raises(MastheadError, match="open its books first"), begun:
            pass


def test_an_unknown_account_is_not_found(desk: Desk) -> None:
    for begun in (operation(desk.store, 9, ACTOR), Books(desk.store, 9).read()):
        with pytest.raises(NotFound, match="no account 9"), begun:
            pass


def test_no_id_is_given_twice(desk: Desk) -> None:
    """Not that of a row, of a row that was removed, or of one that a file names by its own key."""

    def following(table: str) -> int:
        with desk.store.writer() as database:
            return next_ids(database, desk.account_id, table)

    assert following("orders") == 1
    desk.put("orders", order_id=4, subscriber_id=1)
    assert following("orders") == 5
    with desk.store.writer() as database, database.transaction():
        commit_id = commits.begin_commit(database, desk.account_id)
        database.insert_many(
            "deletions",
            ("entity", "record_id", "commit_id"),
            [("orders", 7, commit_id), ("purchases", 50, commit_id)],
            account_id=desk.account_id,
        )
    assert following("orders") == 8
    with desk.store.writer() as database, database.transaction():
        database.insert_many(
            "natural_keys",
            ("table_name", "key_digest", "record_id"),
            [("orders", "", 20), ("purchases", "", 90)],
            account_id=desk.account_id,
        )
    assert following("orders") == 21
    assert following("terms") == 1
