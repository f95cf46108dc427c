"""The OpenAPI 3.1 document, derived from the contract.

Shapes become schemas, operations become paths. Only what the contract does not declare is written
here: errors, headers, credentials, and the bodies of operations 3 and 4.
"""

import re
from typing import Any, NamedTuple

from masthead.contract.kinds import Identifier, Integer, Many, Missing
from masthead.contract.operations import (
    DIGEST,
    ENTITIES,
    OPERATIONS,
    SNAPSHOT,
    Operation,
    Parameter,
)
from masthead.contract.shapes import Field, fields_of

__all__ = ["document"]

_DESCRIPTION = """\
Subscribers, subscriptions, addresses, questionnaire answers, orders and mailing lists of a
publisher, read-only.

* **Identifiers and counts are JSON strings** that hold an integer. A value that is missing is
  `null` or the empty string, as each field says; its key is always there.
* **Parameters** travel in the query string. The body of a GET is read as well: a JSON object, an
  array that holds one JSON object, or a form. The same parameter twice is refused, and so is an
  unknown one. Booleans are also read as `1` and `0`; words are read in any letter case.
* **Paths** work with and without a slash at the end, without a redirect.
* **Methods**: each path serves HEAD as well, with the headers of GET and no body. Any other
  method gets 405 and `Allow: GET, HEAD`.
* **Errors** are `{"error": "…"}`: one sentence that says what is wrong and what would be right.
"""


class _Error(NamedTuple):
    """An error response: the name of its component, its meaning, and its header."""

    name: str
    meaning: str
    header: tuple[str, str, dict[str, Any]] | None = None


_RETRY_AFTER = ("Retry-After", "Seconds to wait before the next try.", {"type": "integer"})
_ERRORS = {
    400: _Error("BadRequest", "A parameter is missing, unknown, given twice or cannot be read."),
    401: _Error(
        "Unauthorized",
        "The request carries no credentials, or none that can be read.",
        ("WWW-Authenticate", "The scheme to use.", {"type": "string"}),
    ),
    403: _Error("Forbidden", "The credentials open no account."),
    404: _Error("NotFound", "The account has no record of this id."),
    408: _Error("RequestTimeout", "Not all of the request came in time."),
    410: _Error(
        "Gone",
        "`changed_since` is more than five days back: the client has to load everything again "
        "from `GET /snapshot?entities=…`.",
    ),
    413: _Error("ContentTooLarge", "The body is larger than the server reads."),
    414: _Error("URITooLong", "The request target is longer than the server reads."),
    417: _Error("ExpectationFailed", "The client expects something other than 100-continue."),
    429: _Error(
        "TooManyRequests", "More requests than the account may make in a second.", _RETRY_AFTER
    ),
    431: _Error("HeadersTooLarge", "The header fields are larger than the server reads."),
    500: _Error("InternalError", "A fault of the server; the sentence gives the request's id."),
    503: _Error(
        "Unavailable", "The database is not available, or too many requests wait.", _RETRY_AFTER
    ),
}
_ONE_RECORD_ONLY = {404}
_FEED_ONLY = {410}
_HEALTH = {408, 414, 417, 431, 500, 503}

_NO_STORE = {
    "description": "Caches must not store personal data.",
    "required": True,
    "schema": {"const": "no-store"},
}
_LINK = {
    "description": 'On a full page: the path and query of the next one, `</…?…>; rel="next"`.',
    "schema": {"type": "string", "pattern": '^</[^<>?]+\\?[^<>]+>; rel="next"$'},
}
_CHANGES_THROUGH = {
    "description": "The time to pass as the next `changed_since`.",
    "required": True,
    "schema": {
        "type": "string",
        "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}\+00:00$",
    },
}
_CONTENT_DISPOSITION = {
    "description": "With `download=true`: the response is offered as a file to save.",
    "schema": {"type": "string", "pattern": "^attachment"},
}

_ALL = (*OPERATIONS.values(), SNAPSHOT, DIGEST)
_SCHEMAS_OF_TEXT_WITH_RULES: dict[str, dict[str, Any]] = {
    "changed_since": {"type": "string", "format": "date-time"},
    "entities": {
        "type": "array",
        "items": {"type": "string", "enum": [entity.name for entity in ENTITIES]},
        "minItems": 1,
    },
}


_DIGEST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"description": "How many records there are.", **Integer().schema()},
        "digest": {
            "description": "The sum of the SHA-256 of each record's JSON, modulo 2^256; that of "
            "subscribers without `modified_date`.",
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
        },
    },
    "required": ["count", "digest"],
    "additionalProperties": False,
}


