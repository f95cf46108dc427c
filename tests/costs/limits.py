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
    "1 own account": {"sqlite": Limit(4, 69, 279), "postgresql": Limit(2, 3, 516)},
    "1 all accounts": {"sqlite": Limit(4, 1456, 2655), "postgresql": Limit(2, 103, 2904)},
    "2": {"sqlite": Limit(4, 69, 282), "postgresql": Limit(2, 3, 519)},
    "3 by email": {"sqlite": Limit(6, 306, 405), "postgresql": Limit(4, 9, 821)},
    "3 by renewal code": {"sqlite": Limit(6, 307, 401), "postgresql": Limit(4, 11, 813)},
    "3 refused": {"sqlite": Limit(7, 201, 422), "postgresql": Limit(4, 7, 895)},
    "4 nothing": {"sqlite": Limit(6, 115, 377), "postgresql": Limit(5, 4, 785)},
    "4 ten changes": {"sqlite": Limit(22, 786, 1527), "postgresql": Limit(21, 36, 2856)},
    "5": {"sqlite": Limit(4, 112, 266), "postgresql": Limit(2, 6, 503)},
    "6": {"sqlite": Limit(4, 266, 270), "postgresql": Limit(2, 8, 509)},
    "7 a page": {"sqlite": Limit(4, 2163, 406), "postgresql": Limit(2, 102, 644)},
    "7 of a subscriber": {"sqlite": Limit(4, 92, 300), "postgresql": Limit(2, 3, 537)},
    "7 half fit": {"sqlite": Limit(5, 4440, 579), "postgresql": Limit(3, 417, 805)},
    "7 the last fits": {"sqlite": Limit(5, 283, 371), "postgresql": Limit(3, 2017, 599)},
    "7 nothing fits": {"sqlite": Limit(4, 79, 365), "postgresql": Limit(2, 8, 534)},
    "8 by email": {"sqlite": Limit(4, 85, 338), "postgresql": Limit(2, 3, 568)},
    "8 ten fit": {"sqlite": Limit(5, 487, 414), "postgresql": Limit(2, 12, 565)},
    "8 half fit each, none both": {
        "sqlite": Limit(8, 50153, 452),
        "postgresql": Limit(2, 1002, 579),
    },
    "9": {"sqlite": Limit(4, 123, 272), "postgresql": Limit(2, 5, 509)},
    "10": {"sqlite": Limit(8, 890, 1488), "postgresql": Limit(5, 103, 2082)},
}

GROWING = {"7 the last fits", "8 half fit each, none both"}
"""What has to look at each subscription, or at each subscriber of half of an account."""

WALKING = {"1 all accounts"}
"""What is asked for a whole table."""
