"""The streams of a command: text for people, in which foreign data cannot control the terminal.

Bytes, such as JSON, go to the stream's buffer unchanged.
"""

import io
import re
import sys
from typing import TextIO, cast

import click

from masthead.contract.printable import on_terminal

_LEFT = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class _Printable(io.TextIOWrapper):
    """A stream that writes control characters as escapes; ``own`` is the underlying stream."""

    def __init__(self, own: io.TextIOWrapper) -> None:
        super().__init__(
            own.buffer,
            encoding=own.encoding,
            errors="backslashreplace",
            line_buffering=own.line_buffering,
            write_through=own.write_through,
        )
        self.own = own

    def write(self, text: str, /) -> int:
        super().write(on_terminal(text))
        return len(text)


def replace_streams() -> None:
    """Make standard output and standard error escape control characters except line feed and tab.

    Characters that their encoding lacks are escaped too.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and not isinstance(stream, _Printable):
            stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, _Printable(stream))


def echo_json(encoded: bytes) -> None:
    r"""Print JSON as a line; terminal controls that JSON need not escape become ``\u009b``."""
    text = _LEFT.sub(lambda found: f"\\u{ord(found.group()):04x}", encoded.decode())
    click.echo(text.encode())


def own_terminal(stream: TextIO) -> TextIO:
    """Return the stream that writes all characters, for output such as bars, tables, colours."""
    return cast("TextIO", stream.own) if isinstance(stream, _Printable) else stream
