"""``masthead catalogue bundle`` and ``product``, and what the commands of the catalogue share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from masthead.circulation.amounts import cents_of, decimal
from masthead.circulation.copy_classes import FREE
from masthead.cli.audit import actor
from masthead.cli.books_options import ID, account_of, desk, dry_run, end_of, reading
from masthead.cli.options import Amount
from masthead.cli.stores import opened
from masthead.contract.printable import printable
from masthead.contract.subscription_types import TYPES, UNLIMITED
from masthead.errors import BadUsage
from masthead.store.books import catalogue
from masthead.store.books.operation import Operation, operation
from masthead.store.books.own_classes import add_own_class, own_classes
from masthead.store.database import Row, Value

__all__ = [
    "bundles",
    "changed",
    "classes",
    "given_of",
    "list_of",
    "products",
    "written",
]

_UNLIMITED = "unlimited"
_COUNT_MAX, _MONTHS_MAX = 1_000_000, 1_200
_LINE = "a line is publication:issues:type:price, such as 1:12:Print:36.00"


class BundleLine(click.ParamType[catalogue.Line]):
    """What a bundle gives of one publication, such as ``1:12:Print:36.00``."""

    name = "line"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> catalogue.Line:
        """Return the line; raise BadUsage with what is wrong in it."""
        if isinstance(value, catalogue.Line):
            return value
        parts = str(value).split(":")
        if len(parts) not in (4, 5, 6):
            raise BadUsage(f"{value!r}: {_LINE}; copies and months may follow")
        publication, issues, kind, price, *more = parts
        if kind.capitalize() not in TYPES:
            raise BadUsage(f"{value!r}: {kind!r} is no type: Print, Digital or Both")
        try:
            return catalogue.Line(
                _count(publication, 0, 2**63 - 1),
                UNLIMITED if issues == _UNLIMITED else _count(issues, 1, _COUNT_MAX),
                kind.capitalize(),
                _count(more[0], 1, _COUNT_MAX) if more else 1,
                cents_of(price),
                _months(issues, more[1]) if len(more) > 1 else None,
            )
        except ValueError as error:
            raise BadUsage(f"{value!r}: {error}; {_LINE}") from None


def _count(text: str, least: int, greatest: int) -> int:
    if not (text.isascii() and text.isdigit()) or not least <= int(text[:20]) <= greatest:
        raise ValueError(f"{text!r} is no number of {least} to {greatest}")
    return int(text)


def _months(issues: str, text: str) -> int:
    if issues != _UNLIMITED:
        raise ValueError("months are for unlimited issues, which are earned over them")
    return _count(text, 1, _MONTHS_MAX)


def given_of(options: Mapping[str, Any]) -> dict[str, Value]:
    """Return the options that were given, as values of columns. Raises BadUsage if none was."""
    found = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in options.items()
        if value is not None
    }
    if not found:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise BadUsage(f"say what to change: {names}")
    return found


def written(
    account: int | None, database: str, do: Callable[[Operation], str], *, dry_run: bool
) -> None:
    """Do something to the catalogue in one operation, and print the sentence it returns."""
    with operation(opened(database), account_of(account), actor(), dry_run=dry_run) as books:
        said = do(books)
    click.echo(said)
    end_of(dry_run=dry_run)


def changed(thing: str, key: int, names: Sequence[str]) -> str:
    """Return the sentence about a change: the columns that differ from before."""
    if not names:
        return "nothing changed: it is so already"
    return f"{thing} {key}: changed {', '.join(names)}"


def list_of(thing: str, account: int | None, database: str) -> list[Row]:
    """Return the key and the columns of all things of a kind."""
    account_id = account_of(account)
    with reading(database, account_id) as connection:
        return catalogue.listed(connection, account_id, thing)


bundles = click.Group(
    "bundle", help="The offers: so many issues of one or more publications for a price."
)
products = click.Group("product", help="What is sold beside subscriptions: a mug, a binder.")

classes = click.Group(
    "class",
    help="The classes of copies, such as staff and exchange, and your own ones.",
)

_LINES = click.option(
    "--line",
    "lines",
    type=BundleLine(),
    multiple=True,
    help="publication:issues:type:price, such as 1:12:Print:36.00; issues may be `unlimited`, "
    "and copies may follow (1:12:Print:36.00:2), and of unlimited issues the months over which "
    "they are earned (1:unlimited:Digital:99.00:1:24). Once for each publication and type.",
)


@bundles.command("add")
@click.argument("name")
@_LINES
@click.option("--price", type=Amount(), help="The sum of its lines' prices; checked if given.")
@click.option("--tax", type=Amount(), default=0, help="The tax on the whole bundle.  [default: 0]")
@dry_run
@desk
def add_bundle(
    name: str,
    lines: tuple[catalogue.Line, ...],
    price: int | None,
    tax: int,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add a bundle NAME, and print its id.

    Its price is that of its lines together. Readers of two publications at once are offered a
    bundle of two lines.
    """
    if not lines:
        raise BadUsage("say what it gives: --line publication:issues:type:price")
    written(
        account,
        database,
        lambda books: (
            f"bundle {catalogue.add_bundle(books, name, lines, price, tax)} was added: "
            f"{decimal(sum(line.price for line in lines))} and tax {decimal(tax)}"
        ),
        dry_run=dry_run,
    )


