"""The conditions of who gets an issue, as SQL (circulation, "Close").

``s`` is a subscription, ``c`` one that may get the issue, and ``t`` its term.
"""

from typing import NamedTuple

from masthead.contract.subscription_types import PRINTED

NOT_SUSPENDED = """
    NOT EXISTS (
        SELECT 1 FROM suspensions AS a WHERE a.account_id = :account_id
        AND a.subscription_id = s.subscription_id AND a.from_date <= :day
        AND (a.to_date IS NULL OR a.to_date >= :day))
    """
HAS_NOT_GOT_IT = """
    NOT EXISTS (
        SELECT 1 FROM subscription_issues AS g WHERE g.account_id = :account_id
        AND g.subscription_id = s.subscription_id AND g.issue_id = :issue_id)
    """
ADDRESS = """
    coalesce((
        SELECT min(w.address_id) FROM temporary_addresses AS w
        WHERE w.account_id = :account_id AND w.subscription_id = s.subscription_id
            AND w.from_date <= :day AND w.to_date >= :day), s.mailing_address_id)
    """
_LOOKED_UP_AT_ONCE = f"""
    CASE WHEN s.subscription_id IN (
            SELECT f.subscription_id FROM temporary_addresses AS f
            WHERE f.account_id = :account_id AND f.from_date <= :day AND f.to_date >= :day)
        THEN {ADDRESS} ELSE s.mailing_address_id END
    """
_IS_NOT_DELETED = """
    NOT EXISTS (SELECT 1 FROM subscribers AS r WHERE r.account_id = :account_id
        AND r.subscriber_id = s.subscriber_id AND r.delete_date IS NOT NULL)
    """
_IS_NOT_AMONG_THE_DELETED = """
    s.subscriber_id NOT IN (SELECT r.subscriber_id FROM subscribers AS r
        WHERE r.account_id = :account_id AND r.delete_date IS NOT NULL)
    """


class Forms(NamedTuple):
    """Conditions in the form that a database answers fastest for all subscriptions at once.

    SQLite looks each row up by itself unless the other rows come first, as a list: looking up a
    million readers takes it longer than all else. PostgreSQL joins by hash tables.
    """

    address: str
    """The address in force on the day."""

    is_not_deleted: str
    """Whether the reader was not deleted."""

    of_publication: str
    """Whether ``qualified_subscriptions AS q`` is of the publication.

    For SQLite, this is written so that it reads the table in the order of the subscriptions, like
    the other tables, and not by the index of the ends.
    """


_OF_PUBLICATION = "q.publication_id = :publication_id"
FORMS = {
    "sqlite": Forms(
        _LOOKED_UP_AT_ONCE,
        _IS_NOT_AMONG_THE_DELETED,
        f"+{_OF_PUBLICATION} AND q.subscription_id > 0",
    ),
    "postgresql": Forms(ADDRESS, _IS_NOT_DELETED, _OF_PUBLICATION),
}
OLDEST_TERM = """
    (SELECT min(o.term_id) FROM terms AS o WHERE o.account_id = :account_id
        AND o.subscription_id = s.subscription_id AND o.issues_left <> 0)
    """


def _received_by(row: str) -> str:
    return f"""
        FROM subscription_issues AS g JOIN issues AS i
            ON i.account_id = :account_id AND i.issue_id = g.issue_id
        WHERE g.account_id = :account_id AND g.subscription_id = {row}.subscription_id
        """


LAST_REGULAR = f"""
    (SELECT max(i.date) {_received_by("s")} AND (g.is_grace = 0 OR g.term_id IS NOT NULL))
    """
GRACE_SINCE = f"""
    (SELECT count(*) {_received_by("c")}
        AND g.is_grace = 1 AND g.term_id IS NULL AND i.date > c.last_regular)
    """
WAS_REFUNDED = """
    (SELECT w.ended_at FROM terms AS w WHERE w.account_id = :account_id
        AND w.subscription_id = c.subscription_id AND w.kind <> 'extension'
        ORDER BY w.term_id DESC LIMIT 1) IS NOT NULL
    """
