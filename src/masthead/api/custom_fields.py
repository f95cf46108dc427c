"""Operations 5 and 6: custom fields, their options and a subscriber's answers."""

from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.responses import Response

from masthead.api.answers import json
from masthead.api.operation import Call, route
from masthead.contract.encoding import encode, wire_of
from masthead.contract.shapes import (
    AnswerValue,
    CustomFieldAnswer,
    CustomFieldDefinition,
    CustomFieldOption,
)
from masthead.errors import NotFound
from masthead.store import reading

__all__ = ["answer_set", "routes"]

_make_answer = wire_of(CustomFieldAnswer)
_make_value = wire_of(AnswerValue)
_make_definition = wire_of(CustomFieldDefinition)
_make_option = wire_of(CustomFieldOption)


def get_custom_field_answers(call: Call) -> Response:
    """Answer interface, operation 5: an entry of shape CustomFieldAnswer for every field.

    Raises NotFound for a subscriber who does not exist.
    """
    answers = reading.answers_of(call.database, call.account_id, call.path_id or 0)
    if answers is None:
        raise NotFound(f"there is no subscriber {call.path_id}")
    defined = reading.custom_fields(call.database, call.account_id)
    return json(encode(answer_set(defined, answers)))


def list_custom_fields(call: Call) -> Response:
    """Answer interface, operation 6: definitions of shape CustomFieldDefinition."""
    defined = reading.custom_fields(call.database, call.account_id)
    body = [
        _make_definition(*field, [_make_option(*option) for option in defined.options[field[0]]])
        for field in defined.fields
    ]
    return json(encode(body))


def answer_set(
    defined: reading.CustomFields, answers: Iterable[tuple[Any, ...]]
) -> list[msgspec.Struct]:
    """Return the wire form of a subscriber's answers, an entry for every field that is defined.

    ``answers`` are rows of ``reading.answers_of``. A retired option stays in the answers that
    chose it (decisions, "Custom field answers").
    """
    by_field = {field_id: (option_ids, text) for field_id, option_ids, text in answers}
    entries = []
    for field in defined.fields:
        option_ids, text_value = by_field.get(field[0], (None, None))
        chosen = set(map(int, option_ids.split("|"))) if option_ids else ()
        values = [
            _make_value(option_id, display_as, value)
            for option_id, value, display_as, *_ in defined.options[field[0]]
            if option_id in chosen
        ]
        entries.append(_make_answer(*field, values or None, text_value))
    return entries


routes = [
    route("list_custom_fields", list_custom_fields),
    route("get_custom_field_answers", get_custom_field_answers),
]
