"""``masthead report``: figures from the books as a table, a CSV or XLSX file, and a plot."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from masthead.books import Books, audit_report, reports
from masthead.circulation.tables import Report, lines
from masthead.cli.books_options import Day
from masthead.cli.options import setting
from masthead.cli.report_files import FILE, check_workbook, make_again, write_files
from masthead.cli.stores import opened
from masthead.contract.moments import is_day
from masthead.errors import BadUsage
from masthead.extras import install
from masthead.reporting.svg_plots import svg

Command = TypeVar("Command", bound=Callable[..., Any])

_ID = click.IntRange(0, 2**63 - 1)
_ENDINGS = (".svg", ".png")
_WIDTH = "900"


@click.group("report")
def report() -> None:
    """Reports of the books: copies, readers and money.

    Each report is a table on the terminal, and with --csv, --xlsx and --plot also a file. It
    counts what had happened until the end of --day. Masthead counts; it claims no audit bureau's
    compliance.
    """


def _asked(command: Command) -> Command:
    """Add the options that all reports of a day share."""
    day = click.option("--day", type=Day(), help="As of a past day: 2026-11-20. [default: now]")
    return day(_written(command))


def _written(command: Command) -> Command:
    """Add the options of the files that all reports can write."""
    options = (
        click.option("--csv", "csv_path", type=FILE, help="Also write the table to this file."),
        click.option(
            "--xlsx",
            "xlsx_path",
            type=FILE,
            help="Also write it to this workbook, whose name ends in .xlsx.",
        ),
        click.option(
            "--plot",
            "plot_path",
            type=FILE,
            help="Also draw it into this file, whose name ends in .svg, or in .png with the extra "
            "plots.",
        ),
        setting("account", kind=_ID),
        setting("database"),
    )
    for option in reversed(options):
        command = option(command)
    return command


_publication = click.option(
    "--publication", type=_ID, help="Id of the publication.  [default: all of them]"
)


@report.command("press-run")
@click.argument("issue", type=_ID)
@_asked
def press_run(issue: int, **options: Any) -> None:
    """The number of copies of ISSUE, by type and country: paid, grace and other.

    It counts the issue's main list and its gap lists. Copies that are neither paid nor grace are
    free, or not paid yet.
    """
    books = _books(**options)
    _show(reports.press_run(books, issue, options["day"]), **options)


@report.command("circulation")
@click.argument("issue", type=_ID)
@_asked
def circulation(issue: int, **options: Any) -> None:
    """The circulation of ISSUE, and its changes since the issue before.

    The figures are by type, audit classification, audit request type and state, paid and not paid,
    print and digital. The issue before + additions - removals = this issue.
    """
    books = _books(**options)
    _show(reports.circulation(books, issue, options["day"]), **options)


@report.command("liability")
@_publication
@click.option("--since", metavar="MONTH", help="Leave earlier months out: 2026-01.")
@_asked
def liability_command(publication: int | None, since: str | None, **options: Any) -> None:
    """What is owed to readers, by publication and month, net of tax and shipping.

    Opening + received - earned - refunded = closing. The revenue of an issue is booked to its date,
    so without --day, the last months may be in the future.
    """
    _month(since)
    books = _books(**options)
    made = reports.liability(books, options["day"], publication_id=publication, since=since or "")
    _show(made, **options)


@report.command("expiries")
@_publication
@_asked
def expiries_command(publication: int | None, **options: Any) -> None:
    """The number of subscriptions by their last issue.

    Last issues are counted by the planned dates of issues. After these, the publication's issues
    per year give the dates. The plot shows copies by the months of the issues.
    """
    books = _books(**options)
    _show(reports.expiries(books, options["day"], publication_id=publication), **options)


@report.command("renewals")
@_asked
def renewals(**options: Any) -> None:
    """The result of the renewal letters, by publication and effort.

    Sent = renewed + went on (to a later effort) + waiting. A renewal is counted with the last
    letter that was sent before it.
    """
    _show(reports.renewals(_books(**options), options["day"]), **options)


@report.command("audit")
@click.argument("issue", type=_ID, required=False)
@click.option("--publication", type=_ID, help="Id of the publication whose issues to average.")
@click.option("--half-year", metavar="HALF", help="Average the issues of 2026-1 or 2026-2.")
@_written
def audit_command(
    issue: int | None, publication: int | None, half_year: str | None, **options: Any
) -> None:
    """The audit report of ISSUE of a free title, or the average of a half-year.

    The copies are counted by class, request type and age of the qualification, by the answers to
    each question, by state and country, and by kind; then the additions and removals since the
    issue before, each with its reason. The report is frozen when the file of the issue is written.
    """
    of_half = publication is not None and half_year is not None
    if (issue is None) != of_half or (issue is not None and (publication or half_year)):
        raise BadUsage("name an issue, or give --publication and --half-year")
    books = _books(**options)
    made = (
        audit_report.of_issue(books, issue)
        if issue is not None
        else audit_report.of_half_year(books, publication or 0, half_year or "")
    )
    _show(made, **options)


def _books(
    *,
    account: int | None,
    database: str,
    plot_path: Path | None,
    xlsx_path: Path | None,
    **_rest: Any,
) -> Books:
    """Return the books of the account. Raises BadUsage for wrong options."""
    if account is None:
        raise BadUsage("name the account with --account")
    if plot_path and plot_path.suffix.lower() not in _ENDINGS:
        raise BadUsage(f"--plot: the name of {plot_path} must end in .svg or .png")
    check_workbook(xlsx_path)
    return Books(opened(database), account)


def _month(text: str | None) -> None:
    """Raise BadUsage if ``text`` is not a month."""
    if text is not None and not is_day(f"{text}-01"):
        raise BadUsage(f"--since: {text!r} is not a month such as 2026-01")


def _show(
    made: Report,
    *,
    csv_path: Path | None,
    xlsx_path: Path | None,
    plot_path: Path | None,
    **_rest: Any,
) -> None:
    """Print a report and write its files."""
    for line in lines(made):
        click.echo(line)
    write_files(made, csv_path, xlsx_path)
    if plot_path:
        _draw(made, plot_path)


def _draw(made: Report, path: Path) -> None:
    """Draw a report's chart; raise BadUsage if a PNG needs the extra for plots."""
    drawn = svg(made, width=_WIDTH).encode() if path.suffix.lower() == ".svg" else _png(made)
    make_again(path)
    path.write_bytes(drawn)


def _png(made: Report) -> bytes:
    try:
        from masthead.reporting import plots  # noqa: PLC0415 - only its extra brings Matplotlib
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "masthead":
            raise
        raise BadUsage(
            "a PNG needs a package that is not installed here: with the file of the release, "
            f"{install('plots')} brings it; an SVG needs none"
        ) from error
    return plots.png(made)
