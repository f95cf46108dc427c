"""The words of the mails about the readers' pages: links, and confirmations (billing, "E-mail").

A confirmation says what the reader changed, and what that means. It names what is given of the
values of its kind (:data:`VALUES`), and leaves out the sentences about the others.
"""

import re
from collections.abc import Mapping
from typing import Literal, get_args

from masthead.billing.mail_texts import MailWords, amount_of, day_of, one_line
from masthead.billing.printed import Language
from masthead.contract.moments import is_day

Confirmed = Literal[
    "contact",
    "email",
    "address",
    "subscription_address",
    "temporary_address",
    "temporary_address_ended",
    "pause",
    "resume",
    "cancel",
    "uncancel",
    "renewal_on",
    "renewal_off",
    "order",
    "gift",
    "missing_copy",
    "password",
]
"""What is confirmed."""

Values = Mapping[str, str | int | None]
"""Days are ``YYYY-MM-DD``, ``total`` and ``kept`` whole cents; other values are texts."""

LINK_MINUTES = 30
"""How long a link works."""

_DAYS = {"until", "first", "last", "ended_on", "begins_on", "bills_from"}
_CENTS = {"total", "kept"}
_NAME = re.compile(r"{(\w+)}")

_TEXTS: dict[Language, dict[str, str]] = {
    "en": {
        "hello": "Good day {name},",
        "hello_nobody": "Good day,",
        "sign_in_link": "Sign in to {publisher}",
        "sign_in_link_text": "with this link you sign in to {publisher}:",
        "password_link": "Set a password for {publisher}",
        "password_link_text": "with this link you set a password for {publisher}:",
        "email_link": "Your new email address at {publisher}",
        "email_link_text": "with this link you confirm your new email address at {publisher}:",
        "link": "{url}",
        "link_once": "It works once, within {minutes} minutes, in the browser in which you asked "
        "for it. Give it to nobody.",
        "link_not_you": "You did not ask for it? Then ignore this mail: nothing has changed.",
        "not_you": "That was not you? Write to {contact} at once.",
        "questions": "Questions? Write to {contact}.",
    },
    "de": {
        "hello": "Guten Tag {name},",
        "hello_nobody": "Guten Tag,",
        "sign_in_link": "Anmelden bei {publisher}",
        "sign_in_link_text": "mit diesem Link melden Sie sich bei {publisher} an:",
        "password_link": "Passwort für {publisher} setzen",
        "password_link_text": "mit diesem Link setzen Sie ein Passwort für {publisher}:",
        "email_link": "Ihre neue E-Mail-Adresse bei {publisher}",
        "email_link_text": "mit diesem Link bestätigen Sie Ihre neue E-Mail-Adresse bei "
        "{publisher}:",
        "link": "{url}",
        "link_once": "Er gilt einmal, {minutes} Minuten lang, in dem Browser, in dem Sie ihn "
        "angefordert haben. Geben Sie ihn niemandem.",
        "link_not_you": "Sie haben ihn nicht angefordert? Dann ist nichts zu tun: Es hat sich "
        "nichts geändert.",
        "not_you": "Das waren nicht Sie? Schreiben Sie sofort an {contact}.",
        "questions": "Bei Fragen schreiben Sie an {contact}.",
    },
}
"""The sentences that several mails share, by language."""

