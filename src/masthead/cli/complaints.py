"""``masthead note`` and ``masthead complaint``: what readers say, and how it was answered."""

import click

from masthead.books import complaints, notes
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.contract.printable import counted, printable


@click.group("note")
def note_group() -> None:
    """Notes about readers; the reader's page in the console shows them."""


@note_group.command("add")
@click.argument("subscriber_id", type=ID)
@click.argument("text")
@dry_run
@account_options
def add(
    subscriber_id: int, text: str, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Add a note about a reader, with your name and the time."""
    say(
        notes.add(books_of(account, database), subscriber_id, text, dry_run=dry_run),
        dry_run=dry_run,
    )


@click.group("complaint")
def complaint_group() -> None:
    """Complaints about issues: answer one, count all of them."""


@complaint_group.command("add")
@click.argument("subscription_id", type=ID)
@click.argument("issue_id", type=ID)
@click.option("--kind", type=click.Choice(complaints.COMPLAINTS), required=True)
@click.option(
    "--answer",
    type=click.Choice(complaints.ANSWERS),
    default="nothing",
    show_default=True,
    help="What the reader gets: a free issue at the end, the copies again, or nothing.",
)
@click.option("--text", default="", help="What the reader said.")
@dry_run
@account_options
def add_complaint(
    subscription_id: int,
    issue_id: int,
    kind: complaints.Kind,
    answer: complaints.Answer,
    text: str,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Note a complaint about an issue that a subscription received, and answer it.

    `masthead subscription show` lists the issues that were received.
    """
    books = books_of(account, database)
    done = complaints.answer(books, subscription_id, issue_id, kind, answer, text, dry_run=dry_run)
    say(done, dry_run=dry_run)


@complaint_group.command("list")
@click.option("--since", type=Day(), help="Issues of this day or later.  [default: of a year]")
@account_options
def list_complaints(since: str | None, account: int | None, database: str) -> None:
    """Count the complaints by issue and kind, newest issues first."""
    found = complaints.count(books_of(account, database), since)
    for each in found:
        answers = [
            f"{number} {what}"
            for number, what in ((each.extended, "extended"), (each.sent_again, "sent again"))
            if number
        ]
        answered = f" ({', '.join(answers)})" if answers else ""
        issue = f"{each.publication or ''}, {each.issue or ''}"
        click.echo(
            f"{each.day} {printable(issue)} (issue {each.issue_id}): {each.kind}, "
            f"{counted(each.complaints, 'complaint')}{answered}"
        )
    if not found:
        click.echo("no complaint was found", err=True)
