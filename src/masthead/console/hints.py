"""What the console says instead of an error that has nothing to name but an id."""

UNKNOWN = {
    "datev_numbers": (
        "DATEV wants the number of the accountant and that of the publisher. Ask the person who "
        "runs Masthead to set both."
    ),
    "no_qualification_form": "The title has no form, so nobody can qualify for it.",
    "not_in_catalogue": "There is no such {thing} in the catalogue.",
    "unknown_invoice": "There is no such invoice. The page Money lists those that are open.",
    "unknown_issue": "There is no such issue. The page Issues lists all issues.",
    "unknown_order": "There is no such order. Find finds an order by its reference.",
    "unknown_partner": "There is no such partner. The page Partners lists all.",
    "unknown_payment": "There is no such payment. The account of its payer lists all payments.",
    "unknown_subscriber": "There is no such reader. Find finds a reader by name, email or code.",
    "unknown_subscription": "There is no such subscription. The page of a reader lists them.",
}
"""The sentence for each error code; it may use the error's values as ``{name}``."""
