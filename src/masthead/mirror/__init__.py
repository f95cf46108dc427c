"""The mirror: a local copy of a service's data, kept by its change feed.

It knows the service only by its interface, through :class:`masthead.Client`. The copy is a
database of its own, with tables that are made to be joined.
"""

from masthead.mirror.database import Copy, State, Tell, open_copy
from masthead.mirror.sync_pass import EMPTY, TOO_OLD, Mirror, Pass
from masthead.mirror.verifying import Difference, Verified, verify

__all__ = [
    "EMPTY",
    "TOO_OLD",
    "Copy",
    "Difference",
    "Mirror",
    "Pass",
    "State",
    "Tell",
    "Verified",
    "open_copy",
    "verify",
]
