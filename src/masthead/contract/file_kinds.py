"""Kinds that only files have, not the wire: bounded integers, zones, currencies, lists of ids."""

from masthead.contract.currencies import DEFAULT, check_currency
from masthead.contract.kinds import Identifier, Integer, Kind, Text
from masthead.contract.moments import check_time_zone


class Range(Integer):
    """An integer from ``least`` to ``most``, or ``instead``, such as -1 for unlimited.

    ``unit`` is its name in the reference.
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


class TimeZone(Text):
    """The name of a time zone of IANA's database."""

    word = "time zone"

    def __init__(self) -> None:
        super().__init__(when_missing="UTC")

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        check_time_zone(text)
        return text


class Currency(Text):
    """The code of a currency of ISO 4217 that has two decimals."""

    word = "currency"

    def __init__(self) -> None:
        super().__init__(when_missing=DEFAULT)

    def parse(self, text: str) -> str:
        """Return the text as it is."""
        check_currency(text)
        return text


class IdentifierList(Kind):
    """Ids separated by ``|``, stored in ascending order."""

    word = "ids separated by `|`"
    _one = Identifier()

    def parse(self, text: str) -> str:
        """Return the distinct ids in ascending order."""
        return "|".join(map(str, sorted({self._one.parse(part) for part in text.split("|")})))
