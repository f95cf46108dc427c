"""How long things may take, in seconds (decisions, "Requests that come slowly" and the like)."""

__all__ = ["DATABASE_S_MAX", "LOOP_S_MAX", "REQUEST_S_MAX", "STALL_S_MAX"]

DATABASE_S_MAX = 1.7
"""From the start of a request until its database has to have responded; else it gets 503."""

LOOP_S_MAX = 30
"""That a thread waits for the event loop, which has ended if it takes longer."""

REQUEST_S_MAX = 20
"""From the first byte of a request, or from its connection, to its last byte."""

STALL_S_MAX = 60
"""During which a client acknowledges nothing of a response that waits for it."""
