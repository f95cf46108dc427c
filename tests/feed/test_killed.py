"""A copy made by polling stays complete while loads, server and copier are killed (SIGKILL).

The copier is the test's own client, and `masthead mirror`.

``pytest tests/feed/test_killed.py --rounds 1000 --seed 7`` for as many rounds as one has time for.
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.conftest import KINDS
from tests.feed.copies import CopierCopy, MirrorCopy
from tests.feed.cutting import Cut
from tests.feed.killing import LONG_ANSWER_BYTES, Chaos
from tests.feed.loader import LARGE, Base
from tests.long import LONG_ON_SQLITE, MORE_WITH_EVERY, ONLY_EVERY, ONLY_LONG
from tests.servers import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.feed.copier import Records
    from tests.feed.copies import KeptCopy

ROUNDS_PER_DATABASE = 20
SERVER_STAMPS_EVERY = 10
CERTAIN = {
    1: ("loads done", "complete loads done", "records gone by the last loads", "answers cut"),
    3: (
        "loads killed before the commit",
        "loads killed between commit and stamp",
        "complete loads killed",
        "servers killed",
        "copiers killed",
    ),
    100: ("epochs begun", "polls answered with 410", "streamed responses cut"),
}
"""What has to have happened in a run of at least so many rounds."""
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
            of_entity = (key for of, key in keys if of == entity)
            ids = sorted(of_entity, key=lambda key: [*map(int, key.split("/"))])
            more = ", …" if len(ids) > IDS_SHOWN else ""
            lines.append(f"{entity}: {len(ids)} {kind}: {', '.join(ids[:IDS_SHOWN])}{more}")
    return lines


@pytest.fixture
def base(store: Store, tmp_path: Path) -> Base:
    return Base(tmp_path / "base", store.new_database("killed-base"))


OTHER_KINDS = (*KINDS[1:], "duckdb", "parquet")


@pytest.fixture(params=[KINDS[0], *(pytest.param(kind, marks=ONLY_LONG) for kind in OTHER_KINDS)])
def new_mirror(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """Returns the URL of a copy that has not begun, in each kind of database in turn."""
    kind = request.param
    if kind in {"duckdb", "parquet"}:
        slashes = "///" if kind == "duckdb" else "//"
        return lambda name: f"{kind}:{slashes}{tmp_path / name}"
    postgres = request.getfixturevalue("postgres") if kind == "postgresql" else None
    return Store(kind, tmp_path, postgres).empty_database


def play(
    store: Store,
    new_copy: Callable[[str], KeptCopy],
    base: Base,
    folder: Path,
    options: pytest.Config,
) -> None:
    """Play as many rounds as are asked for, each of which ends with the check."""
    rounds: int = options.getoption("rounds")
    seed: int = options.getoption("seed")
    counts: Counter[str] = Counter()
    for first in range(0, rounds, ROUNDS_PER_DATABASE):
        name = f"killed-{first}"
        database = store.new_database(name)
        with Chaos(database, new_copy(name), base, folder / name, counts) as chaos:
            for number in range(first, min(first + ROUNDS_PER_DATABASE, rounds)):
                try:
                    stamps = number % SERVER_STAMPS_EVERY == 1
                    chaos.play(f"{seed}-{number}", server_stamps=stamps)
                    check(chaos)
                except Exception as failure:
                    failure.add_note(f"in round {number} of --seed {seed}, after {dict(counts)}")
                    raise
            chaos.load_while_cut(LARGE)
            check(chaos)
        shutil.rmtree(folder / name)
        store.drop_database(database)
    print(dict(sorted(counts.items())))  # noqa: T201 - shown by pytest -s
    certain = [what for least, each in CERTAIN.items() if rounds >= least for what in each]
    assert not [what for what in certain if not counts[what]]


def forget(store: Store, copy: KeptCopy, base: Base, folder: Path) -> None:
    """Let a copier that goes wrong take the time of a cut response; the check has to find it."""
    database = store.new_database("killed-forget")
    with Chaos(database, copy, base, folder / "forget", Counter()) as chaos:
        chaos.proxy.choose = lambda: Cut(after=LONG_ANSWER_BYTES, with_reset=False)
        chaos.settle()
        chaos.wait_until_level()
        check(chaos)
        chaos.proxy.cutting = True
        new = chaos.load(LARGE)
        chaos.wait_until_level()
        with pytest.raises(Differs, match=f"subscribers: 1 missing: {new}"):
            check(chaos)
    store.drop_database(database)


@ONLY_LONG
def test_a_copy_is_complete_after_any_kill(
    store: Store, base: Base, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """design, "The change feed": at least once, never zero times; a broken response can be told."""
    play(store, lambda name: CopierCopy(tmp_path / f"{name}.copy"), base, tmp_path, request.config)


@ONLY_LONG
@LONG_ON_SQLITE
def test_a_copier_that_takes_the_time_of_a_cut_response_is_found_out(
    store: Store, base: Base, tmp_path: Path
) -> None:
    """The check above can fail: it tells which records such a copy lacks."""
    forget(store, CopierCopy(tmp_path / "copy", forget=True), base, tmp_path)


@ONLY_LONG
@LONG_ON_SQLITE
@MORE_WITH_EVERY
def test_a_mirror_is_complete_after_any_kill(
    store: Store,
    new_mirror: Callable[[str], str],
    base: Base,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """rules, "Mirror: a pass"."""
    play(
        store,
        lambda name: MirrorCopy(new_mirror(f"{name}-copy")),
        base,
        tmp_path,
        request.config,
    )


@ONLY_LONG
@LONG_ON_SQLITE
@pytest.mark.parametrize(
    "new_mirror",
    [KINDS[0], *(pytest.param(kind, marks=ONLY_EVERY) for kind in OTHER_KINDS)],
    indirect=True,
)
def test_a_mirror_that_takes_the_time_of_a_cut_response_is_found_out(
    store: Store, new_mirror: Callable[[str], str], base: Base, tmp_path: Path
) -> None:
    """The check of copies can fail, whatever kind of database the copy is."""
    forget(store, MirrorCopy(new_mirror("forget-copy"), forget=True), base, tmp_path)
