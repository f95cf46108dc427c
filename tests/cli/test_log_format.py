"""``masthead serve --log-format``: the same lines as text and as JSON."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.cli.running import spoil
from tests.servers import masthead, run, serving

if TYPE_CHECKING:
    from tests.servers import Store


LOG_ON_A_WHOLE_SECOND = """
import asyncio, logging
from datetime import datetime
from masthead import log

class Clock(datetime):
    @classmethod
    def now(cls, tz):
        return cls(2026, 11, 22, 17, 59, 2, tzinfo=tz)

log.datetime = Clock
log.configure_logs("json")

async def handle():
    log.RequestLog().note(status=200)

asyncio.run(handle())
log.get_logger().warning("by Masthead")
logging.getLogger("library").warning("by a library")
"""


def lines_of(store: Store, *options: str) -> list[str]:
    """Return what a server logs of a response, a refusal, and a database that is gone."""
    database = store.new_database(f"log{'-'.join(options)}")
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
    with serving(database, *options) as server:
        for path, status in (("/2/orders/7", 404), ("/2/accounts/1", 200), ("/health", 200)):
            response = httpx2.get(server.url + path, auth=("key", "login"))
            assert response.status_code == status
        spoil(store, database)
        assert httpx2.get(f"{server.url}/health").status_code == 503
        server.stop()
        lines = server.output().splitlines()
    return [line for line in lines if not line.startswith("Masthead serves on")]


@pytest.mark.parametrize("options", [(), ("--workers=2",)], ids=["one process", "two workers"])
def test_each_line_is_an_object_that_begins_with_time_level_and_event(
    store: Store, options: tuple[str, ...]
) -> None:
    """rules, "The form of the log"; lines of libraries too."""
    objects: list[dict[str, Any]] = [
        json.loads(line) for line in lines_of(store, "--log-format=json", *options)
    ]
    assert all(list(found)[:3] == ["timestamp", "level", "event"] for found in objects)
    assert all(re.fullmatch(r"[-0-9]{10}T[:0-9]{8}\.\d{6}Z", o["timestamp"]) for o in objects)
    requests = [found for found in objects if found["event"] == "request"]
    # In any order: two workers write independently.
    assert {
        (found["method"], found["path"], found["status"], found["account"]) for found in requests
    } == {
        ("GET", "/2/orders/{order_id}", 404, 1),
        ("GET", "/2/accounts/{account_id}", 200, 1),
        ("GET", "/health", 200, None),
        ("GET", "/health", 503, None),
    }
    assert all(isinstance(found["duration_ms"], float) for found in requests)
    assert len({found["request_id"] for found in requests}) == len(requests)
    assert any(o["event"] == "database unavailable" and o["level"] == "error" for o in objects)


def test_text_has_the_same_as_pairs(store: Store) -> None:
    for line in lines_of(store):
        assert re.match(r"timestamp='[^']+' level='(info|warning|error)' event=['\"]", line), line


def test_each_line_has_its_microseconds_where_they_are_zero_too() -> None:
    """rules, "The form of the log": a request's, Masthead's own, and that of a library."""
    done = run(database="", command=[sys.executable, "-c", LOG_ON_A_WHOLE_SECOND])
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["event"] for line in lines] == ["request", "by Masthead", "library: by a library"]
    assert {line["timestamp"] for line in lines} == {"2026-11-22T17:59:02.000000Z"}
