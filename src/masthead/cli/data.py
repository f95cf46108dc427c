"""``masthead import``, ``export`` and ``generate``."""

from pathlib import Path

import click

from masthead.cli.audit import deed
from masthead.cli.options import setting
from masthead.cli.progress import progress
from masthead.cli.stores import opened
from masthead.errors import BadUsage
from masthead.loading.export import export
from masthead.loading.files import InputFile, find_files
from masthead.loading.load import Loaded, load
from masthead.sample_data.generate import generate

__all__ = ["export_command", "generate_command", "import_command"]

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@setting("account", kind=click.IntRange(0, 2**63 - 1))
@setting("reject", kind=_FOLDER)
@setting("database")
def import_command(
    paths: tuple[Path, ...], account: int | None, reject: Path | None, database: str
) -> None:
    """Import files, or folders of them, into an account: all rows or none.

    A file is named after its table: subscribers.csv, orders.ndjson.gz, … Rows are inserted or
    updated by their key. A column that a file lacks is unchanged. Nothing is deleted.
    """
    sizes = {file.path: file.size for file in find_files(paths)}
    with progress() as bars:
        tasks = {path: bars.add_task(path.name, total=size) for path, size in sizes.items()}

        def advance(file: InputFile, done: int) -> None:
            bars.update(tasks[file.path], completed=done)

        def tell(doing: str) -> None:
            bars.update(last, description=doing)

        last = bars.add_task("", total=None)
        loaded = load(
            opened(database),
            paths,
            account_id=account,
            reject=reject,
            advance=advance,
            tell=tell,
            by=deed(),
        )
    _report(loaded, reject)


def _report(loaded: Loaded, reject: Path | None) -> None:
    width = max(map(len, loaded.counts), default=0)
    for name, counts in loaded.counts.items():
        click.echo(
            f"{name:<{width}}  {counts.inserted} inserted, {counts.changed} changed, "
            f"{counts.unchanged} unchanged"
        )
    if not any(counts.inserted or counts.changed for counts in loaded.counts.values()):
        click.echo("nothing changed")
    if loaded.kept_blank:
        rows = "row" if loaded.kept_blank == 1 else "rows"
        click.echo(f"{loaded.kept_blank} {rows} of erased subscribers kept blank")
    for name, count in loaded.rejected.items():
        rows = "row" if count == 1 else "rows"
        click.echo(f"{count} bad {rows} put aside in {(reject or Path()) / name}")


@click.command("export")
@click.argument("folder", type=_FOLDER, metavar="DIR")
@setting("account", kind=click.IntRange(0, 2**63 - 1))
@setting("for_spreadsheets")
@setting("database")
def export_command(
    folder: Path, account: int | None, *, for_spreadsheets: bool, database: str
) -> None:
    """Write an account's data to DIR, as the files that `masthead import` reads."""
    if account is None:
        raise BadUsage("say with --account whose data to write")
    with progress() as bars:
        task = bars.add_task("export", total=None)

        def advance(name: str, rows: int) -> None:
            bars.update(task, description=f"{name}: {rows} rows")

        counts = export(
            opened(database),
            folder,
            account_id=account,
            for_spreadsheets=for_spreadsheets,
            advance=advance,
            by=deed(),
        )
    width = max(map(len, counts))
    for name, count in counts.items():
        click.echo(f"{name:<{width}}  {count} rows")


@click.command("generate")
@click.argument("folder", type=_FOLDER, metavar="DIR")
@setting("subscribers", kind=click.IntRange(0))
@setting("seed", kind=int)
def generate_command(folder: Path, subscribers: int, seed: int) -> None:
    """Write the import files of a made-up publisher to DIR."""
    with progress() as bars:
        task = bars.add_task("subscribers", total=subscribers)

        def advance(done: int) -> None:
            bars.update(task, completed=done)

        generate(folder, subscribers=subscribers, seed=seed, advance=advance)
    click.echo(f"{subscribers} subscribers written to {folder}")
