"""The queries of operations 3 and 5 to 10.

Each query takes the account and returns rows with values in the field order of the shape that its
docstring names. An unknown id returns None; filters that match nothing return an empty list.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from masthead.contract import shapes
from masthead.contract.kinds import BIGGEST_INTEGER, Many
from masthead.contract.shapes import fields_of
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.database import Connection, Dialect, Row
from masthead.store.search_filters import COLUMNS, Search

__all__ = [
    "Answer",
    "CustomFields",
    "Row",
    "answers_of",
    "columns_of",
    "custom_fields",
    "mailing_list_entries",
    "order",
    "received_subscriptions",
    "search_subscribers",
    "subscriptions",
]

Filters = Mapping[str, int | str]

_SUBSCRIPTION_FILTERS = {
    "campaign_active": ("renew_campaign_active", "renew_campaign_active = :campaign_active"),
    "copies": ("copies", "copies = :copies"),
    "issues_left": ("issues", "issues = :issues_left"),
    "max_copies": ("copies", "copies <= :max_copies"),
    "max_issues_left": ("issues", f"issues <= :max_issues_left AND issues <> {UNLIMITED}"),
    "min_copies": ("copies", "copies >= :min_copies"),
    "min_issues_left": ("issues", f"(issues >= :min_issues_left OR issues = {UNLIMITED})"),
    "publication_id": ("publication_id", "publication_id = :publication_id"),
    "subscriber_id": ("subscriber_id", "subscriber_id = :subscriber_id"),
    "type": ("type", "type = :type"),
}
"""The column of each filter of operation 7, and its condition."""

_SAME_VALUES: dict[Dialect, str] = {
    "sqlite": """
        n.publication_id = k.publication_id AND n.type IS k.type AND n.copies IS k.copies
        AND n.issues IS k.issues AND n.renew_campaign_active = k.renew_campaign_active
        """,
    "postgresql": "n.kind = k.kind",
}
"""The condition that subscription ``n`` has the values of ``k``. This is a row of
``subscription_kinds``, which has each combination of values of the account's subscriptions."""

_FEW_COMBINATIONS = 100
_SCANNED = 20_000
"""The number of rows that are scanned in id order before another query is used. Filters that match
many rows fill a page much earlier."""

_FEW_ROWS, _MANY_ROWS = 1_000, 10_000
"""SQLite has no statistics of values, so the store chooses the index: of a filter that matches few
rows or, if the scan has not filled a page, of a filter that does not match many."""


@cache
def columns_of(shape: type, prefix: str = "") -> str:
    """Return the columns of a shape for a SELECT, without its nested lists."""
    names = (field.name for field in fields_of(shape) if not isinstance(field.kind, Many))
    return ", ".join(f'{prefix}"{name}"' for name in names)


def subscriptions(
    connection: Connection, account_id: int, filters: Filters, *, after: int, limit: int
) -> list[Row]:
    """Return the subscriptions that match all ``filters`` (shape Subscription), by ascending id.

    The filters have the names of operation 7. Unlimited (-1) is greater than any number
    (rules, "Subscription filters").
    """
    values: dict[str, int | str] = {"account_id": account_id, "after": after, "limit": limit}
    values |= filters
    matches = " AND ".join(_SUBSCRIPTION_FILTERS[name][1] for name in filters) or "TRUE"
    if not filters or "subscriber_id" in filters:
        return connection.rows(_subscriptions(f"subscription_id > :after AND {matches}"), **values)
    ((combinations,),) = connection.rows_as(
        tuple[int],
        f"""
        SELECT count(*) FROM (SELECT 1 FROM subscription_kinds
            WHERE account_id = :account_id AND {matches} LIMIT {_FEW_COMBINATIONS + 1}) AS found
        """,
        account_id=account_id,
        **filters,
    )
    if combinations == 0:
        return []
    if combinations > _FEW_COMBINATIONS:
        columns = {_SUBSCRIPTION_FILTERS[name][0] for name in filters}
        scanned = _scanned("subscriptions", "subscription_id", columns, matches)
        found = connection.rows(_subscriptions(f"subscription_id IN ({scanned})"), **values)
        if len(found) == limit:
            return found
    merged = _merged(matches, _SAME_VALUES[connection.dialect])
    return connection.rows(_subscriptions(f"subscription_id IN ({merged})"), **values)


def _subscriptions(which: str) -> str:
    return f"""
        SELECT {columns_of(shapes.Subscription)} FROM subscriptions
        WHERE account_id = :account_id AND {which}
        ORDER BY subscription_id LIMIT :limit
        """


def _scanned(table: str, key: str, columns: Iterable[str], matches: str) -> str:
    """Return a query for the first ids that match among the next :data:`_SCANNED` rows."""
    return f"""
        SELECT {key} FROM (
            SELECT {", ".join([key, *sorted(columns)])} FROM {table}
            WHERE account_id = :account_id AND {key} > :after ORDER BY {key} LIMIT {_SCANNED}
        ) AS scanned WHERE {matches} ORDER BY {key} LIMIT :limit
        """


