"""Mandates: the permissions of payers to collect from their accounts (billing, "Direct debit").

A payer has one active mandate at a time. Its IBAN never changes: another account needs another
mandate. The IBAN is in no sentence and no audit entry.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.billing import identifiers
from masthead.billing.mandates import (
    SCHEMES,
    Scheme,
    Status,
    checked_reference,
    reference_for,
)
from masthead.books.account import Books
from masthead.books.payer_payments import checked_text
from masthead.contract.moments import is_day
from masthead.contract.printable import is_name, single_spaced
from masthead.errors import BadInput
from masthead.store.billing import mandates as stored
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.mandates import Mandate
from masthead.store.billing.payer_movements import kept_payer
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation
from masthead.store.books.reader_notes import check_open

__all__ = [
    "Added",
    "Changed",
    "Given",
    "Mandate",
    "add",
    "end",
    "listed",
    "of_payer",
    "rest",
    "resume",
]

HOLDER_MAX = 70
"""The most characters of an account holder's name, as banks read it."""

_REPLACED = "another mandate took its place"


class Given(NamedTuple):
    """What a payer signed: the account, and when.

    ``reference`` None: one is made. ``signed_on`` None: today. ``account_holder`` None: the payer.
    ``bic`` None: that of the IBAN's bank, where it is known.
    """

    iban: str
    reference: str | None = None
    signed_on: str | None = None
    scheme: str = "core"
    account_holder: str | None = None
    bic: str | None = None


class Added(NamedTuple):
    """A mandate that was added, and the reference of the one that it replaced."""

    mandate: Mandate
    replaced: str | None

    @property
    def sentence(self) -> str:
        """The mandate, without its account."""
        mandate = self.mandate
        said = (
            f"mandate {mandate.reference} ({mandate.scheme.upper()}) of subscriber "
            f"{mandate.subscriber_id}, signed on {mandate.signed_on}"
        )
        return said if self.replaced is None else f"{said}; mandate {self.replaced} has ended"


class Changed(NamedTuple):
    """A mandate with its new status."""

    mandate: Mandate

    @property
    def sentence(self) -> str:
        """What the mandate is now."""
        words = {"active": "is active again", "resting": "rests", "ended": "has ended"}
        return f"mandate {self.mandate.reference} {words[self.mandate.status]}"


def add(books: Books, subscriber_id: int, given: Given, *, dry_run: bool = False) -> Added:
    """Add a mandate of a payer; one that the payer has already ends.

    Raises NotFound for an unknown payer. Raises BadInput if the payer is deleted, and, with the
    ``field``, for a wrong IBAN or BIC, a day of signature to come, and a reference that is used or
    that banks refuse. Raises BadUsage if the packages that check an IBAN are not installed.
    """
    iban = identifiers.iban(given.iban)
    bic = identifiers.bic(given.bic) if given.bic else identifiers.bic_of(iban)
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        subscriber_id = kept_payer(change, subscriber_id)
        check_open(change, subscriber_id)
        before = [
            each for each in stored.mandates_of(change, subscriber_id) if each.status != "ended"
        ]
        mandate = Mandate(
            mandate_id=change.new_id("mandates"),
            subscriber_id=subscriber_id,
            reference=_reference(change, subscriber_id, given.reference),
            scheme=_scheme(given.scheme),
            account_holder=_holder(given.account_holder or reader_named(change, subscriber_id)),
            iban_end=iban[-4:],
            bic=bic or None,
            signed_on=_signed_on(change, given.signed_on),
            status="active",
            status_since=change.today,
            reason=None,
            used_on=None,
        )
        stored.change_status(change, [each.mandate_id for each in before], "ended", _REPLACED)
        stored.add_mandate(change, mandate, iban)
        done = Added(mandate, before[-1].reference if before else None)
        change.say(done.sentence)
    return done


