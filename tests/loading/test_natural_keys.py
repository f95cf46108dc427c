"""Ids made from natural keys: the same key gives the same id for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.errors import BadInput
from masthead.store.natural_keys import NaturalKeys, key_of
from masthead.store.staging import staging_for
from tests.loading.mapped import FLAT, FLAT_MAPPING, load_mapped, natural_keys, refusal
from tests.long import ONLY_LONG, examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.loading.publisher import Publisher

MAPPING = """
[[files]]
name = "s"
[files.tables.subscribers]
subscriber_id = { key = ["Nr"] }
email = "Mail"
[[files]]
name = "t"
[files.tables.purchases]
purchase_id = { key = ["Rechnung", "Zeile"] }
subscriber_id = { key = ["Nr"] }
bundle_id = { key = ["Paket"], of = "bundles" }
"""
KEYS = st.text(st.sampled_from("aAbé:1 \x1f"), max_size=3)


def ids(publisher: Publisher) -> dict[str, int]:
    return {row["email"]: row["subscriber_id"] for row in publisher.table("subscribers")}


def subscribers(*keys: str) -> dict[str, str]:
    rows = "".join(f"{key},{key.strip()}\n" for key in keys)
    return {"s.csv": f"Nr,Mail\n{rows}"}


def test_new_keys_get_the_ids_above_the_largest_in_the_order_of_the_file(
    small: Publisher,
) -> None:
    """decisions, "Ids made from natural keys"."""
    load_mapped(small, subscribers("K-9", "K-1", "K-5"), MAPPING)
    load_mapped(small, subscribers("K-0", "K-1"), MAPPING)
    found = ids(small)
    assert [found[key] for key in ("K-9", "K-1", "K-5", "K-0")] == [3, 4, 5, 6]


def test_a_key_of_one_table_is_found_from_another_file_and_in_a_later_load(
    publisher: Publisher,
) -> None:
    load_mapped(publisher, subscribers("K-1", "K-2"), MAPPING)
    content = "Rechnung,Zeile,Nr,Paket\nR1,1,K-2,Abo\nR1,2,K-2,Buch\nR2,1,K-1,Abo\n"
    load_mapped(publisher, {"t.csv": content}, MAPPING)
    found = [(row["subscriber_id"], row["bundle_id"]) for row in publisher.table("purchases")]
    assert found == [(2, 1), (2, 2), (1, 1)]


def test_a_reference_by_a_key_that_no_record_has_is_named_by_the_key(publisher: Publisher) -> None:
    content = "Rechnung,Zeile,Nr,Paket\nR1,1,K-99,\n"
    assert refusal(publisher, {"t.csv": content}, MAPPING) == [
        "t.csv:2: Nr (purchases.subscriber_id): there is no subscriber 'K-99'"
    ]


def test_nothing_of_a_refused_load_stays(publisher: Publisher) -> None:
    """The ids that it would have given are given to others."""
    refusal(publisher, subscribers("K-1", "x" * 51), MAPPING)
    assert natural_keys(publisher) == []
    load_mapped(publisher, subscribers("K-2"), MAPPING)
    assert ids(publisher) == {"K-2": 1}


def test_a_key_keeps_its_id_when_its_record_was_rejected(
    publisher: Publisher, tmp_path: Path
) -> None:
    files = {"s.csv": f"Nr,Mail\nK-1,{'x' * 51}\nK-2,b\n"}
    load_mapped(publisher, files, MAPPING, reject=tmp_path / "r")
    load_mapped(publisher, subscribers("K-0", "K-1"), MAPPING)
    assert ids(publisher) == {"b": 2, "K-0": 3, "K-1": 1}


def test_spaces_at_the_ends_of_a_key_do_not_count_and_letter_case_does(
    publisher: Publisher,
) -> None:
    """decisions, "Ids made from natural keys"."""
    load_mapped(publisher, subscribers("K-1", " K-1 ", "k-1"), MAPPING)
    assert ids(publisher) == {"K-1": 1, "k-1": 2}


def test_keys_of_several_columns_are_not_mixed_up(publisher: Publisher) -> None:
    load_mapped(publisher, subscribers("K"), MAPPING)
    rows = ["1,11", "11,1", "1:1,1", "1,1:1"]
    content = "Rechnung,Zeile,Nr,Paket\n" + "".join(f"{row},K,\n" for row in rows)
    load_mapped(publisher, {"t.csv": content}, MAPPING)
    assert len(publisher.table("purchases")) == len(rows)


@given(st.lists(st.text().map(str.strip), min_size=1, max_size=3), st.data())
def test_no_two_lists_of_values_have_the_same_key(parts: list[str], data: st.DataObject) -> None:
    strategy = st.lists(st.text().map(str.strip), min_size=1, max_size=3)
    other = data.draw(strategy | st.just(["".join(parts)]) | st.just([key_of(parts).strip()]))
    assert (key_of(parts) == key_of(other)) == (parts == other)


def test_the_database_has_the_digest_of_a_key_and_not_the_key(publisher: Publisher) -> None:
    """decisions, "Ids made from natural keys": it may be personal, and outlives an erasure."""
    load_mapped(
        publisher,
        subscribers("ada@example.org", "x" * 3_000) | {},
        MAPPING.replace('email = "Mail"', 'source = { column = "Mail", default = "x" }'),
    )
    rows = natural_keys(publisher)
    assert [len(digest) for _, digest, _ in rows] == [32, 32]
    assert "ada" not in str(rows)


def test_accounts_have_keys_of_their_own(new_publisher: Callable[[], Publisher]) -> None:
    one, two = new_publisher(), new_publisher()
    load_mapped(one, subscribers("K-1", "K-2"), MAPPING)
    load_mapped(two, subscribers("K-2"), MAPPING)
    assert (ids(one), ids(two)) == ({"K-1": 1, "K-2": 2}, {"K-2": 1})


@ONLY_LONG
@examples(5, 200)
@given(loads=st.lists(st.lists(KEYS, max_size=5), min_size=1, max_size=4))
def test_the_same_key_has_the_same_id_over_any_sequence_of_loads(
    new_publisher: Callable[[], Publisher], loads: list[list[str]]
) -> None:
    """Other loads and refused loads in between change nothing."""
    publisher = new_publisher()
    known: dict[str, int] = {}
    for number, keys in enumerate(loads):
        wanted = [key for key in dict.fromkeys(key.strip() for key in keys) if key]
        rows = "".join(f'{{"Nr": "{key}", "Mail": "{key}"}}\n' for key in wanted)
        rows = rows.replace("\x1f", "\\u001f")
        if number % 2:
            with pytest.raises(BadInput):
                load_mapped(publisher, {"s.ndjson": f'{{"Nr": "new"}}\n{rows}x\n'}, MAPPING)
        load_mapped(publisher, {"s.ndjson": rows}, MAPPING)
        found = ids(publisher)
        assert found.keys() == {*known, *wanted}
        assert {key: found[key] for key in known} == known
        known = found
    assert sorted(known.values()) == list(range(1, len(known) + 1))


def test_a_load_that_another_one_overtook_is_refused(publisher: Publisher) -> None:
    """The ids that it has given are another's by now."""
    with (
        publisher.store.writer() as database,
        staging_for(database, publisher.account_id) as staging,
    ):
        keys = NaturalKeys(staging)
        with staging.filling():
            assert keys.ids_of("subscribers", ["K-1"]) == {"K-1": 1}
        publisher.load({"subscribers.csv": "subscriber_id\n1\n"})
        with pytest.raises(BadInput, match="another load of this account"), database.transaction():
            keys.keep()
    assert natural_keys(publisher) == []


