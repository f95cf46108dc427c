"""Lists with filters, against what the filters say of each row, on both databases.

Which way a list is put together depends on how many rows and kinds fit, so the numbers from which
another way is taken are drawn as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.store import accounts, interface_queries, open_store
from tests.long import examples
from tests.store.conftest import new_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store import Connection
    from masthead.store import Store as OpenStore
    from tests.servers import Store

KIND = "account_id, publication_id, type, copies, issues, renew_campaign_active"
COMMITS = {
    "subscribers": {"commit_id": 1, "custom_fields_commit_id": 1},
    "subscriptions": {"commit_id": 1},
}
TYPES = ("Print", "Digital", "Both")
FITS: dict[str, Callable[[dict[str, Any], Any], bool]] = {
    "campaign_active": lambda row, asked: row["renew_campaign_active"] == asked,
    "copies": lambda row, asked: row["copies"] == asked,
    "issues_left": lambda row, asked: row["issues"] == asked,
    "max_copies": lambda row, asked: row["copies"] is not None and row["copies"] <= asked,
    "max_issues_left": lambda row, asked: row["issues"] in range(asked + 1),
    "min_copies": lambda row, asked: row["copies"] is not None and row["copies"] >= asked,
    "min_issues_left": lambda row, asked: (
        row["issues"] is not None and (row["issues"] >= asked or row["issues"] == -1)
    ),
    "publication_id": lambda row, asked: row["publication_id"] == asked,
    "subscriber_id": lambda row, asked: row["subscriber_id"] == asked,
    "type": lambda row, asked: row["type"] == asked,
}
ASKED = {name: st.integers(-1, 4) for name in FITS} | {
    "campaign_active": st.integers(0, 1),
    "type": st.sampled_from(TYPES),
}
NAMES = ("first_name", "last_name", "email", "source", "renewal_code")
TEXTS = ("", "a", "ab", "abc", "abd", "b", "ba", "bab")

_subscriptions = st.lists(
    st.fixed_dictionaries(
        {
            "subscription_id": st.integers(1, 60),
            "subscriber_id": st.integers(1, 3),
            "publication_id": st.integers(1, 2),
            "type": st.sampled_from([None, *TYPES]),
            "copies": st.sampled_from([None, 1, 2, 3]),
            "issues": st.sampled_from([None, -1, 0, 1, 2]),
            "renew_campaign_active": st.integers(0, 1),
        }
    ),
    min_size=5,
    max_size=40,
    unique_by=lambda row: row["subscription_id"],
)
_subscribers = st.lists(
    st.fixed_dictionaries(
        {name: st.sampled_from(TEXTS) for name in NAMES if name != "renewal_code"}
        | {"is_deleted": st.booleans()}
    ),
    min_size=5,
    max_size=25,
)
_page = {"after": st.sampled_from([-1, 0, 5, 30]), "limit": st.sampled_from([1, 2, 3, 5, 100])}


def _some_of(asked: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw few filters at a time: of more, hardly a row would fit all."""
    names = st.lists(st.sampled_from(sorted(asked)), max_size=3, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({n: asked[n] for n in chosen}))


class Shared:
    """A database in which each example has an account of its own."""

    def __init__(self, url: str) -> None:
        """Open it."""
        self.store: OpenStore = open_store(url)
        self.account_id = 0

    def new_account(self, table: str, rows: list[dict[str, Any]]) -> int:
        """Return the id of a new account that holds the rows, and the parents of subscriptions."""
        self.account_id += 1
        accounts.add_account(self.store, {"account_id": self.account_id})
        parents = [{"subscriber_id": number} for number in (1, 2, 3)]
        with self.store.writer() as database, database.transaction():
            if table == "subscriptions":
                self._insert(database, "subscribers", parents)
                self._insert(
                    database, "publications", [{"publication_id": 1}, {"publication_id": 2}]
                )
            self._insert(database, table, rows)
            database.script(
                f"""
                INSERT INTO subscription_kinds ({KIND})
                SELECT DISTINCT {KIND} FROM subscriptions WHERE account_id = {self.account_id}
                """
            )
        return self.account_id

    def _insert(self, database: Connection, table: str, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            values = {"account_id": self.account_id, **row, **COMMITS.get(table, {})}
            names = ", ".join(values)
            places = ", ".join(f":{name}" for name in values)
            database.change(f"INSERT INTO {table} ({names}) VALUES ({places})", **values)


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Shared]:
    """A database of its own."""
    with new_url(store) as url:
        found = Shared(url)
        yield found
        found.store.close()


