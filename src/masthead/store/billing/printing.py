"""What an order has of names and addresses that its invoice prints.

The functions run in an operation, after its derived values are up to date.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from masthead.billing.printed import Payer
from masthead.contract.printable import printable
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed


class Heading(NamedTuple):
    """The payer of an order as an invoice prints it, and the order's own reference."""

    payer: Payer
    reference: str


def heading_of(books: Reading, order_id: int) -> Heading:
    """Return who pays for an order, at the order's billing address."""
    return headings_of(books, [order_id])[order_id]


def headings_of(books: Reading, orders: Iterable[int]) -> dict[int, Heading]:
    """Return who pays for some orders, by their ids, at the billing address of each."""
    rows = books.rows(
        f"""
        SELECT o.order_id, o.subscriber_id, o.external_reference,
            (SELECT d.vat_id FROM payer_details AS d
                WHERE d.account_id = :account_id AND d.subscriber_id = o.subscriber_id),
            coalesce(a.first_name, s.first_name), coalesce(a.last_name, s.last_name), a.company,
            a.address, a.city, a.state, a.zip_code, a.country_name, a.country_abbreviation,
            s.email
        FROM orders AS o
        JOIN subscribers AS s
            ON s.account_id = :account_id AND s.subscriber_id = o.subscriber_id
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = o.billing_address_id
        WHERE o.account_id = :account_id AND o.order_id IN ({listed(orders)})
        """
    )
    return {order_id: _heading(*row) for order_id, *row in rows}


def _heading(
    subscriber_id: int, reference: str | None, vat_id: str | None, *names: str | None
) -> Heading:
    *fields, email = names
    payer = person_of(subscriber_id, fields, email=email, vat_id=vat_id)
    return Heading(payer, printable(reference or ""))


def person_of(
    subscriber_id: int,
    fields: Sequence[str | None],
    *,
    email: str | None = None,
    vat_id: str | None = None,
) -> Payer:
    """Return a person as documents print one, from the fields of an address (``FIELDS``).

    The email stands in place of a name if the address has no name and no company.
    """
    texts = [printable(each or "") for each in fields]
    first, last, company, street, city, state, postal_code, country_name, country = texts
    name = " ".join(filter(None, (first, last)))
    return Payer(
        subscriber_id=subscriber_id,
        name=name or ("" if company else printable(email or "")),
        company=company,
        address_lines=tuple(filter(None, (line.strip() for line in street.splitlines()))),
        city=city,
        state=state,
        postal_code=postal_code,
        country=country.upper() if len(country) == 2 else "",
        country_name=country_name,
        vat_id=vat_id or "",
    )


class ItemPrinted(NamedTuple):
    """What an invoice prints of an item: names, copies and how long its issues last.

    ``issues`` is -1 if a term is unlimited, 0 for a product. ``until`` is the day before the first
    issue that does not come any more, None if it is not known.
    """

    name: str
    publication: str
    copies: int
    issues: int
    until: str | None
    reader: str


def items_printed(books: Reading, order_id: int) -> dict[int, ItemPrinted]:
    """Return what an invoice prints of each item of an order, by the item's id."""
    found: dict[int, ItemPrinted] = {}
    rows = books.rows(
        """
        SELECT i.order_item_id, coalesce(b.name, p.name), i.copies, t.issues, u.name,
            s.date_expired, r.first_name, r.last_name, s.subscriber_id, o.subscriber_id
        FROM orders AS o
        JOIN order_items AS i ON i.account_id = :account_id AND i.order_id = o.order_id
        LEFT JOIN bundles AS b ON b.account_id = :account_id AND b.bundle_id = i.bundle_id
        LEFT JOIN products AS p ON p.account_id = :account_id AND p.product_id = i.product_id
        LEFT JOIN terms AS t ON t.account_id = :account_id AND t.order_item_id = i.order_item_id
        LEFT JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = t.subscription_id
        LEFT JOIN publications AS u
            ON u.account_id = :account_id AND u.publication_id = s.publication_id
        LEFT JOIN subscribers AS r
            ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        WHERE o.account_id = :account_id AND o.order_id = :order_id
        ORDER BY i.order_item_id, t.term_id
        """,
        order_id=order_id,
    )
    for item_id, name, copies, issues, publication, until, first, last, reader, payer in rows:
        said = printable(publication or "")
        who = "" if reader in {None, payer} else " ".join(filter(None, (first, last)))
        one = ItemPrinted(printable(name or ""), said, copies, issues or 0, until, printable(who))
        before = found.get(item_id)
        if before is not None:
            is_unlimited = UNLIMITED in {before.issues, one.issues}
            names = list(dict.fromkeys(filter(None, (*before.publication.split(", "), said))))
            one = before._replace(
                publication=", ".join(names),
                issues=UNLIMITED if is_unlimited else max(before.issues, one.issues),
                until=max(filter(None, (before.until, until)), default=None),
            )
        found[item_id] = one
    return found


def printed_of(books: Reading, invoice_id: int) -> str | None:
    """Return what an invoice prints, as JSON; None if its payer was erased."""
    return books.value_as(
        str,
        """
        SELECT printed FROM invoices WHERE account_id = :account_id AND invoice_id = :invoice_id
        """,
        invoice_id=invoice_id,
    )


def reminder_printed(books: Reading, reminder_id: int) -> str | None:
    """Return what a reminder prints, as JSON; None if its payer was erased."""
    return books.value_as(
        str,
        """
        SELECT printed FROM reminders
        WHERE account_id = :account_id AND reminder_id = :reminder_id
        """,
        reminder_id=reminder_id,
    )
