"""What ``async for`` and ``async with`` read needs no ``await``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from masthead import AsyncClient
from masthead.errors import BadInput, ServiceError
from tests.client.service import Reply, in_turn, refused

if TYPE_CHECKING:
    from tests.client.service import Serve

SINCE = "2026-11-21T00:00:00Z"
THROUGH = {"Masthead-Changes-Through": "2026-11-21T10:00:00.123456+00:00"}
FEED = Reply('{"orders":[]}', headers=THROUGH)
REMOVED = Reply('{"orders":["4","5"]}', headers=THROUGH)


def test_a_stream_is_read_by_async_for_by_async_with_and_after_an_await(serve: Serve) -> None:
    service = serve(in_turn(REMOVED))

    async def read() -> None:
        async with AsyncClient(service.url, "key", "login") as client:
            opening = client.deletions(SINCE, ["orders"])
            assert service.asked == []
            assert [each.id async for each in opening] == [4, 5]
            async with client.deletions(SINCE, ["orders"]) as deletions:
                assert deletions.through == THROUGH["Masthead-Changes-Through"]
                assert [each.id async for each in deletions] == [4, 5]
            deletions = await client.deletions(SINCE, ["orders"])
            assert [each.id async for each in deletions] == [4, 5]
        assert len(service.asked) == 3

    asyncio.run(read())


def test_the_end_of_the_loop_and_of_the_block_close_the_stream(serve: Serve) -> None:
    """A client with open responses would have open connections."""
    service = serve(in_turn(FEED))

    async def read() -> None:
        async with AsyncClient(service.url, "key", "login") as client:
            for opening in (client.changes(SINCE, ["orders"]), client.snapshot(["orders"])):
                async with opening as stream:
                    pass
                assert stream._response.is_closed
            assert [each async for each in client.changes(SINCE, ["orders"])] == []

    asyncio.run(read())


def test_each_way_raises_what_the_request_raises(serve: Serve) -> None:
    service = serve(in_turn(refused(404)))

    async def read() -> None:
        async with AsyncClient(service.url, "key", "login") as client:
            with pytest.raises(ServiceError, match="no"):
                [each async for each in client.snapshot(["orders"])]
            with pytest.raises(ServiceError, match="no"):
                async with client.snapshot(["orders"]):
                    pass
            with pytest.raises(ServiceError, match="no"):
                await client.snapshot(["orders"])
            with pytest.raises(BadInput, match="there is no 'invoices'"):
                await client.changes(SINCE, ["invoices"])

    asyncio.run(read())
