"""The tables of a copy, made from the wire shapes.

A table has the name of its records in the change feed, and a column for each field. Nested records
have a separate table, whose first column is the key of the outer record, their owner.

Rows consist of ints, texts and None, the same for all databases: dates and times as in the
interface, numbers in their shortest form, decimals with all their decimal places.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import Struct

from masthead.contract import kinds, shapes
from masthead.contract.kinds import Kind, Many, Missing
from masthead.contract.shapes import Field, fields_of
from masthead.errors import MastheadError

Row = tuple[Any, ...]

CHANGED_AT = "changed_at"
"""The column of each table with the time since when the copy has the row as it is."""

ENDED_AT = "ended_at"
"""The column of each history with the time until when the copy had the row so."""

_DIGITS_MAX = 1_000
"""An amount with more digits is refused: written out, it could fill the memory."""

_TIME_OF_CHANGE = "modified_date"
"""The column of subscribers that the service fills a moment after the change itself."""


class Table(NamedTuple):
    """A table. The first ``key`` columns are its primary key.

    The first column is the owner of a row; the rows of an owner are replaced together. ``indexed``
    are the other columns with an index, for joins and searches. ``shape`` has the columns that are
    not of an outer record.
    """

    name: str
    columns: tuple[Field, ...]
    key: int
    indexed: tuple[str, ...]
    shape: type

    @property
    def owner(self) -> str:
        """The name of the first column."""
        return self.columns[0].name

    @property
    def compared(self) -> list[str]:
        """The columns that say whether a row has changed, those of the primary key first."""
        return [column.name for column in self.columns if column.name != _TIME_OF_CHANGE]


class Entity(NamedTuple):
    """An entity of the change feed: its shape, its table, and the tables of nested records."""

    name: str
    shape: type
    tables: tuple[Table, ...]


def _table(
    name: str, shape: type, owner: tuple[Field, ...] = (), key: int = 1, also: tuple[str, ...] = ()
) -> Table:
    columns = (*owner, *(f for f in fields_of(shape) if not isinstance(f.kind, Many)))
    ids = [f.name for f in columns[1:] if isinstance(f.kind, kinds.Identifier)]
    return Table(name, columns, key, (*ids, *also), shape)


_SUBSCRIBER = fields_of(shapes.AnswerRecord)[:1]
_FIELD = fields_of(shapes.CustomFieldDefinition)[:1]
_POSITION = Field("position", kinds.Integer(), Missing.NEVER)

DEFINITIONS = _table("custom_field_definitions", shapes.CustomFieldDefinition)
OPTIONS = _table("custom_field_options", shapes.CustomFieldOption, _FIELD, key=2)
ENTRIES = _table(
    "mailing_list_entries", shapes.MailingListEntry, fields_of(shapes.ListDownload)[:1], key=2
)


class SetAside(NamedTuple):
    """A record that the copy could not take, as in a row of the table ``set_aside``.

    ``table_name`` and ``record_id`` name the record as in the output of ``verify``. ``field`` is
    the first odd field, ``value`` its JSON, ``request`` the path of the request.
    """

    table_name: str
    record_id: str
    field: str
    value: str
    request: str

    @property
    def has_valid_id(self) -> bool:
        """Whether the id is one. Other text in its place may be personal."""
        return self.record_id.replace("/", "").isdecimal()


SET_ASIDE = Table(
    "set_aside",
    tuple(Field(name, kinds.Text(), Missing.NEVER) for name in SetAside._fields),
    2,
    (),
    SetAside,
)
"""The records that the copy could not take (rules, "Mirror: records set aside")."""

ENTITIES = (
    Entity(
        "customfields",
        shapes.AnswerRecord,
        (
            _table("custom_fields", shapes.CustomFieldAnswer, _SUBSCRIBER, key=2),
            _table(
                "custom_field_values",
                shapes.AnswerValue,
                (*_SUBSCRIBER, *_FIELD, _POSITION),
                key=3,
            ),
        ),
    ),
    Entity(
        "subscriptions",
        shapes.ChangedSubscription,
        (_table("subscriptions", shapes.ChangedSubscription),),
    ),
    Entity(
        "subscribers",
        shapes.ChangedSubscriber,
        (_table("subscribers", shapes.ChangedSubscriber, also=("email", "renewal_code")),),
    ),
    Entity("addresses", shapes.Address, (_table("addresses", shapes.Address),)),
    Entity("purchases", shapes.Purchase, (_table("purchases", shapes.Purchase),)),
    Entity("listdownloads", shapes.ListDownload, (_table("list_downloads", shapes.ListDownload),)),
    Entity(
        "orders",
        shapes.Order,
        (
            _table("orders", shapes.Order),
            _table("order_items", shapes.OrderItem, fields_of(shapes.Order)[:1], key=2),
        ),
    ),
)
"""The entities of the change feed, in the order of its parameter."""

TABLES = (*(t for entity in ENTITIES for t in entity.tables), DEFINITIONS, OPTIONS, ENTRIES)


UNEARNED = Table(
    "unearned_revenue",
    tuple(
        field
        for field in fields_of(shapes.Subscription)
        if field.name in {"subscription_id", "paid_issues_left", "unearned_revenue"}
    ),
    1,
    (),
    shapes.Subscription,
)
"""The fields of a subscription that the change feed lacks. A copy has this table if asked to."""


def entity_named(name: str) -> Entity:
    """Return the entity of that name in the change feed's parameter."""
    return next(entity for entity in ENTITIES if entity.name == name)


