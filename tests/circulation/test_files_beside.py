"""Files that are loaded while the books are kept here: what they may not do, and what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import Books, catalogue, orders, subscribers
from masthead.books.opening import open_books
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import BadInput
from masthead.store.books.operation import operation
from tests.loading.mapped import load_mapped
from tests.loading.publisher import Publisher
from tests.servers import masthead
from tests.store.conftest import copied, new_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

BEFORE = {
    "publications.csv": "publication_id,name,issues_per_year\n1,Tide,12\n",
    "issues.csv": "issue_id,publication_id,name,date\n"
    + "".join(f"{n},1,No. {n},2190-0{n}-01\n" for n in range(1, 7)),
    "subscribers.csv": (
        "subscriber_id,renewal_code,first_name,last_name\n1,AAAAA,Ann,Ames\n2,BBBBB,Ben,Birch\n"
        "3,CCCCC,Cora,Cole\n"
    ),
    "addresses.csv": "address_id,subscriber_id,city\n1,1,Salem\n2,2,Dover\n",
    "subscriptions.csv": (
        "subscription_id,subscriber_id,publication_id,mailing_address_id,issues,copies,type\n"
        "1,1,1,1,12,1,Print\n"
    ),
    "custom_fields.csv": "field_id,name,type\n1,why,text\n2,how,text\n",
    "custom_field_answers.csv": "subscriber_id,field_id,text_value\n2,1,two\n3,1,three\n3,2,x\n",
    "bundles.csv": "bundle_id,name,price\n7,A year,3500\n",
    "bundle_lines.csv": (
        "bundle_id,line_number,publication_id,issues,type,price\n7,1,1,12,Print,3500\n"
    ),
    "products.csv": "product_id,name\n1,Mug\n",
}
QUAY = {"address": "1 Quay", "city": "Salem", "zip_code": "97301", "country_name": "USA"}


@pytest.fixture(scope="module")
def with_order(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Books of three readers whom files brought, and of Ada (4), whom an order brought."""
    with new_url(store) as url:
        publisher = Publisher(url, tmp_path_factory.mktemp("files-beside"))
        publisher.load(BEFORE)
        open_books(Books(publisher.store, 1))
        ada = Person(email="ada@x.example", first_name="Ada", last_name="Auk", address=QUAY)
        order = Order(ada, [Item(7, first_issue=1)], is_paid=True)
        orders.place(Books(publisher.store, 1), order)
        books = Books(publisher.store, 1)
        catalogue.add(books, "publication", {"name": "Gale"})
        catalogue.add(books, "product", {"name": "Pen", "price": 100, "tax": 0})
        catalogue.add_issue(books, {"publication_id": 1, "name": "No. 7", "date": "2190-07-01"})
        publisher.store.close()
        yield url


@pytest.fixture
def publisher(store: Store, with_order: str, tmp_path: Path) -> Iterator[Publisher]:
    with copied(store, with_order, tmp_path) as found:
        yield found


def subscriber(publisher: Publisher, number: int) -> dict[str, Any]:
    (found,) = (r for r in publisher.table("subscribers") if r["subscriber_id"] == number)
    return found


def test_a_row_for_an_id_of_here_names_the_record_as_it_is_called_here(
    publisher: Publisher,
) -> None:
    """decisions, "Ids of files and of the books": F1 of the reader whom a file overwrote."""
    code = subscriber(publisher, 4)["renewal_code"]
    before = publisher.everything()
    for name, row in {
        "subscribers": "subscriber_id,renewal_code,email,first_name,last_name\n4,BOBBB,b@x,Bob,Oz",
        "subscribers ": "subscriber_id,email\n4,bob@x.example",
        "addresses": "address_id,subscriber_id,city\n3,2,Dover",
        "addresses ": "address_id,subscriber_id,city\n9,4,Dover",
        "custom_field_answers": "subscriber_id,field_id,text_value\n4,1,me",
        "publications": "publication_id,name\n2,Storm",
        "publications ": "publication_id,issues_per_year\n2,6",
        "products": "product_id,name\n2,Ink",
        "issues": "issue_id,publication_id,date\n7,2,2190-08-01",
    }.items():
        found = publisher.problem({f"{name.strip()}.csv": f"{row}\n"})
        assert "was added here" in found, (name, found)
    assert publisher.everything() == before
    publisher.load(
        {
            "subscribers.csv": f"subscriber_id,renewal_code,email\n4,{code},new@x.example\n",
            "addresses.csv": "address_id,subscriber_id,city\n3,4,Dover\n9,4,Kiel\n",
            "custom_field_answers.csv": "subscriber_id,field_id,text_value\n4,1,me\n",
            "publications.csv": "publication_id,name,issues_per_year\n2,Gale,6\n",
            "issues.csv": "issue_id,publication_id,name,date\n7,1,No. 7,2190-07-02\n",
        }
    )
    assert subscriber(publisher, 4)["email"] == "new@x.example"
    assert [row["given_here"] for row in publisher.table("addresses")] == [0, 0, 1, 0]
    found = publisher.problem({"subscribers.csv": "subscriber_id,given_here\n4,0\n"})
    assert "only operations give ids here" in found
    found = publisher.problem({"subscribers.csv": "subscriber_id,given_here\n50,1\n"})
    assert "only operations give ids here" in found


