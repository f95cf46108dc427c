"""The OpenAPI 3.1 document, derived from the contract.

Shapes become schemas (``openapi_schemas``), operations become paths. Texts come from ``guidance``
and ``meanings``, examples from ``examples``. This module adds only what the contract does not
declare: headers and credentials.
"""

import re
from typing import Any

from masthead.contract import examples, guidance
from masthead.contract.encoding import encode
from masthead.contract.kinds import Identifier
from masthead.contract.meanings import IDS_IN_PATHS
from masthead.contract.openapi_schemas import body_of, example_of, reference, schemas
from masthead.contract.operations import (
    ENTITIES,
    ENTITLEMENTS,
    EXTENSIONS,
    NDJSON,
    OPERATIONS,
    Operation,
    Parameter,
)

_ERROR_NAMES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    408: "RequestTimeout",
    410: "Gone",
    413: "ContentTooLarge",
    414: "URITooLong",
    417: "ExpectationFailed",
    429: "TooManyRequests",
    431: "HeadersTooLarge",
    500: "InternalError",
    503: "Unavailable",
}
_ONE_RECORD_ONLY = {404}
_SINCE_ONLY = {410}
_HEALTH = {408, 414, 417, 431, 500, 503}

_RETRY_AFTER = {
    status: {
        "Retry-After": {
            "description": "Seconds to wait before the next try.",
            "required": True,
            "schema": {"type": "integer"},
            "example": seconds,
        }
    }
    for status, seconds in examples.RETRY_AFTER.items()
}
_ERROR_HEADERS: dict[int, dict[str, Any]] = {
    401: {
        "WWW-Authenticate": {
            "description": "The scheme to use.",
            "required": True,
            "schema": {"type": "string"},
            "example": 'Basic realm="masthead"',
        }
    },
    **_RETRY_AFTER,
}

_NO_STORE = {
    "description": "Caches must not store personal data.",
    "required": True,
    "schema": {"type": "string", "const": "no-store"},
}
_LINK = {
    "description": 'On a full page: the path and query of the next one, `</…?…>; rel="next"`.',
    "schema": {"type": "string", "pattern": '^</[^<>?]+\\?[^<>]+>; rel="next"$'},
    "example": '</2/subscriptions/?limit=3&after=28>; rel="next"',
}
_CHANGES_THROUGH = {
    "description": "The time to pass as the next `changed_since`.",
    "required": True,
    "schema": {
        "type": "string",
        "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}\+00:00$",
    },
    "example": "2026-11-23T06:52:49.000001+00:00",
}
_VARY = {
    "description": "The request's header fields that the form of the response depends on.",
    "required": True,
    "schema": {"type": "string", "const": "Accept, Accept-Encoding"},
}
_CONTENT_DISPOSITION = {
    "description": "With `download=true`: the response is offered as a file to save.",
    "schema": {"type": "string", "pattern": "^attachment"},
    "example": 'attachment; filename="mailing-list-109.json"',
}

_ENTITY = "|".join(entity.name for entity in ENTITIES)
_SCHEMAS_OF_TEXT_WITH_RULES: dict[str, dict[str, Any]] = {
    "changed_since": {"type": "string", "format": "date-time"},
    # Not an array: generated clients repeat the parameter for each item of an array.
    "entities": {"type": "string", "pattern": f"^({_ENTITY})(,({_ENTITY}))*$"},
}


