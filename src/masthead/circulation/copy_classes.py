"""The classes of copies (circulation, "Class")."""

PAID, COMPLIMENTARY, MAKE_GOOD = "paid", "complimentary", "make-good"
GRACE, UNPAID = "grace", "unpaid"
"""The classes of deliveries that come out of no term, or out of a term on credit."""

QUALIFIED = "qualified"
"""The class of copies that go out by a qualification; no term has it."""

FREE = (COMPLIMENTARY, "exchange", "staff", "advertiser", "sample", MAKE_GOOD)
"""The classes that every publisher has for a term without a price."""

ALL = (PAID, QUALIFIED, *FREE, GRACE, UNPAID)
"""The classes that every publisher has, in the order of the reports."""
