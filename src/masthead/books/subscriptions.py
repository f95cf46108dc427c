"""Subscriptions: looking at one, changing, suspending and extending it, and its addresses.

Days are ``YYYY-MM-DD``. Each operation raises NotFound if there is no such subscription, and each
that changes one BadInput if it was cancelled or joined into another one.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from masthead.books.account import Books
from masthead.circulation.copy_classes import COMPLIMENTARY
from masthead.circulation.spans import Span, day_after, ended, overlapped
from masthead.contract.printable import counted
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.books.details import Postal, Subscription, TermShown, look_at_subscription
from masthead.store.books.extending import add_extension
from masthead.store.books.operation import Operation
from masthead.store.books.own_classes import check_class
from masthead.store.books.subscription import (
    add_suspension,
    changeable,
    end_span,
    is_to_end,
    spans,
)
from masthead.store.books.subscription import set_values as set_columns
from masthead.store.books.subscription_addresses import (
    add_temporary_address,
    address_for,
    set_mailing_address,
)
from masthead.store.books.term_copies import How, set_copies

__all__ = [
    "COPIES_MAX",
    "ISSUES_MAX",
    "Address",
    "Extended",
    "How",
    "Moved",
    "Postal",
    "SpanEnded",
    "Subscription",
    "Suspended",
    "TermShown",
    "Values",
    "ValuesSet",
    "extend",
    "go_back",
    "move",
    "move_for_a_while",
    "resume",
    "set_values",
    "show",
    "suspend",
]

Address = Mapping[str, str | None] | int
"""A new address, some of ``circulation.addresses.FIELDS``, or the id of one that the reader has.

