"""The words of the mail that announces an automatic renewal (billing, "E-mail").

They say the same as the letter, in the language of the documents, without any attachment.
"""

from masthead.billing.mail_texts import MailWords, amount_of, day_of, one_line, signature_of
from masthead.billing.printed import Language
from masthead.billing.printed_announcements import PrintedAnnouncement
from masthead.contract.subscription_types import UNLIMITED

_TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "subject": "Your subscription to {publication} renews on {renews_on}",
        "hello": "Good day {name},",
        "hello_nobody": "Good day,",
        "renews": "your subscription to {publication} renews automatically on {renews_on}, as you "
        "agreed on {consent_on}.",
        "until": "Without the renewal, it lasts until {until}.",
        "reader": "For: {reader}",
        "bundle": "Renewed by: {bundle}",
        "issues": "Issues: {issues}",
        "copies": "Copies of each issue: {copies}",
        "price": "Price: {total}, of which VAT {tax}",
        "price_only": "Price: {total}",
        "collected": "We collect it from your account {iban_end} by the mandate {mandate}.",
        "invoiced": "You receive an invoice then.",
        "stop": "You can stop the renewal until {stop_until}: answer this mail with your "
        "subscriber number {number}. You give no reason, and it costs nothing.",
        "words": "You agreed with these words: {consent}",
    },
    "de": {
        "subject": "Ihr Abonnement {publication} verlängert sich am {renews_on}",
        "hello": "Guten Tag {name},",
        "hello_nobody": "Guten Tag,",
        "renews": "Ihr Abonnement {publication} verlängert sich am {renews_on} automatisch, wie "
        "am {consent_on} vereinbart.",
        "until": "Ohne die Verlängerung läuft es bis zum {until}.",
        "reader": "Für: {reader}",
        "bundle": "Verlängert durch: {bundle}",
        "issues": "Ausgaben: {issues}",
        "copies": "Exemplare je Ausgabe: {copies}",
        "price": "Preis: {total}, darin MwSt. {tax}",
        "price_only": "Preis: {total}",
        "collected": "Wir ziehen den Betrag mit dem Mandat {mandate} von Ihrem Konto {iban_end} "
        "ein.",
        "invoiced": "Sie erhalten dann eine Rechnung.",
        "stop": "Sie können die Verlängerung bis zum {stop_until} beenden: Antworten Sie auf diese "
        "Mail mit Ihrer Kundennummer {number}. Sie brauchen keinen Grund zu nennen, und es kostet "
        "nichts.",
        "words": "Zugestimmt haben Sie mit diesen Worten: {consent}",
    },
}


def words_of_announcement(printed: PrintedAnnouncement) -> MailWords:
    """Return the words of the mail with an announcement. The subject has one line."""
    texts, language = _TEXTS[printed.language], printed.language
    values = {
        "name": one_line(printed.payer.name or printed.payer.company),
        "publication": one_line(printed.publication),
        "renews_on": day_of(printed.renews_on, language),
        "consent_on": day_of(printed.consent_on, language),
        "until": day_of(printed.until, language) if printed.until else "",
        "reader": one_line(printed.reader),
        "bundle": one_line(printed.bundle),
        "issues": "" if printed.issues == UNLIMITED else str(printed.issues or ""),
        "copies": str(printed.copies),
        "total": amount_of(printed.total, printed.currency, language),
        "tax": amount_of(printed.tax, printed.currency, language),
        "mandate": one_line(printed.mandate),
        "iban_end": f"…{one_line(printed.iban_end)}" if printed.iban_end else "",
        "stop_until": day_of(printed.stop_until, language),
        "number": str(printed.payer.subscriber_id),
        "consent": one_line(printed.consent),
    }
    told = [each for each in ("reader", "bundle", "issues") if values[each]]
    told += ["copies"] if printed.copies > 1 else []
    told += ["price" if printed.tax else "price_only"]
    lines = [
        texts["hello" if values["name"] else "hello_nobody"],
        "",
        texts["renews"],
        *([texts["until"]] if printed.until else ()),
        "",
        *(texts[each] for each in told),
        "",
        texts["collected" if printed.mandate else "invoiced"],
        texts["stop"],
        *([texts["words"]] if printed.consent else ()),
    ]
    text = "\n".join(line.format(**values) for line in lines)
    signature = signature_of(printed.seller)
    return MailWords(texts["subject"].format(**values), f"{text}\n\n{signature}\n")
