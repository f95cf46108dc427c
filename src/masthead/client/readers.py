"""Incremental JSON parsers for long responses, in constant memory.

The bodies of the change feed and of the deletions are objects with an array for each entity; the
body of a mailing list is an array. :meth:`RecordReader.finish` checks that the body is
complete.
"""

import codecs
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from decimal import InvalidOperation
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from masthead.contract.decoding import NO_NUMBER, ReadsRecord, decoder, read_record
from masthead.contract.kinds import Identifier
from masthead.contract.operations import Entity
from masthead.contract.shapes import (
    Address,
    AnswerRecord,
    ChangedSubscriber,
    ChangedSubscription,
    ListDownload,
    Order,
    Purchase,
)

ChangedRecord = (
    AnswerRecord
    | ChangedSubscription
    | ChangedSubscriber
    | Address
    | Purchase
    | ListDownload
    | Order
)
"""A record of the change feed; its class shows the entity."""


class Deletion(NamedTuple):
    """A record that no longer exists: the name of its entity in requests, and its id."""

    entity: str
    id: int


RECORD_CHARACTERS_MAX = 64 * 1024 * 1024
"""A longer record is refused, to limit memory."""

Record = TypeVar("Record")
Shape = TypeVar("Shape", bound=Struct)

_NOT_SPACE = re.compile(r"[^ \t\r\n]")
_END_OF_SCALAR = re.compile(r"[ \t\r\n,\]}]")


class RecordReader(ABC, Generic[Record]):
    """Takes a body in chunks and yields its records."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""
        self._position = 0
        self._parser = self._parse()
        self._is_complete = False
        self.values = 0
        """The number of values that have been read, including skipped ones."""

    def feed(self, chunk: bytes) -> Iterator[Record]:
        """Yield the records that end in this chunk; raises ValueError for an invalid body."""
        self._text = self._text[self._position :] + self._decode(chunk)
        self._position = 0
        for record in self._parser:
            if record is None:
                return
            yield record

    def finish(self) -> None:
        """Raise ValueError if the body is incomplete."""
        if not self._is_complete:
            raise ValueError("it ends in the middle, or is not JSON")
        self._decode(b"", final=True)

    @abstractmethod
    def _body(self) -> Generator[Record | None, None, None]:
        """Yield the records of the body, and None when more text is needed."""

    def _parse(self) -> Generator[Record | None, None, None]:
        yield from self._body()
        self._is_complete = True
        while not _NOT_SPACE.search(self._text, self._position):
            yield None
        raise ValueError("something follows its end")

    def _array(self, read: Callable[[Any], Any] | None) -> Generator[Any | None, None, None]:
        """Yield the result of ``read`` for each value of the next array; None skips the array.

        A value for which ``read`` returns None is omitted.
        """
        self._position += 1
        if (yield from self._peek()) == "]":
            self._position += 1
            return
        delimiter = ","
        while delimiter == ",":
            value = yield from self._value()
            if read and (record := read(value)) is not None:
                yield record
            delimiter = yield from self._delimiter(",]")

    def _value(self) -> Generator[None, None, Any]:
        """Return the next value."""
        is_delimited = (yield from self._peek()) in '"[{'
        while True:
            end = None if is_delimited else _END_OF_SCALAR.search(self._text, self._position)
            if is_delimited or end:
                try:
                    value, self._position = decoder.raw_decode(self._text, self._position)
                except RecursionError:
                    raise ValueError("it is nested too deeply") from None
                except InvalidOperation:
                    raise ValueError(NO_NUMBER) from None
                except json.JSONDecodeError:
                    if end:
                        raise
                else:
                    self.values += 1
                    return value
            if len(self._text) - self._position > RECORD_CHARACTERS_MAX:
                raise ValueError(f"no record ends within {RECORD_CHARACTERS_MAX} characters")
            yield

    def _delimiter(self, expected: str) -> Generator[None, None, str]:
        found = yield from self._peek()
        if found not in expected:
            raise ValueError("it is not JSON")
        self._position += 1
        return found

    def _peek(self) -> Generator[None, None, str]:
        """Skip whitespace, and return the next character without consuming it."""
        while not (found := _NOT_SPACE.search(self._text, self._position)):
            self._position = len(self._text)
            yield
        self._position = found.start()
        return found.group()


class EntitiesReader(RecordReader[Record]):
    """Reads a body that has an array for each of some entities."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        super().__init__()
        self._readers = {entity.key: self._reader(entity) for entity in entities}
        self._missing = set(self._readers)

    @abstractmethod
    def _reader(self, entity: Entity) -> Callable[[Any], Record | None]:
        """Return the function that reads a value of the entity's array, or raises ValueError.

        None omits the value.
        """

    def finish(self) -> None:
        """Raise ValueError if the body is incomplete, or a requested entity is missing."""
        super().finish()
        if self._missing:
            raise ValueError(f"there is no {min(self._missing)!r} in it")

    def _body(self) -> Generator[Record | None, None, None]:
        if (yield from self._peek()) != "{":
            raise ValueError("it is not a JSON object")
        self._position += 1
        if (yield from self._peek()) == "}":
            self._position += 1
        else:
            yield from self._members()

    def _members(self) -> Generator[Record | None, None, None]:
        delimiter = ","
        while delimiter == ",":
            if (yield from self._peek()) != '"':
                raise ValueError("it is not JSON")
            key: str = yield from self._value()
            yield from self._delimiter(":")
            yield from self._member(key)
            delimiter = yield from self._delimiter(",}")

    def _member(self, key: str) -> Generator[Record | None, None, None]:
        """Yield the records of a key; unknown keys are skipped."""
        read = self._readers.get(key)
        if (yield from self._peek()) != "[":
            value = yield from self._value()
            if read and value is not None:
                raise ValueError(f"{key!r} is not a JSON array")
            self._missing.discard(key)
            return
        yield from self._array(read)
        self._missing.discard(key)


class FeedReader(EntitiesReader[ChangedRecord]):
    """Reads a response of the change feed, or a snapshot."""

    def __init__(self, entities: Sequence[Entity], read: ReadsRecord = read_record) -> None:
        self._read = read
        super().__init__(entities)

    def _reader(self, entity: Entity) -> Callable[[Any], ChangedRecord | None]:
        return partial(self._read, entity.shape)


class DeletionsReader(EntitiesReader[Deletion]):
    """Reads a response of the deletions."""

    def _reader(self, entity: Entity) -> Callable[[Any], Deletion]:
        return partial(_deletion, entity)


def _deletion(entity: Entity, value: Any) -> Deletion:
    try:
        return Deletion(entity.name, Identifier().read(value))
    except (ValueError, TypeError, ArithmeticError):
        raise ValueError(f"{entity.key}: one of its values is no id") from None


class ListReader(RecordReader[Shape]):
    """Reads a body that is an array of records of one shape."""

    def __init__(self, shape: type[Shape], read: ReadsRecord = read_record) -> None:
        super().__init__()
        self._shape = shape
        self._read = read

    def _body(self) -> Generator[Shape | None, None, None]:
        if (yield from self._peek()) != "[":
            raise ValueError("the response is not a JSON array")
        yield from self._array(partial(self._read, self._shape))
