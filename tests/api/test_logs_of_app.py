"""The log of the app in a process of another server, which has not configured its logs."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from masthead.log import LogThrottle
from tests.servers import as_server, masthead, run

if TYPE_CHECKING:
    from tests.servers import Store


def test_what_occurs_often_is_logged_seldom() -> None:
    """decisions, "What is logged": each reason once a minute, and at most ten."""
    now = 0.0
    seldom = LogThrottle(lambda: now)
    assert seldom.is_due("down")
    assert not seldom.is_due("down")
    assert seldom.is_due("slow")
    now = 60.0
    assert not any(map(seldom.is_due, ("down", "slow")))
    now = 60.1
    assert [seldom.is_due(f"reason {number}") for number in range(20)] == [True] * 10 + [False] * 10
    assert not seldom.is_due("reason 3")
    now = 121.0
    assert seldom.is_due("reason 3")


RUN = """
import asyncio, sys
import uvicorn
from masthead.api.app import create_app
from masthead.log import get_logger

async def main():
    app = create_app()
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="on", log_config=None))
    serving = asyncio.create_task(server.serve())
    while not server.started and not serving.done():
        await asyncio.sleep(0)
    app._request_log.note(method="GET", path="/2/orders/{order_id}", status=200)
    try:
        int("a secret")
    except ValueError:
        get_logger().exception("failed", reason="caf\\udce9")
    server.should_exit = True
    await serving

asyncio.run(main())
"""


@pytest.mark.parametrize("configured", [False, True])
def test_the_app_logs_under_any_server_whether_or_not_logs_are_set_up(
    store: Store, *, configured: bool
) -> None:
    """rules, "The form of the log" and "Errors in the log"; also for half a character."""
    database = store.new_database(f"logs-{configured}")
    masthead("accounts", "add", 1, database=database)
    settings = {"MASTHEAD_LOG_FORMAT": "json"} if configured else {}
    done = run(database=as_server(database), command=[sys.executable, "-c", RUN], settings=settings)
    assert done.returncode == 0, done.stderr
    assert "a secret" not in done.stdout + done.stderr
    (request,) = [line for line in done.stderr.splitlines() if "/2/orders/{order_id}" in line]
    (failed,) = [line for line in done.stderr.splitlines() if "ValueError" in line]
    assert "caf\\udce9" in failed
    if configured:
        assert request.startswith('{"timestamp":')
    else:
        assert re.match(r"timestamp='[^']+' level='info' event='request' method='GET' ", request)
        assert "level='error' event='failed'" in failed
