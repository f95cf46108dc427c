"""What the templates of letters get: texts that are ready to print (docs/documents.md)."""

from typing import Any

from masthead.billing.printed import Payer
from masthead.billing.printed_announcements import PrintedAnnouncement
from masthead.billing.printed_letters import (
    PrintedCancellation,
    PrintedGiftCard,
    PrintedRenewal,
    PrintedRequalification,
    PrintedWelcome,
)
from masthead.billing.printed_reminders import PrintedReminder
from masthead.billing.references import spaced
from masthead.contract.subscription_types import UNLIMITED
from masthead.documents.template_data import code_of_transfer
from masthead.documents.words import Look, Words, shared_data, text_of


def reminder_data(printed: PrintedReminder, look: Look) -> dict[str, Any]:
    """Return what a template gets of a reminder."""
    words = Words(printed.language, printed.currency)
    numbers = [each.number for each in printed.invoices]
    return shared_data(
        printed.seller,
        printed.payer,
        words=words,
        day=printed.reminded_on,
        title=numbers[0] if numbers else "",
        look=look,
    ) | {
        "level": printed.level,
        "written_on": words.day(printed.reminded_on),
        "pay_by": words.day(printed.pay_by),
        "read_until": words.day(printed.read_until or None),
        "payer": _person(printed.payer),
        "currency": printed.currency,
        "text": text_of(printed.text),
        "invoices": [
            {
                "number": text_of(each.number),
                "issued_on": words.day(each.issued_on),
                "due_on": words.day(each.due_on),
                "description": text_of(each.description),
                "total": words.number(each.total),
                "open": words.number(each.open),
                "days_overdue": each.days_overdue,
                "level": each.level,
            }
            for each in printed.invoices
        ],
        "open": words.money(printed.open),
        "fee": words.money(printed.fee) if printed.fee else "",
        "fee_invoice": text_of(printed.fee_invoice),
        "earlier_fees": words.money(printed.earlier_fees) if printed.earlier_fees else "",
        "credit": words.money(-printed.credit) if printed.credit else "",
        "credit_notes": [text_of(each) for each in printed.credit_notes],
        "due": words.money(printed.due),
        "is_due": printed.due > 0,
        "payment_reference": spaced(printed.payment_reference),
        "then_do": printed.then_do,
        "qr": code_of_transfer(
            printed.seller, printed.due, printed.currency, printed.payment_reference
        ),
    }


def announcement_data(printed: PrintedAnnouncement, look: Look) -> dict[str, Any]:
    """Return what a template gets of the announcement of an automatic renewal."""
    words = Words(printed.language, printed.currency)
    return shared_data(
        printed.seller,
        printed.payer,
        words=words,
        day=printed.announced_on,
        title=printed.publication,
        look=look,
    ) | {
        "written_on": words.day(printed.announced_on),
        "payer": _person(printed.payer),
        "reader": text_of(printed.reader),
        "publication": text_of(printed.publication),
        "bundle": text_of(printed.bundle),
        "issues": max(printed.issues, 0),
        "is_unlimited": printed.issues == UNLIMITED,
        "copies": printed.copies,
        "until": words.day(printed.until),
        "renews_on": words.day(printed.renews_on),
        "stop_until": words.day(printed.stop_until),
        "net": words.money(printed.net),
        "tax": words.money(printed.tax) if printed.tax else "",
        "total": words.money(printed.total),
        "consent_on": words.day(printed.consent_on),
        "consent": text_of(printed.consent),
        "renewal_code": text_of(printed.renewal_code),
        "mandate": text_of(printed.mandate),
        "iban_end": text_of(printed.iban_end),
    }


def renewal_data(printed: PrintedRenewal, look: Look) -> dict[str, Any]:
    """Return what a template gets of a renewal letter."""
    words = Words(printed.language, printed.currency)
    return _letter(printed, words, look) | {
        "effort": printed.effort,
        "issues_left": printed.issues_left,
        "expires_on": words.day(printed.expires_on),
        "is_gift": printed.is_gift,
        "renewal_code": text_of(printed.renewal_code),
        "bundle": text_of(printed.bundle),
        "net": words.money(printed.net),
        "tax": words.money(printed.tax) if printed.tax else "",
        "total": words.money(printed.total),
        "key_code": text_of(printed.key_code),
    }


def requalification_data(printed: PrintedRequalification, look: Look) -> dict[str, Any]:
    """Return what a template gets of a letter that asks to qualify again."""
    words = Words(printed.language, printed.currency)
    return _letter(printed, words, look) | {
        "effort": printed.effort,
        "valid_until": words.day(printed.valid_until),
        "renewal_code": text_of(printed.renewal_code),
        "postal_code": text_of(printed.postal_code),
        "page": text_of(printed.page),
        "agreed_text": text_of(printed.agreed_text),
        "questions": [
            {
                "words": text_of(each.words),
                "options": [text_of(option) for option in each.options],
                "is_several": each.is_several,
                "has_other": each.has_other,
            }
            for each in printed.questions
        ],
    }


def welcome_data(printed: PrintedWelcome, look: Look) -> dict[str, Any]:
    """Return what a template gets of a letter that welcomes a reader."""
    words = Words(printed.language, printed.currency)
    return _letter(printed, words, look) | {
        "type": printed.type,
        "issues": max(printed.issues, 0),
        "is_unlimited": printed.issues == UNLIMITED,
        "first_issue": text_of(printed.first_issue),
        "first_on": words.day(printed.first_on),
        "until": words.day(printed.until),
        "payer": text_of(printed.payer),
        "renewal_code": text_of(printed.renewal_code),
    }


def cancellation_data(printed: PrintedCancellation, look: Look) -> dict[str, Any]:
    """Return what a template gets of a letter that confirms a cancelling."""
    words = Words(printed.language, printed.currency)
    return _letter(printed, words, look) | {
        "cancelled_on": words.day(printed.cancelled_on),
        "reason": text_of(printed.reason),
        "ended_on": words.day(printed.ended_on),
        "last_issue": text_of(printed.last_issue),
        "last_on": words.day(printed.last_on),
        "issues_left": printed.issues_left,
        "until": words.day(printed.until),
        "is_refund": printed.is_refund,
        "refunded": words.money(printed.refunded) if printed.refunded else "",
        "credit_notes": [text_of(each) for each in printed.credit_notes],
    }


def gift_card_data(printed: PrintedGiftCard, look: Look) -> dict[str, Any]:
    """Return what a template gets of the card for a gift, which has no address."""
    words = Words(printed.language, "EUR")
    return shared_data(
        printed.seller,
        Payer(subscriber_id=0),
        words=words,
        day=printed.written_on,
        title=printed.bundle,
        look=look,
    ) | {
        "reader": text_of(printed.reader),
        "payer": text_of(printed.payer),
        "bundle": text_of(printed.bundle),
        "begins_on": words.day(printed.begins_on),
        "message": text_of(printed.message),
    }


def _letter(
    printed: PrintedWelcome | PrintedCancellation | PrintedRenewal | PrintedRequalification,
    words: Words,
    look: Look,
) -> dict[str, Any]:
    return shared_data(
        printed.seller,
        printed.recipient,
        words=words,
        day=printed.written_on,
        title=printed.publication,
        look=look,
    ) | {
        "written_on": words.day(printed.written_on),
        "recipient": _person(printed.recipient),
        "reader": text_of(printed.reader),
        "publication": text_of(printed.publication),
        "copies": printed.copies,
    }


def _person(person: Payer) -> dict[str, str]:
    return {
        "subscriber_id": str(person.subscriber_id),
        "name": text_of(person.name),
        "company": text_of(person.company),
    }
