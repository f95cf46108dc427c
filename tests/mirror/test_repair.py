"""``verify --repair``: the copy is right where it differed, all of it or nothing."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from masthead.errors import ServiceError
from masthead.mirror import Difference
from tests.client.service import Asked, Reply, Serve, forwarding, refused
from tests.long import ONLY_LONG
from tests.mirror.other import OtherService
from tests.mirror.test_verify import ADDED, CHANGED, ENTRY, MISSING

if TYPE_CHECKING:
    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

DAMAGE = {**MISSING, **CHANGED, **ADDED}
MUCH_DAMAGE = (
    "DELETE FROM addresses",
    "UPDATE subscriptions SET copies = 99",
    "INSERT INTO subscribers (subscriber_id) VALUES (9)",
    "DELETE FROM order_items",
    "DELETE FROM custom_fields",
    "DELETE FROM list_downloads",
    "UPDATE mailing_list_entries SET copies = 99",
    f"{ENTRY}(2, 2, false, true)",
)


def without_times(kept: Kept) -> dict[str, object]:
    """Return all rows but those of the copy's time."""
    return {table: rows for table, rows in kept.everything().items() if table != "mirror"}


def test_a_good_copy_has_nothing_to_repair(golden: Publisher, kept: Kept) -> None:
    """rules, "Mirror: repair"."""
    kept.update(golden)
    before = kept.everything()
    verified = kept.verify(golden, repair=True)
    assert verified.differences == verified.repaired == []
    assert kept.everything() == before


@pytest.mark.parametrize(
    "new_kept",
    ["sqlite", *(pytest.param(kind, marks=ONLY_LONG) for kind in ("postgresql", "parquet"))],
    indirect=True,
)
def test_each_damage_is_repaired(golden: Publisher, kept: Kept) -> None:
    """rules, "Mirror: repair": of other kinds of copies each third, since the code is the same."""
    kept.update(golden)
    before = kept.everything()
    step = 1 if kept.kind == "sqlite" else 3
    for statement, difference in [*DAMAGE.items()][::step]:
        kept.run(statement)
        verified = kept.verify(golden, repair=True)
        assert verified.differences == []
        words = [f"{s}: {t} {'/'.join(map(str, key))}" for t, s, key in verified.repaired]
        assert difference in words
        assert kept.everything() == before, statement
    assert kept.differences(golden) == []


def test_much_damage_at_once_is_repaired(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: repair"."""
    kept.update(publisher)
    before = kept.everything()
    kept.run(*MUCH_DAMAGE)
    repaired = kept.verify(publisher, repair=True)
    assert len(repaired.repaired) > len(MUCH_DAMAGE)
    assert repaired.differences == []
    assert kept.everything() == before


def test_without_it_nothing_is_repaired(publisher: Publisher, kept: Kept) -> None:
    kept.update(publisher)
    kept.run(*MUCH_DAMAGE)
    damaged = without_times(kept)
    verified = kept.verify(publisher)
    assert verified.differences
    assert verified.repaired == []
    assert without_times(kept) == damaged


def test_the_copy_goes_on_from_where_it_was(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: repair": what changes meanwhile comes with the next pass."""
    kept.update(publisher)
    kept.run("UPDATE addresses SET city = 'damaged'")
    before = kept.ask("SELECT changed_since FROM mirror")
    kept.verify(publisher, repair=True)
    assert kept.ask("SELECT changed_since FROM mirror") == before
    publisher.load(addresses=[{"address_id": 1, "city": "Later"}])
    kept.update(publisher)
    assert kept.differences(publisher) == []


def test_what_changes_meanwhile_is_neither_lost_nor_counted(
    publisher: Publisher, kept: Kept, serve: Serve
) -> None:
    """rules, "Mirror: repair"."""
    pass_on = forwarding(publisher.url, "")
    happened: list[Asked] = []

    def answer(asked: Asked) -> Reply:
        if asked.path == "/digest" and not happened:
            happened.append(asked)
            publisher.remove(orders=[1])
            publisher.load(
                addresses=[{"address_id": 1, "city": "Later"}],
                purchases=[{"purchase_id": 7, "subscriber_id": 1}],
            )
        return pass_on(asked)

    kept.update(publisher)
    source = publisher.behind(serve(answer).url)
    kept.run("UPDATE mirror SET base_url = '" + source.url + "'")
    kept.run("UPDATE addresses SET city = 'damaged'", "DELETE FROM orders WHERE order_id = 2")
    verified = kept.verify(source, repair=True)
    assert verified.differences == []
    assert [(table, key) for table, _, key in verified.repaired] == [
        ("addresses", (2,)),
        ("orders", (2,)),
    ]
    kept.update(source)
    assert kept.differences(source) == []


def test_a_repair_that_fails_leaves_the_copy_as_it_was(
    publisher: Publisher, kept: Kept, serve: Serve
) -> None:
    """rules, "Mirror: repair": in one transaction."""
    pass_on = forwarding(publisher.url, "")
    source = publisher.behind(
        serve(
            lambda asked: refused(500) if "downloadmailinglist" in asked.path else pass_on(asked)
        ).url
    )
    kept.update(publisher)
    kept.run("UPDATE mirror SET base_url = '" + source.url + "'", *MUCH_DAMAGE)
    damaged = kept.everything()
    with pytest.raises(ServiceError):
        kept.verify(source, repair=True)
    assert kept.everything() == damaged


def test_what_still_differs_is_not_called_repaired(
    publisher: Publisher, kept: Kept, serve: Serve
) -> None:
    """rules, "Mirror: repair": a second comparison says whether the copy is right."""
    pass_on = forwarding(publisher.url, "")
    names = itertools.count()

    def answer(asked: Asked) -> Reply:
        plain = replace(asked, headers={**asked.headers, "accept-encoding": "identity"})
        whole = pass_on(plain)
        assert isinstance(whole.body, bytes)
        if asked.path == "/digest":
            found = json.loads(whole.body)
            found["addresses"]["digest"] = "0" * 64
            return replace(whole, body=json.dumps(found))
        return replace(whole, body=whole.body.replace(b'"1 Road"', b'"%d Road"' % next(names)))

    kept.update(publisher)
    source = publisher.behind(serve(answer).url)
    kept.run("UPDATE mirror SET base_url = '" + source.url + "'", "DELETE FROM orders")
    verified = kept.verify(source, repair=True)
    assert verified.differences == [Difference("addresses", "different", (1,))]
    assert verified.repaired == [Difference("orders", "missing", (key,)) for key in (1, 2)]


def test_a_copy_of_another_service_is_repaired_where_it_shows_what_is_right(
    kept: Kept, serve: Serve
) -> None:
    """rules, "Mirror: repair"."""
    other = OtherService(serve)
    kept.update(other)
    for statement in MUCH_DAMAGE:
        kept.run(statement)
        differing = kept.differences(other)
        verified = kept.verify(other, repair=True)
        assert verified.differences == [], statement
        assert len(verified.repaired) >= len(differing)
    assert kept.differences(other) == []


def test_records_that_another_service_no_longer_has_are_removed(kept: Kept, serve: Serve) -> None:
    """rules, "Mirror: repair"."""
    other = OtherService(serve)
    kept.update(other)
    other.remove("orders", 3)
    assert kept.differences(other) == ["extra: orders 3"]
    assert kept.verify(other, repair=True).differences == []
    assert 3 not in kept.column("SELECT order_id FROM orders")
    assert 3 not in kept.column("SELECT order_id FROM order_items")
