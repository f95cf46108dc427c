"""``masthead catalogue``: publications, issues, bundles, products, classes and reasons."""

from collections.abc import Sequence
from typing import Any

import click

from masthead.cli.books_options import ID, Day, account_of, desk, dry_run, reading
from masthead.cli.offers import bundles, changed, classes, given_of, list_of, products, written
from masthead.cli.options import Command
from masthead.contract.printable import printable
from masthead.errors import BadUsage
from masthead.store.books import cancel_reasons, catalogue
from masthead.store.books.operation import Operation

__all__ = ["catalogue_group"]


@click.group("catalogue")
def catalogue_group() -> None:
    """What there is to order: publications and their issues, bundles, products.

    A bundle is an offer: so many issues of one or more publications for a price. Orders keep what
    they were placed with; a change of the catalogue is for later ones. Add a publication, plan its
    issues, then add bundles.
    """


publications = click.Group(
    "publication",
    help="The publications and how their subscriptions run.",
)
issues = click.Group(
    "issue",
    help="The issues that are planned; `masthead issue close` closes them in their order.",
)
reasons_group = click.Group("reason", help="Why subscriptions are cancelled, in your own words.")
for group in (publications, issues, bundles, products, classes, reasons_group):
    catalogue_group.add_command(group)


def _publication_options(command: Command) -> Command:
    for option in (
        click.option(
            "--unlimited-term-months",
            type=click.IntRange(1, 1_200),
            help="Over how many months an unlimited term is earned; 12 at first.",
        ),
        click.option(
            "--credit-issues",
            type=click.IntRange(0, 1_000),
            help="How many issues an unpaid order gets; 1 at first.",
        ),
        click.option(
            "--grace-counts/--no-grace-counts",
            default=None,
            help="Whether issues of grace come out of a late renewal; not at first.",
        ),
        click.option(
            "--late-start",
            type=click.Choice(["next", "current"]),
            help="With which issue a new subscription begins: the next one, as at first, or the "
            "newest one that is closed.",
        ),
        click.option(
            "--issues-per-year", type=click.IntRange(1, 366), help="12 at first; a weekly has 52."
        ),
    ):
        command = option(command)
    return command


