"""The JSON Schemas of the OpenAPI document: the wire shapes, and the bodies that hold them."""

from collections.abc import Sequence
from typing import Any

from masthead.contract import examples
from masthead.contract.kinds import Identifier, Integer, Many, Missing
from masthead.contract.meanings import SHAPES, meaning_of
from masthead.contract.operations import (
    DELETIONS,
    DIGEST,
    ENTITIES,
    ENTITLEMENTS,
    EXTENSIONS,
    OPERATIONS,
    Entity,
    Operation,
)
from masthead.contract.shapes import Field, fields_of

_BODIES = {
    "list_accounts": "AccountList",
    "get_account": "AccountEnvelope",
    "authenticate_subscriber": "LoginResult",
    "changes": "Changes",
    "list_subscriptions": "SubscriptionList",
    "search_subscribers": "SubscriberList",
    "snapshot": "Changes",
    "deletions": "Deletions",
    "digest": "Digests",
    "entitlements": "EntitlementResult",
}
"""The names of the bodies that are more than a record or an array of records."""

_LOGINS = {
    "authenticate_subscriber": "LoginAccepted",
    "entitlements": "EntitlementsGranted",
}
"""The operations that check a login, and the names of their bodies for one that is right."""

_MISSING = {
    Missing.NULL: "`null` if there is none.",
    Missing.EMPTY: "The empty string if there is none.",
}


def schemas() -> dict[str, Any]:
    """Return all schemas by name: the shapes, the bodies, and the error."""
    found: dict[str, Any] = {shape.__name__: _record(shape) for shape in _shapes()}
    for operation in (*OPERATIONS.values(), *EXTENSIONS):
        if name := _BODIES.get(operation.name):
            found |= _body(name, operation)
    error = {"type": "string", "minLength": 1, "description": "What is wrong and would be right."}
    return found | {
        "Error": _object("An error, in one sentence.", {"error": error}),
        "Health": _object("The state of the server.", {"status": _constant("ok", "Always `ok`.")}),
    }


def reference(name: str) -> dict[str, Any]:
    """Return a reference to the schema ``name``."""
    return {"$ref": f"#/components/schemas/{name}"}


def body_of(operation: Operation) -> dict[str, Any]:
    """Return the schema of an operation's body: a named one, a shape, or an array of it."""
    if name := _BODIES.get(operation.name):
        return reference(name)
    assert operation.response is not None
    return _list(operation.response) if operation.many else reference(operation.response.__name__)


def example_of(operation: Operation) -> Any:
    """Return an example of an operation's body, consistent with those of its parameters."""
    if operation.response is None:
        by_name = {entity.name: entity for entity in ENTITIES}
        asked = [by_name[name] for name in str(examples.PARAMETERS["entities"]).split(",")]
        return {entity.key: _example_of_entity(operation, entity) for entity in asked}
    record = examples.RECORDS[operation.response]
    found = [record] if operation.many else record
    if operation.name in _LOGINS:
        return {"authenticated": True, operation.envelope: found}
    return {operation.envelope: found} if operation.envelope else found


def _example_of_entity(operation: Operation, entity: Entity) -> Any:
    if operation is DIGEST:
        return examples.DIGESTS[entity.name]
    if operation is DELETIONS:
        return examples.REMOVED.get(entity.name, [])
    return [examples.RECORDS[entity.shape]]


def _shapes() -> list[type]:
    """Return each wire shape once, in the order of the operations; nested shapes come last."""
    found: dict[type, None] = {}

    def visit(shape: type) -> None:
        found[shape] = None
        for field in fields_of(shape):
            if isinstance(field.kind, Many):
                visit(field.kind.shape)

    for operation in (*OPERATIONS.values(), ENTITLEMENTS):
        if operation.response is not None:
            visit(operation.response)
        else:
            for entity in ENTITIES:
                visit(entity.shape)
    return list(found)


