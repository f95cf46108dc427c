"""Why subscriptions are cancelled: the publisher's list of reasons.

Cancelled subscriptions keep the words of their reason, even after it is removed.
"""

from typing import NamedTuple

from masthead.contract.printable import is_name, single_spaced
from masthead.errors import BadInput, NotFound
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation, Reading

NAME_MAX = 100
"""The most characters that a reason may have."""


class Reason(NamedTuple):
    """A reason of the publisher's list."""

    reason_id: int
    name: str


def reasons(books: Reading) -> list[Reason]:
    """Return the reasons, in the order of adding."""
    return books.rows_as(
        Reason,
        """
        SELECT reason_id, name FROM cancellation_reasons
        WHERE account_id = :account_id ORDER BY reason_id
        """,
    )


def add_reason(books: Operation, name: str) -> tuple[int, str]:
    """Add a reason; return its id and name. Raises BadInput if it exists already."""
    name = single_spaced(name)
    if not is_name(name, NAME_MAX):
        raise BadInput(f"{name!r} is no reason: it has 1 to {NAME_MAX} characters")
    for reason_id, known in reasons(books):
        if known.casefold() == name.casefold():
            raise BadInput(f"reason {reason_id} is {known!r} already: nothing was added")
    reason_id = next_ids(books.connection, books.account_id, "cancellation_reasons")
    books.connection.insert_many(
        "cancellation_reasons",
        ("reason_id", "name"),
        [(reason_id, name)],
        account_id=books.account_id,
    )
    return reason_id, name


def remove_reason(books: Operation, reason_id: int) -> None:
    """Remove a reason. Raises NotFound if there is none."""
    removed = books.change(
        """
        DELETE FROM cancellation_reasons
        WHERE account_id = :account_id AND reason_id = :reason_id
        """,
        reason_id=reason_id,
    )
    if not removed:
        raise NotFound(
            f"account {books.account_id} has no reason {reason_id}", code="unknown_reason"
        )
