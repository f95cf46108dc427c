"""Made-up letters, labels and cover sheets, on which templates are tried."""

from collections.abc import Iterator
from typing import get_args

from masthead.billing.printed import Language, Payer
from masthead.billing.printed_announcements import PrintedAnnouncement
from masthead.billing.printed_letters import (
    AskedQuestion,
    Label,
    PrintedCancellation,
    PrintedCover,
    PrintedGiftCard,
    PrintedLabels,
    PrintedRenewal,
    PrintedRequalification,
    PrintedWelcome,
)
from masthead.billing.printed_reminders import PrintedReminder, RemindedInvoice
from masthead.billing.references import creditor_reference
from masthead.documents.kinds import Printed
from masthead.documents.label_sheets import SHEETS
from masthead.documents.samples import BUSINESS, PAYER, SELLER, invoice_samples

DAY = "2026-11-28"
_PUBLICATION = {"en": "Field Notes", "de": "Feldpost"}
_BUNDLE = {"en": "One year of Field Notes", "de": "Ein Jahr Feldpost"}
_ISSUES = {"en": ("Winter 2026", "Autumn 2027"), "de": ("Winter 2026", "Herbst 2027")}
_CONSENT = {
    "en": "Yes, renew my subscription each year until I say stop.",
    "de": "Ja, das Abonnement soll sich jährlich verlängern, bis ich kündige.",
}
_MESSAGE = {
    "en": "Happy birthday, and many good hours with it!",
    "de": "Alles Gute zum Geburtstag, und viele gute Stunden damit!",
}
_QUESTIONS = {
    "en": (
        AskedQuestion(
            words="Your job", options=("Purchasing", "Engineer", "Manager"), has_other=True
        ),
        AskedQuestion(words="You decide on", options=("Machines", "Tools"), is_several=True),
    ),
    "de": (
        AskedQuestion(words="Ihr Beruf", options=("Einkauf", "Technik", "Leitung"), has_other=True),
        AskedQuestion(
            words="Sie entscheiden über", options=("Maschinen", "Werkzeug"), is_several=True
        ),
    ),
}
_AGREED = {
    "en": "I ask for the free subscription, and agree that my answers are counted.",
    "de": "Ich bitte um das kostenlose Abonnement. Meine Angaben dürfen gezählt werden.",
}
_REASON = {"en": "no time to read", "de": "keine Zeit zum Lesen"}
FRIEND = Payer(
    subscriber_id=90210,
    name="Robin Okafor",
    company="Prairie Review",
    address_lines=("12 Main St",),
    city="Lincoln",
    state="NE",
    postal_code="68501",
    country="US",
)
"""A reader in the United States."""


def samples() -> list[tuple[str, Printed]]:
    """Return a document of each template in each language, each with its name."""
    found: list[tuple[str, Printed]] = [*invoice_samples()]
    for language in get_args(Language):
        found += ((f"{name}-{language}", printed) for name, printed in _letters(language))
    return found


def _letters(language: Language) -> Iterator[tuple[str, Printed]]:
    yield "reminder", reminder(language)
    yield "last-reminder", reminder(language, level=3)
    yield "announcement", announcement(language)
    yield "renewal-letter", renewal(language)
    yield "renewal-of-gift", renewal(language, is_gift=True)
    yield "requalification", requalification(language)
    yield "welcome", welcome(language)
    yield "cancellation", cancellation(language)
    yield "labels", labels(language)
    yield "cover-sheet", cover(language)
    yield "gift-card", gift_card(language)


def reminder(language: Language = "de", *, level: int = 1) -> PrintedReminder:
    """Return a made-up reminder: the first one, or one with a fee of two invoices."""
    one = RemindedInvoice(
        number="2026-000123",
        issued_on="2026-10-20",
        due_on="2026-11-03",
        description=_BUNDLE[language],
        total=13200,
        open=13200 if level == 1 else 8200,
        level=level,
        days_overdue=25,
        payment_reference=creditor_reference("2026-000123"),
    )
    other = RemindedInvoice(
        number="2026-000131",
        issued_on="2026-10-30",
        due_on="2026-11-13",
        total=900,
        open=900,
        level=1,
        days_overdue=15,
    )
    return PrintedReminder(
        level=level,
        reminded_on=DAY,
        pay_by="2026-12-08",
        read_until="2026-11-27",
        seller=SELLER,
        payer=PAYER,
        language=language,
        currency="EUR",
        invoices=(one,) if level == 1 else (one, other),
        fee=0 if level == 1 else 500,
        fee_invoice="" if level == 1 else "2026-000140",
        earlier_fees=0 if level == 1 else 250,
        credit=0 if level == 1 else 4100,
        credit_notes=() if level == 1 else ("C2026-000009",),
        payment_reference=creditor_reference("2026-000123"),
        then_do="nothing" if level == 1 else "stop",
    )