_CONFIRMED: dict[Language, dict[Confirmed, tuple[str, ...]]] = {
    "en": {
        "contact": (
            "Your name was changed",
            "we have changed your name. It is now:",
            "{called}",
        ),
        "email": (
            "Your email address was changed",
            "your email address was changed. From now on we write to:",
            "{email}",
        ),
        "address": (
            "Your address was changed",
            "we have changed your address. It is now:",
            "{address}",
            "It holds from {begins_on} on.",
            "Until then, we send to your former address.",
            "Invoices go there from {bills_from} on.",
        ),
        "subscription_address": (
            "The address of your subscription to {publication}",
            "we send {publication} to another address. It is now:",
            "{address}",
            "It holds from {begins_on} on.",
            "Until then, we send to your former address.",
        ),
        "temporary_address": (
            "Another address for {publication}",
            "from {first} to {last}, we send {publication} to this address:",
            "{address}",
        ),
        "temporary_address_ended": (
            "Your other address for {publication} has ended",
            "you ended the other address for {publication} that was noted from {first} to {last}.",
            "It holds until {until}.",
            "All other issues go to your usual address.",
        ),
        "pause": (
            "Your pause of {publication}",
            "your subscription to {publication} pauses from {first} to {last}.",
            "You then receive no issues, and keep them: it now lasts until {until}.",
        ),
        "resume": (
            "Your subscription to {publication} goes on",
            "you ended the pause of {publication} that was noted from {first} on.",
            "Its last day is {last}.",
            "The subscription now lasts until {until}.",
        ),
        "cancel": (
            "Your cancellation of {publication}",
            "we confirm that you cancelled your subscription to {publication} on {first}.",
            "It ended on {ended_on}. It is not renewed.",
            "It ends on {until}.",
            "Until then you receive the issues as before. It is not renewed.",
        ),
        "uncancel": (
            "Your subscription to {publication} goes on",
            "you took the cancellation of your subscription to {publication} back: it goes on.",
        ),
        "renewal_on": (
            "Your subscription to {publication} renews automatically",
            "your subscription to {publication} now renews automatically.",
            "It is renewed by: {bundle}.",
            "It now lasts until {until}.",
            "Before each order we tell you its day and its price.",
            "You agreed with these words: {words}",
            "You can switch it off on your page at any time.",
        ),
        "renewal_off": (
            "Your subscription to {publication} no longer renews automatically",
            "your subscription to {publication} no longer renews automatically.",
            "It ends on {until}.",
        ),
        "order": (
            "Your order: {bundle}",
            "thank you for your order: {bundle}.",
            "The order has the number {number}.",
            "It costs {total}.",
        ),
        "gift": (
            "Your gift: {bundle}",
            "thank you for your gift to {recipient}: {bundle}.",
            "The order has the number {number}.",
            "It costs {total}.",
            "It begins on {begins_on}.",
        ),
        "missing_copy": (
            "A copy of {publication} is on its way",
            "you told us that an issue of {publication} is missing: {issue}.",
            "We send you another copy.",
        ),
        "password": (
            "Your password was set",
            "a new password for your login was set on {first}. All devices were signed out.",
        ),
    },
    "de": {
        "contact": (
            "Ihr Name wurde geändert",
            "wir haben Ihren Namen geändert. Er lautet jetzt:",
            "{called}",
        ),
        "email": (
            "Ihre E-Mail-Adresse wurde geändert",
            "Ihre E-Mail-Adresse wurde geändert. Von nun an schreiben wir an:",
            "{email}",
        ),
        "address": (
            "Ihre Adresse wurde geändert",
            "wir haben Ihre Adresse geändert. Sie lautet jetzt:",
            "{address}",
            "Sie gilt ab dem {begins_on}.",
            "Bis dahin liefern wir an Ihre bisherige Adresse.",
            "Rechnungen gehen ab dem {bills_from} dorthin.",
        ),
        "subscription_address": (
            "Die Adresse Ihres Abonnements {publication}",
            "wir liefern {publication} an eine andere Adresse. Sie lautet jetzt:",
            "{address}",
            "Sie gilt ab dem {begins_on}.",
            "Bis dahin liefern wir an Ihre bisherige Adresse.",
        ),
        "temporary_address": (
            "Eine andere Adresse für {publication}",
            "vom {first} bis zum {last} liefern wir {publication} an diese Adresse:",
            "{address}",
        ),
        "temporary_address_ended": (
            "Ihre andere Adresse für {publication} ist beendet",
            (
                "Sie haben die andere Adresse für {publication} beendet, die vom {first} bis zum "
                "{last} vorgemerkt war."
            ),
            "Sie gilt bis zum {until}.",
            "Alle anderen Ausgaben gehen an Ihre übliche Adresse.",
        ),
        "pause": (
            "Ihre Pause bei {publication}",
            "Ihr Abonnement {publication} pausiert vom {first} bis zum {last}.",
            "Sie erhalten dann keine Ausgaben und verlieren keine: Es läuft nun bis zum {until}.",
        ),
        "resume": (
            "Ihr Abonnement {publication} geht weiter",
            "Sie haben die Pause von {publication} beendet, die ab dem {first} vorgemerkt war.",
            "Sie endet am {last}.",
            "Das Abonnement läuft nun bis zum {until}.",
        ),
        "cancel": (
            "Ihre Kündigung von {publication}",
            "wir bestätigen, dass Sie Ihr Abonnement {publication} am {first} gekündigt haben.",
            "Es hat am {ended_on} geendet. Es wird nicht verlängert.",
            "Es endet am {until}.",
            "Bis dahin erhalten Sie die Ausgaben wie bisher. Es wird nicht verlängert.",
        ),
        "uncancel": (
            "Ihr Abonnement {publication} geht weiter",
            (
                "Sie haben die Kündigung Ihres Abonnements {publication} zurückgenommen: Es geht "
                "weiter."
            ),
        ),
        "renewal_on": (
            "Ihr Abonnement {publication} verlängert sich automatisch",
            "Ihr Abonnement {publication} verlängert sich von nun an automatisch.",
            "Verlängert wird es durch: {bundle}.",
            "Es läuft nun bis zum {until}.",
            "Vor jeder Bestellung nennen wir Ihnen ihren Tag und ihren Preis.",
            "Zugestimmt haben Sie mit diesen Worten: {words}",
            "Sie können das auf Ihrer Seite jederzeit beenden.",
        ),
        "renewal_off": (
            "Ihr Abonnement {publication} verlängert sich nicht mehr automatisch",
            "Ihr Abonnement {publication} verlängert sich nicht mehr automatisch.",
            "Es endet am {until}.",
        ),
        "order": (
            "Ihre Bestellung: {bundle}",
            "vielen Dank für Ihre Bestellung: {bundle}.",
            "Die Bestellung hat die Nummer {number}.",
            "Sie kostet {total}.",
        ),
        "gift": (
            "Ihr Geschenk: {bundle}",
            "vielen Dank für Ihr Geschenk an {recipient}: {bundle}.",
            "Die Bestellung hat die Nummer {number}.",
            "Es kostet {total}.",
            "Es beginnt am {begins_on}.",
        ),
        "missing_copy": (
            "Ein Exemplar von {publication} ist unterwegs",
            "Sie haben gemeldet, dass eine Ausgabe von {publication} fehlt: {issue}.",
            "Wir senden Ihnen ein anderes Exemplar.",
        ),
        "password": (
            "Ihr Passwort wurde gesetzt",
            (
                "am {first} wurde ein neues Passwort für Ihre Anmeldung gesetzt. Alle Geräte "
                "wurden abgemeldet."
            ),
        ),
    },
}
"""The subject of each confirmation, and its sentences."""

