"""``masthead entitlements``: the keys that sign what readers may read, for sites with a paywall."""

import click

from masthead.cli.audit import actor
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.contract.moments import format_second
from masthead.contract.printable import printable
from masthead.store import accounts, entitlement_keys
from masthead.store.entitlement_keys import PublishedKey

_ID = click.IntRange(0, 2**63 - 1)


@click.group("entitlements")
def entitlements_group() -> None:
    """What readers may read, for sites with a paywall: the keys that sign it.

    A site asks a server for a reader's entitlements, GET /entitlements, and gets a signed token. An
    account without a key answers 404. The first key switches entitlements on:

    \b
      masthead entitlements rotate 7 --issuer https://subscriptions.example
      masthead entitlements keys 7
    """  # noqa: D301 - click keeps the lines after this mark


@entitlements_group.command("rotate")
@click.argument("account_id", type=_ID)
@click.option(
    "--issuer",
    metavar="TEXT",
    help="What tokens have as iss: the address of this server, as sites know it. Without it, that "
    "of the earlier key, or masthead.",
)
@click.option(
    "--at-once",
    is_flag=True,
    help="The earlier key was stolen: it and all its tokens end now. Sites notice within five "
    "minutes.",
)
@setting("database")
def rotate_command(account_id: int, issuer: str | None, database: str, *, at_once: bool) -> None:
    """Make a new key for an account; the first one switches entitlements on.

    The first key signs at once. A further one is published at once, and signs in ten minutes, when
    sites have it. The earlier key stays published until its last token has ended, a day later.
    Readers keep their ids.
    """
    rotated = entitlement_keys.rotate(
        opened(database), account_id, issuer=issuer, at_once=at_once, by=actor()
    )
    key = rotated.key
    click.echo(f"key {key.key_id} signs from {format_second(key.signs_from)} UTC")
    if rotated.earlier:
        click.echo(f"earlier keys that are still published: {rotated.earlier}")


@entitlements_group.command("keys")
@click.argument("account_id", type=_ID)
@setting("database")
def keys_command(account_id: int, database: str) -> None:
    """List the published keys of an account, the newest first."""
    with opened(database).writer() as connection:
        accounts.settings_of(connection, account_id)
        keys = entitlement_keys.keys_of(connection, account_id)
    if not keys:
        click.echo(
            f"account {account_id} has no key, so it answers no entitlements: `masthead "
            f"entitlements rotate {account_id}` makes one"
        )
    for key in keys:
        click.echo("\t".join(_columns(key)))


@entitlements_group.command("stop")
@click.argument("account_id", type=_ID)
@setting("database")
def stop_command(account_id: int, database: str) -> None:
    """Delete all keys of an account: it answers no entitlements any more, and its tokens end.

    Sites notice within five minutes. If you make a key again later, readers get other ids.
    """
    count = entitlement_keys.stop(opened(database), account_id, by=actor())
    click.echo(f"{count} {'key was' if count == 1 else 'keys were'} deleted")


def _columns(key: PublishedKey) -> tuple[str, ...]:
    until = f"until {format_second(key.ends_at)}" if key.ends_at is not None else "no end"
    return (
        key.key_id,
        f"made {format_second(key.made_at)}",
        f"signs from {format_second(key.signs_from)}",
        f"published {until}",
        printable(key.issuer),
    )
