"""How long the readers' pages take, and what they cost the interface beside them.

First, one reader requests each page repeatedly, for another reader each time, without other load.
Then 200 readers (``--readers``) use their pages for a while: each reads a page for two to eight
seconds before the next one. Meanwhile partners' requests use the interface of the same database, as
before. Readers sign in with renewal codes, since Argon2 is made to take long. On PostgreSQL, each
server has its role.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from math import inf
from random import Random
from statistics import quantiles
from time import perf_counter
from typing import NamedTuple

import httpx2

from benchmarks.circulation_data import make_books, nth_subscriber
from benchmarks.databases import home_of, new_database
from benchmarks.load import generate_load
from benchmarks.processes import serving
from benchmarks.publisher import ACCOUNT_ID
from benchmarks.report import Budget, Scale, ratio, shown, table
from masthead.books import Books, page_settings
from masthead.store import open_store
from masthead.store.audit import Actor
from tests.servers import as_readers

PAUSE_S = 2.0, 8.0
"""How long a reader reads a page, at least and at most."""

PAGE_MS = Budget(at_most=50)
BUSY_MS = Budget(at_most=200)
"""What a page may take for one reader, and its 99th percentile for all readers at once."""

PAGE_KB = Budget(at_most=50)
SLOWED = Budget(at_least=0.8)
"""The size of a page, and what part of its requests the interface serves beside the readers."""

INTERFACE_CONNECTIONS, ALONE_S_MAX = 4, 30
"""What uses the interface beside the readers, and for how long at most without them."""

_SITE = "harbor"
_PAGES = {
    "home": "",
    "subscription": "subscriptions/{key}",
    "address": "subscriptions/{key}/address",
    "pause": "subscriptions/{key}/pause",
    "cancel": "subscriptions/{key}/cancel",
}
_SAME_SITE = {"Sec-Fetch-Site": "same-origin"}
_HEAD_END, _LENGTH = b"\r\n\r\n", b"\ncontent-length:"


class Answer(NamedTuple):
    """How long a page took, infinite if the server was too busy, and its size."""

    ms: float
    kb: float


class Reader(NamedTuple):
    """A reader who is signed in: the id, and the cookie of the session."""

    key: int
    cookie: str

    def request(self, path: str) -> bytes:
        """Return the bytes of a request for a page."""
        asked = path.format(key=self.key)
        return (
            f"GET /{_SITE}/{asked} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {self.cookie}\r\n\r\n"
        ).encode()


def sign_in(port: int, key: int) -> Reader:
    """Sign a reader in; ends the program if that fails."""
    form = {"login": f"R{key}", "password": str(10_000 + key % 50_000)}
    done = httpx2.post(
        f"http://127.0.0.1:{port}/{_SITE}/sign-in", data=form, headers=_SAME_SITE, timeout=60
    )
    if done.status_code != httpx2.codes.SEE_OTHER:
        raise SystemExit(f"the benchmark could not sign reader {key} in: {done.status_code}")
    return Reader(key, "; ".join(f"{name}={text}" for name, text in done.cookies.items()))


async def _page(port: int, sent: bytes) -> Answer:
    """Request a page over a new connection, since servers close idle ones.

    Another status than 200 and 503 ends the program.
    """
    begun = perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    writer.write(sent)
    head = (await reader.readuntil(_HEAD_END)).lower()
    if not head.startswith((b"http/1.1 200 ", b"http/1.1 503 ")):
        raise SystemExit(f"{sent.split()[1].decode()}: {head[9:12].decode()}")
    size = int(head.partition(_LENGTH)[2].partition(b"\r")[0])
    await reader.readexactly(size)
    writer.close()
    ms = inf if b" 503 " in head[:16] else 1_000 * (perf_counter() - begun)
    return Answer(ms, size / 1_000)


async def _use(port: int, who: Reader, seconds: float) -> list[float]:
    """Read page after page for so many seconds; return the milliseconds of each."""
    end, times, chance = perf_counter() + seconds, list[float](), Random(who.key)
    await asyncio.sleep(chance.uniform(0, PAUSE_S[1]))
    while perf_counter() < end:
        path = [*_PAGES.values()][(who.key + len(times)) % len(_PAGES)]
        times.append((await _page(port, who.request(path))).ms)
        await asyncio.sleep(chance.uniform(*PAUSE_S))
    return times


async def _all_use(port: int, readers: Sequence[Reader], seconds: float) -> list[float]:
    found = await asyncio.gather(*(_use(port, each, seconds) for each in readers))
    return [time for times in found for time in times]


async def _together(
    port: int, readers: Sequence[Reader], interface: int, paths: list[str], seconds: float
) -> tuple[list[float], float]:
    """Return the times of the pages, and the interface's requests a second meanwhile."""
    load = asyncio.to_thread(generate_load, interface, paths, seconds, INTERFACE_CONNECTIONS)
    times, found = await asyncio.gather(_all_use(port, readers, seconds), load)
    return times, found.responses_per_s


def _alone(port: int, scale: Scale) -> Iterator[tuple[str, list[Answer]]]:
    """Yield what each page takes for one reader at a time."""

    async def answers_of(path: str) -> list[Answer]:
        return [await _page(port, each.request(path)) for each in readers][1:]

    count = scale.rounds + 1
    readers = [
        sign_in(port, nth_subscriber(number, count, scale.subscribers)) for number in range(count)
    ]
    for title, path in _PAGES.items():
        yield title, asyncio.run(answers_of(path))


def _measured(url: str, scale: Scale) -> Iterator[list[str]]:
    with (
        serving(as_readers(url), "masthead", "readers", "--port=0") as pages,
        serving(url) as interface,
    ):
        port, biggest = pages.port, 0.0
        for title, answers in _alone(port, scale):
            yield [f"{title}, ms", shown([each.ms for each in answers], 1, PAGE_MS)]
            biggest = max(biggest, *(each.kb for each in answers))
        yield ["biggest page, kB", shown([biggest], 1, PAGE_KB)]
        readers = [
            sign_in(port, nth_subscriber(number, scale.readers, scale.subscribers))
            for number in range(scale.readers)
        ]
        paths = [f"/2/orders/{each.key}" for each in readers]
        before = generate_load(
            interface.port, paths, min(scale.seconds, ALONE_S_MAX), INTERFACE_CONNECTIONS
        )
        times, meanwhile = asyncio.run(
            _together(port, readers, interface.port, paths, scale.seconds)
        )
        refused = times.count(inf)
        parts = quantiles([time for time in times if time < inf], n=100)
        yield [
            f"{scale.readers} readers at once: pages a second",
            f"{len(times) / scale.seconds:.0f}",
        ]
        yield ["median, ms", f"{parts[49]:.1f}"]
        yield ["99th percentile, ms", shown([parts[98]], 1, BUSY_MS)]
        yield ["refused as too many, 503", str(refused)]
        yield ["interface alone, requests a second", f"{before.responses_per_s:.0f}"]
        yield ["interface meanwhile, requests a second", f"{meanwhile:.0f}"]
        yield ["interface meanwhile / alone", ratio([meanwhile], [before.responses_per_s], SLOWED)]


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each kind of database."""
    for store in scale.stores:
        with home_of(store) as home, new_database(home, "readers") as url:
            make_books(url, scale.subscribers)
            opened = open_store(url)
            books = Books(opened, ACCOUNT_ID, Actor(os.environ.get("USER", "root"), "benchmark"))
            page_settings.set_values(books, {"site": _SITE, "name": "Harbor Press"})
            opened.close()
            rows = list(_measured(url, scale))
        yield table([store, ""], rows)
