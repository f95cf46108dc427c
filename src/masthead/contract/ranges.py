"""Integers with bounds, for columns of import files."""

from masthead.contract.kinds import Integer

__all__ = ["Range"]


class Range(Integer):
    """An integer from ``least`` to ``most``, or ``instead``, such as -1 for unlimited.

    ``unit`` is what the reference calls it.
    """

    def __init__(
        self,
        least: int,
        most: int,
        when_missing: int | None = None,
        *,
        instead: int | None = None,
        unit: str = "integer",
    ) -> None:
        super().__init__(when_missing)
        self.least, self.most, self.instead = least, most, instead
        self.word = f"{unit} from {least} to {most}{self._other}"

    def parse(self, text: str) -> int:
        """Return the number."""
        number = super().parse(text)
        if not self.least <= number <= self.most and number != self.instead:
            raise ValueError(f"not a number from {self.least} to {self.most}{self._other}")
        return number

    @property
    def _other(self) -> str:
        return "" if self.instead is None else f", or {self.instead}"
