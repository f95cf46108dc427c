"""Each kind reads its texts, writes what its schema says, and refuses the rest in a sentence."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract import kinds
from masthead.contract.encoding import encode, wire_of
from masthead.contract.file_kinds import IdentifierList
from masthead.contract.operations import Limit
from tests.contract.values import KINDS, problems, texts
from tests.long import examples

if TYPE_CHECKING:
    from masthead.contract.kinds import Kind

each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def on_the_wire(kind: Kind, stored: int | str) -> str:
    """Return the JSON of a stored value of the kind."""
    shape = msgspec.defstruct("Shape", [("field", Annotated[Any, kind])])
    return encode(wire_of(shape)(stored)).decode().removeprefix('{"field":').removesuffix("}")


def read(kind: Kind, text: str) -> tuple[int | str | None, str]:
    """Return the stored value of a text, or None and the words of the refusal."""
    try:
        return kind.parse(text), ""
    except ValueError as refusal:
        return None, str(refusal)


@each_kind
@examples(15, 300)
@given(data=st.data())
def test_what_is_read_is_written_as_the_schema_says_and_reads_the_same_again(
    kind: Kind, data: st.DataObject
) -> None:
    """interface, Conventions; decisions, "Integers"; rules, "Bool", "Double", "Decimal strings"."""
    stored = kind.parse(data.draw(texts(kind)))
    written = on_the_wire(kind, stored)
    assert problems(kind.schema(), json.loads(written)) == []
    seen = json.loads(written, parse_int=str, parse_float=str)
    assert kind.parse(str(seen)) == stored


@each_kind
@given(text=st.text(min_size=1))
def test_any_text_is_read_or_refused_in_words(kind: Kind, text: str) -> None:
    stored, refusal = read(kind, text)
    if stored is None:
        assert refusal
    else:
        assert problems(kind.schema(), json.loads(on_the_wire(kind, stored))) == []


@pytest.mark.parametrize(
    ("kind", "text", "written"),
    [
        (kinds.Integer(), "9223372036854775807", '"9223372036854775807"'),
        (kinds.Integer(), "-9223372036854775808", '"-9223372036854775808"'),
        (kinds.Integer(), "-1", '"-1"'),
        (kinds.Identifier(), "0", '"0"'),
        (kinds.Text(), 'é "\\" </script> 😀', '"é \\"\\\\\\" </script> 😀"'),
        (kinds.Text(5), "e\u0301😀ab", '"e\u0301😀ab"'),
        (kinds.OneOf("Print", "Digital"), "DIGITAL", '"Digital"'),
        (kinds.Bool(), "True", "true"),
        (kinds.Bool(), "0", "false"),
        (kinds.Flag(), "true", '"1"'),
        (kinds.Flag(), "0", '"0"'),
        (kinds.Bit(), "1", "1"),
        (kinds.Bit(), "FALSE", "0"),
        (kinds.Number(), "10.50", "10.5"),
        (kinds.Number(), "85.00", "85"),
        (kinds.Number(), "101.16", "101.16"),
        (kinds.Number(), "100", "100"),
        (kinds.Number(), "1e3", "1000"),
        (kinds.Number(), "1E-2", "0.01"),
        (kinds.Number(), "-0.00", "0"),
        (kinds.Number(), "-5.250", "-5.25"),
        (kinds.Number(), "999999999999999", "999999999999999"),
        (kinds.DecimalText(), "10.50", '"10.50"'),
        (kinds.Date(), "2024-02-29", '"2024-02-29"'),
        (kinds.DateTime(), "2024-02-29 23:59:59", '"2024-02-29 23:59:59"'),
        (kinds.Digest(), "5EBE2294ECD0E0F08EAB7690D2A6EE69", '"5ebe2294ecd0e0f08eab7690d2a6ee69"'),
    ],
)
def test_a_text_is_written_so(kind: Kind, text: str, written: str) -> None:
    """decisions, "Integers"; rules, "Bool", "Double", "Content", "Decimal strings"."""
    assert on_the_wire(kind, kind.parse(text)) == written


NOT_WHOLE = "not a whole number: digits only, without leading zeros"
NOT_NUMBER = "not a number such as 10.5"
NOT_DATE = "not a date that exists, written YYYY-MM-DD"
NOT_TIME = "not a time that exists, written YYYY-MM-DD hh:mm:ss"
NOT_BOOLEAN = "neither true (or 1) nor false (or 0)"
NOT_DECIMAL = "not a decimal such as 10.50, of at most 18 and 9 digits"
NOT_DIGEST = "not the 32 hexadecimal digits of an MD5 digest"
NOT_LIMIT = "not a whole number of 1 or more"
NOT_IN_BASIC = "holds a control character, which HTTP Basic cannot carry"
KEY, LOGIN = kinds.Credential(is_user_name=True), kinds.Credential(is_user_name=False)


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (kinds.Integer(), "", NOT_WHOLE),
        (kinds.Integer(), "007", NOT_WHOLE),
        (kinds.Integer(), "+1", NOT_WHOLE),
        (kinds.Integer(), "1.0", NOT_WHOLE),
        (kinds.Integer(), " 1", NOT_WHOLE),
        (kinds.Integer(), "1\n", NOT_WHOLE),
        (kinds.Integer(), "\u0661", NOT_WHOLE),
        (kinds.Integer(), "1_000", NOT_WHOLE),
        (kinds.Integer(), "9223372036854775808", "does not fit into 64 bits"),
        (kinds.Integer(), "-9223372036854775809", "does not fit into 64 bits"),
        (kinds.Integer(), "9" * 5000, "does not fit into 64 bits"),
        (kinds.Identifier(), "-1", "negative, which no id is"),
        (kinds.Text(5), "123456", "longer than 5 characters"),
        (kinds.Text(), "a\x00b", "holds a NUL character, which no store can keep"),
        (kinds.Text(), "\udc80", "is not valid UTF-8"),
        (KEY, "a:b", "holds a colon, which ends the user name in HTTP Basic"),
        (KEY, ":", "holds a colon, which ends the user name in HTTP Basic"),
        *((kind, f"a{c}b", NOT_IN_BASIC) for kind in (KEY, LOGIN) for c in "\x01\t\r\n\x1f\x7f"),
        (LOGIN, "\udc80", "is not valid UTF-8"),
        (kinds.OneOf("Print", "Both"), "printed", "not one of Print, Both"),
        (kinds.Bool(), "yes", NOT_BOOLEAN),
        (kinds.Flag(), "2", NOT_BOOLEAN),
        (kinds.Bit(), "", NOT_BOOLEAN),
        (kinds.Number(), "NaN", NOT_NUMBER),
        (kinds.Number(), "Infinity", NOT_NUMBER),
        (kinds.Number(), "1,5", NOT_NUMBER),
        (kinds.Number(), ".5", NOT_NUMBER),
        (kinds.Number(), "\u0663", NOT_NUMBER),
        (kinds.Number(), "1e1000", NOT_NUMBER),
        (kinds.Number(), "1234567890123456", "has more than 15 digits"),
        (kinds.Number(), "0.1234567890123456", "has more than 15 digits"),
        (kinds.Number(), f"1.{'0' * 28}1", "has more than 15 digits"),
        (kinds.Number(), "1e15", "has more than 15 digits"),
        (kinds.Number(), "1e-16", "has more than 15 digits"),
        (kinds.DecimalText(), "1e3", NOT_DECIMAL),
        (kinds.DecimalText(), "1.", NOT_DECIMAL),
        (kinds.DecimalText(), "1234567890123456789", NOT_DECIMAL),
        (kinds.Date(), "2023-02-29", NOT_DATE),
        (kinds.Date(), "20240229", NOT_DATE),
        (kinds.Date(), "2024-W09-4", NOT_DATE),
        (kinds.Date(), "0000-01-01", NOT_DATE),
        (kinds.DateTime(), "2024-02-29", NOT_TIME),
        (kinds.DateTime(), "2024-02-29T23:59:59", NOT_TIME),
        (kinds.DateTime(), "2024-02-29 24:00:00", NOT_TIME),
        (kinds.Digest(), "secret", NOT_DIGEST),
        (kinds.Digest(), "g" * 32, NOT_DIGEST),
        (IdentifierList(), "1|", NOT_WHOLE),
        (IdentifierList(), "1|-2", "negative, which no id is"),
        (Limit(), "0", NOT_LIMIT),
        (Limit(), "000", NOT_LIMIT),
        (Limit(), "-1", NOT_LIMIT),
        (Limit(), "ten", NOT_LIMIT),
        (Limit(), "", NOT_LIMIT),
    ],
)
def test_a_text_is_refused_with_a_sentence(kind: Kind, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        kind.parse(text)


@given(number=st.integers(min_value=1))
def test_a_limit_above_a_hundred_counts_as_a_hundred(number: int) -> None:
    """interface, Limits; rules, "limit"."""
    assert Limit().parse(str(number)) == min(number, 100)
    assert Limit().parse(f"00{number}") == min(number, 100)


@given(ids=st.lists(st.integers(0, 2**63 - 1), min_size=1))
def test_a_list_of_ids_is_kept_in_order_and_once_each(ids: list[int]) -> None:
    """The column option_ids of custom_field_answers."""
    stored = IdentifierList().parse("|".join(map(str, ids)))
    assert stored == "|".join(map(str, sorted(set(ids))))
