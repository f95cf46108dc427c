"""Options from ``masthead.settings``, each a flag and an environment variable; amounts."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from masthead.circulation.amounts import cents_of
from masthead.errors import BadUsage
from masthead.settings import SETTINGS, ServerSettings, Setting

Command = TypeVar("Command", bound=Callable[..., Any])


class Amount(click.ParamType[int]):
    """An amount of 0 or more with at most two decimals, converted to cents."""

    name = "amount"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> int:
        """Return the amount in cents; raise BadUsage for an invalid amount."""
        if isinstance(value, int):
            return value
        try:
            return cents_of(str(value))
        except ValueError as error:
            raise BadUsage(str(error)) from None


def setting(
    name: str, *, kind: click.ParamType[Any] | type | None = None
) -> Callable[[Command], Command]:
    """Return a decorator that adds the option of the setting ``name`` to a command.

    ``kind`` is the type of the option, if it differs from the setting's type.
    """
    found = SETTINGS[name]
    return click.option(
        found.flag,
        name,
        envvar=found.variable,
        show_envvar=True,
        default=found.default,
        show_default=found.default not in {None, False},
        is_flag=found.value_type is bool,
        type=kind or _type_of(found),
        help=found.meaning,
    )


def server_settings(command: Callable[[ServerSettings], None]) -> Callable[..., None]:
    """Add the options of all server settings to a command, which gets them as ServerSettings."""

    @functools.wraps(command)
    def with_settings(**values: Any) -> None:
        command(ServerSettings(**values))

    for name in reversed(ServerSettings.__struct_fields__):
        with_settings = setting(name)(with_settings)
    return with_settings


def credentials(key: str | None, login: str | None) -> tuple[str, str]:
    """Return the credentials of a service; raise BadUsage if one of the two is missing."""
    if not key or not login:
        raise BadUsage("set MASTHEAD_API_KEY and MASTHEAD_API_LOGIN, or give --key and --login")
    return key, login


def _type_of(found: Setting) -> click.ParamType[Any] | type | None:
    if found.choices:
        return click.Choice(found.choices)
    if found.value_type is int:
        return click.IntRange(found.at_least, found.at_most)
    return None
