"""A tap for Singer, made with its SDK: a stream for each entity, with its records unchanged.

A stream's bookmark holds the time of the next request (``through``) and the version of its table.
The tap writes the bookmark after all records of the response, so a target that has the bookmark has
the records. A removed record has only its key and ``_sdc_deleted_at``. A complete reload is a new
version of the table. The tap activates it after its last record, and the target then removes the
rows of earlier versions.

Nested records stay inside their parents, since a tap does not know the keys of items that an order
no longer has. Amounts are strings of the format ``x-singer.decimal``, with all their decimal
places.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from singer_sdk import Stream, Tap
from singer_sdk import typing as th

from masthead.client import Client
from masthead.contract import kinds, shapes
from masthead.contract.kinds import Kind, Many
from masthead.contract.operations import ENTITIES, Entity
from masthead.contract.shapes import Field, fields_of
from masthead.mirror.increment import Increment, increment_since
from masthead.mirror.tables import number_as_text

_DELETED_AT = "_sdc_deleted_at"


class TapMasthead(Tap):
    """The tap. Its settings are the client's; ``patience_s`` is how long it retries."""

    name = "tap-masthead"
    config_jsonschema = th.PropertiesList(
        th.Property("base_url", th.StringType, required=True, title="Where the service is"),
        th.Property("key", th.StringType, required=True, secret=True, title="The api_key"),
        th.Property("login", th.StringType, required=True, secret=True, title="The api_login"),
        th.Property("patience_s", th.NumberType, default=60, title="Seconds of retries"),
    ).to_dict()

    def discover_streams(self) -> Sequence[Stream]:
        """Return a stream for each entity of the change feed, and one for the custom fields."""
        return [*(_Records(self, entity) for entity in ENTITIES), _Definitions(self)]


class _Masthead(Stream):
    """A stream of records of one shape; ``_records`` says which."""

    def __init__(self, tap: Tap, name: str, shape: type) -> None:
        self._shape = shape
        fields = fields_of(shape)
        schema = _object(shape)
        schema["properties"][_DELETED_AT] = {"type": ["string", "null"], "format": "date-time"}
        super().__init__(tap, schema, name)
        self.primary_keys = [fields[0].name]

    def get_records(self, context: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
        """Yield the records, and set the bookmark when all have been written.

        Raises the errors of :func:`masthead.mirror.increment.increment_since`; the bookmark then
        stays.
        """
        del context
        config = self.config
        with Client(
            config["base_url"], config["key"], config["login"], patience_s=config["patience_s"]
        ) as client:
            yield from self._records(client)

    def _records(self, client: Client) -> Iterator[dict[str, Any]]:
        raise NotImplementedError

    def _begin_version(self) -> int:
        """Begin a version of the table, greater than all earlier ones; return it."""
        before = self.stream_state.get("version") or 0
        self._stream_version = max(int(time.time() * 1000), before + 1)
        return self._stream_version

    def _keep(self, **bookmark: Any) -> None:
        self.stream_state.update(bookmark)
        self.state_manager.is_flushed = False


class _Records(_Masthead):
    """The records of an entity of the change feed."""

    def __init__(self, tap: Tap, entity: Entity) -> None:
        super().__init__(tap, entity.key, entity.shape)
        self._entity = entity.name
        self.forced_replication_method = "LOG_BASED"

    def _records(self, client: Client) -> Iterator[dict[str, Any]]:
        before = self.stream_state
        increment = increment_since(client, before.get("through"), [self._entity])
        self._stream_version = before.get("version")
        version = self._begin_version() if increment.is_full else self._stream_version
        yield from self._of(increment)
        if increment.is_full and version:
            self._write_activate_version_message(version)
        self._keep(through=increment.through, version=version)

    def _of(self, increment: Increment) -> Iterator[dict[str, Any]]:
        gone = set(increment.gone.get(self._entity, ()))
        try:
            for record in increment.changes:
                shown = _shown(self._shape, record)
                gone.discard(shown[self.primary_keys[0]])
                yield {**shown, _DELETED_AT: None}
        finally:
            increment.close()
        for key in sorted(gone):
            yield {self.primary_keys[0]: key, _DELETED_AT: increment.through}


class _Definitions(_Masthead):
    """The custom fields and their options: all of them in each run, since they are few."""

    def __init__(self, tap: Tap) -> None:
        super().__init__(tap, "custom_field_definitions", shapes.CustomFieldDefinition)
        self.forced_replication_method = "LOG_BASED"

    def _records(self, client: Client) -> Iterator[dict[str, Any]]:
        version = self._begin_version()
        for definition in client.list_custom_fields():
            yield {**_shown(self._shape, definition), _DELETED_AT: None}
        self._write_activate_version_message(version)
        self._keep(version=version)


def _object(shape: type) -> dict[str, Any]:
    """Return the JSON Schema of a stream's record."""
    fields = fields_of(shape)
    return {
        "type": "object",
        "properties": {field.name: _schema(field, is_key=not n) for n, field in enumerate(fields)},
        "required": [fields[0].name],
    }


def _schema(field: Field, *, is_key: bool) -> dict[str, Any]:
    if isinstance(field.kind, Many):
        return {"type": ["array", "null"], "items": _object(field.kind.shape)}
    for of_kind, (name, more) in _SCHEMAS.items():
        if isinstance(field.kind, of_kind):
            return {"type": [name] if is_key else [name, "null"], **more}
    return {"type": ["string", "null"]}


_DECIMAL = ("string", {"format": "x-singer.decimal"})
_SCHEMAS: Mapping[type[Kind], tuple[str, Mapping[str, str]]] = {
    kinds.Bool: ("boolean", {}),
    kinds.Flag: ("boolean", {}),
    kinds.Bit: ("boolean", {}),
    kinds.Integer: ("integer", {}),
    kinds.Number: _DECIMAL,
    kinds.DecimalText: _DECIMAL,
    kinds.Date: ("string", {"format": "date"}),
    kinds.DateTime: ("string", {"format": "date-time"}),
}


def _shown(shape: type, record: Any) -> dict[str, Any]:
    """Return a record as a dict for a stream. Raises MastheadError if a number is too big."""
    return {field.name: _value(field, getattr(record, field.name)) for field in fields_of(shape)}


def _value(field: Field, value: Any) -> Any:
    match value:
        case None:
            return None
        case Decimal() if isinstance(field.kind, kinds.Number):
            return number_as_text(value)
        case Decimal():
            return format(value, "f")
        case datetime() | date():
            return value.isoformat()
        case list() | tuple() if isinstance(field.kind, Many):
            return [_shown(field.kind.shape, inner) for inner in value]
    return value
