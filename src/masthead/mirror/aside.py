"""The records that a copy cannot take: they are set aside in a table, and others are copied.

A record is set aside if the interface does not allow a value in it, or if the database cannot hold
one. An earlier row of it stays. A pass that gets the record well-formed, or learns that it is gone,
removes it from the table (rules, "Mirror: records set aside").
"""

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, TypeVar

from masthead.contract import shapes
from masthead.contract.decoding import OddRecord
from masthead.contract.kinds import Identifier
from masthead.contract.shapes import fields_of
from masthead.databases.connection import Connection
from masthead.errors import UnexpectedResponse
from masthead.mirror.tables import (
    CHANGED_AT,
    DEFINITIONS,
    ENTITIES,
    ENTRIES,
    SET_ASIDE,
    SetAside,
    Table,
    entity_named,
)

VALUE_CHARACTERS_MAX = 1_000
_ID_CHARACTERS_MAX = 100

_ANSWERS = entity_named("customfields").tables[0]
_TABLES: Mapping[type, Table] = {entity.shape: entity.tables[0] for entity in ENTITIES} | {
    shapes.Subscriber: entity_named("subscribers").tables[0],
    shapes.Subscription: entity_named("subscriptions").tables[0],
    shapes.CustomFieldAnswer: _ANSWERS,
    shapes.CustomFieldDefinition: DEFINITIONS,
    shapes.MailingListEntry: ENTRIES,
}

Key = tuple[str, str]
Result = TypeVar("Result")


class Aside:
    """The records set aside, during one transaction at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._found: dict[Key, SetAside] = {}
        self._done: set[Key] = set()
        self._loaded: dict[Key, SetAside] | None = None

    def begin(self) -> None:
        """Begin with a transaction."""
        self._found.clear()
        self._done.clear()
        self._loaded = None

    @property
    def _before(self) -> Mapping[Key, SetAside]:
        """Those of earlier transactions."""
        if self._loaded is None:
            rows = self._connection.rows_as(
                SetAside, f"SELECT {', '.join(map(_name, SetAside._fields))} FROM {SET_ASIDE.name}"
            )
            self._loaded = {row[:2]: row for row in rows}
        return self._loaded

    def left(self) -> dict[Key, SetAside]:
        """Return all that are set aside now, by table and id."""
        before = {key: row for key, row in self._before.items() if key not in self._done}
        return before | self._found

    def new(self) -> list[SetAside]:
        """Return those that were not set aside before, or not so, in their order."""
        return [row for key, row in self._found.items() if self._before.get(key) != row]

    def note(self, path: str, odd: OddRecord) -> None:
        """Set aside a record that the client could not read in the response to a request."""
        table = _TABLES[odd.shape]
        name = fields_of(odd.shape)[0].name
        key = odd.record.get(name) if isinstance(odd.record, dict) else None
        record_id, field, value = _id_of(key), odd.field, odd.value
        if record_id is None:
            value = odd.record
            record_id = f"#{sha256(_json(value).encode()).hexdigest()[:12]}"
        # The last part of these paths is the key of the outer record.
        outer = path.rstrip("/").rpartition("/")[2]
        if table is ENTRIES:
            record_id = f"{outer}/{record_id}"
        elif odd.shape is shapes.CustomFieldAnswer:
            record_id, field = outer, f"custom_fields.{field}"
        self.add(table, record_id, field, value, path)

    def add(self, table: Table, record_id: str, field: str, value: Any, request: str) -> None:
        """Set aside a record."""
        text = _json(value)[:VALUE_CHARACTERS_MAX]
        row = SetAside(table.name, record_id[:_ID_CHARACTERS_MAX], field, text, request)
        self._found[row[:2]] = row

    def unless_odd(self, request: Callable[..., Result], *values: object) -> Result | None:
        """Return the result of a request for one record, or set it aside and return None."""
        try:
            return request(*values)
        except UnexpectedResponse as error:
            if not isinstance(error.__cause__, OddRecord):
                raise
            self.note(error.path, error.__cause__)
            return None

    def took(self, table: Table, ids: Iterable[int]) -> None:
        """Say that the copy has taken these records of a table, or that they are gone."""
        if self._found or self._before:
            for record_id in ids:
                key = table.name, str(record_id)
                self._found.pop(key, None)
                if key in self._before:
                    self._done.add(key)

    def forget(self, table: Table, start: str = "") -> None:
        """Remove the earlier ones of a table whose ids begin so, before it is read as a whole."""
        self._done.update(
            (name, key)
            for name, key in self._before
            if name == table.name and key.startswith(start)
        )

    def forget_without_id(self, tables: Iterable[Table]) -> None:
        """Remove the earlier ones of these tables that have no valid id."""
        names = {table.name for table in tables}
        self._done.update(
            key
            for key, row in self._before.items()
            if not row.has_valid_id and row.table_name in names
        )

    def forget_all(self) -> None:
        """Remove the earlier ones, before everything is read again."""
        self._done.update(self._before)

    def ids(self, table: Table, start: str = "") -> list[int]:
        """Return the ids of this transaction's odd records of a table that begin so, without it."""
        ids = (
            key.removeprefix(start)
            for name, key in self._found
            if name == table.name and key.startswith(start)
        )
        return [int(key) for key in ids if key.isdecimal() and int(key) < 2**63]

    def left_ids(self, table: Table) -> list[int]:
        """Return the ids of all records of a table that are set aside now."""
        keys = (key for name, key in self.left() if name == table.name)
        return [int(key) for key in keys if key.isdecimal() and int(key) < 2**63]

    def settle(self, now: str) -> bool:
        """Write the changes to the table, with the time of the pass; return whether it changed."""
        if not self._found and not self._done:
            return False
        left = self.left()
        old = [key for key, row in self._before.items() if left.get(key) != row]
        for table_name, record_id in old:
            self._connection.change(
                f"DELETE FROM {SET_ASIDE.name} WHERE table_name = :table_name "
                "AND record_id = :record_id",
                table_name=table_name,
                record_id=record_id,
            )
        new = self.new()
        columns = (*SetAside._fields, CHANGED_AT)
        self._connection.insert_many(SET_ASIDE.name, columns, [(*row, now) for row in new])
        return bool(old or new)


def _id_of(key: Any) -> str | None:
    """Return the id that a record has, in its shortest form if it is valid; None without one."""
    if key is None or key == "":
        return None
    try:
        return str(Identifier().read(key))
    except (ValueError, TypeError, ArithmeticError):
        return key if isinstance(key, str) and key.isprintable() else _json(key)


def _json(value: Any) -> str:
    """Return a value as JSON that each database can hold."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.encode(errors="backslashreplace").decode()


def _name(column: str) -> str:
    return f'"{column}"'
