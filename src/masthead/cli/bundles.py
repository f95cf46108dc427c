"""``masthead catalogue bundle`` and ``product``, and what the commands of the catalogue share."""

from collections.abc import Mapping
from typing import Any

import click

from masthead.billing.tax import percent_of, percent_text
from masthead.books import Books, catalogue, reader_bundles
from masthead.circulation.amounts import cents_of, in_currency
from masthead.circulation.copy_classes import FREE
from masthead.cli.books_options import ID, account_options, books_of, dry_run, end_of
from masthead.cli.options import Amount
from masthead.contract.printable import printable
from masthead.contract.subscription_types import TYPES, UNLIMITED
from masthead.errors import BadUsage
from masthead.store.database import Value

_UNLIMITED = "unlimited"
_COUNT_MAX, _MONTHS_MAX = 1_000_000, 1_200
_LINE = "a line is publication:issues:type:price, such as 1:12:Print:36.00"


class Uses(click.ParamType[tuple[reader_bundles.Use, ...]]):
    """What readers can do with a bundle, such as ``renew,buy``; an empty text is nothing."""

    name = "uses"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> tuple[reader_bundles.Use, ...]:
        """Return the uses; raise BadUsage for another word."""
        if isinstance(value, tuple):
            return value
        words = [each.strip() for each in str(value).split(",") if each.strip()]
        wrong = next((each for each in words if each not in reader_bundles.USES), None)
        if wrong is not None:
            raise BadUsage(f"--readers: {wrong!r} is not one of {', '.join(reader_bundles.USES)}")
        return tuple(each for each in reader_bundles.USES if each in words)


class BundleLine(click.ParamType[catalogue.Line]):
    """A bundle's issues of one publication, such as ``1:12:Print:36.00``."""

    name = "line"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> catalogue.Line:
        """Return the line; raise BadUsage, with what is wrong, if it is invalid."""
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
        raise ValueError(f"{text!r} is not a number from {least} to {greatest}")
    return int(text)


def _months(issues: str, text: str) -> int:
    if issues != _UNLIMITED:
        raise ValueError("months are for unlimited issues, which are earned over them")
    return _count(text, 1, _MONTHS_MAX)


def given_of(options: Mapping[str, Any]) -> dict[str, Value]:
    """Return the given options as values of columns. Raises BadUsage if there are none."""
    found = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in options.items()
        if value is not None
    }
    if not found:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise BadUsage(f"say what to change: {names}")
    return found


def show(done: catalogue.Done, *, dry_run: bool) -> None:
    """Print the change of the catalogue."""
    click.echo(printable(done.sentence))
    end_of(dry_run=dry_run)


bundles = click.Group("bundle", help="Issues of one or more publications for a price.")
products = click.Group("product", help="What is sold besides subscriptions, such as a mug.")

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

_DIGITAL_SHARE = click.option(
    "--digital-share",
    help="The percentage of the price of lines of type Both that is for the digital issues, such "
    "as 30; they have a tax rate of their own (`masthead billing rates`).",
)

_READERS = click.option(
    "--readers",
    type=Uses(),
    metavar="USES",
    help="What readers can do with it on their pages: renew, buy, gift, or some of them, such as "
    "renew,buy. An empty value takes it off the pages.",
)


@bundles.command("add")
@click.argument("name")
@_LINES
@click.option("--price", type=Amount(), help="The sum of its lines' prices; checked if given.")
@click.option("--tax", type=Amount(), default=0, help="The tax on the whole bundle.  [default: 0]")
@_DIGITAL_SHARE
@_READERS
@dry_run
@account_options
def add_bundle(
    name: str,
    lines: tuple[catalogue.Line, ...],
    price: int | None,
    tax: int,
    digital_share: str | None,
    account: int | None,
    database: str,
    *,
    readers: tuple[reader_bundles.Use, ...] | None,
    dry_run: bool,
) -> None:
    """Add a bundle NAME, and print its id.

    Its price is the sum of its lines' prices. A bundle of two publications has two lines.
    """
    if not lines:
        raise BadUsage("give its lines: --line publication:issues:type:price")
    books = books_of(account, database)
    share = None if digital_share is None else percent_of(digital_share)
    with books.together(dry_run=dry_run) as inside:
        done = catalogue.add_bundle(inside, name, lines, price, tax, digital_share=share)
        if readers:
            _set_uses(inside, done.key, readers)
    show(done, dry_run=dry_run)


def _set_uses(books: Books, bundle_id: int, uses: tuple[reader_bundles.Use, ...]) -> None:
    click.echo(printable(reader_bundles.set_uses(books, bundle_id, uses).sentence))


