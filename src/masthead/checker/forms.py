"""Compares records of a response with the interface's tables: members, order, types.

The tables are those of ``masthead.contract.shapes``. Where the interface leaves a form open, a
deviation from Masthead is a note, not a difference (decisions, "Checker: differences and notes").
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from masthead.checker.findings import Finding, Severity
from masthead.checker.reading import type_of
from masthead.contract import shapes
from masthead.contract.kinds import (
    NUMBER_DIGITS_MAX,
    Bit,
    Bool,
    Flag,
    Integer,
    Kind,
    Many,
    Missing,
    Number,
    OneOf,
    Text,
)
from masthead.contract.shapes import Field, fields_of

SECTIONS: dict[type, str] = {
    shapes.Account: "Account",
    shapes.Subscriber: "Subscriber",
    shapes.ChangedSubscriber: "Subscriber",
    shapes.Subscription: "Subscription",
    shapes.ChangedSubscription: "Subscription",
    shapes.AuthenticatedSubscription: "Subscription",
    shapes.ReceivedIssue: "Subscription",
    shapes.AuthenticatedSubscriber: "Operation 3",
    shapes.Address: "Address",
    shapes.CustomFieldAnswer: "Custom field answer set",
    shapes.AnswerValue: "Custom field answer set",
    shapes.AnswerRecord: "Custom field definition",
    shapes.CustomFieldDefinition: "Custom field definition",
    shapes.CustomFieldOption: "Custom field definition",
    shapes.Purchase: "Purchase",
    shapes.ListDownload: "List download",
    shapes.Order: "Order",
    shapes.OrderItem: "Order",
    shapes.MailingListEntry: "Mailing list entry",
}
"""The heading of the interface for each shape."""

_OPEN = {
    "audit_classification",
    "audit_request_type",
    "audit_type",
    "delete_date",
    "grace_from_date",
    "last_purchase_id",
    "modified_date",
    "paid_issues_left",
    "parent_mailing_list_id",
    "source",
    "unearned_revenue",
}
"""Fields whose type the interface does not show, since all of its samples have null."""

_OPEN_WORDS = {(shapes.CustomFieldAnswer, "type")}
"""Enumerations for which the interface shows only some of the words."""

_JSON_TYPES: dict[type[Kind], str] = {
    Bit: "a JSON number",
    Bool: "a JSON boolean",
    Flag: "a string",
    Number: "a JSON number",
}
_WORDS: dict[type[Kind], set[Any]] = {Bit: {0, 1}, Flag: {"0", "1"}}

_MAY_BE_NUMBERS = {"paid_issues_left"}
_MAY_BE_ABSENT = {"last_purchase_id"}
_NAMES = frozenset(field.name for shape in SECTIONS for field in fields_of(shape))


class _Fault(NamedTuple):
    severity: Severity
    shape: type
    field: str
    text: str


def faults_of(shape: type, records: Sequence[Any], request: str, place: str) -> Iterator[Finding]:
    """Yield the differences between records and the table of a shape, each once.

    ``place`` is the place of the records in the response.
    """
    counts: Counter[_Fault] = Counter()
    totals: Counter[type] = Counter()
    _count(shape, records, place, counts, totals)
    for fault, count in counts.items():
        total = totals[fault.shape]
        where = f" (in {count} of {total} records)" if total > 1 else ""
        yield Finding(
            fault.severity, SECTIONS[fault.shape], request, fault.field, f"{fault.text}{where}"
        )


def differing_fields(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the names of the fields that have different values in both records.

    Null and an empty string are the same: both are a missing value (interface, "Conventions").
    """
    shared = [name for name in one if name in other and name in _NAMES]
    return [name for name in shared if _value(one[name]) != _value(other[name])]


def _value(value: Any) -> Any:
    return None if value == "" else value


def _count(
    shape: type,
    records: Sequence[Any],
    place: str,
    counts: Counter[_Fault],
    totals: Counter[type],
) -> None:
    fields = fields_of(shape)
    common = _common_names(records, fields[0].name)
    for record in records:
        totals[shape] += 1
        if not isinstance(record, dict):
            counts[
                _Fault("difference", shape, place, f"{type_of(record)} where a record is expected")
            ] += 1
            continue
        counts.update(_member_faults(shape, record, place, common))
        for field in fields:
            if field.name not in record:
                continue
            at = _at(place, field.name)
            value = record[field.name]
            if isinstance(field.kind, Many) and isinstance(value, list):
                _count(field.kind.shape, value, f"{at}[]", counts, totals)
            elif found := _value_fault(shape, field, value):
                severity, text = found
                counts[_Fault(severity, shape, at, text)] += 1


