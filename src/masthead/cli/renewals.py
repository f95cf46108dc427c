"""``masthead renewals``: efforts, select, automatic, announcements."""

from pathlib import Path

import click

from masthead.books import Books, announcement_letters, automatic_renewals, renewals, renewing_list
from masthead.books.catalogue import Bundle
from masthead.books.efforts import RENEWAL
from masthead.circulation.amounts import in_currency
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, end_of, raw
from masthead.cli.effort_removal import removal
from masthead.contract.printable import counted, printable
from masthead.errors import BadUsage
from masthead.loading.letter_files import copy_letters, send_letters
from masthead.loading.letter_pdfs import copy_renewals, send_renewals, write_announcements

_LISTED_AT_ONCE = 500


@click.group("renewals")
def renewals_group() -> None:
    """Renewal letters, and automatic renewal: what is due, and for whom."""


@renewals_group.group("efforts")
def efforts_group() -> None:
    """The letters of a publication: each is an effort, due at a number of issues left.

    For instance, effort 1 at 3 issues left, effort 2 at 1, effort 3 at 0 (with the last issue),
    effort 4 at -2 (two issues after it). A late reader gets the effort for the issues left now,
    never an earlier one. A letter can name a bundle to order, and have a key code.
    """


@efforts_group.command("list")
@click.option("--publication", type=ID, help="Only this publication.")
@account_options
def list_(publication: int | None, account: int | None, database: str) -> None:
    """List the efforts of all publications, or of one."""
    books = books_of(account, database)
    found = renewals.efforts(books, publication)
    currency = books.currency
    for each, bundle in found:
        click.echo(printable(f"{each.sentence}{_bundle(bundle, currency)}"))
    if not found:
        click.echo("no efforts: `masthead renewals efforts set` makes one")


def _bundle(bundle: Bundle | None, currency: str) -> str:
    """Return a bundle's name and price; '' without a bundle."""
    if bundle is None:
        return ""
    retired = "" if bundle.is_active else "; it is retired, and the letters go without it"
    price = in_currency(bundle.price + bundle.tax, currency)
    return f" ({bundle.name or ''}, {price} with tax{retired})"


