"""Ways in which a change feed can be wrong, each of which can be planted into the running one.

Every one is a mistake that somebody could make, and that a test of single polls may not see. Some
are mistakes of a client. A plant gets what undoes it, and the clock of the schedule that runs.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, nullcontext
from itertools import product
from typing import TYPE_CHECKING, Any

from masthead.api.operations import change_feed as feed
from masthead.api.operations import deletions
from masthead.contract.moments import format_moment, http_date, parse_moment
from masthead.databases.postgresql import connection as postgresql
from masthead.store import changes as queries
from masthead.store import commits, epochs, merging, removing
from masthead.store.postgresql_connection import PostgresStoreConnection
from masthead.store.sqlite import SqliteStoreConnection
from tests.feed import client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

    from masthead.api.http.streaming import Content
    from masthead.contract.records import Table
    from masthead.store import Connection

    Now = Callable[[], int]
    Plant = Callable[[pytest.MonkeyPatch, Now], None]


def _sql(pattern: str, by: str) -> Plant:
    """Return what lets the store run other SQL wherever ``pattern`` stands in a statement."""

    def plant(patch: pytest.MonkeyPatch, _now: Now) -> None:
        for kind, name in product(
            (SqliteStoreConnection, PostgresStoreConnection), ("rows", "change", "stream")
        ):
            run = getattr(kind, name)

            def other(self: Connection, sql: str, /, run: Any = run, **values: Any) -> Any:
                return run(self, re.sub(pattern, by, sql), **values)

            patch.setattr(kind, name, other)

    return plant


def _without_dependents(table: str) -> Plant:
    def plant(patch: pytest.MonkeyPatch, _now: Now) -> None:
        patch.setattr(merging, "_HAVE_DEPENDENTS", merging._HAVE_DEPENDENTS - {table})

    return plant


def _removed_unmarked(table: str) -> Plant:
    def plant(patch: pytest.MonkeyPatch, _now: Now) -> None:
        mark = removing.Removal._mark

        def other(self: removing.Removal, removed: Table, commit_id: int) -> None:
            if removed.name != table:
                mark(self, removed, commit_id)

        patch.setattr(removing.Removal, "_mark", other)

    return plant


def _answers(
    headers: Callable[[feed.FeedQuery, Now], dict[str, str]], *, of_deletions_alone: bool = False
) -> Plant:
    """Return what replaces headers of the feed's answers, after their snapshot was taken."""

    def plant(patch: pytest.MonkeyPatch, now: Now) -> None:
        opened = feed.opened

        @contextmanager
        def other(query: feed.FeedQuery, body: feed.Body) -> Iterator[Content]:
            with opened(query, body) as content:
                if of_deletions_alone and body is not deletions._body:
                    yield content
                    return
                yield content._replace(headers={**content.headers, **headers(query, now)})

        patch.setattr(feed, "opened", other)

    return plant


def _header_of_later(query: feed.FeedQuery, now: Now) -> dict[str, str]:
    now()
    with query.service.store.reader() as database:
        database.set_tenant(query.account_id)
        newest = commits.position_of(database, query.account_id).newest_stamp
    return {"Masthead-Changes-Through": format_moment(newest + 1)}


def _header_of_clock(_query: feed.FeedQuery, now: Now) -> dict[str, str]:
    return {"Masthead-Changes-Through": format_moment(now())}


def _date_of_later(_query: feed.FeedQuery, now: Now) -> dict[str, str]:
    now()
    return {"Date": http_date(now())}


def _stamps_before_the_commit(patch: pytest.MonkeyPatch, now: Now) -> None:
    begin = commits.begin_commit

    def begun(database: Connection, account_id: int) -> int:
        newest = commits.position_of(database, account_id).newest_stamp
        commit_id = begin(database, account_id)
        commits.stamp(database, account_id, commit_id, max(now(), newest + 1))
        return commit_id

    patch.setattr(commits, "begin_commit", begun)


def _stamps_of_the_clock_alone(patch: pytest.MonkeyPatch, now: Now) -> None:
    stamp = commits.stamp

    def stamped(database: Connection, account_id: int, commit_id: int, _visible_at: int) -> None:
        stamp(database, account_id, commit_id, _not_taken(database, account_id, now()))

    patch.setattr(commits, "stamp", stamped)


def _stamps_without_the_lock(patch: pytest.MonkeyPatch, _now: Now) -> None:
    patch.setattr(PostgresStoreConnection, "lock_stamps", PostgresStoreConnection.set_tenant)


def _stamps_read_before_the_lock(patch: pytest.MonkeyPatch, _now: Now) -> None:
    stamp_waiting, stamp = commits.stamp_waiting, commits.stamp
    known: list[int] = []

    def waiting(database: Connection, account_id: int) -> None:
        database.set_tenant(account_id)
        newest = commits.position_of(database, account_id).newest_stamp
        known.append(max(database.now(), newest + 1))
        stamp_waiting(database, account_id)
        known.pop()

    def stamped(database: Connection, account_id: int, commit_id: int, visible_at: int) -> None:
        moment = _not_taken(database, account_id, known[-1]) if known else visible_at
        stamp(database, account_id, commit_id, moment)

    patch.setattr(commits, "stamp_waiting", waiting)
    patch.setattr(commits, "stamp", stamped)


def _not_taken(database: Connection, account_id: int, moment: int) -> int:
    """Return the moment or the next one that no commit of the account has for its stamp."""
    taken = "SELECT 1 FROM commits WHERE account_id = :account_id AND visible_at = :moment"
    while database.row(taken, account_id=account_id, moment=moment):
        moment += 1
    return moment


