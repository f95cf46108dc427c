"""Renewal letters as they are printed (billing, "Documents")."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

from masthead.billing.letter_mails import words_of_letter
from masthead.billing.printed_letters import PrintedRenewal
from masthead.billing.settings import BillingSettings
from masthead.billing.spoken import spoken
from masthead.books import renewals
from masthead.books.account import Books
from masthead.books.invoice_documents import appearance_of, sender_of
from masthead.books.own_templates import check_template
from masthead.books.renewals import Due, Letter
from masthead.circulation.addresses import FIELDS
from masthead.circulation.amounts import stored_cents
from masthead.contract.printable import printable
from masthead.documents.rendering import Appearance
from masthead.errors import BadInput
from masthead.store.billing.outbox import About, Words, addresses_of, queue_to
from masthead.store.billing.printing import person_of
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading
from masthead.store.books.renewing import letter_again, mailed_of_day

_AT_ONCE = 500
"""For how many letters one statement finds who wants email."""


class Selected(NamedTuple):
    """Letters to print: how many by publication and effort, how they look, and what they print.

    While ``letters`` is read, ``mailed`` gets those that go by email instead, each with its
    address. ``digest`` returns the SHA-256 of the rows of both that were read so far.
    """

    due: list[Due]
    appearance: Appearance
    letters: Iterator[PrintedRenewal]
    mailed: list[tuple[PrintedRenewal, str]]
    digest: Callable[[], str]


@contextmanager
def selected(
    books: Books, publication_id: int | None = None, *, sent_on: str | None = None
) -> Iterator[Selected]:
    """Yield the letters that are due today, or that were sent on a day; notes nothing.

    Letters of a day whose mail failed are among those to print. Raises what ``renewals.selected``
    does, and BadInput if the settings have no name or no address of the seller.
    """
    with books.read() as reading:
        settings = settings_of(reading)
        currency = reading.currency
        mailed_before = {} if sent_on is None else mailed_of_day(reading, sent_on)
    read = hashlib.sha256()
    mailed: list[tuple[PrintedRenewal, str]] = []
    with renewals.selected(books, publication_id, sent_on=sent_on) as found:

        def letters() -> Iterator[PrintedRenewal]:
            while some := [*islice(found.rows, _AT_ONCE)]:
                made = [_printed(row, settings, found.day, currency) for row in some]
                addresses = mailed_before
                if sent_on is None:
                    with books.read() as reading:
                        addresses = _addresses(reading, made)
                for row, letter in zip(some, made, strict=True):
                    read.update(_bytes(row))
                    address = addresses.get(letter.subscription_id)
                    if address is None:
                        yield letter
                    else:
                        mailed.append((letter, address))

        yield Selected(found.due, appearance_of(settings), letters(), mailed, read.hexdigest)


def _addresses(reading: Reading, letters: Sequence[PrintedRenewal]) -> dict[int, str]:
    """Return to which addresses letters go by email now, by subscription."""
    found = addresses_of(reading, {each.recipient.subscriber_id for each in letters})
    return {
        each.subscription_id: found[each.recipient.subscriber_id]
        for each in letters
        if each.recipient.subscriber_id in found
    }


def send(
    books: Books, publication_id: int | None = None, *, seen: Sequence[Due] | None = None
) -> list[Due]:
    """Note the letters that are due today as sent, and queue those that go by email.

    The others are printed afterwards, by their day (``books.letter_documents``). Raises what
    :func:`selected` does, and BadInput for an error of the account's own template, and if others
    are due by now than those that were ``seen``.
    """
    check_template(books, "renewal-letter")
    with selected(books, publication_id) as found:
        for _ in found.letters:
            pass
    if seen is not None and found.due != [*seen]:
        raise BadInput("other letters are due now: look at them once more")
    return note_sent(books, publication_id, found.digest(), found.mailed)


def note_sent(
    books: Books,
    publication_id: int | None,
    digest: str,
    mailed: Sequence[tuple[PrintedRenewal, str]] = (),
) -> list[Due]:
    """Note the letters that are due today as sent, if they are those with this ``digest``.

    The mails are queued with it. Raises BadInput if others are due by now, such as after an order:
    nothing is noted then.
    """

    def compare(rows: Iterable[Letter]) -> None:
        read = hashlib.sha256()
        for row in rows:
            read.update(_bytes(row))
        if read.hexdigest() != digest:
            raise BadInput(
                "the letters that are due changed while they were printed, and nothing was noted: "
                "write them again"
            )

    with books.together() as inside:
        due = renewals.send(inside, compare, publication_id).due
        with inside.change() as change:
            for letter, address in mailed:
                queue_to(
                    change,
                    address,
                    "renewal",
                    letter.recipient.subscriber_id,
                    About(subscription_id=letter.subscription_id),
                    Words(*words_of_letter(letter)),
                )
    return due


def sent_before(reading: Reading, day: str, term_id: int, effort: int) -> PrintedRenewal | None:
    """Return a letter that was sent on a day, with the data of today; None if there is none.

    Raises BadInput if the settings have no name or no address of the seller.
    """
    found = letter_again(reading, day, term_id, effort)
    return None if found is None else _printed(found, settings_of(reading), day, reading.currency)


def _bytes(row: Letter) -> bytes:
    return repr(tuple(row)).encode() + b"\n"


def _printed(row: Letter, settings: BillingSettings, day: str, currency: str) -> PrintedRenewal:
    value: dict[str, Any] = dict(zip(renewals.LETTER, row, strict=True))
    reader = " ".join(filter(None, (value["reader_first_name"], value["reader_last_name"])))
    recipient = person_of(
        value["to_subscriber_id"], [value[name] for name in FIELDS], email=value["email"]
    )
    return PrintedRenewal(
        written_on=day,
        language=spoken(settings, recipient).language,
        currency=currency,
        seller=sender_of(settings),
        recipient=recipient,
        subscription_id=value["subscription_id"],
        reader=printable(reader) if value["is_gift"] else "",
        publication=printable(value["publication"] or ""),
        copies=value["copies"] or 1,
        effort=value["effort"],
        issues_left=value["issues_left"],
        expires_on=value["date_expired"],
        is_gift=bool(value["is_gift"]),
        renewal_code="" if value["is_gift"] else printable(value["renewal_code"] or ""),
        bundle=printable(value["bundle"] or ""),
        net=stored_cents(value["bundle_price"] or "0"),
        tax=stored_cents(value["bundle_tax"] or "0"),
        key_code=printable(value["key_code"] or ""),
    )
