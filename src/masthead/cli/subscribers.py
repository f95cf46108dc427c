"""``masthead subscriber``: find, show, duplicates, merge, move, login."""

import click

from masthead.books import moving, reader_logins, subscribers
from masthead.books.subscribers import Found, Sought
from masthead.circulation.amounts import in_currency, stored_cents
from masthead.cli.books_options import (
    ID,
    Day,
    account_options,
    books_of,
    dry_run,
    say,
    why_history,
)
from masthead.cli.subscriptions import address_fields
from masthead.contract.printable import printable
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadUsage

_SHOWN = click.IntRange(1, 1_000_000)


@click.group("subscriber")
def subscriber_group() -> None:
    """Readers: find one, show one, merge two that are the same person."""


@subscriber_group.command("find")
@click.argument("name", nargs=-1)
@click.option("--email", default="", help="The whole email address.")
@click.option("--code", "renewal_code", default="", help="The renewal code, as on the label.")
@click.option("--order", default="", help="An order: its id, or its number in the shop.")
@click.option("--street", default="", help="The street, or its beginning: '12 elm'.")
@click.option("--zip", "zip_code", default="", help="The postal code, or its beginning.")
@click.option("--city", default="", help="The city, together with another option.")
@click.option("--limit", type=_SHOWN, default=20, show_default=True, help="At most so many.")
@account_options
def find(
    name: tuple[str, ...], limit: int, account: int | None, database: str, **known: str
) -> None:
    """Find readers; all values that are given must match.

    NAME is one name or several, or the beginnings of names: `masthead subscriber find ada ames`, or
    `find ames, a`. Letter case and accents do not matter. --order finds the payer and the
    recipients. Each line has the id, name, email address, renewal code and newest address;
    `masthead subscriber show ID` shows more.
    """
    sought = Sought(" ".join(name), **known)
    found = subscribers.find(books_of(account, database), sought, limit=limit + 1)
    for each in found[:limit]:
        click.echo(_line(each))
    if not found:
        click.echo("no reader was found: give less, or only the beginning of a name", err=True)
    if len(found) > limit:
        click.echo(f"more than these {limit} were found: give more of what you know", err=True)


def _line(found: Found) -> str:
    name = " ".join(part for part in (found.first_name, found.last_name) if part)
    place = " ".join(part for part in (found.zip_code, found.city) if part)
    address = ", ".join(part for part in (found.address, place) if part)
    parts = [str(found.subscriber_id), name, found.email or "", found.renewal_code or "", address]
    if found.delete_date:
        parts.append(f"deleted {found.delete_date[:10]}")
    return "\t".join(map(printable, parts))


@subscriber_group.command("show")
@click.argument("subscriber_id", type=ID)
@account_options
def show(subscriber_id: int, account: int | None, database: str) -> None:
    """Show a reader: name, codes, addresses, subscriptions, and the newest orders."""
    books = books_of(account, database)
    found = subscribers.show(books, subscriber_id)
    history, currency = why_history(books), books.currency
    for name, value in found.fields.items():
        click.echo(f"{name}: {'' if value is None else printable(value)}")
    for address in found.addresses:
        click.echo(f"address {address.address_id}: {printable(address.line)}")
    for (
        subscription_id,
        publication,
        type_,
        copies,
        issues,
        last_day,
        cancelled,
        merged_into,
    ) in found.subscriptions:
        left = "unlimited" if issues == UNLIMITED else f"{issues or 0} issues left"
        until = f", until {last_day}" if last_day else ""
        ended = f", cancelled on {cancelled}" if cancelled else ""
        if merged_into is not None:
            ended = f", merged into subscription {merged_into}"
        click.echo(
            f"subscription {subscription_id}: {printable(publication or '')}, {type_ or ''}, "
            f"copies {copies or 0}, {left}{until}{ended}"
        )
    for order_id, ordered, total, paid_on, is_history in found.orders:
        said = [f"paid on {paid_on}"] if paid_on else [] if is_history else ["no payment noted"]
        paid = ", ".join([*said, history] if is_history else said)
        amount = in_currency(stored_cents(str(total)), currency) if total is not None else ""
        click.echo(f"order {order_id} of {(ordered or '')[:10]}: {amount}, {paid}")


