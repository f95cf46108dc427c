"""PostgreSQL in an event loop: greenlets that wait for sessions of a pool.

decisions, "PostgreSQL on the event loop" and "Requests to PostgreSQL in threads".
"""

from __future__ import annotations

import asyncio
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from masthead.databases.connection import DatabaseUnavailable
from masthead.databases.postgresql.greenlets import Greenlets
from masthead.databases.postgresql.loop_pool import LoopPool
from masthead.databases.postgresql.session import statement_of
from masthead.errors import StoreUnavailable
from tests.postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from tests.postgres import Databases

LONG_S = 30.0


class Asking:
    """An event loop's greenlets, and a pool whose sessions they use."""

    def __init__(self, url: str, sessions_max: int) -> None:
        """Make both in the running event loop."""
        self.loop = asyncio.get_running_loop()
        self.greenlets = Greenlets()
        self.pool = LoopPool(url, sessions_max)

    def ask(self, sql: str, *, within_s: float = LONG_S) -> asyncio.Future[Any]:
        """Return the future of a statement's rows."""

        def run() -> list[tuple[Any, ...]]:
            with self.pool.session() as session:
                return session.exchange([statement_of(sql, {})]).rows

        return self.start(run, within_s=within_s)

    def start(
        self, function: Callable[[], Any], *, within_s: float = LONG_S
    ) -> asyncio.Future[Any]:
        """Run a function in a greenlet."""
        return self.greenlets.start(
            function,
            ends_at=self.loop.time() + within_s,
            too_late=lambda: StoreUnavailable("too late"),
        )


def in_loop(
    url: str, test: Callable[[Asking], Coroutine[Any, Any, None]], *, sessions_max: int = 3
) -> None:
    """Run a test in an event loop of its own."""

    async def run() -> None:
        asking = Asking(url, sessions_max)
        with closing(asking.pool):
            await asyncio.wait_for(test(asking), LONG_S)

    asyncio.run(run())


@pytest.fixture(scope="module")
def url(postgres: Databases) -> str:
    return postgres.url("postgres")


@contextmanager
def own_cluster() -> Iterator[Cluster]:
    with closing(Cluster()) as cluster:
        yield cluster


def test_more_ask_at_once_than_there_are_sessions(url: str) -> None:
    """All are answered, by so many sessions and no more."""

    async def test(asking: Asking) -> None:
        found = await asyncio.gather(
            *(asking.ask(f"SELECT {n}, pg_backend_pid() FROM pg_sleep(0.001)") for n in range(200))
        )
        assert [rows[0][0] for rows in found] == list(range(200))
        assert 1 <= len({rows[0][1] for rows in found}) <= 3

    in_loop(url, test)


def test_the_loop_goes_on_while_a_statement_runs(url: str) -> None:
    async def test(asking: Asking) -> None:
        slow = asking.ask("SELECT 1 FROM pg_sleep(0.5)")
        quick = 0
        while not slow.done():
            await asking.ask("SELECT 1")
            quick += 1
        assert quick > 1

    in_loop(url, test)


def test_an_error_is_that_of_the_statement_and_the_session_goes_on(url: str) -> None:
    async def test(asking: Asking) -> None:
        ((first,),) = await asking.ask("SELECT pg_backend_pid()")
        with pytest.raises(Exception, match="division by zero"):
            await asking.ask("SELECT 1 / 0")
        assert await asking.ask("SELECT pg_backend_pid()") == [(first,)]

    in_loop(url, test, sessions_max=1)


def test_who_waits_at_the_deadline_gets_the_error_and_the_session_is_closed(url: str) -> None:
    async def test(asking: Asking) -> None:
        ((first,),) = await asking.ask("SELECT pg_backend_pid()")
        late = asking.ask("SELECT 1 FROM pg_sleep(20)", within_s=0.2)
        waiting = asking.ask("SELECT pg_backend_pid()", within_s=0.1)
        with pytest.raises(StoreUnavailable, match="too late"):
            await waiting
        with pytest.raises(StoreUnavailable, match="too late"):
            await late
        ((second,),) = await asking.ask("SELECT pg_backend_pid()")
        assert second != first

    in_loop(url, test, sessions_max=1)


