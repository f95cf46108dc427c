"""Erasing a subscriber: what goes, what stays, and that no later load brings it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from masthead.contract.records import TABLES, TABLES_BY_NAME
from masthead.errors import BadInput, NotFound
from masthead.store import audit, changes, commits, erasing
from tests.loading.publisher import SMALL, Publisher
from tests.loading.records import publishers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DIGEST = "5f4dcc3b5aa765d61d8327deb882cf99"
# Whatever is personal of subscriber 1 has the word in it.
WORD = "Quill"
NUMBER = "4242424242"
PERSON = {
    **SMALL,
    "subscribers.csv": (
        "subscriber_id,renewal_code,email,password_md5,first_name,last_name,source\n"
        f"1,{WORD},ada@{WORD}.example,{DIGEST},{WORD}a,{WORD}b,{WORD}c\n"
        "2,BBBBB,ben@example.org,,Ben,Birch,Web\n"
    ),
    "addresses.csv": (
        "address_id,subscriber_id,first_name,last_name,company,address,city,state,zip_code,"
        "country_name,country_abbreviation,latitude,longitude,verified\n"
        f"1,1,{','.join(f'{WORD}{n}' for n in range(9))},{NUMBER},{NUMBER},1\n"
        "2,2,Ben,Birch,,2 Road,Dover,DE,19901,United States,US,,,1\n"
    ),
    "custom_field_answers.csv": (
        f"subscriber_id,field_id,option_ids,text_value\n1,1,10|11,\n1,2,,{WORD}\n2,2,,So\n"
    ),
    "orders.csv": (
        "order_id,subscriber_id,mailing_address_id,import_name,order_date,grand_total\n"
        f"1,1,1,{WORD},2026-03-01 10:00:00,10.5\n2,2,2,March,2026-03-01 10:00:00,3\n"
    ),
    "purchases.csv": (
        "purchase_id,subscriber_id,payment_type,notes,name,invoice_id,total\n"
        f"1,1,Check,{WORD} called,{WORD},INV-1,10.50\n2,2,Check,Called,Ben,INV-2,3\n"
    ),
}


@pytest.fixture
def person(publisher: Publisher) -> Publisher:
    """An account whose subscriber 1 has a value in each personal column."""
    publisher.load(PERSON)
    return publisher


def erase(publisher: Publisher, subscriber_id: int = 1, **options: Any) -> dict[str, int]:
    return erasing.erase(publisher.store, publisher.account_id, subscriber_id, **options)


def held_of(publisher: Publisher, subscriber_id: int = 1) -> list[tuple[str, str, Any]]:
    """Return what is held of a subscriber that is personal: table, column and value."""
    return [
        (table.name, name, record[name])
        for table in erasing.PERSONAL
        for record in publisher.table(table.name)
        if record["subscriber_id"] == subscriber_id
        for name in table.personal
        if record[name] not in {None, 0}
    ]


def of_others(publisher: Publisher) -> dict[str, list[dict[str, Any]]]:
    """Return all records but those of subscriber 1."""
    return {
        name: [record for record in records if record.get("subscriber_id") != 1]
        for name, records in publisher.everything().items()
    }


def test_each_column_of_a_person_is_personal_or_one_of_the_business() -> None:
    """decisions, "Personal data: erasing": whoever adds a column has to say which it is."""
    of_the_business = {
        "subscribers": {"subscriber_id", "delete_date"},
        "addresses": {"address_id", "subscriber_id"},
        "custom_field_answers": {"subscriber_id", "field_id"},
        "orders": {
            *("order_id", "subscriber_id", "mailing_address_id", "billing_address_id", "user_id"),
            *("channel_id", "order_date", "is_gift", "sub_total", "tax_total", "grand_total"),
        },
        "purchases": {
            *("purchase_id", "payment_type", "subscriber_id", "bundle_id", "shipping_address_id"),
            *("billing_address_id", "invoice_id", "total", "product_total", "is_gift"),
        },
        "subscriptions": {column.name for column in TABLES_BY_NAME["subscriptions"].columns},
    }
    for table in TABLES:
        names = {column.name for column in table.columns}
        if "subscriber_id" in names:
            assert names - set(table.personal) == of_the_business[table.name], table.name
        else:
            assert not table.personal


def test_all_that_is_personal_goes_and_the_business_stays(person: Publisher) -> None:
    """decisions, "Personal data: erasing"."""
    columns = sum(len(table.personal) for table in erasing.PERSONAL)
    assert len({(table, name) for table, name, _ in held_of(person)}) == columns
    before, others = person.everything(), of_others(person)
    assert erase(person) == {
        "subscribers": 1,
        "addresses": 1,
        "custom_field_answers": 2,
        "orders": 1,
        "purchases": 1,
    }
    assert held_of(person) == []
    assert of_others(person) == others
    for table in TABLES:
        business = {column.name for column in table.columns} - {*table.personal, "delete_date"}
        assert [
            {name: record[name] for name in business} for record in person.table(table.name)
        ] == [{name: record[name] for name in business} for record in before[table.name]]
    (erasure,) = person.table("erasures")
    assert person.table("subscribers")[0]["delete_date"] == erasure["erased_at"]
    with person.store.writer() as database:
        assert database.rows(
            "SELECT first_name_folded, last_name_folded, email_lower FROM subscribers "
            "WHERE account_id = :id AND subscriber_id = 1",
            id=person.account_id,
        ) == [(None, None, None)]


def test_an_export_holds_nothing_of_it(person: Publisher) -> None:
    """decisions, "Personal data: erasing"."""
    assert WORD.encode() in b"".join(person.exported().values())
    erase(person)
    exported = b"".join(person.exported().values())
    for trace in (WORD, WORD.lower(), NUMBER, DIGEST):
        assert trace.encode() not in exported


def test_it_is_one_change_of_each_record_that_showed_something(person: Publisher) -> None:
    """decisions, "Personal data: erasing": so mirrors get it through the change feed."""
    before = person.commit_count()
    erase(person)
    assert person.commit_count() == before + 1
    with person.store.reader() as database:
        database.speak_for(person.account_id)
        position = commits.position_of(database, person.account_id)
        assert not position.is_stamp_awaited
        first = commits.first_commit_since(database, person.account_id, position.newest_stamp)
        assert first
        found = {
            entity: [
                row[0] if isinstance(row[0], int) else row[0][0]
                for row in query(database, person.account_id, first)
            ]
            for entity, query in changes.CHANGED.items()
        }
    assert found == {
        "customfields": [1],
        "subscriptions": [],
        "subscribers": [1],
        "addresses": [1],
        "purchases": [1],
        "listdownloads": [],
        "orders": [1],
    }


def test_erasing_twice_is_harmless(person: Publisher) -> None:
    """decisions, "Personal data: erasing"."""
    erase(person)
    before, count = person.everything(), person.commit_count()
    assert erase(person) == {}
    assert person.everything() == before
    assert person.commit_count() == count


def test_who_does_not_exist_cannot_be_erased(person: Publisher) -> None:
    before = person.everything()
    with pytest.raises(NotFound, match="has no subscriber 99"):
        erase(person, 99)
    with pytest.raises(NotFound, match="there is no account 999999"):
        erasing.erase(person.store, 999_999, 1)
    assert person.everything() == before


def test_an_account_with_the_same_ids_keeps_its_people(
    person: Publisher, new_publisher: Callable[[], Publisher]
) -> None:
    """design, "The store"."""
    other = new_publisher()
    other.load(PERSON)
    before = other.everything()
    erase(person)
    assert other.everything() == before
    other.load(PERSON)
    assert other.everything() == before


def test_what_cannot_be_recorded_is_not_done(person: Publisher) -> None:
    """decisions, "Who did what": neither exists without the other."""
    before, count = person.everything(), person.commit_count()
    nobody = audit.Deed(None, "erase")  # type: ignore[arg-type] - the database refuses it
    with pytest.raises(Exception, match=r"(?i)null"):
        erase(person, by=nobody)
    assert person.everything() == before
    assert person.commit_count() == count


# What is loaded afterwards.


def test_the_same_files_again_change_nothing(person: Publisher) -> None:
    """decisions, "Personal data: later loads": the nightly file still has the person."""
    erase(person)
    before, count = person.everything(), person.commit_count()
    loaded = person.load(PERSON)
    assert not any(counts.inserted or counts.changed for counts in loaded.counts.values())
    assert loaded.kept_blank == 6
    assert person.everything() == before
    assert person.commit_count() == count
    assert person.load(person.exported()).kept_blank == 0
    assert person.commit_count() == count


def test_what_is_new_of_the_erased_comes_blank(person: Publisher) -> None:
    """decisions, "Personal data: later loads"."""
    erase(person)
    loaded = person.load(
        {
            "addresses.csv": f"address_id,subscriber_id,city,verified\n7,1,{WORD},1\n8,1,,1\n",
            "purchases.csv": f"purchase_id,subscriber_id,notes,total\n7,1,{WORD},9\n",
            "orders.csv": f"order_id,subscriber_id,import_name,grand_total\n7,1,{WORD},9\n",
        }
    )
    assert loaded.kept_blank == 4
    assert held_of(person) == []
    assert [record["total"] for record in person.table("purchases")] == ["10.50", "3", "9"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("subscribers.csv", f"subscriber_id,email\n1,{WORD}@example.org\n"),
        ("subscribers.ndjson", f'{{"subscriber_id": 1, "password": "{WORD}"}}\n'),
        ("addresses.csv", f"address_id,city\n1,{WORD}\n"),
        ("addresses.csv", "address_id,verified\n1,1\n"),
        ("purchases.csv", f"purchase_id,notes\n1,{WORD}\n"),
        ("orders.csv", f"order_id,import_name\n1,{WORD}\n"),
        ("custom_field_answers.csv", "subscriber_id,field_id,option_ids\n1,1,10\n"),
    ],
)
def test_a_file_of_a_few_columns_brings_nothing_back(
    person: Publisher, name: str, content: str
) -> None:
    """decisions, "Personal data: later loads": also where the file does not say whose a row is."""
    erase(person)
    count = person.commit_count()
    assert person.load({name: content}).kept_blank == 1
    assert held_of(person) == []
    assert person.commit_count() == count


def test_a_row_that_moves_to_the_erased_is_blanked_and_one_that_leaves_is_not_filled(
    person: Publisher,
) -> None:
    """decisions, "Personal data: later loads"."""
    erase(person)
    person.load({"addresses.csv": "address_id,subscriber_id\n2,1\n1,2\n"})
    assert held_of(person) == []
    person.load({"addresses.csv": "address_id,city\n1,Dover\n2,Salem\n"})
    assert [record["city"] for record in person.table("addresses")] == ["Dover", None]


def test_the_delete_date_stays(person: Publisher) -> None:
    """decisions, "Personal data: later loads"."""
    person.load({"subscribers.csv": "subscriber_id,delete_date\n1,2026-01-02 03:04:05\n"})
    erase(person)
    for written in ("", "2026-09-09 09:09:09"):
        person.load({"subscribers.csv": f"subscriber_id,delete_date\n1,{written}\n"})
        assert person.table("subscribers")[0]["delete_date"] == "2026-01-02 03:04:05"


def test_the_renewal_code_is_free_for_somebody_else(person: Publisher) -> None:
    """decisions, "Renewal codes" hold among those who are there."""
    erase(person)
    person.load({"subscribers.csv": f"subscriber_id,renewal_code\n1,{WORD}\n3,{WORD}\n"})
    assert [r["renewal_code"] for r in person.table("subscribers")] == [None, "BBBBB", WORD]


def test_a_bad_row_of_the_erased_is_put_aside_like_any_other(
    person: Publisher, tmp_path: Path
) -> None:
    erase(person)
    files = {"addresses.csv": f"address_id,subscriber_id,city\n7,99,Rome\n8,1,{WORD}\n"}
    loaded = person.load(files, reject=tmp_path / "bad")
    assert loaded.rejected == {"addresses.csv": 1}
    assert loaded.kept_blank == 1
    assert held_of(person) == []


# Moving to another database, and files of the erased.


def test_who_is_erased_stays_so_where_an_export_is_loaded(
    person: Publisher, new_publisher: Callable[[], Publisher]
) -> None:
    """decisions, "Personal data: moving an account"."""
    erase(person)
    copy = new_publisher()
    copy.load(person.exported())
    assert copy.exported() == person.exported()
    assert copy.load(PERSON).kept_blank == 6
    assert held_of(copy) == []


def test_a_file_of_erasures_erases(person: Publisher) -> None:
    """decisions, "Personal data: moving an account"; all at once, with the rows beside it."""
    loaded = person.load({**PERSON, "erasures.csv": "subscriber_id\n1\n2\n"})
    assert loaded.counts["erasures"].inserted == 2
    assert held_of(person, 1) == held_of(person, 2) == []
    assert all(record["delete_date"] for record in person.table("subscribers"))
    before, count = person.everything(), person.commit_count()
    assert before["erasures"][0]["erased_at"]
    person.load({"erasures.csv": "subscriber_id,erased_at\n1,2020-01-01 00:00:00\n2,\n"})
    assert person.everything() == before
    assert person.commit_count() == count


def test_a_file_of_erasures_alone_erases_what_is_stored(person: Publisher) -> None:
    loaded = person.load({"erasures.csv": "subscriber_id,erased_at\n1,2026-02-03 04:05:06\n"})
    assert {name: counts.changed for name, counts in loaded.counts.items()} == {
        "erasures": 0,
        "subscribers": 1,
        "addresses": 1,
        "custom_field_answers": 2,
        "orders": 1,
        "purchases": 1,
    }
    assert held_of(person) == []
    assert person.table("subscribers")[0]["delete_date"] == "2026-02-03 04:05:06"
    assert person.table("subscribers")[1]["email"] == "ben@example.org"


def test_a_file_of_erasures_names_subscribers_who_exist(person: Publisher) -> None:
    line = person.problem({"erasures.csv": "subscriber_id\n99\n"})
    assert line == "erasures.csv:2: subscriber_id: there is no subscriber 99"


# Traces in the files of an embedded database.


@pytest.mark.parametrize("by_file", [False, True])
def test_the_files_of_the_database_hold_nothing_of_it(tmp_path: Path, *, by_file: bool) -> None:
    """decisions, "Personal data: traces": nor what earlier loads have replaced, while one reads."""
    publisher = Publisher(f"sqlite:///{tmp_path}/x.db", tmp_path)
    many = "".join(f"{n},{n}@example.org\n" for n in range(10, 3_000))
    publisher.load(PERSON)
    publisher.load({"subscribers.csv": f"subscriber_id,email\n1,former@{WORD}.example\n{many}"})
    publisher.load({"subscribers.csv": f"subscriber_id,email\n1,latter@{WORD}.example\n"})
    reader = publisher.store.open_loop_reader()
    assert reader
    reader.rows("SELECT * FROM subscribers LIMIT 1")
    if by_file:
        publisher.load({"erasures.csv": "subscriber_id\n1\n"})
    else:
        erase(publisher)
    for file in tmp_path.glob("x.db*"):
        content = file.read_bytes().lower()
        for trace in (WORD.lower(), NUMBER, DIGEST, "former@", "latter@"):
            assert trace.encode() not in content, (file, trace)
    assert reader.rows("SELECT count(*) FROM subscribers") == [(2_992,)]
    reader.close()
    publisher.store.close()


# Whatever is loaded.

VALUES = {"verified": "1", "password_md5": DIGEST, "latitude": NUMBER, "longitude": NUMBER}
IDS = st.sampled_from(["1", "2", "3"])


@st.composite
def later_files(draw: Callable[[st.SearchStrategy[Any]], Any]) -> dict[str, str]:
    """Return files of rows that are there, or new: of anybody, with any columns but the key."""
    files = {}
    for table in erasing.PERSONAL:
        names = draw(st.sets(st.sampled_from([column.name for column in table.values])))
        rows = {}
        for _ in range(draw(st.integers(0, 3))):
            row = {name: draw(IDS) for name in table.key}
            rows[tuple(row.values())] = row | {name: draw(cell(name)) for name in names}
        if rows:
            lines = [",".join([*table.key, *sorted(names)])]
            lines += [
                ",".join([*key, *(row[n] for n in sorted(names))]) for key, row in rows.items()
            ]
            files[f"{table.name}.csv"] = "\n".join(lines) + "\n"
    return files


def cell(name: str) -> st.SearchStrategy[str]:
    """Return a value for a column, or none."""
    if name == "subscriber_id":
        return IDS
    if name == "option_ids":
        return st.just("")
    if name == "delete_date":
        return st.sampled_from(["", "2026-09-09 09:09:09"])
    if any(name in table.personal for table in erasing.PERSONAL):
        return st.sampled_from(["", VALUES.get(name, f"{WORD[:4]}")])
    return st.just("")


@settings(max_examples=60)  # on each kind of database
@given(loads=st.lists(later_files(), min_size=1, max_size=4))
def test_whatever_is_loaded_afterwards_an_erased_subscriber_stays_blank(
    new_publisher: Callable[[], Publisher], loads: list[dict[str, str]]
) -> None:
    """decisions, "Personal data: later loads": what cannot be loaded changes nothing anyway."""
    publisher = new_publisher()
    publisher.load({**PERSON, "subscribers.csv": f"{PERSON['subscribers.csv']}3,,,,,,\n"})
    erase(publisher, leave_traces=True)
    blank = publisher.table("subscribers")[0]
    for files in loads:
        if not files:
            continue
        try:
            publisher.load(files)
        except BadInput:
            continue
        assert held_of(publisher) == []
        assert publisher.table("subscribers")[0] == blank
        count = publisher.commit_count()
        publisher.load(files)
        assert publisher.commit_count() == count


@settings(max_examples=15)  # on each kind of database
@given(data=st.data())
def test_whoever_is_erased_the_files_of_before_change_nothing(
    new_publisher: Callable[[], Publisher], data: st.DataObject
) -> None:
    """decisions, "Personal data: later loads"; and an export takes the erased along."""
    publisher, copy = new_publisher(), new_publisher()
    files = data.draw(publishers())
    publisher.load(files)
    ids = [record["subscriber_id"] for record in publisher.table("subscribers")]
    if not ids:
        return
    erased = data.draw(st.sampled_from(ids))
    erase(publisher, erased, leave_traces=True)
    blank = publisher.everything()
    assert held_of(publisher, erased) == []
    publisher.load(files)
    assert publisher.everything() == blank
    copy.load(publisher.exported())
    copy.load(files)
    assert copy.everything() == blank
