"""A reader's subscriptions, gifts and documents in the words of the pages."""

from collections.abc import Mapping
from typing import NamedTuple

from masthead.books.reader_documents import Letter
from masthead.books.reader_home import (
    Address,
    Document,
    Gift,
    Home,
    Issue,
    Next,
    Owed,
    SentLetter,
    Subscription,
)
from masthead.books.reader_requests import Request
from masthead.circulation.requalifying import Free
from masthead.readers.issue_words import issue_in_words, issue_title
from masthead.readers.words import Words
from masthead.web.words import marked

Link = tuple[str, str]
"""What a reader can do, and the path of its page in the site."""

STATES: Mapping[str, tuple[str, str]] = {
    "begins": (marked("begins soon"), ""),
    "active": (marked("active"), "good"),
    "paused": (marked("paused"), "warn"),
    "waits": (marked("waits for payment"), "warn"),
    "cancelled": (marked("cancelled"), "warn"),
    "ended": (marked("ended"), ""),
}
"""How each state of a subscription is called, and the kind of its badge."""

TYPES: Mapping[str, str] = {
    "Print": marked("print"),
    "Digital": marked("digital"),
    "Both": marked("print and digital"),
}
KINDS: Mapping[str, str] = {
    "invoice": marked("Invoice %(number)s"),
    "receipt": marked("Receipt %(number)s"),
    "credit_note": marked("Credit note %(number)s"),
}

SENT: Mapping[str, str] = {
    "welcome": marked("Welcome to %(publication)s"),
    "cancellation": marked("Confirmation of your cancellation of %(publication)s"),
    "renewal": marked("Letter about renewing %(publication)s"),
    "announcement": marked("Announcement: %(publication)s is renewed automatically"),
}
"""How each kind of letter that was sent is called."""

ASKED: Mapping[str, str] = {
    "missing_copy": marked("A copy is missing: %(issue)s"),
    "erasure": marked("Erase my data"),
    "message": marked("Your message"),
}
"""How each kind of request to the desk is called."""


class IssueShown(NamedTuple):
    """An issue: its name, its day, and the path of the page on which it is reported as missing.

    ``day`` is None if the name says it.
    """

    title: str
    day: str | None
    missing_path: str = ""


class Shown(NamedTuple):
    """A subscription in words.

    ``notes`` are what the reader should know now; ``facts`` are pairs of a label and a text.
    """

    title: str
    path: str
    state: str
    mood: str
    sentence: str
    notes: list[str]
    facts: list[tuple[str, str]]
    links: list[Link]
    address_lines: list[str]
    coming: list[IssueShown]
    received: list[IssueShown]


class GiftShown(NamedTuple):
    """A gift in words; ``path`` is that of its order."""

    title: str
    state: str
    mood: str
    sentence: str
    path: str


class DocumentShown(NamedTuple):
    """A document: its title, the path of its PDF, its day, and its amount; None for a letter."""

    title: str
    path: str
    day: str
    cents: int | None
    state: str


class RequestShown(NamedTuple):
    """A request to the desk in words; ``mood`` is the kind of the badge with its ``state``."""

    title: str
    day: str
    text: str
    state: str
    mood: str


class HomeShown(NamedTuple):
    """The first page of a reader in words."""

    name: str
    subscriptions: list[Shown]
    given: list[GiftShown]
    offers: list[Link]
    documents: list[DocumentShown]


def home_in_words(home: Home, words: Words) -> HomeShown:
    """Return the first page of a reader in words."""
    person = home.reader
    offered = home.offered
    offers = [
        (words.gettext("Subscribe"), "buy", offered.buy),
        (words.gettext("Give a subscription"), "gift", offered.gift),
    ]
    return HomeShown(
        f"{person.first_name or ''} {person.last_name or ''}".strip(),
        [subscription_in_words(home, each, words) for each in home.subscriptions],
        [_gift(each, home.currency, words) for each in home.gifts],
        [(title, path) for title, path, is_offered in offers if is_offered],
        [_document(each, home, words) for each in home.documents],
    )


