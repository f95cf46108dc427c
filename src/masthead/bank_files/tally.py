"""What a reader of a bank's file counts beside the entries that it yields."""

from dataclasses import dataclass


@dataclass
class Tally:
    """How many entries were left out since the bank has not booked them yet."""

    pending: int = 0
