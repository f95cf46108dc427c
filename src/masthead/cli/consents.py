"""``masthead subscription consent``: give, stop, show."""

import click

from masthead.books import renewal_consents
from masthead.books.renewal_consents import Consent
from masthead.circulation.amounts import in_currency
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.contract.printable import printable


@click.group("consent")
def consent_group() -> None:
    """The consent of a reader to automatic renewal.

    A subscription with a consent is ordered again by `masthead renewals automatic` before its last
    issue closes, and gets no renewal letters.
    """


@consent_group.command("give")
@click.argument("subscription_id", type=ID)
@click.option("--bundle", "bundle_id", type=ID, required=True, help="The bundle that renews it.")
@click.option("--words", required=True, help="By which words the reader agreed.")
@click.option("--source", help="Where, such as telephone or web.")
@click.option("--on", "day", type=Day(), help="The day of the consent; today by default.")
@dry_run
@account_options
def give(
    subscription_id: int,
    bundle_id: int,
    words: str,
    source: str | None,
    day: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Note that a reader agreed to the automatic renewal of a subscription.

    Each renewal orders the bundle at its price of the day on which the renewal is announced.
    """
    done = renewal_consents.give(
        books_of(account, database),
        subscription_id,
        bundle_id,
        words,
        source=source,
        day=day,
        dry_run=dry_run,
    )
    say(done, dry_run=dry_run)


@consent_group.command("stop")
@click.argument("subscription_id", type=ID)
@click.option("--because", "reason", help="Why, such as the reader's words.")
@dry_run
@account_options
def stop(
    subscription_id: int,
    reason: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Stop the automatic renewal of a subscription, and what was announced of it.

    An order that was made already stays: `masthead order show` shows it.
    """
    books = books_of(account, database)
    say(
        renewal_consents.stop(books, subscription_id, reason=reason, dry_run=dry_run),
        dry_run=dry_run,
    )


@consent_group.command("show")
@click.argument("subscription_id", type=ID)
@account_options
def show(subscription_id: int, account: int | None, database: str) -> None:
    """Show the consents of a subscription, the newest first, and its last announced renewal."""
    found = renewal_consents.show(books_of(account, database), subscription_id)
    for each in found.consents:
        click.echo(printable(_line(each, found.bundles.get(each.bundle_id, ""))))
    if not found.consents:
        click.echo("no consent: the subscription does not renew automatically")
    if found.announced is not None:
        row = found.announced
        cents = in_currency(row.price + row.tax, found.currency)
        said = f"announced on {row.announced_on} for {row.renews_on}, {cents}: {row.status}"
        if row.order_id is not None:
            said += f", order {row.order_id}"
        click.echo(printable(f"{said} ({row.reason})" if row.reason else said))


def _line(consent: Consent, bundle: str) -> str:
    said = f"since {consent.given_on}, by {bundle or f'bundle {consent.bundle_id}'}"
    if consent.source:
        said += f", by {consent.source}"
    if consent.words:
        said += f": {consent.words}"
    if consent.stopped_on is not None:
        said += f"; stopped on {consent.stopped_on}"
        said += f" ({consent.stop_reason})" if consent.stop_reason else ""
    return said
