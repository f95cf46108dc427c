"""Reading long answers while they come, in flat memory: their records come out one by one.

The change feed's answer is one JSON object with an array for each entity, a mailing list's is an
array. Nothing is known of either as a whole until its end was there, which
:meth:`RecordReader.finish` tells.
"""

import codecs
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from decimal import InvalidOperation
from typing import Any, Generic, TypeVar

from msgspec import Struct

from masthead.contract.decoding import NO_NUMBER, decoder, read_record
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

__all__ = ["ChangedRecord", "FeedReader", "ListReader", "RecordReader"]

ChangedRecord = (
    AnswerRecord
    | ChangedSubscription
    | ChangedSubscriber
    | Address
    | Purchase
    | ListDownload
    | Order
)
"""A record of the change feed; its class tells of which entity it is."""

RECORD_CHARACTERS_MAX = 64 * 1024 * 1024
"""What is longer and no record yet is not kept: memory stays flat whatever comes."""

Record = TypeVar("Record")
Shape = TypeVar("Shape", bound=Struct)

_NOT_SPACE = re.compile(r"[^ \t\r\n]")
_END_OF_SCALAR = re.compile(r"[ \t\r\n,\]}]")


class RecordReader(ABC, Generic[Record]):
    """Takes an answer in pieces and gives its records."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""
        self._at = 0
        self._parser = self._parse()
        self._is_whole = False

    def feed(self, piece: bytes) -> Iterator[Record]:
        """Yield the records that have their end in this piece.

        Raises ValueError where the answer is not what the interface says.
        """
        self._text = self._text[self._at :] + self._decode(piece)
        self._at = 0
        for record in self._parser:
            if record is None:
                return
            yield record

    def finish(self) -> None:
        """Raise ValueError where the end is missing."""
        if not self._is_whole:
            raise ValueError("it ends in the middle, or is not JSON")
        self._decode(b"", final=True)

    @abstractmethod
    def _answer(self) -> Generator[Record | None, None, None]:
        """Yield the records of the whole answer, and None where more of the text is needed."""

    def _parse(self) -> Generator[Record | None, None, None]:
        yield from self._answer()
        self._is_whole = True
        while not _NOT_SPACE.search(self._text, self._at):
            yield None
        raise ValueError("something follows its end")

    def _array(self, shape: type[Any] | None) -> Generator[Any | None, None, None]:
        """Yield the records of the array that comes next; without a shape it is passed over."""
        self._at += 1
        if (yield from self._peek()) == "]":
            self._at += 1
            return
        mark = ","
        while mark == ",":
            record = yield from self._value()
            if shape:
                yield read_record(shape, record)
            mark = yield from self._mark(",]")

    def _value(self) -> Generator[None, None, Any]:
        """Take the value that comes next, all of it."""
        has_end_within = (yield from self._peek()) in '"[{'
        while True:
            end = None if has_end_within else _END_OF_SCALAR.search(self._text, self._at)
            if has_end_within or end:
                try:
                    value, self._at = decoder.raw_decode(self._text, self._at)
                except RecursionError:
                    raise ValueError("it is nested too deeply") from None
                except InvalidOperation:
                    raise ValueError(NO_NUMBER) from None
                except json.JSONDecodeError:
                    if end:
                        raise
                else:
                    return value
            if len(self._text) - self._at > RECORD_CHARACTERS_MAX:
                raise ValueError(f"no record ends within {RECORD_CHARACTERS_MAX} characters")
            yield

    def _mark(self, expected: str) -> Generator[None, None, str]:
        found = yield from self._peek()
        if found not in expected:
            raise ValueError("it is not JSON")
        self._at += 1
        return found

    def _peek(self) -> Generator[None, None, str]:
        """Pass over space, and return the character that comes then."""
        while not (found := _NOT_SPACE.search(self._text, self._at)):
            self._at = len(self._text)
            yield
        self._at = found.start()
        return found.group()


class FeedReader(RecordReader[ChangedRecord]):
    """Reads an answer of the change feed, or a snapshot."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        super().__init__()
        self._shapes: dict[str, type[Any]] = {entity.key: entity.shape for entity in entities}
        self._lacking = set(self._shapes)

    def finish(self) -> None:
        """Raise ValueError where the end is missing, or an entity that was asked for."""
        super().finish()
        if self._lacking:
            raise ValueError(f"there is no {min(self._lacking)!r} in it")

    def _answer(self) -> Generator[ChangedRecord | None, None, None]:
        if (yield from self._peek()) != "{":
            raise ValueError("it is not a JSON object")
        self._at += 1
        if (yield from self._peek()) == "}":
            self._at += 1
        else:
            yield from self._members()

    def _members(self) -> Generator[ChangedRecord | None, None, None]:
        mark = ","
        while mark == ",":
            if (yield from self._peek()) != '"':
                raise ValueError("it is not JSON")
            key: str = yield from self._value()
            yield from self._mark(":")
            yield from self._member(key)
            mark = yield from self._mark(",}")

    def _member(self, key: str) -> Generator[ChangedRecord | None, None, None]:
        """Yield the records of a key; what nobody asked for is passed over, however long."""
        shape = self._shapes.get(key)
        if (yield from self._peek()) != "[":
            value = yield from self._value()
            if shape and value is not None:
                raise ValueError(f"{key!r} is not a JSON array")
            self._lacking.discard(key)
            return
        yield from self._array(shape)
        self._lacking.discard(key)


class ListReader(RecordReader[Shape]):
    """Reads an answer that is an array of records of one shape."""

    def __init__(self, shape: type[Shape]) -> None:
        super().__init__()
        self._shape = shape

    def _answer(self) -> Generator[Shape | None, None, None]:
        if (yield from self._peek()) != "[":
            raise ValueError("the answer is not a JSON array")
        yield from self._array(self._shape)
