"""The words of the mail with which a reminder goes (billing, "Reminders", "E-mail")."""

from masthead.billing.mail_texts import (
    TEXTS,
    MailWords,
    amount_of,
    day_of,
    one_line,
    signature_of,
)
from masthead.billing.printed import Language
from masthead.billing.printed_reminders import PrintedReminder
from masthead.billing.references import spaced

_TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "first": "Reminder from {seller}",
        "later": "Reminder no. {level} from {seller}",
        "attached": "attached is a reminder of what is open: {due}. Please pay by {pay_by}.",
        "attached_stopped": "attached is our letter about what was not paid.",
        "stopped": "What is not paid has ended: we send no more issues, and its price is taken "
        "off.",
        "each": "  {number} of {day}: {open}",
        "read_until": "Payments that reached us until {read_until} are taken into account.",
    },
    "de": {
        "first": "Zahlungserinnerung von {seller}",
        "later": "Mahnung von {seller}",
        "attached": "anbei erhalten Sie eine Erinnerung an das, was offen ist: {due}. Bitte zahlen "
        "Sie bis zum {pay_by}.",
        "attached_stopped": "anbei erhalten Sie unser Schreiben über das, was nicht bezahlt wurde.",
        "stopped": "Was nicht bezahlt ist, haben wir beendet: Wir liefern keine weiteren "
        "Ausgaben, und der Preis ist abgezogen.",
        "each": "  {number} vom {day}: {open}",
        "read_until": "Zahlungen, die bis zum {read_until} eingegangen sind, sind berücksichtigt.",
    },
}


def words_of(printed: PrintedReminder) -> MailWords:
    """Return the words of the mail with a letter of a reminder; the subject has one line."""
    language = printed.language
    texts = TEXTS[language] | _TEXTS[language]
    values = {
        "level": str(printed.level),
        "seller": one_line(printed.seller.name),
        "name": one_line(printed.payer.name or printed.payer.company),
        "due": amount_of(printed.due, printed.currency, language),
        "pay_by": day_of(printed.pay_by, language),
        "iban": spaced(printed.seller.iban.replace(" ", "")),
        "reference": spaced(printed.payment_reference),
        "read_until": day_of(printed.read_until, language) if printed.read_until else "",
        "email": one_line(printed.seller.email),
    }
    lines = [texts["hello" if values["name"] else "hello_nobody"], ""]
    lines += [texts[each] for each in _said(printed)]
    text = "\n".join(line.format(**values) for line in lines)
    text += "\n\n" + "\n".join(
        texts["each"].format(
            number=one_line(each.number),
            day=day_of(each.issued_on, language),
            open=amount_of(each.open, printed.currency, language),
        )
        for each in printed.invoices
    )
    if values["email"]:
        text += "\n\n" + texts["questions"].format(**values)
    subject = texts["first" if printed.level == 1 else "later"].format(**values)
    return MailWords(subject, f"{text}\n\n{signature_of(printed.seller)}\n")


def _said(printed: PrintedReminder) -> list[str]:
    """Return which sentences the mail has, by their names."""
    said = ["attached" if printed.due else "attached_stopped"]
    if printed.then_do == "stop":
        said.append("stopped")
    if printed.due and printed.payment_reference:
        said.append("transfer" if printed.seller.iban else "reference")
    if printed.read_until:
        said.append("read_until")
    return said
