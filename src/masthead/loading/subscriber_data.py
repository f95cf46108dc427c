"""All data of one subscriber as a JSON object, for a request of that person.

Records have the shapes of the interface. In addition, a subscription has the issues it received
and its data in the books, an order has its payment, an invoice has its lines and what settles it,
and an entry of a mailing list has its name.
"""

import msgspec

from masthead.circulation.amounts import decimal
from masthead.contract import billing, collecting, shapes, shown_records
from masthead.contract import books as books_records
from masthead.contract.encoding import encode, wire_of
from masthead.contract.moments import format_second
from masthead.store import Store, accounts, audit
from masthead.store.interface_queries import Answer
from masthead.store.subscriber_data import (
    COLLECTING,
    PAGES,
    PAYMENT,
    Billing,
    Books,
    Row,
    SubscriberData,
    data_of,
)

Record = dict[str, object]


def subscriber_data(
    store: Store, account_id: int, subscriber_id: int, *, by: audit.Actor | None = None
) -> str:
    """Return all data of a subscriber as indented JSON.

    ``by`` is written to the audit log. Raises NotFound for an unknown account or subscriber.
    """
    with store.reader() as connection:
        connection.set_tenant(account_id)
        with connection.snapshot():
            accounts.settings_of(connection, account_id)
            data = data_of(connection, account_id, subscriber_id)
    summary = f"gave out the data of subscriber {subscriber_id}"
    audit.record_reading(store, by, summary, account_id=account_id)
    return msgspec.json.format(encode(record_of(data)), indent=2).decode()


def record_of(data: SubscriberData) -> Record:
    """Return all data of a subscriber by name, as the interface shows it."""
    *subscriber, changed_at = data.subscriber
    modified_date = changed_at and format_second(changed_at)
    return {
        "subscriber": _record(shapes.ChangedSubscriber, (*subscriber, modified_date)),
        "erased_at": data.erased_at,
        "addresses": [_record(shapes.Address, row) for row in data.addresses],
        "subscriptions": [
            {
                **_record(shapes.Subscription, row),
                "received_issues": [_record(shapes.ReceivedIssue, issue) for issue in issues],
                **_books(books),
            }
            for row, issues, books in data.subscriptions
        ],
        "custom_fields": [
            _answer(answer)
            for answer in data.answers
            if answer.option_ids or answer.text_value is not None
        ],
        "orders": [
            _order(*found) for found in zip(data.orders, data.payments, data.refunded, strict=True)
        ],
        "purchases": [_record(shapes.Purchase, row) for row in data.purchases],
        "mailing_list_entries": [
            {
                "mailing_list_id": str(mailing_list_id),
                "name": name or "",
                **_record(shapes.MailingListEntry, entry),
            }
            for mailing_list_id, name, *entry in data.entries
        ],
        "notes": [_record(books_records.Note, row) for row in data.notes],
        "complaints": [_record(books_records.Complaint, row) for row in data.complaints],
        **_billing(data.billing),
        **{
            name: [_record(record, row) for row in data.pages[name]]
            for name, record in PAGES.items()
        },
    }


def _books(books: Books) -> Record:
    begins_on, cancelled_on = books.days
    return {
        "begins_on": begins_on,
        "cancelled_on": cancelled_on,
        "deliveries": [_record(shown_records.SubscriptionIssue, row) for row in books.deliveries],
        "terms": [
            {
                **_record(books_records.Term, term),
                "revenue": [_record(books_records.Revenue, row) for row in revenue],
            }
            for term, revenue in books.terms
        ],
        "suspensions": [_record(books_records.Suspension, row) for row in books.suspensions],
        "temporary_addresses": [
            _record(books_records.TemporaryAddress, row) for row in books.temporary_addresses
        ],
        "renewal_letters": [_record(books_records.RenewalSent, row) for row in books.letters],
        "cancellations": [_record(books_records.Cancellation, row) for row in books.cancellations],
        "replacements": [_record(books_records.Replacement, row) for row in books.replacements],
    }


def _billing(found: Billing) -> Record:
    return {
        "payer_details": found.details and _record(billing.PayerDetails, found.details),
        "invoices": [
            {
                **_record(billing.Invoice, row),
                "lines": [_record(billing.InvoiceLine, line) for line in lines],
                "allocations": [_record(billing.Allocation, each) for each in allocations],
            }
            for row, lines, allocations in found.invoices
        ],
        "payments": [_record(billing.Payment, row) for row in found.payments],
        "bank_entries": [_record(billing.BankEntry, row) for row in found.bank_entries],
        **{
            name: [_record(record, row) for row in found.collecting[name]]
            for name, record in COLLECTING.items()
            if name != "mandates"
        },
        "announced_renewals": [
            _record(collecting.AnnouncedRenewal, row)
            for row in found.collecting["announced_renewals"]
        ],
        "mandates": [_mandate(row) for row in found.collecting["mandates"]],
    }


def _mandate(row: Row) -> Record:
    """Return a mandate without its sealed bank account: the last four characters stay."""
    shown = _record(collecting.Mandate, row)
    del shown["iban"]
    return shown


def _order(order: tuple[Row, list[Row]], payment: Row, refunded: dict[int, int]) -> Record:
    row, items = order
    shown = [
        {**_record(shapes.OrderItem, item), "refunded": decimal(refunded[item[0]])}
        for item in items
    ]
    return {
        **_record(shapes.Order, (*row, shown)),
        **dict(zip(PAYMENT, payment, strict=True)),
    }


def _record(shape: type, row: Row | list[object]) -> Record:
    found: Record = msgspec.to_builtins(wire_of(shape)(*row), builtin_types=(msgspec.Raw,))
    return found


def _answer(answer: Answer) -> Record:
    values = [
        _record(shapes.AnswerValue, (option_id, display_as, value))
        for option_id, value, display_as, *_ in answer.chosen
    ]
    return _record(shapes.CustomFieldAnswer, (*answer.field, values or None, answer.text_value))