def document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document as a JSON object.

    The server's URL is relative to that of the document, so it is right behind a proxy with a
    prefix too.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Masthead",
            "summary": "Subscription data of a publisher, read-only",
            "description": _DESCRIPTION,
            "version": "2",
        },
        "servers": [{"url": "."}],
        "security": [{"credentials": []}],
        "tags": [{"name": "interface"}, {"name": "server"}],
        "paths": {operation.path: {"get": _operation(operation)} for operation in _ALL}
        | {"/health": {"get": _health()}},
        "components": {
            "schemas": {shape.__name__: _record(shape) for shape in _shapes()}
            | {"Error": _object({"error": {"type": "string", "minLength": 1}})},
            "responses": {error.name: _error(error) for error in _ERRORS.values()},
            "securitySchemes": {
                "credentials": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "The user name is the account's `api_key`, the password its "
                    "`api_login`; the swapped pair works too.",
                }
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    names_in_path = re.findall(r"{(\w+)}", operation.path)
    parameters = [_parameter_in_path(name) for name in names_in_path]
    parameters += [_parameter_in_query(parameter) for parameter in operation.parameters]
    errors = set(_ERRORS)
    if not names_in_path:
        errors -= _ONE_RECORD_ONLY
    if operation.name != "changes":
        errors -= _FEED_ONLY
    success = _response(operation.summary + ".", _body(operation), _headers(operation))
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": _origin(operation),
        "tags": ["interface"],
        "parameters": parameters,
        "responses": {"200": success} | _references(errors),
    }


def _origin(operation: Operation) -> str:
    if operation.number is None:
        return "An extension of this server, outside the interface."
    return f"Operation {operation.number} of the interface."


def _health() -> dict[str, Any]:
    return {
        "operationId": "health",
        "summary": "Whether the database is available",
        "tags": ["server"],
        "security": [],
        "responses": {
            "200": _response("The database is available.", _object({"status": {"const": "ok"}}), {})
        }
        | _references(_HEALTH),
    }


def _parameter_in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": Identifier().schema()}


def _parameter_in_query(parameter: Parameter) -> dict[str, Any]:
    schema = _SCHEMAS_OF_TEXT_WITH_RULES.get(parameter.name) or parameter.kind.schema()
    described = {
        "name": parameter.name,
        "in": "query",
        "description": parameter.meaning,
        "required": parameter.required,
        "schema": schema,
    }
    return described | ({"explode": False} if schema["type"] == "array" else {})


def _body(operation: Operation) -> dict[str, Any]:
    if operation.answer is None:
        lists = {
            entity.key: _DIGEST if operation is DIGEST else _list(entity.shape)
            for entity in ENTITIES
        }
        asked_for = "The key of each entity that was asked for, and no other."
        return _object(lists, required=[]) | {"description": asked_for, "minProperties": 1}
    schema = _list(operation.answer) if operation.many else _reference(operation.answer)
    if operation.name == "authenticate_subscriber":
        assert operation.envelope is not None
        found = _object({"authenticated": {"const": True}, operation.envelope: schema})
        return {"oneOf": [found, _object({"authenticated": {"const": False}})]}
    return schema if operation.envelope is None else _object({operation.envelope: schema})


def _headers(operation: Operation) -> dict[str, Any]:
    headers: dict[str, Any] = {"Cache-Control": _NO_STORE}
    if any(parameter.name == "after" for parameter in operation.parameters):
        headers["Link"] = _LINK
    if operation.answer is None:
        headers["Masthead-Changes-Through"] = _CHANGES_THROUGH
    if operation.name == "download_mailing_list":
        headers["Content-Disposition"] = _CONTENT_DISPOSITION
    return headers


def _error(error: _Error) -> dict[str, Any]:
    headers = {}
    if error.header is not None:
        name, meaning, schema = error.header
        headers[name] = {"description": meaning, "required": True, "schema": schema}
    return _response(error.meaning, {"$ref": "#/components/schemas/Error"}, headers)


def _response(meaning: str, schema: dict[str, Any], headers: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": meaning,
        "headers": headers,
        "content": {"application/json": {"schema": schema}},
    }


def _references(statuses: set[int]) -> dict[str, Any]:
    return {
        str(status): {"$ref": f"#/components/responses/{_ERRORS[status].name}"}
        for status in sorted(statuses)
    }


def _shapes() -> list[type]:
    """Return each wire shape once, in the order of the operations; nested shapes come last."""
    found: dict[type, None] = {}

    def visit(shape: type) -> None:
        found[shape] = None
        for field in fields_of(shape):
            if isinstance(field.kind, Many):
                visit(field.kind.shape)

    for operation in OPERATIONS.values():
        if operation.answer is not None:
            visit(operation.answer)
        else:
            for entity in ENTITIES:
                visit(entity.shape)
    return list(found)


def _record(shape: type) -> dict[str, Any]:
    fields = fields_of(shape)
    either = [field.name for field in fields if field.missing is Missing.ABSENT]
    schema = _object(
        {field.name: _field(field) for field in fields},
        required=[field.name for field in fields if field.name not in either],
    )
    return schema | ({"oneOf": [{"required": [name]} for name in either]} if either else {})


def _field(field: Field) -> dict[str, Any]:
    if isinstance(field.kind, Many):
        schema = _list(field.kind.shape)
    else:
        schema = {"description": field.kind.word} | field.kind.schema()
    if field.missing is Missing.NULL:
        return schema | {"type": [schema["type"], "null"]}
    if field.missing is Missing.EMPTY and schema.keys() & {"pattern", "enum", "format"}:
        return {"anyOf": [schema, {"const": ""}]}
    return schema


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


def _list(shape: type) -> dict[str, Any]:
    return {"type": "array", "items": _reference(shape)}


def _reference(shape: type) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{shape.__name__}"}
