"""A pass: what changed is replaced, what did not change is not touched, all of it at once."""

from __future__ import annotations

import tracemalloc
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from masthead import Client
from masthead.mirror import EMPTY, TOO_OLD, Mirror, open_copy
from masthead.store import epochs
from tests.api.callers import KEYS
from tests.client.service import Asked, Reply, Serve, forwarding, reply
from tests.long import ONLY_LONG
from tests.mirror.conftest import EACH_COPY
from tests.mirror.kept import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.mirror.kept import Kept, Row
    from tests.mirror.publisher import Publisher

FLAT_BYTES_MAX = 24 * 1024 * 1024

CHANGED: list[tuple[str, dict[str, Any], str, Any]] = [
    (
        "subscribers",
        {"subscriber_id": 1, "first_name": "Renamed"},
        "SELECT first_name FROM subscribers WHERE subscriber_id = 1",
        "Renamed",
    ),
    (
        "addresses",
        {"address_id": 1, "city": "Elsewhere"},
        "SELECT city FROM addresses WHERE address_id = 1",
        "Elsewhere",
    ),
    (
        "subscriptions",
        {"subscription_id": 1, "issues": 11},
        "SELECT issues FROM subscriptions WHERE subscription_id = 1",
        11,
    ),
    (
        "purchases",
        {"purchase_id": 1, "notes": "refunded"},
        "SELECT notes FROM purchases WHERE purchase_id = 1",
        "refunded",
    ),
    (
        "list_downloads",
        {"mailing_list_id": 2, "status": "Complete"},
        "SELECT status FROM list_downloads WHERE mailing_list_id = 2",
        "Complete",
    ),
    (
        "orders",
        {"order_id": 1, "import_name": "again"},
        "SELECT import_name FROM orders WHERE order_id = 1",
        "again",
    ),
    (
        "order_items",
        {"order_item_id": 2, "product_id": 7},
        "SELECT product_id FROM order_items WHERE order_id = 2",
        7,
    ),
    (
        "custom_field_answers",
        {"subscriber_id": 2, "field_id": 2, "text_value": "New"},
        "SELECT text_value FROM custom_fields WHERE subscriber_id = 2 AND field_id = 2",
        "New",
    ),
    (
        "custom_field_options",
        {"option_id": 1, "display_as": "Crimson"},
        "SELECT display_as FROM custom_field_values WHERE option_id = 1",
        "Crimson",
    ),
    (
        "mailing_list_entries",
        {"mailing_list_id": 1, "subscription_id": 1, "copies": 9},
        "SELECT copies FROM mailing_list_entries WHERE mailing_list_id = 1",
        9,
    ),
]


