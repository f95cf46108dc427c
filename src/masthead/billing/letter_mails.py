"""The words of the mails that welcome, confirm a cancelling, and ask to renew (billing, "E-mail").

They say the same as the letters, in the language of the documents, without any attachment.
"""

from masthead.billing.mail_texts import MailWords, amount_of, day_of, one_line, signature_of
from masthead.billing.printed import Language
from masthead.billing.printed_letters import (
    PrintedCancellation,
    PrintedRenewal,
    PrintedRequalification,
    PrintedWelcome,
)
from masthead.billing.references import spaced

Letter = PrintedWelcome | PrintedCancellation | PrintedRenewal | PrintedRequalification

_TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "hello": "Good day {name},",
        "hello_nobody": "Good day,",
        "number": "Your subscriber number is {number}.",
        "welcome": "Welcome to {publication}",
        "thanks": "thank you for your subscription to {publication}.",
        "gift": "{payer} gives you a subscription to {publication}.",
        "first": "The first issue is {first_issue}.",
        "until": "It lasts until {until}.",
        "code": "Your code is {code}.",
        "cancellation": "Your subscription to {publication}",
        "confirmed": "we confirm that the subscription to {publication} was cancelled on {day}.",
        "confirmed_for": "we confirm that the subscription to {publication} for {reader} was "
        "cancelled on {day}.",
        "ended": "It ended on {ended_on}.",
        "last": "The last issue is {last_issue}.",
        "back": "We pay back {refunded}.",
        "back_later": "What is left over at the end is paid back.",
        "renewal": "Renew your subscription to {publication}",
        "left": "your subscription to {publication} has {left} issues left.",
        "left_one": "your subscription to {publication} has one issue left.",
        "left_none": "your subscription to {publication} ends with the issue that comes last.",
        "left_ended": "your subscription to {publication} has ended.",
        "for": "It is your gift to {reader}.",
        "bundle": "This renews it: {bundle}, {total}.",
        "answer": "To renew it, answer this mail.",
        "requalification": "Do you still want {publication}?",
        "free": "you receive {publication} free of charge, because you qualify for it. What you "
        "told us is valid until {until}.",
        "answer_page": "Please answer a few questions by then, so that no issue is missed: {page}",
        "sign_in": "Sign in with your code {code} and your postal code {postal_code}.",
        "answer_mail": "To go on receiving it, answer this mail. We then ask you a few questions.",
        "transfer": "Or transfer {total} to {iban}, with the reference {reference}.",
    },
    "de": {
        "hello": "Guten Tag {name},",
        "hello_nobody": "Guten Tag,",
        "number": "Ihre Kundennummer ist {number}.",
        "welcome": "Willkommen bei {publication}",
        "thanks": "vielen Dank für Ihr Abonnement von {publication}.",
        "gift": "{payer} schenkt Ihnen ein Abonnement von {publication}.",
        "first": "Die erste Ausgabe ist {first_issue}.",
        "until": "Es läuft bis zum {until}.",
        "code": "Ihr Code ist {code}.",
        "cancellation": "Ihr Abonnement {publication}",
        "confirmed": "wir bestätigen, dass das Abonnement {publication} am {day} gekündigt wurde.",
        "confirmed_for": "wir bestätigen, dass das Abonnement {publication} für {reader} am {day} "
        "gekündigt wurde.",
        "ended": "Es endete am {ended_on}.",
        "last": "Die letzte Ausgabe ist {last_issue}.",
        "back": "Wir erstatten {refunded}.",
        "back_later": "Was am Ende übrig ist, erstatten wir.",
        "renewal": "Ihr Abonnement {publication} verlängern",
        "left": "Ihr Abonnement {publication} umfasst noch {left} Ausgaben.",
        "left_one": "Ihr Abonnement {publication} umfasst noch eine Ausgabe.",
        "left_none": "Ihr Abonnement {publication} endet mit der letzten Ausgabe.",
        "left_ended": "Ihr Abonnement {publication} ist abgelaufen.",
        "for": "Es ist Ihr Geschenk an {reader}.",
        "bundle": "So läuft es weiter: {bundle}, {total}.",
        "answer": "Um es zu verlängern, antworten Sie auf diese Mail.",
        "requalification": "Möchten Sie {publication} weiterhin erhalten?",
        "free": "Sie erhalten {publication} kostenlos, weil Sie die Voraussetzungen erfüllen. Ihre "
        "Angaben gelten bis zum {until}.",
        "answer_page": "Bitte beantworten Sie bis dahin einige Fragen, damit keine Ausgabe fehlt: "
        "{page}",
        "sign_in": "Melden Sie sich mit Ihrem Code {code} und der Postleitzahl {postal_code} an.",
        "answer_mail": "Wenn Sie die Zeitschrift weiterhin wünschen, antworten Sie auf diese Mail. "
        "Wir stellen Ihnen dann einige Fragen.",
        "transfer": "Oder überweisen Sie {total} auf {iban} mit dem Verwendungszweck {reference}.",
    },
}


