"""The audit report of a free title, and the sample that an auditor asks for (qualification).

The report of an issue is frozen when its first file is written; before that it is counted now.
"""

import json
import secrets
from collections.abc import Iterable
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation import audit_report
from masthead.circulation.audit_report import Figure
from masthead.circulation.qualifying import Words, said_of
from masthead.circulation.tables import Cell, Chart, Column, Kind, Report, number_of
from masthead.contract.printable import counted, printable
from masthead.errors import BadInput
from masthead.store.books import audit_figures, audit_sample, reports
from masthead.store.books.issue import Issue, find_issue, issues_of
from masthead.store.books.operation import Reading
from masthead.store.books.qualification_forms import form_of
from masthead.store.books.qualifications import words_of

SEED_MAX = 10**9
EVERY_MAX = 10**6
_ENDS = {"1": ("01-01", "06-30"), "2": ("07-01", "12-31")}


def of_issue(books: Books, issue_id: int) -> Report:
    """Return the audit report of an issue: frozen, or counted now if it has no file yet.

    Raises NotFound if there is no such issue, it has no list, or its publication has no form.
    """
    with books.scan() as reading:
        issue = find_issue(reading, issue_id)
        form_of(reading, issue.publication_id)
        found, notes = _figures(reading, issue)
        day = (issue.file_written_at or reading.today)[: len("2026-11-29")]
    title = f"Audit report of {issue.list_name}"
    return audit_report.report(title, found, notes, day)


def of_half_year(books: Books, publication_id: int, half: str) -> Report:
    """Return the average of the issues of a half-year, such as ``2026-2``, by their dates.

    Raises BadInput if it is not a half-year, or no issue of it is closed with a list. Raises
    NotFound if there is no such publication, or it has no form.
    """
    year, _, number = half.partition("-")
    if number not in _ENDS or len(year) != len("2026") or not year.isdecimal():
        raise BadInput(f"{half!r} is not a half-year: write 2026-1 for January to June 2026")
    first, last = (f"{year}-{end}" for end in _ENDS[number])
    with books.scan() as reading:
        form = form_of(reading, publication_id)
        due = [e for e in issues_of(reading, publication_id) if first <= e.date <= last]
        closed = [each for each in due if each.mailing_list_id is not None]
        if not closed:
            raise BadInput(
                f"no issue of {printable(form.publication)} in {half} is closed with a list"
            )
        found = [_figures(reading, each) for each in closed]
        day = reading.today
    notes = [
        f"{issue.name}: {number_of(rows[0].copies, 'copy', 'copies')}, {said[0]}"
        for issue, (rows, said) in zip(closed, found, strict=True)
    ]
    if len(due) > len(closed):
        missing = number_of(len(due) - len(closed), "issue")
        notes.append(f"{missing} of {half} without a list: left out")
    notes.append("A half is rounded up, so the averages of parts need not add up; the sums do.")
    title = f"Average of {form.publication}, {half}"
    return audit_report.average(title, [rows for rows, _ in found], notes, day)


def _figures(reading: Reading, issue: Issue) -> tuple[list[Figure], list[str]]:
    """Return the figures of an issue, and sentences about when they were counted."""
    lists, before = reports.lists_of(reading, issue.issue_id, reading.today)
    if found := audit_figures.frozen(reading, issue.issue_id):
        notes = [f"frozen at {issue.file_written_at}, when the first file was written"]
        later = audit_figures.whole(reading, lists).copies - found[0].copies
        if later:
            notes.append(f"gap lists after that: {counted(later, 'copy', 'copies')}, not counted")
        return found, notes
    counted_now = audit_figures.count(reading, lists, before)
    if issue.file_written_at:
        return counted_now, ["not frozen: its file was written before the title had a form"]
    return counted_now, ["not frozen yet: counted now; the first file freezes it"]


class Sample(NamedTuple):
    """Every nth qualified copy of an issue, with its evidence, and the seed that drew it."""

    report: Report
    seed: int


def sample(books: Books, issue_id: int, every: int, seed: int | None = None) -> Sample:
    """Return every nth qualified copy of an issue's lists, sorted by subscription.

    The first is number ``seed % every`` + 1; without a seed, one is drawn. Raises NotFound as
    :func:`of_issue` does, BadInput if ``every`` or ``seed`` is out of range.
    """
    if not 1 <= every <= EVERY_MAX:
        raise BadInput(f"{every:,} is not from 1 to {EVERY_MAX:,}: the sample has every nth record")
    drawn = secrets.randbelow(SEED_MAX) if seed is None else seed
    if not 0 <= drawn < SEED_MAX:
        raise BadInput(f"the seed {drawn} is not from 0 to {SEED_MAX - 1:,}")
    with books.scan() as reading:
        issue = find_issue(reading, issue_id)
        form_of(reading, issue.publication_id)
        lists, _ = reports.lists_of(reading, issue_id, reading.today)
        total, found = audit_sample.every_nth(reading, lists, every, drawn % every)
        words = words_of(reading)
        day = reading.today
    rows = tuple(_row(each, words) for each in found)
    first = f"from number {drawn % every + 1:,} on, by the seed {drawn}"
    said = (
        f"{number_of(len(rows), 'record')} of {total:,} qualified: one of {every:,}, {first}.",
        "The same seed draws the same records: it begins after the remainder of seed and step.",
    )
    columns = tuple(Column(name, kind) for name, kind in _COLUMNS)
    title = f"Sample of {issue.list_name}"
    return Sample(Report(title, columns, rows, (), Chart((), (), "copies"), said, (), day), drawn)


_COLUMNS = (
    ("number", Kind.COUNT),
    ("subscription", Kind.COUNT),
    ("subscriber", Kind.COUNT),
    ("name", Kind.TEXT),
    ("address", Kind.TEXT),
    ("email", Kind.TEXT),
    ("type", Kind.TEXT),
    ("copies", Kind.COUNT),
    ("audit class", Kind.TEXT),
    ("request type", Kind.TEXT),
    ("qualified on", Kind.DATE),
    ("valid until", Kind.DATE),
    ("answers", Kind.TEXT),
    ("taken by", Kind.TEXT),
    ("evidence", Kind.TEXT),
    ("reference", Kind.TEXT),
    ("recorded at", Kind.TEXT),
)


def _row(each: audit_sample.Sampled, words: Words) -> tuple[Cell, ...]:
    evidence = json.loads(each.evidence) if each.evidence else {}
    return (
        *each[:10],
        each.qualified_on,
        each.valid_until,
        _said(words.of(each.answers)),
        each.taken_by,
        _said(evidence.items()) if isinstance(evidence, dict) else str(evidence),
        each.external_reference,
        each.recorded_at,
    )


def _said(values: Iterable[tuple[str, str]]) -> str:
    return "; ".join(said_of(name, value) for name, value in values)
