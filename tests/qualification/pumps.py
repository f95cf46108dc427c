"""The free title of docs/qualification-example.md: what the page says is done, step by step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from masthead.books import audit_report, issues, qualification_forms, qualifications
from masthead.books.qualification_forms import Asked, FormValues, GivenClass
from masthead.books.qualifications import Answer, Given
from tests.circulation.test_closing import term
from tests.docs import page_tables
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from masthead.books.issues import MailingList
    from masthead.circulation.tables import Report, Row
    from tests.circulation.desk import Desk

PAGE = (ROOT / "docs" / "qualification-example.md").read_text()
NOTHING = "-"
READERS = ("Ada", "Ben", "Cem", "Dee", "Eli", "Fay", "Gus", "Hal", "Ida", "Joe")
ISSUES = {"March": 1, "April": 2, "May": 3}
_OPTIONS = {
    "Job": {"Engineer": 11, "Designer": 12, "Student": 13},
    "Industry": {"Water": 21, "Oil": 22},
}
_FIELDS = {"Job": 1, "Industry": 2}

table = partial(page_tables.table, PAGE)
"""The rows of the only table of the page whose header begins so."""

STEPS = table("day", "step")


class Pumps:
    """What happens on the page, and what the lists and reports are afterwards."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.lists: dict[str, MailingList] = {}
        self._prepare()
        for day, step, reader, *answers in STEPS:
            desk.to(day)
            self._do(step, reader, answers)

    def _prepare(self) -> None:
        desk = self.desk
        desk.empty()
        desk.to("2026-03-01")
        desk.put("publications", publication_id=1, name="Pumps", late_start="current")
        desk.put_many(
            "issues",
            [
                {"issue_id": number, "publication_id": 1, "name": name, "date": f"2026-0{month}-15"}
                for month, (name, number) in enumerate(ISSUES.items(), 3)
            ],
        )
        desk.put_many(
            "subscribers",
            [{"subscriber_id": key, "first_name": name} for key, name in enumerate(READERS, 1)],
        )
        same = {"address": "1 Quay", "city": "Salem", "country_name": "US"}
        desk.put_many(
            "addresses",
            [
                {
                    "address_id": key,
                    "subscriber_id": key,
                    "state": "WA" if name == "Ben" else "OR",
                    **same,
                }
                for key, name in enumerate(READERS, 1)
            ],
        )
        desk.put_many(
            "custom_fields",
            [{"field_id": key, "name": name, "type": "radio"} for name, key in _FIELDS.items()],
        )
        desk.put_many(
            "custom_field_options",
            [
                {
                    "option_id": key,
                    "field_id": _FIELDS[field],
                    "value": value,
                    "disqualifier": int(value == "Student"),
                }
                for field, options in _OPTIONS.items()
                for value, key in options.items()
            ],
        )
        asked = (Asked("Job", is_required=True), Asked("Industry"))
        qualification_forms.set_form(desk.books, 1, FormValues(asked))
        classes = [self._class(*row) for row in table("class")]
        qualification_forms.set_classes(desk.books, 1, classes)

    @staticmethod
    def _class(code: str, condition: str, served: str, quota: str) -> GivenClass:
        conditions = {
            field: [value]
            for field, _, value in (each.partition(" is ") for each in condition.split(" and "))
            if value
        }
        ceiling = None if quota == NOTHING else int(quota)
        return GivenClass(code, code, served == "yes", ceiling, conditions)

    def _do(self, step: str, reader: str, answers: list[str]) -> None:
        what, _, name = step.rpartition(" ")
        books = self.desk.books
        if step.startswith("answers"):
            self.answer(reader, *answers, digital="digital" in step)
        elif step.startswith("pays"):
            self._pay(reader)
        elif what == "closes":
            preview = issues.preview(books, ISSUES[name])
            made = self.lists[step] = issues.close(books, ISSUES[name])
            assert tuple(preview) == (made.press_run, made.held, made.lapsed)
        elif what.startswith("gap list"):
            self.lists[step] = issues.make_gap_list(books, ISSUES[name])
        else:
            assert what == "file of"
            issues.mark_written(books, ISSUES[name])

    def answer(
        self, reader: str, day: str, job: str, industry: str, request: str, *, digital: bool = False
    ) -> None:
        """Let a reader answer the questionnaire."""
        answers = {
            _FIELDS[field]: Answer((_OPTIONS[field][value],))
            for field, value in (("Job", job), ("Industry", industry))
            if value != NOTHING
        }
        number = READERS.index(reader) + 1
        evidence = {"call": f"no. {number}"}
        type_ = "Digital" if digital else None
        given = Given(number, day, request, answers, evidence=evidence, type=type_)
        qualifications.add(self.desk.books, 1, given)

    def _pay(self, reader: str) -> None:
        """Let a reader have two paid issues, as an order would write them."""
        ((key,),) = self.desk.rows(
            """SELECT subscription_id FROM subscriptions
            WHERE account_id = :account_id AND subscriber_id = :number""",
            number=READERS.index(reader) + 1,
        )
        self.desk.put("terms", **term(1, key, 2, 2))
        self.desk.refresh()

    def reports(self) -> dict[str, Report]:
        """Return the audit report of each issue."""
        return {
            name: audit_report.of_issue(self.desk.books, number) for name, number in ISSUES.items()
        }


def figures(reports: dict[str, Report]) -> list[Row]:
    """Return the copies of all reports side by side, without the whole and the changes."""
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for issue, report in reports.items():
        for *key, _, copies, _, _ in report.rows:
            if key[0] not in {"issue", "change"}:
                said = tuple(str(each) or NOTHING for each in key)
                found.setdefault(said, {})[issue] = int(copies or 0)
    return [(*key, *(str(row.get(issue, 0)) for issue in reports)) for key, row in found.items()]


def changes(reports: dict[str, Report]) -> list[Row]:
    """Return the changes of all reports, one after the other."""
    return [
        (issue, *(str(each) for each in row[1:3]), *(str(each) for each in row[4:6]))
        for issue, report in reports.items()
        for row in report.rows
        if row[0] == "change"
    ]


def lists(pumps: Pumps) -> list[list[str]]:
    """Return the lists as the page has them."""
    return [
        [
            *(step, str(made.entries), str(made.lapsed)),
            ", ".join(f"{READERS[each.subscriber_id - 1]} {each.why}" for each in made.held),
        ]
        for step, made in pumps.lists.items()
    ]


def check(pumps: Pumps) -> None:
    """Compare everything with the page."""
    assert lists(pumps) == table("list", "entries")
    reports = pumps.reports()
    assert sorted(map(list, figures(reports))) == sorted(table("part", "value", "of it"))
    assert list(map(list, changes(reports))) == table("issue", "change")
    for report in reports.values():
        check_sums(report)


def check_sums(report: Report) -> None:
    """Check that each part adds up to the whole, and the changes from the issue before to it."""
    whole = report.rows[0][4:]
    sums: dict[tuple[str, str], list[int]] = {}
    for part, value, _, _, *counts in report.rows[1:]:
        sign = -1 if value == "removal" else 1
        key = (str(part), str(value) if part == "answer" else "")
        before = sums.get(key, [0] * len(counts))
        sums[key] = [a + sign * int(b or 0) for a, b in zip(before, counts, strict=True)]
    assert {key: tuple(total) for key, total in sums.items()} == dict.fromkeys(sums, whole)
