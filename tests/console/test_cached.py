"""A property of a request is computed once, and no other request waits for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from masthead.web.cached import cached

_WAIT_S_MAX = 20


class Request:
    """A request whose account takes until another request asks for its own."""

    together = Barrier(2)
    asked = 0

    @cached
    def account(self) -> int:
        """The account: its number is how often this request has asked for it."""
        self.together.wait(_WAIT_S_MAX)
        self.asked += 1
        return self.asked


def test_requests_in_two_threads_compute_it_at_the_same_time_and_once() -> None:
    requests = Request(), Request()
    with ThreadPoolExecutor(2) as threads:
        assert [*threads.map(lambda each: each.account, requests)] == [1, 1]
    assert [each.account for each in requests] == [1, 1]


def test_the_class_itself_has_the_property() -> None:
    assert Request.account.__doc__ == Request.__dict__["account"].__doc__
    assert isinstance(Request.account, cached)
