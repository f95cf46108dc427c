"""A client gets a response or an end of the connection for any bytes; never 5xx, never a wait.

``make prove-hostile CASES=100000`` for as many cases as one has time for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, note, settings

from tests.hostile.requests import asked, requests
from tests.hostile.wire import ENDING
from tests.long import MORE_WITH_EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api.callers import RawAnswer
    from tests.hostile.wire import Wire

pytestmark = MORE_WITH_EVERY

STATUSES = {400, 401, 403, 404, 405, 408, 410, 413, 414, 417, 431}
HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def check(response: RawAnswer) -> None:
    """Fail where a response is neither what was asked for nor a refusal in one sentence."""
    assert response.status == 200 or response.status in STATUSES
    if response.status != 200 and response.body:
        response.error()


def many(examples: int) -> settings:
    return settings(max_examples=examples, database=None, suppress_health_check=HEALTH)


def test_no_bytes_make_a_fault_or_a_wait(wire: Wire, cases: Callable[[float], int]) -> None:
    """rules, "Statuses" and "Error body"."""

    @many(cases(0.5))
    @given(request=requests())
    def send(request: Callable[[Wire], bytes]) -> None:
        sent = request(wire)
        note(repr(sent))
        answers = wire.send(sent + ENDING)
        assert answers
        for response in answers:
            check(response)

    send()


def test_no_question_makes_a_fault_or_a_wait(wire: Wire, cases: Callable[[float], int]) -> None:
    """rules, "Statuses", "Broken percent-encoding" and "Error body"."""

    @many(cases(0.35))
    @given(request=asked())
    def ask(request: Callable[[Wire], bytes]) -> None:
        sent = request(wire)
        note(repr(sent))
        check(wire.one(sent))

    ask()