def test_no_id_is_given_beyond_the_largest(publisher: Publisher) -> None:
    publisher.load({"subscribers.csv": f"subscriber_id\n{2**63 - 2}\n"})
    (line,) = refusal(publisher, subscribers("K-1"), MAPPING)
    assert line == f"subscribers: no ids are left above {2**63 - 2} for natural keys"


def test_many_keys_are_looked_up_in_bounded_memory(
    publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("masthead.store.natural_keys._REMEMBERED_MAX", 10)
    monkeypatch.setattr("masthead.store.natural_keys._AT_ONCE", 7)
    keys = [f"K-{n}" for n in range(4_100)]
    load_mapped(publisher, subscribers(*keys), MAPPING)
    assert ids(publisher) == {key: n for n, key in enumerate(keys, 1)}
    load_mapped(publisher, subscribers(*reversed(keys)), MAPPING)
    assert ids(publisher) == {key: n for n, key in enumerate(keys, 1)}


def test_flat_rows_and_their_keys_survive_a_change_of_the_rest(publisher: Publisher) -> None:
    load_mapped(publisher, {"Abonnenten.csv": FLAT}, FLAT_MAPPING)
    before = natural_keys(publisher)
    changed = FLAT.replace("Hafenweg 1", "Seeweg 9").replace(";B;", ";P;")
    loaded = load_mapped(publisher, {"Abonnenten.csv": changed}, FLAT_MAPPING)
    assert {name: counts.changed for name, counts in loaded.counts.items()} == {
        "publications": 0,
        "subscribers": 0,
        "addresses": 1,
        "subscriptions": 1,
    }
    assert natural_keys(publisher) == before


def test_no_key_gets_the_id_of_a_record_that_was_removed(small: Publisher) -> None:
    """decisions, "Ids of files and of the books": no id is given twice."""
    small.load({"addresses.csv": "address_id,subscriber_id,city\n3,1,Kiel\n"})
    small.remove("addresses", (3,))
    mapping = """
        [[files]]
        name = "a"
        [files.tables.addresses]
        address_id = { key = ["Nr"] }
        subscriber_id = { constant = 1 }
        city = "Ort"
        """
    load_mapped(small, {"a.csv": "Nr,Ort\nK-1,Lund\n"}, mapping)
    assert [row["address_id"] for row in small.table("addresses")] == [1, 2, 4]
