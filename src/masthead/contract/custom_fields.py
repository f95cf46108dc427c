"""The records of custom fields, which ``masthead.contract.records`` lists among the tables."""

from typing import Annotated

from msgspec import Struct

from masthead.contract.file_kinds import IdentifierList
from masthead.contract.kinds import Missing
from masthead.contract.shapes import (
    Bit,
    Bool,
    DateOrNull,
    FieldType,
    Integer,
    Key,
    Text,
    Text255,
    TextOrNull,
)

OptionIds = Annotated[str | None, IdentifierList(), Missing.NULL]


class CustomField(Struct):
    """A question that the publisher asks its subscribers."""

    field_id: Key
    name: Text255
    display_as: Text255
    type: FieldType
    allow_other: Bit


class CustomFieldOptionRecord(Struct):
    """A preset answer of a custom field."""

    option_id: Key
    field_id: Key
    value: Text
    display_as: Text
    disqualifier: Bool
    active: Bool
    order: Integer


class CustomFieldAnswerRecord(Struct):
    """A subscriber's answer to a custom field.

    ``answered_on`` is the day on which the subscriber gave it on the readers' pages.
    """

    subscriber_id: Key
    field_id: Key
    option_ids: OptionIds
    text_value: TextOrNull
    answered_on: DateOrNull
