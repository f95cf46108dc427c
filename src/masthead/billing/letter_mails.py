"""The words of a welcome or a cancellation that goes by e-mail (billing, "E-mail")."""

from masthead.billing.printed_letters import PrintedCancellation, PrintedWelcome
from masthead.circulation.amounts import in_currency

_WELCOME = {
    "en": (
        "Welcome to {publication}",
        (
            "Dear {name},\n\nthank you for your subscription to {publication}.{facts}\n\n"
            "Your subscriber number is {number}.\n\n{seller}\n"
        ),
    ),
    "de": (
        "Willkommen bei {publication}",
        (
            "Guten Tag {name},\n\nvielen Dank für Ihr Abonnement von {publication}.{facts}\n\n"
            "Ihre Kundennummer ist {number}.\n\n{seller}\n"
        ),
    ),
}
_GIFT = {
    "en": " {payer} gives it to you.",
    "de": " {payer} schenkt es Ihnen.",
}
_FIRST = {
    "en": "\n\nThe first issue is {issue}.",
    "de": "\n\nDie erste Ausgabe ist {issue}.",
}
_CANCELLATION = {
    "en": (
        "Your subscription to {publication} is cancelled",
        (
            "Dear {name},\n\nwe confirm that the subscription to {publication} was cancelled on "
            "{day}.{facts}\n\nYour subscriber number is {number}.\n\n{seller}\n"
        ),
    ),
    "de": (
        "Ihr Abonnement {publication} ist gekündigt",
        (
            "Guten Tag {name},\n\nwir bestätigen, dass das Abonnement {publication} am {day} "
            "gekündigt wurde.{facts}\n\nIhre Kundennummer ist {number}.\n\n{seller}\n"
        ),
    ),
}
_ENDED = {
    "en": "\n\nIt ended on {day}.",
    "de": "\n\nEs endete am {day}.",
}
_LAST = {
    "en": "\n\nThe last issue is {issue}.",
    "de": "\n\nDie letzte Ausgabe ist {issue}.",
}
_BACK = {
    "en": " We pay back {amount}.",
    "de": " Wir erstatten {amount}.",
}


def mail_of(printed: PrintedWelcome | PrintedCancellation) -> tuple[str, str]:
    """Return the subject and the plain text of a letter, in its language."""
    language = printed.language
    values = {
        "publication": printed.publication,
        "name": printed.recipient.name or printed.recipient.company,
        "number": printed.recipient.subscriber_id,
        "seller": printed.seller.name,
    }
    facts = ""
    if isinstance(printed, PrintedWelcome):
        subject, text = _WELCOME[language]
        if printed.payer:
            facts += _GIFT[language].format(payer=printed.payer)
        if printed.first_issue:
            facts += _FIRST[language].format(issue=printed.first_issue)
    else:
        subject, text = _CANCELLATION[language]
        values["day"] = printed.cancelled_on
        if printed.ended_on:
            facts += _ENDED[language].format(day=printed.ended_on)
        if printed.last_issue:
            facts += _LAST[language].format(issue=printed.last_issue)
        if printed.refunded:
            amount = in_currency(printed.refunded, printed.currency)
            facts += _BACK[language].format(amount=amount)
    return subject.format(**values), text.format(**values, facts=facts)
