"""``masthead import``: what a load inserts, changes, leaves alone, and counts."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES
from masthead.errors import BadUsage, NotFound
from masthead.loading.load import load
from masthead.store.books.ownership import BOOKS
from masthead.store.merging import Counts
from tests.loading.publisher import SMALL, Publisher

if TYPE_CHECKING:
    from collections.abc import Callable


def test_every_table_is_loaded_in_files_of_any_order(
    new_publisher: Callable[[], Publisher],
) -> None:
    stored = []
    for names in (sorted(SMALL), sorted(SMALL, reverse=True)):
        publisher = new_publisher()
        folder = publisher.write(SMALL)
        paths = [folder / name for name in names]
        loaded = load(publisher.store, paths, account_id=publisher.account_id)
        assert all(count.inserted for count in loaded.counts.values())
        stored.append(publisher.everything())
    assert stored[0] == stored[1]
    assert all(stored[0][table.name] for table in TABLES if table.name not in BOOKS)


def test_rows_of_one_table_may_stand_in_several_files(publisher: Publisher) -> None:
    folders = [
        publisher.write({"subscribers.csv": "subscriber_id\n1\n"}),
        publisher.write({"subscribers.csv": "subscriber_id\n2\n"}),
        publisher.write({"subscribers.ndjson": '{"subscriber_id":3}'}),
    ]
    loaded = load(publisher.store, folders, account_id=publisher.account_id)
    assert loaded.counts == {"subscribers": Counts(3, 0, 0)}


def test_the_same_files_again_change_nothing_and_make_no_commit(small: Publisher) -> None:
    commits, stored = small.commit_count(), small.everything()
    loaded = small.load(SMALL)
    assert not any(count.inserted or count.changed for count in loaded.counts.values())
    assert all(count.unchanged for count in loaded.counts.values())
    assert small.commit_count() == commits
    assert small.everything() == stored


def test_a_load_that_changes_something_makes_one_commit(small: Publisher) -> None:
    commits = small.commit_count()
    small.load({"subscribers.csv": "subscriber_id,source\n1,web\n2,web\n"})
    assert small.commit_count() == commits + 1


def test_what_is_inserted_changed_and_unchanged_is_counted(small: Publisher) -> None:
    loaded = small.load(
        {
            "subscribers.csv": (
                "subscriber_id,email\n"
                "1,ada@example.org\n"
                "2,benjamin@example.org\n"
                "3,cy@example.org\n"
                "4,di@example.org\n"
            ),
            "subscription_issues.csv": "subscription_id,issue_id\n1,1\n2,1\n",
        }
    )
    assert loaded.counts == {
        "subscribers": Counts(inserted=2, changed=1, unchanged=1),
        "subscription_issues": Counts(inserted=1, changed=0, unchanged=1),
    }
    assert loaded.rejected == {}


def test_nothing_is_deleted(small: Publisher) -> None:
    """decisions, "Rows that a file no longer has"."""
    small.load({name: content.splitlines()[0] + "\n" for name, content in SMALL.items()})
    assert small.table("subscribers")
    assert small.table("mailing_list_entries")


def test_a_column_that_the_file_lacks_stays_as_it_is(small: Publisher) -> None:
    small.load({"subscribers.csv": "subscriber_id,source\n1,web\n"})
    ada = small.table("subscribers")[0]
    assert ada["email"] == "ada@example.org"
    assert ada["renewal_code"] == "AAAAA"
    assert ada["source"] == "web"


def test_an_empty_cell_takes_a_value_away(small: Publisher) -> None:
    small.load({"subscribers.csv": "subscriber_id,email\n1,\n"})
    assert small.table("subscribers")[0]["email"] is None


def test_a_missing_flag_bool_or_double_is_false_or_zero(publisher: Publisher) -> None:
    """rules, "Missing Bool, flag, verified, Double"."""
    publisher.load(
        {
            "subscribers.csv": "subscriber_id\n1\n",
            "orders.csv": "order_id,subscriber_id,is_gift,sub_total\n1,1,,\n",
            "addresses.csv": "address_id,subscriber_id\n1,1\n",
        }
    )
    (order,) = publisher.table("orders")
    assert (order["is_gift"], order["sub_total"], order["tax_total"]) == (0, "0", "0")
    assert publisher.table("addresses")[0]["verified"] == 0


def test_of_a_password_only_the_digest_is_kept(publisher: Publisher) -> None:
    digest = hashlib.md5("pässword".encode(), usedforsecurity=False).hexdigest()
    publisher.load({"subscribers.csv": "subscriber_id,password\n1,pässword\n2,\n"})
    publisher.load({"subscribers.ndjson": '{"subscriber_id":3,"password":"pässword"}'})
    kept = [row["password_md5"] for row in publisher.table("subscribers")]
    assert kept == [digest, None, digest]
    loaded = publisher.load(
        {"subscribers.csv": f"subscriber_id,password_md5\n1,{digest.upper()}\n"}
    )
    assert loaded.counts["subscribers"].unchanged == 1


def test_two_rows_may_swap_their_renewal_codes(small: Publisher) -> None:
    small.load({"subscribers.csv": "subscriber_id,renewal_code\n1,BBBBB\n2,aaaaa\n"})
    assert [row["renewal_code"] for row in small.table("subscribers")] == ["BBBBB", "aaaaa"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_renewal_code_that_one_row_gives_up_another_may_take(
    small: Publisher, order: tuple[int, int]
) -> None:
    """For any keys of the rows, in any order, and for a new or a stored taker."""
    for taker in ("2", "3"):
        code = small.table("subscribers")[0]["renewal_code"]
        lines = (
            f'{{"subscriber_id":1,"renewal_code":"free{taker}"}}\n',
            f'{{"subscriber_id":{taker},"renewal_code":"{code}","source":"x"}}\n',
        )
        small.load({"subscribers.ndjson": "".join(lines[n] for n in order)})
        codes = {row["subscriber_id"]: row["renewal_code"] for row in small.table("subscribers")}
        assert codes[1] == f"free{taker}"
        assert codes[int(taker)] == code


def test_a_renewal_code_that_is_taken_away_another_row_may_take(small: Publisher) -> None:
    lines = '{"subscriber_id":1,"renewal_code":null}\n{"subscriber_id":2,"renewal_code":"AAAAA"}\n'
    loaded = small.load({"subscribers.ndjson": lines})
    assert [row["renewal_code"] for row in small.table("subscribers")] == [None, "AAAAA"]
    assert loaded.counts["subscribers"] == Counts(0, 2, 0)


def test_the_letter_case_of_a_renewal_code_may_change(small: Publisher) -> None:
    small.load({"subscribers.csv": "subscriber_id,renewal_code\n1,aaaaa\n"})
    assert small.table("subscribers")[0]["renewal_code"] == "aaaaa"


def test_a_parent_list_may_stand_in_the_same_file_before_or_after(publisher: Publisher) -> None:
    publisher.load(
        {"list_downloads.csv": "mailing_list_id,parent_mailing_list_id\n1,2\n2,3\n3,\n4,4\n"}
    )
    parents = [row["parent_mailing_list_id"] for row in publisher.table("list_downloads")]
    assert parents == [2, 3, None, 4]


def test_an_item_can_become_a_product_instead_of_a_bundle(small: Publisher) -> None:
    small.load({"order_items.csv": "order_item_id,bundle_id,product_id\n1,,9\n"})
    (item,) = small.table("order_items")
    assert (item["bundle_id"], item["product_id"]) == (None, 9)


def test_words_and_booleans_are_read_in_any_letter_case(small: Publisher) -> None:
    small.load(
        {
            "subscriptions.csv": "subscription_id,type,renew_campaign_active\n1,PRINT,True\n",
            "custom_fields.csv": "field_id,type,allow_other\n1,CheckBox,FALSE\n",
        }
    )
    subscription = small.table("subscriptions")[0]
    assert (subscription["type"], subscription["renew_campaign_active"]) == ("Print", 1)
    field = small.table("custom_fields")[0]
    assert (field["type"], field["allow_other"]) == ("checkbox", 0)


def test_the_greatest_values_are_kept(publisher: Publisher) -> None:
    email = "é" * 50
    publisher.load(
        {
            "subscribers.csv": f"subscriber_id,email\n9223372036854775807,{email}\n",
            "list_downloads.csv": "mailing_list_id,count\n0,-9223372036854775808\n",
        }
    )
    assert publisher.table("subscribers")[0]["subscriber_id"] == 2**63 - 1
    assert publisher.table("subscribers")[0]["email"] == email
    assert publisher.table("list_downloads")[0]["count"] == -(2**63)


def test_data_need_an_account_that_exists(publisher: Publisher) -> None:
    folder = publisher.write(SMALL)
    with pytest.raises(BadUsage, match="say whose data it is"):
        load(publisher.store, [folder], account_id=None)
    with pytest.raises(NotFound, match="there is no account 999999"):
        load(publisher.store, [folder], account_id=999_999)


def test_accounts_are_loaded_by_themselves(publisher: Publisher) -> None:
    folder = publisher.write({**SMALL, "accounts.csv": "account_id\n5\n"})
    with pytest.raises(BadUsage, match="load accounts first, by themselves"):
        load(publisher.store, [folder], account_id=publisher.account_id)
