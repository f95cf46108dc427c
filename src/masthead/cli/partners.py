"""``masthead partners``: add, list, set, rotate, remove, requests."""

from datetime import date, timedelta

import click

from masthead.cli.audit import actor
from masthead.cli.books_options import ID, account_of
from masthead.cli.durations import Duration
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.contract.moments import format_second
from masthead.contract.printable import printable
from masthead.errors import BadUsage
from masthead.store import Store, partners, request_counts
from masthead.store.accounts import zone_and_currency

_ALL = "all"
_OWN = "(the account's own)"
"""What stands for the name of a partner where the credentials are the account's."""

_operations = click.option(
    "--operations",
    metavar="NAMES",
    help="What the partner may ask for: names with commas between them, as `requests` shows them, "
    "such as list_subscriptions,changes; `all` for all.",
)
_rate = click.option(
    "--rate",
    type=click.IntRange(0, partners.RATE_MAX),
    help="Requests a second that the partner may make, beside --rate-limit of `masthead serve`; 0 "
    "for no limit of its own.",
)


@click.group("partners")
def partners_group() -> None:
    """Partners with credentials of their own: who may ask for what, and who failed."""


@partners_group.command("add")
@click.argument("name")
@_operations
@_rate
@setting("account", kind=ID)
@setting("database")
def add(
    name: str, operations: str | None, rate: int | None, account: int | None, database: str
) -> None:
    """Give a partner credentials of its own, and print them once.

    NAME is what the log, the metrics and the counts call the partner. The credentials are random,
    and the database has only hashes of them, so write them down. Without --operations, the partner
    may ask for all operations. A partner sees its own account only, also where that is a master
    account.

    The credentials of the account itself go on working. When every partner has its own, rotate
    those: `masthead accounts rotate-credentials`.
    """
    pair = partners.add_partner(
        opened(database),
        account_of(account),
        name,
        operations=_names(operations),
        rate=rate or None,
        by=actor(),
    )
    click.echo(f"partner {name!r} of account {account_of(account)} was added")
    _print_pair(pair)


@partners_group.command("list")
@setting("account", kind=ID)
@setting("database")
def list_(account: int | None, database: str) -> None:
    """List the partners of an account: name, rights, last use, and earlier credentials.

    The times are in UTC. A server writes the last use once a minute.
    """
    found = partners.partners_of(opened(database), account_of(account))
    for partner, pairs in found:
        used = max((each.used_at for each in pairs if each.used_at), default=None)
        words = [
            printable(partner.name),
            partner.rights,
            f"last used {format_second(used)}" if used else "never used",
            *(f"earlier credentials end {format_second(p.ends_at)}" for p in pairs if p.ends_at),
            *(["no credentials: `masthead partners rotate` gives some"] if not pairs else []),
        ]
        click.echo("\t".join(words))
    if not found:
        click.echo("no partners: `masthead partners add` adds one")


@partners_group.command("set")
@click.argument("name")
@_operations
@_rate
@setting("account", kind=ID)
@setting("database")
def set_(
    name: str, operations: str | None, rate: int | None, account: int | None, database: str
) -> None:
    """Change what the partner NAME may ask for, and how often. It counts from the next request."""
    if operations is None and rate is None:
        raise BadUsage("say what to change: --operations or --rate")
    store, account_id = opened(database), account_of(account)
    with store.writer() as connection:
        before = partners.get_partner(connection, account_id, name)
    own = before.operations.split() if before.operations is not None else None
    changed = partners.set_partner(
        store,
        account_id,
        name,
        operations=own if operations is None else _names(operations),
        rate=before.rate if rate is None else rate or None,
        by=actor(),
    )
    click.echo(f"partner {changed.name!r} may do this: {changed.rights}")


@partners_group.command("rotate")
@click.argument("name")
@click.option(
    "--overlap",
    type=Duration(),
    default="0h",
    help="For how long the old credentials work beside the new ones: 24h, 30m, 7d.",
)
@setting("account", kind=ID)
@setting("database")
def rotate(name: str, overlap: int, account: int | None, database: str) -> None:
    """Give the partner NAME new credentials, printed once; the old ones end at once, or later."""
    pair = partners.rotate_partner(
        opened(database), account_of(account), name, overlap_us=overlap * 1_000_000, by=actor()
    )
    _print_pair(pair)


@partners_group.command("remove")
@click.argument("name")
@setting("account", kind=ID)
@setting("database")
def remove(name: str, account: int | None, database: str) -> None:
    """Remove the partner NAME with its credentials, at once. Its counts stay for 30 days."""
    removed = partners.remove_partner(opened(database), account_of(account), name, by=actor())
    click.echo(f"partner {removed.name!r} was removed, and its credentials open nothing")


@partners_group.command("requests")
@click.option(
    "--day",
    default="yesterday",
    show_default=True,
    metavar="DAY",
    help="The day in UTC: today, yesterday, or a date such as 2026-11-28.",
)
@setting("account", kind=ID)
@setting("database")
def requests_(day: str, account: int | None, database: str) -> None:
    """Print who asked for what on a day, and who failed most.

    The partner with the most errors comes first. An error is a response with a status of 400 or
    more; those of 500 or more are the server's. Servers write the counts once a minute, and keep
    them for 30 days. Requests whose credentials open no account are in no count.
    """
    store, account_id = opened(database), account_of(account)
    with store.writer() as connection:
        zone_and_currency(connection, account_id)
    counted = _date(store, day)
    found = request_counts.counts_of_day(store, account_id, counted)
    if not found:
        click.echo(f"no partner asked for anything on {counted} (UTC)")
        return
    click.echo(_worst(found, counted))
    click.echo("partner\toperation\trequests\terrors\tof the server\tshare")
    for each in found:
        name = printable(each.partner) or _OWN
        share = _share(each.errors, each.requests)
        numbers = (each.requests, each.errors, each.server_errors)
        click.echo("\t".join((name, each.operation, *map(str, numbers), share)))


def _worst(found: list[request_counts.PartnerCount], day: str) -> str:
    """Return the sentence about the partner who failed most, which is the first one."""
    name = found[0].partner
    own = [each for each in found if each.partner == name]
    errors, requests = sum(each.errors for each in own), sum(each.requests for each in own)
    if not errors:
        return f"no request failed on {day} (UTC)"
    who = f"partner {name!r}" if name else "the account's own credentials"
    return f"{who} failed most on {day} (UTC): {errors} of {requests}, {_share(errors, requests)}"


def _share(errors: int, requests: int) -> str:
    return f"{100 * errors / requests:.1f} %"


def _date(store: Store, day: str) -> str:
    """Return a day as ``YYYY-MM-DD``; raise BadUsage if it is none."""
    today = date.fromisoformat(format_second(store.clock())[:10])
    named = {"today": today, "yesterday": today - timedelta(days=1)}
    try:
        return str(named.get(day) or date.fromisoformat(day))
    except ValueError:
        raise BadUsage(
            f"--day: {day!r} is no day: it is today, yesterday or a date such as {today}"
        ) from None


def _names(operations: str | None) -> list[str] | None:
    """Return the names in an option; None for all."""
    if operations is None or operations == _ALL:
        return None
    return [each.strip() for each in operations.split(",") if each.strip()]


def _print_pair(pair: tuple[str, str]) -> None:
    for name, value in zip(("api_key", "api_login"), pair, strict=True):
        click.echo(f"{name}: {value}")
    click.echo("These credentials are not shown again.")
