"""The command line: what each command takes and prints, and how it ends.

The work is done by ``masthead.loading``, ``masthead.store`` and ``masthead.api``. A command ends
with 0, with 1 where data are bad or something else went wrong, with 2 where it was called in a way
that cannot work; always with a sentence, never with a traceback.
"""

from typing import Any

import click

from masthead import __version__
from masthead.cli.accounts import accounts
from masthead.cli.backups import backup, restore
from masthead.cli.data import export_command, generate_command, import_command
from masthead.cli.database import database_group
from masthead.cli.feed import feed
from masthead.cli.serving import demo, openapi, serve_command
from masthead.errors import BadUsage, MastheadError

__all__ = ["cli", "main"]


class _Explaining(click.Group):
    """Turns what goes wrong in a command into a sentence and an exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MastheadError as error:
            click.echo(str(error), err=True)
            ctx.exit(2 if isinstance(error, BadUsage) else 1)
        except BrokenPipeError:
            # The reader of a pipe has seen enough; Click ends with 1 and says nothing.
            raise
        except OSError as error:
            click.echo(f"{error.filename or 'the system'}: {error.strerror or error}", err=True)
            ctx.exit(1)


@click.group(cls=_Explaining, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="masthead")
def cli() -> None:
    """Masthead serves a publisher's subscribers, subscriptions, orders and mailing lists.

    A setting has a twin in the environment, which its help names: --database is
    MASTHEAD_DATABASE.
    """


for command in (
    accounts,
    backup,
    database_group,
    demo,
    export_command,
    feed,
    generate_command,
    import_command,
    openapi,
    restore,
    serve_command,
):
    cli.add_command(command)


def main() -> None:
    """Run the command that the process was started with."""
    cli(prog_name="masthead")
