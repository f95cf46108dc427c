"""Settings of an account on the command line: ``NAME=VALUE``, a logo from a file, and a list."""

from pathlib import Path
from typing import Protocol

from masthead.circulation.setting_values import LOGO_BYTES_MAX, logo_from
from masthead.contract.printable import printable
from masthead.errors import BadInput, BadUsage

_SHOWN_MAX = 60


class Shown(Protocol):
    """A setting with its value as text; ``is_set`` is false if it is the default."""

    @property
    def name(self) -> str:
        """The name of the setting."""
        ...

    @property
    def value(self) -> str:
        """Its value as text."""
        ...

    @property
    def is_set(self) -> bool:
        """Whether it was set."""
        ...

    @property
    def meaning(self) -> str:
        """What it means, in one line."""
        ...


def named_value(setting: str, such_as: str) -> tuple[str, str]:
    """Return the name and the value of ``NAME=VALUE``. Raises BadUsage for a text without ``=``."""
    name, found, value = setting.partition("=")
    if not found:
        raise BadUsage(f"{setting!r} gives no value: write NAME=VALUE, such as {such_as}")
    return name, value


def logo_in(file: Path) -> str:
    """Return the logo in a file as a data URL.

    Raises BadInput for the name of another kind of file, and if the file cannot be read.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(LOGO_BYTES_MAX + 1)
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    return logo_from(str(file), content)


def setting_line(shown: Shown) -> str:
    """Return the line of a list of settings: name, value, whether it is the default, meaning."""
    value = shown.value
    value = value if len(value) <= _SHOWN_MAX else f"{value[:_SHOWN_MAX]}…"
    default = "" if shown.is_set else "(default)"
    return f"{shown.name}\t{printable(value)}\t{default}\t{shown.meaning}"
