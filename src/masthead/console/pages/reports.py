"""Reports: figures from the books as a table, a plot, and files for spreadsheets."""

import io
from collections.abc import Callable
from typing import NamedTuple

from starlette.responses import Response

from masthead.books import Books, audit_report, qualification_forms, reports
from masthead.books.days import check_past_day
from masthead.books.issues import Issue, all_of
from masthead.circulation.tables import Cell, Kind, Part, Report, Row, written
from masthead.console.account_figures import Counted
from masthead.console.forms import sentence
from masthead.console.page_request import PageRequest, get
from masthead.console.static_files import static
from masthead.console.templating import issue_and_day
from masthead.contract.moments import in_words
from masthead.errors import BadInput, NotFound
from masthead.reporting.csv_files import write_csv
from masthead.reporting.svg_plots import svg
from masthead.reporting.xlsx_files import write_xlsx
from masthead.web.forms import as_sentence, id_in

_AUDIT = "audit"
_OF_AN_ISSUE = ("press-run", "circulation", _AUDIT)
_HALVES = {"1": "January to June", "2": "July to December"}
_WORDS = {Kind.TEXT, Kind.DATE}
_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_NAMES = {
    "press-run": "Press run",
    "circulation": "Circulation",
    "liability": "Liability",
    "expiries": "Expiries",
    "renewals": "Renewals",
    _AUDIT: "Audit report",
}


def overview(request: PageRequest) -> Response:
    """Show the available reports; the audit report only if a title has a form."""
    has_audit = request.keeps_books and qualification_forms.publications(request.books)
    kinds = [kind for kind in _NAMES if kind != _AUDIT or has_audit]
    return request.page("reports", names=_NAMES, kinds=kinds)


def report(request: PageRequest) -> Response:
    """Show a report with its plot, once the figures are counted."""
    choices, asked, error = _asked(request)
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
        is_audit=request.ids["kind"] == _AUDIT,
        choices=choices,
        report=made,
        error=error,
        day=request.query.get("day") or request.account.today,
        issue=request.query.get("issue", ""),
        query=request.http.url.query,
        url=f"{request.http.url.path}?{request.http.url.query}",
        counted=counted,
        tables=_tables(made) if made else [],
        notes=[as_sentence(note) for note in made.notes] if made else [],
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
    """The requested report; ``issue_id`` is None if the report is not about an issue.

    The audit report may be about a half-year, which is a publication and such as ``2026-2``.
    """

    kind: str
    issue_id: int | None
    day: str
    is_today: bool
    half: tuple[int, str] | None = None


class _Choices(NamedTuple):
    """What may be chosen under a heading, the newest first: values with what is shown."""

    heading: str
    choices: list[tuple[str, str]]


def _asked(request: PageRequest) -> tuple[list[_Choices], _Asked | None, str]:
    """Return what to choose from, the requested report, and what is wrong with the request.

    Raises NotFound for an unknown report.
    """
    kind, today = str(request.ids["kind"]), request.account.today
    if kind not in _NAMES:
        raise NotFound(f"there is no report {kind}")
    if not request.keeps_books:
        return [], None, ""
    day = request.query.get("day") or today
    groups = _choices(request, kind) if kind in _OF_AN_ISSUE else []
    try:
        check_past_day(day, today)
    except BadInput as error:
        return groups, None, sentence(error)
    asked = _Asked(kind, None, day, day == today)
    if kind not in _OF_AN_ISSUE:
        return [], asked, ""
    chosen = request.query.get("issue", "") or (groups[0].choices[0][0] if groups else "")
    first, _, half = chosen.partition("-")
    key = id_in(first)
    if not chosen or key is None or (half and kind != _AUDIT):
        return groups, None, "An issue is chosen by its number." if chosen else ""
    is_half = asked._replace(half=(key, half))
    return groups, is_half if half else asked._replace(issue_id=key), ""


def _choices(request: PageRequest, kind: str) -> list[_Choices]:
    """Return the closed issues; for the audit report those of free titles, and their half-years."""
    closed = [each for each in all_of(request.books) if each.closed_at and each.mailing_list_id]
    closed.sort(key=lambda each: each.date, reverse=True)
    if kind != _AUDIT:
        return [_Choices("Issues", [_choice(each) for each in closed])] if closed else []
    free = set(qualification_forms.publications(request.books))
    closed = [each for each in closed if each.publication_id in free]
    halves = dict(map(_half, closed))
    groups = (
        _Choices("Issues", [_choice(each) for each in closed]),
        _Choices("Averages of half-years", [*halves.items()]),
    )
    return [*groups] if closed else []


def _choice(issue: Issue) -> tuple[str, str]:
    return str(issue.issue_id), f"{issue.publication} {issue_and_day(issue.name, issue.date)}"


def _half(issue: Issue) -> tuple[str, str]:
    """Return the half-year of an issue as a choice."""
    year, month, _ = issue.date.split("-")
    half = "1" if month <= "06" else "2"
    return (
        f"{issue.publication_id}-{year}-{half}",
        f"{issue.publication}, {_HALVES[half]} {year}",
    )


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
    if asked.half:
        return audit_report.of_half_year(books, *asked.half)
    if asked.issue_id is not None and asked.kind == _AUDIT:
        return audit_report.of_issue(books, asked.issue_id)
    if asked.issue_id is not None:
        of_issue = reports.press_run if asked.kind == "press-run" else reports.circulation
        return of_issue(books, asked.issue_id, day)
    if asked.kind == "liability":
        return reports.liability(books, day)
    if asked.kind == "expiries":
        return reports.expiries(books, day)
    return reports.renewals(books, day)


class _Table(NamedTuple):
    """A table of a report in words; ``is_number`` says which columns are numbers."""

    title: str
    head: list[str]
    is_number: list[bool]
    rows: list[list[str]]
    totals: list[list[str]]


def _tables(made: Report) -> list[_Table]:
    whole = Part(made.title, made.columns, made.rows, made.totals)
    return [
        _Table(
            part.title,
            [f"{name[0].upper()}{name[1:]}" for name in made.head_of(part.columns)],
            [column.kind not in _WORDS for column in part.columns],
            [_written(part, row) for row in part.rows],
            [_written(part, row) for row in part.totals],
        )
        for part in made.parts or (whole,)
    ]


def _written(part: Part, row: Row) -> list[str]:
    return [_cell(cell, column.kind) for cell, column in zip(row, part.columns, strict=True)]


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
