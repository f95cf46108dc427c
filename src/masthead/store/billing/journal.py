"""The journal: double entries of every movement of money (billing, "Month end").

Operations post entries (:func:`post`). What deliveries and months earn is not posted: it is derived
from ``revenue``, one entry for each day and publication. All amounts are whole cents, positive for
debit and negative for credit.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from masthead.billing.journal_accounts import JournalAccount
from masthead.billing.journal_entries import Entry, Posting, balanced, earned_entry
from masthead.store.books.operation import Operation, Reading

_PUBLICATION = """coalesce(
    (SELECT i.publication_id FROM issues AS i
        WHERE i.account_id = :account_id AND i.issue_id = r.issue_id),
    (SELECT s.publication_id FROM terms AS t JOIN subscriptions AS s
        ON s.account_id = :account_id AND s.subscription_id = t.subscription_id
        WHERE t.account_id = :account_id AND t.term_id = r.term_id))"""
"""The publication of a row ``r`` of ``revenue``, as the liability report counts it."""


def post(
    change: Operation,
    day: str,
    text: str,
    lines: Iterable[Posting],
    *,
    invoice_id: int | None = None,
    payment_id: int | None = None,
) -> int | None:
    """Queue an entry of the day to which it is booked; return its id, None if nothing moved.

    ``lines`` are accounts with their cents. They must add up to 0; lines of 0 cents are not
    written, and those of the same account are one. ``text`` names no person: it stays when a payer
    is erased. The account must bill, and the day's month must be open
    (``store.billing.closed_months.first_open_day``).
    """
    kept = balanced(lines)
    if not kept:
        return None
    entry_id = change.new_id("journal_lines")
    for number, (account, cents) in enumerate(kept, 1):
        change.add(
            "journal_lines",
            entry_id=entry_id,
            line_number=number,
            booked_on=day,
            account=account,
            cents=cents,
            text=text,
            invoice_id=invoice_id,
            payment_id=payment_id,
        )
    return entry_id


def deferred_at_begin(reading: Reading, day: str) -> int:
    """Return the liability to readers with which billing begins on a day.

    It is what was received and not given back, without what was earned before that day. The entry
    of the beginning credits ``deferred`` with it. What is earned from that day on is derived, also
    where it was booked before billing began.
    """
    cents = reading.value_as(
        int,
        """
        SELECT CAST(coalesce(sum(CASE WHEN kind = 'received' THEN cents
            WHEN kind = 'refunded' THEN -cents
            WHEN booked_on < :day THEN -cents ELSE 0 END), 0) AS BIGINT)
        FROM revenue WHERE account_id = :account_id
        """,
        day=day,
    )
    return cents or 0


class _Line(NamedTuple):
    entry_id: int
    booked_on: str
    text: str
    account: JournalAccount
    cents: int
    invoice: str | None
    payment_id: int | None


def posted(reading: Reading, first: str, last: str) -> list[Entry]:
    """Return the posted entries of some days, by day and id."""
    rows = reading.rows_as(
        _Line,
        """
        SELECT j.entry_id, j.booked_on, coalesce(j.text, ''), j.account, j.cents,
            (SELECT i.number_text FROM invoices AS i
                WHERE i.account_id = :account_id AND i.invoice_id = j.invoice_id),
            j.payment_id
        FROM journal_lines AS j
        WHERE j.account_id = :account_id AND j.booked_on BETWEEN :first AND :last
        ORDER BY j.booked_on, j.entry_id, j.line_number
        """,
        first=first,
        last=last,
    )
    entries = []
    for entry_id, lines in groupby(rows, key=lambda row: row.entry_id):
        found = list(lines)
        head = found[0]
        entries.append(
            Entry(
                str(entry_id),
                head.booked_on,
                head.text,
                [(line.account, line.cents) for line in found],
                head.invoice,
                head.payment_id,
            )
        )
    return entries


def earned(reading: Reading, first: str, last: str) -> list[Entry]:
    """Return what was earned on some days as entries: one for each day and publication."""
    rows = reading.rows_as(
        tuple[str, int, str, int],
        f"""
        SELECT e.booked_on, e.publication_id, coalesce(p.name, ''), e.cents
        FROM (
            SELECT r.booked_on, {_PUBLICATION} AS publication_id,
                CAST(sum(r.cents) AS BIGINT) AS cents
            FROM revenue AS r
            WHERE r.account_id = :account_id AND r.kind = 'earned'
                AND r.booked_on BETWEEN :first AND :last
            GROUP BY 1, 2) AS e
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = e.publication_id
        WHERE e.cents <> 0 ORDER BY e.booked_on, e.publication_id
        """,
        first=first,
        last=last,
    )
    return [
        earned_entry(f"earned-{day}-{publication_id}", day, name, cents)
        for day, publication_id, name, cents in rows
    ]


def days_with_entries(reading: Reading, first: str, last: str) -> list[str]:
    """Return the days from ``first`` to ``last`` on which something was posted or earned."""
    rows = reading.rows_as(
        tuple[str],
        """
        SELECT booked_on FROM journal_lines
        WHERE account_id = :account_id AND booked_on BETWEEN :first AND :last
        UNION SELECT booked_on FROM revenue
        WHERE account_id = :account_id AND booked_on BETWEEN :first AND :last
        ORDER BY 1
        """,
        first=first,
        last=last,
    )
    return [day for (day,) in rows]


def balances(reading: Reading, begun_on: str, day: str) -> dict[JournalAccount, int]:
    """Return the balance of each account at the end of a day, with what was earned until then."""
    rows = reading.rows_as(
        tuple[JournalAccount, int],
        """
        SELECT account, CAST(sum(cents) AS BIGINT) FROM journal_lines
        WHERE account_id = :account_id AND booked_on <= :day GROUP BY account
        """,
        day=day,
    )
    found = dict(rows)
    cents = reading.value_as(
        int,
        """
        SELECT CAST(coalesce(sum(cents), 0) AS BIGINT) FROM revenue
        WHERE account_id = :account_id AND kind = 'earned' AND booked_on BETWEEN :begun_on AND :day
        """,
        begun_on=begun_on,
        day=day,
    )
    found["deferred"] = found.get("deferred", 0) + (cents or 0)
    found["revenue"] = found.get("revenue", 0) - (cents or 0)
    return found


def unbalanced(reading: Reading) -> list[int]:
    """Return the ids of posted entries that do not balance, or have lines of several days."""
    rows = reading.rows_as(
        tuple[int],
        """
        SELECT entry_id FROM journal_lines WHERE account_id = :account_id
        GROUP BY entry_id HAVING sum(cents) <> 0 OR min(booked_on) <> max(booked_on)
        ORDER BY entry_id
        """,
    )
    return [entry_id for (entry_id,) in rows]
