"""What a request of each kind costs, on each kind of database: the one table of this folder.

These are the numbers of the large account as they were found, with Python 3.11, when a line was
last changed. ``tests/costs/__init__.py`` says how to read a failure, and when to change a line.
"""

from __future__ import annotations

from typing import NamedTuple

ALLOWANCE, A_FEW = 1.10, 8
"""So much more may be visited and called than was found, and in an account of ten times the size
than in the small one; or a few more. Libraries and versions of Python differ a little, and
PostgreSQL reads an entry whose row is gone until it has noticed that."""

KEPT_BYTES_MAX = 128
"""So much more memory may be in use after each request: less than the smallest dict."""


class Limit(NamedTuple):
    """The limits of one request: ``statements`` is exact, of the others it is the most."""

    statements: int
    visited: int
    calls: int


# sqlite: statements that run, steps of SQLite's machine, calls of functions.
# postgresql: round trips, rows and entries of indexes that are read, calls of functions.
LIMITS = {
    "1 own account": {"sqlite": Limit(4, 69, 382), "postgresql": Limit(2, 3, 608)},
    "1 all accounts": {"sqlite": Limit(4, 1456, 2757), "postgresql": Limit(2, 103, 2995)},
    "2": {"sqlite": Limit(4, 69, 386), "postgresql": Limit(2, 3, 612)},
    "3 by email": {"sqlite": Limit(6, 306, 478), "postgresql": Limit(4, 9, 879)},
    "3 by renewal code": {"sqlite": Limit(6, 307, 474), "postgresql": Limit(4, 11, 875)},
    "3 refused": {"sqlite": Limit(7, 201, 495), "postgresql": Limit(4, 7, 957)},
    "4 nothing": {"sqlite": Limit(7, 132, 466), "postgresql": Limit(6, 4, 908)},
    "4 ten changes": {"sqlite": Limit(24, 820, 1576), "postgresql": Limit(23, 36, 2991)},
    "5": {"sqlite": Limit(4, 112, 350), "postgresql": Limit(2, 6, 576)},
    "6": {"sqlite": Limit(4, 266, 353), "postgresql": Limit(2, 8, 579)},
    "7 a page": {"sqlite": Limit(4, 2163, 468), "postgresql": Limit(2, 102, 693)},
    "7 of a subscriber": {"sqlite": Limit(4, 92, 359), "postgresql": Limit(2, 3, 585)},
    "7 half fit": {"sqlite": Limit(5, 4440, 621), "postgresql": Limit(3, 417, 846)},
    "7 the last fits": {"sqlite": Limit(5, 283, 418), "postgresql": Limit(3, 2017, 643)},
    "7 nothing fits": {"sqlite": Limit(4, 79, 412), "postgresql": Limit(2, 8, 580)},
    "8 by email": {"sqlite": Limit(4, 85, 409), "postgresql": Limit(2, 3, 628)},
    "8 ten fit": {"sqlite": Limit(5, 487, 473), "postgresql": Limit(2, 12, 625)},
    "8 half fit each, none both": {
        "sqlite": Limit(8, 50153, 511),
        "postgresql": Limit(2, 1002, 633),
    },
    "9": {"sqlite": Limit(4, 123, 340), "postgresql": Limit(2, 5, 566)},
    "10": {"sqlite": Limit(8, 890, 1545), "postgresql": Limit(5, 103, 2098)},
}

GROWING = {"7 the last fits", "8 half fit each, none both"}
"""What has to look at each subscription, or at each subscriber of half of an account."""

WALKING = {"1 all accounts"}
"""What is asked for a whole table."""
