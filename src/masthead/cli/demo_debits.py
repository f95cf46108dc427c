"""Direct debit in the demo: two mandates, and an invoice that is with the bank.

The packages that check an IBAN come with the extra ``billing``, which ``make demo`` installs. Where
they are missing, the demo has no direct debit. Its account is in euros, since direct debits of the
SEPA are (billing, "Direct debit").
"""

from datetime import date, timedelta

from masthead.books import Books, billing_settings, debit_runs, mandates
from masthead.errors import BadUsage

IBANS = ("IE29AIBK93115212345678", "AT611904300234573201")
"""The accounts of the payers with a mandate: examples of their banks, which belong to nobody."""

_CREDITOR = {"seller_iban": "IE64IRCE92050112345678", "creditor_id": "IE57ZZZ360234"}
_AHEAD_DAYS = 5


def begin(books: Books) -> bool:
    """Say which account is the publisher's; return False where the extra is not installed."""
    try:
        billing_settings.set_values(books, _CREDITOR)
    except BadUsage:
        return False
    return True


def add_mandate(books: Books, subscriber_id: int, iban: str) -> None:
    """Add a mandate that a payer signed today."""
    mandates.add(books, subscriber_id, mandates.Given(iban))


def hand_in(books: Books, today: date) -> None:
    """Hand in what the bank can collect some days after ``today``."""
    debit_runs.run(books, (today + timedelta(_AHEAD_DAYS)).isoformat())
