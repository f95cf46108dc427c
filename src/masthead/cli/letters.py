"""``masthead letter``: welcome, cancellation."""

from pathlib import Path

import click

from masthead.books import letters
from masthead.cli.books_options import Day, account_options, books_of, end_of
from masthead.cli.options import Command
from masthead.contract.printable import counted, printable
from masthead.errors import BadUsage
from masthead.loading.letter_pdfs import copy_letters_of, write_letters


@click.group("letter")
def letter_group() -> None:
    """Letters when a subscription begins, and when it is cancelled.

    Each is written once. Readers who want email get it so, and the others on paper. `masthead
    renewals select` writes renewal letters, and `masthead documents` changes the templates.
    """


def _options(command: Command) -> Command:
    for option in (
        account_options,
        click.option(
            "--sent",
            "written_on",
            type=Day(),
            help="Write the letters of this day again, for a file that was lost.",
        ),
        click.option(
            "--preview",
            "--dry-run",
            is_flag=True,
            help="Print how many are due; write and record nothing.",
        ),
        click.option(
            "--since",
            type=Day(),
            help=f"What happened on this day or later.  [default: {letters.SINCE_DAYS} days ago]",
        ),
        click.option(
            "--to",
            "file",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="PDF file for the letters; one that exists is not replaced.",
        ),
    ):
        command = option(command)
    return command


@letter_group.command("welcome")
@_options
def welcome(
    file: Path | None,
    since: str | None,
    written_on: str | None,
    account: int | None,
    database: str,
    *,
    preview: bool,
) -> None:
    """Write the letters that welcome the readers of new subscriptions to FILE, as PDF.

    A letter says what was ordered, which issue is the first, and who pays if it is a gift. It goes
    to the reader. Nobody gets a second one. More than 100 letters become several files, such as
    letters-1.pdf and letters-2.pdf.
    """
    _write("welcome", file, since, written_on, account, database, preview=preview)


@letter_group.command("cancellation")
@_options
def cancellation(
    file: Path | None,
    since: str | None,
    written_on: str | None,
    account: int | None,
    database: str,
    *,
    preview: bool,
) -> None:
    """Write the letters that confirm cancellings to FILE, as PDF.

    A letter says when the subscription ends, and what is paid back. It goes to the reader, or to
    the payer of a gift. A subscription that is cancelled, taken back, and cancelled on a later day
    gets a second one. More than 100 letters become several files.
    """
    _write("cancellation", file, since, written_on, account, database, preview=preview)


def _write(
    kind: letters.LetterKind,
    file: Path | None,
    since: str | None,
    written_on: str | None,
    account: int | None,
    database: str,
    *,
    preview: bool,
) -> None:
    if file is None and not preview:
        raise BadUsage("give a file with --to FILE, or --preview")
    if written_on is not None and (preview or since):
        raise BadUsage("--sent writes the letters of one day: leave out --preview and --since")
    books = books_of(account, database)
    paths: list[Path] = []
    if preview:
        found = letters.due(books, kind, since=since)
    else:
        assert file is not None
        if written_on is not None:
            found, paths = copy_letters_of(books, kind, file, written_on)
        else:
            found, paths = write_letters(books, kind, file, since=since)
    click.echo(f"{counted(len(found.printed), f'{kind} letter')} to print")
    if found.mailed:
        click.echo(f"{counted(len(found.mailed), 'letter')} by email")
    if found.without_address:
        ids = ", ".join(map(str, found.without_address))
        click.echo(f"left out, because they have no address: subscriptions {ids}")
    for path in paths:
        click.echo(f"{printable(path)} was written")
    if file is not None and not paths and not preview:
        click.echo(f"{printable(file)} was not written, since there is nothing to print")
    end_of(dry_run=preview)