def _reference(change: Operation, subscriber_id: int, given: str | None) -> str:
    if given is not None:
        reference = checked_reference(given)
        if stored.has_reference(change, reference):
            raise BadInput(f"there is a mandate {reference} already", field="reference")
        return reference
    number = len(stored.mandates_of(change, subscriber_id)) + 1
    while stored.has_reference(change, reference_for(subscriber_id, number)):
        number += 1
    return reference_for(subscriber_id, number)


def _scheme(text: str) -> Scheme:
    for scheme in SCHEMES:
        if text.lower() == scheme:
            return scheme
    raise BadInput(f"{text!r} is not a scheme: CORE is for everybody, B2B for businesses")


def _holder(text: str) -> str:
    name = single_spaced(text)[:HOLDER_MAX]
    if not is_name(name, HOLDER_MAX):
        raise BadInput(
            "the account holder has characters that cannot be printed", field="account_holder"
        )
    return name


def _signed_on(change: Operation, day: str | None) -> str:
    day = day or change.today
    if not is_day(day):
        raise BadInput(f"{day!r} is not a day such as 2026-11-05", field="signed_on")
    if day > change.today:
        raise BadInput(f"{day} is still to come: a mandate is signed first", field="signed_on")
    return day


def end(
    books: Books, reference: str, reason: str | None = None, *, dry_run: bool = False
) -> Changed:
    """End a mandate for good; what is with the bank stays there.

    Raises NotFound if there is none with the reference, BadInput if it has ended.
    """
    return _change(books, reference, "ended", reason, dry_run=dry_run)


def rest(
    books: Books, reference: str, reason: str | None = None, *, dry_run: bool = False
) -> Changed:
    """Let a mandate rest: nothing is collected by it until it is resumed.

    Raises NotFound if there is none with the reference, BadInput if it is not active.
    """
    return _change(books, reference, "resting", reason, dry_run=dry_run)


def resume(books: Books, reference: str, *, dry_run: bool = False) -> Changed:
    """Let a resting mandate be active again; returns before do not count any more.

    Raises NotFound if there is none with the reference. Raises BadInput if it does not rest, or the
    payer has another active one.
    """
    return _change(books, reference, "active", None, dry_run=dry_run)


def _change(
    books: Books, reference: str, status: Status, reason: str | None, *, dry_run: bool
) -> Changed:
    with books.change(dry_run=dry_run) as change:
        check_bills(change)
        mandate = stored.mandate_referred(change, reference)
        _check_change(change, mandate, status)
        stored.change_status(change, [mandate.mandate_id], status, checked_text(reason, "reason"))
        done = Changed(stored.mandate_referred(change, reference))
        change.say(done.sentence)
    return done


def _check_change(change: Operation, mandate: Mandate, status: Status) -> None:
    if mandate.status == "ended":
        raise BadInput(
            f"mandate {mandate.reference} has ended on {mandate.status_since}: the payer has to "
            "sign another one"
        )
    if mandate.status == status:
        word = "is active" if status == "active" else "rests"
        raise BadInput(f"mandate {mandate.reference} {word} already: nothing was changed")
    if status == "active":
        other = stored.active_mandate_of(change, mandate.subscriber_id)
        if other is not None:
            raise BadInput(
                f"{reader_named(change, mandate.subscriber_id)} has the active mandate "
                f"{other.reference}: end that one first"
            )


def of_payer(books: Books, subscriber_id: int) -> Sequence[Mandate]:
    """Return the mandates of a payer, the oldest first. Raises NotFound for an unknown payer."""
    with books.read() as reading:
        return stored.mandates_of(reading, kept_payer(reading, subscriber_id))


def listed(
    books: Books, *, status: Status | None = None, after: int = 0, limit: int = 100
) -> Sequence[Mandate]:
    """Return the mandates after an id, by id: all, or those with a status."""
    with books.read() as reading:
        return stored.list_mandates(reading, status=status, after=after, limit=limit)