def test_ids_from_keys_never_equal_ids_of_operations(publisher: Publisher) -> None:
    """decisions, "Ids of files and of the books": and orders take none of theirs."""
    mapping = '[[files]]\nname = "s"\n[files.tables.subscribers]\n'
    mapping += 'subscriber_id = { key = ["Nr"] }\nlast_name = "Name"\n'
    for _ in range(2):
        load_mapped(publisher, {"s.csv": "Nr,Name\n1,One\n4,Four\n"}, mapping)
        names = {r["subscriber_id"]: r["last_name"] for r in publisher.table("subscribers")}
        assert names == {1: "Ames", 2: "Birch", 3: "Cole", 4: "Auk", 5: "One", 6: "Four"}
    with operation(publisher.store, 1, None) as books:
        assert books.new_id("subscribers") == 7


def test_no_file_renames_removes_or_revives_a_reader_of_the_books(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Readers whom files leave alone": Ann has issues to come, Ben has nothing."""
    head = "subscriber_id,first_name,last_name,delete_date\n"
    code = subscriber(publisher, 4)["renewal_code"]
    for row, said in {
        "1,Ann,Aldous,\n": "no file renames subscriber 1",
        "1,Ann,Ames,2026-01-01 00:00:00\n": "no file removes subscriber 1",
        "4,Ada,Auk,2026-01-01 00:00:00\n": "no file removes subscriber 4",
    }.items():
        assert said in publisher.problem({"subscribers.csv": head + row}), row
    found = publisher.problem({"addresses.csv": "address_id,subscriber_id\n1,2\n"})
    assert "address 1 is that of subscriber 1, who has issues, money or orders" in found
    before = publisher.everything()
    rows = "1,Ann,Aldous,\n2,Ben,Bach,\n3,Cora,Cole,2026-01-01 00:00:00\n"
    loaded = publisher.load({"subscribers.csv": head + rows}, reject=tmp_path / "r")
    assert loaded.rejected == {"subscribers.csv": 1}
    assert subscriber(publisher, 1) == before["subscribers"][0]
    assert subscriber(publisher, 2)["last_name"] == "Bach"
    assert subscriber(publisher, 3)["delete_date"] == "2026-01-01 00:00:00"
    with publisher.store.writer() as database, database.transaction():
        database.change("UPDATE subscribers SET delete_date = '2026-01-01' WHERE subscriber_id = 1")
    found = publisher.problem({"subscribers.csv": "subscriber_id,delete_date\n1,\n"})
    assert "no file revives subscriber 1" in found
    for kept in (1, 4):
        with pytest.raises(BadInput, match=f"subscriber {kept} has issues, money or orders here"):
            publisher.remove("subscribers", (kept,))
    assert code == subscriber(publisher, 4)["renewal_code"]


def test_complete_files_keep_readers_of_the_books_and_report_it(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Readers whom files leave alone": F2 of the paid reader who was removed."""
    files = {
        "subscribers.csv": "subscriber_id\n2\n",
        "publications.csv": "publication_id\n1\n",
        "products.csv": "product_id\n1\n",
        "custom_field_answers.csv": "subscriber_id,field_id\n2,1\n",
    }
    loaded = publisher.load_complete(files)
    assert loaded.kept == {"publications": 1, "subscribers": 2, "products": 1}
    assert loaded.counts["subscribers"].removed == 1
    gone = [r["subscriber_id"] for r in publisher.table("subscribers") if r["delete_date"]]
    assert gone == [3]
    words = ("import", publisher.write({"subscribers.csv": "subscriber_id\n2\n"}), "--complete")
    said = masthead(*words, "--account=1", database=publisher.url).stdout
    assert "subscribers: 2 rows that the files lack kept: added here, or with issues, mon" in said


def test_what_was_merged_stays_merged(publisher: Publisher) -> None:
    """rules, "Readers whom files leave alone": F3 of the merge that a file undid."""
    subscribers.merge(Books(publisher.store, 1), 3, 2)
    before = publisher.everything()
    files = {
        "addresses.csv": "address_id,subscriber_id,city\n2,2,Dover\n8,2,Kiel\n",
        "custom_field_answers.csv": "subscriber_id,field_id,text_value\n2,1,two\n2,2,y\n",
    }
    for row in ("2,Ben,Birch,", "2,Ben,Bach,2026-01-01 00:00:00"):
        people = f"subscriber_id,first_name,last_name,delete_date\n{row}\n"
        found = publisher.problem({**files, "subscribers.csv": people})
        assert "subscriber 2 was merged into 3, and what was merged stays merged" in found
    assert publisher.everything() == before
    same = "subscriber_id,first_name,last_name\n2,Ben,Birch\n"
    loaded = publisher.load({**files, "subscribers.csv": same})
    assert {name: tuple(counts) for name, counts in loaded.counts.items()} == {
        "subscribers": (0, 0, 1, 0),
        "addresses": (1, 0, 1, 0),
        "custom_field_answers": (0, 0, 0, 0),
    }
    assert [r["subscriber_id"] for r in publisher.table("addresses")] == [1, 3, 4, 3]
    assert publisher.load_complete({"subscribers.csv": "subscriber_id\n3\n"}).kept


def test_an_own_export_changes_nothing(publisher: Publisher) -> None:
    before = publisher.exported()
    subscribers.merge(Books(publisher.store, 1), 3, 2)
    exported = publisher.exported()
    owned = [name.removesuffix(".csv") for name in BEFORE if name != "subscriptions.csv"]
    loaded = publisher.load({f"{name}.csv": exported[f"{name}.csv"] for name in owned})
    assert not any(counts.has_changes for counts in loaded.counts.values())
    assert publisher.exported() == exported != before
    copy = Publisher(publisher.url, publisher.folder, 2, store=publisher.store)
    copy.load(exported)
    assert copy.exported() == exported


def by_command(publisher: Publisher, what: str) -> None:
    books = Books(publisher.store, 1)
    if what == "per year":
        catalogue.set_values(books, "publication", 1, {"issues_per_year": 6})
    elif what == "moved":
        catalogue.set_issue(books, 7, {"date": "2190-07-20"})
    elif what == "planned":
        catalogue.add_issue(books, {"publication_id": 1, "name": "No. 8", "date": "2190-09-15"})
    else:
        catalogue.remove_issue(books, 6)


def by_file(publisher: Publisher, what: str) -> None:
    if what == "per year":
        publisher.load({"publications.csv": "publication_id,issues_per_year\n1,6\n"})
    elif what == "moved":
        publisher.load({"issues.csv": "issue_id,name,date\n7,No. 7,2190-07-20\n"})
    elif what == "planned":
        row = "issue_id,publication_id,name,date\n8,1,No. 8,2190-09-15\n"
        publisher.load({"issues.csv": row})
    elif what == "gone":
        publisher.remove("issues", (6,))
    else:
        rows = "".join(f"{n}\n" for n in range(1, 6))
        publisher.load_complete({"issues.csv": f"issue_id\n{rows}"})


def test_a_load_of_the_plan_is_followed_as_a_command_of_the_catalogue_is(
    store: Store, with_order: str, tmp_path: Path
) -> None:
    """rules, "Loads of the plan": F7 of the dates that stayed."""
    for what in ("per year", "moved", "planned", "gone", "missing"):
        found = []
        for number, change in enumerate((by_command, by_file)):
            with copied(store, with_order, tmp_path / f"{what}{number}") as publisher:
                before = publisher.table("subscriptions")
                change(publisher, "gone" if change is by_command and what == "missing" else what)
                found.append([row["date_expired"] for row in publisher.table("subscriptions")])
                assert found[-1] != [row["date_expired"] for row in before], what
        assert found[0] == found[1], what


def test_a_named_first_issue_that_a_file_moves_earlier_comes_all_the_same(
    store: Store, with_order: str, tmp_path: Path
) -> None:
    """rules, "Loads of the plan": as when a command moves it."""
    begins = []
    for number in (0, 1):
        with copied(store, with_order, tmp_path / f"{number}") as publisher:
            if number:
                publisher.load({"issues.csv": "issue_id,date\n1,2189-12-20\n"})
            else:
                catalogue.set_issue(Books(publisher.store, 1), 1, {"date": "2189-12-20"})
            begins.append([row["begins_on"] for row in publisher.table("subscriptions")])
    assert begins[0] == begins[1] != []
    assert "2189-12-20" in begins[1]


def test_two_issues_of_one_day_are_refused_by_files_too(publisher: Publisher) -> None:
    """rules, "Loads of the plan"."""
    head = "issue_id,publication_id,name,date\n"
    said = "another issue of publication 1 is of 2190-0"
    assert said in publisher.problem({"issues.csv": f"{head}9,1,New,2190-03-01\n"})
    assert said in publisher.problem({"issues.csv": f"{head}9,1,A,2190-09-01\n10,1,B,2190-09-01\n"})
    assert said in publisher.problem({"issues.csv": "issue_id,date\n5,2190-06-01\n"})
    publisher.load({"issues.csv": "issue_id,date\n5,2190-06-01\n6,2190-05-01\n"})
    with pytest.raises(BadInput, match="is of"):
        catalogue.set_issue(Books(publisher.store, 1), 5, {"date": "2190-05-01"})
