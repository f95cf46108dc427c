"""``masthead mandate``: add, list, end, rest, resume."""

from typing import TYPE_CHECKING, get_args

import click

from masthead.billing.mandates import SCHEMES, Status
from masthead.books import mandates
from masthead.books.mandates import Mandate
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.contract.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.group("mandate")
def mandate_group() -> None:
    """Mandates: the permissions of payers to collect their invoices from their accounts.

    A payer signs one with an IBAN. `masthead debit run` then hands in the payer's invoices.
    """


@mandate_group.command("add")
@click.argument("subscriber_id", type=ID)
@click.option("--iban", required=True, help="The account of the payer; its check digits count.")
@click.option("--signed-on", type=Day(), help="When the payer signed; today by default.")
@click.option("--reference", help="The reference of the mandate; by default one is made.")
@click.option(
    "--scheme",
    type=click.Choice(SCHEMES),
    default=SCHEMES[0],
    help="core is for everybody, b2b for businesses, who cannot give a debit back.",
)
@click.option("--holder", "account_holder", help="Whose account it is, if not the payer's.")
@click.option("--bic", help="The bank; by default that of the IBAN, where it is known.")
@dry_run
@account_options
def add(
    subscriber_id: int,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
    **given: str,
) -> None:
    """Add the mandate of a payer; one that the payer has already ends.

    The IBAN is stored sealed. Lists, documents and the audit log show its last four digits at most.
    """
    done = mandates.add(
        books_of(account, database), subscriber_id, mandates.Given(**given), dry_run=dry_run
    )
    say(done, dry_run=dry_run)


@mandate_group.command("list")
@click.argument("subscriber_id", type=ID, required=False)
@click.option("--status", type=click.Choice(get_args(Status)), help="Only those that are so.")
@click.option("--after", type=ID, default=0, help="Only mandates after this id.")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, help="How many at most.")
@account_options
def list_command(
    subscriber_id: int | None,
    status: Status | None,
    after: int,
    limit: int,
    account: int | None,
    database: str,
) -> None:
    """List the mandates of a payer, or of all payers by id."""
    books = books_of(account, database)
    found: Sequence[Mandate]
    if subscriber_id is not None:
        found = [
            each
            for each in mandates.of_payer(books, subscriber_id)
            if status in {None, each.status}
        ]
    else:
        found = mandates.listed(books, status=status, after=after, limit=limit)
    for each in found:
        click.echo(printable(_line(each)))


def _line(mandate: Mandate) -> str:
    said = (
        f"{mandate.mandate_id}  {mandate.reference}  {mandate.scheme.upper()}  subscriber "
        f"{mandate.subscriber_id}  signed on {mandate.signed_on}"
    )
    if mandate.iban_end:
        said += f"  …{mandate.iban_end}"
    said += f"  {mandate.status} since {mandate.status_since}"
    if mandate.reason:
        said += f" ({mandate.reason})"
    if mandate.used_on:
        said += f", last used for {mandate.used_on}"
    return said


_reason = click.option("--reason", help="Why; it names no person.")


@mandate_group.command("end")
@click.argument("reference")
@_reason
@dry_run
@account_options
def end(
    reference: str, reason: str | None, account: int | None, database: str, *, dry_run: bool
) -> None:
    """End a mandate for good: the payer revoked it. What is with the bank stays there."""
    done = mandates.end(books_of(account, database), reference, reason, dry_run=dry_run)
    say(done, dry_run=dry_run)


@mandate_group.command("rest")
@click.argument("reference")
@_reason
@dry_run
@account_options
def rest(
    reference: str, reason: str | None, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Let a mandate rest: nothing is collected by it until it is resumed."""
    done = mandates.rest(books_of(account, database), reference, reason, dry_run=dry_run)
    say(done, dry_run=dry_run)


@mandate_group.command("resume")
@click.argument("reference")
@dry_run
@account_options
def resume(reference: str, account: int | None, database: str, *, dry_run: bool) -> None:
    """Let a resting mandate be active again, such as after returns that are cleared up."""
    done = mandates.resume(books_of(account, database), reference, dry_run=dry_run)
    say(done, dry_run=dry_run)
