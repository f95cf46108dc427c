"""Subscribers: finding, showing and correcting one, and merging two who are the same person."""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from masthead.books.account import Books
from masthead.contract.printable import counted
from masthead.contract.subscription_types import type_in_words
from masthead.errors import BadInput
from masthead.store import audit
from masthead.store.books import contact_details, merging_subscribers, moving, subscriber_search
from masthead.store.books.details import (
    OrderLine,
    Person,
    SubscriptionLine,
    look_at_subscriber,
    look_at_subscription,
)
from masthead.store.books.merging_subscribers import Moved
from masthead.store.books.merging_subscriptions import Pair
from masthead.store.books.names import reader_named
from masthead.store.books.subscriber_search import Found, Sought

__all__ = [
    "AddressShown",
    "Alike",
    "Edited",
    "Found",
    "Merged",
    "Moved",
    "OrderLine",
    "Pair",
    "Person",
    "Sought",
    "SubscriptionLine",
    "address",
    "duplicates",
    "edit",
    "edit_address",
    "find",
    "labels",
    "merge",
    "named",
    "names",
    "people",
    "show",
]

Texts = Mapping[str, str | None]

_MOVED = (
    ("subscription", ""),
    ("address", "addresses"),
    ("order", ""),
    ("purchase", ""),
    ("answer", ""),
    ("note", ""),
    ("complaint", ""),
    ("invoice", ""),
    ("payment", ""),
)
"""The words for what moves, in the order of :class:`Moved`; '' adds an s."""


def find(books: Books, sought: Sought, *, limit: int, among_max: int | None = None) -> list[Found]:
    """Return the subscribers that match, at most ``limit``, sorted by last and first name.

    Those with a ``delete_date`` come last. With ``among_max``, the search looks at only so many
    subscribers whose name matches, because the beginning of a name can match a tenth of all. If the
    books have an actor, the audit log notes the search. Raises BadUsage if nothing is sought, or
    only a city, which has no index.
    """
    subscriber_search.check(sought)
    _note_reading(books, "subscribers were looked for")
    with books.read() as reading:
        return subscriber_search.find(
            reading.connection, books.account_id, sought, limit=limit, among_max=among_max
        )


def people(books: Books, ids: Collection[int]) -> dict[int, Found]:
    """Return these subscribers by their ids, without ids that do not exist."""
    with books.read() as reading:
        return subscriber_search.people(reading.connection, books.account_id, tuple(ids))


class Alike(NamedTuple):
    """Subscribers who may be one person, sorted by id; ``why`` says what is the same."""

    why: str
    people: list[Found]


def duplicates(books: Books, *, of: int | None = None, limit: int) -> list[Alike]:
    """Return groups of subscribers who may be one person, at most ``limit``.

    They have the same email address; or the same last name, street and postal code, and first names
    that fit (``circulation.duplicates``). Case does not matter; subscribers with a ``delete_date``
    are left out. Groups are sorted by email address, then by postal code and street. With ``of``,
    returns only the groups of this subscriber. If the books have an actor, the audit log notes the
    search.
    """
    _note_reading(books, "duplicates were looked for")
    with books.read() as reading:
        where = reading.connection, books.account_id
        groups = list(islice(subscriber_search.duplicates(*where, of=of), limit))
        ids = sorted({one for group in groups for one in group.ids})
        found = subscriber_search.people(*where, tuple(ids)) if ids else {}
    return [Alike(group.why, [found[one] for one in group.ids]) for group in groups]


def _note_reading(books: Books, what: str) -> None:
    audit.record_reading(books.store, books.actor, what, account_id=books.account_id)


def show(books: Books, subscriber_id: int) -> Person:
    """Return a subscriber with addresses, subscriptions and the newest orders.

    Raises NotFound if there is none.
    """
    with books.read() as reading:
        return look_at_subscriber(reading.connection, books.account_id, subscriber_id)


class Edited(NamedTuple):
    """What was corrected, such as ``subscriber 5``, and the names of the fields that changed.

    ``labels`` is how many addresses got the new name.
    """

    what: str
    changed: Sequence[str]
    labels: int = 0

    @property
    def sentence(self) -> str:
        """Which fields changed."""
        if not self.changed:
            return f"{self.what} has these values already: nothing changed"
        labels = counted(self.labels, "address", "addresses")
        also = f", and the name on {labels}" if self.labels else ""
        return f"{self.what}: changed {', '.join(self.changed)}{also}"


def names(books: Books, subscriber_id: int) -> Texts:
    """Return ``first_name``, ``last_name`` and ``email`` of a subscriber.

    Raises NotFound if there is none, BadInput if the subscriber is deleted: erased ones stay blank.
    """
    with books.read() as reading:
        return contact_details.names_of(reading, subscriber_id)


def named(books: Books, subscriber_id: int) -> str:
    """Return the name of a subscriber, or else the company or the email address."""
    with books.read() as reading:
        return reader_named(reading, subscriber_id)


def labels(books: Books, subscriber_id: int) -> int:
    """Return how many addresses of a subscriber have the subscriber's name.

    Raises what :func:`names` raises.
    """
    with books.read() as reading:
        found = contact_details.names_of(reading, subscriber_id)
        return moving.labels_with(reading, subscriber_id, (found["first_name"], found["last_name"]))


