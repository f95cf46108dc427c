"""What a reader is shown before a change is what the change does, and asking locks nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from masthead.books import cancelling, issues, reader_cancelling, reader_orders, reader_pauses
from masthead.books import subscriptions as operations
from masthead.books.reader_orders import Wanted
from masthead.errors import MastheadError
from tests.readers_books.household import ADA, BEN, DAN, EVE, of, reader, show_bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.books.account import Books
    from tests.circulation.desk import Desk

_DAYS = [
    *("2026-04-15", "2026-04-16", "2026-04-30", "2026-05-01", "2026-05-02", "2026-06-01"),
    *("2026-06-15", "2026-07-01", "2026-08-31", "2026-12-30", "2027-01-31", "2027-05-02"),
]
_CLERK = st.sampled_from(
    [
        ("suspend", "2026-04-15", None),
        ("suspend", "2026-04-15", "2026-05-10"),
        ("suspend", "2026-06-01", "2026-07-15"),
        ("suspend", "2026-12-01", None),
        ("close", "2026-05-01", None),
        ("at_end", "2026-05-01", None),
        ("after_issue", "2026-05-01", None),
        ("now", "2026-05-01", None),
    ]
)
_SPAN = st.tuples(st.sampled_from(_DAYS), st.sampled_from(_DAYS))


def outcome(do: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return what an operation does, or the sentence with which it is refused."""
    try:
        return do(*arguments, **named)
    except MastheadError as error:
        return type(error), str(error)


@contextmanager
def holding(desk: Desk) -> Iterator[None]:
    """Hold the lock of the account's writers, as a load does."""
    with desk.store.writer() as other, other.transaction():
        other.lock_account(desk.account_id)
        yield


def prepare(books: Books, key: int, step: str, first: str, last: str | None) -> None:
    """Do what a clerk does; what is refused is left out."""
    if step == "suspend":
        outcome(operations.suspend, books, key, first, last)
    elif step == "close":
        outcome(issues.close, books, 5)
    elif step == "after_issue":
        outcome(cancelling.cancel, books, key, refund=False, after_issue=6)
    else:
        outcome(cancelling.cancel, books, key, refund=False, at_end=step == "at_end")


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(_CLERK, max_size=3), _SPAN, st.sampled_from([ADA, BEN, DAN, EVE]))
def test_a_preview_says_what_the_change_does(
    household: Desk, steps: list[tuple[str, str, str | None]], span: tuple[str, str], who: int
) -> None:
    """decisions, "Previews of readers"."""
    ids = of(household)
    key = {ADA: ids.ada, BEN: ids.ben, DAN: ids.dan, EVE: ids.eve}[who]
    with household.books.together(dry_run=True) as books:
        for step in steps:
            prepare(books, key, *step)
        present = [
            row[0]
            for row in household_rows(books, key, "SELECT from_date FROM suspensions AS a WHERE")
        ]
        firsts = {span[0], *present}
        cases: list[tuple[Callable[..., Any], Callable[..., Any], tuple[str, ...]]] = [
            (reader_cancelling.look_at_taking_back, reader_cancelling.take_back, ()),
            *(
                (reader_pauses.look_at_resuming, reader_pauses.resume, (first,))
                for first in sorted(firsts)
            ),
            (reader_pauses.look_at_pause, reader_pauses.pause, span),
            (reader_cancelling.look_at_cancelling, reader_cancelling.cancel, ()),
        ]
        for look, change, given_days in cases:
            shown = outcome(look, books, who, key, *given_days)
            assert outcome(change, books, who, key, *given_days) == shown


def household_rows(books: Books, key: int, sql: str) -> list[Any]:
    """Return rows of a subscription, as the operation has left them."""
    with books.read() as reading:
        return reading.rows(
            f"{sql} a.account_id = :account_id AND a.subscription_id = :key", key=key
        )


@pytest.mark.parametrize("span", [("2026-05-01", "2026-05-31"), ("2026-06-15", "2026-07-10")])
def test_a_reader_sees_before_a_pause_what_it_does(household: Desk, span: tuple[str, str]) -> None:
    """The database shows the role of the pages all that a preview needs."""
    key, books = of(household).ben, reader(household, BEN)
    with holding(household):
        shown = reader_pauses.look_at_pause(books, BEN, key, *span)
    assert shown.until != shown.until_before
    assert reader_pauses.pause(books, BEN, key, *span) == shown
    with holding(household):
        ending = reader_pauses.look_at_resuming(books, BEN, key, span[0])
    assert ending.until == shown.until_before
    assert reader_pauses.resume(books, BEN, key, span[0]) == ending


def test_a_reader_sees_before_cancelling_what_it_does(household: Desk) -> None:
    key, books = of(household).ben, reader(household, BEN)
    with holding(household):
        shown = reader_cancelling.look_at_cancelling(books, BEN, key)
    assert shown.issues_left == 12
    assert reader_cancelling.cancel(books, BEN, key) == shown
    with holding(household):
        back = reader_cancelling.look_at_taking_back(books, BEN, key)
    assert reader_cancelling.take_back(books, BEN, key) == back


def test_an_offer_costs_what_its_order_costs(household: Desk) -> None:
    show_bundle(household)
    books = reader(household, BEN)
    with holding(household):
        (choice,) = reader_orders.choices(books, BEN)
    ordered = reader_orders.order(books, BEN, Wanted("buy", choice.bundle_id, "invoice"))
    assert (choice.cents, choice.tax) == (ordered.cents, ordered.tax) == (1284, 84)
