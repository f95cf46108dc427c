"""The figures of the console's first page, which are counted over a whole account.

Counting takes seconds for a million subscriptions, so the console counts outside its requests.
"""

from typing import NamedTuple

from masthead.contract.subscription_types import DIGITAL, PRINTED
from masthead.store import loads
from masthead.store.books import renewing
from masthead.store.books.reports import counting
from masthead.store.database import Connection, Store

_SHOWN = 20


class PressRun(NamedTuple):
    """The expected copies of a publication's next issue."""

    printed: int
    digital: int


class Figures(NamedTuple):
    """The figures; money is in cents.

    ``press_runs`` are by publication. ``without_address`` has the first pairs of a subscription and
    its subscriber, ``unpaid`` those of an order and its payer, who would get nothing. The fields
    ``…_in_all`` have their full numbers. ``failed_loads`` are the reasons why loads since the last
    good one failed.
    """

    press_runs: dict[int, PressRun]
    without_address: list[tuple[int, int]]
    without_address_in_all: int
    unpaid: list[tuple[int, int]]
    unpaid_in_all: int
    failed_loads: list[str]
    letters: int
    liability: int
    new: int
    lost: int


def figures_of(store: Store, account_id: int, today: str) -> Figures:
    """Return the figures of an account that keeps its books here, from one snapshot.

    Raises MastheadError if the books are elsewhere.
    """
    failed = _failed_loads(store, account_id)
    with counting(store, account_id) as running:
        connection = running.connection
        runs: dict[int, list[int]] = {}
        for publication_id, type_, copies in connection.rows(
            """
            SELECT publication_id, type, sum(coalesce(copies, 0)) FROM subscriptions
            WHERE account_id = :account_id AND issues <> 0 AND cancelled_on IS NULL
            GROUP BY publication_id, type
            """,
            account_id=account_id,
        ):
            run = runs.setdefault(publication_id, [0, 0])
            run[0] += int(copies) if type_ in PRINTED else 0
            run[1] += int(copies) if type_ in DIGITAL else 0
        ((new, lost),) = connection.rows(
            """
            SELECT
                coalesce(sum(CASE WHEN substr(date_created, 1, 7) = :month THEN 1 ELSE 0 END), 0),
                coalesce(sum(CASE WHEN (merged_into IS NULL
                        AND substr(cancelled_on, 1, 7) = :month)
                    OR (cancelled_on IS NULL AND issues = 0
                        AND substr(date_expired, 1, 7) = :month) THEN 1 ELSE 0 END), 0)
            FROM subscriptions WHERE account_id = :account_id
            """,
            account_id=account_id,
            month=today[:7],
        )
        ((liability,),) = connection.rows(
            """
            SELECT coalesce(sum(CASE kind WHEN 'received' THEN cents ELSE -cents END), 0)
            FROM revenue WHERE account_id = :account_id
            """,
            account_id=account_id,
        )
        without = _without_address(connection, account_id)
        unpaid = _unpaid(connection, account_id)
        letters = sum(each.letters for each in renewing.due(running, today))
    return Figures(
        {key: PressRun(*run) for key, run in runs.items()},
        without[:_SHOWN],
        len(without),
        unpaid[:_SHOWN],
        len(unpaid),
        failed,
        letters,
        int(liability),
        int(new),
        int(lost),
    )


def _without_address(connection: Connection, account_id: int) -> list[tuple[int, int]]:
    """Return printed subscriptions with issues left but no address, with their subscribers."""
    return [
        (row[0], row[1])
        for row in connection.rows(
            f"""
            SELECT s.subscription_id, s.subscriber_id FROM subscriptions AS s
            LEFT JOIN addresses AS a
                ON a.account_id = s.account_id AND a.address_id = s.mailing_address_id
            WHERE s.account_id = :account_id AND s.issues <> 0 AND s.cancelled_on IS NULL
                AND s.type IN {PRINTED} AND coalesce(a.address, '') = ''
            """,
            account_id=account_id,
        )
    ]


def _unpaid(connection: Connection, account_id: int) -> list[tuple[int, int]]:
    """Return the orders that have used up their credit, with their payers."""
    return [
        (row[0], row[1])
        for row in connection.rows(
            """
            SELECT DISTINCT o.order_id, o.subscriber_id FROM terms AS t
            JOIN subscriptions AS s
                ON s.account_id = t.account_id AND s.subscription_id = t.subscription_id
            JOIN publications AS p
                ON p.account_id = s.account_id AND p.publication_id = s.publication_id
            JOIN order_items AS i
                ON i.account_id = t.account_id AND i.order_item_id = t.order_item_id
            JOIN orders AS o ON o.account_id = i.account_id AND o.order_id = i.order_id
            WHERE t.account_id = :account_id AND t.price > 0 AND t.paid_on IS NULL
                AND t.ended_at IS NULL AND t.issues - t.issues_left >= p.credit_issues
            ORDER BY o.order_id
            """,
            account_id=account_id,
        )
    ]


def _failed_loads(store: Store, account_id: int) -> list[str]:
    found: list[str] = []
    for load in loads.loads(store, account_id):
        if load.outcome == "good":
            found = []
        elif load.outcome in {"refused", "interrupted"}:
            found.append(load.reason or load.outcome)
    return found
