"""What the console says instead of an error that has nothing to name but an id."""

UNKNOWN = {
    "not_in_catalogue": "There is no such {thing} in the catalogue.",
    "unknown_issue": "There is no such issue. The page Issues lists all issues.",
    "unknown_order": "There is no such order. Find finds an order by its reference.",
    "unknown_subscriber": "There is no such reader. Find finds a reader by name, email or code.",
    "unknown_subscription": "There is no such subscription. The page of a reader lists them.",
}
"""The sentence for each error code; it may use the error's values as ``{name}``."""
