"""``masthead qualification efforts``, ``select`` and ``send``: asking readers to qualify again."""

from pathlib import Path
from typing import get_args

import click

from masthead.books import requalifications
from masthead.books.efforts import REQUALIFICATION
from masthead.circulation.requalifying import Effort, Way
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, end_of, raw
from masthead.cli.effort_removal import removal
from masthead.contract.printable import counted, printable
from masthead.errors import BadUsage
from masthead.loading import requalification_files


@click.group("efforts")
def efforts_group() -> None:
    """When readers of a free title are asked to qualify again: each time is an effort.

    For instance, effort 1 by email 90 days before a qualification ends, effort 2 by letter 60 days
    before, effort 3 by telephone 30 days before. A late reader gets the last effort that is due,
    never an earlier one. A qualification that has ended gets none.
    """


@efforts_group.command("list")
@click.option("--publication", type=ID, help="Only this publication.")
@account_options
def list_(publication: int | None, account: int | None, database: str) -> None:
    """List the efforts of all publications, or of one."""
    found = requalifications.efforts(books_of(account, database), publication)
    for each in found:
        click.echo(each.sentence)
    if not found:
        click.echo("no efforts: `masthead qualification efforts set` makes one")


@efforts_group.command("set")
@click.argument("effort", type=int)
@click.option("--publication", type=ID, required=True, help="Id of the publication.")
@click.option(
    "--days-before", type=int, required=True, help="Days before the end at which it is due."
)
@click.option("--by", "way", type=click.Choice(get_args(Way)), required=True, help="The way.")
@dry_run
@account_options
def set_(
    effort: int,
    publication: int,
    days_before: int,
    way: Way,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add effort EFFORT to a publication, or change it.

    The publication must have a form (`masthead qualification form`). Efforts are due in the order
    of their numbers, each fewer days before the end than the one before.
    """
    changed = Effort(publication, effort, days_before, way)
    done = requalifications.set_effort(books_of(account, database), changed, dry_run=dry_run)
    click.echo(done.sentence)
    end_of(dry_run=dry_run)


efforts_group.add_command(removal(REQUALIFICATION))


@click.command("select")
@click.option("--publication", type=ID, help="Only this publication.")
@account_options
def select(publication: int | None, account: int | None, database: str) -> None:
    """Count the readers who are due today, by publication and effort; note nothing.

    Due are readers who get the publication by a qualification that ends soon. Left out are readers
    who pay for it, and subscriptions that were cancelled or are not in the campaign (`masthead
    subscription set --campaign`). An effort by letter reaches readers who have an address, one by
    email those with an email address that is not on hold.
    """
    found = requalifications.due(books_of(account, database), publication)
    for effort, readers, reached in found:
        rest = f", and does not reach {readers - reached:,} more" if readers > reached else ""
        click.echo(
            f"publication {effort.publication_id}, effort {effort.effort}, by {effort.way}: asks "
            f"{counted(reached, 'reader')}{rest}"
        )
    if not found:
        click.echo("no efforts: `masthead qualification efforts set` makes one")


@click.command("send")
@click.argument("effort", type=int)
@click.option("--publication", type=ID, required=True, help="Id of the publication.")
@click.option(
    "--to",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File of an effort by letter, which ends in .pdf, or by telephone, which ends in .csv; "
    "one that exists is not replaced.",
)
@click.option(
    "--sent", "sent_on", type=Day(), help="Write those of this day again, for a file that was lost."
)
@raw
@account_options
def send(
    effort: int,
    publication: int,
    file: Path | None,
    sent_on: str | None,
    account: int | None,
    database: str,
    *,
    is_raw: bool,
) -> None:
    """Ask the readers for whom effort EFFORT is due today to qualify again, each once.

    An effort by letter writes the letters into FILE, with the questions of the form and the code
    with which the reader signs in on the readers' pages. More than 100 letters become several
    files, such as letters-1.pdf and letters-2.pdf. An effort by telephone writes a list of calls
    with the answers of the last time. The number is the evidence `telephone` of the qualification.
    An effort by email queues mails, and `masthead mail send` sends them.

    The readers are noted as asked after the file was written. With --sent, those who were asked on
    that day and have not qualified since are written again, and nothing is noted.
    """
    books = books_of(account, database)
    if file is None:
        if sent_on is not None:
            raise BadUsage("name the file with --to FILE")
        done = requalifications.send_mails(books, publication, effort)
    else:
        done = requalification_files.write(
            books, file, publication, effort, sent_on=sent_on, is_raw=is_raw
        )
    click.echo(printable(done.sentence))
