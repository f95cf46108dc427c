"""Schemathesis reads /openapi.json from the running server and looks for answers that break it.

It makes requests that the description allows and requests that it forbids, and holds each response
against the description: status, headers, type, schema. ``schemathesis.toml``
beside this file says how.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tests.long import ONLY_LONG

if TYPE_CHECKING:
    import pytest

    from tests.api.callers import Caller

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
OPERATIONS_EXTENSIONS_AND_HEALTH = 15
RUN_SECONDS_MAX = 540
EXAMPLES_MIN = 60
PART = 0.05
"""Of the cases of `make prove-hostile`, shared by the operations and both kinds of database."""


@ONLY_LONG
def test_no_response_breaks_the_description(
    golden: Caller, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """rules, "Statuses", "Methods", "Error body"; decisions, "Unknown parameter"; wire types."""
    recently = (datetime.now(UTC) - timedelta(hours=1)).isoformat(timespec="seconds")
    configuration = tmp_path / "schemathesis.toml"
    cases = request.config.getoption("--cases")
    examples = max(EXAMPLES_MIN, round(cases * PART / 2 / OPERATIONS_EXTENSIONS_AND_HEALTH))
    text = CONFIGURATION.read_text().replace("RECENTLY", recently)
    configuration.write_text(text.replace("max-examples = 60", f"max-examples = {examples}"))
    report = tmp_path / "report.ndjson"
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(configuration)),
        *("run", f"{golden.server.url}/openapi.json", "--no-color"),
        *("--auth", f"{golden.api_key}:{golden.api_login}"),
        *("--report", "ndjson", "--report-ndjson-path", str(report)),
    ]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=RUN_SECONDS_MAX, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr

    seen = statuses_by_operation(report)
    assert len(seen) == OPERATIONS_EXTENSIONS_AND_HEALTH
    never_answered = [operation for operation, statuses in seen.items() if 200 not in statuses]
    # An account without a key refuses entitlements; tests/api/test_entitlements.py has one.
    assert never_answered == ["GET /entitlements"], "the run says little about what only refuses"


def statuses_by_operation(report: Path) -> dict[str, set[int]]:
    """Return the statuses that the run saw, by operation."""
    seen: dict[str, set[int]] = defaultdict(set)
    for line in report.read_text().splitlines():
        finished = json.loads(line).get("ScenarioFinished", {})
        if finished.get("phase") in {"coverage", "fuzzing"}:
            recorder = finished["recorder"]
            for interaction in recorder["interactions"].values():
                seen[recorder["label"]].add(interaction["response"]["status_code"])
    return seen
