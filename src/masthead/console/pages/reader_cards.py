"""The subscriptions and the money of a reader's page, in the words of a clerk."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from masthead.books.open_items import Billed
from masthead.books.reader import Money, Reader, Served, SpanLine
from masthead.circulation.amounts import in_currency, stored_cents
from masthead.circulation.requalifying import Free
from masthead.console.roles import Action
from masthead.console.templating import day_in_words, issue_and_day
from masthead.contract.printable import counted
from masthead.contract.subscription_types import PRINTED, UNLIMITED, type_in_words

Badge = tuple[str, str]
Link = tuple[str, str]
May = Callable[[Action], bool]

_ENDS_SOON = 3
_NOTHING = "Nothing was paid, and nothing is owed."


class Card(NamedTuple):
    """A subscription: its badges (text and kind), its facts, and what can be done.

    ``links`` are facts whose value leads to a page: label, text and address. ``main`` is the most
    likely action, None if the operator may do none.
    """

    subscription_id: int
    title: str
    badges: list[Badge]
    facts: list[tuple[str, str]]
    links: list[tuple[str, str, str]]
    main: Link | None
    more: list[Link]
    is_over: bool


def cards(reader: Reader, may: May, currency: str, billed: Billed | None = None) -> list[Card]:
    """Return the cards of a reader's subscriptions, those that ended last.

    ``billed`` is None if the account makes no invoices.
    """
    found = [
        _card(reader, served, may, currency, billed) for served in reversed(reader.subscriptions)
    ]
    return sorted(found, key=lambda card: card.is_over)


def money(reader: Reader, currency: str, billed: Billed | None = None) -> list[str]:
    """Return sentences about what a reader paid and owes, and the credit of a payer."""
    said = list(_money(reader.money, reader, currency))
    if billed is None:
        return said
    if billed.credit > 0:
        said.insert(0, f"Has a credit of {in_currency(billed.credit, currency)}.")
    elif billed.credit < 0:
        said.insert(0, f"Owes {in_currency(-billed.credit, currency)} of credit that came back.")
    return [each for each in said if each != _NOTHING or not (billed.credit or billed.invoices)]


def _card(reader: Reader, served: Served, may: May, currency: str, billed: Billed | None) -> Card:
    line, today = served.line, reader.today
    copies = counted(line.copies or 0, "copy", "copies")
    key = line.subscription_id
    suspended = [span for span in served.suspensions if _lasts(span, today)]
    is_free = not served.terms and served.ended is None
    free = reader.free.get(key) if is_free else None  # what is paid comes first
    facts = [
        ("Gets", f"{type_in_words(line.type or 'issues').capitalize()}, {copies} of each issue"),
        ("Ran out" if line.issues == 0 else "Until", "" if free else _until(served)),
        ("Comes next", _next(served, suspended)),
        ("Copies go to", _usual_place(served)),
        *((_span(span), postal.line) for span, postal in served.temporary if _lasts(span, today)),
        ("Bills go to", _bills(served)),
        *(("Suspended", _span(span)) for span in suspended),
        ("Renews automatically", _renewing(served, currency)),
        ("Last letter", _letter(served)),
        ("Began", day_in_words(line.date_created or line.begins_on)),
        ("Last renewed", day_in_words(line.date_last_renewed)),
        ("Cancelled", _cancelled(served)),
    ]
    links = [
        ("Paid by", name or "a reader without a name", f"/subscribers/{payer}")
        for payer, name in served.payers.items()
    ]
    if free is not None:
        links.insert(0, (*_free(free, today), f"/subscribers/{reader.key}/qualifications"))
    actions = _actions(reader, served, suspended, free, may, billed)
    return Card(
        key,
        line.publication or f"Publication {line.publication_id}",
        list(_badges(served, suspended, free, today)),
        [(label, value) for label, value in facts if value],
        links,
        actions[0] if actions else None,
        actions[1:],
        served.is_over or (free is None and _is_long_over(served, today)),
    )


def _is_long_over(served: Served, today: str) -> bool:
    """Whether the subscription ran out more than a year ago."""
    line = served.line
    a_year_ago = f"{int(today[:4]) - 1}{today[4:]}"
    return line.issues == 0 and line.last_day is not None and line.last_day < a_year_ago


def _free(free: Free, today: str) -> tuple[str, str]:
    """Return until when a qualification makes a subscription free, as a label and a value."""
    day = day_in_words(free.until)
    if free.is_served:
        return "Free until", day
    if free.until < today:
        return "Was free until", day
    return "Gets no copies", "by the answers of the reader"


def _usual_place(served: Served) -> str:
    """Return the usual address, unless the next issue goes there or nothing is printed."""
    if served.line.type not in PRINTED:
        return ""
    if served.mailing is None:
        return "no address yet"
    return "" if served.mailing == served.next_to else served.mailing.line


def _lasts(span: SpanLine, today: str) -> bool:
    return span.last is None or span.last >= today


def _span(span: SpanLine) -> str:
    last = day_in_words(span.last) if span.last else "further notice"
    return f"{day_in_words(span.first)} to {last}"


def _until(served: Served) -> str:
    line = served.line
    if served.is_over:
        return ""
    if line.issues == UNLIMITED:
        last = line.last_day
        return f"unlimited, until {day_in_words(last)}" if last else "without an end"
    if not line.issues:
        return day_in_words(line.last_day)
    left = counted(line.issues, "more issue", "more issues")
    return f"{day_in_words(line.last_day)}, {left}" if line.last_day else left


def _next(served: Served, suspended: list[SpanLine]) -> str:
    if served.is_over or not served.line.issues:
        return ""
    if served.is_held:
        return "nothing until the order is paid"
    if served.coming is None:
        still = suspended and not suspended[0].last
        return "nothing until it is resumed" if still else "no issue is planned yet"
    coming, copies = served.coming, counted(served.line.copies or 0, "copy", "copies")
    issue = issue_and_day(coming.name, coming.day)
    if served.line.type not in PRINTED:
        return issue
    return f"{issue}: {copies} to {served.next_to.line if served.next_to else 'no address yet'}"


def _bills(served: Served) -> str:
    if served.billing is None or served.billing == served.mailing:
        return ""
    return served.billing.line


def _letter(served: Served) -> str:
    """Say when the last renewal letter came, and why."""
    if not served.letters:
        return ""
    letter = served.letters[0]
    efforts = max(served.line.efforts, letter.effort)
    why = ""
    if letter.issues_left is not None:
        left = letter.issues_left
        why = f", sent when {counted(left, 'issue was', 'issues were')} left"
        if left < 0:
            why = f", sent {counted(-left, 'issue', 'issues')} after the last one"
    if served.line.last_day and not served.is_over:
        ends = "ends" if served.line.issues else "ended"
        why += f", because the subscription {ends} on {day_in_words(served.line.last_day)}"
    number = f"letter {letter.effort} of {efforts}"
    return f"{day_in_words(letter.sent_on)}: renewal {number}{why}"


def _renewing(served: Served, currency: str) -> str:
    """Say since when and by which bundle it renews, and when and for how much next."""
    found = served.renewing
    if found is None:
        return ""
    said = f"since {day_in_words(found.given_on)}, by {found.bundle or 'its bundle'}"
    if found.renews_on is None or found.cents is None:
        return f"{said}; the next renewal is not announced yet"
    return f"{said}; next on {day_in_words(found.renews_on)}, {in_currency(found.cents, currency)}"


def _cancelled(served: Served) -> str:
    line, ended = served.line, served.ended
    if line.merged_into is not None:
        return "merged into another subscription of the same publication"
    if ended is None:
        return day_in_words(line.cancelled_on)
    has_ended = ended.ended_on is not None
    if ended.at_end:
        when = "ended, its issues used up" if has_ended else "ends when its issues are used up"
    elif ended.issue_day:
        ends = "ended" if has_ended else "ends"
        when = f"{ends} after {issue_and_day(ended.issue, ended.issue_day)}"
    else:
        when = f"ended on {day_in_words(ended.ended_on)}"
    refunded = "what was left was" if has_ended else "what is left then is"
    money = f", {refunded} refunded" if ended.is_refund else ""
    why = f": {ended.reason}" if ended.reason else ""
    return f"on {day_in_words(ended.made_on)}, {when}{money}{why}"


def _badges(
    served: Served, suspended: list[SpanLine], free: Free | None, today: str
) -> Iterator[Badge]:
    line = served.line
    if line.merged_into is not None:
        yield "merged", ""
    elif line.cancelled_on:
        yield "cancelled", "bad"
    elif free is not None:
        yield _badge_of(free, today)
    elif not line.issues:
        yield "ran out", "bad"
    elif served.ended:
        yield "cancelled, still coming", "warn"
    elif served.is_held:
        yield "held, not paid", "bad"
    elif line.issues == UNLIMITED or line.issues > _ENDS_SOON:
        yield "active", "good"
    else:
        yield "ends soon", "warn"
    if served.unpaid is not None and not served.is_held and not served.is_over:
        yield "not paid", "warn"
    for span in suspended:
        yield "suspended" if span.first <= today else "will be suspended", "warn"


def _badge_of(free: Free, today: str) -> Badge:
    if free.is_served:
        return ("free, ends soon", "warn") if free.is_to_confirm else ("free", "good")
    return ("lapsed", "bad") if free.until < today else ("gets no copies", "warn")


def _actions(
    reader: Reader,
    served: Served,
    suspended: list[SpanLine],
    free: Free | None,
    may: May,
    billed: Billed | None,
) -> list[Link]:
    """Return what the operator may do with a subscription, the most likely first."""
    line, person = served.line, reader.person.fields
    if person["delete_date"] or line.merged_into is not None:
        return []
    is_on = not served.is_over
    is_short = line.issues is None or 0 <= line.issues <= _ENDS_SOON
    can_undo = served.ended is not None and not served.ended.is_final
    renews = served.renewing is not None
    can_renew = is_on and (line.issues or 0) > 0 and served.ended is None and not renews
    came = reader.may_have_come(line.subscription_id)
    is_away = any(_lasts(span, reader.today) for span, _ in served.temporary)
    of, order = f"/subscriptions/{line.subscription_id}", f"/orders/new?subscriber={reader.key}"
    renewal = f"{order}&subscription={line.subscription_id}"
    questions = f"/subscribers/{reader.key}/qualify?publication={line.publication_id}"
    questions += f"&subscription={line.subscription_id}"
    asks = (Action.SERVE, "Ask the questions", questions)
    invoice = billed.invoices.get(served.unpaid or 0) if billed else None
    payment = (Action.PAY, "Book the payment", f"/orders/{served.unpaid}/pay")
    if invoice is not None:
        payment = (Action.BILL, "Payment came", f"/invoices/{invoice.invoice_id}/payment")
    offered = [
        (*payment, served.unpaid is not None and (invoice is None or invoice.open_cents > 0)),
        (Action.ORDER, "Order again", order, not is_on),
        (*asks, free is not None and free.is_to_confirm),
        (Action.ORDER, "Renew", renewal, is_on and is_short),
        (Action.SERVE, "Undo the cancelling", f"{of}/uncancel", can_undo),
        (Action.SERVE, "Resume", f"{of}/resume", is_on and bool(suspended)),
        (Action.SERVE, "Note a complaint", f"{of}/complaint", came),
        (*asks, free is not None and not free.is_to_confirm),
        (Action.ORDER, "Renew", renewal, is_on and not is_short),
        (Action.SERVE, "Suspend", f"{of}/suspend", is_on),
        (Action.SERVE, "Move", f"{of}/address", is_on),
        (Action.SERVE, "Temporary address", f"{of}/temporary-address", is_on),
        (Action.SERVE, "Usual address again", f"{of}/usual-address", is_on and is_away),
        (Action.SERVE, "Change copies or type", f"{of}/set", is_on),
        (Action.SERVE, "Extend", f"{of}/extend", is_on),
        (Action.SERVE, "Renew automatically", f"{of}/consent", can_renew),
        (Action.SERVE, "Stop automatic renewal", f"{of}/stop-renewal", is_on and renews),
        (Action.SERVE, "Send an issue again", f"{of}/replacement", came),
        (Action.SERVE, "Cancel", f"{of}/cancel", is_on and served.ended is None),
    ]
    return [(title, href) for action, title, href, applies in offered if applies and may(action)]


def _money(money: Money, reader: Reader, currency: str) -> Iterator[str]:
    """Say what was paid and what is owed, with what is not known here."""

    def amount(cents: int) -> str:
        return in_currency(cents, currency)

    counted_of = " (of the newest 1,000 orders)" if money.has_more else ""
    if money.last is not None:
        last = amount(stored_cents(money.last.total) if money.last.total else 0)
        how = f" by {money.last.payment_type}" if money.last.payment_type else ""
        when = day_in_words(money.last.paid_on)
        if money.payments == 1:
            yield f"Paid {last} on {when}{how}{counted_of}."
        else:
            yield (
                f"Paid {amount(money.paid)} in {money.payments:,} payments{counted_of}; the last "
                f"was {last} on {when}{how}."
            )
    if money.refunded:
        yield f"{amount(money.refunded)} was given back."
    opened = day_in_words(reader.opened_on)
    if money.earlier:
        orders = counted(money.earlier, "order", "orders")
        before = f"From before {opened}: " if opened else ""
        yield (
            f"{before}{orders} of {amount(money.earlier_cents)} in all. The former system did not "
            "say whether they were paid."
        )
    if money.opening:
        yield f"{amount(money.opening)} was paid before {opened} for issues after that day."
    if not (money.last or money.earlier or money.opening or money.owed):
        yield _NOTHING
