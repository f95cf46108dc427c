"""Masthead serves a publisher's subscribers, subscriptions, orders and mailing lists over HTTP.

The command line is `masthead`; `masthead.errors` holds every error that the package raises.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
