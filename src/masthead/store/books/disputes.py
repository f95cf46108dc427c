"""The disputes of orders, which are columns of the orders themselves."""

from typing import Literal, NamedTuple

from masthead.store.books.operation import Operation, Reading


class State(NamedTuple):
    """When an order was placed and paid, and its newest dispute."""

    ordered: str | None
    paid_on: str | None
    disputed_on: str | None
    dispute_ended_on: str | None

    @property
    def is_open(self) -> bool:
        """Whether the order is disputed, and the dispute is not settled."""
        return self.disputed_on is not None and self.dispute_ended_on is None


class InDispute(NamedTuple):
    """An order in dispute, its payer, and what the dispute is about."""

    order_id: int
    subscriber_id: int
    first_name: str | None
    last_name: str | None
    disputed_on: str
    dispute: str | None


def state_of(books: Reading, order_id: int) -> State | None:
    """Return the state of an order, or None if there is no such order."""
    return books.row_as(
        State,
        """
        SELECT order_date, paid_on, disputed_on, dispute_ended_on FROM orders
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        order_id=order_id,
    )


def begin(books: Operation, order_id: int, text: str, day: str) -> None:
    """Note a dispute, in place of an earlier one that was settled."""
    books.change(
        """
        UPDATE orders SET disputed_on = :day, dispute = :text, dispute_ended_on = NULL,
            dispute_result = NULL
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        order_id=order_id,
        text=text,
        day=day,
    )


def end(books: Operation, order_id: int, result: Literal["upheld", "rejected"]) -> None:
    """Note that the dispute was settled today."""
    books.change(
        """
        UPDATE orders SET dispute_ended_on = :today, dispute_result = :result
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        order_id=order_id,
        result=result,
        today=books.today,
    )


def in_dispute(books: Reading) -> list[InDispute]:
    """Return the orders whose dispute is not settled, the oldest dispute first."""
    found = books.rows_as(
        InDispute,
        """
        SELECT o.order_id, o.subscriber_id, r.first_name, r.last_name, o.disputed_on, o.dispute
        FROM orders AS o JOIN subscribers AS r
            ON r.account_id = :account_id AND r.subscriber_id = o.subscriber_id
        WHERE o.account_id = :account_id AND o.disputed_on IS NOT NULL
            AND o.dispute_ended_on IS NULL
        """,
    )
    return sorted(found, key=lambda each: (each.disputed_on, each.order_id))