def _merged(matches: str, same_values: str) -> str:
    """Return a query for the first ids of all combinations of values that match.

    ``heads`` are the ``:limit`` combinations with the lowest first ids: a page of ``:limit`` ids
    cannot contain more combinations. ``reach`` is the lowest id at which one combination alone
    fills the page, so rows after ``reach`` cannot be on it.
    """
    of_combination = f"""
        SELECT n.subscription_id FROM subscriptions AS n
        WHERE n.account_id = :account_id AND {same_values}
        """
    return f"""
        WITH heads AS MATERIALIZED (
            SELECT k.*, ({of_combination} AND n.subscription_id > :after
                ORDER BY n.subscription_id LIMIT 1) AS head
            FROM subscription_kinds AS k WHERE k.account_id = :account_id AND {matches}
            ORDER BY head NULLS LAST LIMIT :limit
        ), reach AS MATERIALIZED (
            SELECT coalesce(min(({of_combination} AND n.subscription_id >= k.head
                ORDER BY n.subscription_id LIMIT 1 OFFSET :limit - 1)), {BIGGEST_INTEGER}) AS last
            FROM heads AS k
        )
        SELECT n.subscription_id
        FROM reach CROSS JOIN heads AS k CROSS JOIN subscriptions AS n
        WHERE n.account_id = :account_id AND {same_values}
            AND n.subscription_id BETWEEN k.head AND reach.last
        ORDER BY n.subscription_id LIMIT :limit
        """


def search_subscribers(
    connection: Connection, account_id: int, filters: Filters, *, after: int, limit: int
) -> list[Row]:
    """Return the subscribers that match all ``filters`` (shape Subscriber), by ascending id.

    The filters have the names of operation 8. A filter that ends with ``*`` matches the start of a
    value, an empty filter matches a missing value, and others match the whole value. Deleted
    subscribers are left out (rules, "Subscriber search").
    """
    search = Search(filters)
    values: dict[str, int | str] = {"account_id": account_id, "after": after, "limit": limit}
    values |= search.values
    indexed = search.names
    if connection.dialect == "sqlite" and (len(search.groups) > 1 or search.names - search.exact):
        indexed = search.narrowest(connection, account_id, _FEW_ROWS)
        if not (indexed or search.exact):
            matches = " AND ".join(["delete_date IS NULL", *search.conditions.values()])
            columns = {"delete_date", *(COLUMNS[name] for name in search.names)}
            scanned = _scanned("subscribers", "subscriber_id", columns, matches)
            found = connection.rows(_subscribers(f"subscriber_id IN ({scanned})"), **values)
            if len(found) == limit:
                return found
        if not indexed and len(search.groups) > 1:
            indexed = search.narrowest(connection, account_id, _MANY_ROWS)
        indexed = indexed or search.exact or search.names
    which = ["subscriber_id > :after", "delete_date IS NULL", *search.using_index_of(indexed)]
    # The best plan for the start of a value depends on the number of matching rows.
    run = connection.rows if search.names == search.exact else connection.rows_planned
    return run(_subscribers(" AND ".join(which)), **values)


def _subscribers(which: str) -> str:
    return f"""
        SELECT {columns_of(shapes.Subscriber)} FROM subscribers
        WHERE account_id = :account_id AND {which}
        ORDER BY subscriber_id LIMIT :limit
        """


def received_subscriptions(
    connection: Connection, account_id: int, subscriber_id: int
) -> Iterator[tuple[Row, list[Row]]]:
    """Yield a subscriber's subscriptions with the issues received, by ascending ids.

    A subscription is a row of AuthenticatedSubscription without its issues; an issue is a row of
    ReceivedIssue.
    """
    found = connection.rows(
        """
        SELECT n.subscription_id, n.date_created, n.date_expired, n.publication_id, n.issues,
            n.type, i.issue_id, i.name, i.date
        FROM subscriptions AS n
        LEFT JOIN subscription_issues AS r
            ON r.account_id = n.account_id AND r.subscription_id = n.subscription_id
        LEFT JOIN issues AS i ON i.account_id = r.account_id AND i.issue_id = r.issue_id
        WHERE n.account_id = :account_id AND n.subscriber_id = :subscriber_id
        ORDER BY n.subscription_id, i.issue_id
        """,
        account_id=account_id,
        subscriber_id=subscriber_id,
    )
    for subscription, rows in groupby(found, key=itemgetter(slice(6))):
        yield subscription, [row[6:] for row in rows if row[6] is not None]


class CustomFields(NamedTuple):
    """The custom fields that an account defines.

    ``fields`` are rows of CustomFieldDefinition without its options, by ascending id. ``options``
    are the rows of CustomFieldOption of each field, by ``order`` and then by id.
    """

    fields: list[Row]
    options: dict[int, list[Row]]


