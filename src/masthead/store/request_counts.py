"""The numbers of an account's requests and errors, by day, partner and operation.

A server counts in memory and writes from time to time, so no request waits for a write. The counts
are stored in the counters, which loads do not lock. A power failure loses the last minute's counts.
"""

from collections import Counter
from typing import NamedTuple

from masthead.contract.moments import format_second
from masthead.errors import StoreUnavailable
from masthead.store.database import Store

_MINUTE_US = 60 * 1_000_000
_DAY_US = 24 * 60 * _MINUTE_US
_KEPT_US = 30 * _DAY_US
_ERROR, _SERVER_ERROR = 400, 500

_ADD = """
    INSERT INTO request_counts (
        account_id, day, partner, operation, requests, errors, server_errors, last_at)
    VALUES (
        :account_id, :day, :partner, :operation, :requests, :errors, :server_errors, :last_at)
    ON CONFLICT (account_id, day, partner, operation) DO UPDATE SET
        requests = request_counts.requests + excluded.requests,
        errors = request_counts.errors + excluded.errors,
        server_errors = request_counts.server_errors + excluded.server_errors,
        last_at = excluded.last_at
    """


class Count(NamedTuple):
    """The requests of an operation; ``last_at`` is the last one's time in microseconds."""

    operation: str
    requests: int
    errors: int
    last_at: int


class PartnerCount(NamedTuple):
    """The requests of a partner for an operation.

    ``partner`` is "" for the account's own credentials. ``errors`` have a status of 400 or more,
    and ``server_errors`` are those of them with 500 or more.
    """

    partner: str
    operation: str
    requests: int
    errors: int
    server_errors: int


class PartnerTotal(NamedTuple):
    """All requests of a partner, and the last one's time in microseconds."""

    partner: str
    requests: int
    errors: int
    server_errors: int
    last_at: int


class _Found:
    """The requests of one partner for one operation that are not written yet."""

    __slots__ = ("errors", "last_at", "requests", "server_errors")

    def __init__(self) -> None:
        self.requests = self.errors = self.server_errors = self.last_at = 0

    def add(self, requests: int, errors: int, server_errors: int, last_at: int) -> None:
        self.requests += requests
        self.errors += errors
        self.server_errors += server_errors
        self.last_at = max(self.last_at, last_at)


class RequestCounts:
    """The requests that a server has handled since it last wrote the counts."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str, str], _Found] = {}
        self._written_at = 0

    def note(
        self, account_id: int, operation: str, status: int, now: int, partner: str = ""
    ) -> None:
        """Count a request that got its response at ``now``; a status of 400 or more is an error.

        ``partner`` is the name of the partner who made it, "" for the account's own credentials.
        """
        key = account_id, partner, operation
        count = self._found.get(key)
        if count is None:
            count = self._found[key] = _Found()
        count.add(1, status >= _ERROR, status >= _SERVER_ERROR, now)

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
                for account_id, partner, operation in list(found):
                    count = found[account_id, partner, operation]
                    counters.set_tenant(account_id)
                    counters.rows(
                        _ADD,
                        account_id=account_id,
                        day=_day(count.last_at),
                        partner=partner,
                        operation=operation,
                        requests=count.requests,
                        errors=count.errors,
                        server_errors=count.server_errors,
                        last_at=count.last_at,
                    )
                    del found[account_id, partner, operation]
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
            for key, count in found.items():
                kept = self._found.setdefault(key, _Found())
                kept.add(count.requests, count.errors, count.server_errors, count.last_at)
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


def totals_of(store: Store, account_id: int) -> list[PartnerTotal]:
    """Return the requests of the last 30 days by partner, the most frequent first."""
    with store.counters() as counters:
        counters.set_tenant(account_id)
        found = counters.rows_as(
            PartnerTotal,
            """
            SELECT partner, CAST(sum(requests) AS BIGINT), CAST(sum(errors) AS BIGINT),
                CAST(sum(server_errors) AS BIGINT), max(last_at)
            FROM request_counts WHERE account_id = :account_id AND day >= :first_day
            GROUP BY partner
            """,
            account_id=account_id,
            first_day=_day(store.clock() - _KEPT_US),
        )
    return sorted(found, key=lambda each: (-each.requests, each.partner))


def counts_of_day(store: Store, account_id: int, day: str) -> list[PartnerCount]:
    """Return the requests of a day (in UTC) by partner and operation.

    ``day`` is ``YYYY-MM-DD``. The partner with the most errors comes first, then that with the most
    requests; within a partner, operations have the same order.
    """
    with store.counters() as counters:
        counters.set_tenant(account_id)
        found = counters.rows_as(
            PartnerCount,
            """
            SELECT partner, operation, requests, errors, server_errors
            FROM request_counts WHERE account_id = :account_id AND day = :day
            """,
            account_id=account_id,
            day=day,
        )
    errors: Counter[str] = Counter()
    requests: Counter[str] = Counter()
    for each in found:
        errors[each.partner] += each.errors
        requests[each.partner] += each.requests
    return sorted(
        found,
        key=lambda each: (
            *(-errors[each.partner], -requests[each.partner], each.partner),
            *(-each.errors, -each.requests, each.operation),
        ),
    )


def _day(moment_us: int) -> str:
    return format_second(moment_us)[:10]
