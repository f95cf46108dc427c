"""The classes of copies (circulation, "Class")."""

PAID, COMPLIMENTARY, MAKE_GOOD = "paid", "complimentary", "make-good"
GRACE, UNPAID = "grace", "unpaid"
"""The classes of deliveries that come out of no term, or out of a term on credit."""

FREE = (COMPLIMENTARY, "exchange", "staff", "advertiser", "sample", MAKE_GOOD)
"""The classes that every publisher has for a term without a price."""

ALL = (PAID, *FREE, GRACE, UNPAID)
"""The classes that every publisher has, in the order of the reports."""
