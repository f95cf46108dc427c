"""Options made from ``masthead.settings``: a flag and its twin in the environment."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from masthead.settings import SETTINGS

__all__ = ["setting"]

Command = TypeVar("Command", bound=Callable[..., Any])


def setting(
    name: str, *, kind: click.ParamType[Any] | type | None = None
) -> Callable[[Command], Command]:
    """Return the decorator that gives a command the option of the setting ``name``."""
    found = SETTINGS[name]
    return click.option(
        found.flag,
        name,
        envvar=found.variable,
        show_envvar=True,
        default=found.default,
        show_default=found.default not in {None, False},
        is_flag=found.default is False,
        type=kind,
        help=found.meaning,
    )
