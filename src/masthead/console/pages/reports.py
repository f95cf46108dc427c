"""Reports: what the books add up to, as a table, with a plot, and as a CSV file."""

import io
from collections.abc import Callable

from starlette.responses import Response

from masthead.circulation.tables import Cell, Kind, Report, Row, written
from masthead.console.forms import id_in
from masthead.console.visit import Visit, get
from masthead.errors import BadInput, NotFound
from masthead.reporting import reports
from masthead.store.books.issue import issues_of
from masthead.store.books.operation import Reading
from masthead.store.books.reports import counting

__all__ = ["pages"]

_OF_AN_ISSUE = ("press-run", "circulation")
_NAMES = {
    "press-run": "Press run",
    "circulation": "Circulation",
    "liability": "Liability",
    "expiries": "Expiries",
    "renewals": "Renewals",
}


def overview(visit: Visit) -> Response:
    """Show which reports there are."""
    return visit.page("reports", names=_NAMES)


def report(visit: Visit) -> Response:
    """Show a report with its plot."""
    issues, made, error = _made(visit)
    return visit.page(
        "report",
        200 if made or not error else 400,
        kind=visit.ids["kind"],
        name=_name(visit),
        needs_issue=visit.ids["kind"] in _OF_AN_ISSUE,
        issues=issues,
        report=made,
        error=error,
        day=visit.query.get("day") or visit.account.today,
        issue=visit.query.get("issue", ""),
        query=visit.request.url.query,
        rows=made and [_written(made, row) for row in made.rows],
        totals=made and [_written(made, row) for row in made.totals],
        is_number=[column.kind is not Kind.TEXT for column in made.columns] if made else [],
        has_plots=_picture() is not None,
    )


def csv_file(visit: Visit) -> Response:
    """Send a report as a CSV file."""
    _, made, error = _made(visit)
    if made is None:
        raise BadInput(error.rstrip(".") or "choose an issue first")
    out = io.StringIO(newline="")
    reports.write_csv(made, out, for_spreadsheets=True)
    return Response(
        out.getvalue().encode(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{visit.ids["kind"]}.csv"'},
    )


def plot(visit: Visit) -> Response:
    """Send the plot of a report as SVG."""
    _, made, error = _made(visit)
    picture = _picture()
    if made is None or picture is None:
        raise BadInput(error.rstrip(".") or "there is no plot")
    return Response(picture(made), media_type="image/svg+xml")


def _picture() -> Callable[[Report], bytes] | None:
    """Return what draws a plot, or None where the extra ``plots`` is not installed."""
    try:
        from masthead.reporting import plots  # noqa: PLC0415 - only its extra brings Matplotlib
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "masthead":
            raise
        return None
    return lambda made: plots.picture(made.chart, "svg")


def _name(visit: Visit) -> str:
    kind = str(visit.ids["kind"])
    if kind not in _NAMES:
        raise NotFound(f"there is no report {kind}")
    return _NAMES[kind]


def _made(visit: Visit) -> tuple[list[tuple[int, str]], Report | None, str]:
    """Return the issues to choose from, the report, and why there is none."""
    kind, day = str(visit.ids["kind"]), visit.query.get("day") or visit.account.today
    _name(visit)
    if not visit.keeps_books:
        return [], None, ""
    issue = visit.query.get("issue", "")
    with counting(visit.store, visit.account_id) as running:
        found = _issues(running)
        if kind in _OF_AN_ISSUE and not issue:
            if not found:
                return found, None, ""
            issue = str(found[0][0])
        try:
            reports.check_day(day, running.today)
            return found, _asked(kind, running, day, issue), ""
        except (BadInput, NotFound) as error:
            text = str(error)
            return found, None, f"{text[:1].upper()}{text[1:]}."


def _issues(running: Reading) -> list[tuple[int, str]]:
    closed = [each for each in issues_of(running) if each.closed_at and each.mailing_list_id]
    closed.sort(key=lambda each: each.date, reverse=True)
    return [(each.issue_id, f"{each.publication} {each.name} ({each.date})") for each in closed]


def _asked(kind: str, running: Reading, day: str, issue: str) -> Report:
    asked = (running.connection, running.account_id)
    if kind in _OF_AN_ISSUE:
        key = id_in(issue)
        if key is None:
            raise BadInput("an issue is chosen by its number")
        if kind == "press-run":
            return reports.press_run_of(*asked, key, day)
        return reports.circulation_of(*asked, key, day)
    if kind == "liability":
        return reports.liability_of(*asked, None if day == running.today else day)
    if kind == "expiries":
        return reports.expiries_of(*asked, day, is_today=day == running.today)
    return reports.renewals_of(*asked, day)


def _written(made: Report, row: Row) -> list[str]:
    return [_cell(cell, column.kind) for cell, column in zip(row, made.columns, strict=True)]


def _cell(value: Cell, kind: Kind) -> str:
    """Return a cell as it is written, with its thousands separated."""
    text = written(value, kind)
    if kind is Kind.TEXT or not text:
        return text
    whole, dot, rest = text.partition(".")
    return f"{'-' if whole.startswith('-') else ''}{abs(int(whole)):,}{dot}{rest}"


pages = [
    get("/reports", overview),
    get("/reports/{kind}", report),
    get("/reports/{kind}/csv", csv_file),
    get("/reports/{kind}/plot.svg", plot),
]
