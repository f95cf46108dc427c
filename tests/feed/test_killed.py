"""A copy made by polling stays complete while loads, server and copier are killed (SIGKILL).

``pytest tests/feed/test_killed.py --rounds 1000 --seed 7`` for as many rounds as one has time for.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.feed.cutting import Cut
from tests.feed.killing import Chaos
from tests.feed.loader import Base

if TYPE_CHECKING:
    from pathlib import Path

    from tests.feed.copier import Records
    from tests.servers import Store

ROUNDS_PER_DATABASE = 20
SERVER_STAMPS_EVERY = 10
LONG_RUN_ROUNDS = 100
ALWAYS = (
    "loads done",
    "loads killed before the commit",
    "loads killed between commit and stamp",
    "servers killed",
    "copiers killed",
    "answers cut",
)
IN_A_LONG_RUN = ("epochs begun", "polls answered with 410", "streamed answers cut")
IDS_SHOWN = 10


class Differs(AssertionError):
    """The copy is not what the server's snapshot shows."""


def check(chaos: Chaos) -> None:
    """Raise Differs where the copy is wrong."""
    copied, shown = chaos.copied(), chaos.shown()
    if _digest(copied) != _digest(shown):
        raise Differs("\n".join(_differences(copied, shown)))


def _digest(records: Records) -> str:
    digest = hashlib.sha256()
    for (entity, key), record in sorted(records.items()):
        digest.update(f"{entity} {key} {len(record)} ".encode())
        digest.update(record)
    return digest.hexdigest()


def _differences(copied: Records, shown: Records) -> list[str]:
    """Name the records in which the two differ."""
    kinds = {
        "missing": shown.keys() - copied.keys(),
        "extra": copied.keys() - shown.keys(),
        "different": {key for key in copied.keys() & shown.keys() if copied[key] != shown[key]},
    }
    lines = []
    for kind, keys in kinds.items():
        for entity in sorted({entity for entity, _ in keys}):
            ids = sorted((key for of, key in keys if of == entity), key=int)
            more = ", …" if len(ids) > IDS_SHOWN else ""
            lines.append(f"{entity}: {len(ids)} {kind}: {', '.join(ids[:IDS_SHOWN])}{more}")
    return lines


@pytest.fixture
def base(store: Store, tmp_path: Path) -> Base:
    return Base(tmp_path / "base", store.new_database("killed-base"))


def test_a_copy_is_complete_whatever_is_killed_and_whenever(
    store: Store, base: Base, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """design, "The change feed": at least once, never zero times; a broken answer can be told."""
    rounds = int(request.config.getoption("rounds", default=3))
    seed = int(request.config.getoption("seed", default=1))
    counts: Counter[str] = Counter()
    for first in range(0, rounds, ROUNDS_PER_DATABASE):
        name = f"killed-{first}"
        database = store.new_database(name)
        with Chaos(database, base, tmp_path / name, counts) as chaos:
            for number in range(first, min(first + ROUNDS_PER_DATABASE, rounds)):
                try:
                    stamps = number % SERVER_STAMPS_EVERY == 1
                    chaos.play(f"{seed}-{number}", server_stamps=stamps)
                    check(chaos)
                except Exception as failure:
                    failure.add_note(f"in round {number} of --seed {seed}, after {dict(counts)}")
                    raise
        shutil.rmtree(tmp_path / name)
        store.drop_database(database)
    print(dict(sorted(counts.items())))  # noqa: T201 - shown by pytest -s
    certain = ALWAYS if rounds < LONG_RUN_ROUNDS else (*ALWAYS, *IN_A_LONG_RUN)
    assert not [what for what in certain if not counts[what]]


def test_a_copier_that_takes_the_time_of_a_cut_answer_is_found_out(
    store: Store, base: Base, tmp_path: Path
) -> None:
    """The check above can fail: it tells which records such a copy lacks."""
    database = store.new_database("killed-forget")
    with Chaos(database, base, tmp_path / "forget", Counter(), forget=True) as chaos:
        chaos.proxy.choose = lambda: Cut(after=1_000, with_reset=False)
        chaos.settle()
        chaos.wait_until_level()
        check(chaos)
        chaos.proxy.cutting = True
        new = chaos.load(300)
        chaos.wait_until_level()
        with pytest.raises(Differs, match=f"subscribers: 1 missing: {new}"):
            check(chaos)
