"""Welcome and cancellation letters: which are due, what they print, and which were written.

Each statement is for all subscriptions at once. ``d`` is the subscription of a letter.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from masthead.store.books.mail_file import address_of
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.renewing import PAYER, RECIPIENT

LetterKind = Literal["welcome", "cancellation"]
"""The kinds of letters that are noted, so that nobody gets one twice."""

_PRESENT = """
    NOT EXISTS (SELECT 1 FROM subscribers AS x WHERE x.account_id = :account_id
        AND x.subscriber_id = s.subscriber_id AND x.delete_date IS NOT NULL)
    """

_WRITTEN = """
    SELECT 1 FROM letters AS l WHERE l.account_id = :account_id
        AND l.subscription_id = s.subscription_id AND l.kind = :kind
    """

_OF_DAY = f"""
    EXISTS ({_WRITTEN} AND l.written_on = :written_on AND (l.by_email = 0 OR NOT EXISTS (
        SELECT 1 FROM mails AS m WHERE m.account_id = :account_id
            AND m.subscription_id = l.subscription_id AND m.status IN ('queued', 'sent')
            AND (m.kind = l.kind OR l.kind = 'cancellation' AND m.kind = 'confirmation'
                AND m.queued_at >= l.written_on))))
        AND {_PRESENT}
    """
"""The subscriptions ``s`` whose letter of a day is on paper: it does not go by email, or the mail
failed. The mail about a reader's own cancelling is its confirmation."""

_OF_ONE = f"s.subscription_id = :subscription_id AND {_PRESENT}"
"""The subscription ``s`` whose letter is made again for its reader."""

_WELCOME = f"""
    substr(s.date_created, 1, 10) >= :since AND s.cancelled_on IS NULL AND s.merged_into IS NULL
        AND EXISTS (SELECT 1 FROM terms AS n WHERE n.account_id = :account_id
            AND n.subscription_id = s.subscription_id AND n.ended_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM cancellations AS c WHERE c.account_id = :account_id
            AND c.subscription_id = s.subscription_id)
        AND NOT EXISTS ({_WRITTEN}) AND {_PRESENT}
    """
"""The subscriptions ``s`` that began since a day and have no letter yet."""

_CANCELLATION = f"""
    c.made_on >= :since AND NOT EXISTS ({_WRITTEN} AND l.written_on >= c.made_on) AND {_PRESENT}
    """
"""The subscriptions ``s`` that were cancelled since a day, and have no letter since then."""

_CANCELLED = """
    FROM subscriptions AS s JOIN cancellations AS c
        ON c.account_id = :account_id AND c.subscription_id = s.subscription_id
    WHERE s.account_id = :account_id
    """


class Welcome(NamedTuple):
    """What a welcome letter prints; the last fields are the :data:`FIELDS` of the address."""

    subscription_id: int
    subscriber_id: int
    email: str | None
    renewal_code: str | None
    publication: str | None
    publication_id: int
    type: str | None
    copies: int | None
    issues: int | None
    first_on: str | None
    until: str | None
    payer_id: int
    payer_first_name: str | None
    payer_last_name: str | None
    has_address: int


class Cancellation(NamedTuple):
    """What a cancellation letter prints; ``subscriber_id`` is the one who gets it."""

    subscription_id: int
    subscriber_id: int
    email: str | None
    reader_id: int
    reader_first_name: str | None
    reader_last_name: str | None
    publication: str | None
    copies: int | None
    cancelled_on: str
    reason: str | None
    ended_on: str | None
    last_issue: str | None
    last_on: str | None
    at_end: int
    issues: int | None
    until: str | None
    is_refund: int
    refunded: int
    has_address: int


def _values(
    kind: LetterKind, since: str, written_on: str | None, of_one: int | None = None
) -> dict[str, int | str]:
    values: dict[str, int | str] = {"kind": kind}
    if of_one is not None:
        return values | {"subscription_id": of_one}
    return values | ({"since": since} if written_on is None else {"written_on": written_on})


