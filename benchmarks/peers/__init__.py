"""What a user would pick instead of Masthead, over Masthead's own database with the same answers.

Each peer is one process on one core (gunicorn has a second one, which only looks after it), behind
the same pair of key and login (but Datasette), without a log of requests. PostgREST is not among
them: PyPI and Debian have no package with its program, and that of npm fetches it from elsewhere
when it is installed.

What favours all of them: none knows the other filters and parameters, the link to the next page, or
Masthead's checks of what it is asked. Their login check knows no renewal codes and counts no
failures. An account comes with the credentials, for which Masthead unseals its pair. On PostgreSQL
they speak as the owner of the tables, for whom there is no row-level security. What handicaps all
of them: each takes the SQLite that Python links, while Masthead brings a newer one.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit

from benchmarks.processes import body, running

_ALL_WORK = ("order", "list", "answers", "account", "login")
_STORES = ("sqlite", "postgresql")


class Peer(NamedTuple):
    """A service that is measured beside Masthead.

    ``stores`` are those it runs on, ``work`` what it answers: an order (operation 9), a list of 100
    subscriptions (7), a subscriber's answers to custom fields (5), an account (2), a login check
    (3). ``is_exact`` where its bodies must be Masthead's, byte for byte; else the values must be.
    """

    name: str
    title: str
    stores: tuple[str, ...]
    work: tuple[str, ...]
    is_exact: bool


PEERS = (
    Peer("fastapi", "FastAPI + SQLAlchemy ORM", _STORES, _ALL_WORK, is_exact=True),
    Peer("flask", "Flask + SQLAlchemy ORM", _STORES, _ALL_WORK, is_exact=True),
    Peer("django", "Django REST framework", _STORES, _ALL_WORK, is_exact=True),
    Peer("datasette", "Datasette", ("sqlite",), ("order", "list"), is_exact=False),
)
"""All peers; the first is the one that the aims of docs/performance.md name."""


@contextmanager
def running_peer(peer: Peer, database: str, log: Path) -> Iterator[int]:
    """Run a peer over a database, by Masthead's URL of it; give its port.

    A table with the account's pair in clear is added to the database (``benchmarks.peers.models``).
    """
    from benchmarks.peers.models import prepare  # noqa: PLC0415 - not all peers carry SQLAlchemy

    prepare(database)
    with running(peer.name, database, log) as port:
        yield port


def paths_of(peer: Peer, work: str, paths: list[str]) -> list[str]:
    """Return where the peer answers what Masthead answers at ``paths``."""
    if peer.is_exact:
        return paths
    if work == "order":
        made = "/masthead/order.json?_shape=array&_json=order_items&order_id={}"
        return [made.format(path.rpartition("/")[2]) for path in paths]
    made = "/masthead/list.json?_shape=array&{}"
    return [made.format(urlsplit(path).query) for path in paths]


def check_same(peer: Peer, work: str, paths: list[str], ours: int, theirs: int) -> None:
    """Ask Masthead and the peer for all ``paths``, at these ports; compare what they answer.

    The bodies must be the same bytes. Of a peer that is not exact the rows must be as many, in the
    same order and with the same values, where null, the empty string and a key that is absent are
    the same, true is 1, and a number is its digits. Raises SystemExit where they differ.
    """
    for path, their_path in zip(paths, paths_of(peer, work, paths), strict=True):
        try:
            our_body, their_body = body(ours, path), body(theirs, their_path)
        except HTTPError as answer:
            raise SystemExit(f"{answer.url} answers {answer.code}") from None
        read = bytes if peer.is_exact else _rows
        if read(our_body) != read(their_body):
            raise SystemExit(f"Masthead and {peer.title} answer differently to {path}")


def _rows(answered: bytes) -> Any:
    found = json.loads(answered, parse_int=str, parse_float=str)
    if isinstance(found, dict):
        (found,) = found.values() if len(found) == 1 else ([found],)
    return _plain(found)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        members = {name: _plain(each) for name, each in value.items()}
        return {name: each for name, each in members.items() if each is not None}
    if isinstance(value, bool):
        return str(int(value))
    return value or None
