"""The kinds of subscriptions, by which a filter is known to select nothing.

A property, on both databases: after any loads, a filter selects exactly the rows that match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.store import interface_queries, open_store
from tests.loading.publisher import SMALL, Publisher
from tests.long import examples
from tests.store.conftest import new_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store import Store as OpenStore
    from tests.servers import Store

COLUMNS = ("publication_id", "type", "copies", "issues", "renew_campaign_active")
PARENTS = {name: SMALL[name] for name in ("publications.csv", "subscribers.csv")}

_rows = st.fixed_dictionaries(
    {
        "subscription_id": st.integers(1, 4),
        "publication_id": st.integers(1, 2),
        "type": st.sampled_from(["Print", "Digital", "Both"]),
        "copies": st.integers(1, 3),
        "issues": st.integers(-1, 2),
        "renew_campaign_active": st.integers(0, 1),
    }
)
_loads = st.lists(
    st.lists(_rows, min_size=1, max_size=4, unique_by=lambda row: row["subscription_id"]),
    min_size=1,
    max_size=3,
)


@pytest.fixture(scope="module")
def shared(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A database in which each example has an account of its own."""
    with new_url(store) as url:
        found = Shared(url, tmp_path_factory.mktemp("kinds"))
        yield found
        found.store.close()


class Shared:
    """A database, and the next account."""

    def __init__(self, url: str, folder: Any) -> None:
        """Open it."""
        self.store: OpenStore = open_store(url)
        self._url, self._folder = url, folder
        self._account_id = 0

    def publisher(self) -> Publisher:
        """Return a new account with publications and subscribers."""
        self._account_id += 1
        publisher = Publisher(self._url, self._folder, self._account_id, store=self.store)
        publisher.load(PARENTS)
        return publisher


def file_of(rows: list[dict[str, int | str]]) -> str:
    names = ["subscription_id", *COLUMNS]
    lines = [",".join(["1", *(str(row[name]) for name in names)]) for row in rows]
    return "\n".join([",".join(["subscriber_id", *names]), *lines, ""])


@examples(4, 150)
@given(loads=_loads)
def test_each_kind_of_subscription_is_known_once(
    shared: Shared, loads: list[list[dict[str, int | str]]]
) -> None:
    """rules, "Filters that select nothing"."""
    publisher = shared.publisher()
    for rows in loads:
        publisher.load({"subscriptions.csv": file_of(rows)})
    with shared.store.writer() as database:
        names = ", ".join(COLUMNS)
        there, known = (
            database.rows(f"SELECT {names} FROM {table} WHERE account_id = :id", id=account_id)
            for table, account_id in (
                ("subscriptions", publisher.account_id),
                ("subscription_kinds", publisher.account_id),
            )
        )
    assert set(there) <= set(known)
    assert len(known) == len(set(known))


@examples(4, 150)
@given(
    loads=_loads,
    filters=st.dictionaries(
        st.sampled_from(["copies", "issues_left", "min_copies", "max_issues_left"]),
        st.integers(-1, 4),
        min_size=1,
    ),
)
def test_a_filter_selects_the_matching_records_after_any_loads(
    shared: Shared, loads: list[list[dict[str, int | str]]], filters: dict[str, int]
) -> None:
    """interface, operation 7."""
    publisher = shared.publisher()
    stored: dict[int, dict[str, Any]] = {}
    for rows in loads:
        publisher.load({"subscriptions.csv": file_of(rows)})
        stored |= {int(row["subscription_id"]): row for row in rows}
    fits = {
        "copies": lambda row, asked: row["copies"] == asked,
        "issues_left": lambda row, asked: row["issues"] == asked,
        "min_copies": lambda row, asked: row["copies"] >= asked,
        "max_issues_left": lambda row, asked: -1 != row["issues"] <= asked,
    }
    with shared.store.reader() as database:
        database.set_tenant(publisher.account_id)
        found = interface_queries.subscriptions(
            database, publisher.account_id, filters, after=0, limit=100
        )
    assert [row[0] for row in found] == sorted(
        number
        for number, row in stored.items()
        if all(fits[name](row, asked) for name, asked in filters.items())
    )
