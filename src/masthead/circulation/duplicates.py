"""Who may be the same person twice (circulation, "What is stored in addition").

People at one address with one last name are a family more often than duplicates. So their first
names decide: they are the same, one is the beginning of the other (``A.`` and ``Ada``), or one is
missing.
"""

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Person", "alike", "same_first_name"]


class Person(NamedTuple):
    """A subscriber, as far as it is compared; names are folded (``str.casefold``)."""

    subscriber_id: int
    first_name: str
    last_name: str


def same_first_name(one: str, other: str) -> bool:
    """Return whether two folded first names can be those of one person."""
    one, other = _plain(one), _plain(other)
    return one.startswith(other) or other.startswith(one)


def _plain(name: str) -> str:
    return name.strip().rstrip(".")


def alike(people: Iterable[Person]) -> list[list[int]]:
    """Return the groups of those at one address who can be the same person, by ascending ids.

    Whoever is like one of a group belongs to it. Nobody is in two groups, and no group has less
    than two people.
    """
    groups: list[list[Person]] = []
    for person in sorted(set(people)):
        like = [group for group in groups if any(_is_like(person, other) for other in group)]
        groups = [group for group in groups if group not in like]
        groups.append(sorted([person, *(each for group in like for each in group)]))
    return sorted([each.subscriber_id for each in group] for group in groups if len(group) > 1)


def _is_like(one: Person, other: Person) -> bool:
    return one.last_name == other.last_name and same_first_name(one.first_name, other.first_name)
