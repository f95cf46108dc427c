"""A reader's own address, and another one for a while.

Days are ``YYYY-MM-DD``. Each operation raises NotFound for a subscription that is not the reader's.
It raises BadInput, with a code of ``circulation.reader_rules.REFUSALS`` and the ``field``, for what
it refuses.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from masthead.books import moving, subscriptions
from masthead.books.account import Books
from masthead.books.reader_acts import Act, acting, not_yours, running_subscription
from masthead.circulation.addresses import FIELDS, lacking
from masthead.circulation.reader_rules import check_day, check_days, check_text, refused
from masthead.circulation.spans import Span, overlapped
from masthead.errors import BadInput, NotFound
from masthead.store.books import reader_home, reader_page
from masthead.store.books.details import postals
from masthead.store.books.issue import find_issue
from masthead.store.books.moving import billing_addresses
from masthead.store.books.operation import Operation
from masthead.store.books.reader_changes import ReaderChange, temporary_spans
from masthead.store.books.subscription import end_span, spans
from masthead.store.books.subscription_addresses import (
    add_temporary_address,
    restore_addresses,
)

_TABLE = "temporary_addresses"
TEXT_MAX = 200
"""The most characters of a field of an address that a reader enters."""


class Wanted(NamedTuple):
    """The new address of a reader, what goes there, and when.

    ``address`` has some of ``circulation.addresses.FIELDS``. It is from now on, from the day
    ``first`` on, or from an issue on that is not addressed yet. With ``bills``, the reader's bills
    go there too, at once.
    """

    address: Mapping[str, str]
    subscriptions: Sequence[int]
    first: str | None = None
    issue_id: int | None = None
    bills: bool = False


class Changed(NamedTuple):
    """Subscriptions of a reader that go to another address.

    ``first`` is the first day there, None for now; ``last`` is the last day, None for good.
    """

    subscriber_id: int
    address_id: int
    subscriptions: tuple[int, ...]
    first: str | None
    last: str | None

    @property
    def sentence(self) -> str:
        """Which subscriptions go to which address, and when."""
        when = f"from {self.first} on" if self.first else "from now on"
        if self.last:
            when = f"from {self.first} to {self.last}"
        listed = ", ".join(map(str, self.subscriptions))
        return f"subscriptions {listed} go to address {self.address_id} {when}"


class Ended(NamedTuple):
    """An address for a while that ends; ``last`` is its new last day, None if it was removed."""

    subscription_id: int
    first: str
    last: str | None

    @property
    def sentence(self) -> str:
        """How the address ends."""
        how = f"ends on {self.last}" if self.last else "was removed"
        return f"subscription {self.subscription_id}: the address from {self.first} {how}"


def change(books: Books, subscriber_id: int, wanted: Wanted, *, dry_run: bool = False) -> Changed:
    """Send subscriptions of a reader to another address for good."""
    with acting(books, subscriber_id, "address", dry_run=dry_run) as act:
        subscription_ids, first, bills = wanted.subscriptions, wanted.first, wanted.bills
        checked = checked_address(act, wanted.address)
        for key in subscription_ids:
            running_subscription(act.change, act.reader.subscriber_id, key)
        if not subscription_ids and not bills:
            raise refused("nothing_chosen", field="subscriptions")
        if wanted.issue_id is not None:
            first = _day_of(act, subscription_ids, wanted.issue_id)
        if first is not None:
            check_day(first, "first")
            if first < act.change.today:
                today = act.change.today
                raise refused("day_past", field="first", day=first, earliest=today)
        if not subscription_ids:
            first = None
        before: dict[str, Mapping[str, Any]] = {
            "subscriptions": _mailing(act, subscription_ids),
            "bills": billing_addresses(act.change, subscriber_id) if bills else {},
        }
        present = {key: set(temporary_spans(act.change, key)) for key in subscription_ids}
        moved = moving.move(
            act.books,
            subscriber_id,
            moving.Move(checked, tuple(dict.fromkeys(subscription_ids)), bills, first),
        )
        added, ended = {}, {}
        for key in subscription_ids:
            found = set(temporary_spans(act.change, key))
            ids = {each.span_id for each in present[key]}
            added[str(key)] = sorted({each.span_id for each in found} - ids)
            ended[str(key)] = sorted(present[key] - found)
        before["ended"] = ended
        one = subscription_ids[0] if len(subscription_ids) == 1 and not bills else None
        after = {
            "address_id": moved.address_id,
            "first": moved.first,
            "spans": added,
            "bills": list(moved.bills),
        }
        act.note("address" if one is None else "subscription_address", one, before, after)
        act.confirm(
            "address" if one is None else "subscription_address",
            one,
            address=_written(act, moved.address_id),
            begins_on=moved.first,
            bills_from=act.change.today if moved.bills else None,
        )
        return Changed(
            subscriber_id, moved.address_id, tuple(moved.subscriptions), moved.first, None
        )


def change_for_a_while(
    books: Books,
    subscriber_id: int,
    subscription_id: int,
    address: Mapping[str, str],
    first: str,
    last: str,
    *,
    dry_run: bool = False,
) -> Changed:
    """Send the issues dated ``first`` to ``last``, both included, to another address."""
    with acting(books, subscriber_id, "temporary_address", dry_run=dry_run) as act:
        running_subscription(act.change, act.reader.subscriber_id, subscription_id)
        checked = checked_address(act, address)
        check_days(first, last)
        if last < act.change.today:
            raise refused("day_past", field="last", day=last, earliest=act.change.today)
        other = overlapped(_spans(act.change, subscription_id), first, last)
        if other is not None:
            raise refused(
                "temporary_overlaps", field="first", first=other.first, last=other.last or ""
            )
        moved = subscriptions.move_for_a_while(act.books, subscription_id, checked, first, last)
        after = {"address_id": moved.address_id, "first": first, "last": last}
        act.note("temporary_address", subscription_id, {}, after)
        written = _written(act, moved.address_id)
        act.confirm("temporary_address", subscription_id, first=first, last=last, address=written)
        return Changed(subscriber_id, moved.address_id, (subscription_id,), first, last)


def end_for_a_while(
    books: Books, subscriber_id: int, subscription_id: int, first: str, *, dry_run: bool = False
) -> Ended:
    """End today the address for a while that began on ``first``, or remove it before it begins."""
    with acting(books, subscriber_id, "temporary_address", dry_run=dry_run) as act:
        running_subscription(act.change, act.reader.subscriber_id, subscription_id)
        today = act.change.today
        ahead = [each for each in _spans(act.change, subscription_id) if (each.last or "") >= today]
        if not ahead or ahead[0].first != first:
            raise refused("changed_meanwhile")
        (address_id,) = (
            each.address_id
            for each in act.change.ask(reader_page.temporary_addresses(subscriber_id))
            if (each.subscription_id, each.first) == (subscription_id, first)
        )
        done = subscriptions.go_back(act.books, subscription_id)
        before = {"address_id": address_id, "first": first, "last": ahead[0].last}
        act.note("temporary_address", subscription_id, before, {"last": done.last})
        act.confirm(
            "temporary_address_ended",
            subscription_id,
            first=first,
            last=ahead[0].last,
            until=done.last,
        )
        return Ended(subscription_id, first, done.last)


def undo(change: Operation, made: ReaderChange) -> None:
    """Take back a change of an address, for good or for a while.

    Raises BadInput if the address was changed since.
    """
    before, after = made.before or {}, made.after or {}
    if made.kind == "temporary_address":
        _undo_for_a_while(change, made.subscription_id or 0, before, after)
        return
    address_id = int(after["address_id"])
    mailing = {int(key): former for key, former in before["subscriptions"].items()}
    bills = {int(key): before["bills"].get(str(key)) for key in after["bills"]}
    if not restore_addresses(change, address_id, mailing, bills):
        raise BadInput("the address was changed since: it cannot be undone any more")
    for key, added in after["spans"].items():
        for span_id in set(added) & _span_ids(change, int(key)):
            end_span(change, _TABLE, span_id, None)
    for key, ended in before["ended"].items():
        present = _span_ids(change, int(key))
        for span_id, former_id, first, last in ended:
            if span_id in present:
                end_span(change, _TABLE, span_id, last)
            else:
                add_temporary_address(change, int(key), former_id, first, last)
    change.touch(mailing)


def _undo_for_a_while(
    change: Operation,
    subscription_id: int,
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> None:
    present = _spans(change, subscription_id)
    if "first" in before:
        first, last, address_id = before["first"], before["last"], int(before["address_id"])
        for span in present:
            if span.first == first and span.last == after["last"]:
                end_span(change, _TABLE, span.span_id, None)
                present.remove(span)
                break
        if overlapped(present, first, last):
            raise BadInput("there is another address for these days since: end that one first")
        add_temporary_address(change, subscription_id, address_id, first, last)
        return
    for span in present:
        if (span.first, span.last) == (after["first"], after["last"]):
            end_span(change, _TABLE, span.span_id, None)
            return
    raise BadInput("the address for a while was changed since: it cannot be undone any more")


def checked_address(act: Act, address: Mapping[str, str], *, is_own: bool = True) -> dict[str, str]:
    """Return the fields of an address that are not empty; each on one line.

    ``is_own``: it is an address of the reader, who may have others. Raises BadInput, with the
    ``field``, for a text that is too long, and for a part of an address.
    """
    given = {name: " ".join(address.get(name, "").split()) for name in FIELDS}
    for name, text in given.items():
        check_text(text, name, TEXT_MAX)
    present = act.change.ask(reader_home.addresses(act.reader.subscriber_id))
    missing = lacking(given, present.values() if is_own else ())
    if missing:
        raise refused("address_missing", field=missing[0])
    return {name: text for name, text in given.items() if text}


def _written(act: Act, address_id: int) -> str:
    return postals(act.change.connection, act.change.account_id, [address_id])[address_id].line


def _day_of(act: Act, subscription_ids: Collection[int], issue_id: int) -> str:
    """Return the day from which an issue of the subscriptions' publication is addressed."""
    try:
        issue = find_issue(act.change, issue_id)
    except NotFound:
        raise not_yours() from None
    for key in subscription_ids:
        own = running_subscription(act.change, act.reader.subscriber_id, key)
        if own.publication_id != issue.publication_id:
            raise not_yours()
    if issue.closed_at:
        raise refused("issue_closed", field="issue", day=issue.date)
    return max(str(issue.date), act.change.today)


def _mailing(act: Act, subscription_ids: Collection[int]) -> dict[str, int | None]:
    found = (
        running_subscription(act.change, act.reader.subscriber_id, key) for key in subscription_ids
    )
    return {str(each.subscription_id): each.mailing_address_id for each in found}


def _spans(change: Operation, subscription_id: int) -> list[Span]:
    return spans(change.connection, change.account_id, _TABLE, subscription_id)


def _span_ids(change: Operation, subscription_id: int) -> set[int]:
    return {each.span_id for each in _spans(change, subscription_id)}