def _common_names(records: Sequence[Any], key: str) -> set[str]:
    """Return the names that two records and at least half of all records have."""
    of_table = [record for record in records if isinstance(record, dict) and key in record]
    counts = Counter(name for record in of_table for name in record)
    least = max(2, len(records) / 2)
    return {name for name, count in counts.items() if count >= least}


def _member_faults(
    shape: type, record: dict[str, Any], place: str, common: Collection[str]
) -> Iterator[_Fault]:
    fields = fields_of(shape)
    known = [field.name for field in fields]
    for field in fields:
        if field.name not in record and field.missing is not Missing.ABSENT:
            severity: Severity = "note" if field.name in _MAY_BE_ABSENT else "difference"
            yield _Fault(severity, shape, _at(place, field.name), "the field is missing")
    before = "the beginning"
    for name in record:
        if name not in known:
            # Other names may be values, if the service uses values as keys.
            shown = f"`{name}`" if name in _NAMES or name in common else f"a name after {before}"
            yield _Fault("difference", shape, place, f"{shown} is no field of the table")
        else:
            before = f"`{name}`"
    present = [name for name in record if name in known]
    due = [name for name in known if name in record]
    if present != due:
        first, instead = next((a, b) for a, b in zip(due, present, strict=True) if a != b)
        text = f"the fields are in another order: `{instead}` is where `{first}` is due"
        yield _Fault("difference", shape, place, text)
    if shape is shapes.OrderItem and ("bundle_id" in record) == ("product_id" in record):
        text = "an item has exactly one of `bundle_id` and `product_id`"
        yield _Fault("difference", shape, place, text)


def _at(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _value_fault(shape: type, field: Field, value: Any) -> tuple[Severity, str] | None:
    """Return what is wrong with a value; None if it is right."""
    if field.name in _OPEN:
        return _open_fault(field, value)
    if value is None or value == "":
        return _missing_fault(field, value)
    if text := _kind_fault(field.kind, value):
        is_open = (shape, field.name) in _OPEN_WORDS and isinstance(value, str)
        return ("note" if is_open else "difference"), text
    if isinstance(field.kind, Number) and len(Decimal(value).as_tuple().digits) > NUMBER_DIGITS_MAX:
        return (
            "note",
            f"it has more than {NUMBER_DIGITS_MAX} digits, as binary fractions are written",
        )
    return None


def _open_fault(field: Field, value: Any) -> tuple[Severity, str] | None:
    may_be_number = field.name in _MAY_BE_NUMBERS and type_of(value) == "a JSON number"
    if value is None or isinstance(value, str) or may_be_number:
        return None
    return "note", f"{type_of(value)}; the interface shows only null, clients expect null or text"


def _missing_fault(field: Field, value: str | None) -> tuple[Severity, str] | None:
    if value == "" and isinstance(field.kind, Text) and not isinstance(field.kind, OneOf):
        return None
    if field.missing is (Missing.NULL if value is None else Missing.EMPTY):
        return None
    if field.missing is Missing.NEVER:
        return "difference", f"{type_of(value)}, which has to be {_wanted(field.kind)}"
    if isinstance(field.kind, Many):
        return "difference", f"{type_of(value)} where an array is expected"
    other = "an empty string" if value is None else "null"
    return "note", f"{type_of(value)} for a missing value, where clients expect {other}"


def _kind_fault(kind: Kind, value: Any) -> str | None:
    """Return how a non-empty value differs from its kind."""
    if isinstance(value, str) and not isinstance(kind, OneOf | Bool | Bit | Flag | Number | Many):
        try:
            kind.parse(value)
        except ValueError as error:
            return f"a string that is {error}" if str(error).startswith("not") else str(error)
        return None
    if type_of(value) == _JSON_TYPES.get(type(kind)) and value in _WORDS.get(type(kind), {value}):
        return None
    if isinstance(kind, OneOf) and isinstance(value, str) and value in kind.values:
        return None
    if isinstance(kind, Integer):
        return f"{type_of(value)}; identifiers and counts are strings (Conventions)"
    return f"{type_of(value)}, which has to be {_wanted(kind)}"


def _wanted(kind: Kind) -> str:
    if isinstance(kind, OneOf):
        return f"one of {', '.join(kind.values)}"
    if isinstance(kind, Bool):
        return "true or false, as a JSON boolean"
    if isinstance(kind, Number | Many):
        return "an array" if isinstance(kind, Many) else "a JSON number"
    if isinstance(kind, Flag | Bit):
        return kind.word
    word = kind.word.removesuffix(", as a string")
    noun = f"{'an' if word[0] in 'aeioM' else 'a'} {word} as a string"
    return "a string" if word == Text.word else noun