@bundles.command("set")
@click.argument("bundle_id", type=ID)
@click.option("--name")
@_LINES
@click.option("--price", type=Amount(), help="The new price of a bundle that has one line.")
@click.option("--tax", type=Amount())
@_DIGITAL_SHARE
@_READERS
@click.option("--active", is_flag=True, help="Sell it again.")
@dry_run
@account_options
def set_bundle(
    bundle_id: int,
    name: str | None,
    lines: tuple[catalogue.Line, ...],
    price: int | None,
    tax: int | None,
    account: int | None,
    database: str,
    *,
    digital_share: str | None,
    readers: tuple[reader_bundles.Use, ...] | None,
    active: bool,
    dry_run: bool,
) -> None:
    """Change a bundle for later orders; --line replaces all its lines."""
    given = {"name": name, "price": price, "tax": tax, "active": True if active else None}
    share = None if digital_share is None else percent_of(digital_share)
    others = given_of({**given, "line": lines or None, "digital_share": share, "readers": readers})
    values = {name: value for name, value in others.items() if name in given}
    with books_of(account, database).together(dry_run=dry_run) as books:
        if others.keys() - {"readers"}:
            done = catalogue.set_bundle(books, bundle_id, values, lines, digital_share=share)
            click.echo(printable(done.sentence))
        if readers is not None:
            _set_uses(books, bundle_id, readers)
    end_of(dry_run=dry_run)


@bundles.command("list")
@click.option("--all", "with_retired", is_flag=True, help="List retired ones too.")
@account_options
def list_bundles(account: int | None, database: str, *, with_retired: bool) -> None:
    """List the bundles for sale with their lines."""
    books = books_of(account, database)
    currency = books.currency
    of_readers = reader_bundles.shown(books)
    for bundle, lines in catalogue.bundles(books):
        if not (bundle.is_active or with_retired):
            continue
        click.echo(_sold_line(bundle, currency))
        if uses := of_readers.get(bundle.bundle_id):
            listed = ", ".join(use for use in reader_bundles.USES if use in uses)
            click.echo(f"  readers: {listed}")
        for line in lines:
            issues = _UNLIMITED if line.issues < 0 else f"{line.issues} issues"
            copies = f", {line.copies} copies" if line.copies > 1 else ""
            months = f" over {line.months} months" if line.months else ""
            share = line.digital_share
            digital = f", {percent_text(share)} of it digital" if share else ""
            click.echo(
                f"  publication {line.publication_id}: {issues}, {line.type}{copies}, "
                f"{in_currency(line.price, currency)}{months}{digital}"
            )


def _sold_line(sold: catalogue.Bundle | catalogue.Product, currency: str) -> str:
    key, name, price, tax, is_active = sold
    retired = "" if is_active else "\tretired"
    prices = f"{in_currency(price, currency)} and tax {in_currency(tax, currency)}"
    return f"{key}\t{printable(name or '')}\t{prices}{retired}"


@products.command("add")
@click.argument("name")
@click.option("--price", type=Amount(), required=True, help="Without tax.")
@click.option("--tax", type=Amount(), default=0, help="[default: 0]")
@dry_run
@account_options
def add_product(
    name: str, price: int, tax: int, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Add a product NAME, and print its id."""
    values: dict[str, Value] = {"name": name, "price": price, "tax": tax}
    done = catalogue.add(books_of(account, database), "product", values, dry_run=dry_run)
    show(done, dry_run=dry_run)


@products.command("set")
@click.argument("product_id", type=ID)
@click.option("--name")
@click.option("--price", type=Amount())
@click.option("--tax", type=Amount())
@click.option("--active", is_flag=True, help="Sell it again.")
@dry_run
@account_options
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
    books = books_of(account, database)
    done = catalogue.set_values(books, "product", product_id, values, dry_run=dry_run)
    show(done, dry_run=dry_run)


@products.command("list")
@click.option("--all", "with_retired", is_flag=True, help="List retired ones too.")
@account_options
def list_products(account: int | None, database: str, *, with_retired: bool) -> None:
    """List the products for sale."""
    books = books_of(account, database)
    currency = books.currency
    for product in catalogue.products(books):
        if product.is_active or with_retired:
            click.echo(_sold_line(product, currency))


def _add_retire(group: click.Group, thing: str) -> None:
    @group.command("retire", help=f"Take a {thing} off sale; existing orders keep it.")
    @click.argument("number", type=ID, metavar=f"{thing.upper()}_ID")
    @dry_run
    @account_options
    def retire(number: int, account: int | None, database: str, *, dry_run: bool) -> None:
        books = books_of(account, database)
        show(catalogue.retire(books, thing, number, dry_run=dry_run), dry_run=dry_run)


_add_retire(bundles, "bundle")
_add_retire(products, "product")


@classes.command("add")
@click.argument("name")
@dry_run
@account_options
def add_class(name: str, account: int | None, database: str, *, dry_run: bool) -> None:
    """Add a class NAME for free copies, such as hotel.

    Reports count the copies of each class. A class cannot be removed, since earlier copies have it.
    """
    done = catalogue.add_class(books_of(account, database), name, dry_run=dry_run)
    show(done, dry_run=dry_run)


@classes.command("list")
@account_options
def list_classes(account: int | None, database: str) -> None:
    """List the classes that a free copy can have."""
    for name in (*FREE, *catalogue.classes(books_of(account, database))):
        click.echo(printable(name))