@EACH_COPY
def test_what_changed_is_replaced(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"; "A mailing list's entries": they come with their list."""
    kept.update(publisher)
    counts = {table: len(rows) for table, rows in kept.everything().items()}
    publisher.load(**{kind: [record] for kind, record, *_ in CHANGED})
    done = kept.update(publisher)
    assert done.full_load is None
    for kind, _, question, value in CHANGED:
        assert kept.column(question) == [value], kind
    assert {table: len(rows) for table, rows in kept.everything().items()} == counts
    assert kept.differences(publisher) == []


@EACH_COPY
def test_what_is_new_arrives(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(publisher)
    publisher.load(
        subscribers=[{"subscriber_id": 5, "renewal_code": "FED05"}],
        subscriptions=[{"subscription_id": 5, "subscriber_id": 5, "publication_id": 1}],
        mailing_list_entries=[{"mailing_list_id": 2, "subscription_id": 5, "type": "Both"}],
        custom_fields=[{"field_id": 3, "name": "size", "type": "radio"}],
    )
    done = kept.update(publisher)
    # The new question is part of each of six answer sets.
    assert (done.records, done.lists) == (1 + 1 + 1 + 6, 1)
    assert kept.column("SELECT subscriber_id FROM subscribers ORDER BY 1") == [1, 2, 3, 4, 5, 10]
    entries = kept.ask("SELECT * FROM mailing_list_entries WHERE mailing_list_id = 2")
    assert [row[:-1] for row in entries] == [(2, 5, None, False, False, "Both")]
    asked = "SELECT count(*) FROM custom_fields WHERE field_id = 3"
    assert kept.column(asked) == [6]


def test_a_deleted_subscriber_gets_a_delete_date(publisher: Publisher, kept: Kept) -> None:
    """rules, "Subscriber search": the change feed shows those with a delete_date."""
    kept.update(publisher)
    publisher.load(subscribers=[{"subscriber_id": 3, "delete_date": "2026-11-20 09:30:00"}])
    kept.update(publisher)
    deleted = "SELECT subscriber_id FROM subscribers WHERE delete_date = '2026-11-20 09:30:00'"
    assert kept.column(deleted) == [3]


@EACH_COPY
def test_values_that_a_record_no_longer_shows_are_removed(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass": a record takes the place of the one before, all its rows."""
    kept.update(publisher)
    chosen = "SELECT option_id FROM custom_field_values WHERE subscriber_id = 1 ORDER BY position"
    for option_ids in ([3, 1], [2], []):
        answer = {"subscriber_id": 1, "field_id": 1, "option_ids": option_ids, "text_value": "-"}
        publisher.load(custom_field_answers=[answer])
        kept.update(publisher)
        assert kept.column(chosen) == sorted(option_ids)


def test_definitions_that_no_record_shows_arrive_too(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass": the definitions of custom fields where they differ."""
    kept.update(publisher)
    publisher.load(custom_field_options=[{"option_id": 4, "field_id": 1, "display_as": "Grey"}])
    assert kept.update(publisher).records == 0
    options = "SELECT display_as FROM custom_field_options ORDER BY option_id"
    assert kept.column(options) == ["Red", "Blue", "Green", "Grey"]


def test_definitions_that_were_damaged_are_mended(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass": the definitions of custom fields where they differ."""
    kept.update(publisher)
    good = kept.everything()
    kept.run(
        "UPDATE custom_field_definitions SET name = 'damaged'",
        "DELETE FROM custom_field_options WHERE option_id = 2",
    )
    kept.update(publisher)
    assert kept.everything() == good


def published(kept: Kept) -> set[Path]:
    """Return what readers can see in the folder of a copy."""
    return {path for path in kept.path.rglob("*") if ".work" not in path.parts}


def test_a_pass_with_nothing_new_writes_nothing(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(publisher)
    if kept.kind == "duckdb":
        content = kept.path.read_bytes()
        assert kept.update(publisher).records == 0
        assert kept.path.read_bytes() == content
        return
    if kept.kind == "parquet":
        database = kept.path / ".work" / "copy.duckdb"
        content, files = database.read_bytes(), published(kept)
        assert kept.update(publisher).records == 0
        assert (database.read_bytes(), published(kept)) == (content, files)
        return
    if kept.kind == "postgresql":
        versions = [f"SELECT '{table}', xmin, ctid FROM {table}" for table in ("mirror", *TABLES)]
        rows = kept.ask_all(*versions)
        assert kept.update(publisher).records == 0
        assert kept.ask_all(*versions) == rows
        return
    path = kept.path
    log = Path(f"{path}-wal")
    with closing(apsw.Connection(str(path))) as reader:
        # While it is open, the write-ahead log is not put into the file.
        reader.execute("SELECT * FROM mirror").fetchall()
        before = [path.read_bytes(), log.read_bytes()]
        assert kept.update(publisher).records == 0
        assert [path.read_bytes(), log.read_bytes()] == before
    kept.update(publisher)
    assert [path.read_bytes(), log.exists()] == [before[0], False]


def test_the_same_response_twice_changes_nothing(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass": whoever is killed asks for the same again."""
    began = kept.update(publisher).state
    publisher.load(**{kind: [record] for kind, record, *_ in CHANGED})
    first = kept.update(publisher)
    good = kept.everything()
    kept.run(f"UPDATE mirror SET changed_since = '{began.changed_since}'")
    assert kept.update(publisher).records == first.records > 0
    assert kept.everything() == good


@EACH_COPY
def test_no_reader_sees_half_of_a_pass(publisher: Publisher, kept: Kept, serve: Serve) -> None:
    """rules, "Mirror: a pass": readers never see half of one."""
    pass_on = forwarding(publisher.url, "")
    seen: list[dict[str, list[Row]]] = []

    def answer(asked: Asked) -> Reply:
        whole = pass_on(asked)
        if asked.path not in {"/2/cdc", "/2/downloadmailinglist/1/"}:
            return whole
        assert isinstance(whole.body, bytes)
        return Reply(pieces(whole.body), headers=whole.headers)

    def pieces(body: bytes) -> Iterator[bytes]:
        yield body[: len(body) // 2]
        seen.append(kept.everything())
        yield body[len(body) // 2 :]

    service = serve(pass_on)
    source = publisher.behind(service.url)
    kept.update(source)
    before = kept.everything()
    publisher.load(**{kind: [record] for kind, record, *_ in CHANGED})
    service.answer = answer
    assert kept.update(source).records > 0
    assert seen == [before, before]
    assert kept.everything() != before


def test_a_time_that_is_too_old_loads_everything_again(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass": after 410 all of it is replaced by the snapshot."""
    assert kept.update(publisher).full_load == EMPTY
    good = kept.everything()
    week = datetime.now(UTC) - timedelta(days=7)
    kept.run(
        f"UPDATE mirror SET changed_since = '{week.isoformat()}'",
        "INSERT INTO subscribers (subscriber_id) VALUES (404)",
        "DELETE FROM addresses",
    )
    done = kept.update(publisher)
    assert done.full_load == TOO_OLD
    assert done.state.lacking is None
    assert kept.everything() == good


@EACH_COPY
def test_a_new_epoch_loads_everything_again(publisher: Publisher, kept: Kept) -> None:
    """rules, "Change feed: a new epoch"."""
    kept.update(publisher)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    epochs.start_epochs(publisher.store)
    done = kept.update(publisher)
    assert (done.full_load, done.records) == (TOO_OLD, 5 + 5 + 2 + 2 + 2 + 2 + 2)
    assert kept.differences(publisher) == []
    assert kept.update(publisher).full_load is None


def test_an_account_without_data_has_a_copy_without_rows(
    new_publisher: Callable[[], Publisher], kept: Kept
) -> None:
    """rules, "Mirror: a pass"."""
    empty = new_publisher()
    assert kept.update(empty).records == 0
    assert {table for table, rows in kept.everything().items() if rows} == {"mirror"}
    assert kept.update(empty).full_load is None
    assert kept.differences(empty) == []


def test_digests_that_are_hidden_from_now_on_leave_the_copy(
    publisher: Publisher, kept: Kept
) -> None:
    """decisions, "Passwords": setting it changes every subscriber's record."""
    kept.update(publisher)
    hidden = "SELECT count(*) FROM subscribers WHERE password_md5 IS NULL"
    assert kept.column(hidden) == [0]
    publisher.set(hide_password_md5=1)
    kept.update(publisher)
    assert kept.column(hidden) == [5]
    assert kept.differences(publisher) == []


def big(asked: Asked) -> Reply:
    """Answer as a service with 60 MB of records and a list of 10 MB, made while they are sent."""

    def pieces() -> Iterator[bytes]:
        yield b'{"addresses":['
        for number in range(20_000):
            mark = b"," if number else b""
            record = b'{"address_id":"%d","subscriber_id":"1","notes":"","company":"%b"}'
            yield mark + record % (number, b"x" * 3_000)
        yield b'],"list_downloads":[{"mailing_list_id":"1"}'
        keys = set(KEYS.values()) - {"addresses", "list_downloads"}
        yield b"]" + b"".join(b',"%b":[]' % key.encode() for key in keys) + b"}"

    def entries() -> Iterator[bytes]:
        yield b'[{"subscription_id":0}'
        for number in range(1, 100_000):
            yield b',{"subscription_id":%d,"copies":1,"type":"Print","is_paid":1,"is_grace":0}' % (
                # The last one comes twice: a service may have that.
                min(number, 99_998)
            )
        yield b"]"

    if asked.path == "/2/downloadmailinglist/1/":
        return Reply(entries())
    if asked.path == "/snapshot":
        through = "2026-11-21T10:00:00.000000+00:00"
        return Reply(pieces(), headers={"Masthead-Changes-Through": through})
    return reply([]) if asked.path == "/2/customfields/" else Reply()


@ONLY_LONG
def test_memory_stays_flat_for_any_amount_of_data(kept: Kept, serve: Serve) -> None:
    """rules, "Mirror: a pass"."""
    url = serve(big).url
    with Client(url, "key", "login") as client, closing(open_copy(kept.url)) as copy:
        tracemalloc.start()
        try:
            assert Mirror(client, url, "key", copy).run().records == 20_001
            assert tracemalloc.get_traced_memory()[1] < FLAT_BYTES_MAX
        finally:
            tracemalloc.stop()
    assert kept.column("SELECT count(*) FROM addresses") == [20_000]
    assert kept.column("SELECT count(*) FROM mailing_list_entries") == [99_999]
