"""The frames between a process and its child that makes PDFs: a kind, a length, and the content."""

import struct
from typing import IO

READY, ASKED, MADE, FAILED = b"R", b"A", b"M", b"F"
"""The kinds: the child has started; documents as JSON; their PDF; why there is none."""

_HEAD = struct.Struct(">cI")


def write_frame(out: IO[bytes], kind: bytes, content: bytes) -> None:
    """Write a frame, and flush it."""
    out.write(_HEAD.pack(kind, len(content)))
    out.write(content)
    out.flush()


def read_frame(input_: IO[bytes]) -> tuple[bytes, bytes] | None:
    """Return the kind and the content of the next frame; None at the end of the input."""
    head = input_.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, length = _HEAD.unpack(head)
    content = input_.read(length)
    return (kind, content) if len(content) == length else None


HEAD_BYTES = _HEAD.size
"""The length of a frame without content."""


def missing(frame: bytes | bytearray) -> int:
    """Return how many bytes a frame lacks, as far as its beginning says; 0 if it is whole."""
    if len(frame) < HEAD_BYTES:
        return HEAD_BYTES - len(frame)
    return HEAD_BYTES + int(_HEAD.unpack_from(frame)[1]) - len(frame)


def frame_of(whole: bytes) -> tuple[bytes, bytes]:
    """Return the kind and the content of a whole frame."""
    return whole[:1], whole[HEAD_BYTES:]
