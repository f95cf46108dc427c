"""The made-up publisher: calendar, publications with issues, custom fields and mailing lists.

It does not depend on the seed. Days are integers relative to the reference date: yesterday is -1.
"""

from datetime import date, timedelta
from typing import NamedTuple

Row = tuple[str | int | None, ...]

#: The columns of each import file. They are not taken from the contract: files may lack a column,
#: so a new field of the contract needs no change here.
COLUMNS = {
    "publications": "publication_id name issues_per_year late_start grace_counts credit_issues "
    "unlimited_term_months",
    "issues": "issue_id publication_id name date number closes_on",
    "subscribers": "subscriber_id renewal_code email password_md5 first_name last_name source "
    "delete_date",
    "addresses": "address_id subscriber_id first_name last_name company address city state "
    "zip_code country_name country_abbreviation latitude longitude verified",
    "subscriptions": "subscription_id subscriber_id publication_id mailing_address_id "
    "billing_address_id issues copies paid_issues_left unearned_revenue type date_created "
    "date_expired date_last_renewed last_purchase_bundle_id last_purchase_id "
    "renew_campaign_active audit_classification audit_request_type",
    "subscription_issues": "subscription_id issue_id",
    "custom_fields": "field_id name display_as type allow_other",
    "custom_field_options": "option_id field_id value display_as disqualifier active order",
    "custom_field_answers": "subscriber_id field_id option_ids text_value",
    "bundles": "bundle_id name active price tax",
    "bundle_lines": "bundle_id line_number publication_id issues type copies price",
    "products": "product_id name active price tax",
    "orders": "order_id subscriber_id mailing_address_id billing_address_id import_name user_id "
    "channel_id order_date is_gift sub_total tax_total grand_total",
    "order_items": "order_item_id order_id bundle_id product_id refund_date fulfilled_date "
    "sub_total tax_total grand_total",
    "purchases": "purchase_id payment_type notes subscriber_id bundle_id shipping_address_id "
    "billing_address_id name invoice_id total product_total is_gift",
    "list_downloads": "mailing_list_id name status count is_gap grace_from_date grace_issues "
    "parent_mailing_list_id date_created",
    "mailing_list_entries": "mailing_list_id subscription_id copies is_grace is_paid type",
    "renewal_efforts": "publication_id effort issues_left bundle_id key_code",
    "cancellation_reasons": "reason_id name",
    "classes": "class_id name",
}

DAYS_BACK = 3000
_DAYS_AHEAD = 3000
_YEARS_OF_ISSUES = 3
_DAYS_OF_PLAN = 400
_FOUNDED = date(1990, 1, 5)
"""A Friday: the day of the weekly's first issue."""
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKLY = 52
_SEASONS = {3: "Spring", 6: "Summer", 9: "Autumn", 12: "Winter"}


class Calendar:
    """Formats days, which are relative to the reference date; ``today`` is the current day."""

    def __init__(self, reference_date: date) -> None:
        self.reference_date = reference_date
        self.today = 0
        self._days = [
            (reference_date + timedelta(days)).isoformat()
            for days in range(-DAYS_BACK, _DAYS_AHEAD + 1)
        ]
        self._times = [
            f"{minute // 60:02}:{minute % 60:02}:{minute * 37 % 60:02}" for minute in range(1440)
        ]

    def day(self, day: int) -> str:
        """Return a day as ``YYYY-MM-DD``."""
        return self._days[day + DAYS_BACK]

    def time(self, day: int, part: float) -> str:
        """Return ``YYYY-MM-DD hh:mm:ss``, at ``part`` (0 to 1) of the opening hours."""
        return f"{self._days[day + DAYS_BACK]} {self._times[420 + int(part * 840)]}"


class Rules(NamedTuple):
    """How the subscriptions of a publication run (circulation, "What is stored in addition")."""

    late_start: str = "next"
    grace_counts: int = 0
    credit_issues: int = 1
    unlimited_term_months: int = 12


class _Title(NamedTuple):
    name: str
    issues_per_year: int
    price: int
    audited: bool
    types: tuple[str, ...]
    rules: Rules


