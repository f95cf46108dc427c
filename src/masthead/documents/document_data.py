"""What each template gets, by the record of the document (docs/documents.md)."""

from collections.abc import Callable
from typing import Any

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
from masthead.documents.kinds import Printed
from masthead.documents.label_data import cover_data, labels_data
from masthead.documents.letter_data import (
    announcement_data,
    cancellation_data,
    gift_card_data,
    reminder_data,
    renewal_data,
    requalification_data,
    welcome_data,
)
from masthead.documents.template_data import invoice_data
from masthead.documents.words import Look

_DATA: dict[type, Callable[[Any, Look], dict[str, Any]]] = {
    PrintedInvoice: invoice_data,
    PrintedReminder: reminder_data,
    PrintedAnnouncement: announcement_data,
    PrintedRenewal: renewal_data,
    PrintedRequalification: requalification_data,
    PrintedWelcome: welcome_data,
    PrintedCancellation: cancellation_data,
    PrintedLabels: labels_data,
    PrintedCover: cover_data,
    PrintedGiftCard: gift_card_data,
}


def data_of(printed: Printed, look: Look) -> dict[str, Any]:
    """Return what the template of a document gets."""
    return _DATA[type(printed)](printed, look)