@publications.command("add")
@click.argument("name")
@_publication_options
@dry_run
@desk
def add_publication(
    name: str, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Add a publication NAME, and print its id."""
    values = given_of({"name": name, **given})
    written(
        account,
        database,
        lambda books: f"publication {catalogue.add(books, 'publication', values)} was added",
        dry_run=dry_run,
    )


@publications.command("set")
@click.argument("publication_id", type=ID)
@click.option("--name")
@_publication_options
@dry_run
@desk
def set_publication(
    publication_id: int, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Change a publication; another number of issues per year moves the ends of subscriptions."""
    values = given_of(given)
    written(
        account,
        database,
        lambda books: changed(
            "publication",
            publication_id,
            catalogue.set_values(books, "publication", publication_id, values),
        ),
        dry_run=dry_run,
    )


@publications.command("list")
@desk
def list_publications(account: int | None, database: str) -> None:
    """List the publications with their settings."""
    for key, name, per_year, late_start, grace, credit, months in list_of(
        "publication", account, database
    ):
        click.echo(
            f"{key}\t{printable(name or '')}\t{per_year} issues a year\tlate start: {late_start}\t"
            f"grace counts: {'yes' if grace else 'no'}\tcredit: {credit} issues\t"
            f"unlimited terms: {months} months"
        )


@publications.command("retire")
@click.argument("publication_id", type=ID)
@dry_run
@desk
def retire_publication(
    publication_id: int, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Retire all bundles that have a publication, so that nobody can order it any more.

    Subscriptions run on, and its issues are closed as before.
    """

    def do(books: Operation) -> str:
        retired = catalogue.retire_publication(books, publication_id)
        if not retired:
            return f"nothing changed: no bundle on offer has publication {publication_id}"
        return f"retired with publication {publication_id}: bundles {_listed(retired)}"

    written(account, database, do, dry_run=dry_run)


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))


def _name_of_issue(
    _context: click.Context, option: click.Parameter, name: str | None
) -> str | None:
    if name is not None and len(name) > 50:
        raise BadUsage(f"{option.human_readable_name.lower()}: longer than 50 characters")
    return name


@issues.command("add")
@click.argument("name", callback=_name_of_issue)
@click.option("--publication", "publication_id", type=ID, required=True, help="Whose issue it is.")
@click.option("--date", type=Day(), required=True, help="The issue's date: issues close in order.")
@click.option("--number", type=click.IntRange(0, 10**9), help="Its number in print.")
@click.option("--closes-on", type=Day(), help="When you mean to close it, for your own calendar.")
@click.option("--mailed-on", type=Day(), help="When it is mailed: revenue is booked to that day.")
@dry_run
@desk
def add_issue(
    name: str, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Plan an issue NAME, such as 'March 2027', and print its id.

    Plan a year ahead where you can: the ends of subscriptions follow from the dates.
    """
    values = given_of({"name": name, **given})
    written(
        account,
        database,
        lambda books: f"issue {catalogue.add_issue(books, values)} was planned for {given['date']}",
        dry_run=dry_run,
    )


@issues.command("set")
@click.argument("issue_id", type=ID)
@click.option("--name", callback=_name_of_issue)
@click.option("--date", type=Day(), help="Another date; the ends of subscriptions move with it.")
@click.option("--number", type=click.IntRange(0, 10**9))
@click.option("--closes-on", type=Day())
@click.option("--mailed-on", type=Day(), help="When it is mailed: revenue is booked to that day.")
@dry_run
@desk
def set_issue(
    issue_id: int, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Change an issue that is not closed."""
    values = given_of(given)
    written(
        account,
        database,
        lambda books: changed("issue", issue_id, catalogue.set_issue(books, issue_id, values)),
        dry_run=dry_run,
    )


@issues.command("list")
@desk
def list_issues(account: int | None, database: str) -> None:
    """List the issues of all publications by their dates, closed and planned."""
    for key, publication_id, name, number, day, closes_on, mailed_on, closed_at in list_of(
        "issue", account, database
    ):
        state = f"closed {closed_at[:10]}" if closed_at else "planned"
        if closes_on and not closed_at:
            state += f", closes on {closes_on}"
        if mailed_on:
            state += f", mailed on {mailed_on}"
        called = printable(name or "")
        called += f" (no. {number})" if number is not None else ""
        click.echo(f"{key}\tpublication {publication_id}\t{day}\t{called}\t{state}")


@issues.command("retire")
@click.argument("issue_id", type=ID)
@dry_run
@desk
def retire_issue(issue_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Take an issue that is not closed out of the plan: it will not appear.

    Nobody loses an issue by it; subscriptions last longer.
    """

    def do(books: Operation) -> str:
        catalogue.remove_issue(books, issue_id)
        return f"issue {issue_id} was taken out of the plan"

    written(account, database, do, dry_run=dry_run)


@reasons_group.command("add")
@click.argument("name")
@dry_run
@desk
def add_reason(name: str, account: int | None, database: str, *, dry_run: bool) -> None:
    """Add a reason NAME for cancelling, such as 'moved abroad', and print its id."""
    written(
        account,
        database,
        lambda books: f"reason {cancel_reasons.add_reason(books, name)} was added",
        dry_run=dry_run,
    )


@reasons_group.command("list")
@desk
def list_reasons(account: int | None, database: str) -> None:
    """List the reasons for cancelling."""
    account_id = account_of(account)
    with reading(database, account_id) as connection:
        found = cancel_reasons.reasons(connection, account_id)
    for reason_id, name in found:
        click.echo(f"{reason_id}\t{printable(name)}")
    if not found:
        click.echo("no reasons: `masthead catalogue reason add` adds one")


@reasons_group.command("remove")
@click.argument("reason_id", type=ID)
@dry_run
@desk
def remove_reason(reason_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Remove a reason; what was cancelled for it keeps its words."""

    def do(books: Operation) -> str:
        cancel_reasons.remove_reason(books, reason_id)
        return f"reason {reason_id} was removed"

    written(account, database, do, dry_run=dry_run)
