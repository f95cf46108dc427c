"""Beginning to bill, and the settings of billing (billing, "Rules").

An account that bills makes an invoice of each order with a price. Its settings say who sells, how
invoices are numbered, and to which accounts the journal posts.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from masthead.billing import numbering
from masthead.billing.settings import (
    SETTINGS,
    BillingSettings,
    check_alike,
    lacking_for_invoices,
    settings_from,
    stored_text,
    texts_of,
)
from masthead.books.account import Books
from masthead.circulation.amounts import in_currency
from masthead.contract.printable import counted, listed
from masthead.errors import BadInput
from masthead.store.billing import invoices
from masthead.store.billing import settings as stored
from masthead.store.billing.journal import deferred_at_begin, post
from masthead.store.books.operation import Operation
from masthead.store.setting_texts import save_texts, stored_texts

_FIXED = ("tax_due",)
"""Settings that cannot change while an account bills: the journal would not add up."""


class SettingShown(NamedTuple):
    """A setting with its value as text; ``is_set`` is false if it is the default."""

    name: str
    value: str
    is_set: bool
    meaning: str


class Changed(NamedTuple):
    """The settings that changed, by name."""

    names: Sequence[str]

    @property
    def sentence(self) -> str:
        """Which settings changed, without their values."""
        if not self.names:
            return "nothing changed: the settings had these values already"
        return f"{counted(len(self.names), 'setting')} of billing changed: {listed(self.names)}"


class Begun(NamedTuple):
    """The day on which billing began; ``was_begun`` if it had begun before.

    ``deferred`` is the liability to readers with which the journal begins, in cents.
    """

    day: str
    was_begun: bool
    deferred: int
    currency: str

    @property
    def sentence(self) -> str:
        """Since when orders are billed, and with which liability the journal begins."""
        if self.was_begun:
            return f"nothing changed: billing began on {self.day}"
        return (
            f"billing begins on {self.day}: each order with a price makes an invoice; the journal "
            f"begins with a liability of {in_currency(self.deferred, self.currency)}"
        )


def show(books: Books) -> list[SettingShown]:
    """Return all settings in their order. Raises NotFound if there is no such account."""
    with books.read() as reading:
        was_set = stored_texts(reading, "billing_settings")
        texts = texts_of(settings_from(was_set.items()))
    return [
        SettingShown(each.name, texts[each.name], each.name in was_set, each.meaning)
        for each in SETTINGS
    ]


def begun_on(books: Books) -> str | None:
    """Return the day on which the account began billing; None if it does not bill."""
    with books.read() as reading:
        return stored.begun_on(reading)


def set_values(books: Books, values: Mapping[str, str], *, dry_run: bool = False) -> Changed:
    """Change settings, by name; "" gives one its default again.

    Raises BadInput for a name that no setting has, for a bad value, for two settings that do not
    fit together, for a folder of templates that is not there, and for a change that an account that
    bills cannot make: an invoice needs the seller, when tax is due is fixed, and no number is given
    a second time. Raises BadUsage if the packages that check an IBAN or a VAT number are not
    installed.
    """
    texts = {name: stored_text(name, text) for name, text in values.items()}
    with books.change(dry_run=dry_run) as change:
        before = stored_texts(change, "billing_settings")
        changed = {name: text for name, text in texts.items() if before.get(name, "") != text}
        after = settings_from((name, text) for name, text in (before | changed).items() if text)
        check_alike(after)
        if "templates" in changed and after.templates and not Path(after.templates).is_dir():
            raise BadInput(f"there is no folder {after.templates} for the setting templates")
        if change.billing_begun_on is not None:
            now = texts_of(settings_from(before.items()))
            _check_running(change.billing_begun_on, now, texts_of(after))
            _check_numbers(change, after, changed)
            _check_seller(lacking_for_invoices(after), "billing has begun, and")
        if changed:
            save_texts(change, "billing_settings", changed)
            change.say(Changed(tuple(changed)).sentence)
    return Changed(tuple(changed))


def _check_running(begun: str, now: Mapping[str, str], after: Mapping[str, str]) -> None:
    for name in _FIXED:
        if now[name] != after[name]:
            raise BadInput(
                f"{name} is {now[name]} since billing began on {begun}: it cannot change after "
                "that, since the journal would not add up"
            )


def _check_numbers(change: Operation, after: BillingSettings, changed: Collection[str]) -> None:
    """Raise BadInput if a new form of numbers could give one that a document has already."""
    forms = {"invoice_number": after.invoice_number, "credit_note_number": after.credit_note_number}
    year = int(change.today[:4])
    for name in forms.keys() & changed:
        form = forms[name]
        is_credit = name == "credit_note_number"
        last = invoices.last_number(change, numbering.series_of(form, year, is_credit=is_credit))
        for text in invoices.number_texts(change):
            found = numbering.read(form, text)
            if found and (found.year or year, found.number) > (year, last):
                raise BadInput(
                    f"{name} would be {form}, which gives the number {text} a second time: write "
                    "the new numbers with another letter or sign"
                )


def _check_seller(missing: Sequence[str], why: str) -> None:
    if missing:
        raise BadInput(
            f"{why} an invoice needs {listed(missing)}: set {'it' if len(missing) == 1 else 'them'}"
            " first",
            code="billing_settings_missing",
        )


def begin(books: Books, *, dry_run: bool = False) -> Begun:
    """Begin to bill from today on; the journal begins with the liability to readers.

    Nothing changes if billing has begun already. Raises BadInput if a setting that each invoice
    needs is missing, NotFound if there is no such account, MastheadError if its books are not open.
    """
    with books.change(dry_run=dry_run) as change:
        if change.billing_begun_on is not None:
            return Begun(change.billing_begun_on, True, 0, change.currency)
        _check_seller(lacking_for_invoices(stored.settings_of(change)), "before billing begins,")
        deferred = deferred_at_begin(change, change.today)
        stored.begin(change)
        post(
            change,
            change.today,
            "billing begins",
            [("opening", deferred), ("deferred", -deferred)],
        )
        done = Begun(change.today, False, deferred, change.currency)
        change.say(done.sentence)
    return done
