"""``masthead catalogue``: publications, issues, bundles and products."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from masthead.circulation.amounts import cents_of, decimal
from masthead.cli.audit import deed
from masthead.cli.desk import ID, Day, account_of, desk, dry_run, end_of, reading
from masthead.cli.options import Command
from masthead.cli.stores import opened
from masthead.errors import BadUsage
from masthead.store.books import catalogue
from masthead.store.books.catalogue import Line
from masthead.store.books.operation import Operation, operation
from masthead.store.database import Row

__all__ = ["Amount", "catalogue_group"]

_COUNT = click.IntRange(1, 10_000)
_TYPES = ("Print", "Digital", "Both")
_LINE_KEYS = ("publication", "issues", "type", "copies", "price")
_LINE_EXAMPLE = "publication=1,issues=12,type=Print,price=48.00"


class Amount(click.ParamType[int]):
    """An amount such as 12.50, as whole cents."""

    name = "amount"

    def convert(
        self, value: Any, param: click.Parameter | None, _context: click.Context | None
    ) -> int:
        """Return the cents; raise BadUsage for what is no amount."""
        if isinstance(value, int):
            return value
        try:
            return cents_of(str(value))
        except ValueError as error:
            raise BadUsage(f"{param.opts[0] if param else 'amount'}: {error}") from error


class LineOption(click.ParamType[Line]):
    """A line of a bundle, such as ``publication=1,issues=12,type=Print,price=48.00``."""

    name = "line"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> Line:
        """Return the line; raise BadUsage, with an example, for what is none."""
        given = {}
        for part in str(value).split(","):
            name, equals, text = part.strip().partition("=")
            if name not in _LINE_KEYS or not equals or name in given:
                raise BadUsage(
                    f"--line {value}: {part.strip()!r} is no part of a line such as {_LINE_EXAMPLE}"
                )
            given[name] = text.strip()
        if missing := [name for name in ("publication", "issues", "price") if name not in given]:
            raise BadUsage(f"--line {value}: lacks {missing[0]}, as in {_LINE_EXAMPLE}")
        type_ = given.get("type", "Print").capitalize()
        if type_ not in _TYPES:
            raise BadUsage(f"--line {value}: type is one of {', '.join(_TYPES)}")
        try:
            price = cents_of(given["price"])
        except ValueError as error:
            raise BadUsage(f"--line {value}: price {error}") from error
        is_unlimited = given["issues"] in {"unlimited", "-1"}
        return Line(
            _number(value, "publication", given["publication"]),
            -1 if is_unlimited else _number(value, "issues", given["issues"], least=1),
            type_,
            _number(value, "copies", given.get("copies", "1"), least=1),
            price,
        )


def _number(line: object, name: str, text: str, *, least: int = 0) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < least:
        also = " or unlimited" if name == "issues" else ""
        raise BadUsage(f"--line {line}: {name} is a whole number of {least} or more{also}")
    return int(text)


_LINE = click.option(
    "--line",
    "lines",
    type=LineOption(),
    multiple=True,
    metavar="LINE",
    help=f"What it gives of a publication: {_LINE_EXAMPLE}. issues may be unlimited; type (Print, "
    "Digital, Both) and copies may be left out. Give it once for each publication.",
)
_PRICE = click.option("--price", type=Amount(), help="Without tax: 48.00.")
_TAX = click.option("--tax", type=Amount(), help="What comes on top: 3.36.")


@click.group("catalogue")
def catalogue_group() -> None:
    """What there is to order: publications and their issues, bundles, products.

    A bundle is an offer: so many issues of one or more publications for a price. Orders keep what
    they were placed with; a change of the catalogue is for later ones. Add a publication, plan its
    issues, then add bundles.
    """


def _things(name: str, meaning: str) -> click.Group:
    group = click.Group(name, help=meaning)
    catalogue_group.add_command(group)
    return group


publications = _things(
    "publication",
    "The publications and how their subscriptions run.\n\nissues_per_year tells when a subscription "
    "ends, beyond the issues that are planned.",
)
issues = _things(
    "issue", "The issues that are planned; `masthead issue close` closes them in their order."
)
bundles = _things("bundle", "Offers of issues; orders name them by their ids.")
products = _things("product", "What else is sold, such as a book; it brings no subscription.")


def _written(
    account: int | None,
    database: str,
    do: Callable[[Operation], str],
    *,
    dry_run: bool,
) -> None:
    """Run an operation and print what it says."""
    with operation(opened(database), account_of(account), deed(), dry_run=dry_run) as books:
        said = do(books)
    click.echo(said)
    end_of(dry_run=dry_run)


def _changed(thing: str, key: int, names: Sequence[str]) -> str:
    if not names:
        return f"nothing changed: {thing} {key} is so already"
    return f"{thing} {key}: changed {', '.join(names)}"


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given; raise BadUsage if there is none."""
    found = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in values.items()
        if value is not None
    }
    if not found:
        raise BadUsage("say what to change: --help lists the options")
    return found


