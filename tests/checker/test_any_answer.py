"""A check of any service ends with findings, and shows no value of a record."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from masthead.checker import check
from masthead.checker.forms import SECTIONS, faults_of
from masthead.checker.reading import beginning_of, read
from masthead.contract.shapes import Subscriber, fields_of
from tests.checker.altering import altered
from tests.long import ONLY_LONG, examples
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from tests.checker.altering import Alter, Asked, Reply, Send
    from tests.mirror.publisher import Publisher

CANARY = "canary-4711"
ODD: tuple[Any, ...] = (None, True, 7, 1.5, "", CANARY, [], {}, [CANARY], {CANARY: 1}, [[]])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def damaged(value: Any, chance: random.Random) -> Any:
    """Put other values in the places of some."""
    if chance.random() < 0.03:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {name: damaged(inner, chance) for name, inner in value.items()}
    if isinstance(value, list):
        return [damaged(inner, chance) for inner in value]
    return value


def damaging(seed: int) -> Alter:
    chance = random.Random(seed)

    def alter(asked: Asked, send: Send) -> Reply:
        reply = send(asked)
        if not reply.body or chance.random() < 0.3:
            return reply
        if chance.random() < 0.1:
            return replace(reply, status=chance.choice((200, 302, 400, 404, 500)))
        return reply.saying(damaged(reply.json(), chance))

    return alter


@ONLY_LONG
@ON_SQLITE
@examples(2, 75)
@given(seed=st.integers(0, 2**32))
def test_values_of_any_type_anywhere_are_findings(small: Publisher, seed: int) -> None:
    """rules, "Checker: what it says and keeps"."""
    with altered(small.url, damaging(seed)) as server:
        # The first request decides whether it is a service at all.
        report = check(server.url, small.key, small.login, 1000)
    assert report.findings
    assert not [finding for finding in report.findings if "canary" in " ".join(finding)]


def test_what_a_value_has_to_be_is_said_once() -> None:
    wrong: tuple[Any, ...] = (None, 7, [])
    texts = set()
    for shape in SECTIONS:
        for value in wrong:
            record = {field.name: value for field in fields_of(shape)}
            texts |= {found.text for found in faults_of(shape, [record], "GET /", "[]")}
    assert "a JSON number, which has to be a string" in texts
    assert "a JSON number, which has to be a decimal as a string" in texts
    assert not [text for text in texts if text.count("string") > 1 or "in a string" in text]


@given(VALUES)
def test_no_record_stops_the_comparison_with_a_table(value: Any) -> None:
    for shape in SECTIONS:
        for records in ([value], value if isinstance(value, list) else []):
            for finding in faults_of(shape, records, "GET /", "[]"):
                assert finding.section == SECTIONS[shape] or finding.section in SECTIONS.values()


def test_an_unknown_name_is_shown_only_if_it_cannot_be_a_value() -> None:
    """rules, "Checker: what it says and keeps": some services use values as keys."""
    once = list(faults_of(Subscriber, [{"subscriber_id": "1", "canary": 1}], "GET /", "[]"))
    assert not [finding for finding in once if "canary" in finding.text]
    assert any("a name after `subscriber_id`" in finding.text for finding in once)
    twice = list(faults_of(Subscriber, [{"subscriber_id": "1", "extra": 1}] * 2, "GET /", "[]"))
    assert any("`extra` is no field of the table (in 2 of 2 records)" in f.text for f in twice)


@given(st.dictionaries(st.text(max_size=5), st.lists(VALUES, max_size=4), max_size=4), st.data())
def test_the_beginning_of_a_feed_has_its_first_records(
    feed: dict[str, list[Any]], data: st.DataObject
) -> None:
    """rules, "Checker: how politely it asks"."""
    content = json.dumps(feed).encode()
    count = data.draw(st.integers(0, len(content)))
    begun = beginning_of(content[:count])
    assert list(begun) == list(feed)[: len(begun)]
    for key, records in begun.items():
        assert records == feed[key][: len(records)]
    if count == len(content):
        assert begun == feed


@given(st.binary(max_size=40))
def test_any_bytes_are_json_or_said_to_be_none(content: bytes) -> None:
    said = "JSON"
    try:
        read(content)
    except ValueError as error:
        said = str(error)
    assert said in {"JSON", "it is not UTF-8", "it is not JSON"}
