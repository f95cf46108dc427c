"""What all operations share of HTTP: requests, responses, limits, logs and metrics.

Nothing here knows an operation. ``masthead.api.app`` shows the order in which a request meets it.
"""
