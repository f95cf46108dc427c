"""Renewal letters as they are printed (billing, "Documents")."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from masthead.billing.printed_letters import PrintedRenewal
from masthead.billing.settings import BillingSettings
from masthead.books import renewals
from masthead.books.account import Books
from masthead.books.invoice_documents import appearance_of, sender_of
from masthead.books.renewals import Due, Letter
from masthead.circulation.addresses import FIELDS
from masthead.circulation.amounts import stored_cents
from masthead.contract.printable import printable
from masthead.documents.rendering import Appearance
from masthead.errors import BadInput
from masthead.store.billing.printing import person_of
from masthead.store.billing.settings import settings_of


class Selected(NamedTuple):
    """Letters to print: how many by publication and effort, how they look, and what they print.

    ``digest`` returns the SHA-256 of the rows that were read so far.
    """

    due: list[Due]
    appearance: Appearance
    letters: Iterator[PrintedRenewal]
    digest: Callable[[], str]


@contextmanager
def selected(
    books: Books, publication_id: int | None = None, *, sent_on: str | None = None
) -> Iterator[Selected]:
    """Yield the letters that are due today, or that were sent on a day; notes nothing.

    Raises what ``renewals.selected`` does, and BadInput if the settings have no name or no address
    of the seller.
    """
    with books.read() as reading:
        settings = settings_of(reading)
        currency = reading.currency
    read = hashlib.sha256()
    with renewals.selected(books, publication_id, sent_on=sent_on) as found:

        def letters() -> Iterator[PrintedRenewal]:
            for row in found.rows:
                read.update(_bytes(row))
                yield _printed(row, settings, found.day, currency)

        yield Selected(found.due, appearance_of(settings), letters(), read.hexdigest)


def note_sent(books: Books, publication_id: int | None, digest: str) -> list[Due]:
    """Note the letters that are due today as sent, if they are those with this ``digest``.

    Raises BadInput if others are due by now, such as after an order: nothing is noted then.
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

    return renewals.send(books, compare, publication_id).due


def _bytes(row: Letter) -> bytes:
    return repr(tuple(row)).encode() + b"\n"


def _printed(row: Letter, settings: BillingSettings, day: str, currency: str) -> PrintedRenewal:
    value: dict[str, Any] = dict(zip(renewals.LETTER, row, strict=True))
    reader = " ".join(filter(None, (value["reader_first_name"], value["reader_last_name"])))
    return PrintedRenewal(
        written_on=day,
        language=settings.language,
        currency=currency,
        seller=sender_of(settings),
        recipient=person_of(
            value["to_subscriber_id"], [value[name] for name in FIELDS], email=value["email"]
        ),
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
