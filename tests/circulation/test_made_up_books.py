"""Made-up data of any size are books that can be opened, and issues that can be closed."""

from __future__ import annotations

import csv
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from masthead.books import issues
from masthead.books.opening import open_books
from masthead.loading.load import load
from masthead.sample_data.generate import REFERENCE_DATE, generate
from tests.circulation.desk import Desk, at_desk
from tests.long import ONE_SERVER, ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

NOTHING_OF_BOOKS = ("books", "terms", "revenue", "suspensions", "renewals_sent", "cancellations")


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """An account without data and without books, on the day of the made-up data."""
    with at_desk(store) as found:
        with found.store.writer() as database, database.transaction():
            database.change("DELETE FROM books")
        found.to(REFERENCE_DATE.isoformat())
        yield found


def rows_of(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("subscribers", "seed"), [(0, 1), (10, 2), (1_000, 3), pytest.param(10_000, 3, marks=ONLY_LONG)]
)
def test_made_up_data_of_any_size_become_open_books(
    desk: Desk, tmp_path: Path, subscribers: int, seed: int
) -> None:
    """rules, "Sample data has a catalogue and no books"."""
    folder = tmp_path / "made-up"
    generate(folder, subscribers=subscribers, seed=seed)
    assert not [name for name in NOTHING_OF_BOOKS if (folder / f"{name}.csv").exists()]
    load(desk.store, [folder], account_id=desk.account_id)
    opened = open_books(desk.books)

    found = rows_of(folder, "subscriptions")
    unearned = sum((Decimal(row["unearned_revenue"] or 0) for row in found), Decimal())
    assert sum(each.unearned for each in opened.balances) == unearned * 100
    assert sum(each.paid_issues for each in opened.balances) == sum(
        int(row["paid_issues_left"] or 0) for row in found
    )
    assert sum(each.subscriptions for each in opened.balances) == sum(
        row["issues"] != "0" for row in found
    )
    assert sum(each.unlimited for each in opened.balances) == sum(
        row["issues"] == "-1" for row in found
    )
    planned = [issue for issue in desk.table("issues") if not issue["closed_at"]]
    assert {issue["publication_id"] for issue in planned} == {1, 2, 3, 4, 5}
    assert all(issue["date"] > REFERENCE_DATE.isoformat() for issue in planned)
    weekly = min((i["date"], i["issue_id"]) for i in planned if i["publication_id"] == 2)
    made = issues.close(desk.books, weekly[1])
    assert bool(made.entries) == bool(subscribers)


@ONE_SERVER
def test_the_planner_knows_the_size_of_open_books(desk: Desk, tmp_path: Path) -> None:
    """Otherwise the first closing on PostgreSQL compares each term with each subscription."""
    if desk.store.dialect != "postgresql":
        pytest.skip("SQLite plans without statistics")
    generate(tmp_path / "made-up", subscribers=200, seed=1)
    load(desk.store, [tmp_path / "made-up"], account_id=desk.account_id)
    open_books(desk.books)
    with desk.store.writer() as database:
        sizes = database.rows(
            "SELECT relname, reltuples FROM pg_class WHERE relname IN ('terms', 'revenue') "
            "AND relnamespace = 'public'::regnamespace"
        )
    assert {name: int(rows) for name, rows in sizes} == {
        name: len(desk.table(name)) for name in ("terms", "revenue")
    }


def test_the_plan_is_that_of_a_year(desk: Desk, tmp_path: Path) -> None:
    generate(tmp_path / "made-up", subscribers=0, seed=1)
    load(desk.store, [tmp_path / "made-up"], account_id=desk.account_id)
    open_books(desk.books)
    for publication in desk.table("publications"):
        issues = [
            issue
            for issue in desk.table("issues")
            if issue["publication_id"] == publication["publication_id"]
        ]
        coming = sum(1 for issue in issues if not issue["closed_at"])
        assert coming >= publication["issues_per_year"], publication
        numbers = [issue["number"] for issue in sorted(issues, key=lambda each: each["date"])]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert all(issue["closes_on"] < issue["date"] for issue in issues)


def test_the_catalogue_has_what_was_sold_and_each_price_is_that_of_its_lines(
    tmp_path: Path,
) -> None:
    """rules, "Sample data has a catalogue and no books"."""
    folder = tmp_path / "made-up"
    generate(folder, subscribers=500, seed=1)
    bundles = {row["bundle_id"]: row for row in rows_of(folder, "bundles")}
    products = {row["product_id"]: row for row in rows_of(folder, "products")}
    lines = rows_of(folder, "bundle_lines")
    for bundle_id, bundle in bundles.items():
        own = [int(line["price"]) for line in lines if line["bundle_id"] == bundle_id]
        assert sum(own) == int(bundle["price"]) > int(bundle["tax"]) > 0
    sold = rows_of(folder, "order_items")
    assert {item["bundle_id"] for item in sold if item["bundle_id"]} <= set(bundles)
    assert {item["product_id"] for item in sold if item["product_id"]} <= set(products)
    assert {row["bundle_id"] for row in rows_of(folder, "purchases")} <= set(bundles)
    assert {line["issues"] for line in lines} >= {"-1", "12", "24"}
    assert {line["type"] for line in lines} == {"Print", "Digital", "Both"}
    assert {row["active"] for row in (*bundles.values(), *products.values())} == {"0", "1"}
