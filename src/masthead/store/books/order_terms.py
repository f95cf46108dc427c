"""The subscriptions and terms that an order writes (``masthead.books.order_lines``).

Every look-up uses an index. The functions run in an operation (``store.books.operation``).
"""

from typing import NamedTuple

from masthead.circulation.ordering import kind_of
from masthead.store.books.catalogue import Line
from masthead.store.books.extendable_subscriptions import Delivery, Extendable, look_up
from masthead.store.books.operation import Operation
from masthead.store.books.order_money import Term
from masthead.store.books.order_people import Resolved


class Publication(NamedTuple):
    """What an order needs to know of a publication; the last two are dates of its issues."""

    late_start: str
    grace_counts: int
    unlimited_term_months: int
    newest_closed: str | None
    first_planned: str | None


def publication_of(books: Operation, publication_id: int) -> Publication:
    """Return a publication; the operation's memory keeps it."""
    memory = books.memory("publications")
    if publication_id not in memory:
        memory[publication_id] = books.direct.row_as(
            Publication,
            """
            SELECT p.late_start, p.grace_counts, p.unlimited_term_months,
                (SELECT max(i.date) FROM issues AS i WHERE i.account_id = :account_id
                    AND i.publication_id = :publication_id AND i.closed_at IS NOT NULL),
                (SELECT min(i.date) FROM issues AS i WHERE i.account_id = :account_id
                    AND i.publication_id = :publication_id AND i.closed_at IS NULL)
            FROM publications AS p
            WHERE p.account_id = :account_id AND p.publication_id = :publication_id
            """,
            account_id=books.account_id,
            publication_id=publication_id,
        )
    found: Publication = memory[publication_id]
    return found


class FirstIssue(NamedTuple):
    """An issue with which an item should begin; ``never_comes`` is 1 if it was never mailed."""

    publication_id: int
    day: str
    never_comes: int


def find_first_issue(books: Operation, issue_id: int) -> FirstIssue | None:
    """Return an issue that has a date, if there is one."""
    return books.direct.row_as(
        FirstIssue,
        """
        SELECT publication_id, date, closed_at IS NOT NULL AND mailing_list_id IS NULL
        FROM issues
        WHERE account_id = :account_id AND issue_id = :issue_id AND date IS NOT NULL
        """,
        account_id=books.account_id,
        issue_id=issue_id,
    )


def free_until(books: Operation, subscription_id: int) -> str | None:
    """Return the last day on which a subscription is free by a qualification; None: it is not."""
    return books.direct.value_as(
        str,
        """
        SELECT valid_until FROM qualified_subscriptions
        WHERE account_id = :account_id AND subscription_id = :subscription_id AND served = 1
        """,
        account_id=books.account_id,
        subscription_id=subscription_id,
    )


def begin(
    books: Operation, line: Line, recipient: Resolved, payer: Resolved, begins_on: str
) -> Extendable:
    """Return a new subscription, whose row :func:`write` adds."""
    subscription_id = books.new_id("subscriptions")
    return Extendable(
        recipient.subscriber_id,
        subscription_id,
        line.publication_id,
        line.type,
        recipient.address_id,
        begins_on,
        row={
            "subscription_id": subscription_id,
            "subscriber_id": recipient.subscriber_id,
            "publication_id": line.publication_id,
            "mailing_address_id": recipient.address_id,
            "billing_address_id": payer.address_id,
            "issues": 0,
            "copies": line.copies,
            "type": line.type,
            "date_created": books.today,
            "renew_campaign_active": 1,
            "begins_on": begins_on,
            "commit_id": books.commit_id,
        },
    )


def renew(books: Operation, found: Extendable, recipient: Resolved, payer: Resolved) -> None:
    """Note an extension; addresses change only if the order names them.

    A subscription whose newest term was refunded left the campaign, and takes part in it again.
    A subscription that was cancelled and has not ended yet continues.
    """
    if recipient.named_address_id is not None:
        found.mailing_address_id = recipient.named_address_id
    found.bought = {
        "date_last_renewed": books.today,
        "begins_on": found.begins_on,
        "mailing_address_id": found.mailing_address_id,
        "commit_id": books.commit_id,
    }
    if payer.named_address_id is not None:
        found.bought["billing_address_id"] = payer.named_address_id
    if found.ended_at is not None:
        found.bought["renew_campaign_active"] = 1
        found.ended_at = None
    if found.campaign is not None:
        found.bought["renew_campaign_active"] = found.campaign
        found.campaign = None
        books.change_later(
            """
            DELETE FROM cancellations WHERE account_id = :account_id
                AND subscription_id = :subscription_id AND ended_on IS NULL
            """,
            subscription_id=found.subscription_id,
        )


def add_term(books: Operation, term: Term, copies: int, of_class: str, *, is_paid: bool) -> None:
    """Add a term; with ``is_paid``, it is paid today if it has a price."""
    books.add(
        "terms",
        term_id=term.term_id,
        subscription_id=term.subscription_id,
        order_item_id=term.order_item_id,
        issues=term.issues,
        issues_left=term.issues_left,
        copies=copies,
        price=term.price,
        paid_on=books.today if is_paid and term.is_due else None,
        kind=kind_of(term.price),
        **{"class": of_class},
        months=term.months,
    )


def cover(books: Operation, found: Extendable, grace: Delivery, term: Term) -> None:
    """Take a grace issue that a subscription got out of a term."""
    grace.term_id = term.term_id
    books.change_later(
        """
        UPDATE subscription_issues SET term_id = :term_id
        WHERE account_id = :account_id AND subscription_id = :subscription_id
            AND issue_id = :issue_id
        """,
        subscription_id=found.subscription_id,
        issue_id=grace.issue_id,
        term_id=term.term_id,
    )


def write(books: Operation, found: Extendable) -> None:
    """Write a subscription; if its new row is still queued, change that row."""
    known = look_up(books, [found.subscriber_id])[found.subscriber_id]
    bought, found.bought = found.bought, {}
    if found.row is None:
        books.change_later(
            f"""
            UPDATE subscriptions SET {", ".join(f"{name} = :{name}" for name in bought)}
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            """,
            subscription_id=found.subscription_id,
            **bought,
        )
    elif found in known:
        found.row |= bought
    else:
        found.row = books.add("subscriptions", **{**found.row, **bought})
        known.append(found)