@bundles.command("set")
@click.argument("bundle_id", type=ID)
@click.option("--name")
@_LINES
@click.option("--price", type=Amount(), help="The new price of a bundle that has one line.")
@click.option("--tax", type=Amount())
@click.option("--active", is_flag=True, help="Offer it again.")
@dry_run
@desk
def set_bundle(
    bundle_id: int,
    name: str | None,
    lines: tuple[catalogue.Line, ...],
    price: int | None,
    tax: int | None,
    account: int | None,
    database: str,
    *,
    active: bool,
    dry_run: bool,
) -> None:
    """Change a bundle for later orders; --line takes the place of all its lines."""
    given = {"name": name, "price": price, "tax": tax, "active": True if active else None}
    values = given_of({**given, "line": lines or None})
    values.pop("line", None)
    written(
        account,
        database,
        lambda books: changed(
            "bundle", bundle_id, catalogue.set_bundle(books, bundle_id, values, lines)
        ),
        dry_run=dry_run,
    )


@bundles.command("list")
@click.option("--all", "with_retired", is_flag=True, help="Retired ones too.")
@desk
def list_bundles(account: int | None, database: str, *, with_retired: bool) -> None:
    """List the bundles on offer with their lines."""
    account_id = account_of(account)
    with reading(database, account_id) as connection:
        found = [
            (row, catalogue.lines_of(connection, account_id, int(row[0])))
            for row in catalogue.listed(connection, account_id, "bundle")
            if row[4] or with_retired
        ]
    for (key, name, price, tax, active), lines in found:
        click.echo(_offer_line(key, name, price, tax, active))
        for line in lines:
            issues = _UNLIMITED if line.issues < 0 else f"{line.issues} issues"
            copies = f", {line.copies} copies" if line.copies > 1 else ""
            months = f" over {line.months} months" if line.months else ""
            click.echo(
                f"  publication {line.publication_id}: {issues}, {line.type}{copies}, "
                f"{decimal(line.price)}{months}"
            )


def _offer_line(key: int, name: str | None, price: int, tax: int, active: int) -> str:
    retired = "" if active else "\tretired"
    return f"{key}\t{printable(name or '')}\t{decimal(price)} and tax {decimal(tax)}{retired}"


@products.command("add")
@click.argument("name")
@click.option("--price", type=Amount(), required=True, help="Without tax.")
@click.option("--tax", type=Amount(), default=0, help="[default: 0]")
@dry_run
@desk
def add_product(
    name: str, price: int, tax: int, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Add a product NAME, and print its id."""
    values: dict[str, Value] = {"name": name, "price": price, "tax": tax}
    written(
        account,
        database,
        lambda books: f"product {catalogue.add(books, 'product', values)} was added",
        dry_run=dry_run,
    )


@products.command("set")
@click.argument("product_id", type=ID)
@click.option("--name")
@click.option("--price", type=Amount())
@click.option("--tax", type=Amount())
@click.option("--active", is_flag=True, help="Offer it again.")
@dry_run
@desk
def set_product(
    product_id: int,
    account: int | None,
    database: str,
    *,
    active: bool,
    dry_run: bool,
    **given: Any,
) -> None:
    """Change a product for later orders."""
    values = given_of({**given, "active": True if active else None})
    written(
        account,
        database,
        lambda books: changed(
            "product", product_id, catalogue.set_values(books, "product", product_id, values)
        ),
        dry_run=dry_run,
    )


@products.command("list")
@click.option("--all", "with_retired", is_flag=True, help="Retired ones too.")
@desk
def list_products(account: int | None, database: str, *, with_retired: bool) -> None:
    """List the products on offer."""
    for key, name, price, tax, active in list_of("product", account, database):
        if active or with_retired:
            click.echo(_offer_line(key, name, price, tax, active))


def _add_retire(group: click.Group, thing: str) -> None:
    @group.command("retire", help=f"Take a {thing} off the offer; orders that have it keep it.")
    @click.argument("number", type=ID, metavar=f"{thing.upper()}_ID")
    @dry_run
    @desk
    def retire(number: int, account: int | None, database: str, *, dry_run: bool) -> None:
        def do(books: Operation) -> str:
            if not catalogue.set_active(books, thing, number, is_active=False):
                return f"nothing changed: {thing} {number} is retired already"
            return f"{thing} {number} was retired"

        written(account, database, do, dry_run=dry_run)


_add_retire(bundles, "bundle")
_add_retire(products, "product")


@classes.command("add")
@click.argument("name")
@dry_run
@desk
def add_class(name: str, account: int | None, database: str, *, dry_run: bool) -> None:
    """Add a class of your own, NAME, for copies that cost nothing: such as hotel.

    Reports count the copies of each class. A class is never removed, since copies were of it.
    """
    written(
        account,
        database,
        lambda books: f"class {add_own_class(books, name)} was added: {name.strip()}",
        dry_run=dry_run,
    )


@classes.command("list")
@desk
def list_classes(account: int | None, database: str) -> None:
    """List the classes that a free copy can have."""
    account_id = account_of(account)
    with reading(database, account_id) as connection:
        own = own_classes(connection, account_id)
    for name in (*FREE, *own):
        click.echo(printable(name))
