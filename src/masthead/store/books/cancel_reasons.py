"""Why subscriptions are cancelled: the list of reasons that the publisher keeps.

The functions that change it run in an operation (``store.books.operation``) and say what they did.
What was cancelled keeps the words of its reason, also when that is removed.
"""

from masthead.contract.printable import is_name, single_spaced
from masthead.errors import BadInput, NotFound
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation
from masthead.store.database import Connection, Row

__all__ = ["NAME_MAX", "add_reason", "reasons", "remove_reason"]

NAME_MAX = 100
"""How many characters a reason may have."""


def reasons(connection: Connection, account_id: int) -> list[Row]:
    """Return the ids and names of the reasons, in the order in which they were added."""
    return connection.rows(
        """
        SELECT reason_id, name FROM cancellation_reasons
        WHERE account_id = :account_id ORDER BY reason_id
        """,
        account_id=account_id,
    )


def add_reason(books: Operation, name: str) -> int:
    """Add a reason; return its id. Raises BadInput for one that is there, whatever the case."""
    name = single_spaced(name)
    if not is_name(name, NAME_MAX):
        raise BadInput(f"{name!r} is no reason: it has 1 to {NAME_MAX} characters")
    for reason_id, known in reasons(books.connection, books.account_id):
        if str(known).casefold() == name.casefold():
            raise BadInput(f"reason {reason_id} is {known!r} already: nothing was added")
    reason_id = next_ids(books.connection, books.account_id, "cancellation_reasons")
    books.connection.insert_many(
        "cancellation_reasons",
        ("reason_id", "name"),
        [(reason_id, name)],
        account_id=books.account_id,
    )
    books.say(f"reason {reason_id} for cancelling was added: {name}")
    return reason_id


def remove_reason(books: Operation, reason_id: int) -> None:
    """Remove a reason. Raises NotFound if there is none."""
    removed = books.connection.change(
        """
        DELETE FROM cancellation_reasons
        WHERE account_id = :account_id AND reason_id = :reason_id
        """,
        account_id=books.account_id,
        reason_id=reason_id,
    )
    if not removed:
        raise NotFound(
            f"account {books.account_id} has no reason {reason_id}", code="unknown_reason"
        )
    books.say(f"reason {reason_id} for cancelling was removed")
