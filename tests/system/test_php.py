"""The wire form as PHP's own HTTP functions see it.

Many existing clients are written in PHP. What they read is compared byte for byte with answers
typed by hand, and PHP's own JSON writer must give the same bytes again: it tells ``"1"``, ``1``,
``true`` and ``1.0`` apart.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from tests.api import test_golden_changes as changes
from tests.api import test_golden_custom_fields as fields
from tests.api import test_golden_orders as orders
from tests.api import test_golden_subscribers as subscribers
from tests.api.callers import basic
from tests.client.service import Reply, Service, in_turn
from tests.client.test_access import NO_ANSWERS
from tests.docs.pages import ROOT, Block, blocks_of, fits, run

if TYPE_CHECKING:
    from tests.api.callers import Caller

PHP = shutil.which("php")
SCRIPT = Path(__file__).with_name("ask.php")
RUN_SECONDS_MAX = 180

pytestmark = pytest.mark.skipif(PHP is None, reason="needs php (Debian's package php-cli)")

SUBSCRIBERS = f"{subscribers.FULL},{subscribers.WITH_A_CODE_ONLY},{subscribers.AWKWARD}"
MAILING_LIST = (
    '[{"subscription_id":"9","copies":"3","is_grace":"1","is_paid":"0","type":"Both"},'
    '{"subscription_id":"31","copies":"1","is_grace":"0","is_paid":"1","type":"Print"},'
    '{"subscription_id":"32","copies":"2","is_grace":"0","is_paid":"0","type":"Digital"}]'
)
ANSWERS = {
    "/2/subscribers/": f'{{"subscribers":[{SUBSCRIBERS}]}}',
    "/2/subscribers/authenticate/?login=nobody&password=x": '{"authenticated":false}',
    "/2/orders/71": orders.FULL,
    "/2/orders/72": orders.WITHOUT_ITEMS,
    "/2/orders/9223372036854775807": orders.AWKWARD,
    "/2/customfields/1": fields.ANSWERS,
    "/2/downloadmailinglist/81/": MAILING_LIST,
    "/2/downloadmailinglist/82/": "[]",
}
FEED = {
    "customfields": changes.CUSTOM_FIELDS,
    "subscriptions": changes.SUBSCRIPTIONS,
    "addresses": changes.ADDRESSES,
    "purchases": changes.PURCHASES,
    "listdownloads": changes.LIST_DOWNLOADS,
    "orders": changes.ORDERS,
}


@dataclass(frozen=True)
class Answer:
    """What PHP read."""

    status: int
    headers: dict[str, str]
    body: str
    written_again: str


def ask(caller: Caller, path: str, **http: str | float) -> Answer:
    """Make a request with PHP; ``http`` are options of its stream context."""
    credentials = f"Authorization: {basic(caller.api_key, caller.api_login)}\r\n"
    options = {"method": "GET", "protocol_version": 1.1, "header": credentials} | http
    done = subprocess.run(
        [str(PHP), "-n", "-d", "display_errors=stderr", str(SCRIPT)],
        input=json.dumps([{"url": caller.server.url + path, "http": options}]),
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (response,) = json.loads(done.stdout)
    status, *lines = response["headers"]
    return Answer(
        status=int(status.split()[1]),
        headers={name.lower(): value for name, value in (line.split(": ", 1) for line in lines)},
        body=base64.b64decode(response.get("body", "")).decode(),
        written_again=base64.b64decode(response.get("written_again", "")).decode(),
    )


@pytest.mark.parametrize("path", ANSWERS)
def test_php_reads_and_writes_the_same_bytes(golden: Caller, path: str) -> None:
    """interface, operations 3, 5, 8, 9, 10; decisions, "Integers"; rules, "Double", "Content"."""
    response = ask(golden, path)
    assert response.status == 200
    assert response.body == ANSWERS[path]
    assert response.written_again == ANSWERS[path]
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("version", [1.0, 1.1])
@pytest.mark.parametrize("entity", FEED)
def test_php_reads_the_change_feed(golden: Caller, entity: str, version: float) -> None:
    """interface, operation 4, in either version of HTTP: with chunks and without."""
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds")
    through = golden.ask("/2/cdc", changed_since=yesterday, entities=entity).headers
    query = urlencode({"changed_since": yesterday, "entities": entity})
    response = ask(golden, f"/2/cdc?{query}", protocol_version=version)
    assert response.status == 200
    assert response.body == FEED[entity]
    assert response.written_again == FEED[entity]
    assert response.headers["masthead-changes-through"] == through["masthead-changes-through"]


def test_head_has_the_headers_of_get(golden: Caller) -> None:
    """rules, "Methods"."""
    got, head = ask(golden, "/2/orders/71"), ask(golden, "/2/orders/71", method="HEAD")
    assert head.status == 200
    assert head.headers["content-length"] == str(len(orders.FULL.encode()))
    assert head.headers.keys() == got.headers.keys()


def test_parameters_may_travel_in_the_body_of_a_get(golden: Caller) -> None:
    """decisions, "Where parameters travel"; "Body of a GET": PHP labels it a form."""
    response = ask(golden, "/2/subscribers/", content='[{"renewal_code":"gf002"}]')
    assert response.body == f'{{"subscribers":[{subscribers.WITH_A_CODE_ONLY}]}}'


def test_php_reads_an_error_as_json(golden: Caller) -> None:
    """rules, "Missing or malformed credentials" and "Error body"."""
    response = ask(golden, "/2/accounts/", header="")
    assert response.status == 401
    assert response.headers["www-authenticate"] == 'Basic realm="masthead"'
    assert list(json.loads(response.body)) == ["error"]


def test_the_integrators_page_does_in_php_what_it_says(tmp_path: Path) -> None:
    (block,) = blocks_of(ROOT / "docs" / "integrator.md", "php")
    demo = Block("masthead demo --port 8000\n", None)
    _, printed = run([demo, block], tmp_path)
    assert block.prints is not None
    assert fits(block.prints, printed)


# PHP does not count bytes: what breaks off behind its last brace is whole for it.
CASES = {name: response for name, response in NO_ANSWERS.items() if not response.is_cut}


@pytest.mark.parametrize("response", CASES.values(), ids=CASES.keys())
def test_the_integrators_page_names_nobody_in_php_without_an_answer(response: Reply) -> None:
    """rules, "Client: 429"."""
    (block,) = blocks_of(ROOT / "docs" / "integrator.md", "php")
    with closing(Service(in_turn(response))) as service:
        script = block.commands.replace("http://127.0.0.1:8000", service.url)
        script = script.replace("'timeout' => 2", "'timeout' => 0.3")
        done = subprocess.run(
            ["bash", "-c", script],
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS_MAX,
            check=False,
        )
    assert done.returncode
    assert "Daniel" not in done.stdout
