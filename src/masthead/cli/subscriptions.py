"""``masthead subscription``: show, set, suspend, resume, cancel, uncancel, extend, address.

``cli.consents`` has ``consent``.
"""

from typing import Any

import click

from masthead.books import Outcome, cancelling, subscriptions
from masthead.books.subscriptions import How, TermShown, Values
from masthead.circulation.addresses import FIELDS
from masthead.circulation.amounts import in_currency
from masthead.circulation.copy_classes import COMPLIMENTARY, PAID
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.cli.consents import consent_group
from masthead.contract.printable import printable
from masthead.contract.subscription_types import TYPES
from masthead.errors import BadUsage


@click.group("subscription")
def subscription_group() -> None:
    """One subscription: show, change, suspend, extend or end it.

    `masthead subscriber find` finds a reader, and `masthead subscriber show` lists the reader's
    subscriptions with their ids. Each command that changes something is one transaction; with
    --dry-run it prints what it would do.
    """


subscription_group.add_command(consent_group)


@subscription_group.command("show")
@click.argument("subscription_id", type=ID)
@account_options
def show(subscription_id: int, account: int | None, database: str) -> None:
    """Show a subscription: reader, addresses, terms, suspensions, issues, letters.

    A term is a number of issues for a price. The terms of a subscription are used up one after the
    other. Unearned is what was paid for issues that are not delivered yet.
    """
    books = books_of(account, database)
    found = subscriptions.show(books, subscription_id)
    currency = books.currency
    for name, value in found.fields.items():
        click.echo(f"{name}: {'' if value is None else printable(value)}")
    for what, address in (("mailing", found.mailing), ("billing", found.billing)):
        if address:
            click.echo(f"{what} address {address.address_id}: {printable(address.line)}")
    for span, address in found.temporary:
        where = f"address {address.address_id} from {span.first} to {span.last}"
        click.echo(f"{where}: {printable(address.line)}")
    for span in found.suspensions:
        click.echo(f"suspended from {span.first} {f'to {span.last}' if span.last else 'on'}")
    for term in found.terms:
        click.echo(_term_line(term, currency))
    for name, day, is_grace in found.received:
        click.echo(f"received {day} {printable(name)}{' (grace)' if is_grace else ''}")
    for effort, day in found.sent:
        click.echo(f"letter of effort {effort} on {day}")


def _term_line(term: TermShown, currency: str) -> str:
    issues = "unlimited" if term.issues < 0 else f"{term.issues_left} of {term.issues} issues left"
    paid = f"paid on {term.paid_on}" if term.paid_on else "not paid" if term.price else "free"
    kind = term.kind if term.of_class == PAID else f"{term.kind}, {printable(term.of_class)}"
    price = in_currency(term.price, currency)
    line = f"term {term.term_id} ({kind}): {issues}{_copies(term)}, {price} {paid}"
    if term.unearned:
        line += f", unearned {in_currency(term.unearned, currency)}"
    if term.order_id is not None:
        line += f", order {term.order_id}"
    return f"{line}, ended at {term.ended_at}" if term.ended_at else line


def _copies(term: TermShown) -> str:
    """Say how many copies of each issue come, unless it is one."""
    copies = "1 copy" if term.copies == 1 else f"{term.copies} copies"
    if term.free_copies:
        return f", {copies} and {term.free_copies} of class {printable(term.free_class or '')}"
    return f", {copies}" if term.copies > 1 else ""


