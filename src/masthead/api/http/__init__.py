"""The parts of HTTP that all operations share: requests, responses, limits and metrics.

Nothing here depends on an operation. ``masthead.api.app`` shows the order of the steps.
"""
