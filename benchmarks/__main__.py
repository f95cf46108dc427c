"""All that is known of Masthead's speed: measures, prints tables, writes JSON, draws pictures.

``python -m benchmarks`` runs every part, or those that are named, one after the other. What a part
has found is printed and written at once. In a JSON file that exists already only the parts that ran
are replaced; each says when and on what it was measured.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks import (
    division,
    feed,
    growth,
    latency,
    loads,
    machine,
    mirror,
    requests,
    resources,
)
from benchmarks.databases import STORES, stores_in
from benchmarks.picture import draw
from benchmarks.report import Found, Scale


class Part(NamedTuple):
    """A part of the benchmarks, and how much it measures unless it is told otherwise."""

    measure: Callable[[Scale], Found]
    subscribers: int
    rounds: int
    seconds: float = 0
    subscribers_min: int = 100


PARTS = {
    "requests": Part(requests.measure, subscribers=20_000, rounds=5, seconds=1),
    "division": Part(division.measure, subscribers=20_000, rounds=1, seconds=3),
    "latency": Part(latency.measure, subscribers=20_000, rounds=3, seconds=10),
    "resources": Part(resources.measure, subscribers=175_000, rounds=5, seconds=2),
    "feed": Part(feed.measure, subscribers=175_000, rounds=5, seconds=2),
    "loads": Part(loads.measure, subscribers=60_000, rounds=3),
    "mirror": Part(mirror.measure, subscribers=175_000, rounds=3, subscribers_min=1_000),
    "growth": Part(growth.measure, subscribers=10_000_000, rounds=100, subscribers_min=10_000),
}


def main() -> None:
    """Measure, print, and write and draw where that is asked for."""
    given = _given()
    # So that the servers end with it, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    command = f"python -m benchmarks {' '.join(sys.argv[1:])}".strip()
    written = json.loads(given.json.read_text()) if given.json and given.json.exists() else {}
    about = written.setdefault("about", {})
    for name in given.parts:
        print(f"## {name}\n", flush=True)
        told = {**machine.described(), "command": command}
        found = PARTS[name].measure(_scale(given, PARTS[name]))
        about[name] = {**told, **found.about}
        written[name] = found.data
        print("\n\n".join(found.tables), end="\n\n")
        print("\n".join(f"- {title}: {said}" for title, said in about[name].items()), end="\n\n")
        if given.json:
            given.json.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    if given.picture:
        draw(written, given.picture)


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    parser.add_argument("--subscribers", type=int, help="of the publisher that is made up")
    parser.add_argument("--rounds", type=int, help="in which all kinds of work take turns")
    parser.add_argument("--seconds", type=float, help="of each measurement")
    parser.add_argument("--json", type=Path, metavar="FILE", help="for all figures")
    parser.add_argument("--picture", type=Path, metavar="FOLDER", help="for pictures of them (SVG)")
    parser.add_argument("--folder", type=Path, help="keeps the large databases of growth")
    given = parser.parse_args()
    given.parts = given.parts or list(PARTS)
    for name in given.parts:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; the parts are {', '.join(PARTS)}")
        scale = _scale(given, PARTS[name])
        least = PARTS[name].subscribers_min
        if scale.subscribers < least or scale.rounds < 1 or scale.seconds < 0:
            parser.error(f"{name}: at least {least} subscribers and one round are needed")
    return given


def _scale(given: argparse.Namespace, part: Part) -> Scale:
    """Return how much a part measures: what is given, else its own."""
    own = Scale(given.stores, part.subscribers, part.rounds, part.seconds, given.folder)
    options = {name: getattr(given, name) for name in ("subscribers", "rounds", "seconds")}
    return own._replace(**{name: value for name, value in options.items() if value is not None})


if __name__ == "__main__":
    main()