def letter_in_words(letter: Letter, words: Words) -> DocumentShown:
    """Return a letter of a reader in words."""
    title = words.gettext("Reminder of invoice %(number)s", number=letter.number)
    path = f"documents/reminders/{letter.reminder_id}.pdf"
    return DocumentShown(title, path, letter.written_on, None, "")


def sent_in_words(letter: SentLetter, words: Words) -> DocumentShown:
    """Return a letter that was sent to a reader in words; without a path if it is not made again.

    Several letters of one kind differ by their days.
    """
    title = words.gettext(SENT[letter.kind], publication=letter.publication or "")
    folder = "letters" if letter.kind in {"welcome", "cancellation"} else f"{letter.kind}s"
    effort = f"?effort={letter.effort}" if letter.kind == "renewal" else ""
    path = f"documents/{folder}/{letter.key}.pdf{effort}" if letter.is_current else ""
    return DocumentShown(title, path, letter.written_on, None, "")


def request_in_words(asked: Request, words: Words) -> RequestShown:
    """Return a request to the desk in words: whether it waits, or when it was answered."""
    if asked.answered_at:
        state = words.gettext("answered on %(day)s", day=words.day(asked.answered_at))
    else:
        state = words.gettext("waits for an answer")
    issue, _ = issue_title(asked.issue, asked.issue_day, words)
    title = words.gettext(ASKED[asked.kind], issue=issue)
    mood = "good" if asked.answered_at else "warn"
    return RequestShown(title.strip(), asked.made_at, asked.text or "", state, mood)


def subscription_in_words(home: Home, each: Subscription, words: Words) -> Shown:
    """Return a subscription in words."""
    title, mood = STATES[each.state]
    return Shown(
        title_of(each, words),
        f"subscriptions/{each.subscription_id}",
        words.gettext(title),
        mood,
        _what(each, words),
        _notes(home, each, words),
        _facts(home, each, words),
        links_of(each, words),
        address_lines(each.address, words),
        [_issue(issue, words) for issue in each.coming],
        [_received(each, issue, words) for issue in each.received],
    )


def title_of(each: Subscription, words: Words) -> str:
    """Return what a subscription is called: its publication."""
    return each.publication or words.gettext("Subscription")


def address_lines(address: Address | None, words: Words) -> list[str]:
    """Return the lines of an address in the form of its country; none without an address."""
    return [] if address is None else words.address_lines(address.fields)


def links_of(each: Subscription, words: Words) -> list[Link]:
    """Return what the reader can do with a subscription now."""
    may, path = each.may, f"subscriptions/{each.subscription_id}"
    answer = words.gettext("Answer the questions again")
    if each.qualified and each.qualified.is_served:
        answer = words.gettext("Confirm that you still want it")
    links = [
        (answer, "qualify", may.qualify),
        (address_title(each, words), "address", may.address or may.temporary_address),
        (words.gettext("Pause"), "pause", may.pause),
        (words.gettext("End the pause"), "resume", may.resume),
        (words.gettext("Renew"), "renew", may.renew),
        (words.gettext("Automatic renewal"), "renewal", may.renew_on or may.renew_off),
        (words.gettext("A copy is missing"), "missing", may.missing_copy),
        (words.gettext("Cancel"), "cancel", may.cancel != "no"),
        (words.gettext("Take the cancellation back"), "uncancel", may.uncancel),
    ]
    return [(title, f"{path}/{page}") for title, page, is_possible in links if is_possible]


def address_title(each: Subscription, words: Words) -> str:
    """Return what the page with the address of a subscription is called."""
    if each.address is None and each.may.address:
        return words.gettext("Enter the address")
    return words.gettext("Change the address")


