"""Read all data of one subscriber from one snapshot."""

from operator import itemgetter
from typing import NamedTuple

from masthead.contract import billing, collecting, pages, qualification, shapes, shown_records
from masthead.contract import books as books_records
from masthead.errors import no_subscriber
from masthead.store import interface_queries
from masthead.store.database import Connection, Row

__all__ = [
    "COLLECTING",
    "PAGES",
    "PAYMENT",
    "Billing",
    "Books",
    "Row",
    "SubscriberData",
    "data_of",
]

PAYMENT = (
    *("external_reference", "paid_on", "payment_type", "payment_reference"),
    *("disputed_on", "dispute", "dispute_ended_on", "dispute_result"),
)
"""What the books store about an order, and the interface does not show."""

COLLECTING: dict[str, type] = {
    "mandates": collecting.Mandate,
    "claims": collecting.Claim,
    "reminders": collecting.Reminder,
    "renewal_consents": collecting.RenewalConsent,
    "mails": collecting.Mail,
    "held_addresses": collecting.HeldAddress,
    "letters": collecting.Letter,
}
"""The tables of collecting whose rows name a subscriber, and their records."""

PAGES: dict[str, type] = {
    "reader_changes": pages.ReaderChange,
    "reader_consents": pages.ReaderConsent,
    "reader_requests": pages.ReaderRequest,
    "qualifications": qualification.Qualification,
}
"""The tables of the readers' pages and of qualification whose rows name a subscriber."""

_ID = itemgetter(0)
"""The id, which is the first field of each shape that is read here."""


class Books(NamedTuple):
    """What the books store about a subscription (circulation, "What is stored in addition").

    ``days`` are the days of its beginning and its cancellation. ``deliveries`` are rows of
    SubscriptionIssue, ``terms`` are rows of Term with their rows of Revenue. The others are rows of
    Suspension, TemporaryAddress, RenewalSent, Cancellation and Replacement.
    """

    days: Row
    deliveries: list[Row]
    terms: list[tuple[Row, list[Row]]]
    suspensions: list[Row]
    temporary_addresses: list[Row]
    letters: list[Row]
    cancellations: list[Row]
    replacements: list[Row]


class Billing(NamedTuple):
    """What billing stores about a payer (billing, "What is stored").

    ``details`` is a row of PayerDetails, or None. ``invoices`` are rows of Invoice with their rows
    of InvoiceLine and of Allocation. ``payments`` are rows of Payment, ``bank_entries`` of
    BankEntry. ``collecting`` has the rows of the other tables by name, of the records in
    :data:`COLLECTING`.
    """

    details: Row | None
    invoices: list[tuple[Row, list[Row], list[Row]]]
    payments: list[Row]
    bank_entries: list[Row]
    collecting: dict[str, list[Row]]


class SubscriberData(NamedTuple):
    """The data of a subscriber, as rows in the field order of a shape.

    ``subscriber`` is a row of Subscriber with the stamp of its last change, or None. ``erased_at``
    is when the subscriber was erased, or None. ``addresses`` and ``purchases`` are rows of Address
    and Purchase. ``subscriptions`` are rows of Subscription with their rows of ReceivedIssue and
    their :class:`Books`. ``orders`` are rows of Order (without items) with their rows of OrderItem.
    ``payments`` has the :data:`PAYMENT` of each order, and ``refunded`` the refunded cents by item,
    both in the order of ``orders``. ``answers`` has the answers to all
    custom fields. ``entries`` has the id and name of a mailing list and a row of MailingListEntry.
    ``notes`` and ``complaints`` are rows of Note and Complaint. ``pages`` has the rows of the
    readers' pages and of qualification by table, of the records in :data:`PAGES`.
    """

    subscriber: Row
    erased_at: str | None
    addresses: list[Row]
    subscriptions: list[tuple[Row, list[Row], Books]]
    answers: list[interface_queries.Answer]
    orders: list[tuple[Row, list[Row]]]
    payments: list[Row]
    refunded: list[dict[int, int]]
    purchases: list[Row]
    entries: list[Row]
    notes: list[Row]
    complaints: list[Row]
    billing: Billing
    pages: dict[str, list[Row]]


