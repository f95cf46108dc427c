"""``masthead import``."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from masthead.cli.audit import actor
from masthead.cli.durations import Duration
from masthead.cli.hints import with_hint
from masthead.cli.limits import LimitOfRows
from masthead.cli.options import setting
from masthead.cli.progress import progress
from masthead.cli.stores import made
from masthead.contract.printable import printable
from masthead.errors import BadUsage, MastheadError
from masthead.loading.deliveries import Ready, check_account_folder, deliveries, ready_deliveries
from masthead.loading.guess import guess_mapping
from masthead.loading.limits import Limit
from masthead.loading.load import Loaded, Options, load
from masthead.loading.mapping_files import Input
from masthead.loading.regular_files import is_regular
from masthead.loading.shipped import mapping_named, mapping_text
from masthead.store import Store
from masthead.store.dry_run_diff import HIDDEN, Shown

if TYPE_CHECKING:
    from rich.progress import TaskID

SHOWN_MAX = 100
"""The most rows of each kind that a dry run shows, since it does not log who saw them."""

_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@setting("account", kind=click.IntRange(0, 2**63 - 1))
@click.option(
    "--dry-run", is_flag=True, help="Check all and print what would change; load nothing."
)
@click.option(
    "--show",
    type=click.IntRange(1, SHOWN_MAX),
    metavar="ROWS",
    help="With --dry-run, print so many new, changed and removed rows of each table.",
)
@setting("map", kind=_FILE)
@click.option(
    "--guess",
    is_flag=True,
    help="Print a first mapping of the files, or the one that --map names; load nothing.",
)
@setting("reject", kind=_FOLDER)
@setting("max_rejected", kind=LimitOfRows())
@click.option(
    "--complete",
    is_flag=True,
    help="The files have all rows of their tables: remove the stored rows that they lack.",
)
@setting("max_removed", kind=LimitOfRows())
@click.option("--wait", is_flag=True, help="Wait while another load of the account is running.")
@setting("when_complete")
@setting("wait_at_most", kind=Duration())
@setting("allow_truncated")
@setting("database")
def import_command(
    paths: tuple[Path, ...],
    account: int | None,
    map: Path | None,  # noqa: A002 - the name of the flag
    when_complete: str | None,
    wait_at_most: int,
    database: str,
    *,
    guess: bool,
    **given: Any,
) -> None:
    """Import files, or folders of them, into an account: all rows or none.

    A file is named after its table: subscribers.csv, orders.ndjson.gz, issues.xlsx, … Rows are
    inserted or updated by their key. A column that a file lacks is unchanged. Nothing is removed
    unless the files are --complete: then a subscriber that the files lack gets a delete_date, and
    other rows that they lack are removed.

    A mapping file (--map) describes files of another form; --guess writes a first one. Masthead
    has mappings for some systems: --map ghost-members.

    Without --account, the sub-folders of a folder have the numbers of accounts. Each is loaded into
    its account, separately, with the mapping.toml in it if there is one.
    """
    if guess:
        # A mapping of the environment is that of loads; a guess is asked for a new one.
        source = click.get_current_context().get_parameter_source("map")
        is_given = source is ParameterSource.COMMANDLINE
        click.echo(mapping_text(map) if map and is_given else guess_mapping(paths), nl=False)
        return
    mapping = None if map is None else mapping_named(map)
    options = _options(mapping=mapping, marker=when_complete, **given)
    waiting = deliveries(paths, account)
    store = made(database)
    ready: Iterable[Ready] = (Ready(delivery, None) for delivery in waiting)
    if when_complete:
        ready = ready_deliveries(store, waiting, when_complete, wait_s=wait_at_most)
    if waiting[0].account_id is None or account is not None:
        (one,) = ready
        _report(_import(store, one, options), options)
    else:
        _import_each(store, ready, options)


def _import_each(store: Store, ready: Iterable[Ready], options: Options) -> None:
    """Load accounts, each by itself; raise MastheadError at the end if one was not loaded."""
    failed = []
    for each in ready:
        account = f"account {each.delivery.account_id}"
        of_account = options
        if options.reject:
            of_account = of_account._replace(reject=options.reject / str(each.delivery.account_id))
        if each.delivery.mapping:
            of_account = of_account._replace(mapping=each.delivery.mapping)
        try:
            check_account_folder(each.delivery.paths[0])
            loaded = _import(store, each, of_account)
        except (MastheadError, OSError) as error:
            failed.append(account)
            click.echo(f"{account}: not loaded")
            click.echo(f"{account}: {with_hint(error)}", err=True)
        else:
            click.echo(f"{account}:")
            _report(loaded, of_account)
    if failed:
        raise MastheadError(f"not loaded: {', '.join(failed)}")


def _options(
    *,
    dry_run: bool,
    show: int | None,
    reject: Path | None,
    max_rejected: Limit,
    complete: bool,
    max_removed: Limit,
    wait: bool,
    allow_truncated: bool,
    mapping: Path | None,
    marker: str | None,
) -> Options:
    if show and not dry_run:
        raise BadUsage("--show belongs to --dry-run")
    return Options(
        reject,
        max_rejected,
        max_removed if complete else None,
        is_dry=dry_run,
        show=show or 0,
        waits=wait,
        allow_truncated=allow_truncated,
        mapping=mapping,
        marker=marker,
    )


def _import(store: Store, ready: Ready, options: Options) -> Loaded:
    """Load a delivery with progress bars; raise MastheadError if its marker is missing."""
    delivery, marker_at = ready
    if options.marker and marker_at is None:
        path = delivery.paths[0] / options.marker
        if is_regular(path):
            raise MastheadError(
                f"a new {path} did not come in time, so nothing was loaded: a load has used the "
                "one that is there; touch it to load the same files again"
            )
        raise MastheadError(f"{path} did not come in time, so nothing was loaded")
    with progress() as bars:
        tasks: dict[Path, TaskID] = {}

        def advance(file: Input, done: int) -> None:
            if file.path not in tasks:
                tasks[file.path] = bars.add_task(printable(file.path.name), total=file.size)
            bars.update(tasks[file.path], completed=done)

        def tell(doing: str) -> None:
            bars.update(last, description=doing)

        def note(sentence: str) -> None:
            bars.console.print(printable(sentence), markup=False, highlight=False, soft_wrap=True)

        last = bars.add_task("", total=None)
        return load(
            store,
            delivery.paths,
            account_id=delivery.account_id,
            options=options._replace(marker_at=marker_at),
            advance=advance,
            tell=tell,
            note=note,
            by=actor(),
        )


def _report(loaded: Loaded, options: Options) -> None:
    for row in loaded.shown:
        click.echo(_line(row))
    width = max(map(len, loaded.counts), default=0)
    for name, counts in loaded.counts.items():
        removed = f", {counts.removed} removed" if options.max_removed else ""
        click.echo(
            f"{name:<{width}}  {counts.inserted} inserted, {counts.changed} changed, "
            f"{counts.unchanged} unchanged{removed}"
        )
    if not any(counts.has_changes for counts in loaded.counts.values()):
        click.echo("nothing changed")
    for name, count in loaded.kept.items():
        rows = "row" if count == 1 else "rows"
        click.echo(
            f"{name}: {count} {rows} that the files lack kept: added here, or with issues, money "
            "or orders here"
        )
    if loaded.kept_blank:
        rows = "row" if loaded.kept_blank == 1 else "rows"
        click.echo(f"{loaded.kept_blank} {rows} of erased subscribers kept blank")
    for name, count in loaded.rejected.items():
        rows = "row" if count == 1 else "rows"
        if options.is_dry:
            click.echo(f"{name}: {count} bad {rows} to set aside")
        else:
            click.echo(f"{count} bad {rows} set aside in {(options.reject or Path()) / name}")
    if options.is_dry:
        click.echo("a dry run: nothing was loaded")


def _line(row: Shown) -> str:
    """Return a row as a line, without characters that control a terminal."""
    key = ", ".join(f"{name} {value}" for name, value in row.key.items())
    values = ", ".join(
        f"{name}: {_value(row.old[name])} -> {_value(value)}"
        if row.old
        else f"{name}: {_value(value)}"
        for name, value in row.new.items()
    )
    place = f"{printable(row.place)}: " if row.place else ""
    return f"{place}{row.table}: {row.what} {key}{': ' if values else ''}{values}"


def _value(value: int | str | None) -> str:
    if value is None:
        return "nothing"
    return repr(value) if isinstance(value, str) and value != HIDDEN else str(value)
