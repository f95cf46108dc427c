"""Removed records are noted by the commit that removed them last, and those that are back left out.

rules, "Records that are gone".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.store import accounts, deletions
from tests.loading.publisher import SMALL

if TYPE_CHECKING:
    from tests.loading.publisher import Publisher

IDS = {
    "subscriptions": [1, 2],
    "addresses": [1, 2],
    "purchases": [1],
    "listdownloads": [1, 2],
    "orders": [1],
}

each_entity = pytest.mark.parametrize("entity", deletions.REMOVABLE)


def remove_all(publisher: Publisher, entity: str) -> int:
    """Remove all records of an entity; return the id of the commit that did it."""
    table = deletions.REMOVABLE[entity].table
    if entity == "addresses":
        publisher.load({"subscriptions.csv": "subscription_id,mailing_address_id\n1,\n2,\n"})
    publisher.remove(table, *((number,) for number in IDS[entity]))
    return publisher.commit_count()


def removed(publisher: Publisher, entity: str, first: int, account_id: int = 1) -> list[int]:
    with publisher.store.reader() as database:
        database.set_tenant(account_id)
        with database.snapshot():
            return list(deletions.removed(database, entity, account_id, first))


def is_noted(publisher: Publisher, entity: str, first: int) -> bool:
    with publisher.store.reader() as database:
        database.set_tenant(publisher.account_id)
        return deletions.has_noted(database, entity, publisher.account_id, first)


@each_entity
def test_a_removed_record_is_listed_since_its_commit_and_not_later(
    publisher: Publisher, entity: str
) -> None:
    assert removed(publisher, entity, 0) == []
    commit_id = remove_all(publisher, entity)
    assert publisher.table(deletions.REMOVABLE[entity].table) == []
    assert removed(publisher, entity, 0) == IDS[entity]
    assert removed(publisher, entity, commit_id) == IDS[entity]
    assert removed(publisher, entity, commit_id + 1) == []


def test_what_was_removed_comes_in_the_order_of_commits_and_then_of_ids(
    publisher: Publisher,
) -> None:
    publisher.load(
        {"purchases.csv": "purchase_id,subscriber_id\n" + "".join(f"{n},1\n" for n in range(2, 7))}
    )
    for ids in ([6, 4], [1], [5, 2]):
        publisher.remove("purchases", *((number,) for number in ids))
    assert removed(publisher, "purchases", 0) == [4, 6, 1, 2, 5]


@each_entity
def test_a_record_that_comes_back_is_not_listed_until_it_is_removed_again(
    publisher: Publisher, entity: str
) -> None:
    first = remove_all(publisher, entity)
    publisher.load(SMALL)
    assert removed(publisher, entity, 0) == []
    assert is_noted(publisher, entity, first)
    second = remove_all(publisher, entity)
    assert removed(publisher, entity, second) == IDS[entity]
    assert not is_noted(publisher, entity, second + 1)


@pytest.mark.parametrize("entity", ["subscribers", "customfields"])
def test_of_what_is_never_removed_nothing_is_listed(publisher: Publisher, entity: str) -> None:
    remove_all(publisher, "orders")
    assert removed(publisher, entity, 0) == []
    assert not is_noted(publisher, entity, 0)


def test_another_account_sees_no_change(publisher: Publisher) -> None:
    accounts.add_account(publisher.store, {"account_id": 2})
    remove_all(publisher, "orders")
    assert removed(publisher, "orders", 0, account_id=2) == []
