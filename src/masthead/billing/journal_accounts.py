"""The accounts to which the journal posts (billing, "Month end")."""

from typing import Literal, get_args

JournalAccount = Literal[
    "receivables",
    "prepayments",
    "unpaid",
    "deferred",
    "revenue",
    "product_revenue",
    "shipping_revenue",
    "reminder_fees",
    "tax",
    "tax_not_due",
    "bank",
    "fees",
    "losses",
    "opening",
    "clearing",
]
"""What an account of the journal holds. A row of ``journal_lines`` has one of these as its account.

``receivables``: whole invoices that are not settled. ``prepayments``: deposits and credits of
payers. ``unpaid``: the net amount of invoices that are not settled, which is no liability to
readers yet. ``deferred``: what is owed to readers (the liability report). ``tax_not_due``: tax of
invoices that are not settled, where tax is due by payment. ``reminder_fees``: fees of reminders
that were paid. ``opening``: the other side of what was there before billing began. ``clearing``:
money between two accounts of the publisher.
"""

JOURNAL_ACCOUNTS: tuple[JournalAccount, ...] = get_args(JournalAccount)
"""All of them; ``masthead.billing.settings`` has a number for each."""
