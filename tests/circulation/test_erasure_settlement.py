"""Readers who are erased while the books have issues or money for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import erasure, issues, orders, subscribers
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import BadInput
from masthead.store import audit
from masthead.store.backups import back_up, restore_backup
from tests.circulation.desk import Desk, at_desk
from tests.circulation.holding import check_money
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from masthead.store.database import Value
    from tests.servers import Store


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """Ada has paid 36.00 and 2.52 tax for 12 issues of Tide, of which one has come."""
    with at_desk(store) as found:
        found.to("2026-01-15")
        found.put("publications", publication_id=1, name="Tide")
        found.put("issues", issue_id=1, publication_id=1, name="1", date="2026-02-01")
        found.put("issues", issue_id=2, publication_id=1, name="2", date="2026-03-01")
        found.put("subscribers", subscriber_id=1, first_name="Ada", last_name="Ames")
        found.put("bundles", bundle_id=1, name="Year", price=3600, tax=252)
        line: dict[str, Value] = {"issues": 12, "type": "Digital", "copies": 1, "price": 3600}
        found.put("bundle_lines", bundle_id=1, line_number=1, publication_id=1, **line)
        orders.place(found.books, Order(Person(1), [Item(1)], is_paid=True))
        issues.close(found.books, 1)
        yield found


def test_a_reader_with_issues_left_is_erased_only_if_it_is_said_what_becomes_of_them(
    desk: Desk,
) -> None:
    """decisions, "Readers who are erased or deleted": what is left is listed, nothing changed."""
    before = desk.everything()
    with pytest.raises(BadInput) as refusal:
        erasure.erase(desk.books, 1)
    assert "Tide: 11 issues left, 33.00 USD unearned" in str(refusal.value)
    assert refusal.value.code == "not_settled"
    assert desk.everything() == before


@pytest.mark.parametrize("money", ["refund", "earn"])
def test_what_is_left_is_refunded_or_earned_and_then_nothing_is(
    desk: Desk, money: erasure.Money
) -> None:
    """One operation, one entry of the audit log: and no later issue earns or comes."""
    done = erasure.erase(desk.books, 1, money)
    assert (done.refunded, done.earned) == ((3531, 0) if money == "refund" else (0, 3300))
    assert done.blanked["subscribers"] == 1
    assert desk.table("subscribers")[0]["last_name"] is None
    found = desk.subscription(1)
    assert (found["cancelled_on"], found["issues"]) == ("2026-01-15", 0)
    assert found["unearned_revenue"] == "0.00"
    check_money(desk)
    revenue = desk.table("revenue")
    assert issues.close(desk.books, 2).entries == 0
    assert desk.table("revenue") == revenue
    with desk.store.writer() as database:
        *_, erased, _ = audit.entries(database, account_id=1)
    assert "erased subscriber 1" in erased.summary
    assert ("35.31 USD was refunded" in erased.summary) == (money == "refund")


def test_who_has_nothing_left_is_erased_without_a_word(desk: Desk) -> None:
    """A donor, say: what was given goes on."""
    desk.put("subscribers", subscriber_id=2, last_name="Bond")
    assert erasure.erase(desk.books, 2).ended == []
    assert desk.subscription(1)["issues"] == 11


@ON_SQLITE
def test_a_restore_names_who_was_erased_and_has_issues_or_money_again(
    desk: Desk, tmp_path: Path
) -> None:
    """rules, "Restored backups: the erased": what becomes of it is said once more."""

    def advance(_done: int, _all: int) -> None:
        pass

    desk.put("subscribers", subscriber_id=2, last_name="Bond")
    back_up(desk.store, tmp_path / "backup", advance=advance)
    erasure.erase(desk.books, 1, "earn")
    erasure.erase(desk.books, 2)
    desk.store.close()
    restored = restore_backup(desk.store, tmp_path / "backup", replace=True, advance=advance)
    assert restored.erased == {1: [1, 2]}
    assert restored.left == {1: [1]}
    desk.store.open()
    assert erasure.erase(desk.books, 1, "earn").earned == 3300


def test_the_records_that_were_merged_into_a_reader_are_erased_too(desk: Desk) -> None:
    """decisions, "Personal data: erasing"; the audit entry names each of them."""
    for number in (2, 3):
        desk.put(
            "subscribers", subscriber_id=number, first_name="Quill", email=f"{number}@x.example"
        )
    subscribers.merge(desk.books, 1, 2)
    done = erasure.erase(desk.books, 1, "earn")
    assert done.blanked["subscribers"] == 2
    whom = "erased subscriber 1 and, merged into it, subscriber 2: blanked 2 of subscribers, "
    assert done.sentence.startswith(whom)
    with desk.store.writer() as connection:
        (found, *_), _since = audit.changes_of(connection, 1, {"subscriber": [2]}, limit=5)
    assert found.summary == done.sentence
    names = {row["subscriber_id"]: row["first_name"] for row in desk.table("subscribers")}
    assert names == {1: None, 2: None, 3: "Quill"}
    assert [row["subscriber_id"] for row in desk.table("erasures")] == [1, 2]
