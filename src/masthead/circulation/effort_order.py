"""The order of the efforts of a publication, of renewal letters and of asking to qualify again."""

from collections.abc import Callable, Iterable
from itertools import pairwise

from masthead.errors import BadInput


def check_order(due: Iterable[tuple[int, int]], when: Callable[[int], str]) -> None:
    """Raise BadInput unless efforts are due in the order of their numbers.

    ``due`` has the number of each effort, and how much is left when it is due: each effort has less
    left than the one before. ``when`` says that in words, such as ``at 3 issues left``.
    """
    for (one, more), (other, fewer) in pairwise(sorted(due)):
        if more <= fewer:
            raise BadInput(
                f"effort {other} is due {when(fewer)}: effort {one}, which comes before it, is due "
                f"earlier, not {when(more)}"
            )
