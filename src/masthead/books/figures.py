"""The figures of the console's first page, which are counted over a whole account.

Counting takes seconds for a million subscriptions (rules, "What the console counts").
"""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.store import loads
from masthead.store.books import figures, renewing
from masthead.store.books.figures import PressRun

__all__ = ["Figures", "PressRun", "figures_of"]

_SHOWN = 20


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


def figures_of(books: Books) -> Figures:
    """Return the figures of the current day, from one snapshot.

    Raises MastheadError if Masthead does not keep the account's books.
    """
    failed = loads.failed_since_good(books.store, books.account_id)
    with books.scan() as reading:
        without = figures.without_address(reading)
        unpaid = figures.unpaid(reading)
        new, lost = figures.new_and_lost(reading)
        return Figures(
            figures.press_runs(reading),
            without[:_SHOWN],
            len(without),
            unpaid[:_SHOWN],
            len(unpaid),
            failed,
            sum(each.letters for each in renewing.due(reading, reading.today)),
            figures.liability(reading),
            new,
            lost,
        )
