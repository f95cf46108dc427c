"""Operations 5 and 6: custom fields, their options and a subscriber's answers."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import cast

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
from masthead.store import reading

__all__ = ["answer_sets", "routes"]

AnswerSets = Callable[[Iterable[reading.Row]], Sequence[msgspec.Raw]]

_ACCOUNTS_CACHED = 100
_ANSWERS_CACHED = 1_000
_make_answer = wire_of(CustomFieldAnswer)
_make_value = wire_of(AnswerValue)
_make_definition = wire_of(CustomFieldDefinition)
_make_option = wire_of(CustomFieldOption)


def get_custom_field_answers(request: Request) -> Response:
    """Interface, operation 5: an entry of shape CustomFieldAnswer for every field.

    Raises NotFound for a subscriber who does not exist.
    """
    asked = (request.connection, request.account_id, request.path_id)
    remembered = _remembered_of(cast("Hashable", request.service.store), request.account_id)
    found = reading.answers_of(*asked)
    if found and (answer_set := remembered.get(found.newest_commit)):
        return encoded(answer_set(found.answers))
    with request.connection.read_snapshot():
        found = reading.answers_of(*asked)
        if found is None:
            raise NotFound(f"there is no subscriber {request.path_id}")
        answer_set = answer_sets(reading.custom_fields(request.connection, request.account_id))
    remembered.clear()
    remembered[found.newest_commit] = answer_set
    return encoded(answer_set(found.answers))


@lru_cache(maxsize=_ACCOUNTS_CACHED)
def _remembered_of(_store: Hashable, _account_id: int) -> dict[reading.Commit, AnswerSets]:
    """Return what is remembered of an account: the :func:`answer_sets` of its newest commit."""
    return {}


def list_custom_fields(request: Request) -> Response:
    """Interface, operation 6: definitions of shape CustomFieldDefinition."""
    defined = reading.custom_fields(request.connection, request.account_id)
    body = [
        _make_definition(*field, [_make_option(*option) for option in defined.options[field[0]]])
        for field in defined.fields
    ]
    return encoded(body)


def answer_sets(defined: reading.CustomFields) -> AnswerSets:
    """Return what makes the wire form of a subscriber's answers from rows of ``answers_of``.

    It has an entry for every field that is defined. A retired option stays in the answers that
    chose it (decisions, "Custom field answers").
    """
    by_id = {field[0]: field for field in defined.fields}

    # Most subscribers give one of few answers, so each is encoded once.
    @lru_cache(maxsize=_ANSWERS_CACHED)
    def entry(field_id: int, option_ids: str | None, text_value: str | None) -> msgspec.Raw:
        chosen = set(map(int, option_ids.split("|"))) if option_ids else ()
        values = [
            _make_value(option_id, display_as, value)
            for option_id, value, display_as, *_ in defined.options[field_id]
            if option_id in chosen
        ]
        return msgspec.Raw(encode(_make_answer(*by_id[field_id], values or None, text_value)))

    unanswered = {field_id: entry(field_id, None, None) for field_id in by_id}

    def answer_set(answers: Iterable[reading.Row]) -> Sequence[msgspec.Raw]:
        return [*{**unanswered, **{answer[0]: entry(*answer) for answer in answers}}.values()]

    return answer_set


routes = [
    route("list_custom_fields", list_custom_fields),
    route("get_custom_field_answers", get_custom_field_answers),
]
