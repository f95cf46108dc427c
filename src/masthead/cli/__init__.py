"""The command line: what each command takes and prints, and how it ends.

The work is done by ``masthead.loading``, ``masthead.store``, ``masthead.api`` and
``masthead.mirror``. A command ends
with 0, with 1 where data are bad or something else went wrong, with 2 where it was called in a way
that cannot work; always with a sentence, never with a traceback.

What the encoding of a stream lacks is shown with backslash escapes. Data are UTF-8, whatever the
locale (decisions, "Encoding of output").
"""

import io
import sys
from importlib import import_module
from typing import Any

import click

from masthead import __version__
from masthead.errors import BadUsage, MastheadError

__all__ = ["cli", "main"]


_COMMANDS = {
    "accounts": "accounts:accounts",
    "audit": "personal:audit_command",
    "backup": "backups:backup",
    "database": "database:database_group",
    "demo": "serving:demo",
    "erase": "personal:erase_command",
    "export": "data:export_command",
    "feed": "feed:feed",
    "generate": "data:generate_command",
    "import": "data:import_command",
    "mirror": "mirror:mirror_group",
    "openapi": "serving:openapi",
    "restore": "backups:restore",
    "serve": "serving:serve_command",
    "subscriber-data": "personal:subscriber_data_command",
}
"""Where each command is: imported when it is asked for, so that none waits for the others."""


class _Commands(click.Group):
    """Finds commands, and turns what goes wrong in one into a sentence and an exit status."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"masthead.cli.{module}"), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MastheadError as error:
            click.echo(str(error), err=True)
            ctx.exit(2 if isinstance(error, BadUsage) else 1)
        except BrokenPipeError:
            # The reader of a pipe has seen enough; Click ends with 1 and says nothing.
            raise
        except UnicodeEncodeError:
            click.echo(
                "an argument or the name of a file is no text in this locale; one of UTF-8 has all "
                "characters: set LC_ALL=C.UTF-8",
                err=True,
            )
            ctx.exit(2)
        except OSError as error:
            click.echo(f"{error.filename or 'the system'}: {error.strerror or error}", err=True)
            ctx.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="masthead")
def cli() -> None:
    """Masthead serves a publisher's subscribers, subscriptions, orders and mailing lists.

    A setting has a twin in the environment, which its help names: --database is
    MASTHEAD_DATABASE.
    """


def main() -> None:
    """Run the command that the process was started with."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where it is closed
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="masthead")
