"""``masthead manual``."""

from pathlib import Path

import click

from masthead.api.operations.manual.site import write_site


@click.command("manual")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
def manual_command(folder: Path) -> None:
    """Write the user documentation to DIR, as a site that needs no server."""
    click.echo(f"{write_site(folder)} pages written to {folder}; begin with index.html")
