"""The history of the demonstration."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput
from masthead.sample_data.demo_history import SAMPLE, find_sample, write_history
from masthead.sample_data.generate import REFERENCE_DATE
from tests.loading.made_up import Tables, assert_fits, by_key, read_tables
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from pathlib import Path


def loaded_in_turn(folders: list[Path]) -> list[Tables]:
    """Return how all stands after each folder, having asserted that each could be loaded."""
    stands: list[Tables] = []
    for folder in folders:
        stands.append(assert_fits(read_tables(folder), stands[-1] if stands else None))
    return stands


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_history(tmp_path_factory.mktemp("history"))


@pytest.fixture(scope="module")
def stands(folders: list[Path]) -> list[Tables]:
    return loaded_in_turn(folders)


def test_there_is_a_folder_for_each_of_ten_nights_in_order(folders: list[Path]) -> None:
    assert [folder.name for folder in folders] == [f"night-{n:02}" for n in range(1, 11)]


def test_all_nights_together_have_exactly_the_subscribers_asked_for(stands: list[Tables]) -> None:
    assert len(stands[-1]["subscribers"]) == 2000


def test_the_first_night_brings_every_table_and_most_of_the_subscribers(
    folders: list[Path], stands: list[Tables]
) -> None:
    assert len(list(folders[0].iterdir())) == 20
    assert len(stands[0]["subscribers"]) > 1800


def test_each_later_night_is_small_and_brings_new_and_changed_rows(
    folders: list[Path], stands: list[Tables]
) -> None:
    for folder, before in zip(folders[1:], stands, strict=False):
        tonight = read_tables(folder)
        assert all(tonight.values())
        for table in ("subscribers", "addresses", "subscriptions", "orders", "purchases"):
            known = by_key(table, before[table])
            new = [key for key in by_key(table, tonight[table]) if key not in known]
            assert 0 < len(new) < 50
        for table in ("addresses", "subscriptions"):
            known = by_key(table, before[table])
            found = by_key(table, tonight[table])
            assert any(key in known and known[key] != row for key, row in found.items())


def test_an_issue_that_comes_out_on_a_nights_day_is_received(
    folders: list[Path], stands: list[Tables]
) -> None:
    weekly = {i["issue_id"]: i["date"] for i in stands[-1]["issues"] if i["publication_id"] == "2"}
    friday = (REFERENCE_DATE - timedelta(2)).isoformat()
    received = read_tables(folders[-3])["subscription_issues"]
    on_friday = [row for row in received if weekly.get(row["issue_id"]) == friday]
    subscriptions = by_key("subscriptions", stands[-3]["subscriptions"])
    assert len(on_friday) > 100
    for row in on_friday:
        subscription = subscriptions[row["subscription_id"],]
        assert subscription["publication_id"] == "2"
        assert subscription["date_created"] <= friday <= (subscription["date_expired"] or friday)


def test_a_renewal_adds_issues_and_moves_the_end_of_the_subscription(
    folders: list[Path], stands: list[Tables]
) -> None:
    tonight = read_tables(folders[4])
    before = by_key("subscriptions", stands[3]["subscriptions"])
    renewed = [
        (before[key], row)
        for key, row in by_key("subscriptions", tonight["subscriptions"]).items()
        if key in before
    ]
    for old, new in renewed:
        assert int(new["issues"]) > int(old["issues"])
        assert new["date_expired"] > old["date_expired"]
        assert new["date_last_renewed"] == (REFERENCE_DATE - timedelta(days=5)).isoformat()
        assert new["last_purchase_id"] in {row["purchase_id"] for row in tonight["purchases"]}


def test_some_nights_bring_a_mailing_list_with_its_entries(folders: list[Path]) -> None:
    lists = [
        (found, tables["mailing_list_entries"])
        for tables in map(read_tables, folders[1:])
        for found in tables.get("list_downloads", [])
    ]
    assert len(lists) == 3
    for found, entries in lists:
        assert int(found["count"]) == len(entries) > 0
        assert {entry["mailing_list_id"] for entry in entries} == {found["mailing_list_id"]}


def test_some_nights_a_subscriber_leaves(stands: list[Tables]) -> None:
    deleted = [sum(bool(s["delete_date"]) for s in tables["subscribers"]) for tables in stands]
    assert deleted[0] < deleted[-1]
    assert deleted == sorted(deleted)


def test_nothing_happens_after_the_night_that_loads_it(stands: list[Tables]) -> None:
    for night, tables in enumerate(stands):
        tomorrow = (REFERENCE_DATE - timedelta(days=9 - night - 1)).isoformat()
        assert all(order["order_date"] < tomorrow for order in tables["orders"])
        assert all(found["date_created"] < tomorrow for found in tables["list_downloads"])
        assert all(found["date_created"] < tomorrow for found in tables["subscriptions"])
        assert all(found["delete_date"] < tomorrow for found in tables["subscribers"])


def test_the_same_seed_gives_the_same_bytes(folders: list[Path], tmp_path: Path) -> None:
    again = write_history(tmp_path)
    for one, other in zip(folders, again, strict=True):
        names = sorted(path.name for path in one.iterdir())
        assert names == sorted(path.name for path in other.iterdir())
        assert all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_the_sample_is_that_of_the_history() -> None:
    """It changes with the history: write here what this test says into SAMPLE."""
    assert find_sample() == SAMPLE


@pytest.mark.parametrize(
    "last_night",
    [
        date(2024, 2, 29),
        *(
            pytest.param(night, marks=ONLY_LONG)
            for night in (REFERENCE_DATE, date(2026, 12, 31), date(2031, 3, 9))
        ),
    ],
    ids=str,
)
def test_the_sample_is_valid_for_any_last_night(last_night: date, tmp_path: Path) -> None:
    stands = loaded_in_turn(write_history(tmp_path, last_night=last_night))[-1]
    shown = SAMPLE
    subscriber_id = str(shown.subscriber_id)
    subscriber = by_key("subscribers", stands["subscribers"])[subscriber_id,]
    assert subscriber["email"] == shown.email
    assert subscriber["password_md5"] == hashlib.md5(shown.password.encode()).hexdigest()
    assert subscriber["renewal_code"] == shown.renewal_code
    assert not subscriber["delete_date"]

    own = {
        table: [row for row in stands[table] if row["subscriber_id"] == subscriber_id]
        for table in ("addresses", "subscriptions", "orders", "custom_field_answers")
    }
    assert shown.postal_code in {address["zip_code"] for address in own["addresses"]}
    assert str(shown.order_id) in {order["order_id"] for order in own["orders"]}
    assert own["custom_field_answers"]
    receiving = {row["subscription_id"] for row in stands["subscription_issues"]}
    assert str(shown.publication_id) in {
        subscription["publication_id"]
        for subscription in own["subscriptions"]
        if subscription["subscription_id"] in receiving
    }
    assert str(shown.order_id) in {item["order_id"] for item in stands["order_items"]}
    assert str(shown.mailing_list_id) in {
        entry["mailing_list_id"] for entry in stands["mailing_list_entries"]
    }


def test_a_second_history_does_not_mix_with_the_first(tmp_path: Path) -> None:
    write_history(tmp_path)
    with pytest.raises(BadInput, match="night-01 is not empty"):
        write_history(tmp_path)