_DEFINITIONS = f"""
    SELECT {columns_of(shapes.CustomFieldDefinition, "f.")},
        {columns_of(shapes.CustomFieldOption, "o.")}
    FROM custom_fields AS f LEFT JOIN custom_field_options AS o
        ON o.account_id = f.account_id AND o.field_id = f.field_id
    WHERE f.account_id = :account_id
    ORDER BY f.field_id, o."order" IS NULL, o."order", o.option_id
    """
_DEFINITION_ENDS = len(fields_of(shapes.CustomFieldDefinition)) - 1
"""The number of a row's columns that belong to the field; its options are not a column."""


def custom_fields(connection: Connection, account_id: int) -> CustomFields:
    """Return the definitions of all custom fields of the account."""
    fields: list[Row] = []
    options: dict[int, list[Row]] = {}
    for row in connection.rows(_DEFINITIONS, account_id=account_id):
        field, option = row[:_DEFINITION_ENDS], row[_DEFINITION_ENDS:]
        if field[0] not in options:
            fields.append(field)
            options[field[0]] = []
        if option[0] is not None:
            options[field[0]].append(option)
    return CustomFields(fields, options)


_ANSWERS = f"""
    SELECT {columns_of(shapes.CustomFieldDefinition, "f.")},
        {columns_of(shapes.CustomFieldOption, "o.")}, a.option_ids, a.text_value
    FROM subscribers AS s LEFT JOIN custom_fields AS f ON f.account_id = s.account_id
    LEFT JOIN custom_field_answers AS a
        ON a.account_id = s.account_id AND a.subscriber_id = s.subscriber_id
            AND a.field_id = f.field_id
    LEFT JOIN custom_field_options AS o
        ON o.account_id = f.account_id AND o.field_id = f.field_id
    WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
    ORDER BY f.field_id, o."order" IS NULL, o."order", o.option_id
    """


class Answer(NamedTuple):
    """A custom field with its options, as in CustomFields, and what a subscriber answered.

    ``option_ids`` are separated by ``|``. They and ``text_value`` are None if there is no answer.
    """

    field: Row
    options: list[Row]
    option_ids: str | None = None
    text_value: str | None = None

    @property
    def chosen(self) -> list[Row]:
        """The options that the answer has, retired or not (rules, "Custom field answers")."""
        ids = set(map(int, self.option_ids.split("|"))) if self.option_ids else ()
        return [option for option in self.options if option[0] in ids]


def answers_of(connection: Connection, account_id: int, subscriber_id: int) -> list[Answer] | None:
    """Return a subscriber's answers to all custom fields, or None for an unknown subscriber."""
    found = connection.rows(_ANSWERS, account_id=account_id, subscriber_id=subscriber_id)
    answers: dict[int | None, Answer] = {}
    for row in found:
        field, option = row[:_DEFINITION_ENDS], row[_DEFINITION_ENDS:-2]
        answer = answers.setdefault(field[0], Answer(field, [], *row[-2:]))
        if option[0] is not None:
            answer.options.append(option)
    answers.pop(None, None)  # the subscriber's only row if no field is defined
    return [*answers.values()] if found else None


_ORDER = f"""
    SELECT {columns_of(shapes.Order, "o.")}, {columns_of(shapes.OrderItem, "i.")}
    FROM orders AS o LEFT JOIN order_items AS i
        ON i.account_id = o.account_id AND i.order_id = o.order_id
    WHERE o.account_id = :account_id AND o.order_id = :order_id ORDER BY i.order_item_id
    """
_ORDER_ENDS = len(fields_of(shapes.Order)) - 1
"""The number of a row's columns that belong to the order; its items are not a column."""


def order(connection: Connection, account_id: int, order_id: int) -> tuple[Row, list[Row]] | None:
    """Return an order (shape Order, without its items) and its items (OrderItem), or None."""
    found = connection.rows(_ORDER, account_id=account_id, order_id=order_id)
    if not found:
        return None
    items = [row[_ORDER_ENDS:] for row in found if row[_ORDER_ENDS] is not None]
    return found[0][:_ORDER_ENDS], items


def mailing_list_entries(
    connection: Connection, account_id: int, mailing_list_id: int
) -> Iterator[Row] | None:
    """Return a stream of a list download's entries (shape MailingListEntry) by ascending id.

    Returns None if the list does not exist.
    """
    values = {"account_id": account_id, "mailing_list_id": mailing_list_id}
    if not connection.row(
        """
        SELECT 1 FROM list_downloads
        WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id
        """,
        **values,
    ):
        return None
    return connection.stream(
        f"""
        SELECT {columns_of(shapes.MailingListEntry)} FROM mailing_list_entries
        WHERE account_id = :account_id AND mailing_list_id = :mailing_list_id
        ORDER BY subscription_id
        """,
        **values,
    )
