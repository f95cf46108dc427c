"""A load into one account never touches another, and cannot refer to what another holds."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES
from masthead.store.books.ownership import BOOKS
from tests.loading.conftest import new_account
from tests.loading.publisher import SMALL, WITH_BOOKS

if TYPE_CHECKING:
    from collections.abc import Callable

    import masthead.store
    from tests.loading.publisher import Publisher


@pytest.fixture
def neighbour(new_publisher: Callable[[], Publisher]) -> Publisher:
    """Another account of the same database, which holds nothing yet."""
    return new_publisher()


@pytest.fixture(scope="session")
def stranger(
    database: str, opened: masthead.store.Store, tmp_path_factory: pytest.TempPathFactory
) -> Publisher:
    """Another account, with a publication and a subscriber, for tests of what is refused."""
    folder = tmp_path_factory.mktemp("stranger")
    publisher = new_account(database, folder, opened)
    publication = SMALL["publications.csv"].replace("\n1,", "\n101,")
    publisher.load({"publications.csv": publication, "subscribers.csv": "subscriber_id\n101\n"})
    return publisher


def test_the_same_ids_and_codes_in_two_accounts_are_different_records(
    small: Publisher, neighbour: Publisher
) -> None:
    loaded = neighbour.load(SMALL)
    assert all(count.inserted and not count.changed for count in loaded.counts.values())
    assert neighbour.everything() == small.everything()


def test_a_load_changes_only_its_account(small: Publisher, neighbour: Publisher) -> None:
    neighbour.load(SMALL)
    before, commits = small.everything(), small.commit_count()
    neighbour.load(
        {
            "subscribers.csv": "subscriber_id,renewal_code\n1,BBBBB\n2,AAAAA\n3,CCCCC\n",
            "subscriptions.csv": "subscription_id,copies\n1,9\n2,9\n",
            "custom_fields.csv": "field_id,display_as\n1,Other\n",
            "custom_field_options.csv": "option_id,display_as\n10,Other\n",
            "order_items.csv": "order_item_id,grand_total\n1,99\n",
        }
    )
    assert small.everything() == before
    assert small.commit_count() == commits


def test_a_row_cannot_refer_to_another_accounts_record(
    unchanged: Publisher, stranger: Publisher, neighbour: Publisher
) -> None:
    """Each reference of a table at once, to records that the other account has."""
    with_references = [table for table in TABLES if table.references]
    for name, references in ((table.name, table.references) for table in with_references):
        header, row, *_ = WITH_BOOKS[f"{name}.csv"].splitlines()
        record = dict(zip(header.split(","), row.split(","), strict=True))
        record |= dict.fromkeys(references, "1")
        if name in references.values():
            # The row is not the record to which it refers.
            record[next(iter(record))] = "7"
        content = f"{','.join(record)}\n{','.join(record.values())}\n"
        if name in BOOKS:
            # Those come with all that an account has, and only into one that has nothing.
            books = {"books.csv": WITH_BOOKS["books.csv"]}
            problems = neighbour.problems({**books, f"{name}.csv": content})
        else:
            problems = stranger.problems({f"{name}.csv": content})
        start = f"{name}.csv:2: "
        refused = {
            line.removeprefix(start).partition(":")[0]
            for line in problems
            if line.startswith(start) and ": there is no " in line
        }
        assert refused >= references.keys(), (name, problems)
        assert name in BOOKS or unchanged.table(name)


def test_an_export_holds_only_its_account(small: Publisher, neighbour: Publisher) -> None:
    neighbour.load({"subscribers.csv": "subscriber_id,email\n7,only@example.org\n"})
    assert b"only@example.org" not in b"".join(small.exported().values())
    assert neighbour.exported()["subscribers.csv"].count(b"\n") == 2


def test_two_loads_at_once_into_different_accounts_both_finish(
    small: Publisher, neighbour: Publisher
) -> None:
    rows = "".join(f"{n},{n}@example.org\n" for n in range(100, 3_000))
    files = {**SMALL, "subscribers.csv": f"subscriber_id,email\n1,\n2,\n{rows}"}
    failures: list[BaseException] = []

    def work(publisher: Publisher) -> None:
        try:
            for _ in range(3):
                publisher.load(files)
        except BaseException as failure:  # noqa: BLE001 - the test's own thread shows it
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(each,)) for each in (small, neighbour)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(small.table("subscribers")) == len(neighbour.table("subscribers")) == 2_902
