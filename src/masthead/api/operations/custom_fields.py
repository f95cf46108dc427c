"""Operations 5 and 6: custom fields, their options and a subscriber's answers."""

from collections.abc import Iterable
from functools import lru_cache

import msgspec
from starlette.responses import Response

from masthead.api.http.request import AuthenticatedRequest
from masthead.api.http.responses import encoded
from masthead.api.http.routing import route
from masthead.contract.encoding import encode, wire_of
from masthead.contract.shapes import (
    AnswerValue,
    CustomFieldAnswer,
    CustomFieldDefinition,
    CustomFieldOption,
)
from masthead.errors import NotFound
from masthead.store import interface_queries

_ANSWERS_CACHED = 1_000
_make_answer = wire_of(CustomFieldAnswer)
_make_value = wire_of(AnswerValue)
_make_definition = wire_of(CustomFieldDefinition)
_make_option = wire_of(CustomFieldOption)


def get_custom_field_answers(request: AuthenticatedRequest) -> Response:
    """Interface, operation 5: an entry of shape CustomFieldAnswer for every field.

    Raises NotFound for a subscriber who does not exist.
    """
    found = interface_queries.answers_of(request.connection, request.account_id, request.path_id)
    if found is None:
        raise NotFound(f"there is no subscriber {request.path_id}")
    return encoded([_wire_form(answer) for answer in found])


def _wire_form(answer: interface_queries.Answer) -> msgspec.Struct:
    """Return an answer as a CustomFieldAnswer."""
    values = [
        _make_value(option_id, display_as, value)
        for option_id, value, display_as, *_ in answer.chosen
    ]
    return _make_answer(*answer.field, values or None, answer.text_value)


class AnswerEncoder:
    """Encodes the answers of many subscribers, by the definitions of an account's custom fields.

    Most answers occur often, so each is encoded once and cached.
    """

    def __init__(self, defined: interface_queries.CustomFields) -> None:
        self._options = defined.options
        self._fields = {field[0]: field for field in defined.fields}
        self._entry = lru_cache(maxsize=_ANSWERS_CACHED)(self._encode)
        self._unanswered = {field_id: self._encode(field_id) for field_id in self._fields}

    def entries(self, answers: Iterable[interface_queries.Row]) -> list[msgspec.Raw]:
        """Return a CustomFieldAnswer for every field, encoded.

        An answer is (field_id, option_ids separated by ``|``, text_value).
        """
        answered = {answer[0]: self._entry(*answer) for answer in answers}
        return [*{**self._unanswered, **answered}.values()]

    def _encode(self, field_id: int, *given: str | None) -> msgspec.Raw:
        answer = interface_queries.Answer(self._fields[field_id], self._options[field_id], *given)
        return msgspec.Raw(encode(_wire_form(answer)))


def list_custom_fields(request: AuthenticatedRequest) -> Response:
    """Interface, operation 6: definitions of shape CustomFieldDefinition."""
    defined = interface_queries.custom_fields(request.connection, request.account_id)
    body = [
        _make_definition(*field, [_make_option(*option) for option in defined.options[field[0]]])
        for field in defined.fields
    ]
    return encoded(body)


routes = [
    route("list_custom_fields", list_custom_fields),
    route("get_custom_field_answers", get_custom_field_answers),
]