"""Whether the newest term of a reader without issues left was refunded."""
WAS_QUALIFIED = """
    EXISTS (SELECT 1 FROM subscription_issues AS g JOIN issues AS i
            ON i.account_id = :account_id AND i.issue_id = g.issue_id
        JOIN mailing_list_entries AS e ON e.account_id = :account_id
            AND e.mailing_list_id = g.mailing_list_id AND e.subscription_id = g.subscription_id
        WHERE g.account_id = :account_id AND g.subscription_id = c.subscription_id
            AND i.date = c.last_regular AND e.qualification_id IS NOT NULL)
    """
"""Whether the last issue came by a qualification: then no grace follows."""
HAS_A_TERM = """
    s.subscription_id IN (SELECT u.subscription_id FROM terms AS u
        WHERE u.account_id = :account_id AND u.term_id > 0 AND u.issues_left <> 0)
    """
"""Whether a subscription of a free title has issues of terms left; most have none."""
NOT_PAID = """
    SELECT u.subscription_id FROM terms AS u WHERE u.account_id = :account_id
        AND u.price > 0 AND u.paid_on IS NULL AND u.issues_left <> 0
    """
"""The subscriptions that have unpaid issues left; an index has only these terms."""


def is_beyond_credit(term: str, credit: str) -> str:
    """Return the SQL for a term that is not paid and has delivered ``credit`` issues or more."""
    return f"""({term}.price > 0 AND {term}.paid_on IS NULL AND {credit} <= CASE
        WHEN {term}.issues > 0 THEN {term}.issues - {term}.issues_left
        ELSE (SELECT count(*) FROM subscription_issues AS g
            WHERE g.account_id = :account_id AND g.term_id = {term}.term_id) END)"""


IS_UNPAID = is_beyond_credit("t", ":credit")


def has_paid(row: str) -> str:
    """Return the SQL for a subscription that has a paid term with issues left."""
    return f"""
        EXISTS (SELECT 1 FROM terms AS p WHERE p.account_id = :account_id
            AND p.subscription_id = {row}.subscription_id AND p.issues_left <> 0
            AND p.paid_on IS NOT NULL)
        """


_CREDIT = """(SELECT p.credit_issues FROM subscriptions AS o JOIN publications AS p
    ON p.account_id = :account_id AND p.publication_id = o.publication_id
    WHERE o.account_id = :account_id AND o.subscription_id = t.subscription_id)"""
IS_PASSED_OVER = is_beyond_credit("t", _CREDIT)
"""Whether the term ``t`` is passed over if another one is paid."""

NEXT_TERM = f"""
    SELECT CASE WHEN max(CASE WHEN t.paid_on IS NOT NULL THEN 1 END) = 1
        THEN min(CASE WHEN NOT {IS_PASSED_OVER} THEN t.term_id END) ELSE min(t.term_id) END
    FROM terms AS t WHERE t.account_id = :account_id AND t.subscription_id = :subscription_id
        AND t.issues_left <> 0
    """
"""The term out of which the next issue of a subscription comes."""

OLDEST_ON_CREDIT = f"""
    (SELECT min(o.term_id) FROM terms AS o WHERE o.account_id = :account_id
        AND o.subscription_id = s.subscription_id AND o.issues_left <> 0
        AND NOT {is_beyond_credit("o", ":credit")})
    """
HAS_NOWHERE_TO_GO = f"""
    (c.type IN {PRINTED} AND NOT EXISTS (
        SELECT 1 FROM addresses AS p WHERE p.account_id = :account_id
        AND p.address_id = c.address_id AND p.address <> ''))
    """


COLUMNS = "s.account_id, s.subscription_id, s.subscriber_id, s.type, s.copies"
OF_PUBLICATION = """
    FROM subscriptions AS s
    WHERE s.account_id = :account_id AND s.publication_id = :publication_id
        AND s.cancelled_on IS NULL
    """


HAS_OLDER_TERM = """
    EXISTS (SELECT 1 FROM terms AS o WHERE o.account_id = :account_id
        AND o.subscription_id = c.subscription_id AND o.issues_left <> 0
        AND o.term_id < t.term_id)
    """
ENTRY = """
    c.type, 0 AS is_grace, CASE WHEN t.paid_on IS NOT NULL THEN 1 ELSE 0 END AS is_paid,
    coalesce(t.copies + t.free_copies, c.copies) AS copies,
    coalesce(t.free_copies, 0) AS free_copies, 0 AS is_qualified
    """
