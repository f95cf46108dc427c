"""The free title of the demo: a trade magazine for those who qualify, and readers who did."""

from datetime import date, timedelta

from masthead.books import (
    Books,
    issues,
    opening,
    qualification_forms,
    qualifications,
    requalifications,
    subscribers,
)
from masthead.books.qualification_forms import Asked, FormValues, GivenClass
from masthead.books.qualifications import Given
from masthead.circulation.requalifying import Effort

_LATHE = 4
_MONTHS = 12
_FORM = FormValues(
    (Asked("job_function", is_required=True), Asked("industry", allows_other=True)),
    months=_MONTHS,
    agreed_text="Please send me Metal & Lathe free of charge.",
)
_CLASSES = (
    GivenClass(
        "buyer", "Owners and buyers", quota=5_000, conditions={"job_function": ["owner", "buyer"]}
    ),
    GivenClass("maker", "Production", quota=2_000, conditions={"job_function": ["maker"]}),
    GivenClass("unclassified", "All others", is_served=False),
)
_EFFORTS = (
    Effort(_LATHE, 1, 90, "email"),
    Effort(_LATHE, 2, 60, "letter"),
    Effort(_LATHE, 3, 30, "telephone"),
)
_READERS = 24
_AMONG = range(60, 120)
_DAYS_BETWEEN = 15
_SAID = (
    ("telephone", "owner", "MFG", {"telephone": "+1 402 555 0142"}),
    ("web", "maker", "MFG", {"ip_address": "192.0.2.17"}),
    ("written", "buyer", "RET", {"file": "forms/2026/0017.pdf"}),
    ("web", "student", "EDU", {"ip_address": "192.0.2.90"}),
    ("company", "maker", "AGR", {"file": "lists/fair-2026.csv"}),
)
"""How readers asked, what they answered, and the evidence, in turns."""


def begin(books: Books) -> None:
    """Let the demo's trade magazine be free; some readers qualified over the last year.

    Its next issue is closed with its file, so there is an audit report to look at.
    """
    form = qualification_forms.set_form(books, _LATHE, _FORM).form
    qualification_forms.set_classes(books, _LATHE, _CLASSES)
    for each in _EFFORTS:
        requalifications.set_effort(books, each)
    today = date.fromisoformat(opening.account_of(books).today)
    given = []
    for number, reader in enumerate(_readers(books)):
        request, job, industry, evidence = _SAID[number % len(_SAID)]
        pairs = [("job_function", job), ("industry", industry)]
        given.append(
            Given(
                reader,
                (today - timedelta(number * _DAYS_BETWEEN)).isoformat(),
                request,
                qualification_forms.read_answers(form, pairs),
                taken_by="demo",
                evidence=evidence,
            )
        )
    with books.change() as change:
        done = qualifications.add_many(change, _LATHE, given)
        change.say(f"{len(done)} readers qualified for {form.publication}")
    found = issues.all_of(books, _LATHE)
    coming = next(each.issue_id for each in found if not each.closed_at)
    issues.close(books, coming)
    issues.mark_written(books, coming)


def _readers(books: Books) -> list[int]:
    """Return readers who are not deleted."""
    found = subscribers.people(books, _AMONG)
    return [key for key in _AMONG if key in found and not found[key].delete_date][:_READERS]