Where a new one names neither a person nor a company, the name is the reader's.
"""

COPIES_MAX = 1_000_000
"""How many copies of each issue a subscription can have."""

ISSUES_MAX = 10_000
"""How many issues an extension can have."""


def show(books: Books, subscription_id: int) -> Subscription:
    """Return a subscription with all that belongs to it."""
    with books.read() as reading:
        return look_at_subscription(reading.connection, books.account_id, subscription_id)


class Values(NamedTuple):
    """What is set of a subscription; None stays as it is.

    ``campaign``: whether the reader is asked to renew. ``how`` and ``free_class`` say how it comes
    to other ``copies``.
    """

    type: str | None = None
    campaign: bool | None = None
    copies: int | None = None
    how: How | None = None
    free_class: str | None = None


class ValuesSet(NamedTuple):
    """What changed, before and after, by ``type``, ``campaign`` (0 or 1) and ``copies``.

    ``converted`` says which issues left were converted into which others; "" if none were.
    """

    subscription_id: int
    changed: Mapping[str, tuple[int | str | None, int | str]]
    how: How | None = None
    converted: str = ""

    @property
    def sentence(self) -> str:
        """What changed."""
        said = [f"{name} {old} -> {new}" for name, (old, new) in self.changed.items()]
        if self.converted:
            said.append(self.converted)
        elif "copies" in self.changed and self.how:
            said[-1] += f" ({self.how})"
        if not said:
            return f"subscription {self.subscription_id} is so already: nothing changed"
        return f"subscription {self.subscription_id}: {', '.join(said)}"


def set_values(
    books: Books, subscription_id: int, values: Values, *, dry_run: bool = False
) -> ValuesSet:
    """Set the type, whether the reader is asked to renew, and the copies.

    The type and the copies hold from the next issue on that is closed. Copies are those of the term
    that is delivered next (circulation, "Copies"), and ``how`` is needed if it has issues left.
    ``free``: those above what is paid for are of ``free_class``, complimentary unless given.
    ``convert``: what is left comes in other copies, issues times copies as before and rounded down;
    the rest of the money is earned with the term's last issue.

    Raises BadInput for the campaign if the subscription is to end, for copies above
    :data:`COPIES_MAX`, without ``how`` if issues are left, or if it cannot be done so.
    """
    campaign = None if values.campaign is None else int(values.campaign)
    given = {"type": values.type, "campaign": campaign}
    columns = {name: value for name, value in given.items() if value is not None}
    with books.change(dry_run=dry_run) as change:
        changeable(change, subscription_id)
        if campaign and is_to_end(change, subscription_id):
            raise BadInput(
                f"subscription {subscription_id} was cancelled, and is still to end: undo that "
                "before its reader is asked to renew",
                code="cancelled_meanwhile",
                subscription=subscription_id,
            )
        converted = ""
        changed = set_columns(change, subscription_id, columns) if columns else {}
        if values.copies is not None:
            _check_number("copies", values.copies, COPIES_MAX)
            before, after, converted = set_copies(
                change, subscription_id, values.copies, values.how, values.free_class
            )
            if before != after:
                changed["copies"] = before, after
        change.touch([subscription_id])
        done = ValuesSet(subscription_id, changed, values.how, converted)
        if changed or converted:
            change.say(done.sentence)
    return done


class Suspended(NamedTuple):
    """A suspension from the first to the last day, both included; None: until it is resumed."""

    subscription_id: int
    first: str
    last: str | None

    @property
    def sentence(self) -> str:
        """From when to when the subscription is suspended."""
        until = f"to {self.last}" if self.last else "until it is resumed"
        return f"subscription {self.subscription_id} is suspended from {self.first} {until}"


def suspend(
    books: Books,
    subscription_id: int,
    first: str | None = None,
    last: str | None = None,
    *,
    dry_run: bool = False,
) -> Suspended:
    """Suspend a subscription: the issues dated in that time are skipped, and stay to come.

    ``first``: None is today, or the day after the newest closed issue's date if that is later.
    ``last``: None is until it is resumed. Raises BadInput if the days are in the wrong order, the
    first one is not later than the newest closed issue's date, or another suspension has one of
    the days.
    """
    with books.change(dry_run=dry_run) as change:
        closed = changeable(change, subscription_id).newest_closed
        earliest = None if closed is None else day_after(closed)
        first = first or max(change.today, earliest or "")
        if last is not None and last < first:
            raise BadInput(f"the suspension would end on {last}, before it begins on {first}")
        if earliest is not None and first < earliest:
            raise BadInput(
                f"the issue of {closed} is closed: a suspension begins after it, on {earliest} or "
                "later"
            )
        if other := overlapped(_spans(change, "suspensions", subscription_id), first, last):
            raise BadInput(
                f"subscription {subscription_id} is suspended from {other.first} "
                f"{f'to {other.last}' if other.last else 'on'} already: end that first",
                code="suspended",
                subscription=subscription_id,
            )
        add_suspension(change, subscription_id, first, last)
        change.touch([subscription_id])
        done = Suspended(subscription_id, first, last)
        change.say(done.sentence)
    return done


class SpanEnded(NamedTuple):
    """How a suspension or a temporary address ends.

    ``first`` is its first day, and ``last`` its last one from now on; None: it was removed.
    """

    subscription_id: int
    what: Literal["suspension", "temporary address"]
    first: str
    last: str | None

    @property
    def sentence(self) -> str:
        """How it ends."""
        how = f"ends on {self.last}" if self.last else "was removed"
        return f"subscription {self.subscription_id}: the {self.what} from {self.first} {how}"


def resume(
    books: Books, subscription_id: int, resumed: str | None = None, *, dry_run: bool = False
) -> SpanEnded:
    """End the suspension that lasts today, or else the next one.

    ``resumed`` is the first day on which it is served again; None is today. A suspension that has
    not begun by then is removed. An issue that was closed meanwhile and is not in the suspension
    any more comes with the next gap list. Raises BadInput if there is no such suspension.
    """
    with books.change(dry_run=dry_run) as change:
        done = _end(change, "suspension", "suspensions", subscription_id, resumed)
        change.touch([subscription_id])
    return done


class Extended(NamedTuple):
    """A free term that was added, and of which class its issues are."""

    subscription_id: int
    issues: int
    of_class: str
    term_id: int

    @property
    def sentence(self) -> str:
        """What was added."""
        issues = counted(self.issues, "free issue")
        return (
            f"subscription {self.subscription_id} got {issues} "
            f"(term {self.term_id}, {self.of_class})"
        )


def extend(
    books: Books,
    subscription_id: int,
    issues: int,
    of_class: str = COMPLIMENTARY,
    *,
    dry_run: bool = False,
) -> Extended:
    """Add free issues behind all others, such as for a copy that was lost in the mail.

    They come in as many copies as the next issue is paid for. Where no issue was left, the next
    ones are due by the rule for a renewal after a gap (circulation, "First issue"). Raises BadInput
    for a number of issues above :data:`ISSUES_MAX`, if the subscription is unlimited, or if there
    is no such class.
    """
    _check_number("issues", issues, ISSUES_MAX)
    with books.change(dry_run=dry_run) as change:
        found = changeable(change, subscription_id)
        if found.issues == UNLIMITED:
            raise BadInput(f"subscription {subscription_id} is unlimited: it needs no extension")
        of_class = check_class(change, of_class)
        term_id = add_extension(change, found, issues, of_class)
        change.touch([subscription_id])
        done = Extended(subscription_id, issues, of_class, term_id)
        change.say(done.sentence)
    return done


class Moved(NamedTuple):
    """Where a subscription goes: for good if ``first`` and ``last`` are None."""

    subscription_id: int
    address_id: int
    first: str | None = None
    last: str | None = None
    was_there: bool = False

    @property
    def sentence(self) -> str:
        """Where it goes, and when."""
        when = f"from {self.first} to {self.last}" if self.first else "from now on"
        if self.was_there:
            when = "already: nothing changed"
        return f"subscription {self.subscription_id} goes to address {self.address_id} {when}"


def move(books: Books, subscription_id: int, address: Address, *, dry_run: bool = False) -> Moved:
    """Give a subscription another mailing address for good.

    The former one stays: other subscriptions and lists refer to it. Raises BadInput if the address
    is another reader's or only a part of one, or if the reader is deleted.
    """
    with books.change(dry_run=dry_run) as change:
        found = changeable(change, subscription_id)
        address_id = address_for(change, subscription_id, found.subscriber_id, address)
        has_changed = set_mailing_address(change, subscription_id, address_id)
        done = Moved(subscription_id, address_id, was_there=not has_changed)
        if has_changed:
            change.touch([subscription_id])
            change.say(done.sentence)
    return done


def move_for_a_while(
    books: Books,
    subscription_id: int,
    address: Address,
    first: str,
    last: str,
    *,
    dry_run: bool = False,
) -> Moved:
    """Send the issues dated ``first`` to ``last``, both included, to another address.

    Raises what :func:`move` does, and BadInput if the days are in the wrong order or another
    temporary address has one of them.
    """
    with books.change(dry_run=dry_run) as change:
        found = changeable(change, subscription_id)
        if last < first:
            raise BadInput(f"the address would end on {last}, before it begins on {first}")
        present = _spans(change, "temporary_addresses", subscription_id)
        if other := overlapped(present, first, last):
            raise BadInput(
                f"subscription {subscription_id} has another address from {other.first} to "
                f"{other.last} already: end that first",
                code="has_temporary_address",
                subscription=subscription_id,
            )
        address_id = address_for(change, subscription_id, found.subscriber_id, address)
        add_temporary_address(change, subscription_id, address_id, first, last)
        done = Moved(subscription_id, address_id, first, last)
        change.say(done.sentence)
    return done


def go_back(
    books: Books, subscription_id: int, resumed: str | None = None, *, dry_run: bool = False
) -> SpanEnded:
    """End the temporary address in force today, or else the next one.

    ``resumed`` is the first day of the usual address; None is today. One that has not begun by then
    is removed. Raises BadInput if there is no such address.
    """
    with books.change(dry_run=dry_run) as change:
        return _end(change, "temporary address", "temporary_addresses", subscription_id, resumed)


def _end(
    change: Operation,
    what: Literal["suspension", "temporary address"],
    table: str,
    subscription_id: int,
    resumed: str | None,
) -> SpanEnded:
    """End the span that lasts today, or else the next one, before the day ``resumed``."""
    changeable(change, subscription_id)
    present = _spans(change, table, subscription_id)
    ending = ended(present, change.today, resumed or change.today)
    if ending is None:
        raise BadInput(
            f"subscription {subscription_id} has no {what} that lasts until {resumed or 'today'}",
            code="nothing_to_end",
            subscription=subscription_id,
        )
    end_span(change, table, ending.span.span_id, ending.last)
    done = SpanEnded(subscription_id, what, ending.span.first, ending.last)
    change.say(done.sentence)
    return done


def _spans(change: Operation, table: str, subscription_id: int) -> list[Span]:
    return spans(change.connection, change.account_id, table, subscription_id)


def _check_number(name: str, number: int, most: int) -> None:
    """Raise BadInput, which names the argument as ``field``, unless it is from 1 to ``most``."""
    if not 1 <= number <= most:
        raise BadInput(f"{name} are a number from 1 to {most:,}, not {number:,}", field=name)
