"""The brake of complete files: how many rows of a table may be removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput

if TYPE_CHECKING:
    from tests.loading.publisher import Publisher


def refusal(publisher: Publisher, files: dict[str, str], max_removed: str) -> list[str]:
    """Load complete files that must be refused; return the lines of the refusal."""
    before = publisher.everything(), publisher.commit_count()
    with pytest.raises(BadInput) as refused:
        publisher.load_complete(files, max_removed=max_removed)
    assert (publisher.everything(), publisher.commit_count()) == before
    return str(refused.value).splitlines()


@pytest.fixture
def twenty(publisher: Publisher) -> Publisher:
    """An account with twenty subscribers and as many orders, of which two are deleted."""
    rows = [f"{n},{'2026-01-01 00:00:00' if n > 18 else ''}" for n in range(1, 21)]
    orders = [f"{n},{n}" for n in range(1, 21)]
    publisher.load(
        {
            "subscribers.csv": "\n".join(["subscriber_id,delete_date", *rows, ""]),
            "orders.csv": "\n".join(["order_id,subscriber_id", *orders, ""]),
        }
    )
    return publisher


def ids(name: str, count: int) -> dict[str, str]:
    """Return the file of a table with so many first ids and nothing else."""
    (key,) = TABLES_BY_NAME[name].key
    return {f"{name}.csv": "\n".join([key, *map(str, range(1, count + 1)), ""])}


def test_the_brake_has_the_numbers_of_each_table(twenty: Publisher) -> None:
    """rules, "What complete files are": who has a delete_date already does not count."""
    assert refusal(twenty, ids("subscribers", 12) | ids("orders", 19), "5%") == [
        "subscribers: 6 of 18 rows would be removed (33.4%)",
        "orders: 1 of 20 rows would be removed (5.0%)",
        ("nothing was loaded: the limit is 5% of a table; if these rows are to go, allow 33.4%"),
    ]
    twenty.load_complete(ids("subscribers", 12) | ids("orders", 19), max_removed="33.4%")
    assert len(twenty.table("orders")) == 19


@pytest.mark.parametrize(
    ("limit", "removed", "goes"),
    [
        ("5%", 1, True),
        ("5%", 2, False),
        ("10%", 2, True),
        ("2", 2, True),
        ("1", 2, False),
        ("0", 1, False),
        ("0%", 1, False),
        ("100%", 20, True),
        ("20", 20, True),
    ],
)
def test_the_brake_is_a_share_or_a_number(
    twenty: Publisher, limit: str, removed: int, *, goes: bool
) -> None:
    """rules, "What complete files are"."""
    files = ids("orders", 20 - removed)
    if goes:
        twenty.load_complete(files, max_removed=limit)
        assert len(twenty.table("orders")) == 20 - removed
    else:
        assert f"orders: {removed} of 20 rows" in refusal(twenty, files, limit)[0]


def test_a_small_table_has_the_same_brake(small: Publisher) -> None:
    """rules, "What complete files are": there is no number of rows that may always go."""
    (line, advice) = refusal(small, {"purchases.csv": "purchase_id\n"}, "5%")
    assert line == "purchases: 1 of 1 rows would be removed (100.0%)"
    assert advice.endswith("if these rows are to go, allow 100.0%")


def test_the_brake_counts_rows_that_go_with_others(twenty: Publisher) -> None:
    """rules, "What complete files are": also in tables without a file."""
    twenty.load({"order_items.csv": "order_item_id,order_id,bundle_id\n1,20,1\n2,20,1\n3,1,1\n"})
    lines = refusal(twenty, ids("orders", 19), "5%")
    assert lines[1] == "order_items: 2 of 3 rows would be removed (66.7%)"
