"""Subscriptions: showing, changing, suspending and extending one, and its addresses.

Days are ``YYYY-MM-DD``. Each operation raises NotFound if there is no such subscription. Operations
that change it raise BadInput if it was cancelled or merged into another one.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from masthead.books.account import Books
from masthead.circulation.copy_classes import COMPLIMENTARY
from masthead.circulation.ordering import COPIES_MAX
from masthead.circulation.spans import Span, day_after, ended, overlapped
from masthead.contract.printable import counted
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store.books.details import Postal, Subscription, TermShown, look_at_subscription
from masthead.store.books.extending import add_extension
from masthead.store.books.names import subscription_named
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
"""A new address, with some of ``circulation.addresses.FIELDS``, or the id of an existing one.

If a new address names no person, it gets the reader's name.
"""

ISSUES_MAX = 10_000
"""The most issues that an extension can have."""


def show(books: Books, subscription_id: int) -> Subscription:
    """Return a subscription with all that belongs to it."""
    with books.read() as reading:
        return look_at_subscription(reading.connection, books.account_id, subscription_id)


class Values(NamedTuple):
    """New values of a subscription; None leaves a value unchanged.

    ``campaign`` says whether the reader is asked to renew. ``how`` and ``free_class`` say how the
    number of ``copies`` changes.
    """

    type: str | None = None
    campaign: bool | None = None
    copies: int | None = None
    how: How | None = None
    free_class: str | None = None


class ValuesSet(NamedTuple):
    """What changed, before and after, by ``type``, ``campaign`` (0 or 1) and ``copies``.

    ``converted`` says how the issues left were converted; "" if they were not.
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
            return f"subscription {self.subscription_id} has these values already: nothing changed"
        return f"subscription {self.subscription_id}: {', '.join(said)}"


