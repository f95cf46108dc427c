"""Runs the named benchmarks, and prints their tables as Markdown."""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks import (
    billing_bank,
    billing_debit,
    billing_pages,
    circulation,
    complete,
    console,
    documents,
    feed,
    filters,
    growth,
    imports,
    logins,
    machine,
    mapped,
    migration,
    overload,
    qualification,
    readers,
    requests,
    sizes,
    slow_clients,
)
from benchmarks.databases import STORES
from benchmarks.report import Scale


class Benchmark(NamedTuple):
    """A benchmark and its default scale; ``measure`` yields the output."""

    measure: Callable[[Scale], Iterator[str]]
    subscribers: int
    rounds: int = 1
    seconds: float = 0


BENCHMARKS = {
    "requests": Benchmark(requests.measure, subscribers=20_000, rounds=5, seconds=1),
    "feed": Benchmark(feed.measure, subscribers=175_000, rounds=5),
    "imports": Benchmark(imports.measure, subscribers=60_000, rounds=3),
    "complete": Benchmark(complete.measure, subscribers=60_000, rounds=3),
    "mapped": Benchmark(mapped.measure, subscribers=40_000, rounds=3),
    "growth": Benchmark(growth.measure, subscribers=8_700_000, rounds=100),
    "overload": Benchmark(overload.measure, subscribers=20_000, seconds=5),
    "slow-clients": Benchmark(slow_clients.measure, subscribers=2_000, seconds=40),
    "logins": Benchmark(logins.measure, subscribers=20_000, rounds=10_000),
    "migration": Benchmark(migration.measure, subscribers=870_000, seconds=5),
    "filters": Benchmark(filters.measure, subscribers=870_000, rounds=21),
    "console": Benchmark(console.measure, subscribers=1_000_000, rounds=20),
    "billing-bank": Benchmark(billing_bank.measure, subscribers=50_000),
    "circulation": Benchmark(circulation.measure, subscribers=1_000_000, rounds=3, seconds=10),
    "qualification": Benchmark(qualification.measure, subscribers=1_000_000, rounds=3),
    "billing-debit": Benchmark(billing_debit.measure, subscribers=200_000, rounds=1),
    "billing-documents": Benchmark(documents.measure, subscribers=5_000, rounds=3),
    "readers": Benchmark(readers.measure, subscribers=1_000_000, rounds=20, seconds=30),
    "sizes": Benchmark(sizes.measure, subscribers=100_000),
    "billing-pages": Benchmark(billing_pages.measure, subscribers=100_000, rounds=20),
}
GROUPS = {"billing": [name for name in BENCHMARKS if name.startswith("billing-")]}
"""Names that stand for several benchmarks."""


def main() -> None:
    """Run the benchmarks; exit with 1 if one of them fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*BENCHMARKS, *GROUPS]))
    parser.add_argument(
        "--stores",
        default="sqlite,postgresql",
        help=f"of {', '.join(STORES)}; default: %(default)s",
    )
    parser.add_argument("--subscribers", type=int, help="size of the made-up publisher")
    parser.add_argument("--rounds", type=int, help="repetitions (logins: pairs of requests)")
    parser.add_argument("--seconds", type=float, help="length of each measurement")
    parser.add_argument("--keep", metavar="FOLDER", help="of growth: keep its SQLite files here")
    parser.add_argument(
        "--readers",
        type=int,
        default=200,
        help="of readers: how many use their pages at once; default: %(default)s",
    )
    options = parser.parse_args()
    stores = options.stores.split(",")
    names = [name for given in options.names for name in GROUPS.get(given, [given])]
    for kind, given, known in (("benchmark", names, BENCHMARKS), ("store", stores, STORES)):
        if unknown := set(given) - set(known):
            parser.error(f"no {kind} {', '.join(unknown)}; there are {', '.join(known)}")
    # SIGTERM then also ends the servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for name in names or BENCHMARKS:
        benchmark = BENCHMARKS[name]
        scale = Scale(
            stores,
            options.subscribers or benchmark.subscribers,
            options.rounds or benchmark.rounds,
            options.seconds or benchmark.seconds,
            options.keep,
            options.readers,
        )
        size = f"{scale.subscribers:,} subscribers, {scale.rounds:,} rounds, {scale.seconds:g} s"
        print(f"## {name}\n\n{size}; {machine.description()}\n", flush=True)
        for text in benchmark.measure(scale):
            print(text, flush=True)
        print()


if __name__ == "__main__":
    main()
