"""Queries that are sent to the database in one message."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from masthead.databases.queries import Batch, rows_as, rows_of
from masthead.errors import NotFound, StoreUnavailable
from masthead.store.books.operation import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.databases.queries import Query
    from masthead.store import Connection
    from masthead.store import Store as OpenStore

ACCOUNT = rows_as(tuple[int], "SELECT account_id FROM accounts WHERE account_id = :account_id")
FAILING = rows_of("SELECT no_such_column FROM accounts")


def number(value: int) -> Query[int]:
    """A query whose answer is a number."""
    return rows_of("SELECT CAST(:value AS BIGINT)", value=value).then(lambda rows: int(rows[0][0]))


def asked(connection: Connection, *queries: Query[Any]) -> list[Any]:
    """Return the answers of queries that are sent together, for account 1."""
    batch = Batch(connection, account_id=1)
    answers = [batch.add(query) for query in queries]
    batch.send()
    return [answer() for answer in answers]


@pytest.fixture
def connection(opened: OpenStore) -> Iterator[Connection]:
    """A connection for reading account 1."""
    with opened.reader() as found:
        found.set_tenant(1)
        yield found


def test_the_answers_are_those_of_the_queries_alone(connection: Connection) -> None:
    """decisions, "Statements that are sent together"."""
    assert asked(connection, number(3), ACCOUNT, number(-5), number(3)) == [3, [(1,)], -5, 3]
    assert asked(connection) == []
    assert connection.ask(number(7)) == 7


def test_an_answer_is_not_there_before_the_batch_was_sent(connection: Connection) -> None:
    answer = Batch(connection).add(number(3))
    with pytest.raises(IndexError):
        answer()


def test_an_answer_that_is_an_error_is_raised_where_it_is_used(connection: Connection) -> None:
    def missing(_: object) -> int:
        raise NotFound("there is none")

    batch = Batch(connection)
    wrong, right = batch.add(number(1).then(missing)), batch.add(number(2))
    batch.send()
    assert right() == 2
    with pytest.raises(NotFound):
        wrong()


@pytest.mark.parametrize("in_snapshot", [False, True])
def test_after_a_statement_that_fails_the_connection_answers_as_before(
    connection: Connection, *, in_snapshot: bool
) -> None:
    with (
        pytest.raises((StoreUnavailable, connection.driver_error)),
        connection.read_snapshot() if in_snapshot else nullcontext(),
    ):
        asked(connection, ACCOUNT, FAILING, number(3))
    assert asked(connection, ACCOUNT, number(3)) == [[(1,)], 3]
    with connection.read_snapshot():
        assert asked(connection, number(4), ACCOUNT) == [4, [(1,)]]


def test_more_statements_than_libpq_buffers_are_answered(connection: Connection) -> None:
    """The server sends answers while later statements are still on their way to it."""
    long = rows_of("SELECT CAST(:text AS TEXT)", text="x" * 20_000)
    assert asked(connection, *[long] * 400) == [[("x" * 20_000,)]] * 400


def test_a_reading_gives_its_account_to_each_statement(opened: OpenStore) -> None:
    with opened.reader() as connection:
        connection.set_tenant(2)
        batch = Batch(Reading(opened, connection, 2))
        first, second = batch.add(ACCOUNT), batch.add(number(3))
        batch.send()
        assert (first(), second()) == ([(2,)], 3)
