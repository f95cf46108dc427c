"""The alert rules and the dashboard in ``deploy/``, as Prometheus itself reads them."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PROMTOOL = shutil.which("promtool")

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(PROMTOOL is None, reason="needs promtool (of Debian's package prometheus)"),
]


def promtool(*words: str | Path) -> None:
    """Run promtool; assert that it finds nothing."""
    done = subprocess.run(
        [str(PROMTOOL), *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_alerts_fire_when_something_is_wrong_and_not_otherwise() -> None:
    promtool("check", "rules", "--lint-fatal", ROOT / "deploy" / "prometheus-alerts.yml")
    promtool("test", "rules", ROOT / "tests" / "system" / "prometheus-alerts.yml")


def test_prometheus_can_read_each_query_of_the_dashboard(tmp_path: Path) -> None:
    dashboard = json.loads((ROOT / "deploy" / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    rules = [
        {"record": f"query:{number}", "expr": query.replace("$__rate_interval", "5m")}
        for number, query in enumerate(queries)
    ]
    path = tmp_path / "queries.yml"  # JSON is YAML, too
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", "--lint-fatal", path)
