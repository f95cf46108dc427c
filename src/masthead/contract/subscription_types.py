"""The types of a subscription, and the number that stands for unlimited issues."""

from typing import Literal, get_args

SubscriptionType = Literal["Print", "Digital", "Both"]
TYPES: tuple[SubscriptionType, ...] = get_args(SubscriptionType)
PRINTED: tuple[SubscriptionType, ...] = ("Print", "Both")
"""The types with a printed copy. Within an f-string, this is the list of an SQL ``IN``."""

DIGITAL: tuple[SubscriptionType, ...] = ("Digital", "Both")
_WORDS: dict[str, str] = {"Print": "print", "Digital": "digital", "Both": "print and digital"}


def type_in_words(name: str) -> str:
    """Return a type as people say it: ``print and digital`` for ``Both``."""
    return _WORDS.get(name, name.lower())


UNLIMITED = -1
"""The number of issues of an unlimited subscription, term or bundle line."""
