"""The hints that the console adds to errors: where the operator can solve the problem."""

HINTS = {
    "unknown_issue": "The page Issues lists all issues.",
    "unknown_order": "Find finds an order by its reference.",
    "unknown_subscriber": "Find finds a subscriber by name, email or code.",
    "unknown_subscription": "The page of a subscriber lists the subscriptions.",
}
"""The hint for an error code, a sentence; other codes have no hint."""
