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
# postgresql: round trips, rows and entries of indexes that are read, calls of functions. Each round
# trip is a transaction that makes its settings. A response of the feed asks for the history of the
# server (operation 4), which reads the epochs of all hundred accounts: they are on one page, so
# that no index is used.
LIMITS = {
    "1 own account": {"sqlite": Limit(4, 69, 331), "postgresql": Limit(2, 3, 618)},
    "1 all accounts": {"sqlite": Limit(4, 1456, 2904), "postgresql": Limit(2, 103, 3263)},
    "2": {"sqlite": Limit(4, 69, 334), "postgresql": Limit(2, 3, 611)},
    # With a look at whether the email has opened before (rules, "A guarded account").
    "3 by email": {"sqlite": Limit(6, 425, 489), "postgresql": Limit(4, 20, 1064)},
    "3 by renewal code": {"sqlite": Limit(6, 349, 476), "postgresql": Limit(4, 20, 1045)},
    "3 refused": {"sqlite": Limit(7, 303, 507), "postgresql": Limit(5, 19, 1231)},
    "4 nothing": {"sqlite": Limit(6, 115, 442), "postgresql": Limit(6, 104, 1135)},
    "4 ten changes": {"sqlite": Limit(22, 786, 1352), "postgresql": Limit(23, 236, 3309)},
    "4 no deletions": {"sqlite": Limit(6, 116, 446), "postgresql": Limit(6, 104, 1129)},
    "4 ten deletions": {"sqlite": Limit(20, 501, 1216), "postgresql": Limit(21, 219, 3132)},
    "5": {"sqlite": Limit(4, 423, 339), "postgresql": Limit(2, 16, 621)},
    "6": {"sqlite": Limit(4, 266, 320), "postgresql": Limit(2, 8, 597)},
    "7 a page": {"sqlite": Limit(4, 2163, 467), "postgresql": Limit(2, 102, 752)},
    "7 of a subscriber": {"sqlite": Limit(4, 92, 351), "postgresql": Limit(2, 3, 642)},
    "7 half fit": {"sqlite": Limit(5, 4440, 689), "postgresql": Limit(3, 417, 974)},
    "7 the last fits": {"sqlite": Limit(5, 283, 471), "postgresql": Limit(3, 2017, 754)},
    "7 nothing fits": {"sqlite": Limit(4, 79, 465), "postgresql": Limit(2, 8, 629)},
    "8 by email": {"sqlite": Limit(4, 85, 396), "postgresql": Limit(2, 3, 680)},
    "8 ten fit": {"sqlite": Limit(5, 487, 528), "postgresql": Limit(2, 12, 692)},
    "8 half fit each, none both": {
        "sqlite": Limit(8, 50153, 564),
        "postgresql": Limit(2, 1002, 697),
    },
    "9": {"sqlite": Limit(4, 123, 322), "postgresql": Limit(2, 5, 604)},
    "10": {"sqlite": Limit(8, 890, 1252), "postgresql": Limit(5, 103, 1807)},
    # The key is read and opened, and the token signed.
    "entitlements": {"sqlite": Limit(7, 359, 645), "postgresql": Limit(6, 22, 1413)},
    "entitlements refused": {"sqlite": Limit(8, 323, 529), "postgresql": Limit(7, 22, 1440)},
}

GROWING = {"7 the last fits", "8 half fit each, none both"}
"""What has to look at each subscription, or at each subscriber of half of an account."""

WALKING = {"1 all accounts"}
"""What is asked for a whole table."""
