"""The source for dlt loads the same rows as a mirror of the same service has."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from dlt.destinations.job_client_impl import DDL_COMMANDS
from dlt.pipeline.exceptions import PipelineStepFailed

from masthead.dlt import masthead
from masthead.errors import BadUsage, MastheadError, ServiceError
from masthead.mirror import applying
from masthead.mirror.tables import TABLES
from masthead.store import epochs
from tests.client.service import Reply
from tests.long import ONLY_EVERY
from tests.mirror.other import OtherService
from tests.mirror.test_broken_answers import Proxy, changed
from tests.pipelines.broken import breaking
from tests.pipelines.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.client.service import Serve
    from tests.mirror.publisher import Publisher

ON_SQLITE = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
IN_DUCKDB = pytest.mark.parametrize(
    "loaded", ["duckdb", pytest.param("postgres", marks=ONLY_EVERY)], indirect=True
)
"""For what dlt and the source do before anything reaches a destination, and for what another test
does with each destination: a change, a removal, rows that were written and not noted."""


@pytest.fixture(params=["duckdb", "postgres"])
def loaded(request: pytest.FixtureRequest, tmp_path: Path) -> Loaded:
    """A pipeline to each destination."""
    if request.param == "duckdb":
        return Loaded(tmp_path, "duckdb", str(tmp_path / "loaded.duckdb"))
    # dlt wants a password; the server of the tests asks for none.
    url: str = request.getfixturevalue("database_of_copies")
    scheme, _, rest = url.partition("://")
    user, _, place = rest.partition("@")
    return Loaded(tmp_path, "postgres", f"{scheme}://{user}:none@{place}")


def reason(failure: pytest.ExceptionInfo[PipelineStepFailed]) -> BaseException:
    """Return the exception of Masthead's that made a run fail."""
    found: BaseException | None = failure.value
    while found and not isinstance(found, MastheadError):
        found = found.__cause__
    assert found
    return found


def test_changes_and_deletions_give_the_rows_of_a_mirror(
    publisher: Publisher, loaded: Loaded
) -> None:
    """decisions, "Pipelines: the source for dlt"."""
    loaded.update(publisher)
    loaded.check(publisher)
    changed(publisher)
    loaded.update(publisher)
    loaded.check(publisher)
    publisher.remove(list_downloads=[1], subscriptions=[2], purchases=[1], orders=[1])
    loaded.update(publisher)
    loaded.check(publisher)
    loaded.update(publisher)
    loaded.check(publisher)


@pytest.mark.parametrize("kind", ["golden", "sparse"])
@ON_SQLITE
def test_full_and_empty_records_are_loaded_exactly(
    golden: Publisher, sparse: Publisher, loaded: Loaded, kind: str
) -> None:
    """rules, "Pipelines: amounts"."""
    source = golden if kind == "golden" else sparse
    loaded.update(source)
    loaded.check(source)


@ON_SQLITE
def test_amounts_keep_all_of_their_digits(publisher: Publisher, loaded: Loaded) -> None:
    """rules, "Pipelines: amounts": whole ones first, from which dlt would guess integers."""
    publisher.load(
        purchases=[
            {"purchase_id": 1, "total": "85", "product_total": "85"},
            {"purchase_id": 2, "total": "123456789.123456789", "product_total": "10.50"},
            {"purchase_id": 3, "subscriber_id": 1, "total": "-0.000000001"},
            {"purchase_id": 4, "subscriber_id": 1, "product_total": "9" * 18},
        ],
        orders=[{"order_id": 1, "sub_total": "0.000000000000001", "grand_total": "9" * 15}],
    )
    loaded.update(publisher)
    loaded.check(publisher)
    publisher.load(
        purchases=[{"purchase_id": 1, "total": "85.25", "product_total": "0.10"}],
        orders=[{"order_id": 1, "sub_total": "1.00000000000001", "grand_total": "0"}],
    )
    loaded.update(publisher)
    loaded.check(publisher)


