"""What a copy has for analysts beside the records: comments, and the publications of bundles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.mirror.conftest import EACH_COPY

if TYPE_CHECKING:
    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher


@EACH_COPY
def test_each_column_says_what_it_means(sparse: Publisher, kept: Kept) -> None:
    """rules, "Mirror: what tables and columns mean"."""
    kept.update(sparse)
    gift = "True if it was bought for somebody else, else false."
    until = "The time, in UTC, of the pass that found this row new or changed."
    if kept.kind == "sqlite":
        (schema,) = kept.column("SELECT sql FROM sqlite_schema WHERE name = 'purchases'")
        assert f'"is_gift" INTEGER NOT NULL, -- {gift}' in schema
        assert f'"changed_at" TEXT, -- {until}' in schema
        return
    meanings = {
        "postgresql": "SELECT attname::TEXT, col_description(attrelid, attnum) FROM pg_attribute "
        "WHERE attrelid = 'purchases'::regclass AND attnum > 0",
        "duckdb": "SELECT column_name, comment FROM duckdb_columns() "
        "WHERE table_name = 'purchases'",
        "parquet": "SELECT decode(key), decode(value) FROM parquet_kv_metadata("
        f"'{kept.path}/current/purchases.parquet')",
    }
    found: dict[str, str] = dict(kept.ask(meanings[kept.kind]))
    assert (found["is_gift"], found["changed_at"]) == (gift, until)
    assert all(found.values())


def test_the_publications_of_a_bundle_are_those_that_it_was_last_bought_for(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: publications of a bundle"."""
    bought = [(101, 1, 7), (102, 9, 7), (103, 9, 8), (104, 9, 8)]
    publisher.load(
        publications=[{"publication_id": 9}],
        subscriptions=[
            {
                "subscription_id": subscription_id,
                "subscriber_id": 1,
                "publication_id": publication_id,
                "last_purchase_bundle_id": bundle_id,
            }
            for subscription_id, publication_id, bundle_id in bought
        ],
    )
    kept.update(publisher)
    found = kept.ask("SELECT * FROM bundle_publications WHERE bundle_id IN (7, 8) ORDER BY 1, 2")
    assert found == [(7, 1), (7, 9), (8, 9)]