def _what(each: Subscription, words: Words) -> str:
    """Return what the reader has, how many, and until when, as a sentence."""
    kind = TYPES.get(each.type)
    copies = words.ngettext(
        "%(num)s copy, %(kind)s",
        "%(num)s copies, %(kind)s",
        each.copies,
        kind=words.gettext(kind) if kind else each.type,
    )
    goes_on = each.issues_left is None and each.cancelled is None
    if each.qualified and each.qualified.is_served and goes_on:
        return words.gettext(
            "%(copies)s, free of charge until %(day)s.",
            copies=copies,
            day=words.day(each.qualified.until),
        )
    if each.state == "ended":
        return words.gettext("%(copies)s. No issues are left.", copies=copies)
    if each.issues_left is None:
        return _unlimited(each, copies, words)
    left = words.ngettext("%(num)s issue left", "%(num)s issues left", each.issues_left)
    if each.until:
        return words.gettext(
            "%(copies)s. %(left)s, until %(day)s.",
            copies=copies,
            left=left,
            day=words.day(each.until),
        )
    return words.gettext("%(copies)s. %(left)s.", copies=copies, left=left)


def _unlimited(each: Subscription, copies: str, words: Words) -> str:
    ends_on = each.cancelled and each.cancelled.ends_on
    if ends_on:
        return words.gettext("%(copies)s, until %(day)s.", copies=copies, day=words.day(ends_on))
    if each.cancelled:
        return f"{copies}."
    return words.gettext("%(copies)s, without an end.", copies=copies)


def _notes(home: Home, each: Subscription, words: Words) -> list[str]:
    notes = []
    if each.is_gift:
        notes.append(words.gettext("This subscription is a gift to you."))
    if each.may.qualify and each.qualified:
        notes += _to_confirm(each.qualified, words)
    if each.owed:
        notes.append(_owed(each.owed, home, words))
    if ended := each.cancelled:
        notes.append(_cancelled(each, words))
        if ended.ended_on is None and each.may.uncancel:
            notes.append(words.gettext("You can take the cancellation back."))
    return notes


def _to_confirm(free: Free, words: Words) -> list[str]:
    """Return what a reader of a free title should do now; an empty list for nothing."""
    day = words.day(free.until)
    if not free.is_to_confirm:
        return []
    if free.is_served:
        message = words.gettext(
            "It is free of charge until %(day)s: confirm that you still want it.", day=day
        )
    else:
        message = words.gettext(
            "It was free of charge until %(day)s. Answer a few questions to receive it again.",
            day=day,
        )
    return [message]


def _owed(owed: Owed, home: Home, words: Words) -> str:
    amount, number = words.money(owed.cents, home.currency), owed.number
    if number is None:
        return words.gettext("%(amount)s are not paid yet.", amount=amount)
    if owed.is_collected:
        return words.gettext(
            "We collect %(amount)s of invoice %(number)s from your bank account.",
            amount=amount,
            number=number,
        )
    if owed.due_on is None:
        return words.gettext(
            "%(amount)s of invoice %(number)s are not paid yet.", amount=amount, number=number
        )
    return words.gettext(
        "%(amount)s of invoice %(number)s are to be paid until %(day)s.",
        amount=amount,
        number=number,
        day=words.day(owed.due_on),
    )


def _cancelled(each: Subscription, words: Words) -> str:
    ended = each.cancelled
    assert ended
    made = words.day(ended.made_on)
    if ended.ended_on:
        return words.gettext(
            "It was cancelled on %(made)s and ended on %(day)s.",
            made=made,
            day=words.day(ended.ended_on),
        )
    if ended.ends_on:
        title, day = issue_title(ended.ends_with, ended.ends_on, words)
        if day is None:
            return words.gettext(
                "It was cancelled on %(made)s and ends after the issue of %(day)s.",
                made=made,
                day=title,
            )
        return words.gettext(
            "It was cancelled on %(made)s and ends after the issue %(issue)s of %(day)s.",
            made=made,
            issue=title,
            day=words.day(day),
        )
    if each.issues_left:
        return words.ngettext(
            "It was cancelled on %(made)s and ends after %(num)s more issue.",
            "It was cancelled on %(made)s and ends after %(num)s more issues.",
            each.issues_left,
            made=made,
        )
    return words.gettext("It was cancelled on %(made)s.", made=made)


