"""Operations 5 and 6: custom fields, their options and a subscriber's answers."""

from collections.abc import Iterable
from functools import lru_cache

import msgspec
from starlette.responses import Response

from masthead.api.http.request import Request
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
from masthead.store import Store, reading

__all__ = ["AnswerEncoder", "routes"]

_ENCODERS_MAX = 100
_ANSWERS_CACHED = 1_000
_make_answer = wire_of(CustomFieldAnswer)
_make_value = wire_of(AnswerValue)
_make_definition = wire_of(CustomFieldDefinition)
_make_option = wire_of(CustomFieldOption)


class AnswerEncoder:
    """Encodes the answers of subscribers, by the definitions of an account's custom fields.

    Each subscriber has an entry for every defined field. A retired option stays in the answers that
    chose it (decisions, "Custom field answers"). Most answers occur often, so each is encoded once
    and cached.
    """

    def __init__(self, defined: reading.CustomFields) -> None:
        self._options = defined.options
        self._fields = {field[0]: field for field in defined.fields}
        self._entry = lru_cache(maxsize=_ANSWERS_CACHED)(self._encode)
        self._unanswered = {field_id: self._encode(field_id) for field_id in self._fields}

    def entries(self, answers: Iterable[reading.Row]) -> list[msgspec.Raw]:
        """Return a CustomFieldAnswer for every field, encoded, from rows of ``answers_of``."""
        answered = {answer[0]: self._entry(*answer) for answer in answers}
        return [*{**self._unanswered, **answered}.values()]

    def _encode(
        self, field_id: int, option_ids: str | None = None, text_value: str | None = None
    ) -> msgspec.Raw:
        chosen = set(map(int, option_ids.split("|"))) if option_ids else ()
        values = [
            _make_value(option_id, display_as, value)
            for option_id, value, display_as, *_ in self._options[field_id]
            if option_id in chosen
        ]
        answer = _make_answer(*self._fields[field_id], values or None, text_value)
        return msgspec.Raw(encode(answer))


_encoders: dict[tuple[Store, int], tuple[reading.Commit, AnswerEncoder]] = {}
"""By account, with its newest commit: the definitions are unchanged while that is the same."""


def get_custom_field_answers(request: Request) -> Response:
    """Interface, operation 5: an entry of shape CustomFieldAnswer for every field.

    Raises NotFound for a subscriber who does not exist.
    """
    asked = (request.connection, request.account_id, request.path_id)
    account = (request.service.store, request.account_id)
    found = reading.answers_of(*asked)
    newest_commit, encoder = _encoders.get(account, (None, None))
    if found and encoder and newest_commit == found.newest_commit:
        return encoded(encoder.entries(found.answers))
    with request.connection.read_snapshot():
        found = reading.answers_of(*asked)
        if found is None:
            raise NotFound(f"there is no subscriber {request.path_id}")
        encoder = AnswerEncoder(reading.custom_fields(request.connection, request.account_id))
    if len(_encoders) >= _ENCODERS_MAX:
        _encoders.clear()
    _encoders[account] = found.newest_commit, encoder
    return encoded(encoder.entries(found.answers))


def list_custom_fields(request: Request) -> Response:
    """Interface, operation 6: definitions of shape CustomFieldDefinition."""
    defined = reading.custom_fields(request.connection, request.account_id)
    body = [
        _make_definition(*field, [_make_option(*option) for option in defined.options[field[0]]])
        for field in defined.fields
    ]
    return encoded(body)


routes = [
    route("list_custom_fields", list_custom_fields),
    route("get_custom_field_answers", get_custom_field_answers),
]
