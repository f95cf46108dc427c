"""Readers change addresses, pause, cancel and switch automatic renewal; a clerk undoes it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from masthead.books import (
    issues,
    reader_addresses,
    reader_cancelling,
    reader_changes,
    reader_home,
    reader_pauses,
    reader_renewing,
    subscriptions,
)
from masthead.books.reader_addresses import Wanted
from masthead.circulation.reader_rules import REFUSALS
from masthead.errors import NotFound
from masthead.store import audit
from tests.readers_books.household import (
    ADA,
    BEN,
    DAN,
    EVE,
    kept,
    of,
    reader,
    refused,
    show_bundle,
    undo_newest,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.books.reader_home import Subscription
    from tests.circulation.desk import Desk

BAY = {"address": "9 Bay", "city": "Galway", "country_name": "Ireland"}
WORDS = "Renew it each year until I say otherwise."


def seen(desk: Desk, subscriber_id: int) -> Subscription:
    """Return the only subscription of a reader, as the reader sees it."""
    (found,) = reader_home.home(reader(desk, subscriber_id), subscriber_id).subscriptions
    return found


def entries(desk: Desk) -> Counter[audit.Entry]:
    """Return the entries of the audit log."""
    with desk.store.reader() as connection:
        return Counter(audit.entries(connection, account_id=1))


class Case(NamedTuple):
    """An operation of a reader on a subscription, by its name."""

    name: str
    do: Callable[..., Any]
    given: tuple[Any, ...]

    def run(self, desk: Desk, subscriber_id: int, key: int, **named: Any) -> Any:
        given = self.given
        if self.name == "change":
            wanted = given[0]._replace(subscriptions=[key])
            return self.do(reader(desk, subscriber_id), subscriber_id, wanted, **named)
        return self.do(reader(desk, subscriber_id), subscriber_id, key, *given, **named)


CASES = [
    Case("change", reader_addresses.change, (Wanted(BAY, []),)),
    Case("away", reader_addresses.change_for_a_while, (BAY, "2026-05-01", "2026-05-31")),
    Case("pause", reader_pauses.pause, ("2026-05-01", "2026-05-31")),
    Case("renew", reader_renewing.switch_on, (1, WORDS)),
    Case("cancel", reader_cancelling.cancel, ()),
]
ENDING = [
    Case("home", reader_addresses.end_for_a_while, ("2026-05-01",)),
    Case("resume", reader_pauses.resume, ("2026-05-01",)),
    Case("stop", reader_renewing.switch_off, ()),
    Case("take back", reader_cancelling.take_back, ()),
]


def each_of(cases: list[Case]) -> pytest.MarkDecorator:
    """Run a test with each of some operations."""
    return pytest.mark.parametrize("case", cases, ids=[each.name for each in cases])


@each_of(CASES + ENDING)
def test_another_readers_subscription_is_answered_as_an_unknown_one(
    household: Desk, case: Case
) -> None:
    show_bundle(household)
    for each in CASES:
        each.run(household, BEN, of(household).ben)
    theirs = refused(household, case.run, household, ADA, of(household).ben)
    unknown = refused(household, case.run, household, ADA, 987)
    assert isinstance(theirs, NotFound)
    assert (type(theirs), str(theirs)) == (type(unknown), str(unknown))


@each_of(CASES)
def test_a_dry_run_says_the_same_and_changes_nothing(household: Desk, case: Case) -> None:
    show_bundle(household)
    before = household.everything()
    said = case.run(household, ADA, of(household).ada, dry_run=True)
    assert household.everything() == before
    assert case.run(household, ADA, of(household).ada).sentence == said.sentence


@each_of(CASES)
def test_each_change_is_noted_audited_and_undone_by_one_call(household: Desk, case: Case) -> None:
    show_bundle(household)
    before = kept(household)
    earlier = entries(household)
    case.run(household, ADA, of(household).ada)
    assert kept(household) != before
    (change,) = reader_changes.of_reader(household.books, ADA)
    assert change.why_not == ""
    (entry,) = entries(household) - earlier
    assert entry.user_name == "reader 1"
    assert re.search(rf"subscriptions? {of(household).ada}\b", entry.summary)
    undo_newest(household)
    after = kept(household)
    for consent in after["renewal_consents"]:
        assert consent["stopped_on"] == "2026-04-15"
    assert {**after, "renewal_consents": []} == before
    (change,) = reader_changes.of_reader(household.books, ADA)
    assert change.why_not == "this was undone on 2026-04-15 by ada"


@each_of(ENDING)
def test_what_a_reader_took_back_is_undone_too(household: Desk, case: Case) -> None:
    show_bundle(household)
    beginning = CASES[ENDING.index(case) + 1]
    beginning.run(household, ADA, of(household).ada)
    before = kept(household)
    case.run(household, ADA, of(household).ada)
    assert kept(household) != before
    undo_newest(household)
    assert seen(household, ADA) == seen(household, ADA)
    for table, rows in kept(household).items():
        if table not in {"suspensions", "temporary_addresses"}:
            assert rows == before[table], table
    assert len(kept(household)["suspensions"]) == len(before["suspensions"])
    assert len(kept(household)["temporary_addresses"]) == len(before["temporary_addresses"])


@each_of(CASES)
def test_nothing_is_undone_after_the_next_issue_is_closed(household: Desk, case: Case) -> None:
    show_bundle(household)
    case.run(household, ADA, of(household).ada)
    issues.close(household.books, 5)
    (change,) = reader_changes.of_reader(household.books, ADA)
    assert change.why_not == "an issue was closed since: it cannot be undone any more"
    error = refused(household, undo_newest, household)
    assert str(error) == change.why_not


@each_of(CASES)
def test_what_is_undone_is_not_undone_twice(household: Desk, case: Case) -> None:
    show_bundle(household)
    case.run(household, ADA, of(household).ada)
    undo_newest(household)
    assert "undone on" in str(refused(household, undo_newest, household))


@each_of(CASES)
def test_what_ended_is_not_changed(household: Desk, case: Case) -> None:
    show_bundle(household)
    assert refused(household, case.run, household, EVE, of(household).eve).code == "ended"


def test_what_a_clerk_changed_since_is_not_undone(household: Desk) -> None:
    key = of(household).ada
    CASES[2].run(household, ADA, key)
    subscriptions.resume(household.books, key, "2026-05-20")
    assert "changed since" in str(refused(household, undo_newest, household))
    CASES[0].run(household, ADA, key)
    subscriptions.move(household.books, key, {"address": "1 Sea", "city": "Cobh"})
    assert "changed since" in str(refused(household, undo_newest, household))


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("address", CASES[0]),
        ("temporary_address", CASES[1]),
        ("temporary_address", ENDING[0]),
        ("pause", CASES[2]),
        ("pause", ENDING[1]),
        ("automatic_renewal", CASES[3]),
        ("automatic_renewal", ENDING[2]),
        ("cancel", CASES[4]),
        ("cancel", ENDING[3]),
    ],
)
def test_what_is_switched_off_is_refused_and_not_shown(
    household: Desk, name: str, case: Case
) -> None:
    household.put("page_settings", setting_id=1, name=name, value="no")
    error = refused(household, case.run, household, ADA, of(household).ada)
    assert error.code == "not_offered"
    assert getattr(seen(household, ADA).may, name, False) in {False, "no"}


# Addresses


def test_an_address_changes_from_an_issue_on(household: Desk) -> None:
    key = of(household).ada
    done = reader_addresses.change(reader(household, ADA), ADA, Wanted(BAY, [key], issue_id=6))
    assert (done.first, done.last) == ("2026-06-01", None)
    tide = seen(household, ADA)
    assert tide.address is not None
    assert tide.address.line == "Ada Ames, 9 Bay, Galway, Ireland"
    assert [(each.first, each.last) for each in tide.temporary] == [("2026-04-15", "2026-05-31")]
    assert "1 Oak" in tide.temporary[0].line


@pytest.mark.parametrize(
    ("wanted", "code", "field"),
    [
        (Wanted(BAY, []), "nothing_chosen", "subscriptions"),
        (Wanted({"city": "Galway"}, [0]), "address_missing", "address"),
        (Wanted({**BAY, "city": "x" * 300}, [0]), "text_too_long", "city"),
        (Wanted({**BAY, "city": "a\x07b"}, [0]), "text_wrong", "city"),
        (Wanted(BAY, [0], first="2026-04-14"), "day_past", "first"),
        (Wanted(BAY, [0], first="soon"), "day_wrong", "first"),
        (Wanted(BAY, [0], issue_id=4), "issue_closed", "issue"),
    ],
)
def test_an_address_that_is_none_is_refused(
    household: Desk, wanted: Wanted, code: str, field: str
) -> None:
    keys = [of(household).ada for _ in wanted.subscriptions]
    error = refused(
        household,
        reader_addresses.change,
        reader(household, ADA),
        ADA,
        wanted._replace(subscriptions=keys),
    )
    assert (error.code, error.values["field"]) == (code, field)


def test_an_issue_of_another_publication_is_unknown(household: Desk) -> None:
    household.put("publications", publication_id=2, name="Ebb")
    household.put("issues", issue_id=77, publication_id=2, name="Ebb 1", date="2026-09-01")
    wanted = Wanted(BAY, [of(household).ada], issue_id=77)
    for issue_id in (77, 99):
        error = refused(
            household,
            reader_addresses.change,
            reader(household, ADA),
            ADA,
            wanted._replace(issue_id=issue_id),
        )
        assert str(error) == REFUSALS["not_yours"]


def test_bills_move_with_the_reader_and_back(household: Desk) -> None:
    before = household.table("subscriptions")
    wanted = Wanted(BAY, [of(household).ada], bills=True)
    reader_addresses.change(reader(household, ADA), ADA, wanted)
    moved = household.subscription(of(household).ada)
    assert moved["billing_address_id"] == moved["mailing_address_id"]
    undo_newest(household)
    assert household.table("subscriptions") == before


def test_two_addresses_at_one_time_are_refused(household: Desk) -> None:
    CASES[1].run(household, ADA, of(household).ada)
    error = refused(household, CASES[1].run, household, ADA, of(household).ada)
    assert error.code == "temporary_overlaps"


# Pauses


def test_a_pause_moves_the_last_day(household: Desk) -> None:
    """decisions, "Days of a pause"."""
    key = of(household).ada
    books = reader(household, ADA)
    assert reader_pauses.allowance(books, ADA, key) == ("2026-04-18", 60, {2026: 60, 2027: 60})
    done = reader_pauses.pause(books, ADA, key, "2026-05-01", "2026-06-10")
    assert (done.until_before, done.until) == ("2027-04-30", "2027-06-30")
    assert seen(household, ADA).until == "2027-06-30"
    assert reader_pauses.allowance(books, ADA, key).left == {2026: 19, 2027: 60}
    error = refused(household, reader_pauses.pause, books, ADA, key, "2026-07-01", "2026-07-20")
    assert (error.code, error.values["left"]) == ("pause_too_long", 19)
    reader_pauses.pause(books, ADA, key, "2026-07-01", "2026-07-19")


def test_a_pause_that_ends_early_gives_its_days_back(household: Desk) -> None:
    key = of(household).ada
    books = reader(household, ADA)
    reader_pauses.pause(books, ADA, key, "2026-05-01", "2026-05-31")
    household.to("2026-05-11")
    done = reader_pauses.resume(reader(household, ADA), ADA, key, "2026-05-01")
    assert done.last == "2026-05-10"
    assert reader_pauses.allowance(books, ADA, key).left == {2026: 50, 2027: 60}


def test_only_a_clerk_ends_a_pause_without_an_end(household: Desk) -> None:
    key = of(household).ada
    subscriptions.suspend(household.books, key, "2026-04-15")
    books = reader(household, ADA)
    error = refused(household, reader_pauses.resume, books, ADA, key, "2026-04-15")
    assert error.code == "pause_not_yours"
    assert not seen(household, ADA).may.resume
    assert seen(household, ADA).state == "paused"


def test_a_pause_that_is_not_there_is_not_ended(household: Desk) -> None:
    key = of(household).ada
    books = reader(household, ADA)
    assert refused(household, reader_pauses.resume, books, ADA, key, "2026-05-01").code == (
        "not_paused"
    )
    reader_pauses.pause(books, ADA, key, "2026-06-01", "2026-06-30")
    assert refused(household, reader_pauses.resume, books, ADA, key, "2026-05-01").code == (
        "changed_meanwhile"
    )


# Cancelling


def test_a_reader_cancels_at_the_end_and_takes_it_back(household: Desk) -> None:
    key = of(household).ada
    books = reader(household, ADA)
    done = reader_cancelling.cancel(books, ADA, key)
    assert done[1:6] == (False, 12, "2027-04-30", 0, False)
    tide = seen(household, ADA)
    assert (tide.state, tide.may.uncancel, tide.may.cancel) == ("cancelled", True, "no")
    assert refused(household, reader_cancelling.cancel, books, ADA, key).code == (
        "cancelled_already"
    )
    reader_cancelling.take_back(books, ADA, key)
    assert seen(household, ADA).state == "active"
    assert refused(household, reader_cancelling.take_back, books, ADA, key).code == "not_cancelled"


def test_at_once_is_only_where_the_publisher_allows_it(household: Desk) -> None:
    error = refused(
        household,
        reader_cancelling.cancel,
        reader(household, ADA),
        ADA,
        of(household).ada,
        at_once=True,
    )
    assert error.code == "not_offered"


def test_a_reader_cancels_at_once_and_nothing_is_given_back(household: Desk) -> None:
    """decisions, "How a reader cancels"."""
    household.put("page_settings", setting_id=1, name="cancel", value="at_once")
    books = reader(household, BEN)
    done = reader_cancelling.cancel(books, BEN, of(household).ben, at_once=True)
    assert (done.is_at_once, done.until, done.kept) == (True, "2026-04-15", 1200)
    assert seen(household, BEN).state == "ended"
    undo_newest(household)
    assert seen(household, BEN).state == "active"


def test_a_gift_is_not_cancelled_by_its_recipient(household: Desk) -> None:
    error = refused(
        household, reader_cancelling.cancel, reader(household, DAN), DAN, of(household).dan
    )
    assert error.code == "write_to_us"


def test_an_unlimited_subscription_ends_with_the_last_issue_that_is_paid(household: Desk) -> None:
    """decisions, "How a reader cancels"."""
    key = of(household).ada
    household.connection.change(
        "UPDATE terms SET issues = -1, issues_left = -1, months = 3, starts_on = '2026-04-10' "
        "WHERE account_id = 1 AND subscription_id = :key",
        key=key,
    )
    household.refresh()
    done = reader_cancelling.cancel(reader(household, ADA), ADA, key)
    assert (done.issues_left, done.until) == (None, "2026-07-01")


# Automatic renewal


def test_only_what_the_publisher_shows_renews(household: Desk) -> None:
    key = of(household).ada
    books = reader(household, ADA)
    assert refused(household, CASES[3].run, household, ADA, key).code == "not_for_sale"
    show_bundle(household, renew=0)
    assert reader_renewing.bundles(books, ADA, key) == []
    assert not seen(household, ADA).may.renew_on
    assert refused(household, CASES[3].run, household, ADA, key).code == "not_for_sale"


def test_a_consent_has_the_words_that_the_reader_saw(household: Desk) -> None:
    key = of(household).ada
    books = reader(household, ADA)
    show_bundle(household)
    assert seen(household, ADA).may.renew_on
    assert refused(household, reader_renewing.switch_on, books, ADA, key, 1, " ").code == (
        "consent_missing"
    )
    done = reader_renewing.switch_on(books, ADA, key, 1, WORDS)
    assert (done.bundle, done.cents) == ("Tide for a year", 1284)
    (consent,) = household.table("renewal_consents")
    assert (consent["words"], consent["source"]) == (WORDS, "readers' pages")
    assert seen(household, ADA).renewal == ("2026-04-15", "Tide for a year", None, None)
    assert refused(household, CASES[3].run, household, ADA, key).code == "renews_already"
    reader_renewing.switch_off(books, ADA, key)
    assert refused(household, reader_renewing.switch_off, books, ADA, key).code == "renews_not"


def test_a_refusal_of_the_books_tells_a_reader_to_write(household: Desk) -> None:
    """A reason that is not on the publisher's list is refused below, in words for clerks."""
    error = refused(
        household,
        reader_cancelling.cancel,
        reader(household, ADA),
        ADA,
        of(household).ada,
        reason="bored",
    )
    assert (error.code, str(error)) == ("write_to_us", REFUSALS["write_to_us"])
