"""``masthead issue``: list, close, gap, reopen, file."""

from pathlib import Path

import click

from masthead.cli.audit import actor
from masthead.cli.books_options import ID, Day, account_of, desk, dry_run, end_of
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.contract.printable import counted, printable
from masthead.errors import BadUsage
from masthead.loading.mail_files import Wanted, write_mail_file
from masthead.store.books import closing
from masthead.store.books.issue import issues_of
from masthead.store.books.operation import reading
from masthead.store.books.renewing import check_publication
from masthead.store.books.reopening import reopen_issue

__all__ = ["issue"]

_WHY = {
    "unpaid": "its order is not paid",
    "no address": "it has no address",
    "deleted": "its reader was deleted; cancel it with --refund, or without to earn what is left",
    "passed over": "an order is not paid, and a later one that is paid was delivered instead",
}


@click.group("issue")
def issue() -> None:
    """The issues of publications: who gets them, on which lists, and the mail file."""


@issue.command("list")
@click.option("--publication", type=ID, help="Id of the publication.  [default: all of them]")
@click.option("--open", "is_open", is_flag=True, help="Only those that are not closed yet.")
@desk
def list_command(
    publication: int | None, account: int | None, database: str, *, is_open: bool
) -> None:
    """Print the issues by publication and date, and whether each is closed.

    Each line has the id, publication, name, number and date, then the day on which it is to be
    closed, or when it was, with its main list.
    """
    with reading(opened(database), account_of(account)) as running:
        if publication is not None:
            check_publication(running.connection, running.account_id, publication)
        found = issues_of(running, publication)
    for each in found:
        if is_open and each.closed_at:
            continue
        state = f"open, closes on {each.closes_on}" if each.closes_on else "open"
        if each.closed_at:
            which = f"list {each.mailing_list_id}" if each.mailing_list_id else "no list"
            file = f", file {each.file_written_at}" if each.file_written_at else ""
            state = f"closed {each.closed_at}, {which}{file}"
        number = "" if each.number is None else f"no. {each.number}"
        parts = (str(each.issue_id), each.publication, each.name, number, each.date, state)
        click.echo("\t".join(map(printable, parts)))


@issue.command("close")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@click.option(
    "--grace-issues",
    type=click.IntRange(0, 1_000),
    default=0,
    show_default=True,
    help="Send so many issues on to those who have none left and may still renew.",
)
@click.option(
    "--grace-from",
    type=Day(),
    help="Grace is for those whose last issue is of this day or later: 2026-10-01.",
)
@click.option(
    "--preview",
    "--dry-run",
    is_flag=True,
    help="Print what closing gives, and change nothing.",
)
@desk
def close_command(
    issue_id: int,
    grace_issues: int,
    grace_from: str | None,
    account: int | None,
    database: str,
    *,
    preview: bool,
) -> None:
    """Close ISSUE: make its main list, deliver it, take it off the terms, earn the revenue.

    Who would be served and cannot be is listed, and loses nothing.
    """
    if grace_issues and grace_from is None:
        raise BadUsage("say with --grace-from since when a last issue counts for grace")
    if grace_from is not None and not grace_issues:
        raise BadUsage("say with --grace-issues how many issues of grace are sent")
    made = closing.close_issue(
        opened(database),
        account_of(account),
        issue_id,
        grace=closing.Grace(grace_issues, grace_from),
        actor=actor(),
        dry_run=preview,
    )
    _show(made)
    end_of(dry_run=preview)


@issue.command("gap")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@dry_run
@desk
def gap_command(issue_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Make a list of those who should have the closed ISSUE by now and have not got it.

    It may be run any number of times: nobody gets an issue twice.
    """
    made = closing.make_gap_list(
        opened(database), account_of(account), issue_id, actor=actor(), dry_run=dry_run
    )
    _show(made)
    end_of(dry_run=dry_run)


@issue.command("reopen")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@dry_run
@desk
def reopen_command(issue_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Undo the closing of ISSUE, the latest closed one, unless its file has been written.

    Its lists are removed, and its deliveries are undone with what they earned. What happened since,
    such as orders, stays.
    """
    done = reopen_issue(
        opened(database), account_of(account), issue_id, actor=actor(), dry_run=dry_run
    )
    click.echo(f"deliveries undone: {done.deliveries}; lists removed: {done.lists}")
    end_of(dry_run=dry_run)


@issue.command("file")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option(
    "--list",
    "mailing_list_id",
    type=ID,
    help="Id of a gap list of the issue.  [default: its main list]",
)
@click.option(
    "--digital", is_flag=True, help="Write the email addresses of those without a printed copy."
)
@setting("for_spreadsheets")
@dry_run
@desk
def file_command(
    issue_id: int,
    path: Path,
    mailing_list_id: int | None,
    account: int | None,
    database: str,
    *,
    digital: bool,
    for_spreadsheets: bool,
    dry_run: bool,
) -> None:
    """Write the mail file of ISSUE into FILE, whose name ends in .csv or .xlsx.

    It has the printed copies by country and postal code. The issue cannot be reopened afterwards.
    A FILE that exists is replaced when the new one is complete.
    """
    count = write_mail_file(
        opened(database),
        account_of(account),
        Wanted(issue_id, mailing_list_id, digital, for_spreadsheets),
        path,
        dry_run=dry_run,
        by=actor(),
    )
    click.echo(f"{path}: {count} rows")
    end_of(dry_run=dry_run)


def _entries(count: int) -> str:
    return counted(count, "entry", "entries")


def _show(made: closing.MailingList) -> None:
    """Print a list, its press run and its exceptions."""
    if made.mailing_list_id is None:
        click.echo("nobody is to get the issue now: no list was made")
    else:
        click.echo(f"list {made.mailing_list_id}, {printable(made.name)}: {_entries(made.entries)}")
    for run in made.runs:
        how = "grace" if run.is_grace else "paid" if run.is_paid else "free or not paid"
        free = f", {run.free_copies} of them free" if run.is_paid and run.free_copies else ""
        copies = counted(run.copies, "copy", "copies")
        click.echo(f"  {run.type}, {how}: {_entries(run.entries)}, {copies}{free}")
    if made.exceptions:
        count = len(made.exceptions)
        is_held = all(each.why != "passed over" for each in made.exceptions)
        needs = "needs" if count == 1 else "need"
        how = "which got nothing and lost nothing" if is_held else f"which {needs} a hand"
        click.echo(f"{counted(count, 'exception')}, {how}:")
    for each in made.exceptions:
        click.echo(
            f"  subscription {each.subscription_id} of subscriber {each.subscriber_id}: "
            f"{_WHY[each.why]}"
        )