@efforts_group.command("set")
@click.argument("effort", type=int)
@click.option("--publication", type=ID, required=True, help="Id of the publication.")
@click.option(
    "--issues-left",
    type=int,
    required=True,
    help="Issues left at which it is due; with 0 or less, issues after the last one.",
)
@click.option("--bundle", "bundle_id", type=ID, help="The bundle that its letter names.")
@click.option(
    "--key-code", type=str, help="A code in its letter, which readers name in their answer."
)
@dry_run
@account_options
def set_(
    effort: int,
    publication: int,
    issues_left: int,
    bundle_id: int | None,
    key_code: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add effort EFFORT to a publication, or change it.

    The effort gets all values that are given here and no others: without --bundle, its letter names
    none. Efforts are due in the order of their numbers, each at fewer issues left than the one
    before.
    """
    code = None if key_code is None else key_code.strip()
    changed = renewals.Effort(publication, effort, issues_left, bundle_id, code)
    done = renewals.set_effort(books_of(account, database), changed, dry_run=dry_run)
    click.echo(done.sentence)
    end_of(dry_run=dry_run)


efforts_group.add_command(removal(RENEWAL))


@renewals_group.command("select")
@click.option("--publication", type=ID, help="Only this publication.")
@click.option(
    "--to",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File for the letters, which ends in .pdf to print them, else CSV; one that exists is not "
    "replaced.",
)
@click.option(
    "--preview",
    "--dry-run",
    is_flag=True,
    help="Record nothing: they are still due afterwards.",
)
@click.option(
    "--sent",
    "sent_on",
    type=Day(),
    help="Write the letters of this day again, for a file that was lost.",
)
@raw
@account_options
def select(
    publication: int | None,
    file: Path | None,
    sent_on: str | None,
    account: int | None,
    database: str,
    *,
    preview: bool,
    is_raw: bool,
) -> None:
    """Select the subscriptions whose next renewal letter is due, each once.

    With --to, the letters are written to FILE and noted as sent: both or neither. If the command is
    killed, the next call with the same FILE finishes or removes what is left in FILE.unfinished.
    The next letter of a subscription comes with a later call. With --preview, nothing is noted, and
    FILE may be left out.

    A letter names the bundle of its effort. It goes to the reader. If no term is the reader's own,
    it goes to the payer, without the reader's code. There are no letters for subscriptions that are
    not in the campaign (`masthead subscription set --campaign`), cancelled, refunded, suspended
    today or unlimited, and for deleted readers. With --sent, the letters of that day are written
    again, with today's addresses, and nothing is noted.

    A FILE that ends in .pdf has the letters themselves, by the templates of the account; more than
    100 become several files, such as letters-1.pdf and letters-2.pdf. They are noted as sent when
    all were made: an error of a template stops before that. Readers who want email get the letter
    so, and not on paper.
    """
    if file is None and not preview:
        raise BadUsage("give a file with --to FILE, or --preview")
    if preview and sent_on is not None:
        raise BadUsage("letters that were sent have no preview: leave out --preview")
    books = books_of(account, database)
    mailed = 0
    is_pdf = file is not None and file.suffix.lower() == ".pdf"
    if is_pdf and is_raw:
        raise BadUsage("letters in a PDF file are printed as they are: leave out --raw")
    if is_pdf:
        assert file is not None
        if preview or sent_on is not None:
            due, mailed = copy_renewals(books, file, publication, sent_on=sent_on)
        else:
            due, mailed = send_renewals(books, file, publication)
    elif preview or sent_on is not None:
        due = copy_letters(books, file, publication, sent_on=sent_on, is_raw=is_raw)
    else:
        assert file is not None
        sent = send_letters(books, file, publication, is_raw=is_raw)
        if sent.is_finished:
            click.echo(
                f"{file} has the letters of a call that was broken off, which were noted as sent; "
                "nothing else was selected"
            )
            return
        due = sent.due
    for publication_id, effort, letters in due:
        number = counted(letters, "letter")
        click.echo(f"publication {publication_id}, effort {effort}: {number}")
    by_mail = f", {mailed} of them by email" if mailed else ""
    click.echo(f"{counted(sum(each.letters for each in due), 'letter')} in all{by_mail}")
    if preview:
        click.echo("nothing was recorded: this was a preview")


@renewals_group.command("automatic")
@dry_run
@account_options
def automatic(account: int | None, database: str, *, dry_run: bool) -> None:
    """Announce and order what renews automatically; run it every night.

    A subscription renews automatically if its reader agreed (`masthead subscription consent give`).
    First, what is due is announced at today's price: as many days before the order as the setting
    renewal_notice_days. Then each renewal whose announced day has come is ordered at the price that
    was announced, renewal_days before the last issue closes. An account that bills makes the
    invoice. The command may run any number of times a day: each renewal is announced and ordered
    once. With --dry-run, it also lists what renews automatically, as the console does: when, for
    how much, and whether that was announced.
    """
    books = books_of(account, database)
    announced = automatic_renewals.announce(books, dry_run=dry_run)
    click.echo(printable(announced.sentence))
    renewed = automatic_renewals.renew(books, dry_run=dry_run)
    click.echo(printable(renewed.sentence))
    for each in (*announced.refused, *renewed.refused):
        click.echo(printable(each.sentence))
    letters = 0 if dry_run else announcement_letters.count(books)
    if letters:
        goes = "goes" if letters == 1 else "go"
        click.echo(
            f"{counted(letters, 'announcement')} of today {goes} by letter: `masthead renewals "
            "announcements --to FILE.pdf` writes them"
        )
    if dry_run:
        _list(books)
    end_of(dry_run=dry_run)


def _list(books: Books) -> None:
    """Print each subscription that renews by consent."""
    after: tuple[str, int] | None = renewing_list.FIRST
    while after is not None:
        found, after, _ = renewing_list.listed(books, after, _LISTED_AT_ONCE)
        for each in found:
            click.echo(printable(each.sentence))


@renewals_group.command("announcements")
@click.option(
    "--to",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    required=True,
    help="File for the letters, which ends in .pdf; one that exists is not replaced.",
)
@click.option("--sent", "day", type=Day(), help="The day of the announcements; today by default.")
@account_options
def announcements(file: Path, day: str | None, account: int | None, database: str) -> None:
    """Write the letters that announce automatic renewals, by the templates of the account.

    Payers who want email get the announcement by `masthead mail send` instead; if their address
    is on hold, they are among the letters. Renewals that were stopped since are left out. The
    letters of a day can be written any number of times. More than 200 become several files, such
    as letters-1.pdf and letters-2.pdf.
    """
    found, files = write_announcements(books_of(account, database), file, day)
    for path in files:
        click.echo(printable(str(path)))
    click.echo(f"{counted(found.number, 'letter')} of {found.day}")
