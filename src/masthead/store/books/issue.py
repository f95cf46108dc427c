"""An issue of a publication as the operations find it, and the issues of an account."""

from collections.abc import Collection
from typing import NamedTuple

from masthead.contract.moments import is_only_day
from masthead.contract.printable import printable
from masthead.errors import BadInput, NotFound
from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed

_COLUMNS = """
    i.issue_id, coalesce(i.name, ''), coalesce(i.date, ''), i.publication_id,
    coalesce(p.name, ''), p.credit_issues, i.closed_at, i.mailing_list_id, i.file_written_at,
    i.number, i.closes_on, i.mailed_on
    """
_FROM = """
    FROM issues AS i JOIN publications AS p
        ON p.account_id = :account_id AND p.publication_id = i.publication_id
    WHERE i.account_id = :account_id
    """
_BY_ID = f"SELECT {_COLUMNS} {_FROM} AND i.issue_id = :issue_id"


class Issue(NamedTuple):
    """An issue; ``closed_at`` and ``file_written_at`` are times of the account, None before that.

    ``mailing_list_id`` is its main list; None too if it was closed when the books were opened.
    ``closes_on`` is when it should close, and ``mailed_on`` when it goes into the mail; both and
    ``date`` are ``YYYY-MM-DD``.
    """

    issue_id: int
    name: str
    date: str
    publication_id: int
    publication: str
    credit_issues: int
    closed_at: str | None
    mailing_list_id: int | None
    file_written_at: str | None
    number: int | None = None
    closes_on: str | None = None
    mailed_on: str | None = None

    @property
    def title(self) -> str:
        """The issue's name in messages: its publication, name and date, which it says once."""
        if is_only_day(self.name, self.date):
            return printable(f"{self.publication} {self.date}")
        is_whole = self.name.startswith(self.publication)
        name = self.name if is_whole else f"{self.publication} {self.name}".strip()
        return printable(f"{name} ({self.date})")

    @property
    def booked_on(self) -> str:
        """The day to which its deliveries are booked (circulation, "Money")."""
        return self.mailed_on or self.date

    @property
    def list_name(self) -> str:
        """The name of its mailing lists."""
        return f"{self.publication} {self.name}"


def check_publication(books: Reading, publication_id: int) -> None:
    """Raise NotFound unless the account has the publication."""
    if not books.row(
        """
        SELECT 1 FROM publications
        WHERE account_id = :account_id AND publication_id = :publication_id
        """,
        publication_id=publication_id,
    ):
        raise NotFound(
            f"account {books.account_id} has no publication {publication_id}",
            code="not_in_catalogue",
            thing="publication",
        )


def find_issue(books: Reading, issue_id: int) -> Issue:
    """Return an issue. Raises NotFound if there is none, BadInput if it has no date."""
    found = books.row_as(
        Issue,
        _BY_ID,
        issue_id=issue_id,
    )
    if found is None:
        raise NotFound(f"account {books.account_id} has no issue {issue_id}", code="unknown_issue")
    if not found.date:
        raise BadInput(f"{found.list_name} has no date: import one, since dates order issues")
    return found


def title_of(books: Reading, issue_id: int) -> str:
    """Return the title of an issue that exists; the queued rows of an operation stay queued."""
    found = books.direct.row_as(
        Issue,
        _BY_ID,
        account_id=books.account_id,
        issue_id=issue_id,
    )
    assert found is not None
    return found.title


def issues_of(books: Reading, publication_id: int | None = None) -> list[Issue]:
    """Return the issues of the account, or of one publication, sorted by publication and date."""
    of_publication = "" if publication_id is None else "AND i.publication_id = :publication_id"
    values = {} if publication_id is None else {"publication_id": publication_id}
    return books.rows_as(
        Issue,
        f"SELECT {_COLUMNS} {_FROM} {of_publication} ORDER BY i.publication_id, i.date, i.issue_id",
        **values,
    )


def newest_closed(books: Reading, publication_id: int) -> Issue | None:
    """Return the closed issue of a publication with the latest date, or None."""
    closed = [each for each in issues_of(books, publication_id) if each.closed_at]
    return closed[-1] if closed else None


def titles_by_id(books: Reading, ids: Collection[int]) -> dict[int, str]:
    """Return the titles of those issues that exist, by id."""
    if not ids:
        return {}
    found = books.rows_as(Issue, f"SELECT {_COLUMNS} {_FROM} AND i.issue_id IN ({listed(ids)})")
    return {each.issue_id: each.title for each in found}
