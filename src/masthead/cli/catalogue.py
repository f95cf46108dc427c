"""``masthead catalogue``: publications, issues, bundles, products, classes and reasons."""

from typing import Any

import click

from masthead.books import catalogue
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run
from masthead.cli.bundles import bundles, classes, given_of, products, show
from masthead.cli.options import Command
from masthead.contract.printable import printable
from masthead.errors import BadUsage


@click.group("catalogue")
def catalogue_group() -> None:
    """What can be ordered: publications and their issues, bundles, products.

    A bundle is issues of one or more publications, sold together for a price. A change of the
    catalogue applies to later orders only. To begin, add a publication, plan its issues, then add
    bundles.
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
            help="Months over which an unlimited term is earned; a new publication has 12.",
        ),
        click.option(
            "--credit-issues",
            type=click.IntRange(0, 1_000),
            help="Issues that an unpaid order gets; a new publication has 1.",
        ),
        click.option(
            "--grace-counts/--no-grace-counts",
            default=None,
            help="Whether grace issues come out of a late renewal; by default they do not.",
        ),
        click.option(
            "--late-start",
            type=click.Choice(["next", "current"]),
            help="Issue with which a new subscription begins: the next one, which is the "
            "default, or the newest closed one.",
        ),
        click.option(
            "--issues-per-year",
            type=click.IntRange(1, 366),
            help="Issues per year, such as 52 for a weekly; a new publication has 12.",
        ),
    ):
        command = option(command)
    return command


@publications.command("add")
@click.argument("name")
@_publication_options
@dry_run
@account_options
def add_publication(
    name: str, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Add a publication NAME, and print its id."""
    values = given_of({"name": name, **given})
    books = books_of(account, database)
    show(catalogue.add(books, "publication", values, dry_run=dry_run), dry_run=dry_run)


@publications.command("set")
@click.argument("publication_id", type=ID)
@click.option("--name")
@_publication_options
@dry_run
@account_options
def set_publication(
    publication_id: int, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Change a publication. Changing the issues per year moves subscription end dates."""
    books, values = books_of(account, database), given_of(given)
    done = catalogue.set_values(books, "publication", publication_id, values, dry_run=dry_run)
    show(done, dry_run=dry_run)


@publications.command("list")
@account_options
def list_publications(account: int | None, database: str) -> None:
    """List the publications with their settings."""
    for each in catalogue.publications(books_of(account, database)):
        click.echo(
            f"{each.publication_id}\t{printable(each.name or '')}\t"
            f"{each.issues_per_year} issues a year\tlate start: {each.late_start}\t"
            f"grace counts: {'yes' if each.grace_counts else 'no'}\t"
            f"credit: {each.credit_issues} issues\t"
            f"unlimited terms: {each.unlimited_term_months} months"
        )


@publications.command("retire")
@click.argument("publication_id", type=ID)
@dry_run
@account_options
def retire_publication(
    publication_id: int, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Retire all bundles that have a publication, so that it can no longer be ordered.

    Its subscriptions continue, and its issues are closed as before.
    """
    books = books_of(account, database)
    show(catalogue.retire_publication(books, publication_id, dry_run=dry_run), dry_run=dry_run)


def _name_of_issue(
    _context: click.Context, option: click.Parameter, name: str | None
) -> str | None:
    if name is not None and len(name) > 50:
        raise BadUsage(f"{option.human_readable_name.lower()}: longer than 50 characters")
    return name


@issues.command("add")
@click.argument("name", callback=_name_of_issue)
@click.option(
    "--publication", "publication_id", type=ID, required=True, help="Id of the publication."
)
@click.option("--date", type=Day(), required=True, help="The issue's date: issues close in order.")
@click.option("--number", type=click.IntRange(0, 10**9), help="The number that is printed on it.")
@click.option(
    "--closes-on", type=Day(), help="Day on which you plan to close it, for your own calendar."
)
@click.option(
    "--mailed-on", type=Day(), help="Day on which it is mailed; revenue is booked to that day."
)
@dry_run
@account_options
def add_issue(
    name: str, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Plan an issue NAME, such as 'March 2027', and print its id.

    Plan a year ahead if you can: the end dates of subscriptions depend on the dates of issues.
    """
    values = given_of({"name": name, **given})
    done = catalogue.add_issue(books_of(account, database), values, dry_run=dry_run)
    show(done, dry_run=dry_run)


@issues.command("set")
@click.argument("issue_id", type=ID)
@click.option("--name", callback=_name_of_issue)
@click.option("--date", type=Day(), help="New date; it moves the end dates of subscriptions.")
@click.option("--number", type=click.IntRange(0, 10**9))
@click.option("--closes-on", type=Day())
@click.option(
    "--mailed-on", type=Day(), help="Day on which it is mailed; revenue is booked to that day."
)
@dry_run
@account_options
def set_issue(
    issue_id: int, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Change an issue that is not closed."""
    values = given_of(given)
    done = catalogue.set_issue(books_of(account, database), issue_id, values, dry_run=dry_run)
    show(done, dry_run=dry_run)


@issues.command("list")
@account_options
def list_issues(account: int | None, database: str) -> None:
    """List the issues of all publications by their dates, closed and planned."""
    for each in catalogue.planned_issues(books_of(account, database)):
        state = f"closed {each.closed_at[:10]}" if each.closed_at else "planned"
        if each.closes_on and not each.closed_at:
            state += f", closes on {each.closes_on}"
        if each.mailed_on:
            state += f", mailed on {each.mailed_on}"
        called = printable(each.name or "")
        called += f" (no. {each.number})" if each.number is not None else ""
        whose = f"publication {each.publication_id}"
        click.echo(f"{each.issue_id}\t{whose}\t{each.date}\t{called}\t{state}")


@issues.command("retire")
@click.argument("issue_id", type=ID)
@dry_run
@account_options
def retire_issue(issue_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Take an issue that is not closed out of the plan: it will not appear.

    Subscriptions lose no issue; they last longer.
    """
    done = catalogue.remove_issue(books_of(account, database), issue_id, dry_run=dry_run)
    show(done, dry_run=dry_run)


@reasons_group.command("add")
@click.argument("name")
@dry_run
@account_options
def add_reason(name: str, account: int | None, database: str, *, dry_run: bool) -> None:
    """Add a reason NAME for cancelling, such as 'moved abroad', and print its id."""
    done = catalogue.add_reason(books_of(account, database), name, dry_run=dry_run)
    show(done, dry_run=dry_run)


@reasons_group.command("list")
@account_options
def list_reasons(account: int | None, database: str) -> None:
    """List the reasons for cancelling."""
    found = catalogue.reasons(books_of(account, database))
    for reason_id, name in found:
        click.echo(f"{reason_id}\t{printable(name)}")
    if not found:
        click.echo("no reasons: `masthead catalogue reason add` adds one")


@reasons_group.command("remove")
@click.argument("reason_id", type=ID)
@dry_run
@account_options
def remove_reason(reason_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Remove a reason; earlier cancellations keep its words."""
    done = catalogue.remove_reason(books_of(account, database), reason_id, dry_run=dry_run)
    show(done, dry_run=dry_run)
