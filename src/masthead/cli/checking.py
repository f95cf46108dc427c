"""``masthead check``: compares a service with the interface."""

import math
import sys
from collections.abc import Sequence

import click
import msgspec
from rich.console import Console
from rich.table import Table

from masthead.checker import CHECKS, Finding, Report, check
from masthead.cli.options import credentials, setting
from masthead.cli.progress import progress
from masthead.cli.streams import echo_json, own_terminal
from masthead.contract.printable import printable
from masthead.errors import BadInput, BadUsage


@click.command("check")
@click.argument("base_url")
@setting("key")
@setting("login")
@click.option(
    "--rate",
    type=click.FloatRange(0.1, 1000),
    default=5,
    show_default=True,
    help="Requests a second, at most.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A table, or a JSON object.",
)
@click.option(
    "--show-ids",
    is_flag=True,
    help="Show ids of records in the requests that repeat the findings.",
)
@click.pass_context
def check_command(
    ctx: click.Context,
    base_url: str,
    key: str | None,
    login: str | None,
    rate: float,
    form: str,
    *,
    show_ids: bool,
) -> None:
    """Compare a service with the interface; this only reads.

    Prints each difference with the section of the interface. Where the interface leaves a question
    open, prints a note if the service does not do what clients expect. Each finding has a request
    that repeats it, without values of records. Exits with 1 if there is a difference.
    """
    key, login = credentials(key, login)
    if math.isnan(rate):
        raise BadUsage("--rate: nan is no number of requests")
    with progress() as bars:
        task = bars.add_task("asking", total=sum(map(len, CHECKS.values())))
        try:
            report = check(
                base_url,
                key,
                login,
                rate,
                lambda title, number: bars.update(task, description=title, completed=number),
                show_ids=show_ids,
            )
        except BadInput as error:
            raise BadUsage(str(error)) from None
    if form == "json":
        echo_json(msgspec.json.encode(_as_json(report)))
    else:
        _print(report)
    if report.ended:
        raise report.ended
    ctx.exit(1 if report.differences else 0)


def _as_json(report: Report) -> dict[str, object]:
    return {
        "differences": [_record(finding) for finding in report.differences],
        "notes": [_record(finding) for finding in report.notes],
        "not_tried": [
            {"check": title, "reason": reason} for title, reason in report.not_tried.items()
        ],
        "checks": report.checks,
        "requests": report.requests,
        "ended": str(report.ended) if report.ended else None,
    }


def _record(finding: Finding) -> dict[str, str]:
    record = finding._asdict()
    del record["severity"]
    return record


def _print(report: Report) -> None:
    console = Console(file=own_terminal(sys.stdout), highlight=False, markup=False)
    for title, findings in (
        ("Differences from the interface", report.differences),
        ("Notes on what the interface leaves open", report.notes),
    ):
        if findings:
            console.print(_table(title, findings))
            for number, finding in enumerate(findings, 1):
                # In one line, from which a terminal copies it whole.
                console.print(f"{number}: {printable(finding.repeat)}", soft_wrap=True)
    for title, reason in report.not_tried.items():
        console.print(f"not tried: {title} ({printable(reason)})")
    console.print(
        f"{report.checks} checks, {report.requests} requests; differences: "
        f"{len(report.differences)}, notes: {len(report.notes)}, "
        f"not tried: {len(report.not_tried)}"
    )


def _table(title: str, findings: Sequence[Finding]) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("", "Interface", "Request", "Field", "What"):
        table.add_column(heading, overflow="fold")
    for number, finding in enumerate(findings, 1):
        cells = (finding.section, finding.request, finding.field, finding.text)
        table.add_row(str(number), *map(printable, cells))
    return table
