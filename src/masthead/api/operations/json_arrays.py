"""Long arrays of records or ids, and long lists of lines, encoded in batches."""

from collections.abc import Callable, Generator, Iterable
from itertools import islice

from masthead.contract.encoding import encode

_BATCH_ROWS = 500


def array(
    records: Iterable[object], *, counted: Callable[[int], None] = lambda _: None
) -> Generator[bytes, None, None]:
    """Yield the JSON array of ``records`` in pieces, with at most one batch in memory.

    ``counted`` is called with the number of records in each piece.
    """
    waiting = iter(records)
    opening = b"["
    while batch := list(islice(waiting, _BATCH_ROWS)):
        counted(len(batch))
        yield opening + encode(batch)[1:-1]
        opening = b","
    yield b"]" if opening == b"," else b"[]"


def lines(
    records: Iterable[object], entity: str, *, counted: Callable[[int], None]
) -> Generator[bytes, None, None]:
    """Yield a line of JSON for each record, with the name of its entity, in pieces of many lines.

    ``counted`` is as for :func:`array`.
    """
    waiting = iter(records)
    beginning = f'{{"entity":"{entity}","record":'.encode()
    while batch := list(islice(waiting, _BATCH_ROWS)):
        counted(len(batch))
        yield b"".join(beginning + encode(record) + b"}\n" for record in batch)