@subscription_group.command("set")
@click.argument("subscription_id", type=ID)
@click.option(
    "--type",
    "type_",
    type=click.Choice(TYPES, case_sensitive=False),
    metavar="[Print|Digital|Both]",
)
@click.option("--copies", type=int, help="Copies of each issue, from the next issue on.")
@click.option("--free", "is_free", is_flag=True, help="The added copies are free.")
@click.option("--class", "free_class", help="Their class, such as staff.  [default: complimentary]")
@click.option(
    "--convert",
    "is_converted",
    is_flag=True,
    help="Convert the issues left into fewer or more issues.",
)
@click.option(
    "--campaign",
    type=click.Choice(["on", "off"]),
    help="Whether renewal letters and grace issues are sent.",
)
@dry_run
@account_options
def set_(
    subscription_id: int,
    type_: str | None,
    copies: int | None,
    campaign: str | None,
    free_class: str | None,
    account: int | None,
    database: str,
    *,
    is_free: bool,
    is_converted: bool,
    dry_run: bool,
) -> None:
    """Change the type, the copies, or whether the reader is asked to renew.

    The change takes effect with the next issue that is closed. --copies changes the present term.
    While this term has issues left, --free adds free copies to the paid ones, and --convert gives
    fewer or more issues instead: 12 issues of 1 copy become 4 of 3. Values that follow from orders,
    such as issues left, money and dates, cannot be set.
    """
    if type_ is None and copies is None and campaign is None:
        raise BadUsage("say what to change: --type, --copies or --campaign")
    if (copies is None and (is_free or is_converted)) or (is_free and is_converted):
        raise BadUsage("give --copies together with --free or --convert")
    if free_class and not is_free:
        raise BadUsage("--class needs --free: it is the class of the added copies")
    how: How | None = "free" if is_free else "convert" if is_converted else None
    values = Values(type_, None if campaign is None else campaign == "on", copies, how, free_class)
    books = books_of(account, database)
    say(subscriptions.set_values(books, subscription_id, values, dry_run=dry_run), dry_run=dry_run)


