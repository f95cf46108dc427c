"""``masthead subscriber``: find, show, duplicates, merge."""

from itertools import islice

import click

from masthead.circulation.amounts import decimal, stored_cents
from masthead.cli.audit import actor
from masthead.cli.books_options import ID, account_of, desk, dry_run, end_of, reading
from masthead.cli.stores import opened
from masthead.contract.printable import printable
from masthead.contract.subscription_types import UNLIMITED
from masthead.store import audit
from masthead.store.books import details, merging_subscribers, subscriber_search
from masthead.store.books.operation import operation
from masthead.store.database import Connection

__all__ = ["subscriber_group"]

_SHOWN = click.IntRange(1, 1_000_000)


@click.group("subscriber")
def subscriber_group() -> None:
    """Readers: find one by what is known, look at one, merge two that are one person."""


@subscriber_group.command("find")
@click.argument("name", nargs=-1)
@click.option("--email", default="", help="The whole email address.")
@click.option("--code", "renewal_code", default="", help="The renewal code, as on the label.")
@click.option("--order", default="", help="An order: its id, or its number in the shop.")
@click.option("--street", default="", help="The street, or its beginning: '12 elm'.")
@click.option("--zip", "zip_code", default="", help="The postal code, or its beginning.")
@click.option("--city", default="", help="The city, beside one of the others.")
@click.option("--limit", type=_SHOWN, default=20, show_default=True, help="At most so many.")
@desk
def find(
    name: tuple[str, ...], limit: int, account: int | None, database: str, **known: str
) -> None:
    """Find readers by what is known of them; all that is given must match.

    NAME is a name or several, each by its beginning: `masthead subscriber find ada ames`, or `find
    ames, a`. Upper and lower case and accents do not matter. --order finds who paid and who
    receives. Each line has the id, name, email address, renewal code and newest address; then
    `masthead subscriber show ID`.
    """
    account_id = account_of(account)
    sought = subscriber_search.Sought(" ".join(name), **known)
    subscriber_search.check(sought)
    store = opened(database)
    audit.record_reading(store, actor(), "subscribers were looked for", account_id=account_id)
    with reading(database, account_id) as connection:
        found = subscriber_search.find(connection, account_id, sought, limit=limit + 1)
    for each in found[:limit]:
        click.echo(_line(each))
    if not found:
        click.echo("nobody was found: give less, or only the beginning of a name", err=True)
    if len(found) > limit:
        click.echo(f"and more than these {limit}: say more of what is known", err=True)


def _line(found: subscriber_search.Found) -> str:
    name = " ".join(part for part in (found.first_name, found.last_name) if part)
    place = " ".join(part for part in (found.zip_code, found.city) if part)
    address = ", ".join(part for part in (found.address, place) if part)
    parts = [str(found.subscriber_id), name, found.email or "", found.renewal_code or "", address]
    if found.delete_date:
        parts.append(f"deleted {found.delete_date[:10]}")
    return "\t".join(map(printable, parts))


@subscriber_group.command("show")
@click.argument("subscriber_id", type=ID)
@desk
def show(subscriber_id: int, account: int | None, database: str) -> None:
    """Show a reader: name, codes, addresses, subscriptions, and the newest orders."""
    account_id = account_of(account)
    with reading(database, account_id) as connection:
        found = details.look_at_subscriber(connection, account_id, subscriber_id)
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
        joined_into,
    ) in found.subscriptions:
        left = "unlimited" if issues == UNLIMITED else f"{issues or 0} issues left"
        until = f", until {last_day}" if last_day else ""
        ended = f", cancelled on {cancelled}" if cancelled else ""
        if joined_into is not None:
            ended = f", joined into subscription {joined_into}"
        click.echo(
            f"subscription {subscription_id}: {printable(publication or '')}, {type_ or ''}, "
            f"copies {copies or 0}, {left}{until}{ended}"
        )
    for order_id, ordered, total, paid_on, is_history in found.orders:
        paid = f"paid on {paid_on}" if paid_on else "no payment noted"
        if is_history:
            paid = "of before the opening"
        amount = decimal(stored_cents(str(total))) if total is not None else ""
        click.echo(f"order {order_id} of {(ordered or '')[:10]}: {amount}, {paid}")


@subscriber_group.command("duplicates")
@click.option("--of", type=ID, help="Only those who may be this subscriber.")
@click.option("--limit", type=_SHOWN, default=100, show_default=True, help="At most so many.")
@desk
def duplicates(of: int | None, limit: int, account: int | None, database: str) -> None:
    """List subscribers who may be one person, a group in each paragraph.

    They have one email address; or one last name at one street and postal code, and first names
    that fit, such as `A.` and `Ada`. Look at them, then `masthead subscriber merge`.
    """
    account_id = account_of(account)
    store = opened(database)
    audit.record_reading(store, actor(), "duplicates were looked for", account_id=account_id)
    with reading(database, account_id) as connection:
        groups = list(
            islice(subscriber_search.duplicates(connection, account_id, of=of), limit + 1)
        )
        shown = groups[:limit]
        ids = tuple(sorted({one for group in shown for one in group.ids}))
        people = subscriber_search.people(connection, account_id, ids) if ids else {}
    for group in shown:
        click.echo(f"same {group.why}:")
        for subscriber_id in group.ids:
            click.echo(f"  {_line(people[subscriber_id])}")
    if not groups:
        click.echo("no duplicates were found")
    if len(groups) > limit:
        click.echo(f"and more than these {limit} groups: --limit shows more", err=True)


@subscriber_group.command("merge")
@click.argument("subscriber_id", type=ID)
@click.option("--into", type=ID, required=True, help="The subscriber who is kept.")
@click.option(
    "--keep-both", is_flag=True, help="Join no subscriptions: both go on where both have one."
)
@dry_run
@desk
def merge(
    subscriber_id: int,
    into: int,
    account: int | None,
    database: str,
    *,
    keep_both: bool,
    dry_run: bool,
) -> None:
    """Move all of a subscriber to another one who is the same person.

    Addresses, subscriptions, orders, purchases and answers move; where both have answered a
    question, the answer of the one who is kept stays. The other one is then empty and gets a
    delete_date, so partners see it go. Where both have a subscription of the same publication and
    type, these become one, with the terms of both; --keep-both leaves them. It cannot be undone.
    """
    with operation(opened(database), account_of(account), actor(), dry_run=dry_run) as books:
        merged = merging_subscribers.join(books, into, subscriber_id, keep_both=keep_both)
        said = [
            f"subscription {pair.other_id} was joined into {pair.subscription_id}: "
            f"{pair.publication}, {pair.type}, "
            f"{_left(books.connection, books.account_id, pair.subscription_id)}"
            for pair in merged.united
        ]
    for name, count in merged.moved._asdict().items():
        click.echo(f"{name}: {count} moved")
    for line in said:
        click.echo(printable(line))
    for pair in merged.apart:
        why = ": one of them is unlimited" if pair.is_unlimited else ""
        click.echo(
            f"subscriptions {pair.subscription_id} and {pair.other_id} both go on: "
            f"{printable(pair.publication)}, {pair.type}{why}"
        )
    click.echo(f"subscriber {subscriber_id} was merged into {into}")
    end_of(dry_run=dry_run)


def _left(connection: Connection, account_id: int, subscription_id: int) -> str:
    """Return how many issues are left of a subscription, and its last day."""
    fields = details.look_at_subscription(connection, account_id, subscription_id).fields
    return f"{fields['issues'] or 0} issues left, until {fields['date_expired'] or '…'}"
