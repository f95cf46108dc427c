"""``masthead mirror``: keeps a local copy and verifies it."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click

from masthead.cli.durations import Duration
from masthead.cli.hints import with_hint
from masthead.cli.options import credentials, setting
from masthead.cli.progress import progress
from masthead.client import Client
from masthead.client.requests import entities_of
from masthead.errors import BadInput, BadUsage, MastheadError, ServiceError
from masthead.log import configure_logs, get_logger
from masthead.mirror import TOO_OLD, Difference, Mirror, Pass, SetAside, open_copy, verify
from masthead.mirror.versions import check_history

_CREDENTIALS = {401, 403}
_NAMED_MAX = 5
_log = get_logger()


class _KeepByDefault(click.Group):
    """Makes ``masthead mirror URL`` run ``masthead mirror keep URL``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["keep", *args]
        return super().parse_args(ctx, args)


@click.group("mirror", cls=_KeepByDefault)
def mirror_group() -> None:
    """Keep a local copy of a service's data, by its change feed.

    ``masthead mirror BASE_URL --to URL`` is short for ``masthead mirror keep …``.
    """


@mirror_group.command("keep")
@click.argument("base_url")
@setting("to")
@setting("key")
@setting("login")
@setting("every", kind=Duration(at_least=1))
@setting("once")
@click.option(
    "--from-export",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Begin with the files that `masthead export` wrote to DIR.",
)
@click.option(
    "--entities",
    default="",
    metavar="NAMES",
    help="Copy only these entities, such as subscribers,subscriptions; all by default. A copy "
    "keeps the entities with which it began.",
)
@click.option(
    "--history",
    is_flag=True,
    help="Also keep what each row was before, and from when to when. A copy that has a history "
    "keeps it without this option too.",
)
@click.option(
    "--unearned",
    is_flag=True,
    help="Also keep paid_issues_left and unearned_revenue, with a request for each subscriber of a "
    "changed subscription. A copy that has them keeps them without this option too.",
)
def keep(
    base_url: str,
    to: str | None,
    key: str | None,
    login: str | None,
    every: int,
    from_export: Path | None,
    entities: str,
    *,
    history: bool,
    unearned: bool,
    once: bool,
) -> None:
    """Update the copy repeatedly, or once.

    The first pass copies everything. A pass that fails leaves the copy unchanged. Then the command
    exits with 1 if --once is given or the credentials are refused; otherwise the next pass tries
    again. A record that the copy cannot take is set aside and named, and the pass succeeds.
    """
    configure_logs()
    if entities and from_export:
        raise BadUsage("--from-export begins with all entities: leave out --entities")
    while True:
        began = time.monotonic()
        try:
            # Opened for each pass, because the copy's database may become unavailable in between.
            with _opened(
                base_url, to, key, login, history=history, unearned=unearned, entities=entities
            ) as mirror:
                if from_export:
                    _begin(mirror, from_export)
                    from_export = None
                done = mirror.run()
            _report(done, time.monotonic() - began)
        except MastheadError as error:
            is_refused = isinstance(error, ServiceError) and error.status in _CREDENTIALS
            if once or is_refused or isinstance(error, BadInput):
                raise
            _log.error("mirror pass failed", reason=with_hint(error))
        if once:
            return
        time.sleep(max(0.0, began + every - time.monotonic()))


