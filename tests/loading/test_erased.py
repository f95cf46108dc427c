"""What is loaded after a subscriber was erased, and that none of it brings the person back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.store import erasing
from tests.loading.person import DIGEST, NUMBER, PERSON, WORD, erase, personal_values
from tests.loading.records import publishers
from tests.long import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.loading.publisher import Publisher


def test_the_same_files_again_change_nothing(person: Publisher) -> None:
    """rules, "Personal data: later loads": the nightly file still has the person."""
    erase(person)
    before, count = person.everything(), person.commit_count()
    loaded = person.load(PERSON)
    assert not any(counts.inserted or counts.changed for counts in loaded.counts.values())
    assert loaded.kept_blank == 10
    assert person.everything() == before
    assert person.commit_count() == count
    assert person.load(person.exported()).kept_blank == 0
    assert person.commit_count() == count


def test_what_is_new_of_the_erased_comes_blank(person: Publisher) -> None:
    """rules, "Personal data: later loads"."""
    erase(person)
    loaded = person.load(
        {
            "addresses.csv": f"address_id,subscriber_id,city,verified\n7,1,{WORD},1\n8,1,,1\n",
            "purchases.csv": f"purchase_id,subscriber_id,notes,total\n7,1,{WORD},9\n",
            "orders.csv": f"order_id,subscriber_id,import_name,grand_total\n7,1,{WORD},9\n",
        }
    )
    assert loaded.kept_blank == 4
    assert personal_values(person) == []
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
    """rules, "Personal data: later loads": also where the file does not say whose a row is."""
    erase(person)
    count = person.commit_count()
    assert person.load({name: content}).kept_blank == 1
    assert personal_values(person) == []
    assert person.commit_count() == count


def test_a_row_that_moves_to_the_erased_is_blanked_and_one_that_leaves_is_not_filled(
    person: Publisher,
) -> None:
    """rules, "Personal data: later loads"."""
    erase(person)
    person.load({"addresses.csv": "address_id,subscriber_id\n2,1\n1,2\n"})
    assert personal_values(person) == []
    person.load({"addresses.csv": "address_id,city\n1,Dover\n2,Salem\n"})
    assert [record["city"] for record in person.table("addresses")] == ["Dover", None]


def test_the_delete_date_stays(person: Publisher) -> None:
    """rules, "Personal data: later loads"."""
    person.load({"subscribers.csv": "subscriber_id,delete_date\n1,2026-01-02 03:04:05\n"})
    erase(person)
    for written in ("", "2026-09-09 09:09:09"):
        person.load({"subscribers.csv": f"subscriber_id,delete_date\n1,{written}\n"})
        assert person.table("subscribers")[0]["delete_date"] == "2026-01-02 03:04:05"


def test_the_renewal_code_is_free_for_another_subscriber(person: Publisher) -> None:
    """rules, "Renewal codes" hold among those who are there."""
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
    assert personal_values(person) == []


# Any data may be loaded.

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


@examples(3, 75)  # on each kind of database
@given(loads=st.lists(later_files(), min_size=1, max_size=4))
def test_an_erased_subscriber_stays_blank_after_any_load(
    new_publisher: Callable[[], Publisher], loads: list[dict[str, str]]
) -> None:
    """rules, "Personal data: later loads": what cannot be loaded changes nothing anyway."""
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
        assert personal_values(publisher) == []
        assert publisher.table("subscribers")[0] == blank
        count = publisher.commit_count()
        publisher.load(files)
        assert publisher.commit_count() == count


@examples(2, 50)  # on each kind of database
@given(data=st.data())
def test_earlier_files_change_nothing_of_an_erased_subscriber(
    new_publisher: Callable[[], Publisher], data: st.DataObject
) -> None:
    """rules, "Personal data: later loads"; and an export takes the erased along."""
    publisher, copy = new_publisher(), new_publisher()
    files = data.draw(publishers())
    publisher.load(files)
    ids = [record["subscriber_id"] for record in publisher.table("subscribers")]
    if not ids:
        return
    erased = data.draw(st.sampled_from(ids))
    erase(publisher, erased, leave_traces=True)
    blank = publisher.everything()
    assert personal_values(publisher, erased) == []
    publisher.load(files)
    assert publisher.everything() == blank
    copy.load(publisher.exported())
    copy.load(files)
    assert copy.everything() == blank
