"""``masthead remove``."""

from re import fullmatch

import click

from masthead.cli.audit import actor
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.records import TABLES, TABLES_BY_NAME, Table
from masthead.errors import BadUsage
from masthead.store.removing import remove_records


@click.command("remove")
@click.argument("table", type=click.Choice([table.name for table in TABLES]), metavar="TABLE")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@setting("account", kind=click.IntRange(0, 2**63 - 1))
@setting("database")
def remove_command(table: str, ids: tuple[str, ...], account: int | None, database: str) -> None:
    """Remove single records of TABLE, such as orders: all that are named, or none.

    If a table's key has two columns, an ID has both, such as 17/3. Records that are part of a
    removed record are removed too, such as an order's items. A record to which others refer is not
    removed. A subscriber stays, with a delete_date. A later load restores what its files still
    have.
    """
    if account is None:
        raise BadUsage("name the account with --account")
    found = TABLES_BY_NAME[table]
    keys = [_key(found, text) for text in ids]
    removed = remove_records(opened(database), account, found, keys, by=actor())
    width = max(map(len, removed), default=0)
    for name, count in removed.items():
        done = "got a delete_date" if name == "subscribers" else "removed"
        click.echo(f"{name:<{width}}  {count} {done}")
    if not any(removed.values()):
        click.echo("nothing changed")


def _key(table: Table, text: str) -> tuple[int, ...]:
    """Return the key in ``text``; raise BadUsage if it is not a key of this table."""
    found = fullmatch(r"[0-9]{1,19}(?:/[0-9]{1,19})?", text)
    key = tuple(map(int, text.split("/"))) if found else ()
    if len(key) != len(table.key) or max(key) > BIGGEST_INTEGER:
        columns = "/".join(table.key)
        example = "17/3" if len(table.key) > 1 else "17"
        raise BadUsage(f"{text!r} is no {columns} of {table.name}, such as {example}")
    return key
