"""The timeline of a reader's page: what happened, the newest first."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from masthead.books.reader import Events, Note, OrderRow, Reader
from masthead.circulation.amounts import in_currency, stored_cents
from masthead.console.templating import day_in_words, days_in_words, who
from masthead.contract.moments import second_in
from masthead.contract.printable import counted

KINDS = {
    "order": "Orders",
    "payment": "Payments",
    "delivery": "Deliveries",
    "letter": "Letters",
    "complaint": "Complaints",
    "note": "Notes",
    "change": "Changes",
}
"""The kinds of entries, and their names as filters; refunds are payments."""

_WRONG = {
    "lost": "was lost",
    "damaged": "was damaged",
    "late": "came late",
    "other": "was complained about",
}
_ANSWERED = {
    "extended": "The subscription got a free issue.",
    "sent_again": "It is sent again.",
    "nothing": "Nothing was done.",
}
_SHOWN_ELSEWHERE = re.compile(
    r"^note \d+ of subscriber|\(complaint \d+\)|^order \d+ of subscriber|^order \d+ was paid|"
    r"again, with the next file"
)
_ORDER = re.compile(r"^order (\d+) (of subscriber|was paid)")
_ERASED = re.compile(r"^(erased subscriber \d+): .*")
_CHANGED = re.compile(r": changed [a-z_, ]+")
_READER = re.compile(r"reader (\d+)")
_TERM = re.compile(r" \(term \d+[^)]*\)|; terms? [\d, ]+")
_NUMBERED = re.compile(
    r"\b(subscriber|subscription|order|address|issue|item)(?:s (\d+(?:, \d+)*)| (\d+))"
    r"( of order \d+)?"
)


class Entry(NamedTuple):
    """An entry: ``at`` in words, ``when`` to sort by; ``href`` is '' if nothing more is shown."""

    when: str
    kind: str
    title: str
    detail: str = ""
    by: str = ""
    href: str = ""

    @property
    def at(self) -> str:
        """The day, and the time if it is known."""
        time = self.when[11:16]
        return f"{day_in_words(self.when)}{f', {time}' if time else ''}"


def timeline(reader: Reader, currency: str, may_correct: Callable[[Note], bool]) -> list[Entry]:
    """Return all entries of a reader's events, the newest first.

    ``may_correct`` says whether the operator may correct a note.
    """
    names = {
        each.line.subscription_id: each.line.publication or "a publication"
        for each in reader.subscriptions
    }
    events = reader.events
    found = [
        *_orders(reader, currency),
        *_deliveries(reader, names),
        *_letters(reader, names),
        *_said(events, names, may_correct),
        *_again(events, names),
        *_spans(reader, names),
        *_changes(reader, names),
    ]
    return sorted((each for each in found if each.when), key=lambda each: each.when, reverse=True)


def _orders(reader: Reader, currency: str) -> Iterator[Entry]:
    events = reader.events
    taken, booked = _by_order(reader, "of subscriber"), _by_order(reader, "was paid")
    for order in events.orders:
        items = events.items.get(order.order_id, [])
        href = f"/orders/{order.order_id}"
        amount = in_currency(stored_cents(order.total) if order.total else 0, currency)
        what = ", ".join(each.bundle or each.product or "an item" for each in items)
        number = f"Number {order.reference}." if order.reference else ""
        title = f"{'Gift' if order.is_gift else 'Order'}: {what or 'nothing'}, {amount}"
        author = taken.get(order.order_id, "")
        yield Entry(order.ordered or "", "order", title, number, author, href)
        if order.paid_on:
            how = f" by {order.payment_type}" if order.payment_type else ""
            title = f"Paid {amount}{how}"
            detail = f"For the order of {day_in_words(order.ordered)}: {what}."
            if order.payment_reference:
                detail = f"{detail} Reference: {order.payment_reference}"
            author = booked.get(order.order_id, "")
            yield Entry(order.paid_on, "payment", title, detail, author, href)
        if order.disputed_on:
            title = f"The order of {day_in_words(order.ordered)} was disputed"
            yield Entry(order.disputed_on, "refund", title, order.dispute or "", "", href)
        if order.dispute_ended_on:
            result = "rejected" if order.dispute_result == "rejected" else "upheld"
            yield Entry(order.dispute_ended_on, "refund", f"The dispute was {result}", "", "", href)
        for item in items:
            if item.refunded and item.refund_date:
                title = f"Given back: {in_currency(item.refunded, currency)}"
                detail = f"For {item.bundle or item.product or 'an item'}."
                yield Entry(item.refund_date, "refund", title, detail, "", href)


def _by_order(reader: Reader, what: str) -> dict[int, str]:
    """Return who did this with which order, as the log says."""
    changes = reader.events.changes
    named = ((_ORDER.match(each.summary), _author(each.user_name, reader)) for each in changes)
    return {int(found[1]): name for found, name in named if found and found[2] == what}


def _author(user_name: str, reader: Reader) -> str:
    """Return who did something: what a reader does is logged with the reader's id."""
    found = _READER.fullmatch(user_name)
    if found is None:
        return who(user_name)
    return _reader(int(found[1]), reader)


