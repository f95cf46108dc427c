"""A publisher with a few readers, whose pages are served; a second publisher beside it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import billing_settings, page_settings
from masthead.books.account import Books
from masthead.databases.postgresql.connection import PostgresConnection
from masthead.databases.sqlite import SqliteConnection
from masthead.store import accounts, passwords
from tests.billing.outboxes import MAIL_FROM
from tests.circulation.desk import at_desk
from tests.console.log_lines import log_lines
from tests.readers.browser import SITE, serving_readers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from masthead.databases.queries import Bound
    from tests.circulation.desk import Desk
    from tests.readers.browser import Pages
    from tests.servers import Store

__all__ = ["log_lines"]

PASSWORD = "correct horse"
POSTAL_CODE = "10001"
OTHER_SITE = "ebb"


def email_of(number: int) -> str:
    """Return the email of a reader."""
    return f"{number}@example.org"


def code_of(number: int) -> str:
    """Return the renewal code of a reader."""
    return f"CODE{number}"


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """Account 1 with the site ``tide``, and account 2, whose books are elsewhere, with ``ebb``.

    Tests that change a record take one of their own: subscribers 10 and higher.
    """
    with at_desk(store) as desk:
        fill(desk)
        yield desk


def fill(desk: Desk) -> None:
    """Give both accounts a site, and account 1 its readers."""
    accounts.add_account(desk.store, {"account_id": 2, "company_name": "Ebb Ltd"})
    digest = passwords.HASHER.hash(PASSWORD)
    desk.put("publications", publication_id=1, name="Tide")
    numbers = (1, *range(10, 40))
    desk.put_many(
        "subscribers",
        [
            {
                "subscriber_id": n,
                "first_name": "Ada",
                "last_name": f"Reader {n}",
                "email": email_of(n),
                "renewal_code": code_of(n),
                "password_hash": digest,
            }
            for n in numbers
        ],
    )
    desk.put_many(
        "addresses",
        [
            {"address_id": n, "subscriber_id": n, "address": "1 Quay", "zip_code": POSTAL_CODE}
            for n in numbers
        ],
    )
    billing_settings.set_values(desk.books, {"mail_from": MAIL_FROM})
    for account_id, site in ((1, SITE), (2, OTHER_SITE)):
        page_settings.set_values(Books(desk.store, account_id, desk.actor), {"site": site})


@pytest.fixture(scope="module")
def pages(desk: Desk) -> Iterator[Pages]:
    """The readers' pages of both accounts."""
    with serving_readers(desk.store) as pages:
        yield pages


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements of requests, without those of the thread that mails links."""
    found: list[str] = []

    def noting(kind: type[SqliteConnection | PostgresConnection]) -> None:
        rows = kind.rows

        def noted(self: Any, sql: str, /, **values: Any) -> Any:
            if threading.current_thread().name != "links":
                found.append(sql)
            return rows(self, sql, **values)

        monkeypatch.setattr(kind, "rows", noted)

    sent = PostgresConnection.rows_of_each

    def noted_each(self: Any, statements: Sequence[Bound], /) -> Any:
        if threading.current_thread().name != "links":
            found.extend(each.sql for each in statements)
        return sent(self, statements)

    noting(SqliteConnection)
    noting(PostgresConnection)
    monkeypatch.setattr(PostgresConnection, "rows_of_each", noted_each)
    return found