def announcement(language: Language = "de") -> PrintedAnnouncement:
    """Return a made-up announcement of an automatic renewal."""
    return PrintedAnnouncement(
        subscription_id=77,
        announced_on=DAY,
        seller=SELLER,
        payer=PAYER,
        reader="Ida Kessler",
        language=language,
        currency="EUR",
        publication=_PUBLICATION[language],
        bundle=_BUNDLE[language],
        issues=12,
        until="2027-01-31",
        renews_on="2026-12-28",
        stop_until="2026-12-27",
        net=4486,
        tax=314,
        consent_on="2025-12-01",
        consent=_CONSENT[language],
        renewal_code="K7F2Q9",
        mandate="M-000815",
        iban_end="2051",
    )


def renewal(language: Language = "de", *, is_gift: bool = False) -> PrintedRenewal:
    """Return a made-up renewal letter: to a reader, or to the payer of a subscription."""
    return PrintedRenewal(
        written_on=DAY,
        language=language,
        currency="EUR",
        seller=SELLER,
        recipient=PAYER,
        subscription_id=77,
        reader="Ida Kessler" if is_gift else "",
        publication=_PUBLICATION[language],
        copies=1 if is_gift else 2,
        effort=1,
        issues_left=0 if is_gift else 3,
        expires_on="2027-01-31",
        is_gift=is_gift,
        renewal_code="" if is_gift else "K7F2Q9",
        bundle=_BUNDLE[language],
        net=4486,
        tax=314,
        key_code="W26",
    )


def requalification(language: Language = "de") -> PrintedRequalification:
    """Return a made-up letter that asks a reader of a free title to qualify again."""
    return PrintedRequalification(
        written_on=DAY,
        language=language,
        currency="EUR",
        seller=SELLER,
        recipient=PAYER,
        subscription_id=77,
        publication=_PUBLICATION[language],
        effort=1,
        valid_until="2027-01-31",
        renewal_code="K7F2Q",
        postal_code=PAYER.postal_code,
        page="https://feldpost.example/abo",
        agreed_text=_AGREED[language],
        questions=_QUESTIONS[language],
    )


def welcome(language: Language = "de") -> PrintedWelcome:
    """Return a made-up letter that welcomes a reader to whom the subscription is given."""
    first, _ = _ISSUES[language]
    return PrintedWelcome(
        written_on=DAY,
        language=language,
        currency="EUR",
        seller=SELLER,
        recipient=FRIEND,
        subscription_id=77,
        publication=_PUBLICATION[language],
        issues=12,
        first_issue=first,
        first_on="2026-12-01",
        until="2027-11-30",
        payer=PAYER.name,
        renewal_code="K7F2Q9",
    )


def cancellation(language: Language = "de") -> PrintedCancellation:
    """Return a made-up letter that confirms a cancelling that gives money back."""
    return PrintedCancellation(
        written_on=DAY,
        language=language,
        currency="EUR",
        seller=SELLER,
        recipient=PAYER,
        subscription_id=77,
        reader="Ida Kessler",
        publication=_PUBLICATION[language],
        cancelled_on="2026-11-26",
        reason=_REASON[language],
        ended_on="2026-11-26",
        is_refund=True,
        refunded=3600,
        credit_notes=("C2026-000009",),
    )


def labels(
    language: Language = "de", *, sheet: str = "3x8", count: int = 24, skip: int = 3
) -> PrintedLabels:
    """Return made-up labels, each third abroad and for a business."""
    people = (PAYER, FRIEND, BUSINESS)
    return PrintedLabels(
        sheet=SHEETS[sheet].name,
        written_on=DAY,
        language=language,
        home="DE",
        publisher=SELLER.name,
        skip=skip,
        labels=tuple(
            Label(
                address=people[number % 3],
                keyline=f"{4711 + number} 2027-11-30",
                copies=1 if number % 5 else 3,
            )
            for number in range(count)
        ),
    )


def cover(language: Language = "de") -> PrintedCover:
    """Return a made-up sheet on a bundle of copies."""
    first, _ = _ISSUES[language]
    return PrintedCover(
        written_on=DAY,
        language=language,
        seller=SELLER,
        publication=_PUBLICATION[language],
        issue=first,
        issue_on="2026-12-01",
        number=3,
        bundles=17,
        country="DE",
        first_code="50667",
        last_code="50999",
        pieces=42,
        copies=50,
    )


def gift_card(language: Language = "de") -> PrintedGiftCard:
    """Return a made-up card for a gift."""
    return PrintedGiftCard(
        written_on=DAY,
        language=language,
        seller=SELLER,
        reader="Ida Kessler",
        payer="Robin Okafor",
        bundle=_BUNDLE[language],
        begins_on="2026-12-24",
        message=_MESSAGE[language],
    )