def document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document as a JSON object.

    The server's URL is relative to the document's URL, so that it also works behind a proxy with a
    prefix.
    """
    operations = (*OPERATIONS.values(), *EXTENSIONS)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Masthead",
            "summary": "Subscription data of a publisher, read-only",
            "description": guidance.INTRODUCTION,
            "version": "2",
        },
        "servers": [{"url": ".", "description": "The server that this document comes from."}],
        "security": [{"credentials": []}],
        "tags": [{"name": name, "description": text} for name, text in guidance.TAGS.items()],
        "paths": {operation.path: {"get": _operation(operation)} for operation in operations}
        | {"/health": {"get": _health()}},
        "components": {
            "schemas": schemas(),
            "responses": {name: _error(status) for status, name in _ERROR_NAMES.items()},
            "securitySchemes": {
                "credentials": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "The user name is the account's `api_key`, the password its "
                    "`api_login`; the swapped pair works too. A demo has `demo-key` and "
                    "`demo-login`.",
                }
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    names_in_path = re.findall(r"{(\w+)}", operation.path)
    parameters = [_parameter_in_path(name) for name in names_in_path]
    parameters += [_parameter_in_query(parameter) for parameter in operation.parameters]
    errors = set(_ERROR_NAMES)
    if not names_in_path and operation is not ENTITLEMENTS:
        errors -= _ONE_RECORD_ONLY
    if all(parameter.name != "changed_since" for parameter in operation.parameters):
        errors -= _SINCE_ONLY
    content = _json(body_of(operation), example_of(operation))
    if NDJSON in operation.media_types:
        content[NDJSON] = _in_lines(example_of(operation))
    success = {
        "description": operation.summary + ".",
        "headers": _headers(operation),
        "content": content,
    }
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": guidance.OPERATIONS[operation.name] + _origin(operation),
        "tags": ["interface" if operation.number else "extensions"],
        "parameters": parameters,
        "responses": {"200": success} | _references(errors),
    }


def _origin(operation: Operation) -> str:
    if operation.number is None:
        return "\nAn extension of this server, outside the interface."
    return f"\nOperation {operation.number} of the interface."


def _health() -> dict[str, Any]:
    success = {
        "description": "The database is available.",
        "content": _json(reference("Health"), {"status": "ok"}),
    }
    return {
        "operationId": "health",
        "summary": "Whether the database is available",
        "description": guidance.OPERATIONS["health"],
        "tags": ["server"],
        "security": [],
        "responses": {"200": success} | _references(_HEALTH),
    }


def _parameter_in_path(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "path",
        "description": IDS_IN_PATHS[name],
        "required": True,
        "schema": Identifier().schema(),
        "example": examples.IDS_IN_PATHS[name],
    }


def _parameter_in_query(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.meaning,
        "required": parameter.required,
        "schema": _SCHEMAS_OF_TEXT_WITH_RULES.get(parameter.name) or parameter.kind.schema(),
        "example": examples.PARAMETERS[parameter.name],
    }


def _headers(operation: Operation) -> dict[str, Any]:
    headers: dict[str, Any] = {"Cache-Control": _NO_STORE}
    if any(parameter.name == "after" for parameter in operation.parameters):
        headers["Link"] = _LINK
    if operation.response is None:
        headers["Masthead-Changes-Through"] = _CHANGES_THROUGH
    if operation.name == "download_mailing_list":
        headers["Content-Disposition"] = _CONTENT_DISPOSITION
    if len(operation.media_types) > 1:
        headers["Vary"] = _VARY
    return headers


def _error(status: int) -> dict[str, Any]:
    return {
        "description": guidance.ERRORS[status],
        "headers": _ERROR_HEADERS.get(status, {}),
        "content": _json(reference("Error"), {"error": examples.ERRORS[status]}),
    }


def _json(schema: dict[str, Any], example: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema, "example": example}}


def _in_lines(example: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the content of a response with a line for each record, as a text."""
    by_key = {entity.key: entity.name for entity in ENTITIES}
    found: list[dict[str, Any]] = [
        {"entity": by_key[key], "record": record}
        for key, records in example.items()
        for record in records
    ]
    last = {"changes_through": _CHANGES_THROUGH["example"], "records": len(found)}
    text = "".join(encode(line).decode() + "\n" for line in (*found, last))
    return {"schema": {"type": "string"}, "example": text}


def _references(statuses: set[int]) -> dict[str, Any]:
    return {
        str(status): {"$ref": f"#/components/responses/{_ERROR_NAMES[status]}"}
        for status in sorted(statuses)
    }
