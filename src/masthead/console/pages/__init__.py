"""The pages, a file for each: what it shows, and what its forms do."""

from masthead.console.pages import find, log, subscriber, subscriber_edit, subscription, today
from masthead.console.visit import Page

__all__ = ["PAGES"]

PAGES: list[Page] = [
    *today.pages,
    *find.pages,
    *subscriber.pages,
    *subscriber_edit.pages,
    *subscription.pages,
    *log.pages,
]
