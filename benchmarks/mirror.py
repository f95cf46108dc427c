"""What a copy costs: the mirror beside the change feed alone.

A publisher is made, served from SQLite on one core, and copied from the other core, in rounds in
which the ways take turns: the snapshot read and thrown away; then ``masthead mirror --once`` into a
new database, once more where nothing is new, and ``masthead mirror verify``. The columns of the
table are the databases that hold the copy. A PostgreSQL server shares the core of the mirror.
"""

import re
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import databases
from benchmarks.databases import Place, fresh, place
from benchmarks.feed import EVERYTHING, publisher
from benchmarks.machine import GENERATOR_CORE, on_core
from benchmarks.processes import Finished, Server, finished
from benchmarks.publisher import AUTHORIZATION, KEY, LOGIN
from benchmarks.reader import read
from benchmarks.report import Figures, Found, Measured, Ratio, Row, Scale, data, table

HEAD = "median (least to most)"
FEED = "the feed, read and thrown away, s"
MIRROR = "`masthead mirror`, s"
AGAIN = "`masthead mirror` again, s"
VERIFY = "`masthead mirror verify`, s"
RATE = "records a second of the mirror"
FEED_RATE = "records a second of the feed"
PEAK = "peak memory of the mirror, MiB"
SMALL_PEAK = "the same of a tenth of the records, MiB"
ROWS: tuple[Row, ...] = (
    Measured(FEED, 2),
    Measured(MIRROR, 2),
    Ratio("mirror / feed", MIRROR, FEED),
    Measured(FEED_RATE),
    Measured(RATE),
    Measured(AGAIN, 2),
    Measured(VERIFY, 2),
    Measured(PEAK),
    Measured(SMALL_PEAK),
)
_RECORDS = re.compile(r"^\w+ +(\d+) compared$", re.MULTILINE)
_NO_RECORDS = re.compile(r"^(custom_field_definitions|custom_field_options|mailing_list_entries) ")


def mirror(server: Server, copy: str, *words: str) -> Finished:
    """Run ``masthead mirror`` with these words before the address."""
    address = f"http://127.0.0.1:{server.port}"
    once = () if words else ("--once",)
    credentials = {"MASTHEAD_API_KEY": KEY, "MASTHEAD_API_LOGIN": LOGIN}
    return finished("mirror", *words, address, "--to", copy, *once, **credentials)


def _copied(server: Server, home: Place, rounds: int) -> Figures:
    found: Figures = {}
    for number in range(rounds):
        with fresh(home, f"copy_{number}") as copy:
            feed = read(server.port, EVERYTHING, AUTHORIZATION, "identity").seconds
            first = mirror(server, copy)
            again = mirror(server, copy)
            verified = mirror(server, copy, "verify")
        lines = (line for line in verified.printed.splitlines() if not _NO_RECORDS.match(line))
        records = sum(map(int, _RECORDS.findall("\n".join(lines))))
        for title, figure in (
            (FEED, feed),
            (MIRROR, first.seconds),
            (FEED_RATE, records / feed),
            (RATE, records / first.seconds),
            (AGAIN, again.seconds),
            (VERIFY, verified.seconds),
            (PEAK, first.peak_mib),
        ):
            found.setdefault(title, []).append(figure)
    return found


def measure(scale: Scale) -> Found:
    """Return the figures of each round; the memory of a tenth of the records is taken once."""
    about: dict[str, str] = {}
    found: dict[str, Figures] = {}
    with on_core(GENERATOR_CORE), TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        source = stack.enter_context(place("sqlite"))
        big = stack.enter_context(fresh(source, "big"))
        small = stack.enter_context(fresh(source, "small"))
        many = stack.enter_context(publisher(big, folder / "big", scale.subscribers))
        few = stack.enter_context(publisher(small, folder / "small", scale.subscribers // 10))
        for store in scale.stores:
            home = stack.enter_context(place(store, core=GENERATOR_CORE))
            found[store] = _copied(many, home, scale.rounds)
            with fresh(home, "small_copy") as copy:
                found[store][SMALL_PEAK] = [mirror(few, copy).peak_mib]
            about |= databases.described(home)
    return Found([table(HEAD, ROWS, found)], data(found, ROWS), about)
