"""The pages of a list, and the check that their links do not form a loop."""

from typing import Any, Generic, NamedTuple, TypeVar

from masthead.client.requests import Request
from masthead.errors import UnexpectedResponse

_PAGES_MAX = 1_000_000
"""A list with more pages counts as endless."""

Result = TypeVar("Result")


class Page(NamedTuple, Generic[Result]):
    """A page of a list: its records, and the request for the next page, if there is one.

    ``has_omitted``: it had odd records, which are omitted.
    """

    records: list[Result]
    next_request: Request[list[Result]] | None
    has_omitted: bool = False


class LoopCheck:
    """Detects lists whose links to the next page form a loop.

    A list has a loop if two pages start with the same id, or if two empty pages have a next page.
    A page of which all records are omitted is known by its link to the next one.
    """

    def __init__(self) -> None:
        self._seen: set[int | str | None] = set()
        """For each page, its first id, its link, or None for an empty page."""

    def check(self, request: Request[list[Any]], page: Page[Any]) -> None:
        """Raise UnexpectedResponse for a repeated page, and for too many pages."""
        if not page.records and not page.next_request:
            return
        key: int | str | None = None
        if page.records:
            first = page.records[0]
            key = getattr(first, first.__struct_fields__[0])
        elif page.has_omitted and page.next_request:
            key = page.next_request.url
        if key in self._seen:
            fault = "the same page comes again: its links to the next one lead in a circle"
            raise UnexpectedResponse(request.path, 200, fault)
        if len(self._seen) == _PAGES_MAX:
            fault = f"the list has more than {_PAGES_MAX:,} pages"
            raise UnexpectedResponse(request.path, 200, fault)
        if page.next_request:
            self._seen.add(key)
