"""``masthead loads``."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.servers import masthead, write_ndjson

if TYPE_CHECKING:
    from pathlib import Path

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


@pytest.fixture
def loaded(account: str, tmp_path: Path) -> str:
    """A database after a good load, and a refused one."""
    rows = {"publications": [{"publication_id": 1}], "subscribers": [{"subscriber_id": 1}]}
    good = write_ndjson(tmp_path / "good", rows)
    (bad,) = write_ndjson(tmp_path / "bad", {"subscribers": [{"subscriber_id": "O'Hara"}]})
    masthead("import", *good, "--account=1", database=account)
    masthead("import", bad, "--account=1", database=account, exit_status=1)
    masthead("accounts", "add", 2, database=account)
    return account


def test_each_load_is_a_line_the_newest_last(loaded: str) -> None:
    """rules, "The record of loads"."""
    good, refused = masthead("loads", database=loaded).stdout.splitlines()
    assert re.fullmatch(
        rf"{TIME}  account 1  good  \d+\.\d s  2 files  2 inserted, 0 changed, 0 unchanged, "
        r"0 removed, 0 set aside  import \S+ \S+ --account 1 \(by \S+\)",
        good,
    )
    assert re.fullmatch(
        rf"{TIME}  account 1  refused  \d+\.\d s  1 file  import \S+ --account 1 \(by \S+\)  "
        r"subscribers\.ndjson:1: subscriber_id: .*",
        refused,
    )
    assert "O'Hara" not in refused


def test_json_has_every_number_and_name(loaded: str) -> None:
    printed = masthead("loads", "--format=json", "--account=1", database=loaded).stdout
    good, refused = map(json.loads, printed.splitlines())
    times: dict[str, Any] = {name: good.pop(name) for name in ("started_at", "ended_at")}
    assert all(re.fullmatch(TIME, each) for each in times.values())
    assert good.pop("duration_s") >= 0
    good.pop("user_name")
    assert good.pop("command").endswith("--account 1")
    assert good == {
        "account_id": 1,
        "load_id": 1,
        "files": ["publications.ndjson", "subscribers.ndjson"],
        "outcome": "good",
        "counts": {
            "publications": {"inserted": 1, "changed": 0, "unchanged": 0, "removed": 0},
            "subscribers": {"inserted": 1, "changed": 0, "unchanged": 0, "removed": 0},
        },
        "rejected": 0,
        "reason": "",
    }
    assert (refused["outcome"], refused["counts"]) == ("refused", {})
    assert refused["reason"].startswith("subscribers.ndjson:1: subscriber_id: ")


def test_an_account_without_loads_has_no_line(loaded: str) -> None:
    assert masthead("loads", "--account=2", database=loaded).stdout == ""
