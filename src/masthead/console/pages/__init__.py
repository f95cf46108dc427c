"""The pages, one module each: what the page shows, and what its forms do."""

from masthead.console.page_request import Page
from masthead.console.pages import (
    audit_log,
    cancelling,
    complaint,
    erasing,
    feed,
    find,
    issues,
    lists,
    loads,
    merging,
    moving,
    order_payments,
    orders,
    partners,
    reader_login,
    renewals,
    replacements,
    reports,
    subscriber,
    subscriber_edit,
    subscription,
    today,
)

__all__ = ["PAGES"]

PAGES: list[Page] = [
    *today.pages,
    *find.pages,
    *subscriber.pages,
    *subscriber_edit.pages,
    *moving.pages,
    *reader_login.pages,
    *erasing.pages,
    *merging.pages,
    *subscription.pages,
    *cancelling.pages,
    *complaint.pages,
    *orders.pages,
    *order_payments.pages,
    *issues.pages,
    *replacements.pages,
    *renewals.pages,
    *reports.pages,
    *lists.pages,
    *partners.pages,
    *loads.pages,
    *feed.pages,
    *audit_log.pages,
]