@subscription_group.command("suspend")
@click.argument("subscription_id", type=ID)
@click.option("--from", "first", type=Day(), help="The first day; today if not given.")
@click.option(
    "--to",
    "last",
    type=Day(),
    help="The last day; without it, the suspension lasts until it is resumed.",
)
@dry_run
@account_options
def suspend(
    subscription_id: int,
    first: str | None,
    last: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Suspend a subscription: issues dated in that time are skipped, and delivered later.

    The first and the last day are included. A suspension begins after the date of the newest closed
    issue.
    """
    books = books_of(account, database)
    done = subscriptions.suspend(books, subscription_id, first, last, dry_run=dry_run)
    say(done, dry_run=dry_run)


@subscription_group.command("resume")
@click.argument("subscription_id", type=ID)
@click.option(
    "--from", "resumed", type=Day(), help="The first day of service again; today if not given."
)
@dry_run
@account_options
def resume(
    subscription_id: int,
    resumed: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """End the suspension that lasts today, or else the next one.

    A suspension that has not begun is removed. An issue that was closed meanwhile, and is no longer
    in the suspension, comes with the next gap list.
    """
    books = books_of(account, database)
    say(subscriptions.resume(books, subscription_id, resumed, dry_run=dry_run), dry_run=dry_run)


@subscription_group.command("cancel")
@click.argument("subscription_id", type=ID)
@click.option("--after-issue", type=ID, metavar="ISSUE", help="Id of the last issue to deliver.")
@click.option("--at-end", is_flag=True, help="End it when its issues are used up.")
@click.option("--reason", help="One of those of `masthead catalogue reason list`.")
@click.option("--refund", is_flag=True, help="Refund what is unearned, with its share of the tax.")
@dry_run
@account_options
def cancel(
    subscription_id: int,
    after_issue: int | None,
    reason: str | None,
    account: int | None,
    database: str,
    *,
    at_end: bool,
    refund: bool,
    dry_run: bool,
) -> None:
    """End a subscription: today, after an issue, or when its issues are used up.

    From now on the reader is not asked to renew, and no issue comes after the end. What was paid
    for issues left at the end is earned, or refunded with --refund: what was billed becomes the
    payer's credit, and you send the rest yourself.

    `masthead subscription uncancel` undoes the cancelling until the next issue after the end is
    closed. An order undoes a cancelling whose end is still to come.
    """
    if at_end and after_issue is not None:
        raise BadUsage("it ends after an issue, or when its issues are used up: not both")
    done = cancelling.cancel(
        books_of(account, database),
        subscription_id,
        refund=refund,
        after_issue=after_issue,
        at_end=at_end,
        reason=reason,
        dry_run=dry_run,
    )
    say(done, dry_run=dry_run)


@subscription_group.command("uncancel")
@click.argument("subscription_id", type=ID)
@dry_run
@account_options
def uncancel(subscription_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Undo the cancelling of a subscription, until the next issue after its end is closed.

    Terms, issues left, money and the campaign are as before; bookings are taken back today. If you
    have sent a refund, ask for it back yourself.
    """
    books = books_of(account, database)
    say(cancelling.uncancel(books, subscription_id, dry_run=dry_run), dry_run=dry_run)


@subscription_group.command("extend")
@click.argument("subscription_id", type=ID)
@click.option("--issues", type=int, default=1, show_default=True, help="How many free issues.")
@click.option(
    "--class",
    "of_class",
    default=COMPLIMENTARY,
    show_default=True,
    help="Their class, such as make-good for a copy that was lost.",
)
@dry_run
@account_options
def extend(
    subscription_id: int,
    issues: int,
    of_class: str,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add free issues after all others, such as for a copy that was lost in the mail."""
    books = books_of(account, database)
    done = subscriptions.extend(books, subscription_id, issues, of_class, dry_run=dry_run)
    say(done, dry_run=dry_run)


def address_fields(command: Any) -> Any:
    """Add an option for each field of an address."""
    for name in reversed(FIELDS):
        command = click.option(f"--{name.replace('_', '-')}", name)(command)
    return command


@subscription_group.command("address")
@click.argument("subscription_id", type=ID)
@address_fields
@click.option("--address-id", type=ID, help="Id of an address that the reader has.")
@click.option("--from", "first", type=Day(), help="The first day of a temporary address.")
@click.option("--to", "last", type=Day(), help="Its last day.")
@click.option("--back", is_flag=True, help="The usual address again, from today or --from on.")
@dry_run
@account_options
def address(
    subscription_id: int,
    address_id: int | None,
    first: str | None,
    last: str | None,
    account: int | None,
    database: str,
    *,
    back: bool,
    dry_run: bool,
    **fields: str | None,
) -> None:
    """Send a subscription to another address: for good, or from one day to another.

    For good: --address '12 Elm Street' --city Salem --state OR --zip-code 97301. For a while: the
    same with --from 2026-12-01 --to 2027-03-31; issues dated in that time go there. --back ends
    that early. Without a name, the address has the reader's. Other subscriptions of the reader keep
    their address.
    """
    given = {name: value for name, value in fields.items() if value}
    _check_address(given, address_id, first, last, back=back)
    books = books_of(account, database)
    where = given if address_id is None else address_id
    done: Outcome
    if back:
        done = subscriptions.go_back(books, subscription_id, first, dry_run=dry_run)
    elif first and last:
        done = subscriptions.move_for_a_while(
            books, subscription_id, where, first, last, dry_run=dry_run
        )
    else:
        done = subscriptions.move(books, subscription_id, where, dry_run=dry_run)
    say(done, dry_run=dry_run)


def _check_address(
    given: dict[str, str],
    address_id: int | None,
    first: str | None,
    last: str | None,
    *,
    back: bool,
) -> None:
    """Raise BadUsage unless the options are one address, for good or for a while, or --back."""
    if back:
        if given or address_id is not None or last:
            raise BadUsage("give --back alone, or with --from")
        return
    if bool(given) == (address_id is not None):
        raise BadUsage(
            "give the new address (--address, --city, …), or the id of one with --address-id"
        )
    if bool(first) != bool(last):
        raise BadUsage(
            "a temporary address needs --from and --to; for a permanent move on a "
            "later day, give a last day far ahead, and set the address for good when "
            "the day has come"
        )
