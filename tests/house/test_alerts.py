"""The alert rules and the dashboard in ``deploy/`` ask for what a server's metrics have."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from masthead.store.partners import NAMES_OF_OPERATIONS
from tests.cli.test_metrics import metrics_url
from tests.house import ROOT
from tests.servers import import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPLOY = ROOT / "deploy"
RULES = (DEPLOY / "prometheus-alerts.yml").read_text()
DASHBOARD = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
OPERATORS_PAGE = (ROOT / "docs" / "operator.md").read_text()
POSTGRESQLS_PAGE = (ROOT / "docs" / "postgresql.md").read_text()

OF_PROMETHEUS = {"job", "instance"}
"""Labels that every metric has once Prometheus has read it."""

ONLY_WITH_A_REPLICA = {"masthead_replica_lag_seconds": set[str]()}
"""What a server with a file has not; tests/postgresql/test_lagging_keys.py reads it."""


def asked() -> Iterator[str]:
    """Yield each rule with its texts, and each query of the dashboard with its legend."""
    yield from RULES.split("- alert: ")[1:]
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"] + target["legendFormat"]
    for variable in DASHBOARD["templating"]["list"]:
        yield variable["query"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The labels of each metric of a server that was asked a little."""
    folder = tmp_path_factory.mktemp("shown")
    url = f"sqlite:///{folder / 'masthead.db'}"
    masthead("accounts", "add", 1, "--api-key=own", "--api-login=own", database=url)
    import_files(
        *write_ndjson(folder, {"subscribers": [{"subscriber_id": 1}]}), account_id="1", database=url
    )
    printed = masthead("partners", "add", "Web shop", "--account=1", database=url).stdout
    pair = dict(re.findall(r"^(api_\w+): (\w+)$", printed, re.MULTILINE))
    with serving(url, "--metrics-port=0") as server:
        login = "/2/subscribers/authenticate/?login=who@example.com&password=a"
        for path in (login, "/snapshot?entities=subscribers"):
            answer = httpx2.get(server.url + path, auth=(pair["api_key"], pair["api_login"]))
            assert answer.status_code == 200
        text = httpx2.get(metrics_url(server)).text
    return ONLY_WITH_A_REPLICA | {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_each_metric_and_label_that_they_name_is_one_of_a_server(
    shown: dict[str, set[str]],
) -> None:
    """rules, "Metrics"."""
    for text in asked():
        named = set(re.findall(r"masthead_\w+", text))
        assert named <= set(shown), text
        for name, matchers in re.findall(r"(masthead_\w+)\{([^}]*)\}", text):
            assert set(re.findall(r"(\w+)[=!]", matchers)) <= shown[name] | OF_PROMETHEUS, text
        used = set(re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", text))
        for labels in re.findall(r"\b(?:by|on) \(([\w, ]+)\)", text):
            used |= set(labels.split(", "))
        assert used <= set[str]().union(*(shown[name] for name in named), OF_PROMETHEUS), text


def test_the_metrics_of_the_operators_page_are_all_in_the_dashboard() -> None:
    """rules, "Metrics"."""
    table = re.findall(r"^\| (`masthead_.*?`) \| ", OPERATORS_PAGE, re.MULTILINE)
    metrics = set(re.findall(r"masthead_\w+", " ".join(table)))
    assert len(metrics) > 5
    assert not [name for name in metrics if name not in json.dumps(DASHBOARD)]


def test_the_operations_that_they_leave_out_exist() -> None:
    left_out = {found for text in asked() for found in re.findall(r'operation!~"([^"]+)"', text)}
    (names,) = left_out
    assert set(names.split("|")) <= set(NAMES_OF_OPERATIONS)


def test_each_alert_names_sections_that_exist_and_the_page_names_each_alert() -> None:
    """What to do is in a section, and no address of a host is."""
    headings = set(re.findall(r"^#+ (.+)$", OPERATORS_PAGE + POSTGRESQLS_PAGE, re.MULTILINE))
    texts = RULES.split("- alert: ")[1:]
    for text in texts:
        assert f"| `{text.splitlines()[0]}` |" in OPERATORS_PAGE
        description = " ".join(text.split("description: ")[1].split())
        (sections,) = re.findall(
            r"\((?:operator's page|page of PostgreSQL), ([^)]+)\)", description
        )
        assert set(sections.strip('"').split('", "')) <= headings, sections
    assert OPERATORS_PAGE.count("| `Masthead") == len(texts)
    assert "://" not in RULES + json.dumps(DASHBOARD)
