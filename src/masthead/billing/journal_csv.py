"""The journal as rows of a CSV file: one row for each line of an entry (billing, "Month end")."""

from collections.abc import Iterable, Iterator, Mapping

from masthead.billing.journal_accounts import JournalAccount
from masthead.billing.journal_entries import Entry
from masthead.circulation.amounts import decimal

HEAD = (
    "entry",
    "date",
    "account",
    "name",
    "debit",
    "credit",
    "currency",
    "text",
    "invoice",
    "payment_id",
)
"""The columns: ``account`` is the publisher's number, ``name`` what Masthead calls the account."""


def rows(
    entries: Iterable[Entry], numbers: Mapping[JournalAccount, str], currency: str
) -> Iterator[list[str]]:
    """Yield the rows below the head. Amounts have two decimals, and are never below 0."""
    for entry in entries:
        payment = "" if entry.payment_id is None else str(entry.payment_id)
        for account, cents in entry.lines:
            yield [
                entry.name,
                entry.day,
                numbers[account],
                account,
                decimal(cents) if cents > 0 else "",
                decimal(-cents) if cents < 0 else "",
                currency,
                entry.text,
                entry.invoice or "",
                payment,
            ]