@mirror_group.command("verify")
@click.argument("base_url")
@setting("to")
@setting("key")
@setting("login")
@click.option("--repair", is_flag=True, help="Correct the copy where it differs.")
@click.pass_context
def verify_command(
    ctx: click.Context,
    base_url: str,
    to: str | None,
    key: str | None,
    login: str | None,
    *,
    repair: bool,
) -> None:
    """Update the copy, compare it with its source, and print the differences.

    Exits with 1 if a record is missing, extra, different or set aside, or if there is no copy. With
    --repair, the copy is corrected in one transaction and compared again; the command exits with 0
    if nothing differs then and nothing is set aside.
    """
    configure_logs()
    with _opened(base_url, to, key, login, must_exist=True) as mirror:
        verified = verify(mirror, repair=repair)
    width = max(map(len, verified.counts))
    for table, count in verified.counts.items():
        click.echo(f"{table:<{width}}  {count} compared")
    if verified.repaired:
        _list(verified.repaired)
        click.echo(f"records repaired: {len(verified.repaired)}")
    _list(verified.differences)
    for odd in verified.set_aside:
        click.echo(f"set aside: {_name(odd)}{odd.field and f': {odd.field}'}")
    if verified.not_compared:
        click.echo(f"not compared: {verified.not_compared}")
    counts = Counter(difference.status for difference in verified.differences)
    if verified.set_aside:
        counts["set aside"] = len(verified.set_aside)
    if counts:
        click.echo(
            f"the copy differs: {', '.join(f'{counts[status]} {status}' for status in counts)}"
        )
        ctx.exit(1)
    click.echo("no difference was found" if verified.not_compared else "the copy is complete")


def _list(differences: Iterable[Difference]) -> None:
    for table, status, key_parts in differences:
        click.echo(f"{status}: {table} {'/'.join(map(str, key_parts))}")


def _name(odd: SetAside) -> str:
    """Return table and id of a record; not what is no id, since that may be personal."""
    return f"{odd.table_name} {odd.record_id if odd.has_valid_id else 'without a valid id'}"


@contextmanager
def _opened(
    base_url: str,
    to: str | None,
    key: str | None,
    login: str | None,
    *,
    must_exist: bool = False,
    history: bool = False,
    unearned: bool = False,
    entities: str = "",
) -> Iterator[Mirror]:
    """Open the client and the copy, which may be required to exist; show progress at a terminal."""
    if not to:
        raise BadUsage(
            "name the copy with --to, such as sqlite:///copy.db, "
            "postgresql://host/name, duckdb:///copy.duckdb or parquet://folder/"
        )
    key, login = credentials(key, login)
    names = [name.strip() for name in entities.split(",") if name.strip()]
    with ExitStack() as stack:
        try:
            if names:
                entities_of(names)
                if history:
                    check_history(names)
            client = stack.enter_context(Client(base_url, key, login))
        except BadInput as error:
            raise BadUsage(str(error)) from None
        copy = stack.enter_context(
            closing(open_copy(to, must_exist=must_exist, history=history, unearned=unearned))
        )
        bars = stack.enter_context(progress())
        task = bars.add_task("asking", total=None)

        def tell(doing: str, count: int) -> None:
            bars.update(task, description=f"{doing}: {count}")

        yield Mirror(client, base_url, key, copy, tell, names)


def _begin(mirror: Mirror, folder: Path) -> None:
    if not mirror.start_from_export(folder):
        _log.warning("the copy has begun already: --from-export was not used")


def _report(done: Pass, seconds: float) -> None:
    """Log a pass, as a warning if data was lost or not available, and what it set aside."""
    full_load: dict[str, str] = {}
    if done.full_load:
        full_load["full_load"] = done.full_load
        if done.state.lacking:
            full_load["lacking"] = done.state.lacking
    is_bad = "lacking" in full_load or done.full_load == TOO_OLD
    (_log.warning if is_bad else _log.info)(
        "mirror pass",
        records=done.records,
        removed=done.removed,
        mailing_lists=done.lists,
        changed_since=done.state.changed_since,
        seconds=round(seconds, 3),
        **full_load,
        **({"set_aside": done.set_aside} if done.set_aside else {}),
    )
    for odd in done.new_aside[:_NAMED_MAX]:
        _log.warning(
            "record set aside",
            record=_name(odd),
            field=odd.field,
            request=odd.request,
        )
    if len(done.new_aside) > _NAMED_MAX:
        _log.warning("more records set aside", records=len(done.new_aside) - _NAMED_MAX)
