"""Whether the time of a refused login tells that the login exists.

``python -m benchmarks.logins`` asks a server, in pairs, for a login that exists and for one that
does not, both with a wrong password, each in turn the first of its pair; and the same with renewal
codes and postal codes. Every guess is counted, as in service, and no login is used so often that it
is refused. The same again for the callers' own credentials: an ``api_key`` that exists and one that
does not, both with a wrong ``api_login``. It ends with 1 where the medians of the logins differ by
more than 5 %; those of the credentials are shown (decisions, "Wrong credentials").
"""

import argparse
import csv
import http.client
import os
import random
import signal
import statistics
import sys
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlencode

from benchmarks import machine
from benchmarks.databases import STORES, fresh, place, stores_in
from benchmarks.processes import serving
from benchmarks.publisher import AUTHORIZATION, KEY, fill, make_files
from masthead.settings import SETTINGS

APART_MAX = 0.05
WARM_UP = 200
PATH = "/2/subscribers/authenticate/?"
KINDS = {"email": "wrong password", "renewal_code": "00000"}
CREDENTIALS = "api_key"
REFUSALS = {b'{"authenticated":false}', b'{"error":"these credentials open no account"}'}
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


class Question(NamedTuple):
    """A request."""

    target: str
    authorization: str


def logins(files: Path, kind: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a login that exists and one of the same form that does not, without end."""
    with (files / "subscribers.csv").open(encoding="utf-8", newline="") as lines:
        known = [row[kind] for row in csv.DictReader(lines) if row[kind] and not row["delete_date"]]
    taken = {login.lower() for login in known}
    chance = random.Random(1)  # the same logins in each run
    while True:
        for login in chance.sample(known, len(known)):
            other = login
            while other.lower() in taken:
                head = "".join(chance.choice(_LETTERS) for _ in login[:5])
                other = head.lower() + login[5:] if kind == "email" else head
            yield login, other


def questions(files: Path, kind: str) -> Iterator[tuple[Question, Question]]:
    """Yield pairs of requests that are refused: of what exists, and of what does not."""
    if kind == CREDENTIALS:
        while True:
            yield _with_key(KEY), _with_key(token_hex(len(KEY))[: len(KEY)])
    for both in logins(files, kind):
        first, second = (
            Question(PATH + urlencode({"login": login, "password": KINDS[kind]}), AUTHORIZATION)
            for login in both
        )
        yield first, second


def _with_key(key: str) -> Question:
    encoded = b64encode(f"{key}:{'0' * len(key)}".encode()).decode()
    return Question("/2/accounts/", f"Basic {encoded}")


def measure(port: int, pairs: Iterator[tuple[Question, Question]], count: int) -> list[float]:
    """Return the median of the microseconds of those that exist, and of those that do not."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    taken: list[list[float]] = [[], []]
    for number in range(WARM_UP + count):
        both = list(enumerate(next(pairs)))
        for which, question in both if number % 2 else reversed(both):
            headers = {"Authorization": question.authorization}
            start = time.perf_counter_ns()
            connection.request("GET", question.target, headers=headers)
            answer = connection.getresponse().read()
            microseconds = (time.perf_counter_ns() - start) / 1_000
            if answer not in REFUSALS:
                raise SystemExit(f"an unexpected answer: {answer.decode()}")
            if number >= WARM_UP:
                taken[which].append(microseconds)
    connection.close()
    return [statistics.median(each) for each in taken]


def main() -> None:
    """Measure, print, and tell whether the medians are near enough to one another."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.logins", description=__doc__)
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    parser.add_argument("--subscribers", type=int, default=20_000)
    parser.add_argument("--pairs", type=int, default=10_000)
    given = parser.parse_args()
    # So that the servers end with it, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ[SETTINGS["account_failures"].variable] = "0"
    rows = list(_rows(given.stores, given.subscribers, given.pairs))
    print(f"microseconds of {given.pairs:,} refusals each: medians")
    print("| store | login | exists | does not | apart |\n| --- | --- | --- | --- | --- |")
    for store, kind, exists, does_not, apart in rows:
        print(f"| {store} | {kind} | {exists:.1f} | {does_not:.1f} | {apart:+.1%} |")
    for title, said in machine.described().items():
        print(f"- {title}: {said}")
    if any(abs(apart) > APART_MAX for _, kind, *_, apart in rows if kind in KINDS):
        raise SystemExit(f"apart by more than {APART_MAX:.0%}")


def _rows(
    stores: Sequence[str], subscribers: int, pairs: int
) -> Iterator[tuple[str, str, float, float, float]]:
    with TemporaryDirectory() as name:
        files = Path(name) / "files"
        make_files(files, subscribers)
        for store in stores:
            with place(store) as home, fresh(home, "logins") as database:
                fill(database, files)
                with serving(database, Path(name) / "server.log") as server:
                    for kind in (*KINDS, CREDENTIALS):
                        found = measure(server.port, questions(files, kind), pairs)
                        exists, does_not = found
                        yield STORES[store], kind, exists, does_not, exists / does_not - 1


if __name__ == "__main__":
    main()