def _facts(home: Home, each: Subscription, words: Words) -> list[tuple[str, str]]:
    facts = []
    if each.begins_on and each.state == "begins":
        facts.append((words.gettext("Begins"), words.day(each.begins_on)))
    if each.next:
        facts.append((words.gettext("Next issue"), issue_in_words(each.next, words)))
    pays = not each.is_gift and each.qualified is None
    # An open invoice may be that of a term whose issues came before they were paid.
    if pays and not home.owed and each.state not in {"ended", "waits"}:
        facts.append((words.gettext("Payment"), words.gettext("all is paid")))
    facts += [
        (words.gettext("Paused"), span_in_words(pause.first, pause.last, words))
        for pause in each.pauses
    ]
    for other in each.temporary:
        span = span_in_words(other.first, other.last, words)
        facts.append((words.gettext("Temporary address"), f"{span}: {other.line}"))
    if each.renewal:
        facts.append((words.gettext("Automatic renewal"), _renewal(home, each, words)))
    elif each.may.renew_on:
        facts.append((words.gettext("Automatic renewal"), words.gettext("off")))
    return facts


def _renewal(home: Home, each: Subscription, words: Words) -> str:
    renewal = each.renewal
    assert renewal
    if renewal.renews_on and renewal.cents is not None:
        return words.gettext(
            "on; the next order is on %(day)s: %(bundle)s, %(amount)s",
            day=words.day(renewal.renews_on),
            bundle=renewal.bundle,
            amount=words.money(renewal.cents, home.currency),
        )
    return words.gettext("on; it orders %(bundle)s", bundle=renewal.bundle)


def span_in_words(first: str, last: str | None, words: Words) -> str:
    """Return the days of a span in words; one without a last day has no end."""
    if last is None:
        return words.gettext("from %(first)s on", first=words.day(first))
    return words.gettext("from %(first)s to %(last)s", first=words.day(first), last=words.day(last))


def _issue(issue: Next, words: Words) -> IssueShown:
    title, day = issue_title(issue.name, issue.day, words)
    if issue.is_paused:
        title = words.gettext("%(issue)s: does not come (pause)", issue=title)
    return IssueShown(title, day)


def _received(each: Subscription, issue: Issue, words: Words) -> IssueShown:
    title, day = issue_title(issue.name, issue.day, words)
    path = f"subscriptions/{each.subscription_id}/missing?issue={issue.issue_id}"
    return IssueShown(title, day, path if each.may.missing_copy else "")


def _gift(gift: Gift, currency: str, words: Words) -> GiftShown:
    title = words.gettext("%(bundle)s for %(name)s", bundle=gift.bundle, name=gift.recipient)
    sentence = words.gettext(
        "Ordered on %(day)s: %(amount)s.",
        day=words.day(gift.ordered_on),
        amount=words.money(gift.cents, currency),
    )
    path = f"order/{gift.order_id}"
    if gift.has_ended:
        return GiftShown(title, words.gettext("ended"), "", sentence, path)
    if gift.owed:
        return GiftShown(title, words.gettext("not paid yet"), "warn", sentence, path)
    return GiftShown(title, words.gettext("paid"), "good", sentence, path)


def _document(document: Document, home: Home, words: Words) -> DocumentShown:
    title = KINDS.get(document.kind, "%(number)s")
    state = ""
    if document.open_cents > 0:
        amount = words.money(document.open_cents, home.currency)
        state = words.gettext("%(amount)s open", amount=amount)
    return DocumentShown(
        words.gettext(title, number=document.number),
        f"documents/{document.invoice_id}.pdf" if home.offered.documents else "",
        document.issued_on,
        document.cents,
        state,
    )
