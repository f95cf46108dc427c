"""The user and the command for the audit log, without secrets or personal data."""

from pathlib import Path

import click
from click.core import ParameterSource

from masthead.circulation.amounts import decimal
from masthead.cli.options import Amount
from masthead.cli.users import user_name
from masthead.contract.printable import printable
from masthead.loading.limits import Limit
from masthead.store.audit import Actor

_CHARACTERS_MAX = 1_000
_HIDDEN = "…"


def actor() -> Actor:
    """Return the user and the running command for the audit log.

    The command line keeps all flags, but only values that are numbers, amounts or paths: a
    database URL can contain a password, and an email address is personal.
    """
    context = click.get_current_context()
    words = context.command_path.split()[1:]
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words += _words(parameter, context.params[name])
    command = " ".join(words)
    if len(command) > _CHARACTERS_MAX:
        command = f"{command[:_CHARACTERS_MAX]} {_HIDDEN}"
    return Actor(user_name(), command)


def _words(parameter: click.Parameter, value: object) -> list[str]:
    values = value if type(value) is tuple else (value,)
    if isinstance(parameter.type, Amount) and isinstance(value, int):
        return [parameter.opts[0], decimal(value)]
    if not isinstance(parameter, click.Option):
        return [_shown(each) for each in values]
    if parameter.is_flag and not parameter.is_bool_flag:
        return [parameter.opts[0]] if value == parameter.flag_value else []
    if parameter.is_flag:
        flags = parameter.opts if value else parameter.secondary_opts
        return [flags[0]]
    each_time = values if parameter.multiple else (values,)
    return [
        word
        for once in each_time
        for word in (parameter.opts[0], *map(_shown, once if type(once) is tuple else (once,)))
    ]


def _shown(value: object) -> str:
    if isinstance(value, Limit):
        return value.text
    if not isinstance(value, int | Path) or isinstance(value, bool):
        return _HIDDEN
    return printable(value)
