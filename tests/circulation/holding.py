"""What must hold after each operation (circulation, "What must hold"), asked of the tables alone.

Number 2, that the tables are what the model says, is ``shown.compare``; number 5 is a benchmark,
and number 6 has ``test_two_operators``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from masthead.books.issues import Written, mail_file_rows
from tests.circulation.shown import Differs

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

Revenue = list[tuple[int | str | None, ...]]


def journal(desk: Desk) -> tuple[int, int]:
    """Return the newest commit of the feed, and how many entries the audit log has (number 1)."""
    ((commit, entries),) = desk.rows(
        """
        SELECT (SELECT max(commit_id) FROM commits WHERE account_id = :account_id),
            (SELECT count(*) FROM audit WHERE account_id = :account_id)
        """
    )
    return commit, entries


def check_revenue(desk: Desk, before: Revenue) -> Revenue:
    """Return the rows of revenue; raise Differs unless those from before are the first of them."""
    rows = desk.rows("SELECT * FROM revenue WHERE account_id = :account_id ORDER BY revenue_id")
    if rows[: len(before)] != before:
        raise Differs("rows of revenue were changed or deleted")
    return rows


def check_money(desk: Desk) -> None:
    """Raise Differs unless received = earned + refunded + unearned, to the cent (number 3).

    For each term nothing is below 0, and what is unearned is only of terms that go on; for each
    subscription it is what the column says.
    """
    rows = desk.rows(
        """
        SELECT s.subscription_id, s.unearned_revenue, t.term_id, t.issues_left,
            sum(CASE r.kind WHEN 'received' THEN r.cents ELSE 0 END),
            sum(CASE r.kind WHEN 'earned' THEN r.cents ELSE 0 END),
            sum(CASE r.kind WHEN 'refunded' THEN r.cents ELSE 0 END)
        FROM subscriptions AS s
        JOIN terms AS t ON t.account_id = s.account_id AND t.subscription_id = s.subscription_id
        JOIN revenue AS r ON r.account_id = t.account_id AND r.term_id = t.term_id
        WHERE s.account_id = :account_id
        GROUP BY s.subscription_id, s.unearned_revenue, t.term_id, t.issues_left
        """
    )
    shown: dict[int, str] = {}
    unearned: dict[int, int] = {}
    for key, column, term, left, received, earned, refunded in rows:
        rest = received - earned - refunded
        if min(earned, refunded, rest) < 0 or (rest and not left):
            raise Differs(f"term {term}: {received} received, {earned} earned, {refunded} refunded")
        shown[key] = column
        unearned[key] = unearned.get(key, 0) + int(rest)
    for key, cents in unearned.items():
        if shown[key] != f"{cents // 100}.{cents % 100:02}":
            raise Differs(f"subscription {key} shows {shown[key]}, and {cents} cents are unearned")
    _check_items(desk)


def _check_items(desk: Desk) -> None:
    """Raise Differs unless what went back of an ordered bundle is net and tax that it had."""
    rows = desk.rows(
        """
        SELECT i.order_item_id, i.sub_total, i.tax_total, i.refunded, (
            SELECT coalesce(sum(r.cents), 0) FROM terms AS t JOIN revenue AS r
                ON r.account_id = t.account_id AND r.term_id = t.term_id
            WHERE t.account_id = i.account_id AND t.order_item_id = i.order_item_id
                AND r.kind = 'refunded')
        FROM order_items AS i WHERE i.account_id = :account_id AND i.bundle_id IS NOT NULL
        """
    )
    for item, sub_total, tax_total, refunded, net in rows:
        most, most_tax = (int(Decimal(total) * 100) for total in (sub_total, tax_total))
        if not (0 <= net <= most and 0 <= refunded - net <= most_tax):
            raise Differs(f"item {item} of {most} and {most_tax} tax: {refunded} back, {net} net")


def check_files(desk: Desk, of: int | None = None) -> None:
    """Raise Differs unless a list's entries = the rows of its files = its count (number 4).

    With ``of``, only the files of that issue are written, since each file is a connection. The main
    list of an issue and its gap lists have no subscription in common.
    """
    lists = desk.rows(
        """
        SELECT l.mailing_list_id, l.count, i.issue_id FROM list_downloads AS l
        JOIN issues AS i ON i.account_id = l.account_id
            AND i.mailing_list_id = coalesce(l.parent_mailing_list_id, l.mailing_list_id)
        WHERE l.account_id = :account_id ORDER BY l.mailing_list_id
        """
    )
    entries = desk.rows(
        """
        SELECT mailing_list_id, subscription_id FROM mailing_list_entries
        WHERE account_id = :account_id
        """
    )
    of_issue: dict[int, list[int]] = {}
    for number, count, issue in lists:
        own = [key for list_id, key in entries if list_id == number]
        of_issue.setdefault(issue, []).extend(own)
        written = len(own) if of not in {None, issue} else 0
        for digital in (False, True) if of in {None, issue} else ():
            written_list = Written(issue, number)
            with mail_file_rows(desk.books, written_list, digital=digital) as rows:
                written += sum(1 for _ in rows)
        if not len(own) == written == count:
            raise Differs(f"list {number} has {len(own)} entries, {written} rows, and says {count}")
    for issue, keys in of_issue.items():
        if len(set(keys)) != len(keys):
            raise Differs(f"somebody is on two lists of issue {issue}")
