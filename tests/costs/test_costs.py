"""Each operation costs what it did, however many records there are, and keeps nothing.

The requests are made in one test, so that a server and its data are made once: a failure lists all
of those that cost too much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.contract.operations import ENTITLEMENTS, OPERATIONS
from tests.costs.asking import REQUESTS
from tests.costs.data import LARGE, SMALL
from tests.costs.limits import (
    A_FEW,
    ALLOWANCE,
    GROWING,
    KEPT_BYTES_MAX,
    LIMITS,
    WALKING,
)
from tests.long import ONLY_LONG, SHORT_ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.costs.asking import Cost, Service
    from tests.costs.limits import Limit
    from tests.servers import Store

ONE_OF_EACH = (
    "1 own account",
    "2",
    "3 refused",
    "4 nothing",
    "5",
    "6",
    "7 a page",
    "8 ten fit",
    "9",
    "10",
    "entitlements",
)


def test_each_operation_of_the_interface_is_counted() -> None:
    numbers = {operation.number for operation in OPERATIONS.values()}
    counted = {*map(str, numbers), ENTITLEMENTS.name}
    for names in (REQUESTS, LIMITS, ONE_OF_EACH):
        assert {name.split()[0] for name in names} == counted
    assert [*LIMITS] == [*REQUESTS]


def test_a_request_costs_no_more_than_it_did(service: Service, store: Store) -> None:
    """CONTRIBUTING, "Habits"; what each line of a failure means: tests/costs/__init__.py."""
    found = []
    for name in REQUESTS:
        limit = LIMITS[name][store.kind]
        cost = service.cost(name, LARGE, most_of(limit.calls))
        found += [f"{name}: {line}" for line in over(cost, limit, name)]
    assert not found, "\n".join(["", *found])


def most_of(count: float) -> float:
    """Return the highest count that is still about as much as ``count``."""
    return max(count * ALLOWANCE, count + A_FEW)


def over(cost: Cost, limit: Limit, name: str) -> Iterator[str]:
    """Yield what is over the limit."""
    if len(cost.statements) != limit.statements:
        which = "".join(f"\n    {statement[:200]}" for statement in cost.statements)
        yield f"{len(cost.statements)} statements, not {limit.statements}:{which}"
    for what, count, most in (
        ("visited", cost.visited, limit.visited),
        ("calls", cost.calls, limit.calls),
    ):
        if count > most_of(most):
            yield f"{count} {what}, not {most}"
    # A few are rows that a question made itself, out of those that an index has found.
    if cost.walked > A_FEW and name not in WALKING:
        yield f"{cost.walked} rows found by walking a table"


@ONLY_LONG
def test_a_request_costs_the_same_in_an_account_of_ten_times_the_size(service: Service) -> None:
    """design, "The store"."""
    found = []
    for name in REQUESTS:
        if name in GROWING:
            continue
        small = service.cost(name, SMALL)
        large = service.cost(name, LARGE, most_of(small.calls))
        for what, in_small, in_large in (
            ("statements", len(small.statements), len(large.statements)),
            ("visited", small.visited, large.visited),
            ("calls", small.calls, large.calls),
        ):
            if in_large > most_of(in_small):
                found.append(f"{name}: {in_small} {what} in the small one, {in_large} here")
    assert not found, "\n".join(["", *found])


@ONLY_LONG
@SHORT_ON_SQLITE
def test_a_hundred_requests_leave_no_more_memory_in_use(service: Service) -> None:
    kept = {name: service.kept(name, 100) for name in ONE_OF_EACH}
    found = [f"{name}: {size} bytes" for name, size in kept.items() if size > KEPT_BYTES_MAX]
    assert not found, "\n".join(["", *found])
