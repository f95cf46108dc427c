"""The types of a subscription, and the number that stands for unlimited issues."""

from typing import Literal, get_args

SubscriptionType = Literal["Print", "Digital", "Both"]
TYPES: tuple[SubscriptionType, ...] = get_args(SubscriptionType)
PRINTED: tuple[SubscriptionType, ...] = ("Print", "Both")
"""The types with a printed copy. Within an f-string, this is the list of an SQL ``IN``."""

DIGITAL: tuple[SubscriptionType, ...] = ("Digital", "Both")
UNLIMITED = -1
"""The number of issues of an unlimited subscription, term or bundle line."""
