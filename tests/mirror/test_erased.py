"""A subscriber who is erased at the service is erased in its copies by the next pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.store import erasing
from tests.api.conftest import DATA
from tests.mirror.conftest import EACH_COPY
from tests.mirror.other import OtherService, answers, order

if TYPE_CHECKING:
    from tests.client.service import Serve
    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

WORD = "Quill"


@pytest.fixture
def other(serve: Serve) -> OtherService:
    """A service that is not Masthead."""
    return OtherService(serve)


@EACH_COPY
def test_a_copy_holds_nothing_personal_after_the_next_pass(
    publisher: Publisher, kept: Kept
) -> None:
    """decisions, "Personal data: erasing"; "Mirror: a pass"."""
    publisher.load(
        subscribers=[{"subscriber_id": 1, "email": f"{WORD}@example.org", "first_name": WORD}],
        addresses=[{"address_id": 1, "address": WORD, "city": WORD}],
        custom_fields=[{"field_id": 3, "name": "why", "type": "text"}],
        custom_field_answers=[{"subscriber_id": 1, "field_id": 3, "text_value": WORD}],
        orders=[{"order_id": 1, "import_name": WORD}],
        purchases=[{"purchase_id": 1, "name": WORD, "notes": WORD}],
    )
    kept.update(publisher)
    before = kept.everything()
    assert str(before).count(WORD) == 8
    erasing.erase(publisher.store, publisher.account_id, 1)
    done = kept.update(publisher)
    # The subscriber, an address, the responses, an order and a purchase.
    assert (done.full_load, done.records) == (None, 5)
    after = kept.everything()
    assert WORD not in str(after)
    assert {name: len(rows) for name, rows in after.items() if name != "custom_field_values"} == {
        name: len(rows) for name, rows in before.items() if name != "custom_field_values"
    }
    assert kept.column("SELECT first_name FROM subscribers WHERE subscriber_id = 2") == ["Second"]
    deleted = "SELECT subscriber_id FROM subscribers WHERE delete_date IS NOT NULL"
    assert 1 in kept.column(deleted)
    asked = "SELECT text_value FROM custom_fields WHERE subscriber_id = 1 AND field_id = 3"
    assert kept.column(asked) == [None]
    assert kept.differences(publisher) == []


def test_the_nightly_file_of_before_sends_nothing_to_a_copy(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Personal data: later loads"."""
    erasing.erase(publisher.store, publisher.account_id, 1)
    kept.update(publisher)
    before = kept.everything()
    publisher.load_folder(DATA / "feed")
    assert kept.update(publisher).records == 0
    assert kept.everything() == before
    assert kept.differences(publisher) == []


def test_a_copy_from_an_export_has_nothing_of_the_erased(publisher: Publisher, kept: Kept) -> None:
    """rules, "Personal data: moving an account"."""
    publisher.load(subscribers=[{"subscriber_id": 1, "first_name": WORD}])
    erasing.erase(publisher.store, publisher.account_id, 1)
    assert kept.start_from_export(publisher, publisher.export())
    kept.update(publisher)
    assert WORD not in str(kept.everything())
    assert kept.differences(publisher) == []


def whole(kept: Kept) -> str:
    """Return all that the copy has, with what is set aside."""
    return str((kept.everything(), kept.ask("SELECT * FROM set_aside")))


@EACH_COPY
def test_an_odd_record_of_an_erased_person_keeps_nothing_personal(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: records set aside": neither its row of before nor the record itself."""
    other.put("addresses", {"address_id": 3, "subscriber_id": 3, "city": WORD})
    other.put("addresses", {"address_id": 4, "subscriber_id": 2, "city": "Elsewhere"})
    other.put("orders", order(3, 3, import_name=WORD))
    other.put("customfields", answers(3, WORD))
    nameless = {"address_id": None, "subscriber_id": 3, "city": WORD}
    other.put("addresses", nameless)
    kept.update(other)
    assert (whole(kept).count(WORD), kept.column("SELECT field FROM set_aside")) == (
        4,
        ["address_id"],
    )
    del other.records["addresses"][None]  # type: ignore[arg-type]
    other.put("addresses", {"address_id": 3, "subscriber_id": 3, "verified": "perhaps"})
    other.put("addresses", {"address_id": 4, "subscriber_id": 2, "verified": "perhaps"})
    other.put("orders", order(3, 3, grand_total="12,50"))
    blank = answers(3, "")
    blank["custom_fields"][0]["type"] = {}
    other.put("customfields", blank)
    assert kept.update(other).set_aside == 5
    assert WORD in whole(kept)
    other.subscriber(3, email=None, renewal_code=None, delete_date="2026-11-20 10:00:00")
    kept.update(other)
    assert WORD not in whole(kept)
    assert kept.column("SELECT city FROM addresses WHERE address_id = 4") == ["Elsewhere"]
    names = "SELECT table_name || ' ' || record_id FROM set_aside ORDER BY 1"
    assert kept.column(names) == ["addresses 3", "addresses 4", "custom_fields 3", "orders 3"]
    assert kept.verify(other).differences == []