def _list_of(thing: str, account: int | None, database: str) -> Iterable[Row]:
    account_id = account_of(account)
    with reading(database, account_id) as connection:
        rows = catalogue.listed(connection, account_id, thing)
    if not rows:
        click.echo(f"no {thing}s: `masthead catalogue {thing} add` makes one")
    return rows


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
    values = _given({"name": name, **given})
    _written(
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
    values = _given(given)
    _written(
        account,
        database,
        lambda books: _changed(
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
    for key, name, per_year, late_start, grace, credit, months in _list_of(
        "publication", account, database
    ):
        click.echo(
            f"{key}\t{name or ''}\t{per_year} issues a year\tlate start: {late_start}\t"
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

    _written(account, database, do, dry_run=dry_run)


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
@dry_run
@desk
def add_issue(
    name: str, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Plan an issue NAME, such as 'March 2027', and print its id.

    Plan a year ahead where you can: the ends of subscriptions follow from the dates.
    """
    values = _given({"name": name, **given})
    _written(
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
@dry_run
@desk
def set_issue(
    issue_id: int, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Change an issue that is not closed."""
    values = _given(given)
    _written(
        account,
        database,
        lambda books: _changed("issue", issue_id, catalogue.set_issue(books, issue_id, values)),
        dry_run=dry_run,
    )


@issues.command("list")
@desk
def list_issues(account: int | None, database: str) -> None:
    """List the issues of all publications by their dates, closed and planned."""
    for key, publication_id, name, number, day, closes_on, closed_at in _list_of(
        "issue", account, database
    ):
        state = f"closed {closed_at[:10]}" if closed_at else "planned"
        if closes_on and not closed_at:
            state += f", closes on {closes_on}"
        numbered = f" (no. {number})" if number is not None else ""
        click.echo(f"{key}\tpublication {publication_id}\t{day}\t{name or ''}{numbered}\t{state}")


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

    _written(account, database, do, dry_run=dry_run)


@bundles.command("add")
@click.argument("name")
@_LINE
@_PRICE
@_TAX
@dry_run
@desk
def add_bundle(
    name: str,
    lines: tuple[Line, ...],
    price: int | None,
    tax: int | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add a bundle NAME, and print its id.

    Its price is the sum of its lines' prices; --price only checks that it is. 'Tide, one year':
    --line publication=1,issues=12,type=Print,price=48.00 --tax 3.36
    """
    if not lines:
        raise BadUsage(f"a bundle has at least one line: --line {_LINE_EXAMPLE}")
    _written(
        account,
        database,
        lambda books: (
            f"bundle {catalogue.add_bundle(books, name, lines, price, tax or 0)} was added: "
            f"{decimal(sum(line.price for line in lines))} and tax {decimal(tax or 0)}"
        ),
        dry_run=dry_run,
    )


@bundles.command("set")
@click.argument("bundle_id", type=ID)
@click.option("--name")
@_LINE
@_PRICE
@_TAX
@click.option("--active", is_flag=True, default=None, help="Offer it again.")
@dry_run
@desk
def set_bundle(
    bundle_id: int,
    lines: tuple[Line, ...],
    account: int | None,
    database: str,
    *,
    dry_run: bool,
    **given: Any,
) -> None:
    """Change a bundle for later orders; what was ordered stays as it was.

    --line takes the place of all its lines. --price alone is for a bundle of one line.
    """
    values = _given({**given, "lines": lines or None})
    values.pop("lines", None)
    _written(
        account,
        database,
        lambda books: _changed(
            "bundle", bundle_id, catalogue.set_bundle(books, bundle_id, values, lines)
        ),
        dry_run=dry_run,
    )


@bundles.command("list")
@desk
def list_bundles(account: int | None, database: str) -> None:
    """List the bundles with their lines."""
    account_id = account_of(account)
    rows = list(_list_of("bundle", account, database))
    with reading(database, account_id) as connection:
        lines = {row[0]: catalogue.lines_of(connection, account_id, row[0]) for row in rows}
    for key, *row in rows:
        click.echo(_priced(key, *row))
        for line in lines[key]:
            issues_ = "unlimited" if line.issues < 0 else f"{line.issues} issues"
            click.echo(
                f"\t{issues_} of publication {line.publication_id}, {line.type}, {line.copies} "
                f"{'copy' if line.copies == 1 else 'copies'}, {decimal(line.price)}"
            )


def _priced(key: int, name: str | None, price: int, tax: int, active: int) -> str:
    state = "on offer" if active else "retired"
    return f"{key}\t{name or ''}\t{decimal(price)} and tax {decimal(tax)}\t{state}"


def _retire(thing: str, group: click.Group) -> None:
    @group.command("retire", help=f"Take a {thing} off the offer: no order can name it any more.")
    @click.argument("key", metavar=f"{thing.upper()}_ID", type=ID)
    @dry_run
    @desk
    def retire(key: int, account: int | None, database: str, *, dry_run: bool) -> None:
        def do(books: Operation) -> str:
            if catalogue.set_active(books, thing, key, is_active=False):
                return f"{thing} {key} was retired"
            return f"nothing changed: {thing} {key} is retired already"

        _written(account, database, do, dry_run=dry_run)


_retire("bundle", bundles)
_retire("product", products)


@products.command("add")
@click.argument("name")
@click.option("--price", type=Amount(), required=True, help="Without tax: 48.00.")
@_TAX
@dry_run
@desk
def add_product(
    name: str, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Add a product NAME, and print its id."""
    values = _given({"name": name, **given})
    _written(
        account,
        database,
        lambda books: f"product {catalogue.add(books, 'product', values)} was added",
        dry_run=dry_run,
    )


@products.command("set")
@click.argument("product_id", type=ID)
@click.option("--name")
@_PRICE
@_TAX
@click.option("--active", is_flag=True, default=None, help="Offer it again.")
@dry_run
@desk
def set_product(
    product_id: int, account: int | None, database: str, *, dry_run: bool, **given: Any
) -> None:
    """Change a product for later orders."""
    values = _given(given)
    _written(
        account,
        database,
        lambda books: _changed(
            "product", product_id, catalogue.set_values(books, "product", product_id, values)
        ),
        dry_run=dry_run,
    )


@products.command("list")
@desk
def list_products(account: int | None, database: str) -> None:
    """List the products with their prices."""
    for key, *row in _list_of("product", account, database):
        click.echo(_priced(key, *row))
