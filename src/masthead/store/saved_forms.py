"""The forms of the console that were saved, so that each is saved once.

A form is noted in the transaction of its change, so neither exists without the other
(decisions, "A form is saved once").
"""

from typing import NamedTuple

from masthead.errors import MastheadError
from masthead.store.database import Connection

KEPT_US = 24 * 60 * 60 * 1_000_000
"""How long a form is known, in microseconds: longer than any session of the console."""


class SavedForm(NamedTuple):
    """A form that is saved: its digest, and the path of the page that follows."""

    form: str
    path: str


def note(connection: Connection, account_id: int, saved: SavedForm, now: int) -> None:
    """Note that a form is saved, in the transaction of its change, which has locked the account.

    ``now`` is in microseconds since 1970. Forms that were saved more than a day before are
    forgotten. Raises MastheadError if the form was saved before.
    """
    connection.change(
        "DELETE FROM saved_forms WHERE account_id = :account_id AND saved_at < :before",
        account_id=account_id,
        before=now - KEPT_US,
    )
    is_new = connection.change(
        """
        INSERT INTO saved_forms (account_id, form, path, saved_at)
        VALUES (:account_id, :form, :path, :now) ON CONFLICT DO NOTHING
        """,
        account_id=account_id,
        **saved._asdict(),
        now=now,
    )
    if not is_new:
        raise MastheadError("this form was saved before")


def path_after(connection: Connection, account_id: int, form: str) -> str | None:
    """Return the path to which saving a form led; None if it was not saved."""
    return connection.value_as(
        str,
        "SELECT path FROM saved_forms WHERE account_id = :account_id AND form = :form",
        account_id=account_id,
        form=form,
    )