def _reader(key: int, reader: Reader) -> str:
    return "the reader" if key == reader.key else "another reader"


def _deliveries(reader: Reader, names: Mapping[int, str]) -> Iterator[Entry]:
    for each in reader.events.deliveries:
        place = reader.places.get(each.address_id or -1)
        copies = "" if each.copies is None else counted(each.copies, "copy", "copies")
        sent = " to ".join(part for part in (copies, place.line if place else "") if part)
        notes = [
            sent,
            "after the subscription ran out" if each.is_grace else "",
            "sent later, with a gap list" if each.is_gap else "",
        ]
        yield Entry(
            each.day or "",
            "delivery",
            f"{names[each.subscription_id]}, {each.name or 'an issue'}",
            "; ".join(part for part in notes if part),
        )


def _letters(reader: Reader, names: Mapping[int, str]) -> Iterator[Entry]:
    for served in reader.subscriptions:
        for letter in served.letters:
            title = f"Renewal letter {letter.effort} for {names[letter.subscription_id]}"
            yield Entry(letter.sent_on, "letter", title)


def _said(
    events: Events, names: Mapping[int, str], may_correct: Callable[[Note], bool]
) -> Iterator[Entry]:
    for note in events.notes:
        title, href = "Note", ""
        if may_correct(note):
            title, href = "Note: correct it", f"/notes/{note.note_id}/edit"
        yield Entry(note.noted_at or "", "note", title, note.text or "", note.author or "", href)
    for each in events.complaints:
        issue = f"{names.get(each.subscription_id, '')}, {each.issue or 'an issue'}"
        yield Entry(
            each.made_at or "",
            "complaint",
            f"{issue} {_WRONG[each.kind]}",
            " ".join(part for part in (_ANSWERED[each.answer], each.text) if part),
            each.author or "",
        )


def _again(events: Events, names: Mapping[int, str]) -> Iterator[Entry]:
    for each in events.replacements:
        sent = "waits for the next file of replacements"
        if each.written_at:
            sent = f"in the file of {day_in_words(each.written_at)}"
        title = f"Sent again: {names[each.subscription_id]}, {each.issue}"
        yield Entry(
            each.asked_on, "delivery", title, f"{counted(each.copies, 'copy', 'copies')}, {sent}"
        )


def _spans(reader: Reader, names: Mapping[int, str]) -> Iterator[Entry]:
    """Yield suspensions, temporary addresses and cancellations of which the log says nothing."""
    logged = [each.summary for each in reader.events.changes]

    def is_logged(subscription_id: int, *words: str) -> bool:
        named = re.compile(rf"\bsubscription {subscription_id}\b")
        return any(named.search(each) and all(word in each for word in words) for each in logged)

    for served in reader.subscriptions:
        key = served.line.subscription_id
        for span in served.suspensions:
            if span.first <= reader.today and not is_logged(key, "suspended", span.first):
                last = f"to {day_in_words(span.last)}" if span.last else "until it is resumed"
                yield Entry(span.first, "change", f"{names[key]} is suspended, {last}")
        for span, postal in served.temporary:
            if span.first <= reader.today and not is_logged(key, "goes to", span.first):
                last = day_in_words(span.last)
                title = f"{names[key]} goes to another address, to {last}"
                yield Entry(span.first, "change", title, postal.line)
        if served.ended and not is_logged(key, "is cancelled"):
            reason = served.ended.reason or ""
            yield Entry(served.ended.made_on, "change", f"{names[key]} was cancelled", reason)


def _changes(reader: Reader, names: Mapping[int, str]) -> Iterator[Entry]:
    for each in reader.events.changes:
        if not _SHOWN_ELSEWHERE.search(each.summary):
            title = _in_names(each.summary, reader, names)
            at = second_in(reader.time_zone, each.at)
            yield Entry(at, "change", title, "", _author(each.user_name, reader))


def _in_names(summary: str, reader: Reader, names: Mapping[int, str]) -> str:
    """Return an entry of the log without ids, with its days in words."""
    orders = {order.order_id: order for order in reader.events.orders}

    def named(found: re.Match[str]) -> str:
        keys = map(int, (found[2] or found[3]).split(", "))
        of_order = found[4] is not None
        return ", ".join(name(found[1], key, of_order=of_order) for key in keys)

    def name(word: str, key: int, *, of_order: bool) -> str:
        if word == "subscriber":
            return _reader(key, reader)
        if word == "subscription":
            return names.get(key, "another subscription")
        if word == "order":
            return _named(orders.get(key))
        if word == "address" and key in reader.places:
            return reader.places[key].line
        if word == "item":
            return "an item of an order" if of_order else "an item"
        return f"an {word}" if word == "address" else f"the {word}"

    whole = _ERASED.sub(r"\1", _TERM.sub("", summary))
    whole = _CHANGED.sub(lambda found: found[0].replace("_", " "), whole)
    said = days_in_words(_NUMBERED.sub(named, whole))
    return f"{said[:1].upper()}{said[1:]}"


def _named(order: OrderRow | None) -> str:
    if order is None:
        return "another order"
    return f"the order of {day_in_words(order.ordered)}" if order.ordered else "an order"
