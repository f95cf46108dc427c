"""The tap for Singer tells a target the records of a mirror, and what was removed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from masthead.store import epochs
from tests.long import ONLY_EVERY
from tests.mirror.other import OtherService
from tests.mirror.test_broken_answers import Proxy, changed
from tests.pipelines.broken import breaking
from tests.pipelines.tapped import Failed, Tapped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.client.service import Reply, Serve
    from tests.mirror.publisher import Publisher

ON_SQLITE = pytest.mark.parametrize("store", ["sqlite"], indirect=True)


@pytest.fixture
def tapped(tmp_path: Path) -> Tapped:
    """A target that has nothing."""
    return Tapped(tmp_path)


@ON_SQLITE
def test_changes_and_deletions_give_the_records_of_a_mirror(
    publisher: Publisher, tapped: Tapped
) -> None:
    """decisions, "Pipelines: the tap for Singer"."""
    tapped.update(publisher)
    tapped.check(publisher)
    changed(publisher)
    publisher.load(order_items=[{"order_item_id": 9, "order_id": 2, "product_id": 6}])
    tapped.update(publisher)
    tapped.check(publisher)
    publisher.remove(list_downloads=[1], subscriptions=[2], purchases=[1], orders=[1])
    publisher.remove(order_items=[9])
    tapped.update(publisher)
    tapped.check(publisher)
    assert 1 not in tapped.records["orders"]


@ON_SQLITE
def test_a_second_run_tells_only_what_is_new(publisher: Publisher, tapped: Tapped) -> None:
    """decisions, "Pipelines: the tap for Singer": definitions are few, and come each time."""
    tapped.update(publisher)
    publisher.load(purchases=[{"purchase_id": 2, "notes": "called"}])
    publisher.remove(orders=[1])
    told = Counter(m["stream"] for m in tapped.messages(publisher) if m["type"] == "RECORD")
    assert told == {"purchases": 1, "orders": 1, "custom_field_definitions": 2}


@pytest.mark.parametrize("kind", ["golden", "sparse"])
@ON_SQLITE
def test_full_and_empty_records_are_told_exactly(
    golden: Publisher, sparse: Publisher, tapped: Tapped, kind: str
) -> None:
    """rules, "Pipelines: amounts"."""
    source = golden if kind == "golden" else sparse
    tapped.update(source)
    tapped.check(source)


@ON_SQLITE
def test_amounts_are_texts_with_all_of_their_digits(publisher: Publisher, tapped: Tapped) -> None:
    """rules, "Pipelines: amounts"."""
    publisher.load(
        purchases=[{"purchase_id": 1, "total": "123456789.123456789", "product_total": "10.50"}],
        orders=[{"order_id": 1, "sub_total": "0.000000000000001", "grand_total": "85.00"}],
    )
    tapped.update(publisher)
    tapped.check(publisher)
    purchase, order = tapped.records["purchases"][1], tapped.records["orders"][1]
    assert (purchase["total"], purchase["product_total"]) == ("123456789.123456789", "10.50")
    assert (order["sub_total"], order["grand_total"]) == ("0.000000000000001", "85")
    schemas = {m["stream"]: m["schema"] for m in tapped.messages(publisher) if "schema" in m}
    amount = {"type": ["string", "null"], "format": "x-singer.decimal"}
    assert schemas["purchases"]["properties"]["total"] == amount
    items = schemas["orders"]["properties"]["order_items"]["items"]["properties"]
    assert items["grand_total"] == amount


@ON_SQLITE
def test_a_new_epoch_is_a_new_version_of_each_table(publisher: Publisher, tapped: Tapped) -> None:
    """rules, "Pipelines: loading everything again": the feed answers 410."""
    tapped.update(publisher)
    publisher.remove(purchases=[1], orders=[1, 2], list_downloads=[2])
    epochs.start_epochs(publisher.store)
    tapped.update(publisher)
    tapped.check(publisher)
    changed(publisher)
    tapped.update(publisher)
    tapped.check(publisher)


@pytest.mark.parametrize(
    "anew", [False, pytest.param(True, marks=ONLY_EVERY)], ids=["changes", "anew"]
)
@ON_SQLITE
def test_a_run_that_is_killed_anywhere_loses_nothing(
    publisher: Publisher, tapped: Tapped, anew: bool, request: pytest.FixtureRequest
) -> None:
    """rules, "Pipelines: killed runs": the state is told after the records."""
    points = 20 if request.config.getoption("every") else 3
    tapped.update(publisher)
    for point in range(points):
        publisher.load(
            purchases=[{"purchase_id": 101 + point, "subscriber_id": 1, "total": "1.50"}],
            orders=[{"order_id": 2, "import_name": f"name {point}"}],
        )
        if point:
            publisher.remove(purchases=[100 + point])
        if anew:
            epochs.start_epochs(publisher.store)
        total = len(tapped.messages(publisher))
        tapped.update(publisher, messages_max=point * (total - 1) // (points - 1))
        tapped.update(publisher)
        tapped.check(publisher)


@pytest.mark.parametrize(("path", "how"), breaking("/2/cdc", "/deletions", "/2/customfields/"))
@ON_SQLITE
def test_what_breaks_in_the_middle_loses_nothing(
    publisher: Publisher, tapped: Tapped, serve: Serve, path: str, how: Callable[[Reply], Reply]
) -> None:
    """rules, "Pipelines: killed runs"."""
    proxy = Proxy(publisher, serve)
    tapped.update(proxy.publisher)
    changed(publisher)
    publisher.remove(orders=[1])
    proxy.breaks(path, how)
    with pytest.raises(Failed) as failure:
        tapped.update(proxy.publisher)
    assert publisher.login not in str(failure.value)
    proxy.heal()
    tapped.update(proxy.publisher)
    tapped.check(publisher)


def test_a_service_without_the_extensions_is_refused(tapped: Tapped, serve: Serve) -> None:
    """rules, "Pipelines: other services"."""
    with pytest.raises(Failed, match="the service lacks /snapshot"):
        tapped.update(OtherService(serve))


def test_the_catalog_names_keys_and_streams(tmp_path: Path) -> None:
    """decisions, "Pipelines: the tap for Singer"."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"base_url": "http://127.0.0.1:1", "key": "k", "login": "l"}))
    command = [sys.executable, "-m", "masthead.tap", "--discover", "--config", str(config)]
    done = subprocess.run(command, capture_output=True, check=True)
    keys = {s["tap_stream_id"]: s["key_properties"] for s in json.loads(done.stdout)["streams"]}
    assert keys == {
        "addresses": ["address_id"],
        "custom_field_definitions": ["field_id"],
        "custom_fields": ["subscriber_id"],
        "list_downloads": ["mailing_list_id"],
        "orders": ["order_id"],
        "purchases": ["purchase_id"],
        "subscribers": ["subscriber_id"],
        "subscriptions": ["subscription_id"],
    }