def _which(due: str, written_on: str | None, of_one: int | None) -> str:
    if of_one is not None:
        return _OF_ONE
    return due if written_on is None else _OF_DAY


def welcomes(
    reading: Reading, since: str, written_on: str | None = None, of_one: int | None = None
) -> list[tuple[Welcome, tuple[str | None, ...]]]:
    """Return the welcome letters that are due for subscriptions since a day, by subscription.

    With ``written_on``, those of that day on paper; with ``of_one``, that of one subscription,
    whether it is due or not. Each has the reader's address
    (:data:`FIELDS`): the mailing address, or else an own billing address.
    """
    which = _which(_WELCOME, written_on, of_one)
    rows = reading.rows(
        f"""
        WITH due AS (
            SELECT s.* FROM subscriptions AS s WHERE s.account_id = :account_id AND {which}
        )
        SELECT d.subscription_id, d.subscriber_id, r.email, r.renewal_code, p.name,
            p.publication_id, d.type, d.copies,
            (SELECT CASE WHEN min(n.issues) = -1 THEN -1 ELSE CAST(sum(n.issues) AS BIGINT) END
                FROM terms AS n WHERE n.account_id = :account_id
                    AND n.subscription_id = d.subscription_id AND n.kind <> 'extension'
                    AND n.ended_at IS NULL),
            coalesce(
                (SELECT min(i.date) FROM subscription_issues AS e JOIN issues AS i
                    ON i.account_id = :account_id AND i.issue_id = e.issue_id
                    WHERE e.account_id = :account_id AND e.subscription_id = d.subscription_id),
                (SELECT min(i.date) FROM issues AS i WHERE i.account_id = :account_id
                    AND i.publication_id = d.publication_id AND i.closed_at IS NULL
                    AND i.date >= coalesce(d.begins_on, ''))),
            d.date_expired, coalesce(q.subscriber_id, d.subscriber_id), q.first_name, q.last_name,
            CASE WHEN a.address_id IS NULL THEN 0 ELSE 1 END, {address_of("r")}
        FROM due AS d
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = d.publication_id
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = d.subscriber_id
        LEFT JOIN terms AS t ON t.account_id = :account_id AND t.term_id = (
            SELECT max(n.term_id) FROM terms AS n WHERE n.account_id = :account_id
                AND n.subscription_id = d.subscription_id AND n.kind <> 'extension')
        LEFT JOIN subscribers AS q ON q.account_id = :account_id AND q.delete_date IS NULL
            AND q.subscriber_id = {PAYER}
        LEFT JOIN addresses AS b ON b.account_id = :account_id
            AND b.address_id = d.billing_address_id AND b.subscriber_id = d.subscriber_id
        LEFT JOIN addresses AS a ON a.account_id = :account_id
            AND a.address_id = coalesce(d.mailing_address_id, b.address_id)
        ORDER BY d.subscription_id
        """,
        **_values("welcome", since, written_on, of_one),
    )
    columns = len(Welcome._fields)
    return [(Welcome(*row[:columns]), tuple(row[columns:])) for row in rows]