def rows_of(entity: Entity) -> Callable[[Any], Iterator[Sequence[Row]]]:
    """Return the function that yields the rows of a record for each table of the entity.

    If a nested record occurs twice, the later one counts.
    """
    if entity.shape is shapes.AnswerRecord:
        return _rows_of_answers
    if entity.shape is shapes.Order:
        return _rows_of_order
    (table,) = entity.tables
    values, keep = attrgetter(*(field.name for field in table.columns)), kept(table)
    return lambda record: iter(((keep(values(record)),),))


def rows_of_definitions(
    definitions: Iterable[shapes.CustomFieldDefinition],
) -> tuple[list[Row], list[Row]]:
    """Return the rows of the custom fields and those of their options, by ascending keys."""
    by_id = {definition.field_id: definition for definition in definitions}
    fields, options = {}, {}
    for field_id, definition in by_id.items():
        fields[field_id] = _keep_definition(_of_definition(definition))
        for option in definition.value_options:
            row = _keep_option((field_id, *_of_option(option)))
            options[row[: OPTIONS.key]] = row
    return [fields[key] for key in sorted(fields)], [options[key] for key in sorted(options)]


def rows_of_entries(
    mailing_list_id: int, entries: Iterable[shapes.MailingListEntry]
) -> Iterator[Row]:
    """Yield the rows of a list download's entries, in their order."""
    return (_keep_entry((mailing_list_id, *_of_entry(entry))) for entry in entries)


def not_null(column: Field) -> str:
    """Return NOT NULL for a column that always has a value, else nothing."""
    return " NOT NULL" if column.missing is Missing.NEVER else ""


def number_as_text(value: Decimal | float) -> str:
    """Return the shortest text of the double nearest to a number: ``10.5``, ``85``.

    Raises MastheadError if the number is too big for a double.
    """
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        raise MastheadError("the copy cannot hold a number that is too big for a double")
    text = format(Decimal(repr(double)), "f")
    if "." in text:
        text = text.rstrip("0").removesuffix(".")
    return "0" if text == "-0" else text


@cache
def kept(table: Table) -> Callable[[Row], Row]:
    """Return the function that converts the client's values of a row to the stored ones."""
    changes = [
        (n, _KEPT_AS[type(field.kind)])
        for n, field in enumerate(table.columns)
        if type(field.kind) in _KEPT_AS
    ]

    def keep(row: Row) -> Row:
        values = list(row)
        for n, change in changes:
            if values[n] is not None:
                values[n] = change(values[n])
        return tuple(values)

    return keep if changes else lambda row: row


def unkept_field(record: Struct) -> tuple[str, Any] | None:
    """Return the first field of a record that :func:`kept` refuses, and its value, or None.

    The name of a field in a nested record has that of the list before it.
    """
    for field in fields_of(type(record)):
        value = getattr(record, field.name)
        if isinstance(field.kind, Many):
            for found in filter(None, map(unkept_field, value or ())):
                return f"{field.name}.{found[0]}", found[1]
        elif value is not None and type(field.kind) in _KEPT_AS:
            try:
                _KEPT_AS[type(field.kind)](value)
            except MastheadError:
                return field.name, value
    return None


def _date(value: date) -> str:
    return value.isoformat()


def _time(value: datetime) -> str:
    return value.isoformat(" ", "seconds")[:19]


def _exact(value: Decimal) -> str:
    if abs(value.adjusted()) > _DIGITS_MAX:
        raise MastheadError("the copy cannot hold an amount of so many digits")
    return format(value or value.copy_abs(), "f")


_KEPT_AS: Mapping[type[Kind], Callable[[Any], str]] = {
    kinds.Date: _date,
    kinds.DateTime: _time,
    kinds.DecimalText: _exact,
    kinds.Number: number_as_text,
}


def _flat(shape: type) -> Callable[[Any], Row]:
    names = (field.name for field in fields_of(shape) if not isinstance(field.kind, Many))
    values: Callable[[Any], Row] = attrgetter(*names)
    return values


_ANSWERS, _VALUES = entity_named("customfields").tables
_ORDERS, _ITEMS = entity_named("orders").tables
_of_answer, _keep_answer = _flat(shapes.CustomFieldAnswer), kept(_ANSWERS)
_of_value, _keep_value = _flat(shapes.AnswerValue), kept(_VALUES)
_of_order, _keep_order = _flat(shapes.Order), kept(_ORDERS)
_of_item, _keep_item = _flat(shapes.OrderItem), kept(_ITEMS)
_of_definition, _keep_definition = _flat(shapes.CustomFieldDefinition), kept(DEFINITIONS)
_of_option, _keep_option = _flat(shapes.CustomFieldOption), kept(OPTIONS)
_of_entry, _keep_entry = _flat(shapes.MailingListEntry), kept(ENTRIES)


def _rows_of_answers(record: shapes.AnswerRecord) -> Iterator[Sequence[Row]]:
    owner = record.subscriber_id
    answers = {answer.field_id: answer for answer in record.custom_fields}.values()
    yield [_keep_answer((owner, *_of_answer(answer))) for answer in answers]
    yield [
        _keep_value((owner, answer.field_id, position, *_of_value(value)))
        for answer in answers
        for position, value in enumerate(answer.values or ())
    ]


def _rows_of_order(order: shapes.Order) -> Iterator[Sequence[Row]]:
    yield (_keep_order(_of_order(order)),)
    items = {item.order_item_id: item for item in order.order_items}.values()
    yield [_keep_item((order.order_id, *_of_item(item))) for item in items]
