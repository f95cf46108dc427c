"""What the tests of query plans ask of a database, and their data."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from masthead.loading.checks import check_batch
from masthead.loading.files import find_files, read_batches
from masthead.store import (
    accounts,
    commits,
    erasing,
    interface_queries,
    login_candidates,
    merging,
    staged_checks,
)
from masthead.store.staging import staging_for
from masthead.store.subscriber_data import data_of
from tests.loading.publisher import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store import Connection
    from tests.loading.publisher import Publisher

    Statement = tuple[str, dict[str, Any]]

POINT_LOOKUPS: dict[str, Callable[[Connection], object]] = {
    "one account": lambda database: accounts.get_account(database, 1),
    "settings": lambda database: accounts.settings_of(database, 1),
    "hidden digests": lambda database: accounts.hides_password_md5(database, 1),
    "order": lambda database: interface_queries.order(database, 1, 1),
    "answers": lambda database: interface_queries.answers_of(database, 1, 1),
    "login by email": lambda database: login_candidates.login_candidates(
        database, 1, "ada@example.org", password_md5="x", today="2026-11-20"
    ),
    "login by code": lambda database: login_candidates.login_candidates(
        database, 1, "AAAAA", password_md5="x", today="2026-11-20"
    ),
    "received issues": lambda database: list(
        interface_queries.received_subscriptions(database, 1, 1)
    ),
    "mailing list": lambda database: list(
        interface_queries.mailing_list_entries(database, 1, 1) or ()
    ),
    "subscriptions of a subscriber": lambda database: interface_queries.subscriptions(
        database, 1, {"subscriber_id": 1}, after=0, limit=100
    ),
    "position": lambda database: commits.position_of(database, 1, 5),
}
OF_ONE_SUBSCRIBER: dict[str, Callable[[Connection], object]] = {
    "erased": lambda database: erasing.blank(database, 1, 5, ":subscriber_id", subscriber_id=1),
    "data": lambda database: data_of(database, 1, 1),
}
SEARCHED = ("email", "first_name", "last_name", "renewal_code", "source")
CHANGES = {
    name: content.replace("Tide", "Ebb")
    .replace("Spring", "Easter")
    .replace("AAAAA", "ZZZZZ")
    .replace("Salem", "Boise")
    .replace("Print", "Digital")
    .replace("Your", "The")
    .replace("Farming", "Farms")
    .replace("10|11", "10")
    .replace("10.5", "11.5")
    .replace("March", "April")
    .replace("Mug", "Cup")
    .replace("effort,issues_left\n1,1,3", "effort,issues_left\n1,1,2")
    .replace("is_grace\n1,1,0", "is_grace\n1,1,1")
    for name, content in SMALL.items()
}


@contextmanager
def statements(database: Connection) -> Iterator[list[Statement]]:
    """Collect the statements that are run on the connection, with their values."""
    found: list[Statement] = []

    def keeping(ask: Callable[..., Any]) -> Callable[..., Any]:
        def kept(sql: str, /, **values: Any) -> Any:
            if sql.split(maxsplit=1)[0] in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}:
                found.append((sql, values))
            return ask(sql, **values)

        return kept

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "rows", keeping(database.rows))
        patch.setattr(database, "stream", keeping(database.stream))
        if database.dialect == "postgresql":  # on SQLite these are rows as any
            patch.setattr(database, "change", keeping(database.change))
            patch.setattr(database, "rows_planned", keeping(database.rows_planned))
        yield found


@contextmanager
def load_in_steps(
    publisher: Publisher, files: dict[str, str], *, discard: bool
) -> Iterator[tuple[Connection, list[Statement]]]:
    """Load the files, and give the statements of checking and merging while all is still there."""
    with (
        publisher.store.writer() as database,
        staging_for(database, publisher.account_id) as staging,
    ):
        with staging.filling():
            for number, file in enumerate(find_files([publisher.write(files)])):
                for batch in read_batches(file):
                    checked = check_batch(file.table, batch)
                    staging.add(file.table, number, checked.columns, checked.rows)
        with suppress(_NotWrittenError), database.transaction():
            database.lock_account(publisher.account_id)
            with statements(database) as found:
                erasing.blank_staged(staging)
                staged_checks.check(staging, discard=discard)
                merging.merge(staging, lambda _doing: None)
            yield database, found
            raise _NotWrittenError


class _NotWrittenError(Exception):
    """Ends a load that was only to be looked at."""
