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
    "1 own account": {"sqlite": Limit(4, 69, 386), "postgresql": Limit(2, 3, 871)},
    "1 all accounts": {"sqlite": Limit(4, 1456, 2761), "postgresql": Limit(2, 103, 3256)},
    "2": {"sqlite": Limit(4, 69, 390), "postgresql": Limit(2, 3, 875)},
    "3 by email": {"sqlite": Limit(7, 294, 494), "postgresql": Limit(12, 9, 1373)},
    "3 by renewal code": {"sqlite": Limit(7, 307, 490), "postgresql": Limit(12, 11, 1373)},
    "3 refused": {"sqlite": Limit(8, 204, 511), "postgresql": Limit(11, 10, 1440)},
    "4 nothing": {"sqlite": Limit(7, 132, 470), "postgresql": Limit(11, 4, 1219)},
    "4 ten changes": {"sqlite": Limit(24, 832, 1840), "postgresql": Limit(37, 36, 3659)},
    "5": {"sqlite": Limit(4, 93, 351), "postgresql": Limit(2, 5, 842)},
    "6": {"sqlite": Limit(4, 269, 357), "postgresql": Limit(2, 14, 846)},
    "7 a page": {"sqlite": Limit(4, 2163, 471), "postgresql": Limit(2, 102, 957)},
    "7 of a subscriber": {"sqlite": Limit(4, 92, 362), "postgresql": Limit(2, 3, 847)},
    "7 half fit": {"sqlite": Limit(5, 2984, 815), "postgresql": Limit(3, 206, 1110)},
    "7 the last fits": {"sqlite": Limit(5, 8104, 612), "postgresql": Limit(3, 2007, 905)},
    "7 nothing fits": {"sqlite": Limit(4, 72, 608), "postgresql": Limit(2, 8, 844)},
    "8 by email": {"sqlite": Limit(4, 85, 405), "postgresql": Limit(2, 3, 883)},
    "8 ten fit": {"sqlite": Limit(4, 381, 651), "postgresql": Limit(2, 12, 883)},
    "8 half fit each, none both": {
        "sqlite": Limit(6, 31110, 673),
        "postgresql": Limit(2, 2002, 888),
    },
    "9": {"sqlite": Limit(4, 123, 344), "postgresql": Limit(2, 5, 829)},
    "10": {"sqlite": Limit(8, 890, 1809), "postgresql": Limit(8, 103, 2669)},
}

GROWING = {"7 the last fits", "8 half fit each, none both"}
"""What has to look at each subscription, or at each subscriber of half of an account."""

WALKING = {"1 all accounts"}
"""What is asked for a whole table."""