def words_of_letter(printed: Letter) -> MailWords:
    """Return the words of the mail that goes in place of a letter. The subject has one line."""
    texts = _TEXTS[printed.language]
    values = {
        "name": one_line(printed.recipient.name or printed.recipient.company),
        "publication": one_line(printed.publication),
        "number": str(printed.recipient.subscriber_id),
        "reader": one_line(printed.reader),
    }
    if isinstance(printed, PrintedWelcome):
        subject, said, more = _welcome(printed)
    elif isinstance(printed, PrintedCancellation):
        subject, said, more = _cancellation(printed)
    elif isinstance(printed, PrintedRequalification):
        subject, said, more = _requalification(printed)
    else:
        subject, said, more = _renewal(printed)
    values |= more
    lines = [
        texts["hello" if values["name"] else "hello_nobody"],
        "",
        *(texts[each] for each in said),
        "",
        texts["number"],
    ]
    text = "\n".join(line.format(**values) for line in lines)
    signature = signature_of(printed.seller)
    return MailWords(texts[subject].format(**values), f"{text}\n\n{signature}\n")


_Said = tuple[str, list[str], dict[str, str]]
"""The name of the subject, the names of the sentences, and what they name."""


def _welcome(printed: PrintedWelcome) -> _Said:
    said = ["gift" if printed.payer else "thanks"]
    said += ["first"] if printed.first_issue else []
    said += ["until"] if printed.until else []
    said += ["code"] if printed.renewal_code else []
    return (
        "welcome",
        said,
        {
            "payer": one_line(printed.payer),
            "first_issue": one_line(printed.first_issue),
            "until": day_of(printed.until, printed.language) if printed.until else "",
            "code": one_line(printed.renewal_code),
        },
    )


def _cancellation(printed: PrintedCancellation) -> _Said:
    language = printed.language
    said = ["confirmed_for" if printed.reader else "confirmed"]
    if printed.ended_on:
        said += ["ended", *(["back"] if printed.refunded else [])]
    else:
        said += ["last"] if printed.last_issue else []
        said += ["until"] if printed.until else []
        said += ["back_later"] if printed.is_refund else []
    return (
        "cancellation",
        said,
        {
            "day": day_of(printed.cancelled_on, language),
            "ended_on": day_of(printed.ended_on, language) if printed.ended_on else "",
            "last_issue": one_line(printed.last_issue),
            "until": day_of(printed.until, language) if printed.until else "",
            "refunded": amount_of(printed.refunded, printed.currency, language),
        },
    )


def _renewal(printed: PrintedRenewal) -> _Said:
    left = printed.issues_left
    said = ["left_ended" if left < 0 else {0: "left_none", 1: "left_one"}.get(left, "left")]
    said += ["for"] if printed.reader else []
    said += ["bundle"] if printed.bundle else []
    said += ["answer"]
    said += ["transfer"] if printed.bundle and printed.seller.iban else []
    codes = (str(printed.recipient.subscriber_id), printed.renewal_code, printed.key_code)
    return (
        "renewal",
        said,
        {
            "left": str(left),
            "bundle": one_line(printed.bundle),
            "total": amount_of(printed.total, printed.currency, printed.language),
            "iban": spaced(printed.seller.iban.replace(" ", "")),
            "reference": one_line(" ".join(filter(None, codes))),
        },
    )


def _requalification(printed: PrintedRequalification) -> _Said:
    can_sign_in = printed.page and printed.renewal_code and printed.postal_code
    said = ["free", "answer_page" if printed.page else "answer_mail"]
    said += ["sign_in"] if can_sign_in else []
    return (
        "requalification",
        said,
        {
            "until": day_of(printed.valid_until, printed.language),
            "page": one_line(printed.page),
            "code": one_line(printed.renewal_code),
            "postal_code": one_line(printed.postal_code),
        },
    )