def _no_snapshot(patch: pytest.MonkeyPatch, _now: Now) -> None:
    patch.setattr(SqliteStoreConnection, "snapshot", lambda _: nullcontext())
    patch.setattr(postgresql, "REPEATABLE_READ", "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY")


def _no_epoch(patch: pytest.MonkeyPatch, _now: Now) -> None:
    patch.setattr(epochs, "start_epochs", lambda _: 0)


def _no_offset(patch: pytest.MonkeyPatch, _now: Now) -> None:
    patch.setattr(feed, "parse_moment", lambda text: parse_moment(text[: -len("+00:00")]))


def _no_look_at_answers(patch: pytest.MonkeyPatch, _now: Now) -> None:
    patch.setitem(queries._COLUMNS, "customfields", ("subscribers", "commit_id"))


def _client(name: str, other: Callable[..., Any]) -> Plant:
    """Return what lets clients do something else with their answers."""
    return lambda patch, _now: patch.setattr(client, name, other)


def _deletions_first(
    records: client.Records, changed: client.Records, deleted: set[client.Key]
) -> client.Records:
    return {key: r for key, r in records.items() if key not in deleted} | changed


def _changes_alone(
    records: client.Records, changed: client.Records, _deleted: set[client.Key]
) -> client.Records:
    return records | changed


def _later_of(changes: client.Answer, gone: client.Answer) -> int:
    return max(changes.next_time, gone.next_time)


def _time_of_deletions(_changes: client.Answer, gone: client.Answer) -> int:
    return gone.next_time


FAULTS: dict[str, Plant] = {
    "a stamp is taken before the commit": _stamps_before_the_commit,
    "a stamp is what the clock says, though a newer one exists": _stamps_of_the_clock_alone,
    "> stands for >=": _sql(r"visible_at >= :since", "visible_at > :since"),
    "changes without a stamp are left out": _sql(r"visible_at IS NULL(?=\),\s+\(SELECT)", "FALSE"),
    "the header is read after the snapshot": _answers(_header_of_later),
    "the header is what the clock says": _answers(_header_of_clock),
    "Date is read after the snapshot": _answers(_date_of_later),
    "the entities of a response come from different snapshots": _no_snapshot,
    "the snapshot leaves deleted subscribers out": _sql(
        r"(\bs\.commit_id >= :first_commit)", r"\1 AND (:first_commit > 0 OR s.delete_date IS NULL)"
    ),
    "rows carry the id of the commit before": _sql(
        "RETURNING commit_id", "RETURNING CASE commit_id WHEN 1 THEN 1 ELSE commit_id - 1 END"
    ),
    "a deletion is no change": _sql(
        r'("delete_date" = s."delete_date"), commit_id = :commit_id', r"\1, commit_id = o.commit_id"
    ),
    "a value where none was is no change": _sql("IS DISTINCT FROM", "<>"),
    "hiding the digests is no change": _sql(
        r"(UPDATE subscribers SET commit_id = :commit_id WHERE account_id = :account_id)$",
        r"\1 AND FALSE",
    ),
    "a renamed field changes no answers": _without_dependents("custom_fields"),
    "a renamed option changes no answers": _without_dependents("custom_field_options"),
    "an answer changes no record of custom fields": _without_dependents("custom_field_answers"),
    "an item changes no order": _without_dependents("order_items"),
    "a short look at the responses asks for the wrong commit": _no_look_at_answers,
    "an item that goes changes no order": _removed_unmarked("order_items"),
    "an answer that goes changes no record of custom fields": _removed_unmarked(
        "custom_field_answers"
    ),
    "a subscriber who is missing is no change": _sql(
        r"(removed_at = '[^']+',\s+commit_id = ):commit_id", r"\1commit_id + 0 * :commit_id"
    ),
    "a removal is not noted": _sql(r"(\) AS r\s+WHERE) TRUE", r"\1 FALSE"),
    "a removal carries the id of the commit before": _sql(r"(r\.record_id, :commit_id)", r"\1 - 1"),
    "a record that is removed again keeps its first removal": _sql(
        r"DO UPDATE SET commit_id = excluded\.commit_id", "DO NOTHING"
    ),
    "a record that has come back is listed as removed": _sql(
        r"AND \(SELECT o\.\w+ FROM \w+ AS o\s[^)]+\) IS NULL", ""
    ),
    "removals without a stamp are left out": _sql(
        r"(d\.commit_id >= :first_commit)",
        r"""\1 AND (SELECT c.visible_at FROM commits AS c
            WHERE c.account_id = :account_id AND c.commit_id = d.commit_id) IS NOT NULL""",
    ),
    "> stands for >= of a removal": _sql(r"d\.commit_id >= :first_", "d.commit_id > :first_"),
    "a short look at the removals misses the first": _sql(
        r"(entity = :entity AND commit_id) >= :first_", r"\1 > :first_"
    ),
    "the header of the deletions is read after the snapshot": _answers(
        _header_of_later, of_deletions_alone=True
    ),
    "the header of the deletions is what the clock says": _answers(
        _header_of_clock, of_deletions_alone=True
    ),
    "a client applies the deletions before the changes": _client("apply", _deletions_first),
    "a client goes on from the later of both times": _client("next_of", _later_of),
    "a client goes on from the time of the deletions": _client("next_of", _time_of_deletions),
    "a client takes no deletions": _client("apply", _changes_alone),
    "a restored backup starts no epoch": _no_epoch,
    "the offset of a time is ignored": _no_offset,
}
"""How each is planted, by what is wrong then."""

FAULTS_OF_SEVERAL_WRITERS: dict[str, Plant] = {
    "stamps are taken without a lock": _stamps_without_the_lock,
    "the newest stamp and the clock are read before the lock": _stamps_read_before_the_lock,
}
"""Those that do no harm where one transaction at a time can write."""
