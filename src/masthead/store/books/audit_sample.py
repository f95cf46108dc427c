"""Every nth qualified copy of an issue with its evidence (qualification, "The audit report")."""

from typing import NamedTuple

from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed
from masthead.store.books.qualified_copies import CLASS_NOW, QUALIFICATION_OF_ENTRY
from masthead.store.books.reports import SENT_TO, IssueLists


class Sampled(NamedTuple):
    """A qualified copy: its number on the lists, the reader, and the qualification.

    ``answers`` and ``evidence`` are JSON, None once the reader is erased.
    """

    number: int
    subscription_id: int
    subscriber_id: int
    name: str
    address: str
    email: str
    type: str
    copies: int
    audit_class: str
    request_type: str
    qualified_on: str
    valid_until: str
    answers: str | None
    taken_by: str
    evidence: str | None
    external_reference: str
    recorded_at: str


_ADDRESS = " || ".join(
    f"CASE WHEN a.{name} <> '' THEN ', ' || a.{name} ELSE '' END"
    for name in ("company", "address", "zip_code", "city", "state")
)


def every_nth(
    reading: Reading, issue: IssueLists, every: int, first: int
) -> tuple[int, list[Sampled]]:
    """Return the number of qualified copies, and every nth of them after the first ``first``.

    They are sorted by subscription.
    """
    of_lists = f"""
        FROM mailing_list_entries AS e WHERE e.account_id = :account_id
            AND e.mailing_list_id IN ({listed(issue.ids)}) AND e.qualification_id IS NOT NULL
        """
    total = reading.value_as(int, f"SELECT count(*) {of_lists}") or 0
    found = reading.rows_as(
        Sampled,
        f"""
        SELECT e.number, e.subscription_id, s.subscriber_id,
            trim(coalesce(p.first_name, '') || ' ' || coalesce(p.last_name, '')),
            substr({_ADDRESS}, 3), coalesce(p.email, ''), coalesce(e.type, ''),
            coalesce(e.copies, 0), coalesce(x.code, ''), n.request_type, n.qualified_on,
            n.valid_until, n.answers, coalesce(n.taken_by, ''), n.evidence,
            coalesce(n.external_reference, ''), n.recorded_at
        FROM (
            SELECT w.* FROM (
                SELECT e.subscription_id, e.type, e.copies, e.qualification_id,
                    row_number() OVER (ORDER BY e.subscription_id) AS number
                {of_lists}) AS w
            WHERE (w.number - 1) % :every = :first) AS e
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = e.subscription_id
        JOIN subscribers AS p ON p.account_id = :account_id AND p.subscriber_id = s.subscriber_id
        {QUALIFICATION_OF_ENTRY}
        LEFT JOIN audit_classes AS x
            ON x.account_id = :account_id AND x.audit_class_id = {CLASS_NOW}
        {SENT_TO}
        ORDER BY e.number
        """,
        every=every,
        first=first,
        issue_id=issue.issue_id,
    )
    return total, found
