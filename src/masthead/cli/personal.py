"""``masthead erase``, ``subscriber-data`` and ``audit``."""

import sys

import click
import msgspec

from masthead.books import Books, erasure
from masthead.circulation.amounts import in_currency
from masthead.cli.audit import actor
from masthead.cli.books_options import books_of
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.cli.streams import echo_json
from masthead.contract.moments import format_second, parse_moment
from masthead.contract.printable import printable
from masthead.errors import BadUsage
from masthead.loading.subscriber_data import subscriber_data
from masthead.store import accounts, audit

_ID = click.IntRange(0, 2**63 - 1)
_NO_ACCOUNT = "name the account with --account"


@click.command("erase")
@click.option("--subscriber", type=_ID, required=True, help="Id of the subscriber.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--refund",
    "money",
    flag_value="refund",
    help="Refund what is unearned of the subscriber's subscriptions, with its tax, and end them.",
)
@click.option(
    "--earn",
    "money",
    flag_value="earn",
    help="Keep what is unearned of the subscriber's subscriptions, and end them.",
)
@click.option(
    "--leave-traces",
    is_flag=True,
    help="Do not vacuum an embedded database, which takes long for a large one; the next erasure "
    "does it.",
)
@setting("account", kind=_ID)
@setting("database")
def erase_command(
    subscriber: int,
    money: erasure.Money | None,
    account: int | None,
    database: str,
    *,
    yes: bool,
    leave_traces: bool,
) -> None:
    """Blank all personal data of a subscriber, permanently.

    Names, addresses, answers, codes and notes are blanked; ids, amounts and dates of orders stay.
    The change feed shows the erasure to mirrors, and later imports keep the data blank. Backups are
    unchanged. A subscriber with issues or money left in the books is erased only with --refund or
    --earn, which end the subscriptions.
    """
    if account is None:
        raise BadUsage(_NO_ACCOUNT)
    books = books_of(account, database)
    if not yes:
        if not sys.stdin.isatty():
            raise BadUsage("this cannot be undone: give --yes to run it without a question")
        if money is None:
            money = _asked(books, subscriber)
        question = f"Erase subscriber {subscriber} of account {account}? It cannot be undone."
        click.confirm(question, abort=True)
    done = erasure.erase(books, subscriber, money, leave_traces=leave_traces)
    for left in done.ended:
        click.echo(f"ended  {printable(left.said)}")
    credited, by_hand = (in_currency(c, done.currency) for c in (done.credited, done.by_hand))
    if any(not each.is_free for each in done.ended):
        click.echo(
            f"refunded {in_currency(done.refunded, done.currency)} with tax, "
            f"earned {in_currency(done.earned, done.currency)}"
            + (f"; {credited} is the payer's credit" if done.credited else "")
            + (f"; you send {by_hand} yourself" if done.by_hand else "")
        )
    blanked = done.blanked
    width = max(map(len, blanked), default=0)
    for name, count in blanked.items():
        click.echo(f"{name:<{width}}  {count} blanked")
    if not blanked:
        click.echo("nothing personal was left")


def _asked(books: Books, subscriber: int) -> erasure.Money | None:
    """Ask what happens to the issues and the money that a subscriber has left, if any."""
    left = erasure.left(books, subscriber)
    if not left:
        return None
    for each in left:
        click.echo(printable(each.said))
    choice = click.Choice(["refund", "earn"])
    answer = click.prompt("These end. What is unearned: refund it, or earn it", type=choice)
    return "refund" if answer == "refund" else "earn"


@click.command("subscriber-data")
@click.option("--subscriber", type=_ID, required=True, help="Id of the subscriber.")
@setting("account", kind=_ID)
@setting("database")
def subscriber_data_command(subscriber: int, account: int | None, database: str) -> None:
    """Print all data of a subscriber as a JSON object."""
    if account is None:
        raise BadUsage(_NO_ACCOUNT)
    echo_json(subscriber_data(opened(database), account, subscriber, by=actor()).encode())


@click.command("audit")
@click.option("--since", metavar="TIME", help="Start with this time: 2026-11-20T08:00:00Z.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Lines of text, or JSON objects.",
)
@setting("account", kind=_ID)
@setting("database")
def audit_command(since: str | None, form: str, account: int | None, database: str) -> None:
    """Print the audit log: who ran which command, the newest last, with times in UTC.

    With --account, it has only the entries of this account, and those of all accounts.
    """
    try:
        since_us = parse_moment(since) if since else 0
    except ValueError as error:
        raise BadUsage(f"--since: {error}, such as 2026-11-20T08:00:00Z") from error
    with opened(database).writer() as connection:
        if account is not None and not audit.has_entries(connection, account):
            accounts.settings_of(connection, account)
        for entry in audit.entries(connection, account_id=account, since_us=since_us):
            at = format_second(entry.at)
            if form == "json":
                record = {**entry._asdict(), "at": at}
                echo_json(msgspec.json.encode(record))
            else:
                whose = "" if entry.account_id is None else f"account {entry.account_id}: "
                click.echo(
                    f"{at}  {printable(entry.user_name)}  {printable(entry.command)}  {whose}"
                    f"{printable(entry.summary)}"
                )