def cancellations(
    reading: Reading, since: str, written_on: str | None = None, of_one: int | None = None
) -> list[tuple[Cancellation, tuple[str | None, ...]]]:
    """Return the cancellation letters that are due for cancellings since a day, by subscription.

    With ``written_on``, those of that day on paper that are still cancelled; with ``of_one``, that
    of one subscription, whether it is due or not. Who gets a letter, at which address
    (:data:`FIELDS`), is that of renewal letters (:data:`RECIPIENT`).
    """
    which = _which(_CANCELLATION, written_on, of_one)
    rows = reading.rows(
        f"""
        WITH due AS (
            SELECT s.*, c.made_on, c.reason, c.ended_on, c.after_issue_id, c.at_end, c.is_refund
            {_CANCELLED} AND {which}
        )
        SELECT d.subscription_id, w.subscriber_id, w.email, r.subscriber_id, r.first_name,
            r.last_name, p.name, d.copies, d.made_on, d.reason, d.ended_on, f.name, f.date,
            d.at_end, d.issues, d.date_expired, d.is_refund,
            (SELECT CAST(coalesce(sum(e.refunded + e.tax), 0) AS BIGINT)
                FROM terms AS n JOIN cancelled_terms AS e
                    ON e.account_id = :account_id AND e.term_id = n.term_id
                WHERE n.account_id = :account_id AND n.subscription_id = d.subscription_id
                    AND d.ended_on IS NOT NULL),
            CASE WHEN a.address_id IS NULL THEN 0 ELSE 1 END, {address_of("w")}
        FROM due AS d
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = d.publication_id
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = d.subscriber_id
        LEFT JOIN issues AS f ON f.account_id = :account_id AND f.issue_id = d.after_issue_id
        {RECIPIENT}
        ORDER BY d.subscription_id
        """,
        **_values("cancellation", since, written_on, of_one),
    )
    columns = len(Cancellation._fields)
    return [(Cancellation(*row[:columns]), tuple(row[columns:])) for row in rows]


def credit_notes(
    reading: Reading, since: str, written_on: str | None = None, of_one: int | None = None
) -> list[tuple[int, str]]:
    """Return the credit notes of the cancellings of the same letters, each with its subscription.

    They are those of the orders on the day on which the subscription ended, by number.
    """
    which = _which(_CANCELLATION, written_on, of_one)
    return reading.rows_as(
        tuple[int, str],
        f"""
        WITH due AS (SELECT s.subscription_id, c.ended_on {_CANCELLED} AND {which})
        SELECT DISTINCT d.subscription_id, v.number_text
        FROM due AS d
        JOIN terms AS t ON t.account_id = :account_id AND t.subscription_id = d.subscription_id
        JOIN order_items AS i
            ON i.account_id = :account_id AND i.order_item_id = t.order_item_id
        JOIN invoices AS v ON v.account_id = :account_id AND v.order_id = i.order_id
            AND v.kind = 'credit_note' AND v.issued_on = d.ended_on
        ORDER BY d.subscription_id, v.number_text
        """,
        **_values("cancellation", since, written_on, of_one),
    )


def still_due(reading: Reading, kind: LetterKind, since: str) -> set[int]:
    """Return the subscriptions whose letter is due."""
    if kind == "welcome":
        found = f"FROM subscriptions AS s WHERE s.account_id = :account_id AND {_WELCOME}"
    else:
        found = f"{_CANCELLED} AND {_CANCELLATION}"
    rows = reading.rows_as(
        tuple[int], f"SELECT s.subscription_id {found}", **_values(kind, since, None)
    )
    return {key for (key,) in rows}


def note_written(
    books: Operation, kind: LetterKind, letters: Iterable[tuple[int, int]], *, by_email: bool
) -> None:
    """Note letters as written today, each by its subscription and who gets it."""
    for subscription_id, subscriber_id in letters:
        books.add(
            "letters",
            letter_id=books.new_id("letters"),
            kind=kind,
            subscription_id=subscription_id,
            subscriber_id=subscriber_id,
            written_on=books.today,
            by_email=int(by_email),
        )


def count_of_day(reading: Reading, kind: LetterKind, day: str) -> int:
    """Return how many letters of a day are on paper, with those that have no address."""
    found = "FROM subscriptions AS s WHERE s.account_id = :account_id"
    if kind == "cancellation":
        found = _CANCELLED
    sql = f"SELECT count(*) {found} AND {_OF_DAY}"
    return reading.value_as(int, sql, **_values(kind, "", day)) or 0


def issue_names(reading: Reading) -> dict[tuple[int, str], str]:
    """Return the names of issues by publication and date."""
    rows = reading.rows_as(
        tuple[int, str, str],
        """
        SELECT publication_id, date, coalesce(name, '') FROM issues
        WHERE account_id = :account_id AND date IS NOT NULL ORDER BY issue_id DESC
        """,
    )
    return {(publication_id, day): name for publication_id, day, name in rows}
