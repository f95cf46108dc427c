"""``masthead mail``: send, list, retry, cancel, bounces, held, release."""

import os
from pathlib import Path
from typing import cast, get_args

import click

from masthead.books import held_addresses, mail_sending, outbox
from masthead.cli.books_options import ID, account_options, books_of, dry_run, say
from masthead.contract.printable import printable
from masthead.errors import BadUsage
from masthead.mail.smtp_url import Server, server_of

_LIMIT = 1_000
_STATUSES = get_args(outbox.Status)
_VARIABLE = "MASTHEAD_SMTP_URL"


@click.group("mail")
def mail_group() -> None:
    """Mails with documents, for payers who want them by email.

    An operation that makes a document queues its mail. `masthead mail send` sends the mails that
    wait, and ends: call it by a timer. `masthead payer set --by-email` notes that a payer wants
    mails, `masthead billing settings mail_from=ADDRESS` says from where they go.
    """


@mail_group.command("send")
@click.option(
    "--smtp-url-file",
    "url_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    envvar="MASTHEAD_SMTP_URL_FILE",
    show_envvar=True,
    help="A file with the URL of the mail server, such as smtps://user:password@mail.example.org. "
    f"Without it, the environment variable {_VARIABLE} has the URL.",
)
@click.option("--limit", type=click.IntRange(1), help="The most mails that this run sends.")
@click.option(
    "--into",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the mails to this folder as files instead; send and mark nothing.",
)
@click.option("--dry-run", is_flag=True, help="Print how many mails are due; send nothing.")
@account_options
def send(
    url_file: Path | None,
    limit: int | None,
    folder: Path | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Send the mails that are due, each once, and end.

    The server needs TLS, unless it is on this machine. What it does not take for now is tried again
    later, with a growing delay; what it refuses has failed. A mail of which the server may have
    got all when the connection broke has failed too: `masthead mail list` says so, and
    `masthead mail retry` sends it again. The exit status is 1 if the server takes no mails.
    """
    books = books_of(account, database)
    if folder is not None:
        click.echo(printable(mail_sending.write(books, folder).sentence))
        return
    if dry_run:
        say(mail_sending.due(books), dry_run=True)
        return
    done = mail_sending.send(books, _server(url_file), limit=limit)
    for problem in done.problems:
        click.echo(f"mail {problem.mail_id}: {printable(problem.error)}", err=True)
    click.echo(done.sentence)


def _server(url_file: Path | None) -> Server:
    if url_file is None:
        url = os.environ.get(_VARIABLE, "")
    else:
        url = url_file.read_text("utf-8", errors="surrogateescape")
    if not url.strip():
        raise BadUsage(
            f"set {_VARIABLE} to the URL of the mail server, or give a file with the URL by "
            "--smtp-url-file"
        )
    return server_of(url)


@mail_group.command("list")
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_STATUSES),
    multiple=True,
    help="Those with this state; by default queued, failed and held ones.",
)
@click.option("--payer", "subscriber_id", type=ID, help="The newest mails to this subscriber.")
@account_options
def list_command(
    statuses: tuple[str, ...], subscriber_id: int | None, account: int | None, database: str
) -> None:
    """Print mails, one a line: what waits, what failed and why, what is on hold."""
    books = books_of(account, database)
    if subscriber_id is not None:
        for mail in outbox.of_payer(books, subscriber_id).mails:
            if not statuses or mail.status in statuses:
                click.echo(_line(mail))
        return
    wanted = cast("tuple[outbox.Status, ...]", statuses or ("queued", "failed", "held"))
    after = 0
    while page := outbox.listed(books, wanted, after=after, limit=_LIMIT):
        for mail in page:
            click.echo(_line(mail))
        after = page[-1].mail_id


def _line(mail: outbox.ListedMail) -> str:
    said = f"mail {mail.mail_id}  {mail.about}  to {printable(mail.address or 'nobody')}  "
    said += f"{mail.status} {mail.sent_at or mail.queued_at}"
    if mail.status == "queued" and mail.tries:
        said += f", next try {mail.due_at}"
    return f"{said}: {printable(mail.error)}" if mail.error else said


@mail_group.command("retry")
@click.argument("ids", nargs=-1, type=ID, metavar="[MAIL]...")
@click.option("--failed", "is_failed", is_flag=True, help="All that the server does not have.")
@dry_run
@account_options
def retry(
    ids: tuple[int, ...], account: int | None, database: str, *, is_failed: bool, dry_run: bool
) -> None:
    """Queue mails again that failed, are on hold or were cancelled, to the payer's address now.

    With --failed, all that failed, but for those that the mail server may have: name these by
    their numbers, if you want to send them twice rather than not at all.
    """
    if bool(ids) == is_failed:
        raise BadUsage("give the numbers of mails, or --failed")
    books = books_of(account, database)
    if is_failed:
        say(outbox.retry_failed(books, dry_run=dry_run), dry_run=dry_run)
    else:
        say(outbox.retry(books, ids, dry_run=dry_run), dry_run=dry_run)


@mail_group.command("cancel")
@click.argument("ids", nargs=-1, required=True, type=ID, metavar="MAIL...")
@dry_run
@account_options
def cancel(ids: tuple[int, ...], account: int | None, database: str, *, dry_run: bool) -> None:
    """Mark mails as not to be sent any more."""
    say(outbox.cancel(books_of(account, database), ids, dry_run=dry_run), dry_run=dry_run)


@mail_group.command("bounces")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@dry_run
@account_options
def bounces(path: Path, account: int | None, database: str, *, dry_run: bool) -> None:
    """Read the mails that came back, and put the addresses that take none on hold.

    PATH is a file with one mail (.eml), a mailbox (mbox), a Maildir, or a folder with such files.
    The files are not changed; what was read before changes nothing. Addresses to which nothing was
    sent are printed.
    """
    done = held_addresses.read_bounces(books_of(account, database), path, dry_run=dry_run)
    for address in done.held:
        click.echo(f"on hold: {printable(address)}")
    for address in done.unknown:
        click.echo(f"unknown: {printable(address)}")
    say(done, dry_run=dry_run)


@mail_group.command("held")
@account_options
def held(account: int | None, database: str) -> None:
    """Print the addresses on hold, and why."""
    books = books_of(account, database)
    after = 0
    while page := held_addresses.listed(books, after=after, limit=_LIMIT):
        for each in page:
            why = f": {printable(each.reason)}" if each.reason else ""
            click.echo(f"{printable(each.address)}  since {each.held_on}{why}")
        after = page[-1].held_address_id


@mail_group.command("release")
@click.argument("address")
@dry_run
@account_options
def release(address: str, account: int | None, database: str, *, dry_run: bool) -> None:
    """Take an address off hold; the mails to it that wait are queued again."""
    say(
        held_addresses.release(books_of(account, database), address, dry_run=dry_run),
        dry_run=dry_run,
    )
