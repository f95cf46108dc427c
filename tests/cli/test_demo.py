"""``masthead demo``: a publisher to try the interface on, and a curl line for each operation."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract import examples
from masthead.contract.operations import ENTITIES
from tests.cli.running import lines_until, running
from tests.servers import masthead

if TYPE_CHECKING:
    from pathlib import Path

OPERATIONS = 10
pytestmark = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
"""It keeps its data in a file: ``test_usage`` tries the URL of a server."""


def exported(folder: Path, database: str) -> dict[str, bytes]:
    masthead("export", folder, "--account", 1, database=database)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def asked(line: str) -> Any:
    """Run a printed line as it was pasted, and return the JSON that came."""
    done = subprocess.run(
        [*shlex.split(line), "--silent", "--show-error", "--fail-with-body"],
        check=True,
        capture_output=True,
    )
    return json.loads(done.stdout)


def ids_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record's own id and those of what it refers to."""
    return {name: value for name, value in record.items() if name.endswith("_id")}


def test_each_printed_line_works_as_pasted_and_a_second_start_keeps_the_data(
    database: str, tmp_path: Path
) -> None:
    """decisions, "The demo's credentials"; "Texts and examples of the document"."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    with running("demo", "--port", 0, database=database) as process:
        printed = lines_until(process, "curl ", OPERATIONS)
        lines = [line for line in printed if not line.startswith("timestamp=")]
        assert lines[0] == "making the demo publisher …"
        assert lines[1].startswith("Masthead serves on http://127.0.0.1:")
        assert "api_key: demo-key" in lines[2]
        assert "api_login: demo-login" in lines[2]
        answers = [asked(line) for line in lines if line.startswith("curl ")]
        (polls,) = (line for line in lines if "/2/cdc?" in line)
        everything = asked(re.sub(r"2/cdc\?changed_since=[^&]+&", "snapshot?", polls))
    accounts, account, login, feed, given, fields, subscriptions, found, order, mailing = answers
    assert accounts["accounts"] == [account["account"]]
    assert login["authenticated"] is True
    assert login["subscribers"]["subscriptions"]
    assert len(feed) == 7
    assert all(feed.values())
    assert any(answer["values"] or answer["text_value"] for answer in given)
    assert {field["type"] for field in fields} == {
        "checkbox",
        "select",
        "radio",
        "text",
        "textarea",
    }
    assert len(subscriptions["subscriptions"]) == len(found["subscribers"]) == 3
    assert order["order_items"]
    assert mailing
    for entity in ENTITIES:
        example = ids_of(examples.RECORDS[entity.shape])
        assert example in map(ids_of, everything[entity.key])

    before = exported(tmp_path / "before", database)
    assert before["subscribers.csv"].count(b"\n") > 2_000
    with running("demo", "--port", 0, database=database) as process:
        lines = lines_until(process, "curl ", OPERATIONS)
        assert not any("making" in line for line in lines)
        assert asked(lines[-1]) == mailing
    assert exported(tmp_path / "after", database) == before


def test_another_publishers_database_is_left_alone(account: str) -> None:
    done = masthead("demo", "--port", 0, database=account, exit_status=2)
    assert "account 1 of this database is not the demo's" in done.stderr
    assert "Traceback" not in done.stderr
