"""The queries of operation 4: what changed since a commit, read as a stream.

Each query yields the rows whose commit is ``first_commit`` or later, by commit and then by id, in
constant memory. The caller opens one snapshot for all queries of a response. ``store.commits``
finds the first commit for a time.
"""

from collections.abc import Callable, Iterator
from typing import Any

from masthead.contract import shapes
from masthead.store.database import Connection, Row
from masthead.store.interface_queries import columns_of

Grouped = Iterator[tuple[Row, list[Row]]]


def _plain(table: str, shape: type) -> Callable[[Connection, int, int], Iterator[Row]]:
    key = next(iter(shape.__annotations__))
    sql = f"""
        SELECT {columns_of(shape)} FROM {table}
        WHERE account_id = :account_id AND commit_id >= :first_commit
        ORDER BY commit_id, {key}
        """

    def changed(connection: Connection, account_id: int, first_commit: int) -> Iterator[Row]:
        return connection.stream(sql, account_id=account_id, first_commit=first_commit)

    return changed


def _subscribers(connection: Connection, account_id: int, first_commit: int) -> Iterator[Row]:
    """Yield rows of Subscriber, each with the stamp of its last change (None: not stamped yet)."""
    return connection.stream(
        f"""
        SELECT {columns_of(shapes.Subscriber, "s.")}, c.visible_at FROM subscribers AS s
        LEFT JOIN commits AS c ON c.account_id = s.account_id AND c.commit_id = s.commit_id
        WHERE s.account_id = :account_id AND s.commit_id >= :first_commit
        ORDER BY s.commit_id, s.subscriber_id
        """,
        account_id=account_id,
        first_commit=first_commit,
    )


def _answers(connection: Connection, account_id: int, first_commit: int) -> Grouped:
    """Yield (subscriber_id,) and rows of the subscriber's answers: field, options and text."""
    rows = connection.stream(
        """
        SELECT s.subscriber_id, a.field_id, a.option_ids, a.text_value FROM subscribers AS s
        LEFT JOIN custom_field_answers AS a
            ON a.account_id = s.account_id AND a.subscriber_id = s.subscriber_id
        WHERE s.account_id = :account_id AND s.custom_fields_commit_id >= :first_commit
        ORDER BY s.custom_fields_commit_id, s.subscriber_id, a.field_id
        """,
        account_id=account_id,
        first_commit=first_commit,
    )
    return _grouped(rows, 1)


def _orders(connection: Connection, account_id: int, first_commit: int) -> Grouped:
    """Yield orders (shape Order, without its items), each with its items (shape OrderItem)."""
    rows = connection.stream(
        f"""
        SELECT {columns_of(shapes.Order, "o.")}, {columns_of(shapes.OrderItem, "i.")}
        FROM orders AS o
        LEFT JOIN order_items AS i ON i.account_id = o.account_id AND i.order_id = o.order_id
        WHERE o.account_id = :account_id AND o.commit_id >= :first_commit
        ORDER BY o.commit_id, o.order_id, i.order_item_id
        """,
        account_id=account_id,
        first_commit=first_commit,
    )
    return _grouped(rows, columns_of(shapes.Order).count(",") + 1)


def _grouped(rows: Iterator[Row], width: int) -> Grouped:
    """Yield each parent, the first ``width`` columns, with its children, the other columns."""
    parent: Row = ()
    children: list[Row] = []
    for row in rows:
        if parent[:1] != row[:1]:
            if parent:
                yield parent, children
            parent, children = row[:width], []
        if row[width] is not None:
            children.append(row[width:])
    if parent:
        yield parent, children


CHANGED: dict[str, Callable[[Connection, int, int], Iterator[Any]]] = {
    "customfields": _answers,
    "subscriptions": _plain("subscriptions", shapes.ChangedSubscription),
    "subscribers": _subscribers,
    "addresses": _plain("addresses", shapes.Address),
    "purchases": _plain("purchases", shapes.Purchase),
    "listdownloads": _plain("list_downloads", shapes.ListDownload),
    "orders": _orders,
}
"""The query of each entity, by the entity's name in requests."""


_COLUMNS = {
    "customfields": ("subscribers", "custom_fields_commit_id"),
    "listdownloads": ("list_downloads", "commit_id"),
}


def has_changed(connection: Connection, entity: str, account_id: int, first_commit: int) -> bool:
    """Return whether the query of ``entity`` would yield any row."""
    table, column = _COLUMNS.get(entity, (entity, "commit_id"))
    found = connection.row(
        f"""
        SELECT 1 FROM {table}
        WHERE account_id = :account_id AND {column} >= :first_commit
        ORDER BY {column} LIMIT 1
        """,
        account_id=account_id,
        first_commit=first_commit,
    )
    return found is not None
