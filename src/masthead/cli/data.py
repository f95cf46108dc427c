"""``masthead export`` and ``generate``."""

from pathlib import Path

import click

from masthead.cli.audit import actor
from masthead.cli.options import setting
from masthead.cli.progress import progress
from masthead.cli.stores import opened
from masthead.errors import BadUsage
from masthead.loading.export import export
from masthead.sample_data.generate import generate

_FOLDER = click.Path(path_type=Path, file_okay=False)


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
        raise BadUsage("name the account with --account")
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
            by=actor(),
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
