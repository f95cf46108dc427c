"""Readers change their own names, also on their addresses; a clerk undoes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    billing_settings,
    reader_changes,
    reader_details,
    reader_home,
    subscribers,
)
from masthead.errors import NotFound
from masthead.store import audit
from tests.billing.outboxes import MAIL_FROM
from tests.readers_books.household import ADA, kept, reader, refused, undo_newest

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


def rename(desk: Desk, first: str, last: str, *, dry_run: bool = False) -> str:
    books = reader(desk, ADA)
    return reader_details.rename(books, ADA, first, last, dry_run=dry_run).sentence


def label(desk: Desk, key: int, first: str | None, last: str | None) -> None:
    """Give Ada another address with a name."""
    desk.put("addresses", address_id=key, subscriber_id=ADA, first_name=first, last_name=last)


def labels(desk: Desk) -> list[tuple[object, ...]]:
    return desk.rows(
        "SELECT address_id, first_name, last_name FROM addresses "
        "WHERE account_id = :account_id AND subscriber_id = 1 ORDER BY address_id"
    )


def test_a_new_name_stands_on_the_labels_too_and_is_confirmed(household: Desk) -> None:
    billing_settings.set_values(household.books, {"mail_from": MAIL_FROM})
    label(household, 77, None, "Ames Ltd")
    label(household, 78, "Ada", "Ames")
    said = rename(household, " Ada\n Maria", "Ash")
    assert said == "subscriber 1: changed first_name, last_name, and the name on 1 address"
    person = reader_home.home(reader(household, ADA), ADA).reader
    assert (person.first_name, person.last_name) == ("Ada Maria", "Ash")
    unnamed = (1, None, None)
    assert labels(household) == [unnamed, (77, None, "Ames Ltd"), (78, "Ada Maria", "Ash")]
    (mail,) = household.table("mails")
    assert mail["subject"] == "Your name was changed"
    assert "Ada Maria Ash" in str(mail["text"])
    with household.store.reader() as connection:
        entries = list(audit.entries(connection, account_id=1))
    assert ("reader 1", said) in [(each.user_name, each.summary) for each in entries]


def test_a_clerk_gives_the_former_name_back(household: Desk) -> None:
    # This address has the new name already, so undoing leaves it alone.
    label(household, 77, "Ada", "Ash")
    label(household, 78, "Ada", "Ames")
    before, addresses = kept(household), labels(household)
    rename(household, "Ada", "Ash")
    assert labels(household) != addresses
    (change,) = reader_changes.of_reader(household.books, ADA)
    assert (change.said, change.why_not) == ("changed the name", "")
    undo_newest(household)
    assert (kept(household), labels(household)) == (before, addresses)


def test_a_name_that_was_changed_since_is_not_undone(household: Desk) -> None:
    rename(household, "Ada", "Ash")
    subscribers.edit(household.books, ADA, {"last_name": "Oak"})
    assert "changed since" in str(refused(household, undo_newest, household))


def test_the_same_name_and_a_dry_run_change_nothing(household: Desk) -> None:
    before = household.everything()
    assert rename(household, "Ada", "Ames").endswith("nothing changed")
    said = rename(household, "Ada", "Ash", dry_run=True)
    assert household.everything() == before
    assert rename(household, "Ada", "Ash") == said


@pytest.mark.parametrize(
    ("first", "last", "code", "field"),
    [
        (" ", "", "name_missing", "last_name"),
        ("x" * 101, "Ames", "text_too_long", "first_name"),
        ("Ada", "a\x07b", "text_wrong", "last_name"),
    ],
)
def test_a_name_that_is_none_is_refused(
    household: Desk, first: str, last: str, code: str, field: str
) -> None:
    error = refused(household, rename, household, first, last)
    assert (error.code, error.values["field"]) == (code, field)


def test_a_name_is_not_changed_where_addresses_are_not(household: Desk) -> None:
    household.put("page_settings", setting_id=1, name="address", value="no")
    assert refused(household, rename, household, "Ada", "Ash").code == "not_offered"


def test_nobody_is_renamed_who_does_not_exist(household: Desk) -> None:
    books = reader(household, 987)
    error = refused(household, reader_details.rename, books, 987, "Ada", "Ash")
    assert isinstance(error, NotFound)
