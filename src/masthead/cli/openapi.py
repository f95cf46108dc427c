"""``masthead openapi``."""

import click
import msgspec

from masthead.contract.openapi import document


@click.command()
def openapi() -> None:
    """Print the OpenAPI 3.1 description of the interface."""
    click.echo(msgspec.json.format(msgspec.json.encode(document()), indent=2))