_NEEDS = {"Until then, we send to your former address.": "begins_on"}
_NEEDS |= {"Bis dahin liefern wir an Ihre bisherige Adresse.": "begins_on"}
_NEEDS |= {"Until then you receive the issues as before. It is not renewed.": "until"}
_NEEDS |= {"Bis dahin erhalten Sie die Ausgaben wie bisher. Es wird nicht verlängert.": "until"}
"""The values without which a sentence that names none says nothing."""

VALUES: dict[Confirmed, tuple[str, ...]] = {
    kind: tuple(dict.fromkeys(name for each in texts for name in _NAME.findall(each)))
    for kind, texts in _CONFIRMED["en"].items()
}
"""The values that a confirmation of each kind can name."""


def language_of(text: str) -> Language:
    """Return the language of a mail's text, by its first word."""
    languages: tuple[Language, ...] = get_args(Language)
    word = text.partition(" ")[0]
    return next((each for each in languages if _TEXTS[each]["hello"].startswith(f"{word} ")), "en")


def words_of_link(
    kind: Literal["sign_in_link", "password_link", "email_link"],
    language: Language,
    *,
    publisher: str,
    name: str,
    url: str,
) -> MailWords:
    """Return the words of the mail with a link; ``name`` is that of the reader."""
    values = {"publisher": one_line(publisher), "name": one_line(name)}
    values |= {"url": one_line(url), "minutes": str(LINK_MINUTES)}
    sentences = [f"{kind}_text", "", "link", "", "link_once", "link_not_you"]
    return _written(_TEXTS[language][kind], _named(language, sentences), language, values)


def words_of_confirmation(
    kind: Confirmed,
    language: Language,
    given: Values,
    *,
    publisher: str,
    name: str,
    contact: str,
    currency: str,
) -> MailWords:
    """Return the words of the mail that confirms what a reader did; the subject has one line.

    ``contact`` is whom the reader asks, "" for nobody.
    """
    values = {key: _value(key, given.get(key), language, currency) for key in VALUES[kind]}
    subject, *said = _CONFIRMED[language][kind]
    said = [each for each in said if _holds(each, values)]
    values |= {"publisher": one_line(publisher), "name": one_line(name)}
    values["contact"] = one_line(contact)
    if contact:
        said += ["", *_named(language, ["not_you", "questions"])]
    return _written(subject, said, language, values)


def _named(language: Language, names: list[str]) -> list[str]:
    return [_TEXTS[language][each] if each else "" for each in names]


def _holds(sentence: str, values: Mapping[str, str]) -> bool:
    needed = {*_NAME.findall(sentence), *filter(None, [_NEEDS.get(sentence)])}
    return all(values.get(each) for each in needed)


def _value(key: str, value: str | int | None, language: Language, currency: str) -> str:
    if value is None or value == "":
        return ""
    if key in _CENTS:
        return amount_of(int(value), currency, language)
    if key in _DAYS or (key == "issue" and is_day(str(value))):
        return day_of(str(value), language)
    if key == "address":
        return "\n".join(one_line(line) for line in str(value).splitlines() if line.strip())
    return one_line(str(value))


def _written(
    subject: str, said: list[str], language: Language, values: Mapping[str, str]
) -> MailWords:
    hello = _TEXTS[language]["hello" if values["name"] else "hello_nobody"]
    text = "\n".join(line.format(**values) for line in [hello, "", *said])
    title = one_line(subject.format(**values))
    return MailWords(title, f"{text}\n\n{values['publisher']}\n")