@IN_DUCKDB
def test_a_new_epoch_loads_everything_again(publisher: Publisher, loaded: Loaded) -> None:
    """rules, "Pipelines: loading everything again": the feed answers 410."""
    loaded.update(publisher)
    publisher.remove(purchases=[1], orders=[1, 2], list_downloads=[2])
    epochs.start_epochs(publisher.store)
    loaded.update(publisher)
    loaded.check(publisher)
    changed(publisher)
    loaded.update(publisher)
    loaded.check(publisher)


@ON_SQLITE
def test_each_table_is_merged_in_one_transaction(publisher: Publisher, loaded: Loaded) -> None:
    """rules, "Pipelines: loading everything again": dlt looks for a word in its statements."""
    loaded.update(publisher)
    merges = list(loaded.working.glob("*/load/loaded/*/completed_jobs/*.sql"))
    assert len(merges) == len(TABLES)
    for file in merges:
        statements = file.read_text().upper()
        assert any(word in statements for word in DDL_COMMANDS), file


@IN_DUCKDB
@ON_SQLITE
def test_removed_items_of_an_order_are_removed_from_the_copy(
    publisher: Publisher, loaded: Loaded
) -> None:
    """decisions, "Pipelines: the source for dlt"."""
    loaded.update(publisher)
    before = len(loaded.everything()["order_items"])
    items = [row for row in loaded.everything()["order_items"] if row[0] == 1]
    assert items
    publisher.remove(order_items=[row[1] for row in items])
    loaded.update(publisher)
    loaded.check(publisher)
    assert len(loaded.everything()["order_items"]) == before - len(items)