class Publication(NamedTuple):
    """A publication; ``price`` is the price of a year, in cents.

    ``types`` are the types of its subscriptions; frequent types are repeated.
    """

    publication_id: int
    name: str
    issues_per_year: int
    price: int
    audited: bool
    types: tuple[str, ...]
    rules: Rules
    issue_days: tuple[int, ...]
    issue_names: tuple[str, ...]

    @property
    def first_issue_id(self) -> int:
        """The id of the earliest issue; ids are consecutive."""
        return self.publication_id * 1000

    @property
    def lead_days(self) -> int:
        """The number of days between making an issue's list and the issue's date."""
        return 3 if self.issues_per_year == _WEEKLY else 14


class Option(NamedTuple):
    """A preset answer."""

    value: str
    display_as: str
    disqualifier: int = 0
    active: int = 1


class CustomField(NamedTuple):
    """A custom field; ``answered`` is the share of subscribers who answer it."""

    field_id: int
    name: str
    display_as: str
    type: str
    allow_other: int
    answered: float
    options: tuple[Option, ...] = ()

    @property
    def first_option_id(self) -> int:
        """The id of the first option; ids are consecutive."""
        return self.field_id * 100 + 1


class MailingList(NamedTuple):
    """A mailing list for an issue; ``made_on`` and ``issue_day`` are relative days."""

    mailing_list_id: int
    name: str
    status: str
    made_on: int
    issue_day: int
    grace_issues: int = 0
    grace_days: int = 0
    parent: "MailingList | None" = None


FIELDS = (
    CustomField(
        1,
        "industry",
        "Which industry do you work in?",
        "select",
        1,
        0.8,
        (
            Option("AGR", "Agriculture"),
            Option("MFG", "Manufacturing"),
            Option("EDU", "Education"),
            Option("HLT", "Health care"),
            Option("RET", "Retail & wholesale"),
            Option("GOV", "Government"),
            Option("TEL", "Telegraphy", active=0),
        ),
    ),
    CustomField(
        2,
        "interests",
        "What do you like to read about? (Choose all that apply.)",
        "checkbox",
        0,
        0.7,
        (
            Option("garden", "Garden"),
            Option("sea", "Sea & coast"),
            Option("tools", "Tools"),
            Option("food", "Food & drink"),
            Option("travel", "Travel"),
            Option("kids", "Kids' projects"),
            Option("fax", "News by fax", active=0),
        ),
    ),
    CustomField(
        3,
        "job_function",
        "Which of these describes best what you do?",
        "radio",
        0,
        0.75,
        (
            Option("owner", "Owner or partner"),
            Option("buyer", "Purchasing"),
            Option("maker", "Production"),
            Option("", "Prefer not to say"),
            Option("student", "Student", disqualifier=1),
        ),
    ),
    CustomField(4, "favorite_section", "Your favorite section", "text", 0, 0.35),
    CustomField(
        5,
        "comments",
        "Is there anything else you would like the editors to know? We read every line, even "
        "where we cannot answer each of them; for questions about delivery or an invoice please "
        "write to the reader service instead.",
        "textarea",
        0,
        0.15,
    ),
)

_TITLES = (
    _Title(
        "Harbor & Coast",
        12,
        4995,
        False,
        ("Print", "Print", "Print", "Both", "Digital"),
        Rules(late_start="current", unlimited_term_months=24),
    ),
    _Title(
        "The Northfield Weekly",
        52,
        11900,
        False,
        ("Print", "Both", "Both", "Digital", "Digital"),
        Rules(grace_counts=1, credit_issues=4),
    ),
    _Title(
        "Kitchen Garden Quarterly",
        4,
        2850,
        False,
        ("Print", "Print", "Print", "Print", "Both"),
        Rules(late_start="current"),
    ),
    _Title(
        "Metal & Lathe",
        12,
        6400,
        True,
        ("Print", "Print", "Both", "Digital", "Digital"),
        Rules(grace_counts=1),
    ),
    _Title(
        "Trail Notes", 6, 3610, False, ("Print", "Print", "Both", "Digital", "Digital"), Rules()
    ),
)
#: The status of each title's list for the next issue; other lists are complete.
_STATUSES = ("Pending", "Generating", "Auto-renewal Pending", "Error", "Generating Galley")


def _issue_name(day: date, issues_per_year: int) -> str | None:
    """Return the name of the issue of this day; None if there is no issue."""
    month = _MONTHS[day.month - 1]
    if issues_per_year == _WEEKLY:
        return f"{day.day} {month} {day.year}" if day.weekday() == 4 else None
    if day.day != 1:
        return None
    if issues_per_year == 12:
        return f"{month} {day.year}"
    if issues_per_year == 6:
        return f"{month}/{_MONTHS[day.month]} {day.year}" if day.month % 2 else None
    return f"{_SEASONS[day.month]} {day.year}" if day.month in _SEASONS else None