def _record(shape: type) -> dict[str, Any]:
    fields = fields_of(shape)
    either = [field.name for field in fields if field.missing is Missing.ABSENT]
    schema = _object(
        SHAPES[shape],
        {field.name: _field(shape, field) for field in fields},
        required=[field.name for field in fields if field.name not in either],
    )
    if either:
        # Exactly one of them, by the number of keys: client generators cannot read `oneOf` here.
        number = len(fields) - len(either) + 1
        schema |= {"minProperties": number, "maxProperties": number}
    return schema | {"examples": [examples.RECORDS[shape]]}


def _field(shape: type, field: Field) -> dict[str, Any]:
    parts = (meaning_of(shape, field.name), _MISSING.get(field.missing))
    described = {"description": " ".join(part for part in parts if part)}
    kind = field.kind
    schema = _list(kind.shape) if isinstance(kind, Many) else kind.schema()
    if field.missing is Missing.NULL:
        return described | schema | {"type": [schema["type"], "null"]}
    if field.missing is Missing.EMPTY:
        return described | _or_empty(schema)
    return described | schema


def _or_empty(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the simplest schema that also accepts the empty string."""
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], ""]}
    if "format" in schema:
        return {"anyOf": [schema, {"const": ""}]}
    if "pattern" in schema:
        return schema | {"pattern": f"^({schema['pattern'][1:-1]})?$"}
    return schema


def _body(name: str, operation: Operation) -> dict[str, Any]:
    """Return the schema of a named body, with the schemas that only it refers to."""
    if operation is DIGEST:
        meaning = "The number and the digest of the records of this entity."
        each = {entity.key: _meant(meaning, reference("EntityDigest")) for entity in ENTITIES}
        return {name: _asked_for(each), "EntityDigest": _digest()}
    if operation is DELETIONS:
        return {name: _asked_for({entity.key: _ids() for entity in ENTITIES})}
    if operation.response is None:
        meaning = "The records of this entity, each as it is now."
        lists = {entity.key: _meant(meaning, _list(entity.shape)) for entity in ENTITIES}
        return {name: _asked_for(lists)}
    assert operation.envelope is not None
    if operation.name in _LOGINS:
        accepted = _LOGINS[operation.name]
        found = {
            "authenticated": _constant(True, "The login is right."),
            operation.envelope: _meant(
                SHAPES[operation.response], reference(operation.response.__name__)
            ),
        }
        refused = {"authenticated": _constant(False, "The login is not right.")}
        return {
            name: {
                "description": "Whether the login is right and, if so, whose it is.",
                "oneOf": [reference(accepted), reference("LoginRefused")],
            },
            accepted: _object("The login is right: the subscriber.", found),
            "LoginRefused": _object("The login is not right.", refused),
        }
    of = operation.response
    inner = _list(of) if operation.many else reference(of.__name__)
    about = "The records that were found." if operation.many else "The record."
    meaning = "Each record that was found, in order of the ids." if operation.many else SHAPES[of]
    return {name: _object(about, {operation.envelope: _meant(meaning, inner)})}


def _asked_for(properties: dict[str, Any]) -> dict[str, Any]:
    meaning = "The key of each entity that was asked for, and no other."
    return _object(meaning, properties, required=[]) | {"minProperties": 1}


def _digest() -> dict[str, Any]:
    digest = {
        "description": "The sum of the SHA-256 of each record's JSON, modulo 2^256; that of "
        "subscribers without `modified_date`.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
    }
    count = {"description": "How many records there are.", **Integer().schema()}
    return _object("The digest of an entity.", {"count": count, "digest": digest})


def _ids() -> dict[str, Any]:
    return {
        "description": "The ids of the records that were removed, in the order of their removal.",
        "type": "array",
        "items": Identifier().schema(),
    }


def _meant(meaning: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a property with its meaning, even if it refers to another schema."""
    return {"description": meaning} | schema


def _constant(value: str | bool, meaning: str) -> dict[str, Any]:
    kind = "boolean" if isinstance(value, bool) else "string"
    return {"description": meaning, "type": kind, "const": value}


def _object(
    meaning: str, properties: dict[str, Any], required: Sequence[str] | None = None
) -> dict[str, Any]:
    return {
        "description": meaning,
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


def _list(shape: type) -> dict[str, Any]:
    return {"type": "array", "items": reference(shape.__name__)}
