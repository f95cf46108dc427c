"""Single records are removed, all that are named or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES, TABLES_BY_NAME
from masthead.errors import BadInput, NotFound
from masthead.store import audit, removing
from tests.loading.changed import marked_since, noted_since, stamps_of

if TYPE_CHECKING:
    from tests.loading.publisher import Publisher

ACTOR = audit.Actor("ada", "remove")


def remove(publisher: Publisher, name: str, *keys: tuple[int, ...]) -> dict[str, int]:
    """Remove records of a table."""
    table = TABLES_BY_NAME[name]
    return removing.remove_records(publisher.store, 1, table, keys, by=ACTOR)


def summaries(publisher: Publisher) -> list[str]:
    """Return what the audit log says of removals."""
    with publisher.store.writer() as database:
        return [entry.summary for entry in audit.entries(database) if entry.command == "remove"]


@pytest.mark.parametrize(
    ("name", "key", "gone", "marked", "noted"),
    [
        ("bundles", (7,), {"bundle_lines": 1, "reader_bundles": 1, "bundles": 1}, {}, {}),
        ("bundle_lines", (7, 1), {"bundle_lines": 1}, {}, {}),
        ("products", (1,), {"products": 1}, {}, {}),
        ("classes", (1,), {"classes": 1}, {}, {}),
        ("cancellation_reasons", (1,), {"cancellation_reasons": 1}, {}, {}),
        ("renewal_efforts", (1, 1), {"renewal_efforts": 1}, {}, {}),
        ("orders", (1,), {"order_items": 1, "orders": 1}, {}, {"orders": [1]}),
        ("order_items", (1,), {"order_items": 1}, {"orders": [1]}, {}),
        (
            "subscriptions",
            (1,),
            {
                "complaints": 1,
                "reader_changes": 1,
                "reader_requests": 1,
                "mailing_list_entries": 1,
                "subscription_issues": 1,
                "subscriptions": 1,
            },
            {"list_downloads": [1]},
            {"subscriptions": [1]},
        ),
        ("purchases", (1,), {"purchases": 1}, {}, {"purchases": [1]}),
        ("list_downloads", (2,), {"list_downloads": 1}, {}, {"listdownloads": [2]}),
        ("mailing_list_entries", (1, 1), {"mailing_list_entries": 1}, {"list_downloads": [1]}, {}),
        ("subscription_issues", (1, 1), {"subscription_issues": 1}, {}, {}),
        (
            "issues",
            (1,),
            {"complaints": 1, "reader_requests": 1, "subscription_issues": 1, "issues": 1},
            {},
            {},
        ),
        ("notes", (1,), {"notes": 1}, {}, {}),
        ("complaints", (1,), {"complaints": 1}, {}, {}),
        ("page_settings", (1,), {"page_settings": 1}, {}, {}),
        ("reader_bundles", (7,), {"reader_bundles": 1}, {}, {}),
        ("reader_changes", (1,), {"reader_changes": 1}, {}, {}),
        ("reader_consents", (1,), {"reader_consents": 1}, {}, {}),
        ("reader_requests", (1,), {"reader_requests": 1}, {}, {}),
        ("publications", (2,), {"publications": 1}, {}, {}),
        ("custom_field_answers", (2, 2), {"custom_field_answers": 1}, {"customfields": [2]}, {}),
        (
            "custom_fields",
            (1,),
            {"custom_field_answers": 1, "custom_field_options": 2, "custom_fields": 1},
            {"customfields": [1, 2]},
            {},
        ),
    ],
)
def test_a_record_goes_with_its_parts_in_one_commit(
    publisher: Publisher,
    name: str,
    key: tuple[int, ...],
    gone: dict[str, int],
    marked: dict[str, list[int]],
    noted: dict[str, list[int]],
) -> None:
    """rules, "What goes with a record"."""
    before, commits = publisher.everything(), publisher.commit_count()
    assert remove(publisher, name, key) == gone
    after = publisher.everything()
    lost = {each: len(before[each]) - len(after[each]) for each in before}
    assert {each: count for each, count in lost.items() if count} == gone
    assert publisher.commit_count() == commits + 1
    assert all(stamps_of(publisher))
    assert marked_since(publisher, commits + 1) == marked
    assert noted_since(publisher, commits + 1) == noted
    (summary,) = summaries(publisher)
    assert summary.startswith(f"removed {name} {'/'.join(map(str, key))}: ")


def test_a_subscriber_gets_a_delete_date_once(publisher: Publisher) -> None:
    """decisions, "Subscribers who are missing"."""
    before, commits = publisher.everything(), publisher.commit_count()
    assert remove(publisher, "subscribers", (2,)) == {"subscribers": 1}
    after = publisher.everything()
    assert after["subscribers"][1]["delete_date"]
    assert after | {"subscribers": before["subscribers"]} == before
    assert marked_since(publisher, commits + 1) == {"subscribers": [2]}
    assert remove(publisher, "subscribers", (2,)) == {"subscribers": 0}
    assert publisher.everything() == after
    assert publisher.commit_count() == commits + 1


@pytest.mark.parametrize(
    ("name", "keys", "sentence"),
    [
        (
            "addresses",
            [(1,)],
            "address 1 cannot be removed, but subscription 1 refers to it (mailing_address_id)",
        ),
        (
            "list_downloads",
            [(1,)],
            (
                "mailing list 1 cannot be removed, but mailing list 2 refers to it "
                "(parent_mailing_list_id)"
            ),
        ),
        (
            "custom_field_options",
            [(10,), (11,)],
            "option 10 cannot be removed, but custom field answer 1/1 refers to it (option_ids)",
        ),
        (
            "publications",
            [(1,), (2,)],
            "publication 1 cannot be removed, but issue 1 refers to it (publication_id)",
        ),
    ],
)
def test_a_record_that_another_one_needs_stays(
    publisher: Publisher, name: str, keys: list[tuple[int, ...]], sentence: str
) -> None:
    """rules, "What goes with a record"; and then nothing goes."""
    before, commits = publisher.everything(), publisher.commit_count()
    with pytest.raises(BadInput) as refused:
        remove(publisher, name, *keys)
    lines = str(refused.value).splitlines()
    assert (lines[0], lines[-1]) == (sentence, "nothing was changed")
    assert (publisher.everything(), publisher.commit_count()) == (before, commits)
    assert summaries(publisher) == []


def test_records_that_need_each_other_go_together(publisher: Publisher) -> None:
    assert remove(publisher, "list_downloads", (2,), (1,), (2,)) == {
        "mailing_list_entries": 1,
        "list_downloads": 2,
    }


def test_a_record_that_is_not_there_is_named_and_nothing_goes(publisher: Publisher) -> None:
    before = publisher.everything()
    for name, key in ((table.name, table.key) for table in TABLES):
        there = tuple(tuple(row[column] for column in key) for row in before[name][:1])
        with pytest.raises(NotFound) as refused:
            remove(publisher, name, *there, (98,) * len(key), (99,) * len(key))
        named = ", ".join("/".join([number] * len(key)) for number in ("98", "99"))
        assert str(refused.value).startswith("account 1 has no "), name
        assert str(refused.value).endswith(f" {named}; nothing was removed"), name
    assert publisher.everything() == before


def test_an_account_that_is_not_there_is_said(publisher: Publisher) -> None:
    with pytest.raises(NotFound, match="there is no account 9"):
        removing.remove_records(publisher.store, 9, TABLES_BY_NAME["orders"], [(1,)])


def test_a_removed_record_comes_back_with_a_load(publisher: Publisher) -> None:
    before, commits = publisher.everything(), publisher.commit_count()
    remove(publisher, "orders", (1,))
    exported = {"orders.csv": "order_id,subscriber_id,order_date,grand_total\n"}
    exported["orders.csv"] += "1,1,2026-03-01 10:00:00,10.5\n"
    exported["order_items.csv"] = "order_item_id,order_id,bundle_id,grand_total\n1,1,7,10.5\n"
    publisher.load(exported)
    assert publisher.everything() == before
    assert noted_since(publisher, commits + 1) == {}
