"""Words of the sentences that say what an operation did."""

__all__ = ["counted"]


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 issue``, ``2 issues``.

    ``many`` is the plural, by default ``one`` with an s: ``counted(2, "copy", "copies")``. A verb
    can follow in both: ``counted(2, "issue ends", "issues end")``.
    """
    return f"{count} {one if count == 1 else many or f'{one}s'}"
