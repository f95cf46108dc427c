"""The documents that have a template, and how a process sends their records to its child.

A template has the name of its file and of the function in it: ``invoice.typ`` has ``invoice``.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from masthead.billing.printed import PrintedInvoice
from masthead.billing.printed_announcements import PrintedAnnouncement
from masthead.billing.printed_letters import (
    PrintedCancellation,
    PrintedCover,
    PrintedGiftCard,
    PrintedLabels,
    PrintedRenewal,
    PrintedRequalification,
    PrintedWelcome,
)
from masthead.billing.printed_reminders import PrintedReminder
from masthead.documents.label_sheets import sheet_named

Printed: TypeAlias = (
    PrintedInvoice
    | PrintedReminder
    | PrintedAnnouncement
    | PrintedRenewal
    | PrintedRequalification
    | PrintedWelcome
    | PrintedCancellation
    | PrintedLabels
    | PrintedCover
    | PrintedGiftCard
)
"""What a document prints."""

RECORDS: dict[str, type[Printed]] = {
    "invoice": PrintedInvoice,
    "reminder": PrintedReminder,
    "announcement": PrintedAnnouncement,
    "renewal_letter": PrintedRenewal,
    "requalification": PrintedRequalification,
    "welcome": PrintedWelcome,
    "cancellation": PrintedCancellation,
    "labels": PrintedLabels,
    "cover_sheet": PrintedCover,
    "gift_card": PrintedGiftCard,
}
"""The record of each template."""

_TEMPLATES = {record: template for template, record in RECORDS.items()}
_ENCODER = msgspec.json.Encoder()
_DECODERS: dict[str, msgspec.json.Decoder[list[Printed]]] = {
    name: msgspec.json.Decoder(list[record])  # type: ignore[valid-type]
    for name, record in RECORDS.items()
}


class Asked(NamedTuple):
    """Documents that one PDF is to have, all of one template."""

    template: str
    documents: Sequence[Printed]


def asked(documents: Sequence[Printed]) -> bytes:
    """Return what the child gets: the template's name, and the documents as JSON."""
    template = _TEMPLATES[type(documents[0])]
    return template.encode() + b"\n" + _ENCODER.encode(documents)


def read_asked(content: bytes) -> Asked:
    """Return the documents that :func:`asked` wrote."""
    name, _, documents = content.partition(b"\n")
    template = name.decode()
    return Asked(template, _DECODERS[template].decode(documents))


def name_of(documents: Sequence[Printed]) -> str:
    """Return what an error calls a PDF: an invoice's number, or the template and for whom it is."""
    first = documents[0]
    template = _TEMPLATES[type(first)].replace("_", " ")
    match first:
        case PrintedInvoice():
            return first.number
        case PrintedReminder() | PrintedAnnouncement():
            return f"{template} for subscriber {first.payer.subscriber_id}"
        case PrintedLabels() | PrintedCover() | PrintedGiftCard():
            return f"with the {template}{'' if template.endswith('s') else 's'}"
        case _:
            return f"{template} for subscriber {first.recipient.subscriber_id}"


def pages_of(documents: Sequence[Printed]) -> int:
    """Return about how many pages share a PDF: 0 for a document that stands alone."""
    first = documents[0]
    if isinstance(first, PrintedLabels):
        return len(first.labels) // sheet_named(first.sheet).labels
    return len(documents) if len(documents) > 1 else 0
