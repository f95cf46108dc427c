"""Merging two subscriptions of one reader, of the same publication and type, into one.

All that one has goes to the other (circulation, "Merging"). The functions run in an operation
(``store.books.operation``).
"""

from typing import NamedTuple

from masthead.circulation.spans import uncovered
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.books.extendable_subscriptions import look_up, running
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation
from masthead.store.books.qualifications import write_current
from masthead.store.books.stored_expiry_dates import GOES_ON
from masthead.store.books.subscription import SPANS, the_one
from masthead.store.books.subscription import spans as spans_of
from masthead.store.books.uncancelling import withdraw


class Pair(NamedTuple):
    """Two subscriptions of the same publication and type, one of each reader who is merged.

    ``subscription_id`` is the one that continues if they are merged. If ``is_unlimited``, one of
    them is unlimited and the other has issues left, which would never come: they are not merged.
    """

    subscription_id: int
    other_id: int
    publication: str
    type: str
    is_unlimited: bool


def pairs(books: Operation, kept: int, gone: int) -> list[Pair]:
    """Return the subscriptions that two readers both have: the running one of each kind.

    The one of ``kept`` continues, unless only the other one has issues left.
    """
    publications = "SELECT publication_id, name FROM publications WHERE account_id = :account_id"
    names = dict(books.rows_as(tuple[int, str | None], publications))
    have = look_up(books, [kept, gone])
    kinds = {(each.publication_id, each.type or "") for each in have[gone]}
    found = []
    for publication_id, type_ in sorted(kinds):
        one = running(books, kept, publication_id, type_)
        other = running(books, gone, publication_id, type_)
        if one is None or other is None:
            continue
        if one.least is None and other.least is not None:
            one, other = other, one
        least = {one.least, other.least}
        found.append(
            Pair(
                one.subscription_id,
                other.subscription_id,
                names[publication_id] or "",
                type_,
                UNLIMITED in least and None not in least,
            )
        )
    return found


def merge_subscriptions(books: Operation, subscription_id: int, other_id: int) -> None:
    """Move all that the other subscription has to the first, which ends the other one.

    The terms are used up in the order in which all were added. Deliveries and entries of lists stay
    with the subscription that received them. If the other subscription was cancelled and has not
    ended yet, the cancelling is withdrawn. If the first one was, its cancelling is withdrawn too if
    it would end issues of the other one, or a qualification, that were not cancelled.
    """
    was_to_end = withdraw(books, other_id)
    if not was_to_end and _goes_on(books, other_id):
        withdraw(books, subscription_id)
    both = {"one": subscription_id, "other": other_id}
    begins = _begins_on(books, **both)
    for statement in _MOVES:
        books.change(statement, **both)
    _move_consents(books, subscription_id, other_id)
    for table in SPANS:
        _move_spans(books, table, subscription_id, other_id)
    books.change(
        """
        UPDATE subscriptions AS s SET begins_on = :begins,
            mailing_address_id = coalesce(s.mailing_address_id, o.mailing_address_id),
            billing_address_id = coalesce(s.billing_address_id, o.billing_address_id),
            audit_classification = coalesce(s.audit_classification, o.audit_classification),
            audit_request_type = coalesce(s.audit_request_type, o.audit_request_type),
            date_last_renewed = CASE WHEN s.date_last_renewed IS NULL
                    OR o.date_last_renewed > s.date_last_renewed
                THEN o.date_last_renewed ELSE s.date_last_renewed END,
            last_purchase_bundle_id = CASE WHEN s.last_purchase_id IS NULL
                    OR o.last_purchase_id > s.last_purchase_id
                THEN o.last_purchase_bundle_id ELSE s.last_purchase_bundle_id END,
            last_purchase_id = CASE WHEN s.last_purchase_id IS NULL
                    OR o.last_purchase_id > s.last_purchase_id
                THEN o.last_purchase_id ELSE s.last_purchase_id END,
            commit_id = :commit_id
        FROM subscriptions AS o
        WHERE s.account_id = :account_id AND s.subscription_id = :one
            AND o.account_id = :account_id AND o.subscription_id = :other
        """,
        **both,
        begins=begins,
        commit_id=books.commit_id,
    )
    books.change(
        """
        UPDATE subscriptions SET cancelled_on = :today, renew_campaign_active = 0,
            merged_into = :one, commit_id = :commit_id,
            date_expired = CASE WHEN begins_on IS NULL THEN NULL ELSE date_expired END
        WHERE account_id = :account_id AND subscription_id = :other
        """,
        **both,
        today=books.today,
        commit_id=books.commit_id,
    )
    _move_qualifications(books, subscription_id, other_id)
    for each in (subscription_id, other_id):
        the_one(books, each)