@subscriber_group.command("duplicates")
@click.option("--of", type=ID, help="Only those who may be this subscriber.")
@click.option("--limit", type=_SHOWN, default=100, show_default=True, help="At most so many.")
@account_options
def duplicates(of: int | None, limit: int, account: int | None, database: str) -> None:
    """List subscribers who may be one person, a group in each paragraph.

    The subscribers of a group have the same email address, or the same last name, street and postal
    code with first names that fit, such as `A.` and `Ada`. After a look at them, `masthead
    subscriber merge` merges two.
    """
    groups = subscribers.duplicates(books_of(account, database), of=of, limit=limit + 1)
    for group in groups[:limit]:
        click.echo(f"same {group.why}:")
        for each in group.people:
            click.echo(f"  {_line(each)}")
    if not groups:
        click.echo("no duplicates were found")
    if len(groups) > limit:
        click.echo(f"and more than these {limit} groups: --limit shows more", err=True)


@subscriber_group.command("merge")
@click.argument("subscriber_id", type=ID)
@click.option("--into", type=ID, required=True, help="The subscriber who is kept.")
@click.option(
    "--keep-both",
    is_flag=True,
    help="Merge no subscriptions: where both subscribers have one, both go on.",
)
@dry_run
@account_options
def merge(
    subscriber_id: int,
    into: int,
    account: int | None,
    database: str,
    *,
    keep_both: bool,
    dry_run: bool,
) -> None:
    """Move all records of a subscriber to another one who is the same person.

    Addresses, subscriptions, orders, purchases, answers, notes and complaints move. If both have
    answered a question, the answer of the subscriber who is kept stays. The other subscriber is
    then empty and gets a delete_date, so partners see that it is gone. If both have a subscription
    of the same publication and type, the two become one, with the terms of both; --keep-both leaves
    them separate. Merging cannot be undone.
    """
    books = books_of(account, database)
    done = subscribers.merge(books, into, subscriber_id, keep_both=keep_both, dry_run=dry_run)
    say(done, dry_run=dry_run)


@subscriber_group.command("move")
@click.argument("subscriber_id", type=ID)
@address_fields
@click.option(
    "--subscription",
    "keys",
    type=ID,
    multiple=True,
    help="Only this one; can be repeated.  [default: all]",
)
@click.option("--bills/--no-bills", default=True, show_default=True, help="The bills too.")
@click.option("--from", "first", type=Day(), help="The first day; today if not given.")
@click.option("--to", "last", type=Day(), help="The last day, if it is for a while.")
@dry_run
@account_options
def move(
    subscriber_id: int,
    keys: tuple[int, ...],
    first: str | None,
    last: str | None,
    account: int | None,
    database: str,
    *,
    bills: bool,
    dry_run: bool,
    **fields: str | None,
) -> None:
    """Send a reader's subscriptions and bills to another address, in one step.

    Temporary addresses stay. With --from, the former address is kept until the day before; with
    --to, copies come back after that day, and bills stay where they are (--no-bills).
    """
    books = books_of(account, database)
    chosen = keys or tuple(each.subscription_id for each in moving.movable(books, subscriber_id))
    given = {name: value for name, value in fields.items() if value}
    wanted = moving.Move(given, chosen, bills, first, last)
    say(moving.move(books, subscriber_id, wanted, dry_run=dry_run), dry_run=dry_run)


@subscriber_group.command("login")
@click.argument("subscriber_id", type=ID)
@click.option("--new-code", is_flag=True, help="Make a new renewal code and print it.")
@click.option("--new-password", is_flag=True, help="Make a new password and print it once.")
@account_options
def login(
    subscriber_id: int, account: int | None, database: str, *, new_code: bool, new_password: bool
) -> None:
    """Show what a reader signs in with, or make a new renewal code or password.

    The renewal code goes with a postal code, the password with the email address. The old one ends
    at once. No mail is sent: tell the reader yourself.
    """
    books = books_of(account, database)
    if new_code and new_password:
        raise BadUsage("give --new-code or --new-password")
    if new_code:
        code = reader_logins.renew_code(books, subscriber_id)
        click.echo(code.sentence)
        click.echo(code.code)
    elif new_password:
        password = reader_logins.set_password(books, subscriber_id)
        click.echo(password.sentence)
        click.echo(password.password)
    else:
        found = reader_logins.show(books, subscriber_id)
        click.echo(f"renewal code: {printable(found.renewal_code or '(none)')}")
        click.echo(f"postal codes: {printable(', '.join(found.postal_codes) or '(none)')}")
        click.echo(f"email: {printable(found.email or '(none)')}")
        click.echo(f"password: {'set' if found.has_password else '(none)'}")
