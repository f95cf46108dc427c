"""``masthead import --complete``: the files have all rows of their tables, and the others go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES
from masthead.errors import BadInput, BadUsage
from masthead.loading.limits import Limit
from masthead.loading.load import Options, load
from masthead.store import erasing
from masthead.store.books.ownership import BOOKS
from tests.loading.changed import marked_since, noted_since, stamps_of
from tests.loading.publisher import SMALL
from tests.long import SHORT_ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.loading.publisher import Publisher

SECOND = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def header(name: str) -> str:
    """Return the file of a table in the small publisher, without its rows."""
    return SMALL[name].partition("\n")[0] + "\n"


def without(name: str, row: str) -> dict[str, str]:
    """Return one file of the small publisher, without the row that begins so."""
    lines = SMALL[name].splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(row)]
    assert len(kept) == len(lines) - 1
    return {name: "".join(kept)}


def refusal(publisher: Publisher, files: dict[str, str], *, max_removed: str = "100%") -> list[str]:
    """Load complete files that must be refused; return the lines of the refusal."""
    before, commits = publisher.everything(), publisher.commit_count()
    with pytest.raises(BadInput) as refused:
        publisher.load_complete(files)
    assert publisher.everything() == before
    assert publisher.commit_count() == commits
    assert noted_since(publisher, 0) == {}
    return str(refused.value).splitlines()


def test_complete_files_with_all_rows_change_nothing(small: Publisher) -> None:
    before, commits = small.everything(), small.commit_count()
    loaded = small.load_complete(SMALL, max_removed="0")
    assert not any(counts.has_changes for counts in loaded.counts.values())
    assert (small.everything(), small.commit_count()) == (before, commits)


def test_a_subscriber_who_is_missing_gets_a_delete_date_and_keeps_everything_else(
    small: Publisher,
) -> None:
    """decisions, "Subscribers who are missing"."""
    before = small.everything()
    loaded = small.load_complete(without("subscribers.csv", "2,"))
    after = small.everything()
    ada, ben = after.pop("subscribers")
    assert ada == before["subscribers"][0]
    assert SECOND.fullmatch(ben["delete_date"])
    assert ben | {"delete_date": None} == before.pop("subscribers")[1]
    assert after == before
    assert loaded.counts["subscribers"] == (0, 0, 1, 1)
    # Again: who has a delete_date is not missing.
    again = small.load_complete(without("subscribers.csv", "2,"), max_removed="0")
    assert again.counts["subscribers"] == (0, 0, 1, 0)
    assert small.table("subscribers")[1] == ben


@pytest.mark.parametrize(
    ("name", "row", "gone"),
    [
        ("orders", "1,", {"orders": 1, "order_items": 1}),
        ("order_items", "1,", {"order_items": 1}),
        ("purchases", "1,", {"purchases": 1}),
        ("subscriptions", "2,", {"subscriptions": 1}),
        (
            "subscriptions",
            "1,",
            {
                "subscriptions": 1,
                "subscription_issues": 1,
                "mailing_list_entries": 1,
                "complaints": 1,
                "reader_changes": 1,
                "reader_requests": 1,
            },
        ),
        (
            "issues",
            "1,",
            {"issues": 1, "subscription_issues": 1, "complaints": 1, "reader_requests": 1},
        ),
        ("publications", "2,", {"publications": 1}),
        ("list_downloads", "2,", {"list_downloads": 1}),
        ("mailing_list_entries", "1,", {"mailing_list_entries": 1}),
        ("subscription_issues", "1,", {"subscription_issues": 1}),
        (
            "custom_fields",
            "1,",
            {"custom_fields": 1, "custom_field_options": 2, "custom_field_answers": 1},
        ),
        ("custom_fields", "2,", {"custom_fields": 1, "custom_field_answers": 1}),
        ("custom_field_answers", "2,", {"custom_field_answers": 1}),
    ],
)
@SHORT_ON_SQLITE
def test_a_missing_row_is_removed_with_its_parts(
    small: Publisher, name: str, row: str, gone: dict[str, int]
) -> None:
    """rules, "What goes with a record"."""
    before = {table: len(rows) for table, rows in small.everything().items()}
    loaded = small.load_complete(without(f"{name}.csv", row))
    after = {table: len(rows) for table, rows in small.everything().items()}
    assert {table: before[table] - after[table] for table in gone} == gone
    assert {t: n for t, n in after.items() if t not in gone} == {
        t: n for t, n in before.items() if t not in gone
    }
    assert {t: c.removed for t, c in loaded.counts.items() if c.removed} == gone


def test_all_tables_at_once_go_children_first(small: Publisher) -> None:
    small.load_complete({name: header(name) for name in SMALL})
    after = small.everything()
    assert [row["delete_date"] is None for row in after.pop("subscribers")] == [False, False]
    assert not any(after.values())


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            without("addresses.csv", "1,"),
            "address 1 is not in the files, but subscription 1 refers to it (mailing_address_id)",
        ),
        (
            without("publications.csv", "1,"),
            "publication 1 is not in the files, but issue 1 refers to it (publication_id)",
        ),
        (
            {"list_downloads.csv": "mailing_list_id,name,parent_mailing_list_id\n2,Gap,1\n"},
            (
                "mailing list 1 is not in the files, but mailing list 2 refers to it "
                "(parent_mailing_list_id)"
            ),
        ),
        (
            without("custom_field_options.csv", "11,"),
            "option 11 is not in the files, but custom field answer 1/1 refers to it (option_ids)",
        ),
        (
            without("orders.csv", "1,") | {"order_items.csv": SMALL["order_items.csv"]},
            "order 1 is not in the files, but order item 1 refers to it (order_id)",
        ),
        (
            without("list_downloads.csv", "2,")
            | {"list_downloads.csv": "mailing_list_id,name,parent_mailing_list_id\n2,Gap,\n"}
            | {"mailing_list_entries.csv": SMALL["mailing_list_entries.csv"]},
            (
                "mailing list 1 is not in the files, but mailing list entry 1/1 refers to it "
                "(mailing_list_id)"
            ),
        ),
    ],
)
@SHORT_ON_SQLITE
def test_a_reference_to_a_row_that_would_go_is_a_problem(
    small: Publisher, files: dict[str, str], sentence: str
) -> None:
    """rules, "What goes with a record"; nothing changes."""
    lines = refusal(small, files)
    assert lines[0] == sentence
    assert lines[-1] == "nothing was changed"


def test_a_reference_that_the_load_removes_does_not_count(small: Publisher) -> None:
    moved = SMALL["subscriptions.csv"].replace("1,1,1,1,4", "1,1,1,2,4")
    small.load_complete({**without("addresses.csv", "1,"), "subscriptions.csv": moved})
    assert [row["address_id"] for row in small.table("addresses")] == [2]


def test_many_references_are_counted(publisher: Publisher) -> None:
    addresses = "".join(f"{number},1\n" for number in range(1, 131))
    orders = "".join(f"{number},1,{number}\n" for number in range(1, 131))
    publisher.load(
        {
            "subscribers.csv": "subscriber_id\n1\n",
            "addresses.csv": f"address_id,subscriber_id\n{addresses}",
            "orders.csv": f"order_id,subscriber_id,mailing_address_id\n{orders}",
        }
    )
    lines = refusal(publisher, {"addresses.csv": "address_id,subscriber_id\n"})
    assert lines[99] == (
        "address 100 is not in the files, but order 100 refers to it (mailing_address_id)"
    )
    assert lines[100:] == ["and 30 more such references", "nothing was changed"]


def test_tables_without_a_file_stay(small: Publisher) -> None:
    before = small.everything()
    small.load_complete({"purchases.csv": header("purchases.csv")})
    assert small.everything() == {**before, "purchases": []}


def test_the_files_of_a_table_are_complete_together(small: Publisher) -> None:
    files = {
        "addresses.csv": "address_id,subscriber_id\n1,1\n",
        "addresses.ndjson": '{"address_id": 2, "subscriber_id": 2}\n',
    }
    loaded = small.load_complete(files, max_removed="0")
    assert loaded.counts["addresses"].removed == 0


def test_a_dry_run_counts_what_would_go(small: Publisher) -> None:
    before, commits = small.everything(), small.commit_count()
    files = {**without("orders.csv", "1,"), **without("subscribers.csv", "2,")}
    loaded = load(
        small.store,
        [small.write(files)],
        account_id=small.account_id,
        options=Options(max_removed=Limit.parse("100%"), is_dry=True),
    )
    gone = {name: counts.removed for name, counts in loaded.counts.items()}
    assert gone == {"subscribers": 1, "orders": 1, "order_items": 1}
    assert (small.everything(), small.commit_count()) == (before, commits)
    assert noted_since(small, 0) == {}


# What is rejected is not missing


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("2,x,Dover,19901\n", "subscriber_id"),
        ("2,99,Dover,19901\n", "no subscriber 99"),
    ],
)
def test_a_row_that_is_rejected_stays_as_it_is(
    small: Publisher, tmp_path: Path, bad: str, reason: str
) -> None:
    """rules, "What complete files are"."""
    before = small.table("addresses")
    files = {"addresses.csv": f"address_id,subscriber_id,city,zip_code\n1,1,Bath,97301\n{bad}"}
    loaded = small.load_complete(files, max_removed="0", reject=tmp_path / "bad")
    assert reason in (tmp_path / "bad" / "addresses.csv").read_text()
    assert small.table("addresses") == [before[0] | {"city": "Bath"}, before[1]]
    assert loaded.counts["addresses"].removed == 0


def test_a_rejected_row_with_a_key_of_two_columns_stays(small: Publisher, tmp_path: Path) -> None:
    """rules, "What complete files are"."""
    before = small.table("mailing_list_entries")
    files = {"mailing_list_entries.csv": "mailing_list_id,subscription_id,copies\n1,1,many\n"}
    small.load_complete(files, max_removed="0", reject=tmp_path / "bad")
    assert small.table("mailing_list_entries") == before


def test_duplicates_and_taken_codes_are_not_missing(small: Publisher, tmp_path: Path) -> None:
    """rules, "What complete files are"."""
    before = small.table("subscribers")
    files = {
        "subscribers.csv": "subscriber_id,renewal_code,email,first_name,last_name\n"
        "1,AAAAA,ada@example.org,Ada,Ames\n1,AAAAA,x,Ada,Ames\n2,AAAAA,b@example.org,Ben,Birch\n"
    }
    loaded = small.load_complete(files, max_removed="0", reject=tmp_path / "bad")
    assert loaded.rejected == {"subscribers.csv": 2}
    assert small.table("subscribers") == before


def test_rejected_rows_whose_keys_cannot_be_read_stop_the_load(
    small: Publisher, tmp_path: Path
) -> None:
    """rules, "What complete files are"; the rows are named, each with its problem."""
    bad = "x,2,Dover,19901\n2,2\n,2,Dover,19901\n2,x,Dover,19901\n"
    files = {"addresses.csv": f"{header('addresses.csv')}{bad}1,1,Salem,97301\n"}
    before = small.everything()
    with pytest.raises(BadInput) as refused:
        small.load_complete(files, reject=tmp_path / "bad")
    *problems, advice = str(refused.value).splitlines()
    assert [problem.split(": ")[:2] for problem in problems] == [
        ["addresses.csv:2", "address_id"],
        ["addresses.csv:3", "row"],
        ["addresses.csv:4", "address_id"],
    ]
    assert advice.startswith("nothing was loaded; the keys of these rows cannot be read")
    assert small.everything() == before


def test_of_many_rows_without_a_key_the_first_are_named(small: Publisher, tmp_path: Path) -> None:
    rows = "".join(f"x{n},1,Salem,97301\n" for n in range(150))
    with pytest.raises(BadInput) as refused:
        small.load_complete(
            {"addresses.csv": header("addresses.csv") + rows}, reject=tmp_path / "bad"
        )
    *problems, advice = str(refused.value).splitlines()
    assert [problem.split(":")[1] for problem in problems] == [str(n) for n in range(2, 102)]
    assert "the keys of these rows, and perhaps of others, cannot be read" in advice


def test_without_reject_the_problems_of_the_rows_are_listed(small: Publisher) -> None:
    lines = refusal(small, {"addresses.csv": f"{header('addresses.csv')}x,1,Salem,97301\n"})
    assert lines[0].startswith("addresses.csv:2: address_id: ")


# Subscribers who come back


def test_a_subscriber_who_comes_back_is_there_again(small: Publisher) -> None:
    """decisions, "Subscribers who are missing"."""
    before = small.table("subscribers")
    small.load_complete(without("subscribers.csv", "2,"))
    loaded = small.load_complete({"subscribers.csv": SMALL["subscribers.csv"]})
    assert loaded.counts["subscribers"] == (0, 1, 1, 0)
    assert small.table("subscribers") == before


def test_an_incomplete_load_restores_no_subscriber(small: Publisher) -> None:
    """decisions, "Subscribers who are missing": a column that a file lacks is unchanged."""
    small.load_complete(without("subscribers.csv", "2,"))
    small.load({"subscribers.csv": SMALL["subscribers.csv"]})
    assert small.table("subscribers")[1]["delete_date"]


def test_a_delete_date_of_a_file_stays_when_complete_files_have_no_such_column(
    small: Publisher,
) -> None:
    """decisions, "Subscribers who are missing"."""
    small.load({"subscribers.csv": "subscriber_id,delete_date\n2,2026-01-02 03:04:05\n"})
    small.load_complete({"subscribers.csv": SMALL["subscribers.csv"]})
    assert small.table("subscribers")[1]["delete_date"] == "2026-01-02 03:04:05"


def test_the_column_of_a_complete_file_decides(small: Publisher) -> None:
    """decisions, "Subscribers who are missing"."""
    small.load_complete(without("subscribers.csv", "2,"))
    files = {"subscribers.csv": "subscriber_id,delete_date\n1,\n2,2026-01-02 03:04:05\n"}
    small.load_complete(files)
    assert small.table("subscribers")[1]["delete_date"] == "2026-01-02 03:04:05"
    small.load_complete({"subscribers.csv": SMALL["subscribers.csv"]})
    assert small.table("subscribers")[1]["delete_date"] == "2026-01-02 03:04:05"


def test_who_was_erased_stays_so_whether_missing_or_not(small: Publisher) -> None:
    """decisions, "Subscribers who are missing"."""
    small.load_complete(without("subscribers.csv", "2,"))
    erasing.erase(small.store, small.account_id, 2)
    erased = small.table("subscribers")[1]
    assert erased["delete_date"]
    small.load_complete(without("subscribers.csv", "2,"), max_removed="0")
    assert small.table("subscribers")[1] == erased
    small.load_complete({"subscribers.csv": SMALL["subscribers.csv"]}, max_removed="0")
    assert small.table("subscribers")[1] == erased


def test_an_export_with_its_erasures_is_a_complete_load(small: Publisher) -> None:
    """rules, "What complete files are": an erasure is never taken back."""
    erasing.erase(small.store, small.account_id, 2)
    before = small.everything()
    exported = small.exported()
    assert "erasures.csv" in exported
    small.load_complete({**exported, "erasures.csv": b"subscriber_id\n"}, max_removed="0")
    assert small.everything() == before


def test_accounts_are_never_complete(small: Publisher) -> None:
    """rules, "What complete files are"."""
    folder = small.write({"accounts.csv": "account_id\n77\n"})
    with pytest.raises(BadUsage, match="a file of accounts removes none"):
        load(
            small.store,
            [folder],
            account_id=None,
            options=Options(max_removed=Limit.parse("5%")),
        )


# The feed


@pytest.mark.parametrize(
    ("name", "row", "marked", "noted"),
    [
        ("subscribers", "2,", {"subscribers": [2]}, {}),
        ("order_items", "1,", {"orders": [1]}, {}),
        ("orders", "1,", {}, {"orders": [1]}),
        ("purchases", "1,", {}, {"purchases": [1]}),
        ("custom_field_answers", "2,", {"customfields": [2]}, {}),
        ("custom_fields", "2,", {"customfields": [1, 2]}, {}),
        ("mailing_list_entries", "1,", {"list_downloads": [1]}, {}),
        ("list_downloads", "2,", {}, {"listdownloads": [2]}),
        ("subscriptions", "1,", {"list_downloads": [1]}, {"subscriptions": [1]}),
        ("publications", "2,", {}, {}),
        ("bundle_lines", "7,", {}, {}),
        ("products", "1,", {}, {}),
        ("classes", "1,", {}, {}),
        ("cancellation_reasons", "1,", {}, {}),
        ("renewal_efforts", "1,", {}, {}),
        ("issues", "1,", {}, {}),
        ("subscription_issues", "1,", {}, {}),
    ],
)
@SHORT_ON_SQLITE
def test_the_feed_has_what_a_removal_changes(
    small: Publisher,
    name: str,
    row: str,
    marked: dict[str, list[int]],
    noted: dict[str, list[int]],
) -> None:
    """rules, "What goes with a record"."""
    before = small.commit_count()
    small.load_complete(without(f"{name}.csv", row))
    assert small.commit_count() == before + 1
    assert all(stamps_of(small))
    newest = max(number for number, _ in enumerate(stamps_of(small), 1))
    assert marked_since(small, newest) == marked
    assert noted_since(small, newest) == noted


def test_another_account_keeps_its_rows(new_publisher: Callable[[], Publisher]) -> None:
    """Each query compares each table with the account."""
    one, other = new_publisher(), new_publisher()
    for publisher in (one, other):
        publisher.load(SMALL)
    before = other.everything()
    one.load_complete({name: header(name) for name in SMALL})
    assert other.everything() == before
    assert noted_since(other, 0) == {}


def test_each_table_has_been_looked_at() -> None:
    """A later table needs its own row in the tests above."""
    tables = {f"{table.name}.csv" for table in TABLES if table.name not in BOOKS}
    assert tables == set(SMALL)
