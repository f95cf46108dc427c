"""Rules of mandates and of the claims that are collected by them (billing, "Direct debit")."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Literal

from masthead.bank_files.sepa_text import REFERENCE_MAX, is_reference
from masthead.errors import BadInput

Scheme = Literal["core", "b2b"]
Status = Literal["active", "resting", "ended"]
SequenceType = Literal["FRST", "RCUR", "OOFF", "FNAL"]

SCHEMES: tuple[Scheme, ...] = ("core", "b2b")
"""The schemes of the SEPA: for everybody, and for businesses, who cannot give a debit back."""

SEQUENCES: tuple[SequenceType, ...] = ("FRST", "RCUR", "OOFF", "FNAL")
"""The sequences of claims: first, following, single, last."""

DAYS_AHEAD_MAX = 14
"""How many days before the collection a bank takes a file (EPC016-06, "SEPA Direct Debit Core
Scheme Rulebook", 4.3)."""


def checked_reference(text: str) -> str:
    """Return the reference of a mandate. Raises BadInput for one that a bank would refuse."""
    text = text.strip()
    if not is_reference(text):
        raise BadInput(
            f"{text!r} cannot be the reference of a mandate: it has 1 to {REFERENCE_MAX} letters, "
            "digits and -?:().,'+, and single slashes between them",
            field="reference",
        )
    return text


def reference_for(subscriber_id: int, number: int) -> str:
    """Return the reference of a payer's mandate with a number, such as ``M17-1``."""
    return f"M{subscriber_id}-{number}"


def rests(returned: Sequence[bool], most: int) -> bool:
    """Return whether a mandate rests: its last ``most`` claims came back, the newest last."""
    last = returned[-most:]
    return len(last) == most and all(last)


def check_collection_day(day: str, today: str) -> None:
    """Raise BadInput unless a bank takes a file today that collects on a day."""
    first, last = (
        (date.fromisoformat(today) + timedelta(days=days)).isoformat()
        for days in (1, DAYS_AHEAD_MAX)
    )
    if not first <= day <= last:
        raise BadInput(
            f"the bank cannot collect on {day}: it needs a file 1 to {DAYS_AHEAD_MAX} days before, "
            f"which today is {first} to {last}",
            field="collected_on",
        )


def first_collection_day(issued_on: str, due_on: str, notice_days: int) -> str:
    """Return the first day on which an invoice can be collected: due, and announced before."""
    announced = date.fromisoformat(issued_on) + timedelta(days=notice_days)
    return max(announced.isoformat(), due_on)


def message_id(made_at: str, run_id: int) -> str:
    """Return the id of the file of a run: its time and the run, such as ``MH20261105093000-7``."""
    return f"MH{''.join(sign for sign in made_at if sign.isdigit())}-{run_id}"


def batch_id(message: str, scheme: str, sequence: str) -> str:
    """Return the id of the claims of one scheme and sequence within a file."""
    return f"{message}-{scheme.upper()}-{sequence}"