def edit(
    books: Books,
    subscriber_id: int,
    values: Texts,
    *,
    labels_too: bool = False,
    dry_run: bool = False,
) -> Edited:
    """Correct some of the fields that :func:`names` returns.

    With ``labels_too``, the subscriber's addresses that have the former name get the new one.
    Raises what :func:`names` raises, and BadInput, with the ``field``, for a text that is too long.
    """
    with books.change(dry_run=dry_run) as change:
        before = contact_details.names_of(change, subscriber_id)
        changed = contact_details.edit_subscriber(change, subscriber_id, values)
        renamed = 0
        if labels_too and {"first_name", "last_name"} & {*changed}:
            after = contact_details.names_of(change, subscriber_id)
            renamed = moving.rename_labels(
                change,
                subscriber_id,
                (before["first_name"], before["last_name"]),
                (after["first_name"], after["last_name"]),
            )
        done = Edited(f"subscriber {subscriber_id}", changed, renamed)
        if changed:
            change.say(done.sentence)
    return done


class AddressShown(NamedTuple):
    """The subscriber who has the address, its fields, and what goes there, in words."""

    subscriber_id: int
    fields: Texts
    goes_there: str


def address(books: Books, address_id: int) -> AddressShown:
    """Return an address. Raises NotFound if there is none."""
    with books.read() as reading:
        subscriber_id, fields = contact_details.address_of(reading, address_id)
        going = [_going(*each) for each in moving.goes_there(reading, address_id)]
        return AddressShown(subscriber_id, fields, ", ".join(going))


def _going(publication: str, type_: str | None, has_copies: int, has_bills: int) -> str:
    what = "copies and bills" if has_copies and has_bills else "copies" if has_copies else "bills"
    return f"{what} of {publication}{f' ({type_in_words(type_)})' if type_ else ''}"


def edit_address(books: Books, address_id: int, values: Texts, *, dry_run: bool = False) -> Edited:
    """Correct an existing address.

    It is then no longer verified, and its place on the map is unknown. Raises NotFound if there is
    none. Raises BadInput, with the ``field``, for a text that is too long, for a deleted
    subscriber, or if a whole address would become a part of one.
    """
    with books.change(dry_run=dry_run) as change:
        subscriber_id, changed = contact_details.edit_address(change, address_id, values)
        done = Edited(f"address {address_id} of subscriber {subscriber_id}", changed)
        if changed:
            change.say(done.sentence)
    return done


class MergedPair(NamedTuple):
    """Subscriptions that were merged: issues left in total, and the last day, … if unknown."""

    pair: Pair
    issues: int
    last_day: str


class Merged(NamedTuple):
    """What merging did: the records that moved, and the subscriptions merged and not merged."""

    kept: int
    gone: int
    moved: Moved
    merged: Sequence[MergedPair]
    apart: Sequence[Pair]

    @property
    def sentence(self) -> str:
        """Which subscribers and subscriptions were merged, and what moved."""
        moved = [
            counted(count, one, many)
            for count, (one, many) in zip(self.moved, _MOVED, strict=True)
            if count
        ]
        what = f", with {', '.join(moved)}" if moved else ""
        said = [f"subscriber {self.gone} is merged into subscriber {self.kept}{what}"]
        said += [
            f"subscription {pair.other_id} is merged into subscription {pair.subscription_id}: "
            f"{pair.publication}, {pair.type}, {counted(issues, 'issue')} left, "
            f"until {last_day}"
            for pair, issues, last_day in self.merged
        ]
        said += [
            f"subscriptions {pair.subscription_id} and {pair.other_id} both go on: "
            f"{pair.publication}, {pair.type}"
            f"{': one of them is unlimited' if pair.is_unlimited else ''}"
            for pair in self.apart
        ]
        return "; ".join(said)


def merge(
    books: Books, kept: int, gone: int, *, keep_both: bool = False, dry_run: bool = False
) -> Merged:
    """Move all that ``gone`` has to ``kept``, both ids of subscribers; ``gone`` is deleted.

    Addresses, subscriptions with their terms, orders, purchases, answers, notes, complaints,
    invoices and payments move. If both have answered a question or have a VAT number, that of
    ``kept`` stays. If both have a subscription of the same publication and type, these are merged
    into one, unless ``keep_both`` is set or one is unlimited (circulation, "Merging"). ``gone``
    gets a ``delete_date``; the name, email address and renewal code of both stay unchanged. Merging
    cannot be undone. Raises NotFound if one of them does not exist, BadInput if they are the same,
    or one is deleted or erased.
    """
    if kept == gone:
        raise BadInput("a reader cannot be merged with the same one: choose two")
    with books.change(dry_run=dry_run) as change:
        moved, pairs, apart = merging_subscribers.merge(change, kept, gone, keep_both=keep_both)
        merged = []
        for pair in pairs:
            fields = look_at_subscription(
                change.connection, books.account_id, pair.subscription_id
            ).fields
            merged.append(
                MergedPair(pair, int(fields["issues"] or 0), str(fields["date_expired"] or "…"))
            )
        done = Merged(kept, gone, moved, merged, apart)
        change.say(done.sentence)
    return done