def set_values(
    books: Books, subscription_id: int, values: Values, *, dry_run: bool = False
) -> ValuesSet:
    """Set the type, whether the reader is asked to renew, and the copies.

    The type and the copies apply from the next closing on. The copies are those of the term that is
    delivered next (circulation, "Copies"); ``how`` is needed if it has issues left. With ``free``,
    the copies above the paid ones are of ``free_class``, complimentary by default. With
    ``convert``, the issues left change so that issues times copies stay the same, rounded down; the
    rest of the money is earned with the term's last issue.

    Raises BadInput for the campaign if the subscription was cancelled and has not ended yet, for
    copies above :data:`COPIES_MAX`, if issues are left and ``how`` is None, or if ``how`` is not
    possible.
    """
    campaign = None if values.campaign is None else int(values.campaign)
    given = {"type": values.type, "campaign": campaign}
    columns = {name: value for name, value in given.items() if value is not None}
    with books.change(dry_run=dry_run) as change:
        changeable(change, subscription_id)
        if campaign and is_to_end(change, subscription_id):
            raise BadInput(
                f"{subscription_named(change, subscription_id)} was cancelled, and is still to "
                "end: undo that before its reader is asked to renew",
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
        """The first and the last day of the suspension."""
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
    """Suspend a subscription: it skips the issues dated in that time, and keeps them.

    By default, ``first`` is today, or the day after the date of the newest closed issue if that is
    later. If ``last`` is None, the suspension lasts until it is resumed. Raises BadInput if
    ``last`` is before ``first``, if ``first`` is not later than the date of the newest closed
    issue, or if the days overlap another suspension.
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
                f"{subscription_named(change, subscription_id)} is suspended from {other.first} "
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

    ``first`` is its first day, ``last`` its new last day; None: it was removed.
    """

    subscription_id: int
    what: Literal["suspension", "temporary address"]
    first: str
    last: str | None

    @property
    def sentence(self) -> str:
        """How the span ends."""
        how = f"ends on {self.last}" if self.last else "was removed"
        return f"subscription {self.subscription_id}: the {self.what} from {self.first} {how}"


def resume(
    books: Books, subscription_id: int, resumed: str | None = None, *, dry_run: bool = False
) -> SpanEnded:
    """End the suspension that lasts today, or else the next one.

    ``resumed`` is the first day on which the subscription is served again, by default today. A
    suspension that begins on that day or later is removed. Issues that were closed meanwhile and
    are no longer in the suspension come with the next gap list. Raises BadInput if there is no such
    suspension.
    """
    with books.change(dry_run=dry_run) as change:
        done = _end(change, "suspension", "suspensions", subscription_id, resumed)
        change.touch([subscription_id])
    return done


class Extended(NamedTuple):
    """A free term that was added, and the class of its issues."""

    subscription_id: int
    issues: int
    of_class: str
    term_id: int

    @property
    def sentence(self) -> str:
        """What the operation added."""
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
    """Add free issues after all others, such as for a copy that was lost in the mail.

    They come in as many copies as the next issue is paid for. If no issue was left, they begin by
    the rule for a renewal after a gap (circulation, "First issue"). Raises BadInput for more than
    :data:`ISSUES_MAX` issues, if the subscription is unlimited, or if there is no such class.
    """
    _check_number("issues", issues, ISSUES_MAX)
    with books.change(dry_run=dry_run) as change:
        found = changeable(change, subscription_id)
        if found.issues == UNLIMITED:
            raise BadInput(
                f"{subscription_named(change, subscription_id)} is unlimited: it needs no extension"
            )
        of_class = check_class(change, of_class)
        term_id = add_extension(change, found, issues, of_class)
        change.touch([subscription_id])
        done = Extended(subscription_id, issues, of_class, term_id)
        change.say(done.sentence)
    return done


class Moved(NamedTuple):
    """The address to which a subscription goes: for good if ``first`` and ``last`` are None."""

    subscription_id: int
    address_id: int
    first: str | None = None
    last: str | None = None
    was_there: bool = False

    @property
    def sentence(self) -> str:
        """Where the subscription goes, and when."""
        when = f"from {self.first} to {self.last}" if self.first else "from now on"
        if self.was_there:
            when = "already: nothing changed"
        return f"subscription {self.subscription_id} goes to address {self.address_id} {when}"


def move(books: Books, subscription_id: int, address: Address, *, dry_run: bool = False) -> Moved:
    """Give a subscription another mailing address for good.

    The former address stays: other subscriptions and lists refer to it. Raises BadInput if the
    address belongs to another reader or is only a part of one, or if the reader is deleted.
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

    Raises what :func:`move` raises, and BadInput if ``last`` is before ``first``, or if the days
    overlap another temporary address.
    """
    with books.change(dry_run=dry_run) as change:
        found = changeable(change, subscription_id)
        check_temporary_address(change, subscription_id, first, last)
        address_id = address_for(change, subscription_id, found.subscriber_id, address)
        add_temporary_address(change, subscription_id, address_id, first, last)
        done = Moved(subscription_id, address_id, first, last)
        change.say(done.sentence)
    return done


def check_temporary_address(change: Operation, subscription_id: int, first: str, last: str) -> None:
    """Raise BadInput, with the ``field``, unless a subscription can have one on these days."""
    if last < first:
        raise BadInput(
            f"the address would end on {last}, before it begins on {first}", field="to_date"
        )
    present = _spans(change, "temporary_addresses", subscription_id)
    if other := overlapped(present, first, last):
        raise BadInput(
            f"{subscription_named(change, subscription_id)} has another address from "
            f"{other.first} to {other.last} already: end that first",
            code="has_temporary_address",
            field="from_date",
            subscription=subscription_id,
        )


def go_back(
    books: Books, subscription_id: int, resumed: str | None = None, *, dry_run: bool = False
) -> SpanEnded:
    """End the temporary address in force today, or else the next one.

    ``resumed`` is the first day of the usual address, by default today. A temporary address that
    begins on that day or later is removed. Raises BadInput if there is no such address.
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
            f"{subscription_named(change, subscription_id)} has no {what} that lasts until "
            f"{resumed or 'today'}",
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
    """Raise BadInput, with the argument as ``field``, unless it is from 1 to ``most``."""
    if not 1 <= number <= most:
        raise BadInput(f"{name} are a number from 1 to {most:,}, not {number:,}", field=name)
