"""Long arrays of records, encoded in batches."""

from collections.abc import Generator, Iterable
from itertools import islice

from msgspec import Struct

from masthead.contract.encoding import encode

__all__ = ["array"]

_BATCH_ROWS = 500


def array(records: Iterable[Struct]) -> Generator[bytes, None, None]:
    """Yield the JSON array of ``records`` in pieces, without ever holding more than a batch."""
    waiting = iter(records)
    opening = b"["
    while batch := list(islice(waiting, _BATCH_ROWS)):
        yield opening + encode(batch)[1:-1]
        opening = b","
    yield b"]" if opening == b"," else b"[]"
