"""The things of the catalogue as records. ``price`` and ``tax`` are cents."""

from typing import NamedTuple


class Publication(NamedTuple):
    """A publication with its settings; ``grace_counts`` is 0 or 1."""

    publication_id: int
    name: str | None
    issues_per_year: int
    late_start: str
    grace_counts: int
    credit_issues: int
    unlimited_term_months: int


class PlannedIssue(NamedTuple):
    """An issue in the plan; it is closed if it has ``closed_at``."""

    issue_id: int
    publication_id: int
    name: str | None
    number: int | None
    date: str | None
    closes_on: str | None
    mailed_on: str | None
    closed_at: str | None


class Product(NamedTuple):
    """Something sold beside subscriptions; ``price`` and ``tax`` are cents."""

    product_id: int
    name: str | None
    price: int
    tax: int
    is_active: bool


class Bundle(NamedTuple):
    """A bundle; ``price`` and ``tax`` are cents, ``is_active`` says whether it is for sale."""

    bundle_id: int
    name: str | None
    price: int
    tax: int
    is_active: bool
