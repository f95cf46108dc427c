"""Orders from before the opening: Masthead shows them, and books nothing for them.

They came from files. What was paid for them is not known; the opening terms of the subscriptions
have what their readers still get (circulation, "Two modes of an account").
"""

from masthead.errors import BadInput
from masthead.store.books.names import order_named
from masthead.store.books.operation import Operation, day_of_opening
from masthead.store.database import Connection

_ALL = 2**63 - 1


def history_until(connection: Connection, account_id: int) -> int:
    """Return the id of the newest order that is history, or -1; older orders are history too.

    In an account whose books are not open, all orders are history.
    """
    found = connection.value_as(
        int,
        "SELECT coalesce(last_order_before, -1) FROM books WHERE account_id = :account_id",
        account_id=account_id,
    )
    return _ALL if found is None else found


def check_bookable(books: Operation, order_id: int) -> None:
    """Raise BadInput, which says what to do instead, if an order is history."""
    if order_id > history_until(books.connection, books.account_id):
        return
    opened_on = day_of_opening(books.connection, books.account_id)
    raise BadInput(
        f"{order_named(books, order_id)} is from before the books were opened on {opened_on}: "
        "nothing of it was booked here, so it can be neither paid nor refunded; what is unearned "
        "of its reader's "
        "issues stands in the opening term of the subscription, and cancelling that with a refund "
        "gives it back"
    )
