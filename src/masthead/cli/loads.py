"""``masthead loads``: what was loaded, when, by whom, and with which result."""

import click
import msgspec

from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.cli.streams import echo_json
from masthead.contract.moments import format_second
from masthead.contract.printable import printable
from masthead.store import accounts, loads
from masthead.store.loads import Load

_UNTIL_MINUTES_S = 120


@click.command("loads")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Lines of text, or JSON objects.",
)
@setting("account", kind=click.IntRange(0, 2**63 - 1))
@setting("database")
def loads_command(form: str, account: int | None, database: str) -> None:
    """Print the last loads of all accounts, or of one, the newest last, with times in UTC.

    The last 100 loads of each account are kept. A load without an end was interrupted, unless it is
    still running.
    """
    store = opened(database)
    if account is not None:
        with store.writer() as connection:
            accounts.settings_of(connection, account)
    for load in loads.loads(store, account):
        if form == "json":
            echo_json(msgspec.json.encode(_record(load)))
        else:
            click.echo(_line(load))


def _record(load: Load) -> dict[str, object]:
    ended = load.ended_at
    return {
        **load._asdict(),
        "started_at": format_second(load.started_at),
        "ended_at": None if ended is None else format_second(ended),
        "duration_s": None if ended is None else (ended - load.started_at) / 1_000_000,
    }


def _line(load: Load) -> str:
    what = [f"{format_second(load.started_at)}  account {load.account_id}  {load.outcome}"]
    if load.ended_at is not None:
        what.append(_duration((load.ended_at - load.started_at) / 1_000_000))
    files = "1 file" if len(load.files) == 1 else f"{len(load.files)} files"
    what.append(files)
    if load.outcome == "good":
        sums: dict[str, int] = {}
        for counts in load.counts.values():
            for name, count in counts.items():
                sums[name] = sums.get(name, 0) + count
        sums["set aside"] = load.rejected
        what.append(", ".join(f"{count} {name}" for name, count in sums.items()))
    if load.command:
        what.append(printable(f"{load.command} (by {load.user_name})"))
    if load.reason:
        what.append(printable(load.reason))
    return "  ".join(what)


def _duration(seconds: float) -> str:
    if seconds < _UNTIL_MINUTES_S:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min"
