"""A reader moves: the copies and the bills of several subscriptions, in one operation."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.subscriptions import check_temporary_address
from masthead.circulation.addresses import refusal
from masthead.circulation.spans import Span, day_before, uncovered
from masthead.errors import BadInput
from masthead.store.books import moving
from masthead.store.books.contact_details import names_of
from masthead.store.books.moving import Movable
from masthead.store.books.names import reader_named, subscription_named
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import left_by_moves
from masthead.store.books.reader_lookup import addresses_of
from masthead.store.books.subscription import changeable, end_span, spans
from masthead.store.books.subscription_addresses import (
    add_address,
    add_temporary_address,
    set_mailing_address,
)

_TABLE = "temporary_addresses"

__all__ = ["Movable", "Move", "ReaderMoved", "movable", "move"]


class Move(NamedTuple):
    """Where a reader moves to, which subscriptions go there, whether bills do, and when.

    ``address`` has some of ``circulation.addresses.FIELDS``; without a name, it has the reader's.

    From now on by default; with ``first``, from that day on; with ``first`` and ``last``, for that
    time, both included.
    """

    address: Mapping[str, str | None]
    subscriptions: Sequence[int]
    bills: bool = False
    first: str | None = None
    last: str | None = None


class ReaderMoved(NamedTuple):
    """A reader's move. ``bills`` are the subscriptions whose bills go to the address too."""

    subscriber_id: int
    address_id: int
    subscriptions: Sequence[int]
    bills: Sequence[int]
    first: str | None
    last: str | None

    @property
    def sentence(self) -> str:
        """What goes where, and when."""
        when = f"from {self.first} on" if self.first else "from now on"
        if self.last:
            when = f"from {self.first} to {self.last}"
        said = [f"subscriber {self.subscriber_id} moves to address {self.address_id}"]
        if self.subscriptions:
            said.append(f"copies {when} of subscriptions {_listed(self.subscriptions)}")
        if self.bills:
            said.append(f"bills from now on of subscriptions {_listed(self.bills)}")
        return "; ".join(said)


def _listed(keys: Sequence[int]) -> str:
    return ", ".join(map(str, keys))


def movable(books: Books, subscriber_id: int) -> list[Movable]:
    """Return the subscriptions that can move with a reader, by publication.

    Raises NotFound if there is no such reader, BadInput if the reader was deleted.
    """
    with books.read() as reading:
        names_of(reading, subscriber_id)
        return moving.movable(reading, subscriber_id)


def move(books: Books, subscriber_id: int, wanted: Move, *, dry_run: bool = False) -> ReaderMoved:
    """Send copies of some subscriptions of a reader, and the reader's bills, to another address.

    A move from a later day on sets the address at once, and keeps the former one as a temporary
    address until the day before. Temporary addresses stay as they are, but for those that earlier
    moves of the reader left (decisions, "A reader who moves again"). Bills move at once, also those
    of gifts. Raises NotFound if there is no such reader or subscription. Raises BadInput,
    with the ``field``, if nothing is to move, for a subscription of somebody else, for days in the
    wrong order, for a move from a past day on, for a while that is past, for bills that are to move
    for a while, for a time in which a subscription has another temporary address, and if the
    address is only a part of one. Raises BadInput too if the reader was deleted.
    """
    with books.change(dry_run=dry_run) as change:
        names_of(change, subscriber_id)
        first = _checked(change, subscriber_id, wanted)
        address_id = add_address(change, subscriber_id, wanted.address)
        for key in wanted.subscriptions:
            if first and wanted.last:
                check_temporary_address(change, key, first, wanted.last)
                add_temporary_address(change, key, address_id, first, wanted.last)
            else:
                _move_copies(change, key, address_id, first)
        bills = moving.move_bills(change, subscriber_id, address_id) if wanted.bills else []
        change.touch(wanted.subscriptions)
        done = ReaderMoved(
            subscriber_id, address_id, tuple(wanted.subscriptions), bills, first, wanted.last
        )
        change.say(done.sentence)
    return done


def _checked(change: Operation, subscriber_id: int, wanted: Move) -> str | None:
    """Return the first day at the address; None if that is now."""
    if not wanted.subscriptions and not wanted.bills:
        raise BadInput("say what goes to the new address", field="subscriptions")
    if wanted.last and not wanted.first:
        raise BadInput("say from which day on", field="from_date")
    if wanted.last and wanted.last < change.today:
        raise BadInput(f"{wanted.last} is past", field="to_date")
    if wanted.last and wanted.bills:
        raise BadInput("bills go there for good or not at all", field="bills")
    for key in wanted.subscriptions:
        if changeable(change, key).subscriber_id != subscriber_id:
            raise BadInput(
                f"{subscription_named(change, key)} is not a subscription of "
                f"{reader_named(change, subscriber_id)}",
                field="subscriptions",
            )
    present = addresses_of(change, [subscriber_id])[subscriber_id].values()
    if said := refusal(wanted.address, present):
        raise BadInput(said, field="address")
    if wanted.first is None or wanted.last:
        return wanted.first
    if wanted.first < change.today:
        raise BadInput(f"{wanted.first} is past: a move is from today on", field="from_date")
    return None if wanted.first == change.today else wanted.first


def _move_copies(
    change: Operation, subscription_id: int, address_id: int, first: str | None
) -> None:
    """Set the mailing address, and keep the former one until the day before ``first``."""
    former = changeable(change, subscription_id).mailing_address_id
    _end_left(change, subscription_id, day_before(first or change.today))
    if not set_mailing_address(change, subscription_id, address_id):
        return
    if first is None or former is None:
        return
    present = spans(change.connection, change.account_id, _TABLE, subscription_id)
    for begin, end in uncovered(Span(0, change.today, day_before(first)), present):
        add_temporary_address(change, subscription_id, former, begin, end or day_before(first))


def _end_left(change: Operation, subscription_id: int, last: str) -> None:
    """End on a day what earlier moves of the reader left of former addresses."""
    for each in left_by_moves(change, subscription_id):
        if each.last > last:
            end_span(change, _TABLE, each.span_id, None if last < each.first else last)
