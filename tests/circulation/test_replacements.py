"""Copies that are sent again (decisions, "Copies that are sent again")."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from masthead.books import cancelling, erasure, issues, replacements, subscribers, subscriptions
from masthead.errors import NotFound
from masthead.loading.mail_files import write_replacements
from tests.circulation.two_readers import TODAY, fill, refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

SENT_AGAIN = {"replacements", "issues"}
"""The tables that sending a copy again may change."""


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """Two readers who received three issues, the newest of them 4."""
    fill(shared)
    return shared


def written(desk: Desk, path: Path, at: str | None = None) -> list[dict[str, str]]:
    """Write the file, and return its rows."""
    write_replacements(desk.books, path, at)
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_a_copy_that_is_sent_again_is_no_served_issue_and_earns_nothing(
    desk: Desk, tmp_path: Path
) -> None:
    before = desk.everything()
    done = replacements.send_again(desk.books, 1, 4)
    assert done.sentence == (
        "subscription 1 gets 1 copy of Tide 4 (2026-04-01) again, with the next file "
        "of replacements"
    )
    (row,) = written(desk, tmp_path / "again.csv")
    assert row["issue"] == "Tide 4"
    assert (row["first_name"], row["address"], row["copies"]) == ("Ada", "1 Oak", "1")
    after = desk.everything()
    assert {name for name in after if after[name] != before[name]} == SENT_AGAIN
    (kept,) = desk.table("replacements")
    assert (kept["asked_on"], kept["written_at"]) == (TODAY, f"{TODAY} 12:00:00")
    assert "was written at" in refused(desk, issues.reopen, 4)


def test_a_copy_goes_to_the_address_of_the_day_of_the_file(desk: Desk, tmp_path: Path) -> None:
    replacements.send_again(desk.books, 1, 4)
    replacements.send_again(desk.books, 2, 4)
    subscriptions.move(desk.books, 1, {"address": "12 Elm", "city": "Salem", "zip_code": "2"})
    away = {"address": "5 Sea", "city": "Ocean", "zip_code": "1"}
    subscriptions.move_for_a_while(desk.books, 2, away, TODAY, TODAY)
    rows = written(desk, tmp_path / "again.csv")
    assert [(each["first_name"], each["address"]) for each in rows] == [
        ("Ben", "5 Sea"),
        ("Ada", "12 Elm"),
    ]
    (file,) = replacements.files(desk.books)
    assert (file.rows, file.copies) == (2, 2)
    desk.to("2026-04-16")
    again = written(desk, tmp_path / "once more.csv", file.written_at)
    assert {each["address"] for each in again} == {"2 Oak", "12 Elm"}
    assert "no copies wait" in refused(desk, replacements.mark_written)
    with pytest.raises(NotFound, match="no file"):
        write_replacements(desk.books, tmp_path / "none.csv", "2026-04-15 00:00:00")


def test_only_a_printed_copy_that_was_delivered_is_sent_again_and_once(desk: Desk) -> None:
    again = replacements.send_again
    assert "has not received Tide 5" in refused(desk, again, 1, 5)
    assert "from 1 to 1, not 2" in refused(desk, again, 1, 4, 2)
    assert "from 1 to 1, not 0" in refused(desk, again, 1, 4, 0)
    for unknown in ((99, 4), (1, 99)):
        with pytest.raises(NotFound):
            again(desk.books, *unknown)
    again(desk.books, 1, 4)
    assert "waits for the next file" in refused(desk, again, 1, 4)
    again(desk.books, 1, 3)
    subscriptions.set_values(desk.books, 2, subscriptions.Values(type="Digital"))
    assert "without a printed copy" in refused(desk, again, 2, 4)


def test_what_waits_is_listed_and_can_be_removed(desk: Desk, tmp_path: Path) -> None:
    done = replacements.send_again(desk.books, 1, 4)
    (found,) = replacements.waiting(desk.books)
    assert (found.publication, found.issue, found.first_name) == ("Tide", "Tide 4", "Ada")
    replacements.remove(desk.books, done.replacement_id)
    assert replacements.waiting(desk.books) == []
    sent = replacements.send_again(desk.books, 1, 4)
    written(desk, tmp_path / "again.csv")
    with pytest.raises(NotFound, match="waits"):
        replacements.remove(desk.books, sent.replacement_id)


def test_a_reopened_issue_and_an_erased_reader_get_no_copy(desk: Desk, tmp_path: Path) -> None:
    desk.to("2026-05-02")
    issues.close(desk.books, 5)
    replacements.send_again(desk.books, 1, 5)
    issues.reopen(desk.books, 5)
    assert desk.table("replacements") == []
    replacements.send_again(desk.books, 1, 4)
    replacements.send_again(desk.books, 2, 4)
    written(desk, tmp_path / "again.csv")
    (file,) = replacements.files(desk.books)
    replacements.send_again(desk.books, 1, 3)
    erasure.erase(desk.books, 1, "earn", leave_traces=True)
    (row,) = written(desk, tmp_path / "once more.csv", file.written_at)
    assert row["first_name"] == "Ben"
    assert "no copies wait" in refused(desk, replacements.mark_written)
    assert "was deleted" in refused(desk, replacements.send_again, 1, 3)


def test_an_ended_or_merged_subscription_keeps_its_copies(desk: Desk, tmp_path: Path) -> None:
    cancelling.cancel(desk.books, 1, refund=False)
    replacements.send_again(desk.books, 1, 4)
    replacements.send_again(desk.books, 2, 4)
    subscribers.merge(desk.books, 3, 2)
    rows = written(desk, tmp_path / "again.csv")
    assert [each["address"] for each in rows] == ["1 Oak", "2 Oak"]
    assert [each.issue_id for each in replacements.received(desk.books, 1, limit=2)] == [4, 3]
