"""Statements that are sent to PostgreSQL in one message."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.databases.postgresql.connection import connect
from masthead.databases.postgresql.session import Forgotten, statement_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.databases.postgresql.session import Session
    from tests.postgres import Databases

BIGGEST = 2**63 - 1
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))

BEGIN, COMMIT = (statement_of(sql, {}) for sql in ("BEGIN", "COMMIT"))
HOW_MANY_PREPARED = statement_of("SELECT count(*) FROM pg_prepared_statements", {}, stays=False)


@pytest.fixture(scope="module")
def session(postgres: Databases) -> Iterator[Session]:
    """A session that keeps its statements prepared."""
    with closing(connect(postgres.url("postgres"))) as found:
        found.keep_statements()
        yield found


def prepared_by(session: Session) -> int:
    """Return how many statements the server has prepared in the session."""
    ((count,),) = session.exchange([HOW_MANY_PREPARED]).rows
    return int(count)


@given(st.integers(-BIGGEST - 1, BIGGEST) | st.none(), TEXTS | st.none(), st.booleans())
def test_values_come_back_as_they_were_sent(
    session: Session, number: int | None, text: str | None, stays: bool
) -> None:
    sql = "SELECT CAST(:number AS BIGINT), CAST(:text AS TEXT), CAST(:number AS BIGINT)"
    found = session.exchange([statement_of(sql, {"number": number, "text": text}, stays=stays)])
    assert found.rows == [(number, text, number)]


@pytest.mark.parametrize("value", ["a\0b", 2**63, -(2**63) - 1, "\ud800"])
def test_a_value_that_no_column_can_hold_is_refused_before_it_is_sent(value: int | str) -> None:
    with pytest.raises(psycopg.DataError):
        statement_of("SELECT :value", {"value": value})


def test_it_is_told_how_many_rows_were_changed(session: Session) -> None:
    session.execute("CREATE TEMP TABLE counted (n BIGINT)")
    insert = statement_of("INSERT INTO counted SELECT generate_series(1, :n)", {"n": 7})
    assert session.exchange([BEGIN, insert, COMMIT], 1).changed == 7
    assert session.exchange([statement_of("DELETE FROM counted", {})]).changed == 7


def test_what_comes_after_an_error_is_not_run(session: Session) -> None:
    session.execute("CREATE TEMP TABLE kept (n BIGINT)")
    fails = statement_of("SELECT 1 / :n", {"n": 0})
    insert = statement_of("INSERT INTO kept VALUES (:n)", {"n": 1})
    with pytest.raises(psycopg.errors.DivisionByZero):
        session.exchange([BEGIN, insert, fails, insert, COMMIT], 2)
    session.execute("ROLLBACK")
    assert session.exchange([statement_of("SELECT n FROM kept", {})]).rows == []


def test_a_statement_is_prepared_once(session: Session) -> None:
    before = prepared_by(session)
    for n in range(5):
        found = session.exchange([statement_of("SELECT :n + 41", {"n": n})])
        assert found.rows == [(n + 41,)]
    assert prepared_by(session) == before + 1


def test_a_statement_that_was_skipped_after_an_error_is_prepared_again(session: Session) -> None:
    fails, skipped = (statement_of(sql, {}) for sql in ("SELECT 1 / 0", "SELECT 42, 'skipped'"))
    with pytest.raises(psycopg.errors.DivisionByZero):
        session.exchange([fails, skipped], 1)
    assert session.exchange([skipped]).rows == [(42, "skipped")]


@pytest.mark.parametrize("how", ["DEALLOCATE ALL", "ALTER TABLE changing ADD COLUMN b BIGINT"])
def test_statements_that_the_server_has_forgotten_are_prepared_again(
    session: Session, how: str
) -> None:
    session.execute("DROP TABLE IF EXISTS changing")
    session.execute("CREATE TEMP TABLE changing (a BIGINT)")
    query = statement_of(f"SELECT * FROM changing /* {how} */", {})
    session.exchange([query])
    session.execute(how.encode())
    with pytest.raises(Forgotten):
        session.exchange([query])
    assert session.exchange([query]).rows == []


def test_rows_are_whole_after_a_stream_in_parts(session: Session) -> None:
    """Libpq goes on giving rows in parts after it was told to."""
    query = statement_of("SELECT generate_series(1, :n)", {"n": 2_500})
    with session.cursor() as cursor:
        streamed = list(cursor.stream("SELECT generate_series(1, 2500)", size=1_000))
    assert session.exchange([query]).rows == streamed
    assert len(streamed) == 2_500


def test_a_large_message_and_a_large_answer_pass_each_other(session: Session) -> None:
    """Neither side waits for the other to read."""
    text = "x" * 5_000_000
    statements = [statement_of("SELECT CAST(:text AS TEXT)", {"text": text})] * 3
    assert session.exchange(statements, 2).rows == [(text,)]


def test_a_session_that_the_server_ends_is_closed(postgres: Databases) -> None:
    with closing(connect(postgres.url("postgres"))) as ending:
        end = statement_of("SELECT pg_terminate_backend(pg_backend_pid())", {})
        with pytest.raises(psycopg.OperationalError):
            ending.exchange([end])
        assert ending.closed
