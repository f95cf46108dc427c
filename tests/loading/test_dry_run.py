"""``masthead import --dry-run``: all but the commit, and what would change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput
from masthead.loading.limits import Limit
from masthead.loading.load import Loaded, Options, load
from masthead.store import audit, loads
from masthead.store.dry_run_diff import HIDDEN, Shown
from masthead.store.merging import Counts
from tests.loading.publisher import SMALL, Publisher
from tests.servers import masthead

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NIGHT = SMALL | {
    "subscribers.csv": (
        "subscriber_id,renewal_code,email,first_name,password\n"
        "1,AAAAA,zoe@example.org,Zoe,secret\n"
        "3,CCCCC,cy@example.org,Cy,secret\n"
        "2,BBBBB,ben@example.org,Ben,\n"
    ),
    "subscriptions.ndjson": (
        '{"subscription_id": 1, "copies": 3}\n'
        '{"subscription_id": 2, "type": null}\n'
        '{"subscription_id": 4, "subscriber_id": 3, "publication_id": 2, "issues": 1}\n'
    ),
    "mailing_list_entries.csv": "mailing_list_id,subscription_id,copies\n1,1,1\n1,2,1\n",
}
del NIGHT["subscriptions.csv"]


def run_dry(publisher: Publisher, files: Mapping[str, str], options: Options) -> Loaded:
    """Run it, and assert that it has changed nothing, and left nothing behind."""

    def state() -> list[object]:
        with publisher.store.writer() as database:
            entries = list(audit.entries(database, account_id=publisher.account_id))
        return [
            publisher.everything(),
            publisher.commit_count(),
            loads.loads(publisher.store, publisher.account_id),
            entries,
        ]

    before = state()
    try:
        return load(
            publisher.store,
            [publisher.write(files)],
            account_id=publisher.account_id,
            options=options._replace(is_dry=True),
            by=audit.Actor("alice", "import night --dry-run"),
        )
    finally:
        assert state() == before


def test_it_counts_what_the_load_then_does_and_changes_nothing(small: Publisher) -> None:
    """rules, "Dry runs"."""
    dry = run_dry(small, NIGHT, Options())
    assert dry.counts["subscribers"] == Counts(1, 1, 1)
    assert dry.counts["subscriptions"] == Counts(1, 2, 0)
    assert dry.shown == ()
    assert small.load(NIGHT) == dry


def test_an_empty_account_shows_all_as_new(publisher: Publisher) -> None:
    dry = run_dry(publisher, SMALL, Options(show=100))
    assert {row.what for row in dry.shown} == {"inserted"}
    assert len(dry.shown) == sum(count.inserted for count in dry.counts.values())


def test_it_shows_new_rows_and_what_changes_from_which_value_to_which(small: Publisher) -> None:
    """rules, "Dry runs"; new rows first, by key, and no digest of a password."""
    shown = run_dry(small, NIGHT, Options(show=20)).shown
    assert [row.place for row in shown] == [
        "subscribers.csv:3",
        "subscribers.csv:2",
        "subscriptions.ndjson:3",
        "subscriptions.ndjson:1",
        "subscriptions.ndjson:2",
        "mailing_list_entries.csv:3",
    ]
    assert [row._replace(place="") for row in shown] == [
        Shown(
            "inserted",
            "subscribers",
            {"subscriber_id": 3},
            {},
            {
                "renewal_code": "CCCCC",
                "email": "cy@example.org",
                "password_md5": HIDDEN,
                "first_name": "Cy",
            },
        ),
        Shown(
            "changed",
            "subscribers",
            {"subscriber_id": 1},
            {"email": "ada@example.org", "password_md5": None, "first_name": "Ada"},
            {"email": "zoe@example.org", "password_md5": HIDDEN, "first_name": "Zoe"},
        ),
        Shown(
            "inserted",
            "subscriptions",
            {"subscription_id": 4},
            {},
            {"subscriber_id": 3, "publication_id": 2, "issues": 1},
        ),
        Shown("changed", "subscriptions", {"subscription_id": 1}, {"copies": 1}, {"copies": 3}),
        Shown("changed", "subscriptions", {"subscription_id": 2}, {"type": "Both"}, {"type": None}),
        Shown(
            "inserted",
            "mailing_list_entries",
            {"mailing_list_id": 1, "subscription_id": 2},
            {},
            {"copies": 1},
        ),
    ]


def test_it_shows_at_most_the_requested_rows_of_a_table(small: Publisher) -> None:
    shown = run_dry(small, NIGHT, Options(show=1)).shown
    assert [(row.what, row.table) for row in shown] == [
        ("inserted", "subscribers"),
        ("changed", "subscribers"),
        ("inserted", "subscriptions"),
        ("changed", "subscriptions"),
        ("inserted", "mailing_list_entries"),
    ]


def test_it_shows_what_a_complete_file_lacks(small: Publisher) -> None:
    """rules, "Dry runs"; a subscriber who is missing, and an item with its order."""
    files = {
        "subscribers.csv": "subscriber_id,first_name\n1,Zoe\n",
        "orders.csv": "order_id\n",
        "subscription_issues.csv": "subscription_id,issue_id\n",
    }
    dry = run_dry(small, files, Options(max_removed=Limit.parse("100%"), show=5))
    assert {name: count.removed for name, count in dry.counts.items() if count.removed} == {
        "subscribers": 1,
        "orders": 1,
        "order_items": 1,
        "subscription_issues": 1,
    }
    assert [(row.what, row.table, row.key) for row in dry.shown] == [
        ("changed", "subscribers", {"subscriber_id": 1}),
        ("removed", "subscribers", {"subscriber_id": 2}),
        ("removed", "orders", {"order_id": 1}),
        ("removed", "order_items", {"order_item_id": 1}),
        ("removed", "subscription_issues", {"subscription_id": 1, "issue_id": 1}),
    ]


def test_problems_are_those_of_the_load(small: Publisher) -> None:
    files = {"subscribers.csv": "subscriber_id\nx\n", "orders.csv": "order_id,subscriber_id\n9,9\n"}
    with pytest.raises(BadInput) as refused:
        run_dry(small, files, Options())
    assert str(refused.value).splitlines() == small.problems(files)


def test_rows_to_set_aside_are_counted_and_not_written(small: Publisher, tmp_path: Path) -> None:
    """rules, "Dry runs"; the limit is that of the load."""
    files = {"subscribers.csv": "subscriber_id\n5\nx\n"}
    dry = run_dry(small, files, Options(tmp_path / "bad", Limit.parse("50%")))
    assert dry.rejected == {"subscribers.csv": 1}
    with pytest.raises(BadInput, match=r"subscribers\.csv: 1 of 2 rows are bad"):
        run_dry(small, files, Options(tmp_path / "bad", Limit.parse("49%")))
    assert not (tmp_path / "bad").exists()


def test_erasures_are_counted_and_no_subscriber_is_erased(small: Publisher) -> None:
    dry = run_dry(small, {"erasures.csv": "subscriber_id\n1\n"}, Options(show=5))
    assert dry.counts["erasures"].inserted == 1
    assert dry.counts["subscribers"].changed == 1


def test_the_command_prints_rows_without_characters_that_a_terminal_acts_on(
    small: Publisher,
) -> None:
    folder = small.write(
        {
            "subscribers.csv": (
                "subscriber_id,first_name,last_name,password\n1,\x1b[2J,,secret\n7,Cy,O'Hara,\n"
            )
        }
    )
    words = ("import", folder, "--account", small.account_id, "--dry-run", "--show=9")
    done = masthead(*words, database=small.url)
    assert done.stdout.splitlines() == [
        (
            "subscribers.csv:3: subscribers: inserted subscriber_id 7: first_name: 'Cy', "
            'last_name: "O\'Hara"'
        ),
        (
            "subscribers.csv:2: subscribers: changed subscriber_id 1: password_md5: nothing -> …, "
            "first_name: 'Ada' -> '\\x1b[2J', last_name: 'Ames' -> nothing"
        ),
        "subscribers  1 inserted, 1 changed, 0 unchanged",
        "a dry run: nothing was loaded",
    ]


@pytest.mark.parametrize("words", [("--show=3",), ("--dry-run", "--show=101")])
def test_rows_are_shown_by_a_dry_run_alone_and_few(
    unchanged: Publisher, words: tuple[str, ...]
) -> None:
    folder = unchanged.write(SMALL)
    options = ("--account", unchanged.account_id, *words)
    done = masthead("import", folder, *options, database=unchanged.url, exit_status=2)
    assert "--show" in done.stderr


def test_accounts_have_no_dry_run(unchanged: Publisher) -> None:
    folder = unchanged.write({"accounts.csv": "account_id\n404\n"})
    done = masthead("import", folder, "--dry-run", database=unchanged.url, exit_status=2)
    assert "leave out --dry-run" in done.stderr
