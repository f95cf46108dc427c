"""Two loads of one account at once: the second says so and ends, or waits for the first."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from masthead.errors import MastheadError
from masthead.loading.load import Options, load
from masthead.store import erasing, loads
from tests.loading.publisher import SMALL, Publisher
from tests.loading.stuck import STAGED, WRITING, stuck
from tests.long import ONLY_LONG
from tests.servers import masthead

if TYPE_CHECKING:
    from collections.abc import Callable

CHANGED = SMALL | {"subscribers.csv": "subscriber_id,first_name\n1,Zoe\n3,Cy\n"}


def outcomes(publisher: Publisher) -> list[str]:
    return [load.outcome for load in loads.loads(publisher.store, publisher.account_id)]


@pytest.mark.parametrize("step", [STAGED, WRITING])
def test_the_second_load_says_which_other_is_running_and_ends(small: Publisher, step: str) -> None:
    """rules, "Two loads of one account"."""
    folder = small.write(CHANGED)
    with stuck(small, folder, step):
        with pytest.raises(MastheadError) as refused:
            small.load(SMALL)
        assert re.fullmatch(
            rf"account {small.account_id}: another load is running since "
            rf"\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(masthead import {folder.name}, by alice\); "
            "nothing was loaded: load the files again later",
            str(refused.value),
        )
        assert outcomes(small) == ["good", "running"]
    assert outcomes(small) == ["good", "good"]
    assert [row["first_name"] for row in small.table("subscribers")] == ["Zoe", "Ben", "Cy"]


@ONLY_LONG
def test_with_wait_it_begins_when_the_other_has_ended(small: Publisher) -> None:
    """rules, "Two loads of one account"."""
    last = small.write({"subscribers.csv": "subscriber_id,first_name\n1,Last\n"})
    with ThreadPoolExecutor(1) as threads:
        with stuck(small, small.write(CHANGED), WRITING):
            waiting = threads.submit(
                load,
                small.store,
                [last],
                account_id=small.account_id,
                options=Options(waits=True),
            )
            with pytest.raises(MastheadError, match="another load is running"):
                small.load(SMALL)
            assert not waiting.done()
        waiting.result()
    assert [row["first_name"] for row in small.table("subscribers")] == ["Last", "Ben", "Cy"]
    assert outcomes(small) == ["good"] * 3


@pytest.mark.parametrize("step", [STAGED, WRITING])
def test_a_load_that_is_killed_leaves_no_lock_and_shows_as_interrupted(
    small: Publisher, step: str
) -> None:
    """rules, "The record of loads"."""
    before = small.everything()
    with stuck(small, small.write(CHANGED), step) as process:
        process.kill()
        process.wait()
    assert outcomes(small) == ["good", "interrupted"]
    assert small.everything() == before
    small.load(CHANGED)
    assert outcomes(small) == ["good", "interrupted", "good"]


def test_a_load_of_another_account_goes_on_beside_it(
    new_publisher: Callable[[], Publisher],
) -> None:
    one, other = new_publisher(), new_publisher()
    one.load(SMALL)
    other.load(SMALL)
    with stuck(one, one.write(CHANGED), STAGED):
        other.load(CHANGED)
        assert outcomes(one) == ["good", "running"]
        assert outcomes(other) == ["good", "good"]


def test_other_writers_wait_only_while_it_writes(small: Publisher) -> None:
    """rules, "Two loads of one account": the lock is one of loads."""
    with stuck(small, small.write(CHANGED), STAGED):
        erasing.erase(small.store, small.account_id, 2)
        assert small.table("subscribers")[1]["first_name"] is None
    assert [row["first_name"] for row in small.table("subscribers")] == ["Zoe", None, "Cy"]


def test_a_dry_run_neither_keeps_a_load_out_nor_is_kept_out(small: Publisher) -> None:
    """rules, "Dry runs"."""
    with stuck(small, small.write(CHANGED), STAGED):
        options = Options(is_dry=True)
        folder = small.write(CHANGED)
        dry = load(small.store, [folder], account_id=small.account_id, options=options)
        assert dry.counts["subscribers"].inserted == 1
    assert outcomes(small) == ["good", "good"]


@ONLY_LONG
def test_the_command_ends_with_status_1_and_waits_if_it_is_told_to(small: Publisher) -> None:
    """rules, "Two loads of one account"."""
    folder = small.write(CHANGED)
    words = ("import", folder, "--account", small.account_id)
    with ThreadPoolExecutor(1) as threads:
        with stuck(small, folder, STAGED):
            done = masthead(*words, database=small.url, exit_status=1)
            assert "another load is running since" in done.stderr
            waiting = threads.submit(masthead, *words, "--wait", database=small.url)
        assert "nothing changed" in waiting.result().stdout
