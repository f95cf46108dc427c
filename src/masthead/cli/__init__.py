"""The command line.

The exit status is 0 for success, 1 for invalid data and failures, 2 for invalid usage. Errors are
printed as a sentence, without a traceback. Characters that a stream's encoding lacks, and those
that control a terminal, are printed as backslash escapes; data is UTF-8, whatever the locale
(rules, "Encoding of output", "Control characters").
"""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from masthead import __version__
from masthead.cli.hints import with_hint
from masthead.cli.streams import replace_streams
from masthead.cli.summaries import SUMMARIES
from masthead.errors import BadUsage, MastheadError
from masthead.extras import Extra, install

__all__ = ["cli", "main"]


_COMMANDS = {
    "accounts": "accounts:accounts",
    "audit": "personal:audit_command",
    "backup": "backups:backup",
    "billing": "billing:billing",
    "books": "books:books",
    "catalogue": "catalogue:catalogue_group",
    "check": "checking:check_command",
    "complaint": "complaints:complaint_group",
    "console": "console:console_command",
    "database": "database:database_group",
    "debit": "debits:debit_group",
    "demo": "demo_server:demo",
    "documents": "documents:documents_group",
    "emulator": "emulator:emulator",
    "entitlements": "entitlements:entitlements_group",
    "erase": "personal:erase_command",
    "export": "data:export_command",
    "feed": "feed:feed",
    "generate": "data:generate_command",
    "import": "importing:import_command",
    "invoice": "invoices:invoice_group",
    "issue": "issues:issue",
    "journal": "journal:journal_group",
    "letter": "letters:letter_group",
    "loads": "loads:loads_command",
    "mail": "mail:mail_group",
    "mandate": "mandates:mandate_group",
    "manual": "manual:manual_command",
    "mirror": "mirror:mirror_group",
    "note": "complaints:note_group",
    "openapi": "openapi:openapi",
    "operators": "operators:operators_group",
    "readers": "readers:readers_command",
    "order": "orders:order_group",
    "partners": "partners:partners_group",
    "payer": "payers:payer",
    "payment": "payments:payment_group",
    "qualification": "qualification:qualification_group",
    "reminders": "reminders:reminders_group",
    "remove": "removing:remove_command",
    "renewals": "renewals:renewals_group",
    "replacement": "replacements:replacement_group",
    "report": "reports:report",
    "restore": "backups:restore",
    "serve": "serving:serve_command",
    "subscriber": "subscribers:subscriber_group",
    "subscriber-data": "personal:subscriber_data_command",
    "subscription": "subscriptions:subscription_group",
}
"""The module and the name of each command; the module is imported when the command runs."""

_PACKAGES: dict[Extra, str] = {"mirror": "apsw", "server": "starlette"}
"""A package of each extra: where it is missing, the commands of the extra cannot run."""


class _Commands(click.Group):
    """Imports commands on demand, and turns exceptions into messages and exit statuses."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        try:
            command: click.Command = getattr(import_module(f"masthead.cli.{module}"), name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] == "masthead":
                raise
            return _without_packages(cmd_name, error.name)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        width = formatter.width - 6 - max(map(len, _COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, _listed(name).get_short_help_str(width)) for name in _COMMANDS]
            )

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MastheadError as error:
            click.echo(with_hint(error), err=True)
            ctx.exit(2 if isinstance(error, BadUsage) else 1)
        except BrokenPipeError:
            # Click exits with 1, without a message.
            raise
        except UnicodeEncodeError:
            click.echo(
                "an argument or a file name cannot be read in this locale: set "
                "LC_ALL=C.UTF-8, a locale with all characters",
                err=True,
            )
            ctx.exit(2)
        except OSError as error:
            click.echo(_said_of(error), err=True)
            ctx.exit(1)


def _said_of(error: OSError) -> str:
    """Return what the system says; of a folder that is missing, not the name of a file in it.

    That file may be one that a command writes before it gives it the name that was asked for.
    """
    if isinstance(error, FileNotFoundError | NotADirectoryError) and error.filename:
        folder = Path(os.fsdecode(error.filename)).parent
        if not folder.is_dir():
            return f"there is no folder {folder}"
    return f"{error.filename or 'the system'}: {error.strerror or error}"


def _extra_of(name: str) -> Extra:
    return "mirror" if name in {"check", "mirror"} else "server"


def _listed(name: str) -> click.Command:
    """Return what the list of commands shows of one: its summary, or the extra that it needs."""
    package = _PACKAGES[_extra_of(name)]
    if find_spec(package) is None:
        return _without_packages(name, package)
    return click.Command(name, help=SUMMARIES[name])


def _without_packages(name: str, missing: str) -> click.Command:
    """Return a placeholder for a command whose packages are not installed.

    It raises BadUsage, whatever its arguments (decisions, "What an installation holds").
    """
    extra = _extra_of(name)

    def refuse() -> None:
        raise BadUsage(
            f"masthead {name} needs packages that are not installed here, such as {missing}: "
            f"with the file of the release, {install(extra)} brings them"
        )

    return click.Command(
        name,
        callback=refuse,
        short_help=f"Needs the extra {extra}.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        add_help_option=False,
    )


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="masthead")
def cli() -> None:
    """Masthead serves a publisher's subscribers, subscriptions, orders and mailing lists.

    Options can also be set by environment variables, which their help names: --database by
    MASTHEAD_DATABASE.
    """


def main() -> None:
    """Run the command of ``sys.argv``."""
    replace_streams()
    cli(prog_name="masthead")