def test_abandoned_work_ends_at_its_deadline_too(url: str) -> None:
    async def test(asking: Asking) -> None:
        ended = asyncio.Event()

        def run() -> None:
            with asking.pool.session() as session:
                session.exchange([statement_of("SELECT 1 FROM pg_sleep(20)", {})])

        future = asking.greenlets.start(
            run,
            ends_at=asking.loop.time() + 0.2,
            too_late=lambda: StoreUnavailable("too late"),
            ended=ended.set,
        )
        future.cancel()
        await asyncio.wait_for(ended.wait(), 10)

    in_loop(url, test, sessions_max=1)


def test_a_client_that_continues_after_the_deadline_does_not_wait(url: str) -> None:
    async def test(asking: Asking) -> None:
        def insist() -> None:
            for _ in range(3):
                with suppress(StoreUnavailable), asking.pool.session() as session:
                    session.exchange([statement_of("SELECT 1 FROM pg_sleep(20)", {})])
            with asking.pool.session() as session:
                session.exchange([statement_of("SELECT 1", {})])

        with pytest.raises(StoreUnavailable, match="too late"):
            await asking.start(insist, within_s=0.1)

    in_loop(url, test, sessions_max=1)


def test_a_transaction_of_several_statements_is_one_sessions(url: str) -> None:
    """Psycopg's own methods wait in the greenlet, too."""

    async def test(asking: Asking) -> None:
        def run() -> list[Any]:
            with asking.pool.session() as session:
                session.execute("BEGIN")
                found = [session.exchange([statement_of("SELECT now()", {})]).rows for _ in "12"]
                session.execute("SELECT pg_sleep(0.01)")
                session.execute("COMMIT")
                return found

        for first, second in await asyncio.gather(*(asking.start(run) for _ in range(5))):
            assert first == second

    in_loop(url, test)


def test_a_session_that_is_left_in_a_transaction_is_not_used_again(url: str) -> None:
    async def test(asking: Asking) -> None:
        def leave() -> int:
            with asking.pool.session() as session:
                session.execute("BEGIN")
                return session.pgconn.backend_pid

        left = await asking.start(leave)
        assert await asking.ask("SELECT pg_backend_pid()") != [(left,)]

    in_loop(url, test, sessions_max=1)


def test_a_session_that_ended_while_it_was_idle_costs_no_request(url: str) -> None:
    async def test(asking: Asking) -> None:
        ((first,),) = await asking.ask("SELECT pg_backend_pid()")
        other = Asking(url, 1)
        with closing(other.pool):
            await other.ask(f"SELECT pg_terminate_backend({first}, 10000)")
        ((second,),) = await asking.ask("SELECT pg_backend_pid()")
        assert second != first

    in_loop(url, test, sessions_max=1)


def test_a_stopped_server_is_an_error_and_a_started_one_is_used_at_once() -> None:
    with own_cluster() as cluster:

        async def test(asking: Asking) -> None:
            await asking.ask("SELECT 1")
            await asyncio.to_thread(cluster.stop)
            for _ in range(3):
                with pytest.raises(DatabaseUnavailable):
                    await asking.ask("SELECT 1")
            await asyncio.to_thread(cluster.start)
            assert await asking.ask("SELECT 1") == [(1,)]

        in_loop(cluster.url("postgres"), test)


def test_a_frozen_server_delays_no_client_beyond_the_deadline() -> None:
    with own_cluster() as cluster:

        async def test(asking: Asking) -> None:
            await asking.ask("SELECT 1")
            cluster.freeze()
            try:
                found = await asyncio.gather(
                    *(asking.ask("SELECT 1", within_s=1.0) for _ in range(10)),
                    return_exceptions=True,
                )
                assert all(isinstance(each, StoreUnavailable) for each in found)
            finally:
                cluster.thaw()
            assert await asking.ask("SELECT 1") == [(1,)]

        in_loop(cluster.url("postgres"), test)


def test_a_greenlet_is_used_again_and_each_end_is_told(url: str) -> None:
    async def test(asking: Asking) -> None:
        ended = []
        for n in range(3):
            future = asking.greenlets.start(
                lambda: "done",
                ends_at=asking.loop.time() + LONG_S,
                too_late=AssertionError,
                ended=lambda n=n: ended.append(n),  # type: ignore[misc]
            )
            assert future.done()
            assert await future == "done"
        assert ended == [0, 1, 2]

    in_loop(url, test)
