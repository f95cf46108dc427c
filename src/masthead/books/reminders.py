"""Reminders: whom to remind today, and recording that it was done (billing, "Reminders").

``masthead.billing.reminding`` has the rules, ``books.reminder_letters`` what a letter prints. All
amounts are whole cents, with tax.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from masthead.billing.reminding import Due, Letter, Level, Overdue, Selected, day_after, select
from masthead.billing.settings import BillingSettings
from masthead.books.account import Books
from masthead.books.invoices import give_up
from masthead.books.own_templates import check_template
from masthead.books.payment_allocation import use_credit
from masthead.books.reminder_letters import write_letters
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.billing import payments
from masthead.store.billing import reminders as stored
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.invoices import invoices_by_id
from masthead.store.billing.mandates import collects
from masthead.store.billing.payer_movements import kept_payer
from masthead.store.billing.reminders import Reminder
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation, Reading

__all__ = [
    "Due",
    "DueToday",
    "Letter",
    "Overdue",
    "Sent",
    "Shown",
    "due",
    "letter_days",
    "of_payer",
    "send",
]


class DueToday(NamedTuple):
    """Whom to remind today: the letters by payer, and what is to be written off.

    ``read_until`` is the newest value date of the payments that were read, None if there was none.
    """

    day: str
    letters: Sequence[Letter]
    write_offs: Sequence[Due]
    read_until: str | None
    currency: str

    @property
    def open(self) -> int:
        """What is open of the invoices of all letters, without fees."""
        return sum(each.open for each in self.letters)

    @property
    def digest(self) -> str:
        """The same as long as the same letters are due today, with the same amounts."""
        return _digest(Selected(self.letters, self.write_offs))

    @property
    def sentence(self) -> str:
        """How many letters are due, and up to which day payments were read."""
        return _sentence(self.letters, self.write_offs, self.read_until, self.currency)


class Sent(NamedTuple):
    """Reminders that were recorded on a day.

    ``credit_notes`` are the numbers of those of subscriptions that stopped, ``lost`` the numbers of
    the invoices that were written off.
    """

    day: str
    letters: Sequence[Letter]
    write_offs: Sequence[Due]
    credit_notes: Sequence[str]
    read_until: str | None
    currency: str

    @property
    def sentence(self) -> str:
        """What was recorded, and up to which day payments were read."""
        return _sentence(self.letters, self.write_offs, self.read_until, self.currency)


def _sentence(
    letters: Sequence[Letter], write_offs: Sequence[Due], read_until: str | None, currency: str
) -> str:
    levels = Counter(each.level for letter in letters for each in letter.due)
    parts = [counted(len(letters), "letter") if letters else "nobody is due for a reminder"]
    if letters:
        parts[0] += f" for {in_currency(sum(each.open for each in letters), currency)}"
        fees = sum(each.fee for each in letters)
        if fees:
            parts[0] += f", with fees of {in_currency(fees, currency)}"
    for level, number in sorted(levels.items()):
        parts.append(f"level {level.level}: {counted(number, 'invoice')}")
    stops = sum(number for level, number in levels.items() if level.then_do == "stop")
    if stops:
        parts.append(f"what {counted(stops, 'invoice')} would pay for stops")
    if write_offs:
        lost = in_currency(sum(each.invoice.open_cents for each in write_offs), currency)
        invoices = counted(len(write_offs), "invoice is", "invoices are")
        parts.append(f"{invoices} written off, with {lost}")
    read = f"payments are read up to {read_until}" if read_until else "no payment was read yet"
    return "; ".join([*parts, read])


def _digest(selected: Selected) -> str:
    late = [each for letter in selected.letters for each in letter.due] + list(selected.write_offs)
    found = [(each.invoice.invoice_id, each.invoice.open_cents, each.level) for each in late]
    return sha256(repr(found).encode()).hexdigest()[:32]


def due(books: Books) -> DueToday:
    """Return whom to remind today.

    Raises BadInput if the account has no level of reminders, MastheadError if it does not bill.
    """
    with books.scan() as reading:
        settings = settings_of(reading)
        selected = _select(reading, settings, stored.credits_of(reading))
        return DueToday(reading.today, *selected, stored.read_until(reading), reading.currency)


class Shown(NamedTuple):
    """A reminder of a payer: of which invoice, when, at which level, and its fee in cents."""

    number: str
    invoice_id: int
    day: str
    level: int
    fee: int


def of_payer(books: Books, subscriber_id: int) -> list[Shown]:
    """Return the reminders of a payer, the oldest first. Raises NotFound for an unknown payer."""
    with books.read() as reading:
        return [
            Shown(number, each.invoice_id, each.reminded_on, each.level, each.fee)
            for number, each in stored.reminders_of(reading, kept_payer(reading, subscriber_id))
        ]


def letter_days(books: Books, limit: int = 10) -> list[tuple[str, int]]:
    """Return the last days on which letters were written, with the number of each."""
    with books.read() as reading:
        return stored.letter_days(reading, limit)


def send(books: Books, *, seen: str | None = None, dry_run: bool = False) -> Sent:
    """Record the reminders that are due today, with their fees, and do what their levels say.

    The payers' credits are used first. A payment that came since :func:`due` counts. Raises
    BadInput if the account has no level of reminders, or if others are due than those of whom
    ``seen`` is the digest, and for an error of the account's own template, with its file and line.
    Raises MastheadError if the account does not bill.
    """
    check_template(books, "reminder")
    with books.change(dry_run=dry_run) as change:
        settings = settings_of(change)
        credits_ = stored.credits_of(change)
        selected = _select(change, settings, credits_)
        if seen not in {None, _digest(selected)}:
            raise BadInput("others are due for a reminder now: look at them once more")
        if _use_credits(change, settings, credits_):
            selected = _select(change, settings, {})
        read_until = stored.read_until(change)
        notes = write_letters(change, settings, selected.letters, read_until)
        for each in selected.write_offs:
            _write_off(change, each, read_until)
        done = Sent(change.today, *selected, notes, read_until, change.currency)
        if done.letters or done.write_offs:
            change.say(done.sentence)
    return done


def _levels(reading: Reading) -> list[Level]:
    check_bills(reading)
    found = stored.levels_of(reading)
    if not found:
        raise BadInput(
            "there is no level of reminders yet: add the first one",
            code="no_reminder_levels",
        )
    return found


def _select(reading: Reading, settings: BillingSettings, credits_: dict[int, int]) -> Selected:
    levels = _levels(reading)
    due_by = day_after(reading.today, -levels[0].days)
    overdue = stored.overdue(reading, due_by, collects=collects(reading, settings))
    return select(levels, overdue, reading.today, tolerance=settings.tolerance, credits_=credits_)


def _use_credits(change: Operation, settings: BillingSettings, credits_: dict[int, int]) -> bool:
    """Settle invoices that are due for a reminder by what their payers have; True if any was."""
    found = _select(change, settings, {})
    late = [each for letter in found.letters for each in letter.due] + list(found.write_offs)
    late.sort(key=lambda each: (each.invoice.due_on, each.invoice.invoice_id))
    ids = [each.invoice.invoice_id for each in late if each.invoice.subscriber_id in credits_]
    invoices = {each.invoice_id: each for each in invoices_by_id(change, ids)}
    for key in ids:
        if payments.credit_of(change, invoices[key].subscriber_id) > 0:
            use_credit(change, settings, invoices[key])
    return bool(ids)


def _write_off(change: Operation, late: Due, read_until: str | None) -> None:
    """Write off an invoice, whose terms end, and note the level that says so."""
    (invoice,) = invoices_by_id(change, [late.invoice.invoice_id])
    give_up(change, invoice, keep=False)
    reminder = Reminder(
        reminder_id=change.new_id("reminders"),
        invoice_id=invoice.invoice_id,
        subscriber_id=invoice.subscriber_id,
        level=late.level.level,
        reminded_on=change.today,
        fee=0,
        fee_invoice_id=None,
        read_until=read_until,
    )
    stored.add_reminder(change, reminder, None)
