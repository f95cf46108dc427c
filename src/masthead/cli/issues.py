"""``masthead issue``: list, close, gap, reopen, file, labels, covers."""

from collections import Counter
from pathlib import Path

import click

from masthead.books import issues
from masthead.books.issue_sheets import COPIES_OF_BUNDLE
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, end_of, raw
from masthead.contract.printable import counted, printable
from masthead.documents.label_sheets import SHEETS
from masthead.errors import BadUsage
from masthead.loading import sheet_files
from masthead.loading.mail_files import Wanted, write_mail_file


@click.group("issue")
def issue() -> None:
    """The issues of publications: their lists, and the mail file."""


_of_list = click.option(
    "--list",
    "mailing_list_id",
    type=ID,
    help="Id of a gap list of the issue.  [default: its main list]",
)


@issue.command("list")
@click.option("--publication", type=ID, help="Id of the publication.  [default: all of them]")
@click.option("--open", "is_open", is_flag=True, help="Only those that are not closed yet.")
@account_options
def list_command(
    publication: int | None, account: int | None, database: str, *, is_open: bool
) -> None:
    """Print the issues by publication and date, and whether each is closed.

    Each line has the id, publication, name, number and date, then the day on which it is to be
    closed, or the day on which it was closed and its main list.
    """
    for each in issues.all_of(books_of(account, database), publication):
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
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Send this many grace issues to readers who have no issues left and may still renew.",
)
@click.option(
    "--grace-from",
    type=Day(),
    help="Send grace issues only after a last issue of this day or later, such as 2026-10-01.",
)
@click.option(
    "--preview",
    "--dry-run",
    is_flag=True,
    help="Print what closing would do; change nothing.",
)
@account_options
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

    Subscriptions that should get the issue but cannot are listed. They keep the issue.
    """
    if grace_issues and grace_from is None:
        raise BadUsage(
            "give --grace-from, the earliest date of a last issue for which grace issues are sent"
        )
    if grace_from is not None and not grace_issues:
        raise BadUsage("give --grace-issues, the number of grace issues to send")
    grace = issues.Grace(grace_issues, grace_from)
    made = issues.close(books_of(account, database), issue_id, grace, dry_run=preview)
    _show(made)
    end_of(dry_run=preview)


@issue.command("gap")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@dry_run
@account_options
def gap_command(issue_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Make a list of the subscriptions that should have the closed ISSUE and do not have it.

    The command can be repeated: no subscription gets an issue twice.
    """
    made = issues.make_gap_list(books_of(account, database), issue_id, dry_run=dry_run)
    _show(made)
    end_of(dry_run=dry_run)


@issue.command("reopen")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@dry_run
@account_options
def reopen_command(issue_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Undo the closing of ISSUE, the latest closed one, unless its file has been written.

    Its lists are removed, and its deliveries are undone with the revenue that they earned. Later
    changes, such as orders, stay.
    """
    done = issues.reopen(books_of(account, database), issue_id, dry_run=dry_run)
    click.echo(done.sentence)
    end_of(dry_run=dry_run)


@issue.command("file")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@_of_list
@click.option(
    "--digital", is_flag=True, help="Write the email addresses of those without a printed copy."
)
@raw
@dry_run
@account_options
def file_command(
    issue_id: int,
    path: Path,
    mailing_list_id: int | None,
    account: int | None,
    database: str,
    *,
    digital: bool,
    is_raw: bool,
    dry_run: bool,
) -> None:
    """Write the mail file of ISSUE to FILE, whose name ends in .csv or .xlsx.

    It has the printed copies by country and postal code. Afterwards, the issue can no longer be
    reopened. An existing FILE is replaced when the new one is complete.
    """
    count = write_mail_file(
        books_of(account, database),
        Wanted(issue_id, mailing_list_id, digital, is_raw),
        path,
        dry_run=dry_run,
    )
    click.echo(f"{path}: {count} rows")
    end_of(dry_run=dry_run)


@issue.command("labels")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@_of_list
@click.option(
    "--sheet",
    type=click.Choice(list(SHEETS)),
    default="3x8",
    show_default=True,
    help="The form of the sheets: "
    + "; ".join(f"{each.name} is {each.meaning}" for each in SHEETS.values())
    + ".",
)
@click.option(
    "--skip",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="How many labels of the first sheet are used already.",
)
@dry_run
@account_options
def labels_command(
    issue_id: int,
    path: Path,
    mailing_list_id: int | None,
    sheet: str,
    skip: int,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Write the address labels of ISSUE to FILE, whose name ends in .pdf.

    There is a label for each address of the mail file, by country and postal code; it says how many
    copies are for one address. Afterwards, the issue can no longer be reopened. More than 100
    sheets become several files, such as labels-1.pdf and labels-2.pdf. A file that exists is not
    replaced. Print at full size, without fitting to the page.
    """
    wanted = sheet_files.Wanted(issue_id, mailing_list_id, sheet, skip)
    files = sheet_files.write_labels(books_of(account, database), wanted, path, dry_run=dry_run)
    _show_files(files)
    end_of(dry_run=dry_run)


@issue.command("covers")
@click.argument("issue_id", type=ID, metavar="ISSUE")
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@_of_list
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=COPIES_OF_BUNDLE,
    show_default=True,
    help="The most copies of a bundle.",
)
@account_options
def covers_command(
    issue_id: int,
    path: Path,
    mailing_list_id: int | None,
    most: int,
    account: int | None,
    database: str,
) -> None:
    """Write the cover sheets of ISSUE's bundles of copies to FILE, whose name ends in .pdf.

    Copies follow each other as on the labels. A bundle goes to one country; its sheet has the first
    and the last postal code, and how many addresses and copies there are.
    """
    books = books_of(account, database)
    _show_files(
        sheet_files.write_covers(books, issue_id, path, mailing_list_id=mailing_list_id, most=most)
    )


def _show_files(files: tuple[Path, ...]) -> None:
    for file in files:
        click.echo(f"{printable(file)} was written")


def _show(made: issues.MailingList) -> None:
    """Print the list, its press run and the held subscriptions."""
    click.echo(printable(made.sentence))
    for run in made.press_run:
        free = f", {run.free_copies:,} of them free" if run.is_paid and run.free_copies else ""
        entries = counted(run.entries, "entry", "entries")
        copies = counted(run.copies, "copy", "copies")
        click.echo(f"  {run.type}, {run.kind}: {entries}, {copies}{free}")
    if made.held:
        is_held = all(each.why != "passed over" for each in made.held)
        how = "got nothing and lost nothing" if is_held else "need a hand"
        click.echo(f"{counted(len(made.held), 'subscription')} held, which {how}:")
    full = Counter(each.reason for each in made.held if each.is_over_quota)
    for reason, count in sorted(full.items()):
        click.echo(f"  {counted(count, 'subscription')}: {reason}")
    for each in made.held:
        if each.is_over_quota:
            continue
        click.echo(
            f"  subscription {each.subscription_id} of subscriber {each.subscriber_id}: "
            f"{each.reason}"
        )
