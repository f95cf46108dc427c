"""Reports: figures from the books as a table, a plot, and files for spreadsheets."""

import io
from collections.abc import Callable
from typing import NamedTuple

from starlette.responses import Response

from masthead.books import Books, reports
from masthead.books.days import check_past_day
from masthead.books.issues import all_of
from masthead.circulation.tables import Cell, Kind, Report, Row, written
from masthead.console.account_figures import Counted
from masthead.console.forms import sentence
from masthead.console.page_request import PageRequest, get
from masthead.console.static_files import static
from masthead.contract.moments import in_words
from masthead.errors import BadInput, NotFound
from masthead.reporting.csv_files import write_csv
from masthead.reporting.svg_plots import svg
from masthead.reporting.xlsx_files import write_xlsx
from masthead.web.forms import id_in

_OF_AN_ISSUE = ("press-run", "circulation")
_WORDS = {Kind.TEXT, Kind.DATE}
_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_NAMES = {
    "press-run": "Press run",
    "circulation": "Circulation",
    "liability": "Liability",
    "expiries": "Expiries",
    "renewals": "Renewals",
}


def overview(request: PageRequest) -> Response:
    """Show the available reports."""
    return request.page("reports", names=_NAMES)


def report(request: PageRequest) -> Response:
    """Show a report with its plot, once the figures are counted."""
    issues, asked, error = _asked(request)
    counted: Counted[Report | str] = Counted(None, None, is_current=True)
    if asked:
        counted = request.counted(asked, _count(request, asked))
    made: Report | None = None
    if isinstance(counted.value, str):
        error = counted.value
    else:
        made = counted.value
    return request.page(
        "report",
        400 if error else 200,
        kind=request.ids["kind"],
        name=_NAMES[request.ids["kind"]],
        needs_issue=request.ids["kind"] in _OF_AN_ISSUE,
        issues=issues,
        report=made,
        error=error,
        day=request.query.get("day") or request.account.today,
        issue=request.query.get("issue", ""),
        query=request.http.url.query,
        url=f"{request.http.url.path}?{request.http.url.query}",
        counted=counted,
        rows=made and [_written(made, row) for row in made.rows],
        totals=made and [_written(made, row) for row in made.totals],
        head=[f"{name[0].upper()}{name[1:]}" for name in made.head] if made else [],
        is_number=[column.kind not in _WORDS for column in made.columns] if made else [],
        plot=made and svg(made),
    )


def csv_file(request: PageRequest) -> Response:
    """Send a report as a CSV file."""
    made = _downloaded(request)
    out = io.StringIO(newline="")
    write_csv(made, out)
    return _file(request, out.getvalue().encode(), "csv", "text/csv; charset=utf-8")


def xlsx_file(request: PageRequest) -> Response:
    """Send a report as a workbook."""
    made, out = _downloaded(request), io.BytesIO()
    write_xlsx(made, out)
    return _file(request, out.getvalue(), "xlsx", _WORKBOOK)


def plot(request: PageRequest) -> Response:
    """Send the plot of a report as SVG, in the colours of the pages."""
    drawn = svg(_downloaded(request), stylesheet=static("console.css"))
    return Response(drawn, media_type="image/svg+xml")


def _file(request: PageRequest, content: bytes, ending: str, media_type: str) -> Response:
    name = f"{request.ids['kind']}.{ending}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


class _Asked(NamedTuple):
    """The requested report; ``issue_id`` is None if the report is not about an issue."""

    kind: str
    issue_id: int | None
    day: str
    is_today: bool


def _asked(request: PageRequest) -> tuple[list[tuple[int, str]], _Asked | None, str]:
    """Return the issues to choose from, the requested report, and what is wrong with the request.

    Raises NotFound for an unknown report.
    """
    kind, today = str(request.ids["kind"]), request.account.today
    if kind not in _NAMES:
        raise NotFound(f"there is no report {kind}")
    if not request.keeps_books:
        return [], None, ""
    day, issue = request.query.get("day") or today, request.query.get("issue", "")
    try:
        check_past_day(day, today)
    except BadInput as error:
        return [], None, sentence(error)
    if kind not in _OF_AN_ISSUE:
        return [], _Asked(kind, None, day, day == today), ""
    issues = _issues(request)
    if not issue:
        return issues, _Asked(kind, issues[0][0], day, day == today) if issues else None, ""
    key = id_in(issue)
    if key is None:
        return issues, None, "An issue is chosen by its number."
    return issues, _Asked(kind, key, day, day == today), ""


def _issues(request: PageRequest) -> list[tuple[int, str]]:
    closed = [each for each in all_of(request.books) if each.closed_at and each.mailing_list_id]
    closed.sort(key=lambda each: each.date, reverse=True)
    return [
        (each.issue_id, f"{each.publication} {each.name}, {in_words(each.date)}") for each in closed
    ]


def _downloaded(request: PageRequest) -> Report:
    _, asked, error = _asked(request)
    if asked is None:
        raise BadInput(error or "choose an issue first")
    made = request.for_download(asked, _count(request, asked))
    if isinstance(made, str):
        raise BadInput(made)
    return made


def _count(request: PageRequest, asked: _Asked) -> Callable[[], Report | str]:
    """Return the function that counts a report; it returns a sentence if there is no report."""
    books = request.books

    def count() -> Report | str:
        try:
            return _made(books, asked)
        except (BadInput, NotFound) as error:
            return sentence(error)

    return count


def _made(books: Books, asked: _Asked) -> Report:
    day = None if asked.is_today else asked.day
    if asked.issue_id is not None:
        of_issue = reports.press_run if asked.kind == "press-run" else reports.circulation
        return of_issue(books, asked.issue_id, day)
    if asked.kind == "liability":
        return reports.liability(books, day)
    if asked.kind == "expiries":
        return reports.expiries(books, day)
    return reports.renewals(books, day)


def _written(made: Report, row: Row) -> list[str]:
    return [_cell(cell, column.kind) for cell, column in zip(row, made.columns, strict=True)]


def _cell(value: Cell, kind: Kind) -> str:
    """Return the text of a cell, with days in words and thousands separators."""
    text = written(value, kind)
    if kind is Kind.DATE:
        return in_words(text)
    if kind is Kind.TEXT or not text:
        return text
    whole, dot, rest = text.partition(".")
    return f"{'-' if whole.startswith('-') else ''}{abs(int(whole)):,}{dot}{rest}"


pages = [
    get("/reports", overview),
    get("/reports/{kind}", report),
    get("/reports/{kind}/csv", csv_file),
    get("/reports/{kind}/xlsx", xlsx_file),
    get("/reports/{kind}/plot.svg", plot),
]