@examples(30, 750)
@given(
    rows=_subscriptions,
    filters=_some_of(ASKED),
    page=st.fixed_dictionaries(_page),
    few_kinds=st.sampled_from([0, 3, 30]),
    walked=st.sampled_from([1, 10, 20_000]),
)
def test_a_list_of_subscriptions_has_the_first_that_fit_by_ascending_id(
    shared: Shared,
    rows: list[dict[str, Any]],
    filters: dict[str, Any],
    page: dict[str, int],
    few_kinds: int,
    walked: int,
) -> None:
    """rules, "Subscription filters", "Filters that few fit"."""
    account_id = shared.new_account("subscriptions", rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interface_queries, "_FEW_COMBINATIONS", few_kinds)
        patch.setattr(interface_queries, "_SCANNED", walked)
        with shared.store.reader() as database:
            database.set_tenant(account_id)
            found = interface_queries.subscriptions(database, account_id, filters, **page)
    assert [row[0] for row in found] == sorted(
        row["subscription_id"]
        for row in rows
        if row["subscription_id"] > page["after"]
        and all(FITS[name](row, asked) for name, asked in filters.items())
    )[: page["limit"]]


@examples(30, 750)
@given(
    rows=_subscribers,
    filters=_some_of({name: st.sampled_from([*TEXTS, "a*", "ab*", "b*", "*"]) for name in NAMES}),
    page=st.fixed_dictionaries(_page),
    few=st.sampled_from([1, 4, 1_000]),
    walked=st.sampled_from([1, 10, 20_000]),
)
def test_a_search_has_the_first_subscribers_that_fit_by_ascending_id(
    shared: Shared,
    rows: list[dict[str, Any]],
    filters: dict[str, str],
    page: dict[str, int],
    few: int,
    walked: int,
) -> None:
    """rules, "Subscriber search", "Filters that few fit"."""
    stored: list[dict[str, Any]] = [
        {
            "subscriber_id": number,
            "renewal_code": f"a{number}",
            "delete_date": "2026-01-01 10:00:00" if row["is_deleted"] else None,
            **{name: row[name] or None for name in NAMES if name != "renewal_code"},
        }
        for number, row in enumerate(rows, 1)
    ]
    folded = {f"{name}_folded" for name in ("first_name", "last_name")}
    for row in stored:
        row |= {name: row[name.removesuffix("_folded")] for name in folded}
    account_id = shared.new_account("subscribers", stored)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interface_queries, "_FEW_ROWS", few)
        patch.setattr(interface_queries, "_MANY_ROWS", 2 * few)
        patch.setattr(interface_queries, "_SCANNED", walked)
        with shared.store.reader() as database:
            database.set_tenant(account_id)
            found = interface_queries.search_subscribers(database, account_id, filters, **page)
    assert [row[0] for row in found] == [
        row["subscriber_id"]
        for row in stored
        if row["subscriber_id"] > page["after"]
        and row["delete_date"] is None
        and all(_is_found(row[name], asked) for name, asked in filters.items())
    ][: page["limit"]]


def _is_found(value: str | None, asked: str) -> bool:
    """Return whether a search finds a value: the whole of it, its beginning, or that it lacks."""
    if not asked:
        return value is None
    if asked == "*":
        return True
    if asked.endswith("*"):
        return value is not None and value.startswith(asked[:-1])
    return value == asked
