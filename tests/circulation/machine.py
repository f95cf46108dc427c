"""Any order of all operations of circulation, as Hypothesis draws them.

A step is drawn as a name and numbers. What the numbers mean is chosen by what there is then: the
n-th subscription, so many days from today. So most operations are of something that exists.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.circulation.model_records import Asked
from tests.circulation.proving import Proof

if TYPE_CHECKING:
    from collections.abc import Collection

    from tests.circulation.model_operations import Books
    from tests.feed.places import Place

_PICK = st.integers(0, 11)
_DAYS = st.integers(-5, 100)
_YES = st.booleans()
_SELDOM = st.sampled_from([False, False, False, True])
_MAYBE_PICK = st.none() | st.none() | _PICK
_CENTS = st.none() | st.sampled_from([0, 1, 99, 333, 801, 1070])


_ITEM = st.fixed_dictionaries(
    {
        "bundle": st.integers(0, 8),
        "recipient": _MAYBE_PICK,
        "address": st.none() | st.none() | st.none() | _PICK,
        "is_new": _SELDOM,
        "first_issue": st.none() | st.none() | st.none() | _PICK,
        "price": _CENTS,
        "tax": _CENTS,
        "of_class": st.none() | st.none() | st.none() | st.sampled_from(["staff", "make-good"]),
        "subscription": st.none() | st.none() | _PICK,
        "is_gift": st.none() | st.none() | _YES,
        "copies": st.sampled_from([1, 1, 1, 2, 3]),
    }
)
_NUMBERS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "order": {
        "payer": _MAYBE_PICK,
        "address": st.none() | st.none() | _PICK,
        "items": st.lists(_ITEM, min_size=1, max_size=3),
        "is_paid": st.sampled_from([True, True, False]),
        "reference": st.none() | st.none() | st.integers(0, 2),
    },
    "close": {"publication": _PICK, "late": st.sampled_from([0] * 9 + [1]), "grace": _PICK},
    "preview": {"publication": _PICK, "late": st.just(0), "grace": _PICK},
    "gap": {"issue": _PICK},
    "reopen": {"issue": _PICK, "is_newest": st.sampled_from([True, True, False])},
    "file": {"issue": _PICK},
    "pass_days": {"days": st.integers(1, 40)},
    "pay": {"order": _PICK, "day": st.none() | st.none() | st.integers(-40, 1)},
    "refund": {"item": _PICK, "amount": _CENTS},
    "allow": {"item": _PICK, "amount": st.sampled_from([0, 1, 99, 333])},
    "cancel": {"key": _PICK, "refund": _YES, "when": st.integers(0, 4), "issue": _PICK},
    "uncancel": {"key": _PICK},
    "extend": {
        "key": _PICK,
        "issues": st.integers(1, 3),
        "of_class": st.sampled_from(["complimentary", "make-good"]),
    },
    "suspend": {"key": _PICK, "first": st.none() | _DAYS, "last": st.none() | _DAYS},
    "resume": {"key": _PICK, "resumed": st.none() | _DAYS},
    "move": {
        "key": _PICK,
        "address": st.none() | _PICK,
        "first": st.none() | _DAYS,
        "last": _DAYS,
    },
    "go_back": {"key": _PICK, "resumed": st.none() | _DAYS},
    "set": {
        "key": _PICK,
        "type": st.none() | st.sampled_from(["Print", "Digital", "Both"]),
        "campaign": st.none() | st.sampled_from([0, 1]),
    },
    "set_copies": {
        "key": _PICK,
        "copies": st.integers(1, 4),
        "how": st.none() | st.sampled_from(["free", "convert", "convert"]),
    },
    "merge": {"kept": _PICK, "gone": _PICK, "keep_both": _SELDOM},
    "set_effort": {
        "publication": _PICK,
        "effort": st.integers(1, 3),
        "issues_left": st.integers(-2, 3),
    },
    "remove_effort": {"publication": _PICK, "effort": st.integers(1, 3)},
    "select": {"publication": _PICK},
    "plan": {"publication": _PICK, "days": _DAYS},
    "move_issue": {"issue": _PICK, "days": _DAYS},
    "remove_issue": {"issue": _PICK},
    "set_mailing_day": {"issue": _PICK, "day": st.none() | _DAYS},
    "set_publication": {
        "publication": _PICK,
        "issues_per_year": st.sampled_from([4, 10, 12, 26]),
        "late_start": st.sampled_from(["next", "current"]),
        "grace_counts": st.sampled_from([0, 1]),
        "credit_issues": st.integers(0, 2),
    },
    "sell_bundle": {"bundle": _PICK, "is_active": st.sampled_from([True, True, False])},
}
"""What is drawn for each operation."""

_OFTEN = {"order": 12, "close": 10, "gap": 3, "reopen": 2, "refund": 2, "pay": 2, "suspend": 2}
_NAMES = [name for name in _NUMBERS for _ in range(_OFTEN.get(name, 1))]
_STEPS = st.sampled_from(_NAMES).flatmap(
    lambda name: st.tuples(st.just(name), st.fixed_dictionaries(_NUMBERS[name]), _SELDOM)
)


def _nth(keys: Collection[int], number: int | None) -> int | None:
    """Return one of the keys, the newest ones first; None for None."""
    return None if number is None else sorted(keys, reverse=True)[number % len(keys)]


class _Chosen:
    """What the numbers of a step mean for what there is; a method for each name that differs."""

    def __init__(self, books: Books, count: int) -> None:
        self._books = books
        self._count = count

    def of(self, name: str, numbers: dict[str, Any]) -> dict[str, Any] | None:
        """Return the arguments of the operation, or None where there is nothing to do it to."""
        given = dict(numbers)
        tables: dict[str, Collection[int]] = {
            "key": self._books.subscriptions,
            "kept": self._books.subscribers,
            "gone": self._books.subscribers,
            "issue": self._books.issues,
            "publication": self._books.publications,
            "bundle": self._books.bundles,
            "order": self._books.orders,
        }
        for argument in tables.keys() & given.keys():
            if not tables[argument]:
                return None
            given[argument] = _nth(tables[argument], given[argument])
        for argument in ("first", "last", "resumed", "day"):
            if given.get(argument) is not None:
                given[argument] = self._day(given[argument])
        choose = getattr(self, f"_{name}", None)
        return choose(**given) if choose else given

    def _day(self, days: int) -> date:
        return self._books.today + timedelta(days=days)

    def _address(self, number: int | None) -> int | str | None:
        """Return an address that is there, or a new street, which one in four lacks."""
        if number is None or number < 6:
            return _nth(self._books.addresses, number)
        return f"{self._count} Row" if number < 11 else ""

    def _close(self, publication: int, late: int, grace: int) -> dict[str, Any] | None:
        coming = self._books.issues_of(publication, closed=False)
        if not coming:
            return None
        graces = {9: (1, -400), 10: (2, -100), 11: (3, -40), 8: (1, None)}
        issues, days = graces.get(grace, (0, None))
        since = None if days is None else self._day(days)
        return {"issue": coming[late % len(coming)], "grace_issues": issues, "since": since}

    _preview = _close

    def _reopen(self, issue: int, *, is_newest: bool) -> dict[str, Any]:
        newest = self._books.newest_closed(self._books.issues[issue].publication)
        return {"issue": newest if is_newest and newest else issue}

    def _order(
        self,
        payer: int | None,
        address: int | None,
        items: list[dict[str, Any]],
        *,
        is_paid: bool,
        reference: int | None,
    ) -> dict[str, Any]:
        known = {order.reference: order.content for order in self._books.orders.values()}
        name = None if reference is None else f"shop-{reference}"
        if name in known and name is not None and len(items) == 1:
            content: Any = known[name]
            who, where, asked = content
        else:
            who = _nth(self._books.subscribers, payer)
            where = self._address(address)
            asked = tuple(self._item(**item) for item in items)
        given = {"payer": who, "address": where, "asked": asked}
        return {**given, "is_paid": is_paid, "reference": name}

    def _item(self, bundle: int, **others: Any) -> Asked:
        books = self._books
        others["recipient"] = _nth(books.subscribers, others["recipient"])
        others["address"] = self._address(others["address"])
        if bundle == 0:
            others |= {"recipient": None, "address": None, "is_new": False, "first_issue": None}
            return Asked(
                product=1, **{**others, "subscription": None, "is_gift": None, "of_class": None}
            )
        others["subscription"] = self._extended(bundle, others["subscription"])
        others["first_issue"] = _nth(books.issues, others["first_issue"])
        return Asked(bundle=bundle, **others)

    def _extended(self, bundle: int, number: int | None) -> int | None:
        """Return a subscription that the bundle can extend, one in four any other."""
        kinds = {(each.publication, each.type) for each in self._books.bundles[bundle].lines}
        own = {n for n, s in self._books.subscriptions.items() if (s.publication, s.type) in kinds}
        return _nth(((number or 0) < 9 and own) or self._books.subscriptions, number)

    def _refund(self, item: int, amount: int | None) -> dict[str, Any] | None:
        if not self._books.items:
            return None
        item_id = _nth(self._books.items, item)
        assert item_id is not None
        return {
            "order": self._books.items[item_id].order,
            "item_id": item_id,
            "amount": amount,
        }

    _allow = _refund

    def _cancel(self, key: int, issue: int, when: int, *, refund: bool) -> dict[str, Any]:
        """Cancel now, when all is used up, or after an issue, mostly one that is to come."""
        publication = self._books.subscriptions[key].publication
        coming = self._books.issues_of(publication, closed=False)
        given: dict[str, Any] = {"key": key, "refund": refund}
        if when == 1:
            given["at_end"] = True
        elif when > 1:
            given["after_issue"] = coming[issue % len(coming)] if coming and when > 2 else issue
        return given

    def _move(
        self, key: int, address: int | None, first: date | None, last: date
    ) -> dict[str, Any]:
        owner = self._books.subscriptions[key].subscriber
        own = [n for n, each in self._books.addresses.items() if each.subscriber == owner]
        to: int | str | None = f"{self._count} Row"
        if address is not None and own:
            to = _nth(own if address < 10 else self._books.addresses, address)
        return {"key": key, "address": to, "first": first, "last": last}

    def _set(self, key: int, **values: int | str | None) -> dict[str, Any] | None:
        named = {name: each for name, each in values.items() if each is not None}
        return {"key": key, **named} if named else None

    def _plan(self, publication: int, days: int) -> dict[str, Any] | None:
        return self._on_free_day({"publication": publication}, publication, days)

    def _move_issue(self, issue: int, days: int) -> dict[str, Any] | None:
        return self._on_free_day({"issue": issue}, self._books.issues[issue].publication, days)

    def _on_free_day(
        self, given: dict[str, Any], publication: int, days: int
    ) -> dict[str, Any] | None:
        """Add the day, unless the publication has an issue of it."""
        day = self._day(days)
        taken = {self._books.issues[n].date for n in self._books.issues_of(publication)}
        return None if day in taken else {**given, "day": day}

    def _remove_issue(self, issue: int) -> dict[str, Any] | None:
        """The only issue of a publication stays, since no end can be told without any."""
        own = self._books.issues_of(self._books.issues[issue].publication)
        return {"issue": issue} if len(own) > 1 else None


class Sequences(RuleBasedStateMachine):
    """Any order of operations; each is compared with the model, and followed by a poll."""

    place: ClassVar[Place]

    def __init__(self) -> None:
        super().__init__()
        self.proof = Proof(self.place.begin())
        self.count = 0

    @rule(step=_STEPS)
    def go_on(self, step: tuple[str, dict[str, Any], bool]) -> None:
        """Do what the step says.

        There is one rule for all, because Hypothesis leaves some rules out of each sequence.
        """
        name, numbers, polls = step
        self.count += 1
        given = _Chosen(self.proof.books, self.count).of(name, numbers)
        if given is None:
            return
        if name == "pass_days":
            self.proof.pass_days(**given)
        else:
            self.proof.do(name, polls=polls, **given)

    def teardown(self) -> None:
        """Close the database."""
        self.proof.close()
        self.place.end()


def sequences(place: Place) -> type[Sequences]:
    """Return the sequences whose database has that place."""
    return type("SequencesHere", (Sequences,), {"place": place})
