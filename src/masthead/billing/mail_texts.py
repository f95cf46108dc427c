"""The words of the mails with which invoices, receipts and credit notes go (billing, "E-mail").

The words follow from what a document prints, in its language. Amounts are written with the code of
their currency, so that no package is needed for them.
"""

from datetime import date
from typing import NamedTuple

from masthead.billing.printed import Language, PrintedInvoice, Seller
from masthead.billing.references import spaced
from masthead.contract.moments import in_words
from masthead.contract.printable import printable, single_spaced


class MailWords(NamedTuple):
    """The subject of a mail, on one line, and its text."""

    subject: str
    text: str


TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "invoice": "Invoice {number} from {seller}",
        "receipt": "Receipt {number} from {seller}",
        "credit_note": "Credit note {number} from {seller}",
        "hello": "Good day {name},",
        "hello_nobody": "Good day,",
        "attached_invoice": "attached is invoice {number} of {day} for {total}.",
        "attached_receipt": "attached is receipt {number} of {day} for {total}. It is paid.",
        "attached_credit_note": "attached is credit note {number} of {day} for {total}, which "
        "takes back a part or all of invoice {corrects}.",
        "due": "{due} is due on {due_on}.",
        "nothing_due": "Nothing is left to pay.",
        "collected": "We collect {due} on {collected_on}, or a few days later, from your account "
        "that ends in {iban_end}, by the mandate {mandate} (our creditor identifier is "
        "{creditor_id}).",
        "transfer": "Please transfer it to {iban}, with the reference {reference}.",
        "reference": "Please pay with the reference {reference}.",
        "questions": "Questions? Write to {email}.",
    },
    "de": {
        "invoice": "Rechnung {number} von {seller}",
        "receipt": "Quittung {number} von {seller}",
        "credit_note": "Gutschrift {number} von {seller}",
        "hello": "Guten Tag {name},",
        "hello_nobody": "Guten Tag,",
        "attached_invoice": "anbei erhalten Sie die Rechnung {number} vom {day} über {total}.",
        "attached_receipt": "anbei erhalten Sie die Quittung {number} vom {day} über {total}. "
        "Der Betrag ist bezahlt.",
        "attached_credit_note": "anbei erhalten Sie die Gutschrift {number} vom {day} über "
        "{total}, mit der die Rechnung {corrects} ganz oder zum Teil zurückgenommen wird.",
        "due": "{due} sind fällig am {due_on}.",
        "nothing_due": "Es ist nichts mehr zu zahlen.",
        "collected": "Wir ziehen {due} am {collected_on} oder wenige Tage danach von Ihrem Konto "
        "ein, das auf {iban_end} endet, mit dem Mandat {mandate} (unsere "
        "Gläubiger-Identifikationsnummer ist {creditor_id}).",
        "transfer": "Bitte überweisen Sie auf {iban} mit dem Verwendungszweck {reference}.",
        "reference": "Bitte zahlen Sie mit dem Verwendungszweck {reference}.",
        "questions": "Bei Fragen schreiben Sie an {email}.",
    },
}
"""The sentences by language; ``billing.reminder_mails`` takes some of them too."""


def words_of(printed: PrintedInvoice) -> MailWords:
    """Return the words of the mail with an invoice, a receipt or a credit note.

    The subject has one line, whatever names the document prints.
    """
    texts = TEXTS[printed.language]
    seller = printed.seller
    values = {
        "number": one_line(printed.number),
        "seller": one_line(seller.name),
        "name": one_line(printed.payer.name or printed.payer.company),
        "day": day_of(printed.issued_on, printed.language),
        "total": amount_of(printed.total, printed.currency, printed.language),
        "due": amount_of(printed.due, printed.currency, printed.language),
        "due_on": day_of(printed.due_on, printed.language) if printed.due_on else "",
        "corrects": one_line(printed.corrects),
        "iban": spaced(seller.iban.replace(" ", "")),
        "reference": spaced(printed.payment_reference),
        "email": one_line(seller.email),
    } | _collected(printed)
    said = [f"attached_{printed.kind}"]
    if printed.kind == "invoice":
        said += _how_to_pay(printed)
    lines = [texts["hello" if values["name"] else "hello_nobody"], ""]
    lines += [texts[each] for each in said]
    if values["email"]:
        lines += ["", texts["questions"]]
    text = "\n".join(line.format(**values) for line in lines)
    return MailWords(texts[printed.kind].format(**values), f"{text}\n\n{signature_of(seller)}\n")


def _collected(printed: PrintedInvoice) -> dict[str, str]:
    debit = printed.direct_debit
    if debit is None:
        return {}
    return {
        "collected_on": day_of(debit.collected_on, printed.language),
        "mandate": one_line(debit.mandate),
        "iban_end": one_line(debit.iban_end),
        "creditor_id": one_line(debit.creditor_id),
    }


def _how_to_pay(printed: PrintedInvoice) -> list[str]:
    if not printed.due:
        return ["nothing_due"]
    if printed.direct_debit is not None:
        return ["collected"]
    said = ["due"] if printed.due_on else []
    if printed.payment_reference:
        said.append("transfer" if printed.seller.iban else "reference")
    return said


def signature_of(seller: Seller) -> str:
    """Return the seller as it stands below a mail: the name, the address, the tax number."""
    place = " ".join(filter(None, (seller.postal_code, seller.city)))
    lines = (seller.name, seller.street, place, seller.vat_id or seller.tax_number)
    return "\n".join(one_line(line) for line in lines if line.strip())


def one_line(text: str) -> str:
    """Return text on one line, without characters that control a terminal or a header."""
    return printable(single_spaced(text))


def amount_of(cents: int, currency: str, language: Language) -> str:
    """Return an amount of cents in a language: ``1,234.50 EUR``, ``1.234,50 EUR``."""
    sign = "-" if cents < 0 else ""
    number = f"{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02}"
    if language == "de":
        number = number.translate(str.maketrans(",.", ".,"))
    return f"{number} {currency}"


def day_of(day: str, language: Language) -> str:
    """Return a day ``YYYY-MM-DD`` in a language: ``15 April 2026``, ``15.04.2026``."""
    return f"{date.fromisoformat(day):%d.%m.%Y}" if language == "de" else in_words(day)
