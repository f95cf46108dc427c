"""From stored values to the bytes of the wire: order of keys, missing values, characters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract import shapes
from masthead.contract.encoding import encode, wire_of
from masthead.contract.kinds import Missing
from masthead.contract.openapi import document
from masthead.contract.shapes import fields_of
from tests.contract.values import problems, read, wire_records
from tests.long import examples

DOCUMENT = document()
SHAPES = [getattr(shapes, name) for name in shapes.__all__ if name not in {"Field", "fields_of"}]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)


def schema_of(shape: type) -> dict[str, Any]:
    """Return the shape's schema with all that it refers to."""
    reference = {"$ref": f"#/components/schemas/{shape.__name__}"}
    return reference | {"components": DOCUMENT["components"]}


@each_shape
@examples(4, 125)
@given(data=st.data())
def test_the_keys_of_a_record_stand_in_the_order_of_its_shape(
    shape: type, data: st.DataObject
) -> None:
    """interface, "Resources and their fields"; rules, "Missing values"."""
    response = read(data.draw(wire_records(shape)))
    absent = {f.name for f in fields_of(shape) if f.missing is Missing.ABSENT} - response.keys()
    assert list(response) == [f.name for f in fields_of(shape) if f.name not in absent]


@each_shape
@examples(4, 125)
@given(data=st.data())
def test_every_record_satisfies_its_schema(shape: type, data: st.DataObject) -> None:
    """The description has the real wire types."""
    response = json.loads(encode(data.draw(wire_records(shape))))
    assert problems(schema_of(shape), response) == []


def test_a_missing_value_is_null_or_empty_or_its_key_is_absent() -> None:
    """rules, "Missing values"; interface, Order item."""
    make = wire_of(shapes.OrderItem)
    assert encode(make(1, None, 2, None, None, "0.3", "0", "85")) == (
        b'{"order_item_id":"1","product_id":"2","refund_date":null,"fulfilled_date":null,'
        b'"sub_total":0.3,"tax_total":0,"grand_total":85}'
    )
    assert encode(wire_of(shapes.MailingListEntry)(1, None, 0, 1, None)) == (
        b'{"subscription_id":"1","copies":"","is_grace":"0","is_paid":"1","type":""}'
    )


def test_nested_records_are_an_array_or_null() -> None:
    """rules, "Empty collections"."""
    subscription = wire_of(shapes.AuthenticatedSubscription)
    issue = wire_of(shapes.ReceivedIssue)(7, "Spring", None)
    assert read(subscription(1, None, None, 2, -1, "Both", [issue]))["issues"] == [
        {"issue_id": "7", "name": "Spring", "date": ""}
    ]
    assert read(subscription(1, None, None, 2, -1, "Both", None))["issues"] is None


def test_characters_are_sent_as_utf_8_and_not_escaped() -> None:
    """rules, "Content"."""
    issue = wire_of(shapes.ReceivedIssue)(1, 'Zoë 😀 "</script>" \u2028', "2024-02-29")
    assert encode([issue]).decode() == (
        '[{"issue_id":"1","name":"Zoë 😀 \\"</script>\\" \u2028","date":"2024-02-29"}]'
    )
