"""The mirror: a local copy of a service's data, kept by its change feed.

It uses only the service's interface, through :class:`masthead.Client`. The copy is a separate
database, with tables that are made for joins.
"""

from masthead.mirror.database import Copy, State, Tell
from masthead.mirror.opening import open_copy
from masthead.mirror.sync_pass import EMPTY, TOO_OLD, Mirror, Pass
from masthead.mirror.tables import SetAside
from masthead.mirror.verifying import Difference, Verified, verify

__all__ = [
    "EMPTY",
    "TOO_OLD",
    "Copy",
    "Difference",
    "Mirror",
    "Pass",
    "SetAside",
    "State",
    "Tell",
    "Verified",
    "open_copy",
    "verify",
]
