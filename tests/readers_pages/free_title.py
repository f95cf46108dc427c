"""A form of Tide: a question that must be answered, one with another answer, and one in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.books import qualification_forms, qualifications
from masthead.books.qualification_forms import Asked, FormValues, GivenClass
from masthead.books.qualifications import Given
from masthead.circulation.qualifying import answer

if TYPE_CHECKING:
    from masthead.books.qualifications import Added
    from tests.circulation.desk import Desk

JOB, BUYS, MORE = 1, 2, 3
ENGINEER, STUDENT = 11, 12
AGREED = "I ask for the free subscription."


def fill(desk: Desk) -> None:
    """Add the form: engineers are served, students are disqualified."""
    fields = ((JOB, "job", "select"), (BUYS, "buys", "checkbox"), (MORE, "more", "textarea"))
    for key, name, type_ in fields:
        desk.put("custom_fields", field_id=key, name=name, display_as=f"Your {name}", type=type_)
    options = ((ENGINEER, JOB, "Engineer"), (STUDENT, JOB, "Student"), (21, BUYS, "Tools"))
    for key, field, value in options:
        desk.put(
            "custom_field_options",
            option_id=key,
            field_id=field,
            value=value,
            display_as=value,
            disqualifier=int(key == STUDENT),
            active=1,
        )
    asked = [Asked("job", is_required=True), Asked("buys", allows_other=True), Asked("more")]
    values = FormValues(asked, months=12, agreed_text=AGREED)
    qualification_forms.set_form(desk.books, 1, values)
    served = GivenClass("eng", "Engineers", conditions={"job": ["Engineer"]})
    rest = GivenClass("unclassified", "Unclassified", is_served=False)
    qualification_forms.set_classes(desk.books, 1, [served, rest])


def retire(desk: Desk, reader: int) -> None:
    """Retire the option of ``BUYS``, which a reader has chosen."""
    desk.put("custom_field_answers", subscriber_id=reader, field_id=BUYS, option_ids="21")
    desk.connection.change(
        "UPDATE custom_field_options SET active = 0 WHERE account_id = 1 AND option_id = 21"
    )


def qualify(desk: Desk, reader: int, on: str = "2025-06-01", **more: Any) -> Added:
    """Add a reader's qualification: an engineer who called."""
    given = Given(
        reader,
        on,
        "telephone",
        {JOB: answer([ENGINEER])},
        taken_by="Pat",
        evidence={"telephone": "+353 21 123"},
        **more,
    )
    return qualifications.add(desk.books, 1, given)
