"""How long the console's pages take over HTTP, including search.

One operator requests each page repeatedly, for another reader each time, without other load.
Figures over the whole account are counted in the background; their duration is measured too.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

import httpx2

from benchmarks.circulation_data import make_books, nth_subscriber
from benchmarks.databases import home_of, new_database
from benchmarks.publisher import ACCOUNT_ID
from benchmarks.report import Scale, table
from masthead.books import Books
from masthead.books.figures import figures_of
from masthead.store import open_store
from masthead.store.operators import add_operator
from tests.servers import environment

_NAME, _PASSWORD = "benchmark", "a long secret"
_PAGES = {
    "today": "/",
    "find: a name": "/find/suggestions?q=first{first}%20last{last}",
    "find: part of a name": "/find/suggestions?q=last{last}",
    "find: two letters": "/find/suggestions?q=la",
    "find: a name and a town": "/find/suggestions?q=last{last}%20city",
    "find: a name and a postal code": "/find/suggestions?q=last{last}%20{zip}",
    "find: a street with its number": "/find/suggestions?q={house}%20harbor%20road%20{key}",
    "find: email": "/find/suggestions?q=reader{key}@example.org",
    "find: renewal code": "/find/suggestions?q=r{small}",
    "find: postal code": "/find/suggestions?q=103",
    "find: order's number": "/find/suggestions?q=order%20{key}",
    "find: all that fit": "/find?q=first{first}",
    "subscriber": "/subscribers/{key}",
    "subscription: suspend": "/subscriptions/{key}/suspend",
    "order": "/orders/{key}",
    "new order": "/orders/new?subscriber={key}",
    "issues": "/issues",
    "renewals": "/renewals",
    "report: liability": "/reports/liability",
    "report: expiries": "/reports/expiries",
    "lists": "/lists",
    "partners": "/partners",
    "loads": "/loads",
    "feed": "/feed",
    "audit log": "/audit",
}


def _values(key: int, small: int) -> dict[str, int]:
    """Return what the paths name: a reader, and the number of the round."""
    return {
        "key": key,
        "small": small,
        "first": key % 1_000,
        "last": key % 50_000,
        "zip": 10_000 + key % 50_000,
        "house": key % 900,
    }


@contextmanager
def served(url: str) -> Iterator[str]:
    """Serve the console of a database; yield its URL."""
    with subprocess.Popen(
        [sys.executable, "-m", "masthead", "console", "--port=0"],
        env=environment(url),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
            process.wait()


def sign_in(client: httpx2.Client, name: str, password: str) -> None:
    """Sign in at the console; ends the program if that fails."""
    form = {"name": name, "password": password}
    done = client.post("/sign-in", data=form, headers={"Sec-Fetch-Site": "same-origin"})
    if done.status_code != httpx2.codes.SEE_OTHER:
        raise SystemExit(f"the benchmark could not sign in: {done.status_code}")
    client.cookies.update(done.cookies)


def _times_ms(client: httpx2.Client, path: str, rounds: int, count: int) -> list[float]:
    times = []
    for number in range(rounds + 1):
        key = nth_subscriber(number, rounds + 1, count)
        asked = path.format(**_values(key, number + 1))
        begun = perf_counter()
        response = client.get(asked)
        times.append(1_000 * (perf_counter() - begun))
        if response.status_code != httpx2.codes.OK or "Nobody fits" in response.text:
            raise SystemExit(f"{asked}: {response.status_code}, or nobody was found")
    return sorted(times[1:])


def _rows(url: str, scale: Scale) -> Iterator[list[str]]:
    with served(url) as console, httpx2.Client(base_url=console, timeout=120) as client:
        sign_in(client, _NAME, _PASSWORD)
        for title, path in _PAGES.items():
            while "being counted" in client.get(path.format(**_values(1, 1))).text:
                pass
            times = _times_ms(client, path, scale.rounds, scale.subscribers)
            yield [title, f"{times[len(times) // 2]:.1f}", f"{times[-1]:.1f}"]


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each kind of database."""
    for store in scale.stores:
        with home_of(store) as home, new_database(home, "console") as url:
            make_books(url, scale.subscribers)
            opened = open_store(url)
            add_operator(opened, ACCOUNT_ID, _NAME, "manager", _PASSWORD)
            rows = list(_rows(url, scale))
            begun = perf_counter()
            figures_of(Books(opened, ACCOUNT_ID))
            counted = perf_counter() - begun
            opened.close()
        yield table([f"{store}: page", "median, ms", "longest, ms"], rows)
        yield f"The figures of the first page were counted in {counted:.1f} s."
