"""Double entries of the journal: how they balance, and how one is split (billing, "Month end").

Amounts are whole cents. A line is positive on the debit side and negative on the credit side.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.billing.journal_accounts import JOURNAL_ACCOUNTS, JournalAccount
from masthead.billing.settings import BillingSettings

Posting = tuple[JournalAccount, int]
"""An account and its cents: positive for debit, negative for credit."""


class Entry(NamedTuple):
    """An entry of the journal: its name in files, its day, its text and its lines.

    ``invoice`` is the number of the invoice that it is about, None without one.
    """

    name: str
    day: str
    text: str
    lines: Sequence[Posting]
    invoice: str | None = None
    payment_id: int | None = None


class Pair(NamedTuple):
    """An amount above 0 that goes from one account number to another: debit and credit."""

    debit: str
    credit: str
    cents: int


def numbers_of(settings: BillingSettings) -> dict[JournalAccount, str]:
    """Return the publisher's number of each account."""
    return {account: settings.journal_number(account) for account in JOURNAL_ACCOUNTS}


def balanced(lines: Iterable[Posting]) -> list[Posting]:
    """Return the lines of an entry: one for each account, without those of 0 cents.

    The accounts have the order in which they first came. The entry must balance: that is the duty
    of the operation that posts it.
    """
    sums: dict[JournalAccount, int] = {}
    for account, cents in lines:
        sums[account] = sums.get(account, 0) + cents
    assert not sum(sums.values()), f"an entry does not balance: {sums}"
    return [(account, cents) for account, cents in sums.items() if cents]


def earned_entry(name: str, day: str, publication: str, cents: int) -> Entry:
    """Return the entry of what a publication earned on a day; less than 0 was taken back."""
    did = "earned" if cents > 0 else "earned, taken back"
    lines: list[Posting] = [("deferred", cents), ("revenue", -cents)]
    return Entry(name, day, f"{did}: {publication}", lines)


def pairs(lines: Iterable[Posting], numbers: Mapping[JournalAccount, str]) -> list[Pair]:
    """Split an entry into amounts that each have one debit and one credit account.

    Debit and credit are taken in the order of the lines. Accounts with the same number are one.
    """
    sums: dict[str, int] = {}
    for account, cents in lines:
        number = numbers[account]
        sums[number] = sums.get(number, 0) + cents
    debits = [(number, cents) for number, cents in sums.items() if cents > 0]
    credits_ = [(number, -cents) for number, cents in sums.items() if cents < 0]
    found = []
    while debits and credits_:
        (debit, owed), (credit, given) = debits[0], credits_[0]
        part = min(owed, given)
        found.append(Pair(debit, credit, part))
        debits[:1] = [(debit, owed - part)] if owed > part else []
        credits_[:1] = [(credit, given - part)] if given > part else []
    return found
