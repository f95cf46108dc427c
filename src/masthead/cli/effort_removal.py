"""The command that removes an effort: ``remove`` of ``efforts``, for either kind of effort."""

from typing import Any

import click

from masthead.books import efforts
from masthead.cli.books_options import ID, account_options, books_of, dry_run, end_of


def removal(kind: efforts.Kind[Any]) -> click.Command:
    """Return the command that removes an effort of a kind."""

    @click.command("remove")
    @click.argument("effort", type=int)
    @click.option("--publication", type=ID, required=True, help="Id of the publication.")
    @dry_run
    @account_options
    def remove(
        effort: int, publication: int, account: int | None, database: str, *, dry_run: bool
    ) -> None:
        """Remove effort EFFORT of a publication; the others keep their numbers."""
        books = books_of(account, database)
        click.echo(efforts.remove(books, kind, publication, effort, dry_run=dry_run).sentence)
        end_of(dry_run=dry_run)

    return remove
