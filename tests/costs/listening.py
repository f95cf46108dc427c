"""A proxy that logs what a server and PostgreSQL send each other.

Each Query and each Sync of the protocol is a round trip: PostgreSQL answers both with
ReadyForQuery. A Sync ends what was sent in one message: a whole transaction, which begins, makes
its settings, asks and commits. Between requests the listener asks one thing of each session itself:
that it reports at once how many rows it has read, which else it does when a second is over.

Only sessions that answer requests are noted: those whose transactions can only read, and those that
count. The stamps that a server writes every few seconds, whatever is asked, are written by others.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlencode

from psycopg.conninfo import conninfo_to_dict

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Coroutine

    Result = TypeVar("Result")

SECONDS_MAX = 30
BIND, PARSE, QUERY, SYNC, READY = b"B", b"P", b"Q", b"S", b"Z"
ANSWERS_REQUESTS = ("READ ONLY", "synchronous_commit")
AROUND = ("BEGIN", "SELECT set_config(", "SET LOCAL ", "COMMIT")
"""How what stands around the question of a transaction begins."""

PIECE_BYTES_MAX = 256 * 1024
REPORT = b"SELECT pg_stat_force_next_flush()\0"
LENGTH = 4


class Listener:
    """Stands before a PostgreSQL, at a ``url`` of its own, with a thread of its own."""

    def __init__(self, url: str) -> None:
        """Begin to listen before the database at the URL."""
        self.asked: list[str] = []
        """The SQL of each round trip so far, of the sessions that answer requests."""
        self._there = {name: str(value) for name, value in conninfo_to_dict(url).items()}
        self._sessions: set[_Session] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._meet, "127.0.0.1", 0))
        host, port = self._server.sockets[0].getsockname()
        place = f"{quote(self._there['user'], safe='')}@{host}:{port}"
        # What is listened to cannot be sealed.
        open_ = urlencode({"sslmode": "disable", "gssencmode": "disable"})
        self.url = f"postgresql://{place}/{quote(self._there['dbname'], safe='')}?{open_}"

    def report(self) -> None:
        """Let each session report how many rows it has read, when it is through with its work."""
        self._run(self._report())

    def close(self) -> None:
        """Stop listening; sessions end."""
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS_MAX)
        self._loop.close()

    def _run(self, work: Coroutine[None, None, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS_MAX)

    async def _report(self) -> None:
        for session in [*self._sessions]:
            await session.report()

    async def _close(self) -> None:
        self._server.close()
        ours = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in ours:
            task.cancel()
        await asyncio.gather(*ours, return_exceptions=True)

    async def _meet(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Pass on what is said in a session, until either side ends it."""
        host, port = self._there["host"], self._there.get("port", "5432")
        if host.startswith("/"):
            theirs = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            theirs = await asyncio.open_connection(host, int(port))
        session = _Session(self, (reader, writer), theirs)
        self._sessions.add(session)
        ways = [asyncio.ensure_future(way) for way in (session.ask_on(), session.answer_on())]
        with closing(writer), closing(theirs[1]), suppress(asyncio.CancelledError):
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        self._sessions.discard(session)
        session.end()
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


class _Session:
    """What a client and PostgreSQL say to each other over one connection."""

    def __init__(
        self,
        listener: Listener,
        client: tuple[StreamReader, StreamWriter],
        database: tuple[StreamReader, StreamWriter],
    ) -> None:
        self._listener = listener
        self._questions, self._to_client = client
        self._answers, self._to_database = database
        self._unanswered = 1  # the start itself
        self._is_reporting = self._has_ended = self._answers_requests = False
        self._is_through = asyncio.Event()
        self._statements: dict[bytes, str] = {}
        self._bound: list[str] = []

    async def report(self) -> None:
        """Wait until the session is through, and ask for its report, of which no client hears."""
        while self._unanswered:
            await self._is_through.wait()
        if self._has_ended:
            return
        self._is_through.clear()
        self._is_reporting, self._unanswered = True, 1
        self._to_database.write(_message(QUERY, REPORT))
        await self._is_through.wait()

    def end(self) -> None:
        """Let no thread wait for a session that has ended."""
        self._has_ended, self._unanswered = True, 0
        self._is_through.set()

    async def ask_on(self) -> None:
        """Pass the client's questions on."""
        length = await self._questions.readexactly(LENGTH)
        start = await self._questions.readexactly(int.from_bytes(length) - LENGTH)
        self._to_database.write(length + start)
        while True:
            kind, content = await _read(self._questions)
            while self._is_reporting:
                await self._is_through.wait()
            self._note(kind, content)
            self._to_database.write(_message(kind, content))

    async def answer_on(self) -> None:
        """Pass PostgreSQL's answers on in the pieces in which they come.

        In smaller ones the client would wake up now once and now twice for the same answer.
        """
        rest = b""
        while piece := await self._answers.read(PIECE_BYTES_MAX):
            messages, rest = _messages(rest + piece)
            passed_on = []
            for kind, message in messages:
                if not self._is_reporting:
                    passed_on.append(message)
                if kind == READY:
                    self._unanswered -= 1
                    if not self._unanswered:
                        self._is_reporting = False
                        self._is_through.set()
            self._to_client.write(b"".join(passed_on))

    def _note(self, kind: bytes, content: bytes) -> None:
        if kind == PARSE:
            name, sql, _ = content.split(b"\0", 2)
            self._statements[name] = _line(sql)
        elif kind == BIND:
            _, name, _ = content.split(b"\0", 2)
            self._bound.append(self._statements[name])
        elif kind in {QUERY, SYNC}:
            self._is_through.clear()
            self._unanswered += 1
            asked, self._bound = self._bound, []
            if kind == QUERY:
                asked = _line(content[:-1]).split("; ")
            self._answers_requests |= any(word in one for word in ANSWERS_REQUESTS for one in asked)
            if self._answers_requests:
                self._listener.asked.append(_question(asked))


def _question(asked: list[str]) -> str:
    """Return what a transaction asks, or all of it where it asks nothing."""
    return "; ".join([one for one in asked if not one.startswith(AROUND)] or asked)


def _line(sql: bytes) -> str:
    return " ".join(sql.decode().split())


def _message(kind: bytes, content: bytes) -> bytes:
    return kind + (len(content) + LENGTH).to_bytes(LENGTH) + content


def _messages(content: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return the messages that the bytes hold, each with its kind, and what is left of them."""
    found, at = [], 0
    while len(content) >= at + 1 + LENGTH:
        end = at + 1 + int.from_bytes(content[at + 1 : at + 1 + LENGTH])
        if end > len(content):
            break
        found.append((content[at : at + 1], content[at:end]))
        at = end
    return found, content[at:]


async def _read(reader: StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(1 + LENGTH)
    return head[:1], await reader.readexactly(int.from_bytes(head[1:]) - LENGTH)