@IN_DUCKDB
@ON_SQLITE
def test_a_record_that_comes_twice_is_loaded_once(
    publisher: Publisher, loaded: Loaded, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "Change feed: at least once": in one load package too."""

    def doubled(whole: Reply) -> Reply:
        assert isinstance(whole.body, bytes)
        records = json.loads(whole.body)
        twice = {name: [*found, *found] for name, found in records.items()}
        return Reply(json.dumps(twice), headers=whole.headers)

    monkeypatch.setattr(applying, "BATCH_RECORDS", 1)
    proxy = Proxy(publisher, serve)
    proxy.breaks("/snapshot", doubled)
    loaded.update(proxy.publisher)
    loaded.check(publisher)
    changed(publisher)
    proxy.breaks("/2/cdc", doubled)
    loaded.update(proxy.publisher)
    loaded.check(publisher)


@pytest.mark.parametrize(
    "situation",
    [pytest.param("first", marks=ONLY_EVERY), "changes", pytest.param("anew", marks=ONLY_EVERY)],
)
@IN_DUCKDB
@ON_SQLITE
def test_a_pipeline_that_is_killed_anywhere_goes_on_without_loss(
    publisher: Publisher, loaded: Loaded, situation: str, request: pytest.FixtureRequest
) -> None:
    """rules, "Pipelines: killed runs": while it extracts, normalizes or loads."""
    points = 20 if request.config.getoption("every") else 3
    number = 0

    def prepare() -> Loaded:
        nonlocal number
        number += 1
        item = {"order_item_id": 100 + number, "order_id": 1, "product_id": 6}
        purchase = {"purchase_id": 100 + number, "subscriber_id": 1, "total": f"{number}.50"}
        publisher.load(order_items=[item], purchases=[purchase])
        if number > 1:
            before = [99 + number]
            publisher.remove(order_items=before, purchases=before)
        if situation == "anew":
            epochs.start_epochs(publisher.store)
        return loaded.another() if situation == "first" else loaded

    if situation != "first":
        loaded.update(publisher)
    total = prepare().killed(publisher, at=0)
    assert total > points
    kills = 0
    for point in range(points):
        pipeline = prepare()
        before = pipeline.everything()
        kills += not pipeline.killed(publisher, at=1 + point * (total - 10) // (points - 1))
        pipeline.check_each_table(before, publisher)
        pipeline.update(publisher)
        pipeline.check(publisher)
    assert kills >= points - 1


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(r"normalize/.*/new_jobs/purchases", id="extract", marks=ONLY_EVERY),
        pytest.param(r"load/new/.*/new_jobs/purchases", id="normalize", marks=ONLY_EVERY),
        pytest.param(r"pending_transitions/purchases.*insert_values", id="rows written"),
        pytest.param(r"pending_transitions/order_items.*sql", id="rows merged", marks=ONLY_EVERY),
        pytest.param(r"pending_transitions/_dlt_pipeline_state", id="state written"),
        pytest.param(r"normalized/[\d.]+ -> .*loaded/[\d.]+$", id="all loaded", marks=ONLY_EVERY),
    ],
)
@IN_DUCKDB
@ON_SQLITE
def test_a_kill_at_an_awkward_moment_does_no_harm(
    publisher: Publisher, loaded: Loaded, at: str
) -> None:
    """rules, "Pipelines: killed runs": after two of these each run of dlt alone fails."""
    for pipeline in (loaded, loaded.another()):
        if pipeline is loaded:
            pipeline.update(publisher)
            publisher.load(
                order_items=[{"order_item_id": 9, "order_id": 1, "product_id": 6}],
                purchases=[{"purchase_id": 2, "notes": "called"}],
            )
            publisher.remove(purchases=[1], orders=[2])
        pipeline.killed(publisher, at)
        pipeline.update(publisher)
        pipeline.check(publisher)
    changed(publisher)
    loaded.update(publisher)
    loaded.check(publisher)


@IN_DUCKDB
@ON_SQLITE
def test_a_job_file_that_was_copied_in_part_does_no_harm(
    publisher: Publisher, loaded: Loaded
) -> None:
    """rules, "Pipelines: killed runs": dlt copies from a temporary folder on another device."""
    loaded.killed(publisher, r"pending_transitions/order_items.*sql")
    folders = list(loaded.working.rglob("new_jobs"))
    assert folders
    for folder in folders:
        (folder / "0f8e3a61b2c4").write_text("MERGE IN", encoding="utf-8")
    loaded.update(publisher)
    loaded.check(publisher)


@ON_SQLITE
def test_rows_that_were_written_and_not_noted_do_not_stop_dlt_itself(
    publisher: Publisher, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Pipelines: killed runs": the ids that dlt gives to rows are not unique.

    One batch at a time: the kill must not hit a batch of dlt's own rows, whose ids are unique.
    """
    monkeypatch.setenv("LOAD__WORKERS", "1")
    loaded.killed(publisher, r"pending_transitions/purchases.*insert_values")
    loaded.pipeline().run()
    loaded.check(publisher)


@IN_DUCKDB
@ON_SQLITE
def test_a_pipeline_whose_folder_is_lost_goes_on_from_the_destination(
    publisher: Publisher, loaded: Loaded, serve: Serve
) -> None:
    """rules, "Pipelines: killed runs": the state is at the destination too."""
    proxy = Proxy(publisher, serve)
    loaded.update(proxy.publisher)
    changed(publisher)
    shutil.rmtree(loaded.working)
    asked = len(proxy.service.asked)
    loaded.update(proxy.publisher)
    loaded.check(publisher)
    assert "/snapshot" not in {one.path for one in proxy.service.asked[asked:]}


@pytest.mark.parametrize(
    ("path", "how"),
    breaking("/2/cdc", "/deletions", "/2/downloadmailinglist/1/", "/2/customfields/"),
)
@IN_DUCKDB
@ON_SQLITE
def test_what_breaks_in_the_middle_loses_nothing(
    publisher: Publisher, loaded: Loaded, serve: Serve, path: str, how: Callable[[Reply], Reply]
) -> None:
    """rules, "Pipelines: killed runs"."""
    proxy = Proxy(publisher, serve)
    loaded.update(proxy.publisher)
    before = loaded.everything()
    changed(publisher)
    publisher.remove(subscriptions=[2], orders=[1])
    proxy.breaks(path, how)
    with pytest.raises(PipelineStepFailed) as failure:
        loaded.update(proxy.publisher)
    assert isinstance(reason(failure), ServiceError)
    assert publisher.login not in str(failure.value)
    assert loaded.everything() == before
    proxy.heal()
    loaded.update(proxy.publisher)
    loaded.check(publisher)


@IN_DUCKDB
@ON_SQLITE
def test_a_record_that_comes_back_between_the_requests_stays(
    publisher: Publisher, loaded: Loaded, serve: Serve
) -> None:
    """rules, "Pipelines: removed records first"."""
    proxy = Proxy(publisher, serve)
    loaded.update(proxy.publisher)
    publisher.remove(orders=[1], purchases=[1])

    def bring_back(whole: Reply) -> Reply:
        proxy.heal()
        item = {"order_item_id": 7, "order_id": 1, "product_id": 6}
        publisher.load(orders=[{"order_id": 1, "subscriber_id": 1}], order_items=[item])
        return whole

    proxy.breaks("/deletions", bring_back)
    loaded.update(proxy.publisher)
    loaded.check(publisher)
    # Only its rows were in the package, and not that it was removed.
    assert loaded.staged("orders") == 1
    loaded.update(proxy.publisher)
    loaded.check(publisher)


@IN_DUCKDB
@ON_SQLITE
def test_a_record_that_is_removed_between_the_requests_is_removed_next_time(
    publisher: Publisher, loaded: Loaded, serve: Serve
) -> None:
    """rules, "Pipelines: removed records first": the earlier time is the next one."""
    proxy = Proxy(publisher, serve)
    loaded.update(proxy.publisher)
    publisher.load(purchases=[{"purchase_id": 1, "notes": "called"}])

    def remove(whole: Reply) -> Reply:
        proxy.heal()
        publisher.remove(orders=[1], purchases=[1])
        return whole

    proxy.breaks("/deletions", remove)
    loaded.update(proxy.publisher)
    loaded.update(proxy.publisher)
    loaded.check(publisher)


@IN_DUCKDB
def test_a_service_without_the_extensions_is_refused(loaded: Loaded, serve: Serve) -> None:
    """rules, "Pipelines: other services"."""
    with pytest.raises(PipelineStepFailed) as failure:
        loaded.update(OtherService(serve))
    assert "the service lacks /snapshot" in str(reason(failure))
    assert "a mirror keeps a copy" in str(reason(failure))


@pytest.mark.parametrize("path", ["/2/cdc", "/deletions"])
@IN_DUCKDB
@ON_SQLITE
def test_a_service_that_has_lost_an_extension_is_refused(
    publisher: Publisher, loaded: Loaded, serve: Serve, path: str
) -> None:
    """rules, "Pipelines: other services": an answer without the header proves nothing."""

    def without_header(whole: Reply) -> Reply:
        names = {name for name in whole.headers if name.lower().startswith("masthead-")}
        return Reply(whole.body, headers={k: v for k, v in whole.headers.items() if k not in names})

    proxy = Proxy(publisher, serve)
    loaded.update(proxy.publisher)
    proxy.breaks(path, without_header)
    with pytest.raises(PipelineStepFailed) as failure:
        loaded.update(proxy.publisher)
    assert "Masthead-Changes-Through" in str(reason(failure))
    loaded.check(publisher)


@IN_DUCKDB
@ON_SQLITE
def test_a_pipeline_stays_with_its_account(
    publisher: Publisher, new_publisher: Callable[[], Publisher], loaded: Loaded
) -> None:
    """decisions, "Pipelines: the source for dlt"."""
    loaded.update(publisher)
    with pytest.raises(PipelineStepFailed) as failure:
        loaded.update(new_publisher())
    assert isinstance(reason(failure), BadUsage)
    assert f"loads account {publisher.account_id} of" in str(reason(failure))
    loaded.check(publisher)


@IN_DUCKDB
@ON_SQLITE
def test_a_refresh_begins_again(publisher: Publisher, loaded: Loaded) -> None:
    """rules, "Pipelines: killed runs": what dlt drops, state and all, comes again."""
    loaded.update(publisher)
    changed(publisher)
    source = masthead(publisher.url, publisher.key, publisher.login)
    loaded.pipeline().run(source, refresh="drop_resources")
    loaded.check(publisher)
