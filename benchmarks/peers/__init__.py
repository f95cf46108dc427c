"""What a user would build instead: services over the same database, with the same answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import body, running


class Peer(NamedTuple):
    """A service that knows some of the work, on some stores."""

    name: str
    title: str
    stores: tuple[str, ...]
    work: tuple[str, ...]
    is_exact: bool


PEERS = (
    Peer("fastapi", "FastAPI + SQLAlchemy", ("sqlite", "postgresql"), ("order", "list"), True),
)


@contextmanager
def running_peer(peer: Peer, database: str, log: Path) -> Iterator[int]:
    """Run a peer for as long as the block lasts; give its port."""
    database = database.replace("postgresql:", "postgresql+psycopg:")
    how = "threads" if database.startswith("postgresql") else "event-loop"
    with running("peer", database, log, PEER_IN=how) as port:
        yield port


def paths_of(_peer: Peer, _work: str, paths: list[str]) -> list[str]:
    """Return the paths by which the peer knows the work."""
    return paths


def check_same(peer: Peer, _work: str, paths: list[str], ours: int, theirs: int) -> None:
    """Exit where the peer answers differently."""
    for path in paths:
        if body(ours, path) != body(theirs, path):
            raise SystemExit(f"Masthead and {peer.title} answer differently to {path}")
