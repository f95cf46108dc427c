"""The snapshot with a line for each record: what chooses it, what is in it, how it ends."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.api.http.media_types import media_type_for
from masthead.contract.operations import JSON, NDJSON
from tests.api.callers import ENTITIES, KEYS

if TYPE_CHECKING:
    from tests.api.callers import Caller

EVERYTHING = ",".join(ENTITIES)
THROUGH = "Masthead-Changes-Through"
IN_LINES = {"Accept": "application/x-ndjson"}

PREFERRED = {
    "": JSON,
    "*/*": JSON,
    "application/json": JSON,
    "application/*": JSON,
    "text/html": JSON,
    "application/x-ndjson": NDJSON,
    "Application/X-NDJSON; charset=utf-8": NDJSON,
    "application/x-ndjson, */*": NDJSON,
    "application/json, application/x-ndjson": JSON,
    "application/x-ndjson, application/json": JSON,
    "application/json;q=0.9, application/x-ndjson": NDJSON,
    "application/json, application/x-ndjson;q=0.9": JSON,
    "application/x-ndjson;q=0.5, */*;q=0.1": NDJSON,
    "application/x-ndjson;q=0.1, */*;q=0.5": JSON,
    "application/x-ndjson;q=0": JSON,
    "application/x-ndjson;q=0, application/json;q=0": JSON,
    "application/json;q=0, */*": NDJSON,
    "application/x-ndjson;q=much": JSON,
    ";;,,q=1": JSON,
}


@pytest.mark.parametrize("accept", PREFERRED)
def test_the_media_type_is_the_one_that_the_client_prefers(accept: str) -> None:
    """rules, "Snapshot in lines"; RFC 9110 section 12.5.1."""
    assert media_type_for(accept, (JSON, NDJSON)) == PREFERRED[accept]


@given(st.text())
def test_no_header_is_too_strange(accept: str) -> None:
    assert media_type_for(accept, (JSON, NDJSON)) in {JSON, NDJSON}


def is_complete(text: bytes) -> bool:
    """Tell whether a file holds the whole of a response, as its reader can."""
    *records, last = text.split(b"\n")[:-1] or [b""]
    try:
        return json.loads(last)["records"] == len(records) and text.endswith(b"\n")
    except (ValueError, KeyError):
        return False


@given(data=st.data())
def test_no_beginning_of_a_response_is_taken_for_all_of_it(golden: Caller, data: Any) -> None:
    """rules, "Snapshot in lines"."""
    path = f"/snapshot?entities={EVERYTHING}"
    whole = golden.raw(path, extra=b"Accept: application/x-ndjson\r\n").body
    assert is_complete(whole)
    assert not is_complete(whole[: data.draw(st.integers(0, len(whole) - 1))])


def lines_of(caller: Caller, entities: str = EVERYTHING) -> list[Any]:
    """Return what the lines of a complete response say."""
    response = caller.ask("/snapshot", entities=entities, headers=IN_LINES)
    assert response.status_code == 200
    assert response.headers["Content-Type"] == NDJSON
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Vary"] == "Accept, Accept-Encoding"
    assert response.text.endswith("\n")
    found = [json.loads(line) for line in response.text.removesuffix("\n").split("\n")]
    assert found[-1] == {"changes_through": response.headers[THROUGH], "records": len(found) - 1}
    return found[:-1]


def test_each_line_is_a_record_of_the_json_form_in_its_order(golden: Caller) -> None:
    """rules, "Snapshot in lines"."""
    found: dict[str, list[Any]] = {key: [] for key in KEYS.values()}
    for line in lines_of(golden):
        assert list(line) == ["entity", "record"]
        found[KEYS[line["entity"]]].append(line["record"])
    assert found == golden.read("/snapshot", entities=EVERYTHING)
    assert all(found.values())


def test_the_entities_come_as_they_were_asked_for(golden: Caller) -> None:
    entities = [line["entity"] for line in lines_of(golden, "orders,addresses")]
    assert list(dict.fromkeys(entities)) == ["orders", "addresses"]


def test_a_snapshot_of_nothing_is_its_last_line(empty: Caller) -> None:
    assert lines_of(empty) == []


@pytest.mark.parametrize("accept", ["application/json", "*/*", None])
def test_json_varies_too(golden: Caller, accept: str | None) -> None:
    """A cache must not give one form for the other."""
    headers = {"Accept": accept} if accept else {}
    response = golden.ask("/snapshot", entities="orders", headers=headers)
    assert response.headers["Content-Type"] == JSON
    assert response.headers["Vary"] == "Accept, Accept-Encoding"


def test_the_feed_keeps_its_form(golden: Caller) -> None:
    """rules, "Snapshot in lines"."""
    through = golden.ask("/snapshot", entities="orders").headers[THROUGH]
    for path in ("/2/cdc", "/deletions"):
        response = golden.ask(path, changed_since=through, entities="orders", headers=IN_LINES)
        assert response.headers["Content-Type"] == JSON
        assert response.json() == {"orders": []}


def test_head_has_the_headers_alone(golden: Caller) -> None:
    response = golden.ask("/snapshot", method="HEAD", entities="orders", headers=IN_LINES)
    assert response.headers["Content-Type"] == NDJSON
    assert THROUGH in response.headers
    assert not response.content


def test_errors_are_json(golden: Caller) -> None:
    """rules, "Error body"."""
    response = golden.ask("/snapshot", entities="issues", headers=IN_LINES)
    assert response.status_code == 400
    assert response.headers["Content-Type"] == JSON
    assert "there is no 'issues'" in response.json()["error"]


def test_lines_are_compressed_as_json_is(golden: Caller) -> None:
    """rules, "Change feed: compression"."""
    path = f"/snapshot?entities={EVERYTHING}"
    accept = b"Accept: application/x-ndjson\r\n"
    plain = golden.raw(path, extra=accept)
    packed = golden.raw(path, extra=accept + b"Accept-Encoding: gzip\r\n")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
