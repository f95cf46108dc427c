"""What the console adds to an error: where the reader of the page can do something about it."""

__all__ = ["HINTS"]

HINTS = {
    "unknown_issue": "The page Issues lists all issues.",
    "unknown_order": "Find finds an order by its reference.",
    "unknown_subscriber": "Find finds a subscriber by name, email or code.",
    "unknown_subscription": "The page of a subscriber lists the subscriptions.",
}
"""The hint for a code of an error, a sentence; other errors have none here."""
