"""Reading typed records: what Masthead writes is read back, and what others write is understood."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract import kinds, shapes
from masthead.contract.decoding import decoder, read_record
from masthead.contract.encoding import encode, wire_of
from masthead.contract.kinds import Many, Missing
from masthead.contract.shapes import fields_of
from tests.contract.values import texts, wire_records
from tests.long import examples

if TYPE_CHECKING:
    from masthead.contract.kinds import Kind
    from masthead.contract.shapes import Field

SHAPES = [getattr(shapes, name) for name in shapes.__all__ if name not in {"Field", "fields_of"}]
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)

# What a stored value is in Python, said of each kind by hand.
IN_PYTHON: dict[type[Kind], Any] = {
    kinds.Integer: int,
    kinds.Identifier: int,
    kinds.Text: str,
    kinds.Credential: str,
    kinds.OneOf: str,
    kinds.Bool: bool,
    kinds.Flag: bool,
    kinds.Bit: bool,
    kinds.Number: Decimal,
    kinds.DecimalText: Decimal,
    kinds.Date: date.fromisoformat,
    kinds.DateTime: datetime.fromisoformat,
    kinds.Digest: str,
}


def stored(field: Field) -> st.SearchStrategy[Any]:
    """Values of a field as they are stored, with those of nested records in tuples."""
    if isinstance(field.kind, Many):
        inner = st.tuples(*map(stored, fields_of(field.kind.shape)))
        values: st.SearchStrategy[Any] = st.lists(inner, max_size=2)
    else:
        values = texts(field.kind).map(field.kind.parse)
    return values if field.missing is Missing.NEVER else st.none() | values


def on_the_wire(shape: type, values: tuple[Any, ...]) -> Any:
    """Return the wire form of a record of stored values."""
    written = (
        [on_the_wire(field.kind.shape, record) for record in value]
        if isinstance(field.kind, Many) and value is not None
        else value
        for field, value in zip(fields_of(shape), values, strict=True)
    )
    return wire_of(shape)(*written)


def in_python(shape: type, values: tuple[Any, ...]) -> Any:
    """Return the record that a client has for stored values."""
    return shape(*map(_value_in_python, fields_of(shape), values))


def _value_in_python(field: Field, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(field.kind, Many):
        return [in_python(field.kind.shape, record) for record in value]
    # The empty string is how the wire writes what is missing.
    return IN_PYTHON[type(field.kind)](value)


def types_of(value: Any) -> Any:
    """Return the types of all values of a record: 1 and True are equal, and not the same."""
    if isinstance(value, list):
        return [types_of(inner) for inner in value]
    names = getattr(value, "__struct_fields__", ())
    return type(value), [types_of(getattr(value, name)) for name in names]


@each_shape
@examples(10, 200)
@given(data=st.data())
def test_what_masthead_writes_is_read_back(shape: Any, data: st.DataObject) -> None:
    """interface, "Resources and their fields"; rules, "Missing values", "Double"."""
    values = data.draw(st.tuples(*map(stored, fields_of(shape))))
    record = read_record(shape, decoder.decode(encode(on_the_wire(shape, values)).decode()))
    assert record == in_python(shape, values)
    assert types_of(record) == types_of(in_python(shape, values))


@each_shape
@examples(10, 200)
@given(data=st.data())
def test_keys_that_are_not_known_or_missing_change_nothing(shape: Any, data: st.DataObject) -> None:
    """rules, "Client: reading generously"."""
    written = decoder.decode(encode(data.draw(wire_records(shape))).decode())
    fewer = {key: value for key, value in written.items() if value is not None and value != ""}
    assert read_record(shape, {"more": [1], **fewer}) == read_record(shape, written)


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        (kinds.Integer(), "12", 12),
        (kinds.Integer(), 12, 12),
        (kinds.Integer(), "012", 12),
        (kinds.Integer(), Decimal("12.0"), 12),
        (kinds.Integer(), "-1", -1),
        (kinds.Identifier(), 2**63 - 1, 2**63 - 1),
        (kinds.Text(), 62701, "62701"),
        (kinds.Text(), Decimal("39.7990"), "39.7990"),
        (kinds.OneOf("Print", "Both"), "PRINT", "Print"),
        (kinds.OneOf("Print", "Both"), "Audio", "Audio"),
        (kinds.Bool(), 1, True),
        (kinds.Bool(), "0", False),
        (kinds.Bool(), "True", True),
        (kinds.Flag(), True, True),
        (kinds.Flag(), "false", False),
        (kinds.Bit(), "1", True),
        (kinds.Number(), "10.50", Decimal("10.50")),
        (kinds.DecimalText(), Decimal("10.5"), Decimal("10.5")),
        (kinds.DecimalText(), 85, Decimal(85)),
        (kinds.Date(), "2024-02-29 00:00:00", date(2024, 2, 29)),
        (kinds.Date(), "0000-00-00", None),
        (kinds.DateTime(), "2024-02-29T23:59:59", datetime.fromisoformat("2024-02-29 23:59:59")),
        (kinds.DateTime(), "-0001-11-30 00:00:00", None),
        (kinds.Digest(), "5ebe2294ecd0e0f08eab7690d2a6ee69", "5ebe2294ecd0e0f08eab7690d2a6ee69"),
    ],
)
def test_what_other_services_write_is_understood(kind: Kind, written: Any, value: Any) -> None:
    """rules, "Client: reading generously"."""
    found = kind.read(written)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        (kinds.Integer(), "1.5"),
        (kinds.Integer(), Decimal("0.5")),
        (kinds.Integer(), True),
        (kinds.Integer(), "twelve"),
        (kinds.Integer(), [12]),
        (kinds.Integer(), Decimal("1e999999999")),
        (kinds.Integer(), "9" * 5_000),
        (kinds.Text(), True),
        (kinds.Text(), {"text": "x"}),
        (kinds.OneOf("Print"), ["Print"]),
        (kinds.Bool(), "yes"),
        (kinds.Bool(), 2),
        (kinds.Flag(), []),
        (kinds.Number(), "much"),
        (kinds.Number(), "NaN"),
        (kinds.Number(), False),
        (kinds.DecimalText(), "1,50"),
        (kinds.Date(), "29.02.2024"),
        (kinds.Date(), "2023-02-29"),
        (kinds.Date(), 20240229),
        (kinds.DateTime(), "yesterday"),
        (kinds.Digest(), None),
    ],
)
def test_what_can_mean_nothing_is_refused(kind: Kind, written: Any) -> None:
    """rules, "Client: reading generously": a wrong guess would be worse."""
    with pytest.raises((ValueError, TypeError, AttributeError, ArithmeticError)):
        kind.read(written)


@pytest.mark.parametrize(
    ("shape", "record", "sentence"),
    [
        (shapes.Order, ["71"], "Order: not a JSON object"),
        (shapes.Order, {"order_id": "71"}, "Order with order_id 71: subscriber_id is missing"),
        (shapes.Order, {}, "Order: order_id is missing"),
        (
            shapes.MailingListEntry,
            {"subscription_id": 9, "copies": "Mira"},
            (
                "MailingListEntry with subscription_id 9: copies is not what the interface says: "
                "integer, as a string"
            ),
        ),
        (
            shapes.MailingListEntry,
            {"subscription_id": "Mira"},
            "MailingListEntry: subscription_id is not what the interface says: id, as a string",
        ),
        (
            shapes.Order,
            {
                "order_id": 71,
                "subscriber_id": 1,
                "order_items": [{"order_item_id": 9, "tax_total": "x"}],
            },
            (
                "Order with order_id 71: order_items: OrderItem with order_item_id 9: tax_total is "
                "not what the interface says: number"
            ),
        ),
        (
            shapes.Order,
            {"order_id": 71, "subscriber_id": 1, "order_items": {}, "sub_total": [1]},
            "Order with order_id 71: sub_total is not what the interface says: number",
        ),
        (
            shapes.CustomFieldAnswer,
            {"field_id": 1, "type": "text", "values": 7},
            "CustomFieldAnswer with field_id 1: values is not what the interface says: list",
        ),
    ],
)
def test_what_cannot_be_read_is_named_without_its_value(
    shape: Any, record: Any, sentence: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole sentence is compared
        read_record(shape, record)
    assert str(caught.value) == sentence


def test_lists_that_are_missing_are_empty() -> None:
    """rules, "Client: reading generously"."""
    order: dict[str, Any] = {"order_id": 71, "subscriber_id": 1}
    assert read_record(shapes.Order, order).order_items == []
    missing: Any
    for missing in (None, "", []):
        assert read_record(shapes.Order, {**order, "order_items": missing}).order_items == []
