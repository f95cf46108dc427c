"""The numbers of an account's requests and errors, by day and operation.

A server counts in memory and writes from time to time, so no request waits for a write. The counts
are stored in the counters, which loads do not lock. A power failure loses the last minute's counts.
"""

from typing import NamedTuple

from masthead.contract.moments import format_second
from masthead.errors import StoreUnavailable
from masthead.store.database import Store

_MINUTE_US = 60 * 1_000_000
_DAY_US = 24 * 60 * _MINUTE_US
_KEPT_US = 30 * _DAY_US
_ERROR = 400

_ADD = """
    INSERT INTO request_counts (account_id, day, operation, requests, errors, last_at)
    VALUES (:account_id, :day, :operation, :requests, :errors, :last_at)
    ON CONFLICT (account_id, day, operation) DO UPDATE SET
        requests = request_counts.requests + excluded.requests,
        errors = request_counts.errors + excluded.errors, last_at = excluded.last_at
    """


class Count(NamedTuple):
    """The requests of an operation; ``last_at`` is the last one's time in microseconds."""

    operation: str
    requests: int
    errors: int
    last_at: int


class RequestCounts:
    """The requests that a server has handled since it last wrote the counts."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], list[int]] = {}
        self._written_at = 0

    def note(self, account_id: int, operation: str, status: int, now: int) -> None:
        """Count a request that got its response at ``now``; a status of 400 or more is an error."""
        count = self._found.setdefault((account_id, operation), [0, 0, 0])
        count[0] += 1
        count[1] += status >= _ERROR
        count[2] = now

    def write(self, store: Store, *, every_us: int = _MINUTE_US) -> None:
        """Add the counts to the store, at most once a minute, and delete old counts.

        Raises StoreUnavailable if they cannot be written; the next call retries.
        """
        now = store.clock()
        if not self._found or abs(now - self._written_at) < every_us:
            return
        self._written_at = now
        found, self._found = self._found, {}
        written = set()
        try:
            with store.counters() as counters:
                for account_id, operation in list(found):
                    requests, errors, last_at = found[account_id, operation]
                    counters.set_tenant(account_id)
                    counters.rows(
                        _ADD,
                        account_id=account_id,
                        day=_day(last_at),
                        operation=operation,
                        requests=requests,
                        errors=errors,
                        last_at=last_at,
                    )
                    del found[account_id, operation]
                    written.add(account_id)
                for account_id in written:
                    counters.set_tenant(account_id)
                    counters.rows(
                        """
                        DELETE FROM request_counts
                        WHERE account_id = :account_id AND day < :first_day
                        """,
                        account_id=account_id,
                        first_day=_day(now - _KEPT_US),
                    )
        except StoreUnavailable:
            for key, (requests, errors, last_at) in found.items():
                kept = self._found.setdefault(key, [0, 0, last_at])
                kept[0] += requests
                kept[1] += errors
            raise


def counts_of(store: Store, account_id: int) -> list[Count]:
    """Return the requests of the last 30 days by operation, the most frequent first."""
    with store.counters() as counters:
        counters.set_tenant(account_id)
        found = counters.rows_as(
            Count,
            """
            SELECT operation, CAST(sum(requests) AS BIGINT), CAST(sum(errors) AS BIGINT),
                max(last_at)
            FROM request_counts WHERE account_id = :account_id AND day >= :first_day
            GROUP BY operation
            """,
            account_id=account_id,
            first_day=_day(store.clock() - _KEPT_US),
        )
    return sorted(found, key=lambda each: (-each.requests, each.operation))


def _day(moment_us: int) -> str:
    return format_second(moment_us)[:10]
