"""A change of a reader is confirmed by one mail: none for a look, a dry run or a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import billing_settings, reader_cancelling, reader_details, reader_pauses
from masthead.errors import MastheadError
from tests.billing.outboxes import MAIL_FROM
from tests.readers_books.household import BEN, of, reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.books.account import Books
    from tests.circulation.desk import Desk

_PAUSE = "2026-06-01", "2026-06-20"

CHANGES: list[tuple[str, Callable[[Books, int, bool], object]]] = [
    (
        "Your pause of Tide",
        lambda books, key, dry: reader_pauses.pause(books, BEN, key, *_PAUSE, dry_run=dry),
    ),
    (
        "Your subscription to Tide goes on",
        lambda books, key, dry: reader_pauses.resume(books, BEN, key, _PAUSE[0], dry_run=dry),
    ),
    (
        "Your cancellation of Tide",
        lambda books, key, dry: reader_cancelling.cancel(books, BEN, key, dry_run=dry),
    ),
    (
        "Your subscription to Tide goes on",
        lambda books, key, dry: reader_cancelling.take_back(books, BEN, key, dry_run=dry),
    ),
    (
        "Your name was changed",
        lambda books, _key, dry: reader_details.rename(books, BEN, "Benn", "Ash", dry_run=dry),
    ),
]
"""Changes that follow one another, and the subjects of their mails."""


def subjects(desk: Desk) -> list[object]:
    """Return the subjects of the mails to Ben, in their order."""
    return [each["subject"] for each in desk.table("mails") if each["subscriber_id"] == BEN]


def test_each_change_queues_one_mail(household: Desk) -> None:
    """Readers' pages, "Mails"."""
    billing_settings.set_values(household.books, {"mail_from": MAIL_FROM})
    key, expected = of(household).ben, list[str]()
    for subject, do in CHANGES:
        do(reader(household, BEN), key, True)
        assert subjects(household) == expected
        do(reader(household, BEN), key, False)
        expected.append(subject)
        assert subjects(household) == expected


def test_what_is_refused_the_second_time_queues_no_mail(household: Desk) -> None:
    """Pauses and cancellings cannot be made twice."""
    billing_settings.set_values(household.books, {"mail_from": MAIL_FROM})
    key = of(household).ben
    for subject, do in CHANGES[:4]:
        do(reader(household, BEN), key, False)
        before = subjects(household)
        assert before[-1] == subject
        with pytest.raises(MastheadError):
            do(reader(household, BEN), key, False)
        assert subjects(household) == before


def test_looking_queues_no_mail(household: Desk) -> None:
    billing_settings.set_values(household.books, {"mail_from": MAIL_FROM})
    key, books = of(household).ben, reader(household, BEN)
    reader_pauses.look_at_pause(books, BEN, key, *_PAUSE)
    reader_cancelling.look_at_cancelling(books, BEN, key)
    assert subjects(household) == []
