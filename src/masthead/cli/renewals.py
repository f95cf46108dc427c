"""``masthead renewals``: efforts, select."""

from pathlib import Path
from typing import Any

import click

from masthead.circulation.amounts import decimal
from masthead.cli.audit import actor
from masthead.cli.books_options import ID, account_of, desk, dry_run, end_of, reading
from masthead.cli.reports import past_day
from masthead.cli.stores import opened
from masthead.contract.printable import counted
from masthead.errors import BadUsage
from masthead.loading.letter_files import copy_letters, send_letters
from masthead.store import audit
from masthead.store.books import catalogue, renewing
from masthead.store.books.issue import check_publication
from masthead.store.books.operation import Reading, check_mode, operation
from masthead.store.database import Row

__all__ = ["renewals_group"]

_EFFORT = click.IntRange(1, 1_000)
_POINT = click.IntRange(-1_000, 1_000)
_CODE_MAX = 50


class _KeyCode(click.ParamType[str]):
    """A code of 1 to 50 characters, without spaces around it."""

    name = "code"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> str:
        """Return the code; raise BadUsage if it is none."""
        code = str(value).strip()
        if not 1 <= len(code) <= _CODE_MAX or not code.isprintable():
            raise BadUsage(f"{value!r} is no key code: it has 1 to {_CODE_MAX} characters")
        return code


@click.group("renewals")
def renewals_group() -> None:
    """Letters that ask readers to renew: when they are due, and to whom they go."""


@renewals_group.group("efforts")
def efforts_group() -> None:
    """The letters of a publication: each is an effort, due at so many issues left.

    Effort 1 at 3 issues left, effort 2 at 1, effort 3 at 0 (with the last issue), effort 4 at -2
    (two issues after it). Who is late gets the effort that fits what is left now, never an earlier
    one. A letter can offer a bundle, and have a key code.
    """


@efforts_group.command("list")
@click.option("--publication", type=ID, help="Only this publication.")
@desk
def list_(publication: int | None, account: int | None, database: str) -> None:
    """List the efforts of all publications, or of one."""
    account_id = account_of(account)
    with reading(database, account_id) as connection:
        if publication is not None:
            check_publication(connection, account_id, publication)
        points = renewing.efforts(connection, account_id, publication)
        bundles = catalogue.listed(connection, account_id, "bundle")
    offers = {bundle[0]: bundle for bundle in bundles}
    for point in points:
        click.echo(f"{_line(point)}{_offer(offers.get(point.bundle_id))}")
    if not points:
        click.echo("no efforts: `masthead renewals efforts set` makes one")


def _line(point: renewing.Point) -> str:
    left = point.issues_left
    noun = "issue" if abs(left) == 1 else "issues"
    when = f"{-left} {noun} after the last one" if left < 0 else f"at {left} {noun} left"
    code = "" if point.key_code is None else f", key code {point.key_code}"
    offer = "" if point.bundle_id is None else f", offers bundle {point.bundle_id}"
    return f"publication {point.publication_id}, effort {point.effort}: due {when}{code}{offer}"


def _offer(bundle: Row | None) -> str:
    """Return what a bundle is called and what it costs; '' without one."""
    if bundle is None:
        return ""
    _, name, price, tax, active = bundle
    retired = "" if active else "; it is retired, and the letters go without it"
    return f" ({name or ''}, {decimal(price + tax)} with tax{retired})"


@efforts_group.command("set")
@click.argument("effort", type=_EFFORT)
@click.option("--publication", type=ID, required=True, help="Whose effort it is.")
@click.option(
    "--issues-left",
    type=_POINT,
    required=True,
    help="When it is due; 0 and below: so many issues after the last one.",
)
@click.option("--bundle", "bundle_id", type=ID, help="The bundle that its letter offers.")
@click.option("--key-code", type=_KeyCode(), help="A code in its letter, that an answer can name.")
@dry_run
@desk
def set_(
    effort: int,
    publication: int,
    issues_left: int,
    bundle_id: int | None,
    key_code: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add effort EFFORT to a publication, or change it.

    It has afterwards what is given here: without --bundle, its letter has no offer. Efforts are due
    in the order of their numbers, each at fewer issues left than the one before.
    """
    point = renewing.Point(publication, effort, issues_left, bundle_id, key_code)
    with operation(opened(database), account_of(account), actor(), dry_run=dry_run) as books:
        renewing.set_effort(books, point)
    click.echo(_line(point))
    end_of(dry_run=dry_run)


@efforts_group.command("remove")
@click.argument("effort", type=_EFFORT)
@click.option("--publication", type=ID, required=True, help="Whose effort it is.")
@dry_run
@desk
def remove(
    effort: int, publication: int, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Remove effort EFFORT of a publication; the others keep their numbers."""
    with operation(opened(database), account_of(account), actor(), dry_run=dry_run) as books:
        renewing.remove_effort(books, publication, effort)
    click.echo(f"effort {effort} of publication {publication} was removed")
    end_of(dry_run=dry_run)


@renewals_group.command("select")
@click.option("--publication", type=ID, help="Only this publication.")
@click.option(
    "--to",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="CSV file for the letters; one that exists is not replaced.",
)
@click.option(
    "--preview",
    "--dry-run",
    is_flag=True,
    help="Record nothing: they are still due afterwards.",
)
@click.option(
    "--sent",
    "sent_on",
    metavar="DATE",
    help="Those that were sent on this day, once more: for a file that was lost.",
)
@desk
def select(
    publication: int | None,
    file: Path | None,
    sent_on: str | None,
    account: int | None,
    database: str,
    *,
    preview: bool,
) -> None:
    """List whom to write to: each subscription whose next letter is due, once.

    With --to, the letters are written to FILE and noted as sent, both or neither, also if it is
    killed: the next call with the same FILE finishes or removes what is left in FILE.unfinished.
    The next letter of a subscription comes with a later call. With --preview nothing is noted, and
    FILE may be left out. A letter has the offer of its effort. It goes to the reader, or to who
    paid where no term is the reader's own, then without the reader's code. Left out: subscriptions
    that are not in the campaign (`masthead subscription set --campaign`), cancelled, refunded,
    suspended today or unlimited, and deleted readers. With --sent, the letters of that day are
    written once more, with today's addresses, and nothing is noted.
    """
    account_id = account_of(account)
    if file is None and not preview:
        raise BadUsage("say where the letters go (--to FILE), or --preview")
    if preview and sent_on is not None:
        raise BadUsage("letters that were sent have no preview: leave out --preview")
    if preview or sent_on is not None:
        store = opened(database)
        with reading(database, account_id) as connection:
            check_mode(connection, account_id, "here")
            today = Reading(store, connection, account_id).today
        day = today if sent_on is None else past_day("--sent", sent_on, today)
        what = "were previewed" if sent_on is None else f"of {day} were written once more"
        audit.record_reading(store, actor(), f"letters of renewal {what}", account_id=account_id)
        with reading(database, account_id) as connection:
            again = sent_on is not None
            due = copy_letters(connection, account_id, file, day, publication, again=again)
    else:
        assert file is not None
        sent = send_letters(opened(database), account_id, file, publication, by=actor())
        if sent.is_finished:
            click.echo(
                f"{file} has the letters of a call that was broken off, which were noted as sent; "
                "nothing else was selected"
            )
            return
        due = sent.due
    for publication_id, effort, letters in due:
        click.echo(f"publication {publication_id}, effort {effort}: {counted(letters, 'letter')}")
    click.echo(f"{counted(sum(each.letters for each in due), 'letter')} in all")
    if preview:
        click.echo("nothing was recorded: this was a preview")
