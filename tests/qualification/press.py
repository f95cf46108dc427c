"""An account with Forge, a monthly magazine that is free to those who qualify, and three readers.

The form asks for the job (required), the industry (another answer is allowed) and the size. Readers
who are students are disqualified. Chief executives are in the class ``chief``, engineers of large
firms in ``engineer``, all others in ``unclassified``, which is not served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.books import qualification_forms, qualifications
from masthead.books.qualification_forms import Asked, FormValues, GivenClass
from masthead.books.qualifications import Given
from masthead.circulation.qualifying import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from masthead.books.qualifications import Added
    from tests.circulation.desk import Desk

TODAY = "2026-04-15"
JOB, INDUSTRY, SIZE = 1, 2, 3
CHIEF, ENGINEER, STUDENT = 11, 12, 13
STEEL, SMALL, LARGE = 21, 31, 32
ASKED = (Asked("job", is_required=True), Asked("industry", allows_other=True), Asked("size"))
CLASSES = (
    GivenClass("chief", "Chief executives", quota=100, conditions={"job": ["chief"]}),
    GivenClass(
        "engineer", "Engineers", conditions={"job": ["engineer", "student"], "size": ["large"]}
    ),
    GivenClass("unclassified", "All others", is_served=False),
)


def fill(desk: Desk) -> None:
    """Write the account's rows; four issues of 2026 are closed, the first two with lists."""
    desk.empty()
    desk.to(TODAY)
    desk.put("publications", publication_id=1, name="Forge", issues_per_year=12)
    desk.put("publications", publication_id=2, name="Tide", issues_per_year=12)
    for n in (1, 2):
        made = "2026-04-01 00:00:00"
        desk.put("list_downloads", mailing_list_id=n, name=f"Forge {n}", date_created=made)
    desk.put_many(
        "issues",
        [
            {
                "issue_id": n,
                "publication_id": 1,
                "name": f"Forge {n}",
                "date": f"2026-{n:02}-01",
                "closed_at": "2026-04-01 00:00:00" if n <= 4 else None,
                "mailing_list_id": {3: 1, 4: 2}.get(n),
            }
            for n in range(1, 13)
        ],
    )
    desk.put_many(
        "custom_fields",
        [
            {"field_id": n, "name": name, "display_as": f"Your {name}?", "type": type_}
            for n, name, type_ in (
                (JOB, "job", "radio"),
                (INDUSTRY, "industry", "checkbox"),
                (SIZE, "size", "select"),
            )
        ],
    )
    desk.put_many(
        "custom_field_options",
        [
            {
                "option_id": key,
                "field_id": key // 10,
                "value": value,
                "display_as": value.title(),
                "disqualifier": int(key == STUDENT),
                "active": 1,
            }
            for key, value in (
                (CHIEF, "chief"),
                (ENGINEER, "engineer"),
                (STUDENT, "student"),
                (STEEL, "steel"),
                (SMALL, "small"),
                (LARGE, "large"),
            )
        ],
    )
    for n, name in enumerate(("Ada", "Ben", "Cora"), 1):
        desk.put("subscribers", subscriber_id=n, first_name=name, last_name="Ames")
        desk.put("addresses", address_id=n, subscriber_id=n, address=f"{n} Oak", city="Cork")


def open_form(desk: Desk) -> None:
    """Give Forge its form and its classes."""
    qualification_forms.set_form(desk.books, 1, FormValues(ASKED))
    qualification_forms.set_classes(desk.books, 1, CLASSES)


def said(*options: int, **text: str) -> dict[int, Answer]:
    """Return answers: the options that were chosen, and another industry."""
    fields = {each // 10 for each in options} | {INDUSTRY for _ in text}
    return {
        field: Answer(
            tuple(sorted(each for each in options if each // 10 == field)),
            text.get("industry", "") if field == INDUSTRY else "",
        )
        for field in fields
    }


def qualify(
    desk: Desk,
    reader: int,
    on: str,
    answers: Mapping[int, Answer],
    request: str = "web",
    **more: Any,
) -> Added:
    """Add a qualification of a reader for Forge."""
    return qualifications.add(desk.books, 1, Given(reader, on, request, answers, **more))