_MOVES = (
    """
    UPDATE terms SET subscription_id = :one, moved_after = (
        SELECT coalesce(max(l.mailing_list_id), 0) FROM list_downloads AS l
        WHERE l.account_id = :account_id)
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    """
    UPDATE renewals_sent SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    """
    UPDATE complaints SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    """
    UPDATE announced_renewals SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    """
    UPDATE mails SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    """
    UPDATE letters SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    """
    UPDATE reader_changes SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    """
    UPDATE reader_requests SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    # The key holds an issue once: no subscription gets one twice; deliveries to both stay stored.
    """
    UPDATE subscription_issues SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other AND issue_id NOT IN (
        SELECT g.issue_id FROM subscription_issues AS g
        WHERE g.account_id = :account_id AND g.subscription_id = :one)
    """,
    """
    UPDATE replacements SET subscription_id = :one
    WHERE account_id = :account_id AND subscription_id = :other
    """,
    """
    UPDATE subscriptions SET merged_into = :one
    WHERE account_id = :account_id AND merged_into = :other
    """,
)


def _move_consents(books: Operation, subscription_id: int, other_id: int) -> None:
    """Move the consents to automatic renewal; if both run, that of the first one continues."""
    books.change(
        """
        UPDATE renewal_consents SET stopped_on = :today, stop_reason = 'merged'
        WHERE account_id = :account_id AND subscription_id = :other AND stopped_on IS NULL
            AND EXISTS (
                SELECT 1 FROM renewal_consents AS c
                WHERE c.account_id = :account_id AND c.subscription_id = :one
                    AND c.stopped_on IS NULL)
        """,
        today=books.today,
        one=subscription_id,
        other=other_id,
    )
    books.change(
        """
        UPDATE renewal_consents SET subscription_id = :one
        WHERE account_id = :account_id AND subscription_id = :other
        """,
        one=subscription_id,
        other=other_id,
    )


def _move_qualifications(books: Operation, subscription_id: int, other_id: int) -> None:
    """Move the qualifications; the newest of both counts."""
    if books.change(
        """
        UPDATE qualifications SET subscription_id = :one
        WHERE account_id = :account_id AND subscription_id = :other
        """,
        one=subscription_id,
        other=other_id,
    ):
        write_current(books, [subscription_id, other_id])


def _goes_on(books: Operation, subscription_id: int) -> bool:
    """Return whether a subscription has issues left, or goes by a qualification."""
    return bool(
        books.row(
            f"""
            SELECT 1 FROM terms AS t WHERE t.account_id = :account_id
                AND t.subscription_id = :subscription_id AND t.issues_left <> 0
            UNION ALL
            SELECT 1 FROM qualified_subscriptions AS q WHERE q.account_id = :account_id
                AND q.subscription_id = :subscription_id AND {GOES_ON}
            LIMIT 1
            """,
            subscription_id=subscription_id,
        )
    )


def _begins_on(books: Operation, *, one: int, other: int) -> str | None:
    """Return when the merged subscription begins: the earlier day, if both have issues left.

    Otherwise it would get the issues between the two days.
    """
    found = books.rows_as(
        tuple[int, str | None, bool],
        """
        SELECT s.subscription_id, s.begins_on, EXISTS (
            SELECT 1 FROM terms AS t WHERE t.account_id = :account_id
                AND t.subscription_id = s.subscription_id AND t.issues_left <> 0)
        FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id IN (:one, :other)
        """,
        one=one,
        other=other,
    )
    if all(has_left for _, _, has_left in found):
        return min((day for _, day, _ in found if day is not None), default=None)
    return next(day for key, day, _ in found if key == one)


def _move_spans(books: Operation, table: str, subscription_id: int, other_id: int) -> None:
    """Move suspensions or temporary addresses, without the days that the first one already has."""
    key = SPANS[table]
    address = ", address_id" if table == "temporary_addresses" else ""
    present = spans_of(books.connection, books.account_id, table, subscription_id)
    for span in spans_of(books.connection, books.account_id, table, other_id):
        parts = uncovered(span, present)
        for first, last in parts[1:]:
            books.change(
                f"""
                INSERT INTO {table}
                    (account_id, {key}, subscription_id, from_date, to_date{address})
                SELECT account_id, :new_id, :one, :first, :last{address} FROM {table}
                WHERE account_id = :account_id AND {key} = :span_id
                """,
                span_id=span.span_id,
                new_id=next_ids(books.connection, books.account_id, table),
                one=subscription_id,
                first=first,
                last=last,
            )
        if not parts:
            books.change(
                f"DELETE FROM {table} WHERE account_id = :account_id AND {key} = :span_id",
                span_id=span.span_id,
            )
            continue
        books.change(
            f"""
            UPDATE {table} SET subscription_id = :one, from_date = :first, to_date = :last
            WHERE account_id = :account_id AND {key} = :span_id
            """,
            span_id=span.span_id,
            one=subscription_id,
            first=parts[0][0],
            last=parts[0][1],
        )
