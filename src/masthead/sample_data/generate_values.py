"""Random numbers for made-up data, and renewal codes, passwords and amounts.

Only ``Random.random()`` is used, whose sequence for a seed never changes, and no platform math
library function. So a seed gives the same data on every machine.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

_CODE_CHARACTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

#: The number of renewal codes of five characters.
SUBSCRIBERS_MAX = len(_CODE_CHARACTERS) ** 5


class Draws:
    """A sequence of random numbers; ``random`` returns the next one, 0 <= n < 1."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed).random  # noqa: S311 - nothing here is a secret

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of ``choices``."""
        return choices[int(self.random() * len(choices))]

    def fill(self, template: str) -> str:
        """Return ``template`` with a digit for each ``#`` and a letter for each ``@``."""
        filled = ""
        for character in template:
            if character == "@":
                # Letters that are allowed at every position of every country's postal codes.
                filled += self.pick("ABEGHJLNPRSTWXYZ")
            elif character == "#":
                filled += self.pick("0123456789")
            else:
                filled += character
        return filled


def password(subscriber_id: int) -> str:
    """Return the password of a subscriber."""
    return f"password-{subscriber_id}"


def renewal_code(subscriber_id: int) -> str:
    """Return the renewal code of a subscriber, unique among SUBSCRIBERS_MAX.

    Each step is a bijection of the 25-bit integers.
    """
    mixed = (subscriber_id * 0x19660D + 0x3C6EF3) & 0x1FFFFFF
    mixed ^= mixed >> 13
    mixed = (mixed * 0x10DCD) & 0x1FFFFFF
    mixed ^= mixed >> 12
    return "".join([_CODE_CHARACTERS[mixed >> shift & 31] for shift in (20, 15, 10, 5, 0)])


def two_decimals(cents: int) -> str:
    """Return ``85.00`` for 8500 cents."""
    return f"{cents // 100}.{cents % 100:02}"


def shortest(cents: int) -> str:
    """Return ``85`` for 8500 cents, ``10.5`` for 1050 (rules, "Double")."""
    units, rest = divmod(cents, 100)
    if not rest:
        return str(units)
    return f"{units}.{rest // 10}" if rest % 10 == 0 else f"{units}.{rest:02}"
