"""Timeouts of the interface in seconds (rules, "Requests that come slowly" and the like)."""

DATABASE_S_MAX = 1.7
"""Database deadline of a request, counted from its start; after that it gets 503."""

LOOP_S_MAX = 30
"""Timeout of a thread that waits for the event loop; after that, the loop has ended."""
