"""What the tables and columns of a copy mean: comments in its database, metadata in Parquet."""

from collections.abc import Mapping

from masthead.contract import shapes
from masthead.contract.kinds import Bit, Flag
from masthead.contract.meanings import FIELDS, SHAPES, meaning_of
from masthead.contract.shapes import Field
from masthead.mirror.tables import CHANGED_AT, ENDED_AT, SetAside, Table

_TABLES: Mapping[type, str] = {
    shapes.AnswerRecord: "A subscriber's answer to one of the publisher's questions.",
    shapes.ChangedSubscription: "A subscription. paid_issues_left and unearned_revenue are not in "
    "the change feed.",
    shapes.Subscription: "What is paid and not yet delivered of a subscription.",
    shapes.ListDownload: "A mailing list: who gets one issue of a publication. Its entries are in "
    "the table mailing_list_entries.",
    shapes.Order: "An order. Its items are in the table order_items.",
    SetAside: "A record of the service that the copy could not take. If the copy has a row of the "
    "record, that is an earlier one.",
}
_SET_ASIDE = {
    "table_name": "The table that lacks the record as it is.",
    "record_id": "The id of the record: its key, or what is in its place.",
    "field": "The first field that is not as the interface says, or that does not fit.",
    "value": "What the field has, as JSON, cut after 1,000 characters; without an id, the record.",
    "request": "The path of the request whose response had the record.",
}
_COLUMNS = {
    "position": "The position of the option among those that the subscriber chose, from 0.",
    CHANGED_AT: "The time, in UTC, of the pass that found this row new or changed.",
    ENDED_AT: "The time, in UTC, of the pass that found this row changed again, or gone.",
}
_DECIMALS = "The number of decimal places with which the interface shows {}."


def of_table(table: Table) -> str:
    """Return what a row of the table is."""
    return _TABLES.get(table.shape) or SHAPES[table.shape]


def of_columns(table: Table, names: list[str]) -> Mapping[str, str]:
    """Return what each of these columns of the table means, in plain text."""
    fields = {field.name: field for field in table.columns}
    return {
        name: _of_field(table, fields[name]) if name in fields else _of_added(name)
        for name in names
    }


def _of_field(table: Table, field: Field) -> str:
    if table.shape is SetAside:
        return _SET_ASIDE[field.name]
    if field.name in _COLUMNS:
        return _COLUMNS[field.name]
    # The key of an outer record is no field of the table's shape.
    shapes_of = (shape for shape, name in FIELDS if name == field.name)
    shape = table.shape if (table.shape, field.name) in FIELDS else next(shapes_of)
    meaning = meaning_of(shape, field.name).replace("`", "")
    if isinstance(field.kind, (Flag, Bit)):
        for digit, word in (("1", "true"), ("0", "false")):
            meaning = meaning.replace(f'"{digit}"', word).replace(f"{digit} if", f"{word} if")
            meaning = meaning.replace(f"else {digit}", f"else {word}")
    return meaning[:1].upper() + meaning[1:]


def _of_added(name: str) -> str:
    return _COLUMNS.get(name) or _DECIMALS.format(name.removesuffix("_decimals"))
