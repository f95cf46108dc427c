"""Which subscribers may be the same person (circulation, "What is stored in addition").

People with the same address and last name are a family more often than duplicates. So their first
names decide: they are the same, one is the beginning of the other (``A.`` and ``Ada``), or one is
missing.
"""

from collections.abc import Iterable
from typing import NamedTuple


class Person(NamedTuple):
    """The values of a subscriber that are compared; names are folded (``str.casefold``)."""

    subscriber_id: int
    first_name: str
    last_name: str


def same_first_name(one: str, other: str) -> bool:
    """Return whether two folded first names can belong to the same person."""
    one, other = _plain(one), _plain(other)
    return one.startswith(other) or other.startswith(one)


def _plain(name: str) -> str:
    return name.strip().rstrip(".")


def alike(people: Iterable[Person]) -> list[list[int]]:
    """Return the groups of people at one address who may be the same person, as ascending ids.

    A person who matches one member of a group belongs to it. Nobody is in two groups, and every
    group has at least two people.
    """
    groups: list[list[Person]] = []
    for person in sorted(set(people)):
        like = [group for group in groups if any(_is_like(person, other) for other in group)]
        groups = [group for group in groups if group not in like]
        groups.append(sorted([person, *(each for group in like for each in group)]))
    return sorted([each.subscriber_id for each in group] for group in groups if len(group) > 1)


def _is_like(one: Person, other: Person) -> bool:
    return one.last_name == other.last_name and same_first_name(one.first_name, other.first_name)