def _issue_number(day: date, issues_per_year: int) -> int:
    """Return the number of the issue of this day, counted from 1990."""
    if issues_per_year == _WEEKLY:
        return (day - _FOUNDED).days // 7 + 1
    months = (day.year - _FOUNDED.year) * 12 + day.month - 1
    return months * issues_per_year // 12 + 1


class Publisher:
    """The publisher, with dates relative to the reference date."""

    def __init__(self, reference_date: date) -> None:
        self.calendar = Calendar(reference_date)
        self.publications = tuple(
            self._publication(number, title) for number, title in enumerate(_TITLES, 1)
        )
        self.lists = {
            publication.publication_id: self._lists(publication)
            for publication in self.publications
        }

    def rows(self) -> dict[str, list[Row]]:
        """Return the rows of publications, issues, custom fields and their options."""
        day = self.calendar.day
        return {
            "publications": [
                (p.publication_id, p.name, p.issues_per_year, *p.rules) for p in self.publications
            ],
            "issues": [
                (
                    p.first_issue_id + index,
                    p.publication_id,
                    name,
                    day(issue_day),
                    self._number(p, issue_day),
                    day(issue_day - p.lead_days),
                )
                for p in self.publications
                for index, (name, issue_day) in enumerate(
                    zip(p.issue_names, p.issue_days, strict=True)
                )
            ],
            "custom_fields": [field[:5] for field in FIELDS],
            "custom_field_options": [
                (field.first_option_id + index, field.field_id, *option, index + 1)
                for field in FIELDS
                for index, option in enumerate(field.options)
            ],
        }

    def _number(self, publication: Publication, issue_day: int) -> int:
        day = self.calendar.reference_date + timedelta(issue_day)
        return _issue_number(day, publication.issues_per_year)

    def list_row(self, made: MailingList, count: int) -> Row:
        """Return the row of ``list_downloads`` for a list with ``count`` entries."""
        return (
            made.mailing_list_id,
            made.name,
            made.status,
            count,
            int(made.parent is not None),
            self.calendar.day(made.issue_day - made.grace_days) if made.grace_issues else None,
            made.grace_issues,
            made.parent.mailing_list_id if made.parent else None,
            self.calendar.time(made.made_on, 0.25),
        )

    def next_list(
        self, publication: Publication, mailing_list_id: int, made_on: int
    ) -> MailingList:
        """Return a complete list made on ``made_on``, for the next issue after that day."""
        index = next(i for i, day in enumerate(publication.issue_days) if day > made_on)
        return self._list(publication, mailing_list_id, index, made_on)

    def _publication(self, publication_id: int, title: _Title) -> Publication:
        start = self.calendar.reference_date
        issues = [
            (day, issue)
            for day in range(-365 * _YEARS_OF_ISSUES, _DAYS_OF_PLAN)
            if (issue := _issue_name(start + timedelta(day), title.issues_per_year))
        ]
        days, names = zip(*issues, strict=True)
        return Publication(publication_id, *title, days, names)

    def _lists(self, publication: Publication) -> tuple[MailingList, ...]:
        """Return two complete lists, a gap list of the first, and the next issue's list."""
        lead = publication.lead_days
        coming = next(i for i, day in enumerate(publication.issue_days) if day > 0)
        number = publication.publication_id * 10
        before, newest, next_one = (
            self._list(
                publication, number + place, index, min(publication.issue_days[index] - lead, 0)
            )
            for place, index in ((1, coming - 2), (3, coming - 1), (4, coming))
        )
        gap = MailingList(
            number + 2,
            before.name,
            "Complete",
            min(before.made_on + 2 * lead, 0),
            before.issue_day,
            parent=before,
        )
        status = _STATUSES[publication.publication_id - 1]
        return (before, gap, newest, next_one._replace(status=status))

    @staticmethod
    def _list(
        publication: Publication, mailing_list_id: int, index: int, made_on: int
    ) -> MailingList:
        grace_issues = 1 if publication.issues_per_year == 4 else 2
        return MailingList(
            mailing_list_id,
            f"{publication.name} {publication.issue_names[index]}",
            "Complete",
            made_on,
            publication.issue_days[index],
            grace_issues,
            grace_issues * 365 // publication.issues_per_year,
        )