def data_of(connection: Connection, account_id: int, subscriber_id: int) -> SubscriberData:
    """Return all data of a subscriber, by ascending ids. The caller opens the snapshot.

    Raises NotFound if the subscriber does not exist.
    """
    whose = {"account_id": account_id, "subscriber_id": subscriber_id}
    found = connection.row(
        f"""
        SELECT {interface_queries.columns_of(shapes.Subscriber, "s.")}, c.visible_at, e.erased_at
        FROM subscribers AS s
        LEFT JOIN commits AS c ON c.account_id = s.account_id AND c.commit_id = s.commit_id
        LEFT JOIN erasures AS e
            ON e.account_id = s.account_id AND e.subscriber_id = s.subscriber_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        """,
        **whose,
    )
    if found is None:
        raise no_subscriber(account_id, subscriber_id)

    def rows(table: str, shape: type) -> list[Row]:
        # Sorted in Python: PostgreSQL's snapshots disable sorting, so ORDER BY would make it read
        # all rows of the account in index order.
        return sorted(
            connection.rows(
                f"""
                SELECT {interface_queries.columns_of(shape)} FROM {table}
                WHERE account_id = :account_id AND subscriber_id = :subscriber_id
                """,
                **whose,
            ),
            key=_ID,
        )

    orders = _orders(connection, account_id, subscriber_id)
    order_ids = [row[0] for row, _ in orders]
    return SubscriberData(
        subscriber=found[:-1],
        erased_at=found[-1],
        addresses=rows("addresses", shapes.Address),
        subscriptions=[
            (
                row,
                _issues(connection, account_id, row[0]),
                _books(connection, account_id, row[0]),
            )
            for row in rows("subscriptions", shapes.Subscription)
        ],
        answers=interface_queries.answers_of(connection, account_id, subscriber_id) or [],
        orders=orders,
        payments=[_payment(connection, account_id, order_id) for order_id in order_ids],
        refunded=[_refunded(connection, account_id, order_id) for order_id in order_ids],
        purchases=rows("purchases", shapes.Purchase),
        entries=sorted(
            connection.rows(
                f"""
                SELECT l.mailing_list_id, l.name,
                    {interface_queries.columns_of(shapes.MailingListEntry, "e.")}
                FROM subscriptions AS s
                JOIN mailing_list_entries AS e
                    ON e.account_id = s.account_id AND e.subscription_id = s.subscription_id
                JOIN list_downloads AS l
                    ON l.account_id = e.account_id AND l.mailing_list_id = e.mailing_list_id
                WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
                """,
                **whose,
            ),
            key=itemgetter(0, 2),
        ),
        notes=rows("notes", books_records.Note),
        complaints=rows("complaints", books_records.Complaint),
        billing=Billing(
            next(iter(rows("payer_details", billing.PayerDetails)), None),
            [
                (
                    row,
                    _of_invoice(connection, account_id, "invoice_lines", billing.InvoiceLine, row),
                    _of_invoice(connection, account_id, "allocations", billing.Allocation, row),
                )
                for row in rows("invoices", billing.Invoice)
            ],
            rows("payments", billing.Payment),
            rows("bank_entries", billing.BankEntry),
            {
                **{name: rows(name, record) for name, record in COLLECTING.items()},
                "announced_renewals": _announced(connection, account_id, subscriber_id),
            },
        ),
        pages={name: rows(name, record) for name, record in PAGES.items()},
    )


def _announced(connection: Connection, account_id: int, subscriber_id: int) -> list[Row]:
    found = connection.rows(
        f"""
        SELECT {interface_queries.columns_of(collecting.AnnouncedRenewal, "a.")}
        FROM subscriptions AS s
        JOIN announced_renewals AS a
            ON a.account_id = s.account_id AND a.subscription_id = s.subscription_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        """,
        account_id=account_id,
        subscriber_id=subscriber_id,
    )
    return sorted(found, key=_ID)


def _of_invoice(
    connection: Connection, account_id: int, table: str, record: type, invoice: Row
) -> list[Row]:
    found = connection.rows(
        f"""
        SELECT {interface_queries.columns_of(record)} FROM {table}
        WHERE account_id = :account_id AND invoice_id = :invoice_id
        """,
        account_id=account_id,
        invoice_id=invoice[0],
    )
    return sorted(found, key=itemgetter(0, 1))


def _issues(connection: Connection, account_id: int, subscription_id: int) -> list[Row]:
    return connection.rows(
        f"""
        SELECT {interface_queries.columns_of(shapes.ReceivedIssue, "i.")}
        FROM subscription_issues AS r
        JOIN issues AS i ON i.account_id = r.account_id AND i.issue_id = r.issue_id
        WHERE r.account_id = :account_id AND r.subscription_id = :subscription_id
        ORDER BY i.issue_id
        """,
        account_id=account_id,
        subscription_id=subscription_id,
    )


def _books(connection: Connection, account_id: int, subscription_id: int) -> Books:
    def rows(table: str, record: type, column: str = "subscription_id", key: int = 0) -> list[Row]:
        found = connection.rows(
            f"""
            SELECT {interface_queries.columns_of(record)} FROM {table}
            WHERE account_id = :account_id AND {column} = :wanted
            """,
            account_id=account_id,
            wanted=key or subscription_id,
        )
        return sorted(found, key=itemgetter(0, 1))

    (days,) = connection.rows(
        """
        SELECT begins_on, cancelled_on FROM subscriptions
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        """,
        account_id=account_id,
        subscription_id=subscription_id,
    )
    return Books(
        days,
        rows("subscription_issues", shown_records.SubscriptionIssue),
        [
            (term, rows("revenue", books_records.Revenue, "term_id", term[0]))
            for term in rows("terms", books_records.Term)
        ],
        rows("suspensions", books_records.Suspension),
        rows("temporary_addresses", books_records.TemporaryAddress),
        rows("renewals_sent", books_records.RenewalSent),
        rows("cancellations", books_records.Cancellation),
        rows("replacements", books_records.Replacement),
    )


def _payment(connection: Connection, account_id: int, order_id: int) -> Row:
    (row,) = connection.rows(
        f"""
        SELECT {", ".join(PAYMENT)} FROM orders
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        account_id=account_id,
        order_id=order_id,
    )
    return row


def _refunded(connection: Connection, account_id: int, order_id: int) -> dict[int, int]:
    return dict(
        connection.rows_as(
            tuple[int, int],
            """
        SELECT order_item_id, refunded FROM order_items
        WHERE account_id = :account_id AND order_id = :order_id
        """,
            account_id=account_id,
            order_id=order_id,
        )
    )


def _orders(
    connection: Connection, account_id: int, subscriber_id: int
) -> list[tuple[Row, list[Row]]]:
    ids = connection.column_as(
        int,
        """
        SELECT order_id FROM orders
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        account_id=account_id,
        subscriber_id=subscriber_id,
    )
    found = (interface_queries.order(connection, account_id, order_id) for order_id in sorted(ids))
    return [order for order in found if order]
