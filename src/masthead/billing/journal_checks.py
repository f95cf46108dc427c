"""Whether the journal agrees with the books: what is compared, and in which words.

Rule: billing, "Month end". Amounts are whole cents.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from masthead.billing.journal_accounts import JournalAccount
from masthead.billing.settings import TaxDue
from masthead.circulation.amounts import in_currency
from masthead.circulation.tables import Chart, Column, Kind, Report, Row
from masthead.contract.printable import counted, listed


class Compared(NamedTuple):
    """A sum as the journal has it, or a stored column, and as ``of`` has it."""

    name: str
    journal: int
    books: int
    of: str

    @property
    def agrees(self) -> bool:
        """Whether both are the same."""
        return self.journal == self.books


class Sums(NamedTuple):
    """What the tables of billing and of the books add up to, as ``store.billing.sums`` has it."""

    invoiced: int
    settled: int
    deposits: int
    open: int
    credited: int
    written_off: int
    unpaid_net: int
    unpaid_tax: int
    reminder_fees: int
    paid: int
    fees: int
    credits: int
    liability: int


class Checked(NamedTuple):
    """What was compared as of a day ('' for everything), and the entries that do not balance."""

    day: str
    compared: Sequence[Compared]
    unbalanced: Sequence[int]
    currency: str

    @property
    def wrong(self) -> list[str]:
        """What does not agree, in words; nothing if everything does."""
        found = [
            f"{each.name}: {in_currency(each.journal, self.currency)} is booked, "
            f"{in_currency(each.books, self.currency)} by {each.of}"
            for each in self.compared
            if not each.agrees
        ]
        if self.unbalanced:
            entries = counted(len(self.unbalanced), "entry does", "entries do")
            found.append(f"{entries} not balance: {listed(list(map(str, self.unbalanced[:5])))}")
        return found

    @property
    def sentence(self) -> str:
        """What the check found."""
        if self.wrong:
            return f"the journal does not agree with the books: {'; '.join(self.wrong)}"
        return f"the journal agrees with the books in {counted(len(self.compared), 'sum')}"


def compared(balances: Mapping[JournalAccount, int], sums: Sums, tax_due: TaxDue) -> list[Compared]:
    """Compare the balances of the journal with the sums of the books.

    Where tax is due by invoice, none waits for a payment.
    """

    def debit(account: JournalAccount) -> int:
        return balances.get(account, 0)

    def credit(account: JournalAccount) -> int:
        return -debit(account)

    not_due = sums.unpaid_tax if tax_due == "payment" else 0
    return [
        Compared("all accounts", sum(balances.values()), 0, "double entry"),
        Compared("deferred", credit("deferred"), sums.liability, "the liability report"),
        Compared(
            "receivables",
            debit("receivables"),
            sums.open + sums.deposits,
            "the invoices that are not settled",
        ),
        Compared(
            "prepayments",
            credit("prepayments"),
            sums.deposits + sums.credits,
            "the deposits and credits of payers",
        ),
        Compared("bank", debit("bank"), sums.paid - sums.fees, "the payments"),
        Compared("fees", debit("fees"), sums.fees, "the fees of payments"),
        Compared("unpaid", credit("unpaid"), sums.unpaid_net, "the invoices that are not settled"),
        Compared(
            "reminder_fees",
            credit("reminder_fees"),
            sums.reminder_fees,
            "the payments of fees of reminders",
        ),
        Compared(
            "tax_not_due", credit("tax_not_due"), not_due, "the invoices that are not settled"
        ),
        Compared(
            "invoiced",
            sums.settled + sums.deposits + sums.open + sums.credited + sums.written_off,
            sums.invoiced,
            "the invoices",
        ),
    ]


def report(checked: Checked) -> Report:
    """Return what was compared as a table."""
    rows: list[Row] = [
        (each.name, each.journal, each.books, each.of, "yes" if each.agrees else "NO")
        for each in checked.compared
    ]
    columns = (
        Column("sum", Kind.TEXT),
        Column("booked", Kind.MONEY),
        Column("expected", Kind.MONEY),
        Column("by", Kind.TEXT),
        Column("agrees", Kind.TEXT),
    )
    return Report(
        "Journal and books",
        columns,
        tuple(rows),
        (),
        Chart((), (), checked.currency, is_money=True),
        (f"{checked.sentence[0].upper()}{checked.sentence[1:]}.",),
        day=checked.day,
        currency=checked.currency,
    )


def balances_report(
    balances: Mapping[JournalAccount, int],
    numbers: Mapping[JournalAccount, str],
    day: str,
    currency: str,
) -> Report:
    """Return the balances of the journal's accounts as a table, by their numbers."""
    shown = sorted((numbers[name], name, cents) for name, cents in balances.items() if cents)
    columns = (
        Column("account", Kind.TEXT),
        Column("name", Kind.TEXT),
        Column("debit", Kind.MONEY),
        Column("credit", Kind.MONEY),
    )
    rows: list[Row] = [
        (number, name, cents if cents > 0 else None, -cents if cents < 0 else None)
        for number, name, cents in shown
    ]
    debit = sum(cents for _, _, cents in shown if cents > 0)
    credit = -sum(cents for _, _, cents in shown if cents < 0)
    return Report(
        "Balances of the journal",
        columns,
        tuple(rows),
        (("", "in total", debit, credit),),
        Chart((), (), currency, is_money=True),
        day=day,
        currency=currency,
    )
